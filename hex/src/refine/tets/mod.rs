//! Tetrahedra, 1 to 8: one step, as that of hexahedra; marks are closed alike.
//!
//! ```text
//! corners 0 1 2 3, midpoints 01 02 03 12 13 23
//! child 0: 0 01 02 03    child 4: 01 02 03 13        faces inside: 0|4 1|5 2|7 3|6, parallel to a side each,
//! child 1: 01 1 12 13    child 5: 01 02 12 13                      4|5 4|6 5|7 6|7, around the edge 02 13
//! child 2: 02 12 2 23    child 6: 02 03 13 23
//! child 3: 03 13 23 3    child 7: 02 12 13 23
//! ```
//!
//! Four children lie at the corners. The octahedron between them is divided around one of its three diagonals. Which one
//! follows from the order of the corners, and the order of the children's corners is that of the table (Bey, *Tetrahedral
//! grid refinement*, Computing 55 (1995) 355): then all descendants of a cell belong to at most three classes of similar
//! tetrahedra, so that their shapes stay as good for any number of levels, which choosing the shortest diagonal each time
//! is not known to ensure. The order of a parent's corners is free: it is the one whose diagonal is the shortest; of equal
//! ones, the first by point ids. It is found anew from the parent's corners and the paths, so that it needs no file.
//!
//! Coarse cells beside finer ones are polyhedra, with midpoints in their edges and up to four triangles a side. No two
//! cells choose anything for a common face, so faces always agree.

mod order;

pub(super) use order::corners;

use super::{HexMesh, HexSplit, MAX_REFINEMENTS, RefineError, RefinedMesh, check_memory};
use crate::geometry::{add, scale};
use crate::kernels::{ClosedMarks, NONE};
use crate::{PolyLevels, PolyMesh, PolyPatch, PolyViolation};
use cutlink_device::scan::exclusive_scan;
use cutlink_device::{Host, memory};
use rayon::prelude::*;

/// Edges by their corners: 01 02 03 12 13 23.
const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
/// Corners of the children: 0 to 3 corners, 4 to 9 midpoints in the order of [`EDGES`].
const CHILDREN: [[usize; 4]; 8] = [
    [0, 4, 5, 6],
    [4, 1, 7, 8],
    [5, 7, 2, 9],
    [6, 8, 9, 3],
    [4, 5, 6, 8],
    [4, 5, 7, 8],
    [5, 6, 8, 9],
    [5, 7, 8, 9],
];
/// The child in the middle of the side opposite each corner.
const MIDDLE: [u32; 4] = [7, 6, 4, 5];
/// Faces inside: two children, and a loop out of the first one where corners 0, 1, 2 are counter-clockwise seen from 3.
const INNER: [(u32, u32, [usize; 3]); 8] = [
    (0, 4, [4, 5, 6]),
    (1, 5, [4, 8, 7]),
    (2, 7, [5, 7, 9]),
    (3, 6, [6, 9, 8]),
    (4, 5, [4, 5, 8]),
    (4, 6, [5, 6, 8]),
    (5, 7, [5, 8, 7]),
    (6, 7, [5, 9, 8]),
];

type Four = [u32; 4];
/// The new mesh, how many faces each face of the boundary became, and where each face comes from.
type Made = (PolyMesh, Vec<usize>, Vec<u32>);

/// Refines the marked cells of a mesh of tetrahedra, and those that have to be refined with them. The marks are closed in
/// place. On an error the mesh is as it was.
pub(crate) fn step(
    mesh: &mut HexMesh,
    marks: &mut Vec<u8>,
) -> Result<Option<HexSplit>, RefineError> {
    let closed = mesh.close_all(marks)?;
    let empty = HexMesh::of_kind(RefinedMesh::default(), true);
    let mut refined = std::mem::replace(mesh, empty).into_refined();
    let split = split(&mut refined, closed, marks);
    *mesh = HexMesh::of_kind(refined, true);
    split
}

