//! One step: splits marked hexahedra.
//!
//! ```text
//! places of a cell and its children, 3 x 3 x 3, x fastest: corners at even places
//! 24 25 26      child x + 2 y + 4 z has the places from (x, y, z) to (x + 1, y + 1, z + 1)
//! 21 22 23
//! 18 19 20 …    13 is the centre; 4, 10, 12, 14, 16, 22 are the sides; the others midpoints of edges
//! ```

use super::RefineError;
use super::shape::{Corners, Frame, NONE};
use crate::geometry::{add, cross, dot, norm, scale, sub};
use crate::{PolyLevels, PolyMesh, PolyPatch, PolyViolation};
use cutlink_device::memory;
use cutlink_device::scan::exclusive_scan;
use rayon::prelude::*;

/// The 12 edges of a cell: two corners.
const EDGES: [[usize; 2]; 12] = [
    [0, 1],
    [2, 3],
    [4, 5],
    [6, 7],
    [0, 2],
    [1, 3],
    [4, 6],
    [5, 7],
    [0, 4],
    [1, 5],
    [2, 6],
    [3, 7],
];
/// The 6 sides: -x, +x, -y, +y, -z, +z; corners in a loop.
const SIDES: [[usize; 4]; 6] = [
    [0, 4, 6, 2],
    [1, 3, 7, 5],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 2, 3, 1],
    [4, 5, 7, 6],
];

/// The place of a corner among 27.
fn place_of(corner: usize) -> usize {
    2 * (corner & 1) + 6 * (corner >> 1 & 1) + 18 * (corner >> 2)
}

/// The new points.
struct New {
    /// Edges that are split, by smaller then larger point, ascending.
    edges: Vec<u64>,
    /// Whether a point is an end of one: most faces have none, and need no search.
    is_end: Vec<bool>,
    /// Number of the first midpoint.
    first_edge: u32,
    /// Number of the midpoint of each face, or [`NONE`].
    faces: Vec<u32>,
    /// Number of the centre of each cell, or [`NONE`].
    cells: Vec<u32>,
}

impl New {
    /// The new midpoint of an edge.
    fn between(&self, a: u32, b: u32) -> Option<u32> {
        let is_end = |p: u32| self.is_end.get(p as usize).is_some_and(|&is_end| is_end);
        if !(is_end(a) && is_end(b)) {
            return None;
        }
        self.edges
            .binary_search(&key(a, b))
            .ok()
            .map(|at| self.first_edge + at as u32)
    }
}

fn key(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

/// What stays the same during a step.
struct Step<'a> {
    mesh: &'a PolyMesh,
    levels: &'a PolyLevels,
    corners: &'a [Corners],
    starts: &'a [u32],
    of_cell: &'a [u32],
    marks: &'a [u8],
    /// Number of each cell, or of its first child.
    first: Vec<u32>,
}

/// What a step did.
pub(super) struct Split {
    /// Cells that were split.
    pub(super) marks: Vec<u8>,
    /// The face that each face is or was part of; [`NONE`] inside split cells.
    pub(super) from: Vec<u32>,
}

/// The new mesh, how many faces each face of the boundary became, and where each face comes from.
pub(super) type Made = (PolyMesh, Vec<usize>, Vec<u32>);

/// Faces of the new mesh, before they are put in order.
#[derive(Default)]
struct Faces {
    /// Owner, neighbour ([`NONE`] at the boundary), points.
    ends: Vec<(u32, u32)>,
    /// As in [`Split`].
    from: Vec<u32>,
    counts: Vec<u32>,
    points: Vec<u32>,
}

impl Faces {
    /// Adds a face, with midpoints in its split edges.
    fn put(&mut self, from: u32, ends: (u32, u32), outline: &[u32], new: &New) {
        let before = self.points.len();
        for (i, &p) in outline.iter().enumerate() {
            self.points.push(p);
            self.points
                .extend(new.between(p, outline[(i + 1) % outline.len()]));
        }
        self.counts.push((self.points.len() - before) as u32);
        self.ends.push(ends);
        self.from.push(from);
    }
}

