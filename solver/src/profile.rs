//! Conditions that vary from place to place: their values where links cross them.
//!
//! A place is where a link crosses a patch (the cut point) or a face of the box (halfway). A face's places in a block are by
//! cell and by direction of the link along the face, cells first: 4^(D-1) times 3^(D-1), the axes of the face in ascending order.
//! Faces with ghost cells have values at links along the normal alone; the others are 0 and not read.

use crate::{
    Place, SolverError, Space, Variation,
    constants::condition,
    tables::{At, Level, Rule, bits},
};
use cutlink_amr::{NONE, dims};
use cutlink_device::Host;
use rayon::prelude::*;

/// No variation.
const NOWHERE: usize = usize::MAX;

/// A place of a profile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point<const D: usize> {
    /// Which of the variations it is of; [`NOWHERE`] where nothing flows.
    pub(crate) variation: usize,
    /// Which place it is.
    pub(crate) place: usize,
    /// In root cells from the lower corner.
    pub(crate) x: [f64; D],
}

/// Places of a face in a block.
const fn places(d: usize) -> usize {
    12usize.pow(d as u32 - 1)
}

/// The place of a link of velocity `c` that leaves a block's cell through the face normal to `axis`.
pub(crate) fn of_face<const D: usize>(axis: usize, local: [i32; D], c: [i32; D]) -> usize {
    let (mut cell, mut toward, mut cells, mut directions) = (0, 0, 1, 1);
    for a in (0..D).filter(|&a| a != axis) {
        cell += cells * local[a] as usize;
        toward += directions * (c[a] + 1) as usize;
        cells *= 4;
        directions *= 3;
    }
    cell * directions + toward
}

/// Finds the places of a level that have a profile, and fills in their values; those that change, for
/// [`values`]. `rules` are those of the flow.
///
/// # Errors
/// Places without a number.
pub(crate) fn fill<const D: usize>(
    level: &mut Level<D, Host>,
    variations: &[Variation<D>],
    rules: &[Rule],
) -> Result<Vec<Point<D>>, SolverError> {
    let mut points = Vec::new();
    for (variation, of) in variations.iter().enumerate() {
        match of.place {
            _ if !of.has_profile() => {}
            Place::Face(axis, side) => {
                let has_ghosts = rules[2 * axis + side].kind != condition::WALL;
                at_face(level, variation, [axis, side], has_ghosts, &mut points);
            }
            Place::Patch(patch) => at_links(level, variation, patch, &mut points),
            Place::Acceleration => {}
        }
    }
    level.profile = values(variations, &points, 0.5)?;
    let moves = |of: &Variation<D>| matches!(of.space, Space::Moving(_));
    points.retain(|point| variations.get(point.variation).is_some_and(moves));
    Ok(points)
}

/// The values of some places at a time in root steps.
///
/// # Errors
/// Places without a number.
pub(crate) fn values<const D: usize>(
    variations: &[Variation<D>],
    points: &[Point<D>],
    time: f64,
) -> Result<Vec<f64>, SolverError> {
    let of_places: Vec<_> = variations.iter().map(|of| of.of_places(time)).collect();
    let of = |point: &Point<D>| match of_places.get(point.variation) {
        Some(of_places) => of_places(point.x),
        None => Ok([0.0; D]),
    };
    let values: Vec<[f64; D]> = points.par_iter().map(of).collect::<Result<_, _>>()?;
    Ok(values.into_flattened())
}

fn at_face<const D: usize>(
    level: &mut Level<D, Host>,
    variation: usize,
    [axis, side]: [usize; 2],
    has_ghosts: bool,
    points: &mut Vec<Point<D>>,
) {
    if level.profile_face.is_empty() {
        level.profile_face = vec![NONE; level.special * 2 * D];
    }
    for slot in 0..level.special {
        let block = level.coord[slot];
        let is_there = match side {
            0 => block[axis] == 0,
            _ => 4 * block[axis] + 4 == level.extent[axis],
        };
        if !is_there {
            continue;
        }
        let first = points.len();
        level.profile_face[slot * 2 * D + 2 * axis + side] = first as u32;
        points.resize_with(first + places(D), || Point {
            variation: NOWHERE,
            place: 0,
            x: [0.0; D],
        });
        let outward = if side == 0 { -1 } else { 1 };
        for cell in 0..dims::cells(D) {
            let local = dims::unravel::<D>(cell, 4);
            let is_at_face = local[axis] == if side == 0 { 0 } else { 3 };
            if !is_at_face || level.solid[slot] >> cell & 1 == 1 {
                continue;
            }
            for direction in 0..dims::directions(D) {
                let c = dims::step::<D>(direction);
                let is_along_normal = (0..D).all(|a| a == axis || c[a] == 0);
                if c[axis] != outward || (has_ghosts && !is_along_normal) {
                    continue;
                }
                let place = first + of_face(axis, local, c);
                points[place] = Point {
                    variation,
                    place,
                    x: level.point(At { slot, local }, c, 0.5),
                };
            }
        }
    }
}

fn at_links<const D: usize>(
    level: &mut Level<D, Host>,
    variation: usize,
    patch: usize,
    points: &mut Vec<Point<D>>,
) {
    if level.profile_link.is_empty() {
        level.profile_link = vec![NONE; level.q.len()];
    }
    for slot in 0..level.special {
        for at in bits(level.boundary[slot]).map(|cell| At::new(slot, cell)) {
            for (direction, link) in level.links(at).places() {
                if usize::from(level.patch[link]) != patch {
                    continue;
                }
                let place = points.len();
                level.profile_link[link] = place as u32;
                points.push(Point {
                    variation,
                    place,
                    x: level.point(at, dims::step(direction), f64::from(level.q[link])),
                });
            }
        }
    }
}