fn split(
    refined: &mut RefinedMesh,
    closed: ClosedMarks,
    marks: &[u8],
) -> Result<Option<HexSplit>, RefineError> {
    if closed.count == 0 {
        return Ok(None);
    }
    if closed.deepest >= u32::from(MAX_REFINEMENTS) {
        let level = closed.deepest as u8 + 1;
        return Err(RefineError::TooDeep { level });
    }
    let mesh = &refined.mesh;
    let levels = mesh.levels.clone().unwrap_or_default();
    let (starts, of_cell) = mesh.cell_faces();
    let corners = corners(mesh).ok_or_else(|| unfit(0))?;
    let corners = order::ordered(refined, &levels, corners)?;
    let mut first: Vec<u32> = marks.iter().map(|&m| if m == 0 { 1 } else { 8 }).collect();
    let cells = exclusive_scan(&mut first).ok_or(RefineError::TooLarge {
        what: "cells",
        count: mesh.cells as u64 * 8,
    })?;
    first.push(cells as u32);
    let mut tets = Tets {
        mesh,
        levels: &levels,
        corners: &corners,
        starts: &starts,
        of_cell: &of_cell,
        marks,
        first,
        places: Vec::new(),
        rank: Vec::new(),
        edges: Vec::new(),
        is_end: vec![false; mesh.points.len()],
    };
    tets.number()?;
    let (mesh, pieces, from) = tets.make(cells as usize)?;
    let each = refined.rims.iter().zip(pieces);
    refined.rims = each
        .flat_map(|(&rim, n)| std::iter::repeat_n(rim, n))
        .collect();
    let first = tets.first;
    let children = refined.paths.iter().zip(marks).flat_map(|(&path, &mark)| {
        let children = (0..8).map(move |child| path.child(child));
        let itself = (mark == 0).then_some(path);
        itself
            .into_iter()
            .chain(children.filter(move |_| mark != 0))
    });
    refined.paths = children.collect();
    refined.mesh = mesh;
    Ok(Some(HexSplit {
        refined: closed.count,
        first,
        from,
    }))
}

/// Which part of a face that is split.
#[derive(Clone, Copy)]
enum Part {
    /// The face itself, which is not split.
    Whole,
    /// The triangle at a corner.
    At(u32),
    /// The triangle between the midpoints of these corners.
    Between([u32; 3]),
}

/// Faces of the new mesh, before they are put in order.
#[derive(Default)]
struct Faces {
    /// Owner, neighbour ([`NONE`] at the boundary), the face that it was part of, and the end of its points.
    rows: Vec<(u32, u32, u32, usize)>,
    points: Vec<u32>,
}

/// What stays the same during a step.
struct Tets<'a> {
    mesh: &'a PolyMesh,
    levels: &'a PolyLevels,
    corners: &'a [Four],
    starts: &'a [u32],
    of_cell: &'a [u32],
    marks: &'a [u8],
    /// Number of each cell, or of its first child.
    first: Vec<u32>,
    /// Points of each marked cell: corners, then midpoints, and of each cell its entry here.
    places: Vec<[u32; 10]>,
    rank: Vec<u32>,
    /// Edges that are split, by smaller then larger point, ascending; their midpoints follow the points.
    edges: Vec<u64>,
    /// Whether a point is an end of one.
    is_end: Vec<bool>,
}

