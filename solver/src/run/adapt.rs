//! A look at the flow, and the change of the mesh that follows from it: see [`crate::adapt`].

use super::{Run, level::State};
use crate::{
    Adaptation, AdaptationLook, Flow, InitialState, SolverError,
    adapt::{
        transfer::Before,
        wish::{self, Weight, Wishes},
    },
    kernels::{FlowKernels, Transfer},
    lattice::Lattice,
    storage::Storage,
    tables::{self, Built},
};
use cutlink_amr::{FormerIds, Mark, NONE, dims};
use cutlink_device::{Host, memory};
use cutlink_voxelizer::{AdaptedBlocks, Former, Mesh, VoxelError, held_by};
use std::{io, sync::OnceLock, time::Instant};

/// Steps of a factor 2^(1/4) by which thresholds may be raised to keep a budget: up to 2^16.
const MOST_RAISED: u32 = 64;

/// A mesh that changes.
pub(super) struct OwnMesh<const D: usize, B: FlowKernels<D>> {
    mesh: Mesh<D, B>,
    /// By block id, 1 for blocks that the plan's mesh has refined.
    held: B::Buf<u8>,
    /// Leaves by level.
    pub(super) leaves: Vec<u64>,
    /// The mesh on the host, if it is not there and was asked for.
    copy: OnceLock<Mesh<D>>,
}

impl<const D: usize, B: FlowKernels<D>> OwnMesh<D, B> {
    fn of(mesh: &Mesh<D>, backend: &B) -> Result<Self, SolverError> {
        let counts = mesh.level_counts();
        let mesh = mesh.upload(backend)?;
        Ok(Self {
            held: held_by(backend, &mesh.forest)?,
            mesh,
            leaves: counts.iter().map(|of| of.leaf_blocks as u64).collect(),
            copy: OnceLock::new(),
        })
    }

    /// Takes adapted blocks, and returns what they were.
    fn take(&mut self, backend: &B, adapted: &AdaptedBlocks<B>) -> Result<Former<B>, SolverError> {
        let former = self.mesh.take(backend, adapted)?;
        self.held = backend
            .follow(&self.held, &former.ids, 0)
            .map_err(VoxelError::from)?;
        self.leaves.clone_from(&adapted.leaves);
        self.copy = OnceLock::new();
        Ok(former)
    }

    pub(super) fn on_host(&self, backend: &B) -> Result<&Mesh<D>, SolverError> {
        if let Some(mesh) = B::on_host(&self.mesh) {
            return Ok(mesh);
        }
        if self.copy.get().is_none() {
            // Who comes first does not matter: the copies are the same.
            let _ = self.copy.set(self.mesh.download(backend)?);
        }
        Ok(self.copy.get().expect("the copy was made above"))
    }
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    pub(super) fn adapt_if_due(&mut self) -> Result<(), SolverError> {
        let Some(adaptation) = &self.plan.params.adaptation else {
            return Ok(());
        };
        if !self.steps.is_multiple_of(adaptation.every) {
            return Ok(());
        }
        let clock = self.clock.take();
        let done = self.look(true);
        self.clock = clock;
        done.map(|_| ())
    }

    /// Goes back to the mesh of the plan, for another initial state.
    pub(super) fn forget_mesh(&mut self) -> Result<(), SolverError> {
        self.looks.clear();
        if self.own.take().is_none() {
            return Ok(());
        }
        self.epoch += 1;
        let built = tables::build_checked(self.plan.mesh, &self.plan.params)?;
        let built = built.into_iter().map(|level| level.upload(&self.backend));
        let built = built.collect::<Result<_, _>>()?;
        self.change_levels(built, None)
    }

    /// Fits the mesh to the initial state, which is set again on each mesh.
    pub(super) fn adapt_to_initial(&mut self, at: &InitialState<'_, D>) -> Result<(), SolverError> {
        let levels = self.plan.params.adaptation.as_ref().map_or(0, |a| a.levels);
        for _ in 0..levels {
            if !self.look(false)? {
                break;
            }
            self.set_fields(at)?;
        }
        Ok(())
    }

    /// Looks at the flow and adapts the mesh; whether it changed. Populations follow if they are to be kept.
    fn look(&mut self, keeps_flow: bool) -> Result<bool, SolverError> {
        let Some(adaptation) = self.plan.params.adaptation.clone() else {
            return Ok(false);
        };
        // Steps that a device has not done yet are no part of the look.
        self.wait()?;
        let begin = Instant::now();
        if self.own.is_none() {
            self.own = Some(OwnMesh::of(self.plan.mesh, &self.backend)?);
        }
        let wishes = self.wishes(&adaptation)?;
        let own = self.own.as_ref().expect("the mesh was copied above");
        let (adapted, raised) = within_budget(&self.backend, own, &wishes, &adaptation)?;
        let mut look = AdaptationLook {
            step: self.steps,
            leaves: adapted.leaves.clone(),
            refined: adapted.refined,
            coarsened: adapted.coarsened,
            withheld: adapted.withheld,
            raised,
            seconds: 0.0,
        };
        let is_change = adapted.is_change();
        if is_change {
            self.change(&adapted, keeps_flow)?;
            self.epoch += 1;
        }
        self.wait()?;
        look.seconds = begin.elapsed().as_secs_f64();
        self.looks.push(look);
        Ok(is_change)
    }

