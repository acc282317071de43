//! Meshes of one cell's thickness, 1 to 4: between patches of type `empty` on both sides, or between two wedges.
//!
//! ```text
//! places of a cell and its children, 3 x 3 on each side: corners at even places
//! 6 7 8    15 16 17     child x + 2 y has the places from (x, y) to (x + 1, y + 1) on both sides
//! 3 4 5    12 13 14     4 and 13 are the centres of both sides
//! 0 1 2     9 10 11     the first side is that of the smaller face, whose outward loop is 0 2 8 6
//! ```
//!
//! Faces on both sides are divided into four, those between them into two. At the axis of a wedge both sides have the same
//! points: faces there have three corners, and are divided by the same rules.

use super::cut::Cut;
use super::shape::{Shape, put_edges};
use super::view::View;
use crate::kernels::{Corners, NONE};
use crate::refine::RefineError;

/// The corners of all cells, and the number of cells without.
pub(super) fn corners(view: View<'_>) -> Result<(Vec<Corners>, usize), RefineError> {
    super::corners::of_all(view, |cell| corners_of(view, cell))
}

/// The faces of a cell on both sides of the mesh, where it has one on each.
fn both_sides(view: View<'_>, cell: usize) -> Option<[u32; 2]> {
    let faces = view.faces_of(cell).iter().copied();
    let mut sheets = faces.filter(|&face| view.boundary.is_sheet(face as usize));
    let both = [sheets.next()?, sheets.next()?];
    sheets.next().is_none().then_some(both)
}

/// Corners of a cell between two quadrilaterals, from the smallest point of the first one.
fn corners_of(view: View<'_>, cell: usize) -> Option<Corners> {
    let [first, second] = both_sides(view, cell)?;
    let mut front = quad(view, first)?;
    let back = quad(view, second)?;
    let smallest = (0..4).min_by_key(|&i| front[i])?;
    front.rotate_left(smallest);
    let mut behind = [NONE; 4];
    for (at, &point) in behind.iter_mut().zip(&front) {
        if back.contains(&point) {
            *at = point;
            continue;
        }
        view.edges(cell, |from, to| {
            if from == point && back.contains(&to) && !front.contains(&to) {
                *at = to;
            }
        });
    }
    let is_image = |i: usize| {
        let at = back.iter().position(|&p| p == behind[i]);
        let next = back.iter().position(|&p| p == behind[(i + 1) % 4]);
        // Both loops are outward, so that they turn in opposite directions.
        at.zip(next).is_some_and(|(at, next)| at == (next + 1) % 4)
    };
    let (f, b) = (front, behind);
    (0..4)
        .all(is_image)
        .then_some([f[0], f[1], f[3], f[2], b[0], b[1], b[3], b[2]])
}

/// The four corners of a boundary face, in its outward loop.
fn quad(view: View<'_>, face: u32) -> Option<[u32; 4]> {
    let level = view.face_level(face as usize);
    let is_corner = |p: &&u32| view.point_levels[**p as usize] <= level;
    let corners = view.face(face).iter().filter(is_corner).count();
    (corners == 4).then(|| view.side(face as usize))
}

/// Up to four points in a loop.
#[derive(Clone, Copy)]
pub(super) struct Loop {
    ids: [u32; 4],
    len: usize,
}

impl Loop {
    /// Points that are there twice count once.
    fn of(points: impl IntoIterator<Item = u32>) -> Self {
        let mut of = Self {
            ids: [NONE; 4],
            len: 0,
        };
        for point in points {
            if of.len < 4 && (point == NONE || !of.as_ref().contains(&point)) {
                of.ids[of.len] = point;
                of.len += 1;
            }
        }
        of
    }
}

impl AsRef<[u32]> for Loop {
    fn as_ref(&self) -> &[u32] {
        &self.ids[..self.len]
    }
}

/// Template of cells between both sides.
pub(super) enum Sheets {}

