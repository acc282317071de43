//! Neighbour ids of a level, pulled through the parents: no search, no hashing, and every
//! element is written by one block (J25 §3.3, last step).
//!
//! By families: the 2^D siblings and what surrounds them are 4^D places of the level, which
//! the first children of the parent's neighbours fill; a sibling's row is 3^D of them.

use crate::{Forest, OUTSIDE, dims};
use cutlink_device::shared;
use rayon::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

/// Places in and around a family in 3D; in 2D the first 16 are used.
const PLACES: usize = dims::cells(3);

pub(super) fn connect<const D: usize>(forest: &mut Forest<D>, level: usize) {
    let directions = dims::directions(D);
    let (fill, windows) = (places::<D>(), windows::<D>());
    let neighbors = shared::words(&mut forest.neighbors);
    let (parent, first_child) = (&forest.parent, &forest.first_child);
    let families = forest.levels[level].par_chunks(dims::children(D));
    families.for_each(|family| {
        let above = parent[family[0] as usize] as usize * directions;
        let mut firsts = [0; dims::directions(3)];
        for (first, neighbor) in firsts.iter_mut().zip(&neighbors[above..][..directions]) {
            let neighbor = neighbor.load(Relaxed);
            *first = match first_child.get(neighbor as usize) {
                Some(&first) => first,
                // No block there, or beyond the box: the same holds of its children.
                None => neighbor,
            };
        }
        let mut ids = [0; PLACES];
        for (id, &(up, child)) in ids.iter_mut().zip(&fill) {
            let first = firsts[usize::from(up)];
            let no_block = first >= OUTSIDE;
            *id = if no_block {
                first
            } else {
                first + u32::from(child)
            };
        }
        for (&id, window) in family.iter().zip(windows.chunks_exact(directions)) {
            let row = &neighbors[id as usize * directions..][..directions];
            for (slot, &place) in row.iter().zip(window) {
                slot.store(ids[usize::from(place) % PLACES], Relaxed);
            }
        }
    });
}

/// For each place, x fastest: the direction of the parent's neighbour that it lies in, and
/// which of its children it is.
fn places<const D: usize>() -> Vec<(u8, u8)> {
    let place = |i| {
        let at = dims::unravel::<D>(i, 4).map(|c| c - 1);
        let up = dims::direction(at.map(|c| c.div_euclid(2)));
        let child = dims::ravel(at.map(|c| c.rem_euclid(2)), 2);
        (up as u8, child as u8)
    };
    (0..dims::cells(D)).map(place).collect()
}

/// For each child and direction: the place there.
fn windows<const D: usize>() -> Vec<u8> {
    let mut table = Vec::new();
    for child in 0..dims::children(D) {
        for i in 0..dims::directions(D) {
            let at: [i32; D] =
                std::array::from_fn(|a| (child >> a & 1) as i32 + dims::step::<D>(i)[a] + 1);
            table.push(dims::ravel(at, 4) as u8);
        }
    }
    table
}
