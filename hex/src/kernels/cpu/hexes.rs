//! Hexahedra, 1 to 8.
//!
//! ```text
//! places of a cell and its children, 3 x 3 x 3, x fastest: corners at even places
//! 24 25 26      child x + 2 y + 4 z has the places from (x, y, z) to (x + 1, y + 1, z + 1)
//! 21 22 23
//! 18 19 20 …    13 is the centre; 4, 10, 12, 14, 16, 22 are the sides; the others midpoints of edges
//! ```

use super::cut::Cut;
use super::shape::{Shape, put_edges};
use crate::kernels::NONE;

/// The 6 sides: -x, +x, -y, +y, -z, +z; corners in a loop. `side_corner` of `hexes.cuh`.
pub(super) const SIDES: [[usize; 4]; 6] = [
    [0, 4, 6, 2],
    [1, 3, 7, 5],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 2, 3, 1],
    [4, 5, 7, 6],
];

/// Template of hexahedra.
pub(super) enum Hexes {}

impl Shape for Hexes {
    type Side = [u32; 4];
    type Places = [u32; 27];
    const EDGES: &'static [[usize; 2]] = &[
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
    const SIDES: usize = 6;
    const SIDE: usize = 4;
    const INNER: usize = 12;
    const PLACES: usize = 27;

    fn places(cut: Cut<'_>, cell: usize, number: usize) -> [u32; 27] {
        let counts = &cut.numbers.counts;
        let corners = cut.corners[cell];
        let mut places = [NONE; 27];
        places[13] = (counts.points + counts.edges + counts.split + number) as u32;
        put_edges::<Self>(cut, cell, place_of, &mut places);
        for side in SIDES {
            let place = (place_of(side[0]) + place_of(side[2])) / 2;
            let edge = |i: usize| places[(place_of(side[0]) + place_of(side[i])) / 2];
            let quad = side.map(|corner| corners[corner]);
            places[place] = side_center(cut, cell, quad, [edge(1), edge(3)]);
        }
        places
    }

    #[inline]
    fn pieces(cut: Cut<'_>, face: usize) -> ([(u32, [u32; 4]); 4], usize) {
        let quad = cut.view.side::<4>(face);
        let (middles, center) = (cut.middles(face, &quad), cut.center(face));
        let piece = |i: usize| (quad[i], [quad[i], middles[i], center, middles[(i + 3) % 4]]);
        (cut.order(face, &quad).map(piece), 4)
    }

    fn child(cut: Cut<'_>, cell: usize, face: usize, piece: u32) -> u32 {
        let corners = cut.corners[cell];
        let at = |corner: u32| corners.iter().position(|&p| p == corner);
        // A quarter of one of the cell's sides has one of the cell's corners.
        let child = at(piece).or_else(|| {
            let points = cut.view.face(face as u32);
            points.iter().find_map(|&p| at(p))
        });
        child.unwrap_or(0) as u32
    }

    /// By axis, then quarters.
    #[inline]
    fn inner(places: &[u32], face: usize) -> ([u32; 4], [u32; 2]) {
        let (axis, quarter) = (face / 4, face % 4);
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let (cu, cv) = (quarter & 1, quarter >> 1);
        let at = |du: usize, dv: usize| {
            let mut place = [1; 3];
            (place[u], place[v]) = (cu + du, cv + dv);
            places[place[0] + 3 * place[1] + 9 * place[2]]
        };
        let low = (cu << u | cv << v) as u32;
        let outline = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)];
        (outline, [low, low | 1 << axis])
    }
}

/// The place of a corner among 27.
fn place_of(corner: usize) -> usize {
    2 * (corner & 1) + 6 * (corner >> 1 & 1) + 18 * (corner >> 2)
}

/// The point in the middle of a side: of its face, or common to its quarters.
fn side_center(cut: Cut<'_>, cell: usize, quad: [u32; 4], [one, two]: [u32; 2]) -> u32 {
    let faces = cut.view.faces_of(cell);
    let with = |points: &[u32]| {
        let has = |&&face: &&u32| {
            let ids = cut.view.face(face);
            points.iter().all(|p| ids.contains(p))
        };
        faces.iter().find(has).copied()
    };
    if let Some(face) = with(&quad) {
        return cut.center(face as usize);
    }
    // The quarter at the first corner has the midpoints of its two edges; its fourth corner is the centre.
    let three = [quad[0], one, two];
    let Some(face) = with(&three) else {
        return NONE;
    };
    let level_of = |p: u32| cut.view.point_levels[p as usize];
    let level = three.into_iter().map(level_of).fold(0, u8::max);
    let is_fourth = |p: &&u32| !three.contains(p) && level_of(**p) <= level;
    let mut ids = cut.view.face(face).iter();
    ids.find(is_fourth).map_or(NONE, |&p| p)
}