impl Shape for Sheets {
    type Side = Loop;
    type Places = [u32; 18];
    const EDGES: &'static [[usize; 2]] = &[
        [0, 1],
        [2, 3],
        [0, 2],
        [1, 3],
        [4, 5],
        [6, 7],
        [4, 6],
        [5, 7],
    ];
    const SIDES: usize = 6;
    const SIDE: usize = 4;
    const INNER: usize = 4;
    const PLACES: usize = 18;

    fn places(cut: Cut<'_>, cell: usize, _: usize) -> [u32; 18] {
        let mut places = [NONE; 18];
        put_edges::<Self>(cut, cell, place_of, &mut places);
        if let Some(faces) = both_sides(cut.view, cell) {
            [places[4], places[13]] = faces.map(|face| cut.center(face as usize));
        }
        places
    }

    fn pieces(cut: Cut<'_>, face: usize) -> ([(u32, Loop); 4], usize) {
        let quad = cut.view.side::<4>(face);
        let none = (NONE, Loop::of([]));
        if cut.view.boundary.is_sheet(face) {
            let (middles, center) = (cut.middles(face, &quad), cut.center(face));
            let piece = |i: usize| Loop::of([quad[i], middles[i], center, middles[(i + 3) % 4]]);
            return (std::array::from_fn(|i| (quad[i], piece(i))), 4);
        }
        // A loop of corners and of the midpoints of two edges, which divide it in two.
        let count = if quad[3] == NONE { 3 } else { 4 };
        let mut ring = [NONE; 8];
        let mut len = 0;
        for i in 0..count {
            let (a, b) = (quad[i], quad[(i + 1) % count]);
            let middle = cut.middle(a, b);
            for point in [a, middle] {
                if point != NONE {
                    ring[len] = point;
                    len += 1;
                }
            }
        }
        let ring = &ring[..len];
        let is_corner = |p: u32| quad.contains(&p);
        // From the midpoint before a corner to the one behind it, from the corner on.
        let piece = |corner: u32| {
            let at = ring.iter().position(|&p| p == corner).unwrap_or(0);
            let point = |i: usize| ring[(at + i) % len];
            let behind = (1..len).find(|&i| !is_corner(point(i))).unwrap_or(0);
            let before = (1..len).rfind(|&i| !is_corner(point(i))).unwrap_or(len);
            Loop::of((0..=behind).chain(before..len).map(point))
        };
        let order = cut.order(face, &quad[..count]);
        let first = piece(quad[order[0]]);
        let rest = order[1..count].iter().map(|&i| quad[i]);
        let other = rest.clone().find(|p| !first.as_ref().contains(p));
        let other = other.unwrap_or(NONE);
        (
            [(quad[order[0]], first), (other, piece(other)), none, none],
            2,
        )
    }

    fn child(cut: Cut<'_>, cell: usize, face: usize, piece: u32) -> u32 {
        let corners = cut.corners[cell];
        let at = |corner: u32| corners.iter().position(|&p| p == corner);
        // A half of one of the cell's sides has one of the cell's corners.
        let child = at(piece).or_else(|| {
            let points = cut.view.face(face as u32);
            points.iter().find_map(|&p| at(p))
        });
        child.unwrap_or(0) as u32 & 3
    }

    fn inner(places: &[u32], face: usize) -> (Loop, [u32; 2]) {
        // Place of the midpoint, children, and whether the loop goes on from it to the second side.
        let (at, ends, is_down) = match face {
            0 => (1, [0, 1], true),
            1 => (7, [2, 3], false),
            2 => (3, [0, 2], false),
            _ => (5, [1, 3], true),
        };
        let [middle, behind] = [places[at], places[at + 9]];
        let [center, center_behind] = [places[4], places[13]];
        let outline = match is_down {
            true => [middle, behind, center_behind, center],
            false => [middle, center, center_behind, behind],
        };
        (Loop::of(outline), ends)
    }
}

/// The place of a corner among 18.
fn place_of(corner: usize) -> usize {
    2 * (corner & 1) + 6 * (corner >> 1 & 1) + 9 * (corner >> 2)
}
