//! Tetrahedra, 1 to 8.
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

use super::cut::Cut;
use super::shape::{MIDDLE, Shape, is_plain};
use super::view::View;
use crate::geometry::{add, dot, scale, sub};
use crate::kernels::{Corners, NONE};
use crate::refine::{CellPath, RefineError, misplaced};
use rayon::prelude::*;

/// Corners of the children: 0 to 3 corners, 4 to 9 midpoints in the order of the edges.
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
const BEHIND: [u32; 4] = [7, 6, 4, 5];
/// Faces inside: two children, and a loop out of the first one where corners 0, 1, 2 are counter-clockwise seen from 3.
const INNER: [([u32; 2], [usize; 3]); 8] = [
    ([0, 4], [4, 5, 6]),
    ([1, 5], [4, 8, 7]),
    ([2, 7], [5, 7, 9]),
    ([3, 6], [6, 9, 8]),
    ([4, 5], [4, 5, 8]),
    ([4, 6], [5, 6, 8]),
    ([5, 7], [5, 8, 7]),
    ([6, 7], [5, 9, 8]),
];

type Four = [u32; 4];

/// Template of tetrahedra.
pub(super) enum Tets {}

impl Shape for Tets {
    type Side = [u32; 3];
    /// Corners, midpoints, and 1 for a cell whose corners 0, 1, 2 are clockwise seen from corner 3.
    type Places = [u32; 11];
    const EDGES: &'static [[usize; 2]] = &[[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    const SIDES: usize = 4;
    const SIDE: usize = 3;
    const INNER: usize = 8;
    const PLACES: usize = 11;

    fn places(cut: Cut<'_>, cell: usize, _: usize) -> [u32; 11] {
        let corners = cut.corners[cell];
        let is_plain = is_plain::<Self>(cut.view, cell);
        let mut places = [NONE; 11];
        places[..4].copy_from_slice(&corners[..4]);
        for (middle, &[a, b]) in places[4..].iter_mut().zip(Self::EDGES) {
            *middle = cut.middle(corners[a], corners[b]);
            if *middle == NONE && !is_plain {
                *middle = cut.view.hanging(cell, corners[a], corners[b]);
            }
        }
        match is_mirrored(cut.view, cell, &places) {
            Some(is_mirrored) => places[10] = u32::from(is_mirrored),
            // Reported when the faces are written.
            None => places[4..].fill(NONE),
        }
        places
    }

    #[inline]
    fn pieces(cut: Cut<'_>, face: usize) -> ([(u32, [u32; 3]); 4], usize) {
        let corners = cut.view.side::<3>(face);
        let middles = cut.middles(face, &corners);
        let [a, b, c, _] = cut.order(face, &corners);
        let piece = |i: usize| (corners[i], [corners[i], middles[i], middles[(i + 2) % 3]]);
        // From the midpoint between the first two corners on.
        let from = if (a + 1) % 3 == b { a } else { b };
        let middle = std::array::from_fn(|i| middles[(from + i) % 3]);
        ([piece(a), piece(b), piece(c), (MIDDLE, middle)], 4)
    }

    fn child(cut: Cut<'_>, cell: usize, face: usize, piece: u32) -> u32 {
        let corners = &cut.corners[cell][..4];
        let at = |corner: u32| corners.iter().position(|&p| p == corner);
        if let Some(child) = at(piece) {
            return child as u32;
        }
        let ids = cut.view.side::<3>(face);
        let opposite = match piece {
            MIDDLE => corners.iter().position(|p| !ids.contains(p)),
            // A part of a side, at one of the cell's corners or between midpoints.
            _ => {
                if let Some(child) = ids.into_iter().find_map(at) {
                    return child as u32;
                }
                let mut touches = [false; 4];
                cut.view.edges(cell, |from, to| {
                    if ids.contains(&to)
                        && let Some(corner) = at(from)
                    {
                        touches[corner] = true;
                    }
                });
                touches.iter().position(|touches| !touches)
            }
        };
        opposite.map_or(0, |corner| BEHIND[corner])
    }

    #[inline]
    fn inner(places: &[u32], face: usize) -> ([u32; 3], [u32; 2]) {
        let (ends, outline) = INNER[face];
        let mut outline = outline.map(|at| places[at]);
        if places[10] == 1 {
            outline.reverse();
        }
        (outline, ends)
    }
}

/// Whether corners 0, 1, 2 are clockwise seen from corner 3, as a face at corner 0 has it.
fn is_mirrored(view: View<'_>, cell: usize, places: &[u32; 11]) -> Option<bool> {
    view.faces_of(cell).iter().find_map(|&face| {
        let mut ids = view.side::<3>(face as usize);
        if view.owner[face as usize] as usize != cell {
            ids.reverse();
        }
        let turn = ids.iter().position(|&p| p == places[0])?;
        // The corner beyond: the point itself, or the other end of the edge that it halves.
        let beyond = |id: u32| (1..4).find(|&k| id == places[k] || id == places[3 + k]);
        let (q, r) = (beyond(ids[(turn + 1) % 3])?, beyond(ids[(turn + 2) % 3])?);
        Some(q % 3 + 1 == r)
    })
}