/// Splits the marked cells.
pub(super) fn split(
    mesh: &PolyMesh,
    levels: &PolyLevels,
    corners: &[Corners],
    (starts, of_cell): (&[u32], &[u32]),
    marks: &[u8],
) -> Result<Made, RefineError> {
    let mut first: Vec<u32> = marks.iter().map(|&m| if m == 0 { 1 } else { 8 }).collect();
    let cells = exclusive_scan(&mut first).ok_or(RefineError::TooLarge {
        what: "cells",
        count: mesh.cells as u64 * 8,
    })?;
    let step = Step {
        mesh,
        levels,
        corners,
        starts,
        of_cell,
        marks,
        first,
    };
    super::check_memory("numbers of new points", step.number_bytes())?;
    let new = step.number()?;
    step.check_quads(&new)?;
    super::check_memory("the refined mesh", step.bytes(&new))?;
    let (points, point_levels) = step.points(&new)?;
    let (faces, patches) = step.faces(&new);
    let level = |(&level, &mark): (&u8, &u8)| {
        std::iter::repeat_n(level + mark, if mark == 0 { 1 } else { 8 })
    };
    let cell_levels = levels.cell.iter().zip(marks).flat_map(level).collect();
    let levels = PolyLevels {
        cell: cell_levels,
        point: point_levels,
        edge: levels.edge,
    };
    let rims = mesh.internal_faces()..mesh.faces();
    let pieces = rims
        .map(|face| if new.faces[face] == NONE { 1 } else { 4 })
        .collect();
    let (mesh, from) = order(faces, patches, points, levels, cells as usize)?;
    match mesh.face_points.par_iter().position_first(|&p| p == NONE) {
        None => Ok((mesh, pieces, from)),
        Some(at) => Err(unfit(
            "face",
            mesh.face_start.partition_point(|&s| s as usize <= at) - 1,
        )),
    }
}

/// Cells that look like hexahedra, with sides or edges that no hexahedron has.
fn unfit(what: &'static str, at: usize) -> RefineError {
    RefineError::Invalid(PolyViolation::Impossible {
        what,
        at,
        reason: "the levels of cells and points do not fit their faces",
    })
}

