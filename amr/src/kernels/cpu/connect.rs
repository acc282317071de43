//! Neighbour ids of a level, pulled through the parents: no search, no hashing, and every
//! element is written by one block (J25 §3.3, last step).

use crate::{Forest, NONE, OUTSIDE, dims};
use cutlink_device::shared;
use rayon::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

pub(super) fn connect<const D: usize>(forest: &mut Forest<D>, level: usize) {
    let directions = dims::directions(D);
    let table = through_parent::<D>();
    let neighbors = shared::words(&mut forest.neighbors);
    let (parent, coord, first_child) = (&forest.parent, &forest.coord, &forest.first_child);
    forest.levels[level].par_iter().for_each(|&id| {
        let around = parent[id as usize] as usize * directions;
        let low = dims::ravel(coord[id as usize].map(|c| c & 1), 2);
        let route = &table[low * directions..][..directions];
        let row = &neighbors[id as usize * directions..][..directions];
        for (slot, &(up, child)) in row.iter().zip(route) {
            let above = neighbors[around + usize::from(up)].load(Relaxed);
            let first = match above {
                NONE | OUTSIDE => above,
                _ => first_child[above as usize],
            };
            let found = match first {
                NONE | OUTSIDE => first,
                _ => first + u32::from(child),
            };
            slot.store(found, Relaxed);
        }
    });
}

/// For each child and direction: the direction of the parent's neighbour to go through, and
/// which of its children to take.
fn through_parent<const D: usize>() -> Vec<(u8, u8)> {
    let mut table = Vec::new();
    for child in 0..dims::children(D) {
        for i in 0..dims::directions(D) {
            let at: [i32; D] =
                std::array::from_fn(|a| (child >> a & 1) as i32 + dims::step::<D>(i)[a]);
            let up = dims::direction(at.map(|c| c.div_euclid(2)));
            let low = dims::ravel(at.map(|c| c.rem_euclid(2)), 2);
            table.push((up as u8, low as u8));
        }
    }
    table
}