fn key(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

impl Tets<'_> {
    /// Numbers the midpoints.
    fn number(&mut self) -> Result<(), RefineError> {
        let marked: Vec<usize> = (0..self.mesh.cells)
            .filter(|&cell| self.marks[cell] != 0)
            .collect();
        let needed = 3 * 6 * 8 * marked.len() + 40 * marked.len() + 4 * self.mesh.cells;
        check_memory(&Host, "numbers of new points", needed as u64)?;
        // Midpoints that hang already.
        let hanging: Vec<[u32; 6]> = marked.par_iter().map(|&cell| self.hanging(cell)).collect();
        let ends = |cell: usize, edge: usize| {
            let [a, b] = EDGES[edge].map(|corner| self.corners[cell][corner]);
            key(a, b)
        };
        let new = marked
            .par_iter()
            .zip(&hanging)
            .flat_map_iter(|(&cell, middles)| {
                let open = (0..6).filter(|&edge| middles[edge] == NONE);
                open.map(move |edge| ends(cell, edge)).collect::<Vec<_>>()
            });
        let mut edges: Vec<u64> = new.collect();
        edges.par_sort_unstable();
        edges.dedup();
        let count = (self.mesh.points.len() + edges.len()) as u64;
        if count >= u64::from(u32::MAX) {
            let what = "points";
            return Err(RefineError::TooLarge { what, count });
        }
        for &edge in &edges {
            self.is_end[(edge >> 32) as usize] = true;
            self.is_end[edge as u32 as usize] = true;
        }
        self.edges = edges;
        self.rank = vec![NONE; self.mesh.cells];
        for (rank, &cell) in marked.iter().enumerate() {
            self.rank[cell] = rank as u32;
        }
        let place = |(&cell, middles): (&usize, &[u32; 6])| {
            let corners = self.corners[cell];
            std::array::from_fn(|i| match i {
                0..4 => corners[i],
                _ if middles[i - 4] != NONE => middles[i - 4],
                _ => {
                    let [a, b] = EDGES[i - 4].map(|corner| corners[corner]);
                    self.between(a, b).unwrap_or(NONE)
                }
            })
        };
        self.places = marked.par_iter().zip(&hanging).map(place).collect();
        Ok(())
    }

    /// The points in the middle of a cell's edges, [`NONE`] where there is none.
    fn hanging(&self, cell: usize) -> [u32; 6] {
        let mut edges: Vec<[u32; 2]> = Vec::with_capacity(48);
        for &face in self.faces_of(cell) {
            let ids = self.mesh.face(face as usize);
            for (i, &from) in ids.iter().enumerate() {
                let to = ids[(i + 1) % ids.len()];
                edges.extend([[from, to], [to, from]]);
            }
        }
        edges.sort_unstable();
        let has = |edge: [u32; 2]| edges.binary_search(&edge).is_ok();
        EDGES.map(|[a, b]| {
            let [a, b] = [a, b].map(|corner| self.corners[cell][corner]);
            if has([a, b]) {
                return NONE;
            }
            let from = edges.partition_point(|e| e[0] < a);
            let mut from_a = edges[from..].iter().take_while(|e| e[0] == a);
            let is_middle = |e: &&[u32; 2]| has([e[1], b]) && !self.corners[cell].contains(&e[1]);
            from_a.find(is_middle).map_or(NONE, |e| e[1])
        })
    }

    fn faces_of(&self, cell: usize) -> &[u32] {
        &self.of_cell[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }

    /// The new midpoint of an edge.
    fn between(&self, a: u32, b: u32) -> Option<u32> {
        let is_end = |p: u32| self.is_end.get(p as usize).is_some_and(|&is| is);
        if !(is_end(a) && is_end(b)) {
            return None;
        }
        let at = self.edges.binary_search(&key(a, b)).ok()?;
        Some((self.mesh.points.len() + at) as u32)
    }

    /// The level of a face: that of the finer cell.
    fn face_level(&self, face: usize) -> u8 {
        let owner = self.levels.cell[self.mesh.owner[face] as usize];
        let neighbour = self.mesh.neighbour.get(face);
        neighbour.map_or(owner, |&n| owner.max(self.levels.cell[n as usize]))
    }

    /// The three corners of a face, in its loop.
    fn triangle(&self, face: usize) -> [u32; 3] {
        let level = self.face_level(face);
        let is_corner = |p: &&u32| self.levels.point[**p as usize] <= level;
        let mut corners = self.mesh.face(face).iter().filter(is_corner);
        std::array::from_fn(|_| corners.next().copied().unwrap_or(NONE))
    }

    /// Whether a face becomes four: a cell of its level is marked.
    fn is_split(&self, face: usize) -> bool {
        let level = self.face_level(face);
        let cells = [
            Some(self.mesh.owner[face]),
            self.mesh.neighbour.get(face).copied(),
        ];
        let mut cells = cells.into_iter().flatten();
        cells.any(|c| self.marks[c as usize] != 0 && self.levels.cell[c as usize] == level)
    }

    /// The new number of a cell behind a part of a face.
    fn behind(&self, cell: u32, face: usize, part: Part) -> u32 {
        let at = cell as usize;
        if self.marks[at] == 0 {
            return self.first[at];
        }
        let corners = self.corners[at];
        let at_corner = |p: u32| corners.iter().position(|&q| q == p);
        let child = match part {
            Part::At(p) if self.levels.cell[at] == self.face_level(face) => at_corner(p),
            Part::Between(ends) if self.levels.cell[at] == self.face_level(face) => {
                let opposite = corners.iter().position(|p| !ends.contains(p));
                opposite.map(|corner| MIDDLE[corner] as usize)
            }
            // A part of a side, at one of the cell's corners or between midpoints.
            _ => {
                let ids = self.triangle(face);
                let places = self.places[self.rank[at] as usize];
                ids.into_iter().find_map(at_corner).or_else(|| {
                    let touches = |corner: usize| {
                        let edges = EDGES.iter().zip(&places[4..]);
                        let mut middles = edges.filter(|(edge, _)| edge.contains(&corner));
                        middles.any(|(_, middle)| ids.contains(middle))
                    };
                    (0..4)
                        .find(|&corner| !touches(corner))
                        .map(|c| MIDDLE[c] as usize)
                })
            }
        };
        self.first[at] + child.unwrap_or(0) as u32
    }

    /// Adds a face, with midpoints in its split edges.
    fn put(&self, out: &mut Faces, from: u32, ends: (u32, u32), outline: &[u32]) {
        for (i, &p) in outline.iter().enumerate() {
            out.points.push(p);
            out.points
                .extend(self.between(p, outline[(i + 1) % outline.len()]));
        }
        // Owners have the smaller number.
        out.rows.push((ends.0, ends.1, from, out.points.len()));
    }

    fn put_face(&self, face: usize, out: &mut Faces) {
        let (owner, neighbour) = (
            self.mesh.owner[face],
            self.mesh.neighbour.get(face).copied(),
        );
        let ends = |part| {
            let of = |cell| self.behind(cell, face, part);
            (of(owner), neighbour.map_or(NONE, of))
        };
        let ids = self.mesh.face(face);
        if !self.is_split(face) {
            return self.put(out, face as u32, ends(Part::Whole), ids);
        }
        let corners = self.triangle(face);
        let middle = |i: usize| {
            let (a, b) = (corners[i % 3], corners[(i + 1) % 3]);
            let at = ids.iter().position(|&p| p == a).unwrap_or(0);
            match ids[(at + 1) % ids.len()] {
                next if next == b => self.between(a, b).unwrap_or(NONE),
                next => next,
            }
        };
        let middles = [middle(0), middle(1), middle(2)];
        for i in 0..3 {
            let outline = [corners[i], middles[i], middles[(i + 2) % 3]];
            self.put(out, face as u32, ends(Part::At(corners[i])), &outline);
        }
        self.put(out, face as u32, ends(Part::Between(corners)), &middles);
    }

    /// The faces between the children of a cell.
    fn put_inner(&self, cell: usize, out: &mut Faces) -> Result<(), RefineError> {
        if self.marks[cell] == 0 {
            return Ok(());
        }
        let places = self.places[self.rank[cell] as usize];
        let is_mirrored = self.is_mirrored(cell).ok_or_else(|| unfit(cell))?;
        for (a, b, outline) in INNER {
            let mut outline = outline.map(|i| places[i]);
            if is_mirrored {
                outline.reverse();
            }
            let first = self.first[cell];
            self.put(out, NONE, (first + a, first + b), &outline);
        }
        Ok(())
    }

    /// Whether corners 0, 1, 2 are clockwise seen from corner 3, as the faces have it.
    fn is_mirrored(&self, cell: usize) -> Option<bool> {
        let places = self.places[self.rank[cell] as usize];
        let corner_of = |p: u32| places[..4].iter().position(|&q| q == p);
        self.faces_of(cell).iter().find_map(|&face| {
            let face = face as usize;
            let mut ids = self.triangle(face);
            if self.mesh.owner[face] as usize != cell {
                ids.reverse();
            }
            let turn = ids.iter().position(|&p| corner_of(p).is_some())?;
            ids.rotate_left(turn);
            let p = corner_of(ids[0])?;
            // The corner beyond: the point itself, or the other end of the edge that it halves.
            let beyond = |id: u32| {
                corner_of(id).or_else(|| {
                    let at = places[4..].iter().position(|&q| q == id)?;
                    let [a, b] = EDGES[at];
                    (a == p || b == p).then_some(a + b - p)
                })
            };
            let (q, r) = (beyond(ids[1])?, beyond(ids[2])?);
            let order = [p, q, r, 6 - p - q - r];
            let pairs = (0..4).flat_map(|i| (i + 1..4).map(move |j| (i, j)));
            let swaps = pairs.filter(|&(i, j)| order[i] > order[j]).count();
            Some(swaps % 2 == 0)
        })
    }

    /// The mesh, how many faces each face of the boundary became, and where each face comes from.
    fn make(&self, cells: usize) -> Result<Made, RefineError> {
        check_memory(&Host, "the refined mesh", self.bytes())?;
        let internal = self.mesh.internal_faces();
        let mut all = self.gather(0..internal, |face, out| {
            self.put_face(face, out);
            Ok(())
        })?;
        let inner = self.gather(0..self.mesh.cells, |cell, out| self.put_inner(cell, out))?;
        append(&mut all, inner);
        let count = all.rows.len();
        let mut patches: Vec<PolyPatch> = self.mesh.patches.clone();
        for patch in &mut patches {
            let range = patch.start..patch.start + patch.faces;
            let of_patch = self.gather(range, |face, out| {
                self.put_face(face, out);
                Ok(())
            })?;
            (patch.start, patch.faces) = (all.rows.len(), of_patch.rows.len());
            append(&mut all, of_patch);
        }
        let rims = internal..self.mesh.faces();
        let pieces = rims.map(|face| if self.is_split(face) { 4 } else { 1 });
        let pieces = pieces.collect();
        let (points, levels) = self.points()?;
        if let Some(at) = all.points.iter().position(|&p| p == NONE) {
            return Err(unfit(all.rows.partition_point(|row| row.3 <= at)));
        }
        let (mut mesh, from) = order(all, count, points)?;
        mesh.patches = patches;
        mesh.cells = cells;
        mesh.levels = Some(levels);
        Ok((mesh, pieces, from))
    }

    fn bytes(&self) -> u64 {
        let marked = self.places.len() as u64;
        let faces = self.mesh.faces() as u64 + 3 * 4 * marked + 8 * marked;
        let corners = self.mesh.face_points.len() as u64 + 3 * 20 * marked;
        let points = (self.mesh.points.len() + self.edges.len()) as u64;
        25 * points + 14 * (self.mesh.cells as u64 + 7 * marked) + 80 * faces + 12 * corners
    }

    fn gather(
        &self,
        range: std::ops::Range<usize>,
        put: impl Fn(usize, &mut Faces) -> Result<(), RefineError> + Sync,
    ) -> Result<Faces, RefineError> {
        const PIECE: usize = 4096;
        let part = |piece: usize| {
            let from = range.start + piece * PIECE;
            let mut out = Faces::default();
            (from..range.end.min(from + PIECE)).try_for_each(|i| put(i, &mut out))?;
            Ok(out)
        };
        let pieces = (0..range.len().div_ceil(PIECE)).into_par_iter().map(part);
        let parts: Result<Vec<Faces>, RefineError> = pieces.collect();
        let mut all = Faces::default();
        parts?.into_iter().for_each(|part| append(&mut all, part));
        Ok(all)
    }

    /// Points and levels: the old ones, and the midpoints.
    fn points(&self) -> Result<(Vec<[f64; 3]>, PolyLevels), RefineError> {
        let old = &self.mesh.points;
        let count = old.len() + self.edges.len();
        let mut points = memory::with_capacity("points", count)?;
        points.extend_from_slice(old);
        points.par_extend(self.edges.par_iter().map(|&key| {
            let (a, b) = (old[(key >> 32) as usize], old[key as u32 as usize]);
            scale(add(a, b), 0.5)
        }));
        let mut of_points = memory::with_capacity("point levels", count)?;
        of_points.extend_from_slice(&self.levels.point);
        of_points.resize(count, 0);
        for cell in (0..self.mesh.cells).filter(|&cell| self.marks[cell] != 0) {
            let new = &self.places[self.rank[cell] as usize][4..];
            for &p in new
                .iter()
                .filter(|&&p| p as usize >= old.len() && p != NONE)
            {
                of_points[p as usize] = self.levels.cell[cell] + 1;
            }
        }
        let level = |(&level, &mark): (&u8, &u8)| {
            std::iter::repeat_n(level + mark, if mark == 0 { 1 } else { 8 })
        };
        let levels = PolyLevels {
            cell: self
                .levels
                .cell
                .iter()
                .zip(self.marks)
                .flat_map(level)
                .collect(),
            point: of_points,
            edge: self.levels.edge,
        };
        Ok((points, levels))
    }
}

fn unfit(at: usize) -> RefineError {
    RefineError::Invalid(PolyViolation::Impossible {
        what: "face",
        at,
        reason: "the levels of cells and points do not fit their faces",
    })
}

fn append(all: &mut Faces, part: Faces) {
    let before = all.points.len();
    let rows = part.rows.into_iter();
    all.rows
        .extend(rows.map(|(a, b, from, end)| (a, b, from, before + end)));
    all.points.extend(part.points);
}

/// Faces in upper-triangular order, those of the boundary as they are; where each comes from.
fn order(
    faces: Faces,
    internal: usize,
    points: Vec<[f64; 3]>,
) -> Result<(PolyMesh, Vec<u32>), RefineError> {
    let count = faces.points.len() as u64;
    if count >= u64::from(u32::MAX) {
        let what = "corners of faces";
        return Err(RefineError::TooLarge { what, count });
    }
    let mut by: Vec<u32> = (0..faces.rows.len() as u32).collect();
    by[..internal].par_sort_unstable_by_key(|&f| {
        let row = faces.rows[f as usize];
        (row.0, row.1, f)
    });
    let mut mesh = PolyMesh {
        points,
        face_start: memory::with_capacity("faces", by.len() + 1)?,
        face_points: memory::with_capacity("face corners", faces.points.len())?,
        owner: memory::with_capacity("face owners", by.len())?,
        neighbour: memory::with_capacity("face neighbours", internal)?,
        ..PolyMesh::default()
    };
    mesh.face_start.push(0);
    for &f in &by {
        let f = f as usize;
        let start = f.checked_sub(1).map_or(0, |before| faces.rows[before].3);
        let (owner, neighbour, _, end) = faces.rows[f];
        mesh.face_points
            .extend_from_slice(&faces.points[start..end]);
        mesh.face_start.push(mesh.face_points.len() as u32);
        mesh.owner.push(owner);
        if neighbour != NONE {
            mesh.neighbour.push(neighbour);
        }
    }
    let from = by.iter().map(|&f| faces.rows[f as usize].2).collect();
    Ok((mesh, from))
}

/// The potential of the 8 children of a tetrahedron whose differences have these sums: the pseudo-inverse of the
/// Laplacian of their graph, four children in a ring with one more at each. A uniform flow has no circulation around the
/// ring, so it is the flow of a potential.
pub(crate) fn potential(sums: [f64; 8]) -> [f64; 8] {
    const RING: [usize; 4] = [4, 5, 7, 6];
    const AT: [usize; 4] = [0, 1, 2, 3];
    // Pseudo-inverse of a ring of four, by distance.
    const INVERSE: [f64; 4] = [5.0 / 16.0, -1.0 / 16.0, -3.0 / 16.0, -1.0 / 16.0];
    let inner: [f64; 4] = std::array::from_fn(|i| sums[RING[i]] + sums[AT[i]]);
    let mut out = [0.0; 8];
    for i in 0..4 {
        let value = (0..4).map(|j| INVERSE[(i + 4 - j) % 4] * inner[j]).sum();
        out[RING[i]] = value;
        out[AT[i]] = value + sums[AT[i]];
    }
    out
}
