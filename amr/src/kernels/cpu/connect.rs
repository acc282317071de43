//! Neighbour ids of a level, pulled through the parents: no search, no hashing, and every
//! element is written by one family (J25 §3.3, last step).
//!
//! The 2^D siblings and what surrounds them are 4^D places of the level, which the first
//! children of the parent's neighbours fill.

use crate::neighbors::Around;
use crate::{Forest, OUTSIDE, dims};
use cutlink_device::shared;
use rayon::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

pub(super) fn connect<const D: usize>(forest: &mut Forest<D>, level: usize) {
    let (root, roots, fill) = (forest.grid(), forest.roots(), places::<D>());
    let forest = &mut forest.arrays;
    let families = shared::words(&mut forest.families);
    let (coord, parent, first_child) = (&forest.coord, &forest.parent, &forest.first_child);
    let groups = forest.levels[level].par_chunks(dims::children(D));
    groups.for_each(|group| {
        let above = Around::new(root, roots, coord, parent[group[0] as usize]);
        let mut firsts = [0; dims::directions(3)];
        for (direction, first) in firsts.iter_mut().enumerate().take(dims::directions(D)) {
            let neighbor = above.at(direction, |place| families[place].load(Relaxed));
            *first = match first_child.get(neighbor as usize) {
                Some(&first) => first,
                // No block there, or beyond the box: the same holds of its children.
                None => neighbor,
            };
        }
        let start = (group[0] as usize - roots) * dims::children(D);
        let own = &families[start..][..dims::cells(D)];
        for (place, &(up, child)) in own.iter().zip(&fill) {
            let first = firsts[usize::from(up)];
            let no_block = first >= OUTSIDE;
            let id = if no_block {
                first
            } else {
                first + u32::from(child)
            };
            place.store(id, Relaxed);
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
