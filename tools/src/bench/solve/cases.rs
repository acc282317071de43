//! The measured cases.

use crate::cli::{BenchSolveArgs, FlowCase};
use cutlink::Error;
use cutlink_device::Memory;
use cutlink_solver::{Collision, LatticeKind, Les, Precision, SolverError};
use std::path::PathBuf;

/// Lattice, precision and collision of a flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kind {
    pub(super) lattice: LatticeKind,
    pub(super) precision: Precision,
    pub(super) collision: Collision,
    pub(super) les: Les,
}

impl Kind {
    /// Whether the lattice has this collision and eddy viscosity.
    fn exists(&self) -> bool {
        let is_flat = self.lattice.dimensions() == 2;
        self.collision.fits(self.lattice) && !(is_flat && matches!(self.les, Les::Qr { .. }))
    }
}

/// A mesh, and the flows that run on it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Case {
    /// A 2D or 3D periodic box with so many cells along each edge.
    Box { edges: Vec<u32>, kinds: Vec<Kind> },
    /// A sphere of four root cells in a cube, its surface on the finest level.
    Sphere {
        root: u32,
        levels: usize,
        kinds: Vec<Kind>,
    },
    /// The body of a mesh from a file.
    File { path: PathBuf, kinds: Vec<Kind> },
}

impl Case {
    /// The flows on its mesh.
    pub(super) fn kinds(&self) -> &[Kind] {
        match self {
            Self::Box { kinds, .. } | Self::Sphere { kinds, .. } | Self::File { kinds, .. } => {
                kinds
            }
        }
    }
}

/// A collision by name; TRT with the magic parameter 1/4.
pub(crate) fn collision(text: &str) -> Result<Collision, SolverError> {
    Ok(match text.parse()? {
        Collision::Trt { .. } => Collision::Trt { magic: 0.25 },
        other => other,
    })
}

/// The vortex that is measured has the length of the shortest edge.
fn check_edges(edges: &[u32], dimensions: usize) -> Result<(), Error> {
    let least = edges.iter().copied().min().unwrap_or(0).max(1);
    if edges.len() == dimensions && edges.iter().all(|&edge| edge.is_multiple_of(least)) {
        return Ok(());
    }
    Err(
        Error::input(format!("--cells {edges:?}: cannot be a box of vortices"))
            .hint("give one number, or three that are multiples of the least of them"),
    )
}

/// The cases selected by the arguments, on a backend with this kind of memory.
pub(super) fn cases(args: &BenchSolveArgs, memory: Memory) -> Result<Vec<Case>, Error> {
    let all = [LatticeKind::D2Q9, LatticeKind::D3Q19, LatticeKind::D3Q27];
    let or_all = |given: &[LatticeKind]| -> Vec<LatticeKind> {
        all.into_iter()
            .filter(|kind| given.is_empty() || given.contains(kind))
            .collect()
    };
    let lattices = or_all(&args.lattice);
    let precisions = match &args.precision[..] {
        [] => vec![Precision::F32, Precision::F64],
        given => given.to_vec(),
    };
    let collisions = match &args.collision[..] {
        [] => vec![Collision::Regularized],
        given => given.to_vec(),
    };
    let kinds = |lattice: LatticeKind| -> Vec<Kind> {
        let of = |precision: Precision| {
            collisions.iter().map(move |&collision| Kind {
                lattice,
                precision,
                collision,
                les: args.les.unwrap_or(Les::None),
            })
        };
        let kinds = precisions.iter().copied().flat_map(of);
        kinds.filter(|kind| kind.exists()).collect()
    };
    // Sizes beyond any cache that still fit into memory.
    let (space, plane, root) = match memory {
        Memory::Host => (128, 2048, 64),
        Memory::Device => (256, 4096, 256),
    };
    let wanted = |case: FlowCase| args.case.is_empty() || args.case.contains(&case);
    let mut cases = Vec::new();
    for &lattice in &lattices {
        let edges = match (lattice.dimensions(), &args.cells[..]) {
            (2, _) => vec![args.plane.unwrap_or(plane); 2],
            (_, []) => vec![space; 3],
            (_, &[edge]) => vec![edge; 3],
            (_, edges) => edges.to_vec(),
        };
        check_edges(&edges, lattice.dimensions())?;
        let kinds = kinds(lattice);
        if wanted(FlowCase::Box) && args.mesh.is_none() && !kinds.is_empty() {
            cases.push(Case::Box { edges, kinds });
        }
    }
    let in_space = lattices.iter().filter(|kind| kind.dimensions() == 3);
    let kinds: Vec<Kind> = in_space.flat_map(|&lattice| kinds(lattice)).collect();
    if let (Some(path), false) = (&args.mesh, kinds.is_empty()) {
        let path = path.clone();
        cases.push(Case::File { path, kinds });
    } else if wanted(FlowCase::Sphere) && !kinds.is_empty() {
        cases.push(Case::Sphere {
            root: args.root.unwrap_or(root),
            levels: args.levels.unwrap_or(4),
            kinds,
        });
    }
    if cases.is_empty() {
        return Err(Error::input("there is no such flow").hint(
            "the sphere is 3D, as are meshes of --mesh; the collision cumulant exists on d3q27, kbc on d2q9 and d3q27; les qr is 3D",
        ));
    }
    Ok(cases)
}