    /// Values of the leaves by the criteria.
    fn wishes(&self, adaptation: &Adaptation<D>) -> Result<Wishes<B>, SolverError> {
        let own = self.own.as_ref().expect("a mesh that may change");
        let (backend, forest) = (&self.backend, &own.mesh.forest);
        let mut wishes = Wishes {
            hot: backend.alloc("values of leaves", forest.capacity(), 0.0)?,
            cold: backend.alloc("values of leaves", forest.capacity(), 0.0)?,
            levels: backend.limit(forest, &adaptation.limits, adaptation.levels)?,
        };
        for state in &self.levels {
            let (all, now) = (0..state.level.slots, &state.now);
            let fields = backend.macroscopic::<L, S>(&state.level, all, state.half_step, now)?;
            for criterion in &adaptation.criteria {
                if self.steps < criterion.from_step {
                    continue;
                }
                let what = criterion.indicator;
                let values = backend.indicate(&state.level, what, &fields)?;
                #[allow(clippy::cast_possible_truncation, reason = "values are f32")]
                let weight = Weight {
                    within: criterion.within,
                    refine: criterion.refine as f32,
                    coarsen: (criterion.refine * criterion.coarsen) as f32,
                    one_up: what.one_up(),
                };
                let blocks = &state.blocks;
                backend.weigh(forest, &state.level, blocks, &values, &weight, &mut wishes)?;
            }
        }
        Ok(wishes)
    }

    /// Gives the flow the adapted mesh.
    fn change(&mut self, adapted: &AdaptedBlocks<B>, keeps_flow: bool) -> Result<(), SolverError> {
        let own = self.own.as_mut().expect("a mesh that may change");
        let backend = &self.backend;
        let forest = &own.mesh.forest;
        let mut slot_of = backend.alloc("slots", forest.capacity(), NONE)?;
        for state in &self.levels {
            backend.own_slots(forest, &state.level, &state.blocks, &mut slot_of)?;
        }
        let former = own.take(backend, adapted)?;
        let before = Before {
            slot_of,
            first_child: former.first_child,
        };
        let built = tables::build(backend, &own.mesh, &self.plan.params)?;
        self.change_levels(built, keeps_flow.then_some((&before, &former.ids)))
    }

    /// Takes the levels of the mesh as it is, with populations from those of the old ones if these are given.
    fn change_levels(
        &mut self,
        built: Vec<Built<D, B>>,
        from: Option<(&Before<B>, &FormerIds<B>)>,
    ) -> Result<(), SolverError> {
        self.forget_graphs();
        // Between root steps the second buffers hold nothing that is read again: the new populations take their memory, and
        // then the old populations' memory is that of the new second buffers.
        let mut spare = Vec::new();
        for state in &mut self.levels {
            state.moments = self.backend.upload(Vec::new())?;
            let empty = self.backend.upload(Vec::new())?;
            spare.push(std::mem::replace(&mut state.next, empty));
        }
        let mut spare = spare.into_iter();
        let mut fresh = Vec::new();
        for (level, built) in built.into_iter().enumerate() {
            let mut state = State::<D, S, B>::bare(&self.plan, built, &self.backend)?;
            // What varies in time is as it was.
            if let Some(old) = self.levels.get(level) {
                (state.relax, state.half_step) = (old.relax, old.half_step);
            }
            state.now = state.reuse::<L>(&self.backend, spare.next())?;
            fresh.push(state);
        }
        if let Some((before, former)) = from {
            self.seed(before, former, &mut fresh)?;
        }
        let mut spare = std::mem::replace(&mut self.levels, fresh).into_iter();
        for state in &mut self.levels {
            let now = spare.next().map(|old| old.now);
            state.next = state.reuse::<L>(&self.backend, now)?;
        }
        self.rules.clear();
        self.set_clocks()
    }

