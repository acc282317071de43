//! Every invariant of a mesh; the first violation is named.

use crate::geometry::{add, dot, norm, scale, sub};
use crate::{CellGeometry, FaceGeometry, PolyMesh};
use rayon::prelude::*;

/// Σ of the area vectors of a cell, relative to the sum of their lengths, from which on it counts as open.
const OPEN: f64 = 1e-9;

/// The first invariant found broken; the text is a lowercase fragment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolyViolation {
    /// Arrays of lengths that do not fit one another.
    #[error("array {array} has {len} elements, {expected} expected")]
    Length {
        /// The array.
        array: &'static str,
        /// Its length.
        len: usize,
        /// The length that fits.
        expected: usize,
    },
    /// A number beyond its array.
    #[error("face {face}: {what} {id} does not exist, there are {count}")]
    Range {
        /// The face.
        face: usize,
        /// What the number names.
        what: &'static str,
        /// The number.
        id: u32,
        /// Elements of the array.
        count: usize,
    },
    /// Points of faces that do not follow one another, or a coordinate that is not finite.
    #[error("{what} {at} is not possible: {reason}")]
    Impossible {
        /// What is wrong.
        what: &'static str,
        /// Which one.
        at: usize,
        /// Why.
        reason: &'static str,
    },
    /// A face with fewer than three points, or one of them twice.
    #[error("face {face} has {points} points, {distinct} of them distinct")]
    Degenerate {
        /// The face.
        face: usize,
        /// Its points.
        points: usize,
        /// Distinct ones.
        distinct: usize,
    },
    /// An internal face out of order.
    #[error("face {face} between cells {owner} and {neighbour} is not in upper-triangular order")]
    Order {
        /// The face.
        face: usize,
        /// Its owner.
        owner: u32,
        /// Its neighbour.
        neighbour: u32,
    },
    /// Patches that do not divide the boundary faces among themselves.
    #[error("patch {patch:?} starts at face {start}, {expected} expected")]
    Patch {
        /// The patch, or the end of the list.
        patch: String,
        /// Its first face.
        start: usize,
        /// The face after the patch before.
        expected: usize,
    },
    /// A patch whose faces do not fit those that they are joined with.
    #[error("patch {patch} of type {kind}: {reason}")]
    Coupled {
        /// The patch.
        patch: String,
        /// Its type.
        kind: String,
        /// Why.
        reason: &'static str,
    },
    /// A cell with an edge that is not passed once in each direction by its faces.
    #[error("cell {cell} is open at the edge between points {edge:?}: passed {times:+} times")]
    OpenCell {
        /// The cell.
        cell: usize,
        /// The edge.
        edge: [u32; 2],
        /// Passes along the edge minus passes against it, or passes along it where there are several.
        times: i32,
    },
    /// A cell whose area vectors do not cancel.
    #[error("cell {cell}: the area vectors sum up to {sum:e} of their lengths")]
    OpenArea {
        /// The cell.
        cell: usize,
        /// The length of the sum, relative.
        sum: f64,
    },
    /// A cell without volume.
    #[error("cell {cell} has volume {volume:e}")]
    Volume {
        /// The cell.
        cell: usize,
        /// Its volume.
        volume: f64,
    },
    /// A face whose area vector points into its owner, or out of its neighbour.
    #[error("face {face} points the wrong way, seen from cell {cell}")]
    Orientation {
        /// The face.
        face: usize,
        /// The cell.
        cell: u32,
    },
}

impl PolyMesh {
    /// Faces whose area vector points into their owner, or out of their neighbour, seen from the centres of cells; in order.
    /// `checkMesh` calls them incorrectly oriented. Cost: two passes over the faces.
    pub fn turned_faces(&self) -> Vec<usize> {
        let faces = self.face_geometry();
        let cells = self.cell_geometry(&faces);
        (0..self.faces())
            .into_par_iter()
            .filter(|&face| self.seen_from_behind(face, &faces, &cells).is_some())
            .collect()
    }

    /// The first cell of a face that sees it from behind.
    fn seen_from_behind(
        &self,
        face: usize,
        faces: &[FaceGeometry],
        cells: &[CellGeometry],
    ) -> Option<u32> {
        let is_behind = |cell: u32, sign: f64| {
            let out = sub(faces[face].center, cells[cell as usize].center);
            let along = sign * dot(out, faces[face].area);
            along.is_nan() || along <= 0.0
        };
        let (owner, neighbour) = (self.owner[face], self.neighbour.get(face).copied());
        let neighbour = neighbour.filter(|&cell| is_behind(cell, -1.0));
        is_behind(owner, 1.0).then_some(owner).or(neighbour)
    }

