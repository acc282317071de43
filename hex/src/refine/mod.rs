//! Refinement of hexahedra, 1 to 8, any number of levels, 2:1 over points.
//!
//! A refined mesh is a function of its *parent* mesh and of the cells marked, level by level (Yu & Zhao 2025, §2.3):
//! what is not marked any more is coarse again. One step splits the marked cells of a mesh:
//!
//! | stage | what | order |
//! |---|---|---|
//! | `corners` | hexahedra and their corners; all other cells are never refined | cells |
//! | `close` | marks spread until levels differ by one at most around every point | cells |
//! | `number` | midpoints of edges, of faces, of cells | sorted edges, faces, cells |
//! | `faces` | whole faces, quarters, 12 inner faces a cell; hanging points inserted | faces, cells |
//! | `order` | upper-triangular order; patches keep theirs | owner, neighbour |
//!
//! New points are shared: 7 a cell in bulk. Each cell is closed: faces beside a split edge have its midpoint. Nothing
//! depends on the number of threads. Centres of faces and cells are OpenFOAM's, so that meshes of planar and of twisted
//! cells agree with those of its `refineHexMesh`.
//!
//! Meshes of tetrahedra alone have a template of their own: six edges, no new points in faces and cells.

mod boundary;
mod files;
mod fluxes;
mod hex_mesh;
mod paths;
mod zones;

use crate::kernels::RefineKernels;
use crate::{PolyLevels, PolyMesh, PolyViolation};
use cutlink_device::{Backend, DeviceError, ErrorKind, Failure, Host};
use rayon::prelude::*;

pub(crate) use boundary::{Boundary, images};
pub use boundary::{is_one_cell_thick, only_on_host};
pub use files::{PARENT, PARENT_LISTS};
pub(crate) use fluxes::foreign;
pub use fluxes::{map_fluxes, map_fluxes_on};
pub use hex_mesh::{CellRanges, HexMesh, HexSplit};
pub use paths::{CellPath, MeanMap};

/// Most refinements of a cell: paths have three bits a level, in 32-bit labels.
pub const MAX_REFINEMENTS: u8 = 10;

/// Why a mesh could not be refined; the text is a lowercase fragment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RefineError {
    /// Numbers beyond 32 bits.
    #[error("the refined mesh would have {count} {what}, more than 2^32")]
    TooLarge {
        /// Cells, points or corners of faces.
        what: &'static str,
        /// How many.
        count: u64,
    },
    /// Memory that is not there, told before any of it is allocated.
    #[error("refining needs {requested} bytes for {what}, and {free} are free")]
    Memory {
        /// What it is for.
        what: &'static str,
        /// Bytes needed.
        requested: u64,
        /// Bytes free.
        free: u64,
    },
    /// Cells that there is no memory for, counted before any is made.
    #[error(
        "the refined mesh would have at least {count} cells, which need {requested} bytes, and {free} are free"
    )]
    Cells {
        /// How many.
        count: u64,
        /// Bytes needed at least.
        requested: u64,
        /// Bytes free.
        free: u64,
    },
    /// Levels beyond [`MAX_REFINEMENTS`].
    #[error("level {level} is beyond {MAX_REFINEMENTS}")]
    TooDeep {
        /// The level.
        level: u8,
    },
    /// A patch that only the CPU refines.
    #[error("patch {patch} is of type {kind}, which only the CPU refines")]
    OnHostOnly {
        /// Name of the patch.
        patch: String,
        /// Its type.
        kind: String,
    },
    /// A mesh with wrong ids.
    #[error("the mesh cannot be refined: {0}")]
    Invalid(#[from] PolyViolation),
    /// No memory.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl Failure for RefineError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Device(error) => error.kind(),
            Self::TooLarge { .. } | Self::Memory { .. } | Self::Cells { .. } => ErrorKind::Memory,
            _ => ErrorKind::Input,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::TooLarge { .. } | Self::Memory { .. } | Self::Cells { .. } => {
                "refine less: fewer levels or smaller regions"
            }
            Self::OnHostOnly { .. } => "choose the CPU",
            _ => return None,
        };
        Some(hint.into())
    }

    fn of_device(&self) -> Option<&DeviceError> {
        match self {
            Self::Device(error) => Some(error),
            _ => None,
        }
    }
}

/// Where a cell is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellPlace {
    /// Its centre of mass.
    pub center: [f64; 3],
    /// No point of the cell is further from the centre.
    pub radius: f64,
    /// Its place in the parent.
    pub path: CellPath,
}

/// How often cells are to be refined in all: closures by the place of a cell, or rules that know more.
pub trait CellDemand: Sync {
    /// Of a cell at a place.
    fn at(&self, place: CellPlace) -> u8;

    /// At least so often wherever the cell is refined to: what is known before it is. Forecasts are made of it.
    fn throughout(&self, place: CellPlace) -> u8 {
        self.at(place).min(place.path.level() + 1)
    }
}

impl<F: Fn(CellPlace) -> u8 + Sync> CellDemand for F {
    fn at(&self, place: CellPlace) -> u8 {
        self(place)
    }
}

/// A mesh made from a parent, and where its cells come from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RefinedMesh {
    /// The mesh. Its levels count from those of the parent.
    pub mesh: PolyMesh,
    /// The place of each cell in its parent cell.
    pub paths: Vec<CellPath>,
    /// The parent's face that each boundary face is part of.
    pub rims: Vec<u32>,
    /// Cells of the mesh that are not hexahedra, which stay as they are.
    pub polyhedra: usize,
}

