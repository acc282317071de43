//! The points of a cell that is split.
//!
//! ```text
//! places of a cell and its children, 3 x 3 x 3, x fastest: corners at even places
//! 24 25 26      child x + 2 y + 4 z has the places from (x, y, z) to (x + 1, y + 1, z + 1)
//! 21 22 23
//! 18 19 20 …    13 is the centre; 4, 10, 12, 14, 16, 22 are the sides; the others midpoints of edges
//! ```

use super::{cut::Cut, number::EDGES};
use crate::kernels::NONE;
use rayon::prelude::*;

/// The 6 sides: -x, +x, -y, +y, -z, +z; corners in a loop. `SIDES` of `hex.cuh`.
pub(super) const SIDES: [[usize; 4]; 6] = [
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

pub(super) fn places(cut: Cut<'_>) -> Vec<[u32; 27]> {
    let counts = &cut.numbers.counts;
    let first_center = (counts.points + counts.edges + counts.split) as u32;
    let of = |(i, &cell): (usize, &u32)| of_cell(cut, cell as usize, first_center + i as u32);
    cut.numbers.marked.par_iter().enumerate().map(of).collect()
}

fn of_cell(cut: Cut<'_>, cell: usize, center: u32) -> [u32; 27] {
    let corners = cut.corners[cell];
    let is_plain = cut.view.is_plain(cell);
    let mut places = [NONE; 27];
    places[13] = center;
    for (corner, &point) in corners.iter().enumerate() {
        places[place_of(corner)] = point;
    }
    for [a, b] in EDGES {
        let place = (place_of(a) + place_of(b)) / 2;
        places[place] = cut.middle(corners[a], corners[b]);
        if places[place] == NONE && !is_plain {
            places[place] = cut.view.hanging(cell, corners[a], corners[b]);
        }
    }
    for side in SIDES {
        let place = (place_of(side[0]) + place_of(side[2])) / 2;
        let edge = |i: usize| places[(place_of(side[0]) + place_of(side[i])) / 2];
        let quad = side.map(|corner| corners[corner]);
        places[place] = side_center(cut, cell, quad, [edge(1), edge(3)]);
    }
    places
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
    cut.view
        .face(face)
        .iter()
        .find(is_fourth)
        .map_or(NONE, |&p| p)
}