    /// Checks lengths, ids, order, patches, closed cells, positive volumes and the orientation of faces. Follows no id
    /// before it is checked. Memory: some 100 bytes a cell. Cost: a few passes over the faces.
    ///
    /// # Errors
    /// The first violation, in the order of this list, then of ids.
    pub fn validate(&self) -> Result<(), PolyViolation> {
        self.check_arrays()?;
        self.check_faces()?;
        self.check_order()?;
        self.check_patches()?;
        self.check_closed(|passes, sum| passes == 2 && sum == 0)?;
        self.check_geometry()
    }

    /// The first part of [`validate`](Self::validate): what other methods rely on.
    pub(crate) fn check_ids(&self) -> Result<(), PolyViolation> {
        self.check_arrays()?;
        self.check_faces()?;
        self.check_patches()
    }

    /// What refinement relies on beyond ids: each cell passes its edges as often in one direction as in the other. Cells
    /// may touch themselves at an edge.
    pub(crate) fn check_topology(&self) -> Result<(), PolyViolation> {
        self.check_ids()?;
        self.check_closed(|_, sum| sum == 0)
    }

    fn check_arrays(&self) -> Result<(), PolyViolation> {
        let faces = self.faces();
        let corners = self.face_start.last().map_or(0, |&end| end as usize);
        let mut lengths = vec![
            ("face_start", self.face_start.len(), faces + 1),
            ("face_points", self.face_points.len(), corners),
            (
                "neighbour",
                self.neighbour.len(),
                self.neighbour.len().min(faces),
            ),
        ];
        if let Some(levels) = &self.levels {
            lengths.push(("levels of cells", levels.cell.len(), self.cells));
            lengths.push(("levels of points", levels.point.len(), self.points.len()));
        }
        for (array, len, expected) in lengths {
            if len != expected {
                return Err(PolyViolation::Length {
                    array,
                    len,
                    expected,
                });
            }
        }
        // A cell has a face at least, and a face two cells at most: no arrays are made for more of them.
        if self.cells > 2 * faces {
            return Err(PolyViolation::Impossible {
                what: "cell",
                at: self.cells - 1,
                reason: "faces are fewer than half of the cells that its number asks for",
            });
        }
        let falls = self.face_start.windows(2).position(|w| w[0] > w[1]);
        if let Some(at) = falls {
            let (what, reason) = ("face", "its points end before they start");
            return Err(PolyViolation::Impossible { what, at, reason });
        }
        let is_odd = |p: &[f64; 3]| !p.iter().all(|x| x.is_finite());
        match self.points.par_iter().position_first(is_odd) {
            None => Ok(()),
            Some(at) => Err(PolyViolation::Impossible {
                what: "point",
                at,
                reason: "its coordinates are not finite",
            }),
        }
    }

    fn check_faces(&self) -> Result<(), PolyViolation> {
        let range = |face, what, id: u32, count| match (id as usize) < count {
            true => Ok(()),
            false => Err(PolyViolation::Range {
                face,
                what,
                id,
                count,
            }),
        };
        let check = |face: usize| {
            range(face, "owner", self.owner[face], self.cells)?;
            if let Some(&neighbour) = self.neighbour.get(face) {
                range(face, "neighbour", neighbour, self.cells)?;
            }
            let ids = self.face(face);
            for &id in ids {
                range(face, "point", id, self.points.len())?;
            }
            let is_new = |i: &usize| !ids[..*i].contains(&ids[*i]);
            let distinct = (0..ids.len()).filter(is_new).count();
            let points = ids.len();
            match points >= 3 && distinct == points {
                true => Ok(()),
                false => Err(PolyViolation::Degenerate {
                    face,
                    points,
                    distinct,
                }),
            }
        };
        first((0..self.faces()).into_par_iter().map(check))
    }