impl Step<'_> {
    /// Faces that are split have four corners.
    fn check_quads(&self, new: &New) -> Result<(), RefineError> {
        let is_unfit = |&face: &usize| new.faces[face] != NONE && self.quad(face).contains(&NONE);
        match (0..self.mesh.faces()).into_par_iter().find_first(is_unfit) {
            None => Ok(()),
            Some(face) => Err(unfit("face", face)),
        }
    }

    /// The level of a face: that of the finer cell.
    fn face_level(&self, face: usize) -> u8 {
        let owner = self.levels.cell[self.mesh.owner[face] as usize];
        let neighbour = self
            .mesh
            .neighbour
            .get(face)
            .map(|&n| self.levels.cell[n as usize]);
        owner.max(neighbour.unwrap_or(0))
    }

    fn cells_of(&self, face: usize) -> impl Iterator<Item = u32> {
        std::iter::once(self.mesh.owner[face]).chain(self.mesh.neighbour.get(face).copied())
    }

    /// Whether a face becomes four: a cell of its level is marked.
    fn is_split(&self, face: usize) -> bool {
        let level = self.face_level(face);
        self.cells_of(face)
            .any(|c| self.marks[c as usize] != 0 && self.levels.cell[c as usize] == level)
    }

    fn frame(&self, cell: usize) -> Frame {
        let faces = &self.of_cell[self.starts[cell] as usize..self.starts[cell + 1] as usize];
        Frame::of(self.mesh, faces, cell)
    }

    /// Bytes that [`number`](Self::number) takes: keys of edges, twice while they are sorted, numbers of faces and cells.
    fn number_bytes(&self) -> u64 {
        let marked = self.marks.iter().filter(|&&mark| mark != 0).count() as u64;
        let numbers = 4 * (self.mesh.faces() + self.mesh.cells) as u64;
        2 * 12 * 8 * marked + numbers + self.mesh.points.len() as u64
    }

    /// Bytes of the new mesh and of what is needed to make it: faces are there twice, before and after they are put in
    /// order, and a part of them a third time.
    fn bytes(&self, new: &New) -> u64 {
        let count = |numbers: &[u32]| numbers.iter().filter(|&&n| n != NONE).count() as u64;
        let (split, marked) = (count(&new.faces), count(&new.cells));
        let old = self.mesh.faces() as u64;
        let faces = old + 3 * split + 12 * marked;
        let cells = self.mesh.cells as u64 + 7 * marked;
        let points = self.mesh.points.len() as u64 + new.edges.len() as u64 + split + marked;
        // A midpoint of an edge is a corner of some four faces more, in bulk.
        let corners = self.mesh.face_points.len() as u64
            + 12 * split
            + 48 * marked
            + 4 * new.edges.len() as u64;
        25 * points + 14 * cells + (3 * 16 + 24) * faces + 3 * 4 * corners
    }

    fn number(&self) -> Result<New, RefineError> {
        let mut edges: Vec<u64> = (0..self.mesh.cells)
            .into_par_iter()
            .filter(|&cell| self.marks[cell] != 0)
            .flat_map_iter(|cell| {
                let (frame, corners) = (self.frame(cell), self.corners[cell]);
                let ends = EDGES.map(|[a, b]| [corners[a], corners[b]]);
                let new = ends
                    .into_iter()
                    .filter(move |&[a, b]| frame.between(a, b).is_none());
                new.map(|[a, b]| key(a, b)).collect::<Vec<_>>()
            })
            .collect();
        edges.par_sort_unstable();
        edges.dedup();
        let mut is_end = vec![false; self.mesh.points.len()];
        for &edge in &edges {
            is_end[(edge >> 32) as usize] = true;
            is_end[edge as u32 as usize] = true;
        }
        let mut count = (self.mesh.points.len() + edges.len()) as u64;
        let first_edge = self.mesh.points.len() as u32;
        let mut numbers = |is_new: &dyn Fn(usize) -> bool, len: usize| -> Vec<u32> {
            let number = |i: usize| match is_new(i) {
                true => {
                    count += 1;
                    (count - 1) as u32
                }
                false => NONE,
            };
            (0..len).map(number).collect()
        };
        let faces = numbers(&|face| self.is_split(face), self.mesh.faces());
        let cells = numbers(&|cell| self.marks[cell] != 0, self.mesh.cells);
        match count < u64::from(u32::MAX) {
            true => Ok(New {
                edges,
                is_end,
                first_edge,
                faces,
                cells,
            }),
            false => Err(RefineError::TooLarge {
                what: "points",
                count,
            }),
        }
    }

    fn points(&self, new: &New) -> Result<(Vec<[f64; 3]>, Vec<u8>), RefineError> {
        let (old, faces) = (&self.mesh.points, &new.faces);
        let more = new.edges.len()
            + faces
                .iter()
                .chain(&new.cells)
                .filter(|&&n| n != NONE)
                .count();
        let mut points = memory::with_capacity("points", old.len() + more)?;
        let mut levels = memory::with_capacity("point levels", old.len() + more)?;
        points.extend_from_slice(old);
        levels.extend_from_slice(&self.levels.point);
        points.par_extend(new.edges.par_iter().map(|&key| {
            let (a, b) = (old[(key >> 32) as usize], old[key as u32 as usize]);
            scale(add(a, b), 0.5)
        }));
        // The level of a midpoint is one beyond that of the cells whose edge it halves.
        let mut edge_levels = vec![0u8; new.edges.len()];
        for cell in (0..self.mesh.cells).filter(|&cell| self.marks[cell] != 0) {
            for [a, b] in EDGES {
                if let Some(at) = new.between(self.corners[cell][a], self.corners[cell][b]) {
                    edge_levels[(at - new.first_edge) as usize] = self.levels.cell[cell] + 1;
                }
            }
        }
        levels.extend(edge_levels);
        for face in (0..self.mesh.faces()).filter(|&face| faces[face] != NONE) {
            let quad = self.quad(face).map(|p| old[p as usize]);
            points.push(center_of(&quad).0);
            levels.push(self.face_level(face) + 1);
        }
        let marked: Vec<usize> = (0..self.mesh.cells)
            .filter(|&cell| self.marks[cell] != 0)
            .collect();
        points.par_extend(marked.par_iter().map(|&cell| {
            let at = self.corners[cell].map(|p| old[p as usize]);
            center_of_cell(&at)
        }));
        levels.extend(marked.iter().map(|&cell| self.levels.cell[cell] + 1));
        Ok((points, levels))
    }

    /// The four corners of a face that is split, in its loop.
    fn quad(&self, face: usize) -> [u32; 4] {
        let level = self.face_level(face);
        let mut corners = self.mesh.face(face).iter().copied();
        let mut next = || {
            corners
                .find(|&p| self.levels.point[p as usize] <= level)
                .unwrap_or(NONE)
        };
        [next(), next(), next(), next()]
    }

    /// The new number of a cell at one of its corners.
    fn child_at(&self, cell: u32, corner: u32) -> u32 {
        let at = cell as usize;
        match self.marks[at] {
            0 => self.first[at],
            _ => {
                let child = self.corners[at].iter().position(|&p| p == corner);
                self.first[at] + child.map_or(0, |child| child as u32)
            }
        }
    }

    /// The new number of a cell behind a face, or behind its quarter at a corner.
    fn behind(&self, cell: u32, face: usize, quarter: Option<u32>) -> u32 {
        let is_own_level = self.levels.cell[cell as usize] == self.face_level(face);
        match quarter {
            Some(corner) if is_own_level => self.child_at(cell, corner),
            _ if self.marks[cell as usize] == 0 => self.first[cell as usize],
            // A quarter of one of the cell's sides: it has one of the cell's corners.
            _ => {
                let corners = &self.corners[cell as usize];
                let corner = self.mesh.face(face).iter().find(|p| corners.contains(p));
                self.child_at(cell, corner.copied().unwrap_or(NONE))
            }
        }
    }

    /// All faces, those inside cells last, and patches with their new numbers of faces.
    fn faces(&self, new: &New) -> (Faces, Vec<PolyPatch>) {
        let internal = self.mesh.internal_faces();
        let mut all = self.gather(0..internal, |face, out| self.put_face(face, new, out));
        let inner = self.gather(0..self.mesh.cells, |cell, out| {
            self.put_inner(cell, new, out)
        });
        append(&mut all, inner);
        let mut patches = self.mesh.patches.clone();
        for patch in &mut patches {
            let range = patch.start..patch.start + patch.faces;
            let of_patch = self.gather(range, |face, out| self.put_face(face, new, out));
            (patch.start, patch.faces) = (all.ends.len(), of_patch.ends.len());
            append(&mut all, of_patch);
        }
        (all, patches)
    }

    fn gather(
        &self,
        range: std::ops::Range<usize>,
        put: impl Fn(usize, &mut Faces) + Sync,
    ) -> Faces {
        const PIECE: usize = 4096;
        let pieces = range.len().div_ceil(PIECE);
        let parts: Vec<Faces> = (0..pieces)
            .into_par_iter()
            .map(|piece| {
                let from = range.start + piece * PIECE;
                let mut out = Faces::default();
                (from..range.end.min(from + PIECE)).for_each(|i| put(i, &mut out));
                out
            })
            .collect();
        let mut all = Faces::default();
        parts.into_iter().for_each(|part| append(&mut all, part));
        all
    }

    fn put_face(&self, face: usize, new: &New, out: &mut Faces) {
        let (owner, neighbour) = (
            self.mesh.owner[face],
            self.mesh.neighbour.get(face).copied(),
        );
        let ends = |quarter| {
            let of = |cell| self.behind(cell, face, quarter);
            (of(owner), neighbour.map_or(NONE, of))
        };
        let ids = self.mesh.face(face);
        let center = new.faces[face];
        if center == NONE {
            return out.put(face as u32, ends(None), ids, new);
        }
        let quad = self.quad(face);
        // The point between two corners: new, or one that hangs there already.
        let middle = |a: u32, b: u32| {
            let at = ids.iter().position(|&p| p == a).unwrap_or(0);
            let next = ids[(at + 1) % ids.len()];
            if next == b {
                new.between(a, b).unwrap_or(NONE)
            } else {
                next
            }
        };
        for i in 0..4 {
            let [before, here, after] = [quad[(i + 3) % 4], quad[i], quad[(i + 1) % 4]];
            let outline = [here, middle(here, after), center, middle(before, here)];
            out.put(face as u32, ends(Some(here)), &outline, new);
        }
    }

    /// The 12 faces between the children of a cell.
    fn put_inner(&self, cell: usize, new: &New, out: &mut Faces) {
        if self.marks[cell] == 0 {
            return;
        }
        let places = self.places(cell, new);
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for quarter in 0..4 {
                let (cu, cv) = (quarter & 1, quarter >> 1);
                let at = |du: usize, dv: usize| {
                    let mut place = [1; 3];
                    (place[u], place[v]) = (cu + du, cv + dv);
                    places[place[0] + 3 * place[1] + 9 * place[2]]
                };
                let low = (cu << u | cv << v) as u32;
                let first = self.first[cell];
                let ends = (first + low, first + (low | 1 << axis));
                out.put(NONE, ends, &[at(0, 0), at(1, 0), at(1, 1), at(0, 1)], new);
            }
        }
    }

    /// The points at the 27 places of a marked cell.
    fn places(&self, cell: usize, new: &New) -> [u32; 27] {
        let (corners, frame) = (self.corners[cell], self.frame(cell));
        let mut places = [NONE; 27];
        places[13] = new.cells[cell];
        for (corner, &point) in corners.iter().enumerate() {
            places[place_of(corner)] = point;
        }
        for [a, b] in EDGES {
            let middle = new
                .between(corners[a], corners[b])
                .or_else(|| frame.between(corners[a], corners[b]));
            places[(place_of(a) + place_of(b)) / 2] = middle.unwrap_or(NONE);
        }
        let faces = &self.of_cell[self.starts[cell] as usize..self.starts[cell + 1] as usize];
        for side in SIDES {
            let place = (place_of(side[0]) + place_of(side[2])) / 2;
            let quad = side.map(|corner| corners[corner]);
            places[place] = self.side_center(faces, quad, &places, side, new);
        }
        places
    }

    /// The point in the middle of a side: of its face, or common to its quarters.
    fn side_center(
        &self,
        faces: &[u32],
        quad: [u32; 4],
        places: &[u32; 27],
        side: [usize; 4],
        new: &New,
    ) -> u32 {
        let whole = faces.iter().find(|&&f| {
            let ids = self.mesh.face(f as usize);
            quad.iter().all(|p| ids.contains(p))
        });
        if let Some(&face) = whole {
            return new.faces[face as usize];
        }
        // The quarter at the first corner has the midpoints of its two edges; its fourth corner is the centre.
        let edge = |i: usize| places[(place_of(side[0]) + place_of(side[i])) / 2];
        let (one, two) = (edge(1), edge(3));
        let quarter = faces
            .iter()
            .map(|&f| self.mesh.face(f as usize))
            .find(|ids| [quad[0], one, two].iter().all(|p| ids.contains(p)));
        let Some(ids) = quarter else { return NONE };
        let level = [quad[0], one, two]
            .iter()
            .map(|&p| self.levels.point[p as usize])
            .max();
        let is_fourth = |p: &&u32| {
            ![quad[0], one, two].contains(p) && Some(self.levels.point[**p as usize]) <= level
        };
        ids.iter().find(is_fourth).copied().unwrap_or(NONE)
    }
}