impl RefinedMesh {
    /// A parent without refined cells. Cells with hanging points, of the parent's own levels, count as hexahedra if
    /// their levels are known.
    ///
    /// # Errors
    /// A mesh whose arrays do not fit one another, or with open cells.
    pub fn new(parent: &PolyMesh) -> Result<Self, RefineError> {
        parent.check_topology()?;
        boundary::check(parent)?;
        let mut mesh = parent.clone();
        if mesh.levels.is_none() {
            mesh.levels = Some(PolyLevels {
                cell: vec![0; mesh.cells],
                point: vec![0; mesh.points.len()],
                edge: 0.0,
            });
        }
        let paths = (0..parent.cells as u32).map(CellPath::root).collect();
        let rims = (mesh.internal_faces() as u32..mesh.faces() as u32).collect();
        Ok(Self {
            mesh,
            paths,
            rims,
            polyhedra: 0,
        })
    }

    /// Refines a parent: `wanted` says how often each cell should be refined in all, by its place. Marks are spread so
    /// that levels differ by one at most around every point; cells beside polyhedra are refined as far as that allows.
    /// If the parent has levels, the cells of the result are checked: wrong levels would open them.
    ///
    /// # Errors
    /// Too many levels, a mesh too large for 32-bit ids or for memory (told before it is made, as far as `wanted` knows), a
    /// parent with wrong ids.
    pub fn build(
        parent: &PolyMesh,
        wanted: impl Fn(CellPlace) -> u8 + Sync,
    ) -> Result<Self, RefineError> {
        Self::build_on(&Host, parent, wanted)
    }

    /// As [`build`](Self::build), in the memory of a backend: the same mesh. The host has it before and after.
    ///
    /// # Errors
    /// As there.
    pub fn build_on<B: RefineKernels>(
        kernels: &B,
        parent: &PolyMesh,
        wanted: impl Fn(CellPlace) -> u8 + Sync,
    ) -> Result<Self, RefineError> {
        Self::build_by(kernels, parent, wanted)
    }

    /// As [`build_on`](Self::build_on), by rules.
    ///
    /// # Errors
    /// As there.
    pub fn build_by<B: RefineKernels>(
        kernels: &B,
        parent: &PolyMesh,
        wanted: impl CellDemand,
    ) -> Result<Self, RefineError> {
        let refined = HexMesh::build(kernels, parent, wanted)?.unload(kernels)?;
        if parent.levels.is_some() {
            // Levels of a file may be wrong, which shows in the result only.
            refined.mesh.check_topology()?;
        }
        Ok(refined)
    }

    /// Each cell refined so many times more, in the memory of a backend, and those that have to be refined with them.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    ///
    /// # Panics
    /// Where there is not one number for each cell.
    pub fn refined_on<B: RefineKernels>(
        &self,
        kernels: &B,
        times: &[u8],
    ) -> Result<Self, RefineError> {
        let mut mesh = HexMesh::upload(kernels, self)?;
        mesh.refine_times(kernels, times)?;
        mesh.unload(kernels)
    }

    /// Refines the marked cells, and those that have to be refined with them; returns how many. Marks of polyhedra and
    /// of cells too close to them are dropped.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    ///
    /// # Panics
    /// Where there is not one mark for each cell.
    pub fn refine(&mut self, mut marks: Vec<u8>) -> Result<usize, RefineError> {
        let mut mesh = HexMesh::of(std::mem::take(self));
        let split = mesh.refine(&Host, &mut marks);
        *self = mesh.into_refined();
        Ok(split?.map_or(0, |split| split.refined))
    }
}

/// Refuses a need that exceeds what is available, before any of it is allocated.
fn check_memory<B: Backend>(
    kernels: &B,
    what: &'static str,
    requested: u64,
) -> Result<(), RefineError> {
    let free = kernels.free_bytes();
    match requested <= free {
        true => Ok(()),
        false => Err(RefineError::Memory {
            what,
            requested,
            free,
        }),
    }
}

/// Whether all cells are tetrahedra, with hanging points where levels say so. Cost: nothing for meshes whose first face is
/// no triangle.
fn is_of_tets(mesh: &PolyMesh) -> bool {
    let Some(levels) = &mesh.levels else {
        return false;
    };
    let is_triangle = |face: usize| {
        let owner = levels.cell[mesh.owner[face] as usize];
        let neighbour = mesh.neighbour.get(face);
        let level = neighbour.map_or(owner, |&n| owner.max(levels.cell[n as usize]));
        let corners = mesh.face(face).iter();
        corners
            .filter(|&&p| levels.point[p as usize] <= level)
            .count()
            == 3
    };
    if mesh.faces() == 0 || !is_triangle(0) || !(1..mesh.faces()).into_par_iter().all(is_triangle) {
        return false;
    }
    let (starts, of_cell) = mesh.cell_faces();
    (0..mesh.cells).into_par_iter().all(|cell| {
        let faces = &of_cell[starts[cell] as usize..starts[cell + 1] as usize];
        let points = faces.iter().flat_map(|&f| mesh.face(f as usize)).copied();
        let is_corner = |&p: &u32| levels.point[p as usize] <= levels.cell[cell];
        let mut corners: Vec<u32> = points.filter(is_corner).collect();
        corners.sort_unstable();
        corners.dedup();
        (4..=16).contains(&faces.len()) && corners.len() == 4
    })
}

/// A tetrahedron of a mesh whose points were moved, or whose levels are wrong.
pub(crate) fn misplaced(cell: usize) -> RefineError {
    RefineError::Invalid(PolyViolation::Impossible {
        what: "cell",
        at: cell,
        reason: "its corners are not those that its place in its parent has",
    })
}

/// Cells that look like hexahedra, with sides or edges that no hexahedron has.
pub(crate) fn unfit(face: usize) -> RefineError {
    RefineError::Invalid(PolyViolation::Impossible {
        what: "face",
        at: face,
        reason: "the levels of cells and points do not fit their faces",
    })
}