    fn check_order(&self) -> Result<(), PolyViolation> {
        let pair = |face: usize| (self.owner[face], self.neighbour[face]);
        let is_wrong = |&face: &usize| {
            let (owner, neighbour) = pair(face);
            owner >= neighbour || face > 0 && pair(face - 1) > (owner, neighbour)
        };
        match (0..self.internal_faces())
            .into_par_iter()
            .find_first(is_wrong)
        {
            None => Ok(()),
            Some(face) => {
                let (owner, neighbour) = pair(face);
                Err(PolyViolation::Order {
                    face,
                    owner,
                    neighbour,
                })
            }
        }
    }

    fn check_patches(&self) -> Result<(), PolyViolation> {
        let mut expected = self.internal_faces();
        for patch in &self.patches {
            if patch.start != expected {
                let (start, patch) = (patch.start, patch.name.clone());
                return Err(PolyViolation::Patch {
                    patch,
                    start,
                    expected,
                });
            }
            expected = expected.saturating_add(patch.faces);
        }
        match expected == self.faces() {
            true => Ok(()),
            false => Err(PolyViolation::Patch {
                patch: "(end)".into(),
                start: self.faces(),
                expected,
            }),
        }
    }

    /// Each edge of a cell is passed by its faces as it should be: by the number of passes, and those
    /// along it minus those against it.
    fn check_closed(
        &self,
        is_closed: impl Fn(usize, i32) -> bool + Sync,
    ) -> Result<(), PolyViolation> {
        let (start, of_cell) = self.cell_faces();
        let check = |cell: usize| {
            let mut edges: Vec<(u32, u32, i32)> = Vec::with_capacity(64);
            for &face in &of_cell[start[cell] as usize..start[cell + 1] as usize] {
                let ids = self.face(face as usize);
                let side = if self.owner[face as usize] as usize == cell {
                    1
                } else {
                    -1
                };
                for (i, &from) in ids.iter().enumerate() {
                    let to = ids[(i + 1) % ids.len()];
                    edges.push((
                        from.min(to),
                        from.max(to),
                        if from < to { side } else { -side },
                    ));
                }
            }
            edges.sort_unstable();
            for same in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
                if is_closed(same.len(), same.iter().map(|edge| edge.2).sum()) {
                    continue;
                }
                let times = match same {
                    other if other.iter().all(|e| e.2 == other[0].2) => {
                        other.len() as i32 * other[0].2
                    }
                    other => other.len() as i32,
                };
                let edge = [same[0].0, same[0].1];
                return Err(PolyViolation::OpenCell { cell, edge, times });
            }
            match edges.is_empty() {
                false => Ok(()),
                true => Err(PolyViolation::Impossible {
                    what: "cell",
                    at: cell,
                    reason: "it has no faces",
                }),
            }
        };
        first((0..self.cells).into_par_iter().map(check))
    }

    fn check_geometry(&self) -> Result<(), PolyViolation> {
        let faces = self.face_geometry();
        let cells = self.cell_geometry(&faces);
        let mut sums = vec![([0.0; 3], 0.0); self.cells];
        for (face, geometry) in faces.iter().enumerate() {
            let mut put = |cell: u32, sign: f64| {
                let sum = &mut sums[cell as usize];
                sum.0 = add(sum.0, scale(geometry.area, sign));
                sum.1 += norm(geometry.area);
            };
            put(self.owner[face], 1.0);
            if let Some(&neighbour) = self.neighbour.get(face) {
                put(neighbour, -1.0);
            }
        }
        for (cell, &(sum, of)) in sums.iter().enumerate() {
            let sum = norm(sum) / of;
            if sum.is_nan() || sum >= OPEN {
                return Err(PolyViolation::OpenArea { cell, sum });
            }
        }
        if let Some(cell) = cells
            .iter()
            .position(|c| c.volume.is_nan() || c.volume <= 0.0)
        {
            let volume = cells[cell].volume;
            return Err(PolyViolation::Volume { cell, volume });
        }
        first((0..self.faces()).into_par_iter().map(|face| {
            match self.seen_from_behind(face, &faces, &cells) {
                Some(cell) => Err(PolyViolation::Orientation { face, cell }),
                None => Ok(()),
            }
        }))
    }
}

/// The first error, by position.
fn first(
    results: impl IndexedParallelIterator<Item = Result<(), PolyViolation>>,
) -> Result<(), PolyViolation> {
    let error = results.filter_map(Result::err);
    error.find_map_first(Some).map_or(Ok(()), Err)
}