fn append(all: &mut Faces, part: Faces) {
    all.ends.extend(part.ends);
    all.from.extend(part.from);
    all.counts.extend(part.counts);
    all.points.extend(part.points);
}

/// Sorts internal faces by owner and neighbour; the boundary stays as it is.
fn order(
    faces: Faces,
    patches: Vec<PolyPatch>,
    points: Vec<[f64; 3]>,
    levels: PolyLevels,
    cells: usize,
) -> Result<(PolyMesh, Vec<u32>), RefineError> {
    let internal = faces.ends.iter().take_while(|ends| ends.1 != NONE).count();
    if faces.points.len() as u64 >= u64::from(u32::MAX) {
        let (what, count) = ("corners of faces", faces.points.len() as u64);
        return Err(RefineError::TooLarge { what, count });
    }
    let mut starts = faces.counts.clone();
    exclusive_scan(&mut starts);
    let mut by: Vec<u32> = (0..faces.ends.len() as u32).collect();
    // Polyhedra may share several faces.
    by[..internal].par_sort_unstable_by_key(|&f| (faces.ends[f as usize], f));
    let from = by.iter().map(|&f| faces.from[f as usize]).collect();
    let mut mesh = PolyMesh {
        points,
        face_start: memory::with_capacity("faces", by.len() + 1)?,
        face_points: memory::with_capacity("face corners", faces.points.len())?,
        owner: memory::with_capacity("face owners", by.len())?,
        neighbour: memory::with_capacity("face neighbours", internal)?,
        patches,
        cells,
        levels: Some(levels),
    };
    for &f in &by {
        let (f, start) = (f as usize, starts[f as usize] as usize);
        mesh.face_start.push(mesh.face_points.len() as u32);
        mesh.face_points
            .extend_from_slice(&faces.points[start..start + faces.counts[f] as usize]);
        mesh.owner.push(faces.ends[f].0);
        if faces.ends[f].1 != NONE {
            mesh.neighbour.push(faces.ends[f].1);
        }
    }
    mesh.face_start.push(mesh.face_points.len() as u32);
    Ok((mesh, from))
}

