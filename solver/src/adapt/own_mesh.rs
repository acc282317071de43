//! The mesh of a flow that adapts it: changed in place, and written as one bit a block.

use super::{
    Adaptation, AdaptationLook,
    wish::{self, Wishes},
};
use crate::{SolverError, kernels::FlowKernels};
use cutlink_amr::{Forest, Mark, NONE, dims};
use cutlink_device::{Host, memory};
use cutlink_voxelizer::{AdaptedBlocks, Former, Mesh, VoxelError, held_by};
use std::{io, sync::OnceLock};

/// Steps of a factor 2^(1/4) by which thresholds may be raised to keep a budget: up to 2^16.
const MOST_RAISED: u32 = 64;

/// A mesh that changes.
pub(crate) struct OwnMesh<const D: usize, B: FlowKernels<D>> {
    pub(crate) mesh: Mesh<D, B>,
    /// By block id, 1 for blocks that the plan's mesh has refined.
    pub(crate) held: B::Buf<u8>,
    /// Leaves by level.
    leaves: Vec<u64>,
    /// The mesh on the host, if it is not there and was requested.
    copy: OnceLock<Mesh<D>>,
}

impl<const D: usize, B: FlowKernels<D>> OwnMesh<D, B> {
    /// A copy of a mesh.
    pub(crate) fn of(mesh: &Mesh<D>, backend: &B) -> Result<Self, SolverError> {
        let counts = mesh.level_counts();
        let mesh = mesh.upload(backend)?;
        Ok(Self {
            held: held_by(backend, &mesh.forest)?,
            mesh,
            leaves: counts.iter().map(|of| of.leaf_blocks as u64).collect(),
            copy: OnceLock::new(),
        })
    }

    /// A copy of a mesh that may be coarsened down to another forest.
    pub(crate) fn above(
        mesh: &Mesh<D>,
        least: &Forest<D>,
        backend: &B,
    ) -> Result<Self, SolverError> {
        let forest = &mesh.forest;
        let is_held = |id: usize| least.refines(forest.level[id], forest.coord[id]);
        let held = (0..forest.capacity()).map(|id| u8::from(is_held(id)));
        Ok(Self {
            held: backend.upload(held.collect())?,
            ..Self::of(mesh, backend)?
        })
    }

    /// Takes adapted blocks, and returns what they were.
    pub(crate) fn take(
        &mut self,
        backend: &B,
        adapted: &AdaptedBlocks<B>,
    ) -> Result<Former<B>, SolverError> {
        let former = self.mesh.take(backend, adapted)?;
        self.held = backend
            .follow(&self.held, &former.ids, 0)
            .map_err(VoxelError::from)?;
        self.leaves.clone_from(&adapted.leaves);
        self.copy = OnceLock::new();
        Ok(former)
    }

    /// The mesh in host memory.
    pub(crate) fn on_host(&self, backend: &B) -> Result<&Mesh<D>, SolverError> {
        on_host(backend, &self.mesh, &self.copy)
    }

    /// Updates of leaf cells in a root step.
    pub(crate) fn updates(&self) -> u64 {
        let of_level = |(level, leaves): (usize, &u64)| (leaves * dims::cells(D) as u64) << level;
        self.leaves.iter().enumerate().map(of_level).sum()
    }

    /// What an adaptation to wishes makes of the mesh, with thresholds raised by the least power of 2^(1/4) with which the leaf
    /// cells stay within the budget; and what there is to say of it, but for the step and the time.
    pub(crate) fn decide(
        &self,
        backend: &B,
        wishes: &Wishes<B>,
        adaptation: &Adaptation<D>,
    ) -> Result<(AdaptedBlocks<B>, AdaptationLook), SolverError> {
        let (adapted, raised) = self.within_budget(backend, wishes, adaptation)?;
        let look = AdaptationLook {
            step: 0,
            leaves: adapted.leaves.clone(),
            refined: adapted.refined,
            coarsened: adapted.coarsened,
            withheld: adapted.withheld,
            raised,
            seconds: 0.0,
        };
        Ok((adapted, look))
    }

    fn within_budget(
        &self,
        backend: &B,
        wishes: &Wishes<B>,
        adaptation: &Adaptation<D>,
    ) -> Result<(AdaptedBlocks<B>, f64), SolverError> {
        let buffer = u8::try_from(adaptation.buffer).unwrap_or(u8::MAX - 1);
        let attempt = |quarters: u32| {
            let raised = (f64::from(quarters) / 4.0).exp2();
            #[allow(clippy::cast_possible_truncation, reason = "values are f32")]
            let mut marks = wish::marks(backend, &self.mesh.forest, wishes, buffer, raised as f32)?;
            let adapted = self.mesh.adapted(backend, &mut marks, &self.held)?;
            Ok::<_, SolverError>((adapted, raised))
        };
        let fits = |(adapted, _): &(AdaptedBlocks<B>, f64)| {
            adapted.leaves.iter().sum::<u64>() * dims::cells(D) as u64 <= adaptation.max_cells
        };
        let found = attempt(0)?;
        if fits(&found) {
            return Ok(found);
        }
        // The number of cells falls as thresholds rise.
        let (mut low, mut high, mut best) = (0, MOST_RAISED, None);
        while high - low > 1 {
            let middle = (low + high) / 2;
            let found = attempt(middle)?;
            if fits(&found) {
                (high, best) = (middle, Some(found));
            } else {
                low = middle;
            }
        }
        best.map_or_else(|| attempt(high), Ok)
    }
}

