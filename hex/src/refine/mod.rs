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
//! Meshes of tetrahedra alone have a step of their own ([`tets`]): six edges, no new points in faces and cells.

mod files;
mod fluxes;
mod paths;
mod shape;
mod step;
mod tets;
mod zones;

use crate::geometry::{norm, sub};
use crate::{PolyLevels, PolyMesh, PolyViolation};
use cutlink_device::memory;
use rayon::prelude::*;
use shape::{Corners, NONE};
use step::Split;

pub use files::{PARENT, PARENT_LISTS};
pub use fluxes::map_fluxes;
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
    /// Levels beyond [`MAX_REFINEMENTS`].
    #[error("level {level} is beyond {MAX_REFINEMENTS}")]
    TooDeep {
        /// The level.
        level: u8,
    },
    /// A mesh with wrong ids.
    #[error("the mesh cannot be refined: {0}")]
    Invalid(#[from] PolyViolation),
    /// No memory.
    #[error(transparent)]
    Device(#[from] cutlink_device::DeviceError),
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

/// A mesh made from a parent, and where its cells come from.
#[derive(Debug, Clone, PartialEq)]
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

    /// Refines a parent: `wanted` says how often each cell should be refined in all, by its place. Marks are spread so that levels differ by one at most around every point; cells beside polyhedra are
    /// refined as far as that allows. If the parent has levels, the cells of the result are checked: wrong levels would
    /// open them.
    ///
    /// # Errors
    /// Too many levels, a mesh too large for 32-bit ids or for memory, a parent with wrong ids.
    pub fn build(
        parent: &PolyMesh,
        wanted: impl Fn(CellPlace) -> u8 + Sync,
    ) -> Result<Self, RefineError> {
        let mut refined = Self::new(parent)?;
        loop {
            let places = refined.places();
            let mark = |place: CellPlace| wanted(place).min(MAX_REFINEMENTS) > place.path.level();
            let marks: Vec<u8> = places.map(|place| u8::from(mark(place))).collect();
            // Marks beside polyhedra may all be dropped.
            if marks.par_iter().all(|&mark| mark == 0) || refined.refine(marks)? == 0 {
                break;
            }
        }
        if parent.levels.is_some() {
            // Levels of a file may be wrong, which shows in the result only.
            refined.mesh.check_topology()?;
        }
        Ok(refined)
    }

    /// Where each cell is.
    fn places(&self) -> impl IndexedParallelIterator<Item = CellPlace> {
        let mesh = &self.mesh;
        let cells = mesh.cell_geometry(&mesh.face_geometry());
        let (starts, of_cell) = mesh.cell_faces();
        cells.into_par_iter().enumerate().map(move |(cell, of)| {
            let faces = &of_cell[starts[cell] as usize..starts[cell + 1] as usize];
            let points = faces.iter().flat_map(|&face| mesh.face(face as usize));
            let away = points.map(|&p| norm(sub(mesh.points[p as usize], of.center)));
            CellPlace {
                center: of.center,
                radius: away.fold(0.0, f64::max),
                path: self.paths[cell],
            }
        })
    }

    /// Refines the marked cells, and those that have to be refined with them; returns how many. Marks of polyhedra and
    /// of cells too close to them are dropped.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    ///
    /// # Panics
    /// Where there is not one mark for each cell.
    pub fn refine(&mut self, marks: Vec<u8>) -> Result<usize, RefineError> {
        let split = self.step(marks)?;
        Ok(split.map_or(0, |split| {
            split.marks.iter().filter(|&&mark| mark != 0).count()
        }))
    }

    /// The same; `None` where no cell is refined.
    fn step(&mut self, mut marks: Vec<u8>) -> Result<Option<Split>, RefineError> {
        assert_eq!(
            marks.len(),
            self.mesh.cells,
            "there should be a mark for each cell"
        );
        if let Some(corners) = tets::corners(&self.mesh) {
            return tets::step(self, corners, marks);
        }
        check_memory("closing marks", close_bytes(&self.mesh))?;
        let (starts, of_cell) = self.mesh.cell_faces();
        let levels = self.mesh.levels.take().unwrap_or_default();
        let corners = shape::corners(&self.mesh, &starts, &of_cell, &levels.cell, &levels.point);
        self.polyhedra = corners.iter().filter(|c| c[0] == NONE).count();
        close(
            &self.mesh,
            &starts,
            &of_cell,
            &levels.cell,
            &corners,
            &mut marks,
        );
        let made = self.make(&levels, &corners, (&starts, &of_cell), &marks);
        self.mesh.levels = Some(levels);
        let Some((mesh, pieces, from)) = made? else {
            return Ok(None);
        };
        let each = self.rims.iter().zip(pieces);
        self.rims = each
            .flat_map(|(&rim, n)| std::iter::repeat_n(rim, n))
            .collect();
        self.mesh = mesh;
        self.paths = paths::split(&self.paths, &marks);
        Ok(Some(Split { marks, from }))
    }

    /// The mesh of closed marks, `None` without any.
    fn make(
        &self,
        levels: &PolyLevels,
        corners: &[Corners],
        faces: (&[u32], &[u32]),
        marks: &[u8],
    ) -> Result<Option<step::Made>, RefineError> {
        let marked = self.paths.par_iter().zip(marks);
        let marked = marked.filter(|(_, mark)| **mark != 0);
        let Some(deepest) = marked.map(|(path, _)| path.level()).max() else {
            return Ok(None);
        };
        if deepest >= MAX_REFINEMENTS {
            return Err(RefineError::TooDeep { level: deepest + 1 });
        }
        step::split(&self.mesh, levels, corners, faces, marks).map(Some)
    }
}

/// Refuses a need that exceeds what is available, before any of it is allocated.
fn check_memory(what: &'static str, requested: u64) -> Result<(), RefineError> {
    let free = memory::available();
    match requested <= free {
        true => Ok(()),
        false => Err(RefineError::Memory {
            what,
            requested,
            free,
        }),
    }
}

/// Bytes that a step takes before the new mesh is made: faces, points and corners of each cell, levels, keys of points.
fn close_bytes(mesh: &PolyMesh) -> u64 {
    let (cells, faces, points) = (
        mesh.cells as u64,
        (mesh.faces() + mesh.internal_faces()) as u64,
        mesh.points.len() as u64,
    );
    64 * cells + 4 * faces + points + 4 * corners_of_cells(mesh)
}

/// Corners of all faces of all cells: no cell has more points.
fn corners_of_cells(mesh: &PolyMesh) -> u64 {
    let internal = mesh.face_start[mesh.internal_faces()];
    mesh.face_points.len() as u64 + u64::from(internal)
}

/// The points of each cell, each once: starts of the cells, and points.
fn cell_points(mesh: &PolyMesh, starts: &[u32], of_cell: &[u32]) -> (Vec<usize>, Vec<u32>) {
    const PIECE: usize = 4096;
    let piece = |piece: usize| {
        let (mut counts, mut points, mut own) = (Vec::new(), Vec::new(), Vec::new());
        for cell in piece * PIECE..mesh.cells.min((piece + 1) * PIECE) {
            let faces = &of_cell[starts[cell] as usize..starts[cell + 1] as usize];
            own.clear();
            own.extend(faces.iter().flat_map(|&f| mesh.face(f as usize)));
            own.sort_unstable();
            own.dedup();
            counts.push(own.len());
            points.extend_from_slice(&own);
        }
        (counts, points)
    };
    let pieces = (0..mesh.cells.div_ceil(PIECE)).into_par_iter().map(piece);
    let pieces: Vec<(Vec<usize>, Vec<u32>)> = pieces.collect();
    let mut first = Vec::with_capacity(mesh.cells + 1);
    let mut all = Vec::with_capacity(pieces.iter().map(|p| p.1.len()).sum());
    let mut end = 0;
    first.push(0);
    for (counts, points) in pieces {
        for count in counts {
            end += count;
            first.push(end);
        }
        all.extend(points);
    }
    (first, all)
}

/// Closes marks: after refinement, levels differ by one at most around every point. First marks too close to cells that
/// cannot be refined are dropped, then marks spread to coarser cells. The result is the same for any order: levels are
/// lowered and raised to fixed points.
fn close(
    mesh: &PolyMesh,
    starts: &[u32],
    of_cell: &[u32],
    levels: &[u8],
    corners: &[Corners],
    marks: &mut [u8],
) {
    let (first, all) = cell_points(mesh, starts, of_cell);
    let points = |cell: usize| &all[first[cell]..first[cell + 1]];
    // Levels that cells may have: one beyond the least around each of their points.
    let mut most: Vec<u8> = (0..mesh.cells)
        .map(|cell| {
            if corners[cell][0] == NONE {
                levels[cell]
            } else {
                levels[cell] + 1
            }
        })
        .collect();
    let mut at_point = vec![u8::MAX; mesh.points.len()];
    loop {
        for cell in 0..mesh.cells {
            for &p in points(cell) {
                at_point[p as usize] = at_point[p as usize].min(most[cell]);
            }
        }
        let lowered: Vec<u8> = most
            .par_iter()
            .enumerate()
            .map(|(cell, &most)| {
                let least = points(cell)
                    .iter()
                    .map(|&p| at_point[p as usize])
                    .min()
                    .unwrap_or(most);
                most.min(least.saturating_add(1))
            })
            .collect();
        if lowered == most {
            break;
        }
        most = lowered;
    }
    let mut target: Vec<u8> = (0..mesh.cells)
        .map(|cell| {
            (levels[cell] + u8::from(marks[cell] != 0))
                .min(most[cell])
                .max(levels[cell])
        })
        .collect();
    at_point.fill(0);
    loop {
        for cell in 0..mesh.cells {
            for &p in points(cell) {
                at_point[p as usize] = at_point[p as usize].max(target[cell]);
            }
        }
        let raised: Vec<u8> = target
            .par_iter()
            .enumerate()
            .map(|(cell, &target)| {
                let most = points(cell)
                    .iter()
                    .map(|&p| at_point[p as usize])
                    .max()
                    .unwrap_or(target);
                target.max(most.saturating_sub(1))
            })
            .collect();
        if raised == target {
            break;
        }
        target = raised;
    }
    for cell in 0..mesh.cells {
        marks[cell] = u8::from(target[cell] > levels[cell]);
    }
}