    /// Populations of the new levels, from those of the old ones.
    fn seed(
        &self,
        before: &Before<B>,
        former: &FormerIds<B>,
        fresh: &mut [State<D, S, B>],
    ) -> Result<(), SolverError> {
        let own = self.own.as_ref().expect("a mesh that may change");
        let forest = &own.mesh.forest;
        for level in 0..fresh.len() {
            let blocks = &fresh[level].blocks;
            let sources = self.backend.sources(forest, blocks, former, before)?;
            let target = &fresh[level];
            let coarser = level
                .checked_sub(1)
                .and_then(|above| self.levels.get(above));
            let transfer = Transfer {
                sources: &sources,
                slot_of: &before.slot_of,
                same: self.levels.get(level).map(|old| &old.now),
                coarser: coarser.map(|old| target.origin(old, 0.5)),
                finer: self
                    .levels
                    .get(level + 1)
                    .map(|old| target.origin(old, 2.0)),
            };
            let mut to = self.backend.upload(Vec::new())?;
            std::mem::swap(&mut to, &mut fresh[level].now);
            self.backend.seed::<L, S>(&transfer, &mut to)?;
            fresh[level].now = to;
        }
        Ok(())
    }

    /// The number of blocks, and a bit for each that is refined, in the order of the canonical ids.
    pub(super) fn topology(&self) -> Result<Vec<u8>, SolverError> {
        let first_child = &self.mesh()?.forest.first_child;
        let mut bytes = (first_child.len() as u64).to_le_bytes().to_vec();
        let bits = first_child.chunks(8).map(|of| {
            let bit = |(n, &first): (usize, &u32)| u8::from(first != NONE) << n;
            of.iter().enumerate().map(bit).sum::<u8>()
        });
        bytes.extend(bits);
        Ok(bytes)
    }

    /// Gives the flow the mesh of a topology that was written; populations are unspecified then.
    pub(super) fn read_topology(&mut self, from: &mut dyn io::Read) -> Result<(), SolverError> {
        let refuse = || SolverError::State {
            reason: "its blocks are not a refinement of this mesh".into(),
        };
        let mut word = [0; 8];
        from.read_exact(&mut word)?;
        let blocks = usize::try_from(u64::from_le_bytes(word)).map_err(|_| refuse())?;
        if blocks > u32::MAX as usize {
            return Err(refuse());
        }
        let mut bits = memory::with_capacity("refined blocks", blocks.div_ceil(8))?;
        bits.resize(blocks.div_ceil(8), 0u8);
        from.read_exact(&mut bits)?;
        let is_refined = |id: usize| {
            bits.get(id / 8)
                .is_some_and(|byte| byte >> (id % 8) & 1 == 1)
        };
        let mut own = OwnMesh::of(self.plan.mesh, &Host)?;
        // Ids are canonical, so those of a level follow from what is refined on the coarser ones.
        for level in 0.. {
            let forest = &own.mesh.forest;
            let Some(ids) = forest.levels.get(level) else {
                break;
            };
            let mut marks = vec![Mark::Keep as u8; forest.capacity()];
            for &id in ids {
                match (is_refined(id as usize), forest.is_leaf(id)) {
                    (true, true) => marks[id as usize] = Mark::Refine as u8,
                    (false, false) => return Err(refuse()),
                    _ => {}
                }
            }
            let adapted = own.mesh.adapted(&Host, &mut marks, &own.held)?;
            if adapted.withheld > 0 {
                return Err(refuse());
            }
            if adapted.is_change() {
                own.take(&Host, &adapted)?;
            }
        }
        if own.mesh.forest.capacity() != blocks {
            return Err(refuse());
        }
        let own = OwnMesh {
            mesh: own.mesh.upload(&self.backend)?,
            held: self.backend.upload(own.held)?,
            leaves: own.leaves,
            copy: OnceLock::new(),
        };
        let built = tables::build(&self.backend, &own.mesh, &self.plan.params)?;
        self.own = Some(own);
        self.epoch += 1;
        self.change_levels(built, None)
    }
}

/// What an adaptation to wishes makes of a mesh, with thresholds raised by the least power of 2^(1/4) with which the leaf cells
/// stay within the budget; also that factor.
fn within_budget<const D: usize, B: FlowKernels<D>>(
    backend: &B,
    own: &OwnMesh<D, B>,
    wishes: &Wishes<B>,
    adaptation: &Adaptation<D>,
) -> Result<(AdaptedBlocks<B>, f64), SolverError> {
    let buffer = u8::try_from(adaptation.buffer).unwrap_or(u8::MAX - 1);
    let attempt = |quarters: u32| {
        let raised = (f64::from(quarters) / 4.0).exp2();
        #[allow(clippy::cast_possible_truncation, reason = "values are f32")]
        let mut marks = wish::marks(backend, &own.mesh.forest, wishes, buffer, raised as f32)?;
        let adapted = own.mesh.adapted(backend, &mut marks, &own.held)?;
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

#[cfg(test)]
mod tests;