/// Centre and area vector of a quad: OpenFOAM's, a fan of triangles around the mean of the corners.
fn center_of(quad: &[[f64; 3]; 4]) -> ([f64; 3], [f64; 3]) {
    let mid = scale(quad.iter().fold([0.0; 3], |sum, &p| add(sum, p)), 0.25);
    let fan = |i: usize| {
        let (p, q) = (quad[i], quad[(i + 1) % 4]);
        (add(add(p, q), mid), cross(sub(q, p), sub(mid, p)))
    };
    let twice = (0..4).fold([0.0; 3], |sum, i| add(sum, fan(i).1));
    let (mut weight, mut weighted) = (0.0, [0.0; 3]);
    for i in 0..4 {
        let (thrice, area) = fan(i);
        weight += norm(area);
        weighted = add(weighted, scale(thrice, norm(area)));
    }
    if weight == 0.0 {
        return (mid, twice);
    }
    (scale(weighted, 1.0 / (3.0 * weight)), scale(twice, 0.5))
}

/// Centre of mass of a hexahedron: OpenFOAM's, pyramids over its sides.
fn center_of_cell(at: &[[f64; 3]; 8]) -> [f64; 3] {
    let sides = SIDES.map(|side| center_of(&side.map(|corner| at[corner])));
    let mid = scale(
        sides.iter().fold([0.0; 3], |sum, side| add(sum, side.0)),
        1.0 / 6.0,
    );
    let (mut volume, mut weighted) = (0.0, [0.0; 3]);
    for (center, area) in sides {
        let thrice = dot(area, sub(center, mid));
        volume += thrice;
        weighted = add(
            weighted,
            scale(add(scale(center, 0.75), scale(mid, 0.25)), thrice),
        );
    }
    if volume == 0.0 {
        mid
    } else {
        scale(weighted, 1.0 / volume)
    }
}