/// The corners of all cells in the order that decides on the diagonal: the first four of each entry.
pub(super) fn corners(view: View<'_>, paths: &[CellPath]) -> Result<Vec<Corners>, RefineError> {
    // Cells of one parent are neighbours in the list.
    let of = |known: &mut Option<(u32, [[f64; 3]; 4])>, cell: usize| {
        let path = paths[cell];
        let root = match *known {
            Some((parent, root)) if parent == path.parent() => root,
            _ => {
                let root = root_of(view, paths, cell)?;
                by_diagonal(root, view.points).map(|p| view.points[p as usize])
            }
        };
        *known = Some((path.parent(), root));
        let own = four(view, cell)?;
        let found = places_of(root, path).map(|place| {
            let is_there = |&p: &u32| view.points[p as usize] == place;
            own.into_iter().find(is_there).unwrap_or(NONE)
        });
        let mut corners = [NONE; 8];
        corners[..4].copy_from_slice(&distinct(found)?);
        Some(corners)
    };
    let each = (0..view.cells()).into_par_iter();
    let all: Vec<Option<Corners>> = each.map_init(|| None, of).collect();
    if let Some(cell) = all.par_iter().position_first(Option::is_none) {
        return Err(misplaced(cell));
    }
    Ok(all.into_par_iter().flatten().collect())
}

/// The points of a cell that are its corners by their levels, ascending.
pub(super) fn four(view: View<'_>, cell: usize) -> Option<Four> {
    let level = view.cell_levels[cell];
    let (mut four, mut count) = ([NONE; 4], 0);
    for &face in view.faces_of(cell) {
        for &p in view.face(face) {
            if view.point_levels[p as usize] > level || four[..count].contains(&p) {
                continue;
            }
            *four.get_mut(count)? = p;
            count += 1;
        }
    }
    four.sort_unstable();
    (count == 4).then_some(four)
}

fn distinct(four: Four) -> Option<Four> {
    let is_new = |i: usize| four[i] != NONE && !four[..i].contains(&four[i]);
    (0..4).all(is_new).then_some(four)
}

/// The corners of a cell's parent, ascending: each is that of the descendant that is taken at the same corner always.
fn root_of(view: View<'_>, paths: &[CellPath], cell: usize) -> Option<Four> {
    let path = paths[cell];
    if path.level() == 0 {
        return four(view, cell);
    }
    let base = view.cell_levels[cell].checked_sub(path.level())?;
    let mut root = [NONE; 4];
    for (corner, root) in root.iter_mut().enumerate() {
        // Three bits a level.
        let key = (path.parent(), corner as u32 * 0o1_111_111_111);
        let after = paths.partition_point(|other| other.key() <= key);
        let is_own = |&p: &u32| view.point_levels[p as usize] <= base;
        *root = four(view, after.checked_sub(1)?)?
            .into_iter()
            .find(is_own)?;
    }
    root.sort_unstable();
    distinct(root)
}

/// Orders the corners of a parent so that its diagonal, from midpoint 02 to 13, is the shortest one.
fn by_diagonal([a, b, c, d]: Four, points: &[[f64; 3]]) -> Four {
    let orders = [[a, b, c, d], [a, c, b, d], [a, b, d, c]];
    let square = |order: Four| {
        let [x0, x1, x2, x3] = order.map(|p| points[p as usize]);
        let diagonal = sub(add(x0, x2), add(x1, x3));
        dot(diagonal, diagonal)
    };
    let nearest = |best: Four, order: Four| match square(order) < square(best) {
        true => order,
        false => best,
    };
    orders.into_iter().fold(orders[0], nearest)
}

/// Where the corners of a cell are, from those of its parent: by the sums that made its points.
fn places_of(root: [[f64; 3]; 4], path: CellPath) -> [[f64; 3]; 4] {
    let mut corners = root;
    for level in 1..=u32::from(path.level()) {
        let child = path.code() >> (30 - 3 * level) & 7;
        let all: [[f64; 3]; 10] = std::array::from_fn(|i| match i {
            0..4 => corners[i],
            _ => {
                let [a, b] = Tets::EDGES[i - 4];
                scale(add(corners[a], corners[b]), 0.5)
            }
        });
        corners = CHILDREN[child as usize].map(|i| all[i]);
    }
    corners
}

/// The potential of the 8 children of a tetrahedron whose differences have these sums: the pseudo-inverse of the
/// Laplacian of their graph, four children in a ring with one more at each. A uniform flow has no circulation around the
/// ring, so it is the flow of a potential.
pub(super) fn potential(sums: [f64; 8]) -> [f64; 8] {
    const RING: [usize; 4] = [4, 5, 7, 6];
    // Pseudo-inverse of a ring of four, by distance.
    const INVERSE: [f64; 4] = [5.0 / 16.0, -1.0 / 16.0, -3.0 / 16.0, -1.0 / 16.0];
    let inner: [f64; 4] = std::array::from_fn(|i| sums[RING[i]] + sums[i]);
    let mut out = [0.0; 8];
    for i in 0..4 {
        let part = |j: usize| INVERSE[(i + 4 - j) % 4] * inner[j];
        let value = part(0) + part(1) + part(2) + part(3);
        out[RING[i]] = value;
        out[i] = value + sums[i];
    }
    out
}
