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

mod files;
mod paths;
mod shape;
mod step;

use crate::{PolyLevels, PolyMesh, PolyViolation};
use rayon::prelude::*;
use shape::{Corners, NONE};

pub use files::{PARENT, PARENT_LISTS};
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
    /// A mesh whose arrays do not fit one another.
    pub fn new(parent: &PolyMesh) -> Result<Self, RefineError> {
        parent.check_ids()?;
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

    /// Refines a parent: `wanted` says how often each cell should be refined in all, by the cell's centre and its place
    /// in the parent. Marks are spread so that levels differ by one at most around every point; cells beside polyhedra are
    /// refined as far as that allows.
    ///
    /// # Errors
    /// Too many levels, a mesh too large for 32-bit ids or for memory, a parent with wrong ids.
    pub fn build(
        parent: &PolyMesh,
        wanted: impl Fn([f64; 3], CellPath) -> u8 + Sync,
    ) -> Result<Self, RefineError> {
        let mut refined = Self::new(parent)?;
        loop {
            let centers = refined.mesh.cell_geometry(&refined.mesh.face_geometry());
            let mark =
                |center, path: CellPath| wanted(center, path).min(MAX_REFINEMENTS) > path.level();
            let marks: Vec<u8> = centers
                .par_iter()
                .zip(&refined.paths)
                .map(|(cell, path)| u8::from(mark(cell.center, *path)))
                .collect();
            // Marks beside polyhedra may all be dropped.
            if marks.par_iter().all(|&mark| mark == 0) || refined.refine(marks)? == 0 {
                break;
            }
        }
        Ok(refined)
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
        assert_eq!(
            marks.len(),
            self.mesh.cells,
            "there should be a mark for each cell"
        );
        let (starts, of_cell) = self.mesh.cell_faces();
        let levels = self.mesh.levels.clone().unwrap_or_default();
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
        let count = marks.iter().filter(|&&mark| mark != 0).count();
        let deepest = self
            .paths
            .par_iter()
            .zip(&marks)
            .filter(|(_, mark)| **mark != 0);
        let deepest = deepest.map(|(path, _)| path.level()).max().unwrap_or(0);
        if deepest >= MAX_REFINEMENTS {
            return Err(RefineError::TooDeep { level: deepest + 1 });
        }
        if count == 0 {
            return Ok(0);
        }
        let (mesh, pieces) =
            step::split(&self.mesh, &levels, &corners, (&starts, &of_cell), &marks)?;
        let each = self.rims.iter().zip(pieces);
        self.rims = each
            .flat_map(|(&rim, n)| std::iter::repeat_n(rim, n))
            .collect();
        self.mesh = mesh;
        self.paths = paths::split(&self.paths, &marks);
        Ok(count)
    }
}

/// The points of each cell's faces, each once.
fn points_of(mesh: &PolyMesh, faces: &[u32]) -> Vec<u32> {
    let mut points: Vec<u32> = faces
        .iter()
        .flat_map(|&f| mesh.face(f as usize))
        .copied()
        .collect();
    points.sort_unstable();
    points.dedup();
    points
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
    let points = |cell: usize| {
        points_of(
            mesh,
            &of_cell[starts[cell] as usize..starts[cell + 1] as usize],
        )
    };
    let of_cells: Vec<Vec<u32>> = (0..mesh.cells).into_par_iter().map(points).collect();
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
        for (cell, points) in of_cells.iter().enumerate() {
            for &p in points {
                at_point[p as usize] = at_point[p as usize].min(most[cell]);
            }
        }
        let lowered: Vec<u8> = of_cells
            .par_iter()
            .zip(&most)
            .map(|(points, &most)| {
                let least = points
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
        for (cell, points) in of_cells.iter().enumerate() {
            for &p in points {
                at_point[p as usize] = at_point[p as usize].max(target[cell]);
            }
        }
        let raised: Vec<u8> = of_cells
            .par_iter()
            .zip(&target)
            .map(|(points, &target)| {
                let most = points
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