/// A mesh, or its copy in host memory, which is made when it is requested first.
pub(crate) fn on_host<'a, const D: usize, B: FlowKernels<D>>(
    backend: &B,
    mesh: &'a Mesh<D, B>,
    copy: &'a OnceLock<Mesh<D>>,
) -> Result<&'a Mesh<D>, SolverError> {
    if let Some(mesh) = B::on_host(mesh) {
        return Ok(mesh);
    }
    if copy.get().is_none() {
        // Who comes first does not matter: the copies are the same.
        let _ = copy.set(mesh.download(backend)?);
    }
    Ok(copy.get().expect("the copy was made above"))
}

/// The number of blocks of a mesh, and a bit for each that is refined, in the order of the canonical ids.
pub(crate) fn topology<const D: usize>(mesh: &Mesh<D>) -> Vec<u8> {
    let first_child = &mesh.forest.first_child;
    let mut bytes = (first_child.len() as u64).to_le_bytes().to_vec();
    let bits = first_child.chunks(8).map(|of| {
        let bit = |(n, &first): (usize, &u32)| u8::from(first != NONE) << n;
        of.iter().enumerate().map(bit).sum::<u8>()
    });
    bytes.extend(bits);
    bytes
}

/// Why what was written cannot be read.
fn refuse() -> SolverError {
    SolverError::State {
        reason: "its blocks are not a refinement of this mesh".into(),
    }
}

/// Blocks as [`topology`] wrote them.
pub(crate) struct Topology {
    blocks: usize,
    bits: Vec<u8>,
}

impl Topology {
    pub(crate) fn read(from: &mut dyn io::Read) -> Result<Self, SolverError> {
        let mut word = [0; 8];
        from.read_exact(&mut word)?;
        let blocks = usize::try_from(u64::from_le_bytes(word)).map_err(|_| refuse())?;
        if blocks > u32::MAX as usize {
            return Err(refuse());
        }
        let mut bits = memory::with_capacity("refined blocks", blocks.div_ceil(8))?;
        bits.resize(blocks.div_ceil(8), 0u8);
        from.read_exact(&mut bits)?;
        Ok(Self { blocks, bits })
    }

    fn is_refined(&self, id: u32) -> bool {
        let byte = self.bits.get(id as usize / 8);
        byte.is_some_and(|byte| byte >> (id % 8) & 1 == 1)
    }

    /// Marks of the blocks of a level that are to be refined. Ids are canonical, so those of a level follow from what is refined on
    /// the coarser ones; none where the forest has a level less.
    fn marks<const D: usize>(
        &self,
        forest: &Forest<D>,
        level: usize,
    ) -> Result<Option<Vec<u8>>, SolverError> {
        let Some(ids) = forest.levels.get(level) else {
            return Ok(None);
        };
        let mut marks = vec![Mark::Keep as u8; forest.capacity()];
        for &id in ids {
            match (self.is_refined(id), forest.is_leaf(id)) {
                (true, true) => marks[id as usize] = Mark::Refine as u8,
                (false, false) => return Err(refuse()),
                _ => {}
            }
        }
        Ok(Some(marks))
    }

    /// The forest that has these blocks, on the root grid of another one.
    pub(crate) fn forest<const D: usize>(
        &self,
        root: [u32; D],
        periodic: [bool; D],
    ) -> Result<Forest<D>, SolverError> {
        let mut forest = Forest::new(&Host, root)?.with_periodic(periodic);
        for level in 0.. {
            let Some(mut marks) = self.marks(&forest, level)? else {
                break;
            };
            forest.adapt(&Host, &mut marks)?;
        }
        match forest.capacity() == self.blocks {
            true => Ok(forest),
            false => Err(refuse()),
        }
    }
}

impl<const D: usize> OwnMesh<D, Host> {
    /// A mesh with the blocks of a topology that was written, which have to be a refinement of it.
    pub(crate) fn of_topology(mesh: &Mesh<D>, of: &Topology) -> Result<Self, SolverError> {
        let mut own = Self::of(mesh, &Host)?;
        for level in 0.. {
            let Some(mut marks) = of.marks(&own.mesh.forest, level)? else {
                break;
            };
            let adapted = own.mesh.adapted(&Host, &mut marks, &own.held)?;
            if adapted.withheld > 0 {
                return Err(refuse());
            }
            if adapted.is_change() {
                own.take(&Host, &adapted)?;
            }
        }
        match own.mesh.forest.capacity() == of.blocks {
            true => Ok(own),
            false => Err(refuse()),
        }
    }

    /// The same in a backend's memory.
    pub(crate) fn upload<B: FlowKernels<D>>(
        self,
        backend: &B,
    ) -> Result<OwnMesh<D, B>, SolverError> {
        Ok(OwnMesh {
            mesh: self.mesh.upload(backend)?,
            held: backend.upload(self.held)?,
            leaves: self.leaves,
            copy: OnceLock::new(),
        })
    }
}
