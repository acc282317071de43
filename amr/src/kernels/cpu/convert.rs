//! Leaves of a forest, and the refined blocks of a forest that is made of leaves.

use super::ancestors::sort;
use crate::{Forest, Mark, linear::Grid};
use cutlink_device::shared;
use rayon::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

fn key<const D: usize>(grid: &Grid<D>, forest: &Forest<D>, id: u32) -> u64 {
    let (level, coord) = (forest.level[id as usize], forest.coord[id as usize]);
    let key = grid.key(u32::from(level), coord);
    key.expect("a block of the forest should have a key")
}

pub(super) fn leaves_of<const D: usize>(grid: &Grid<D>, forest: &Forest<D>) -> Vec<u64> {
    let leaves = forest
        .levels
        .par_iter()
        .flatten()
        .filter(|id| forest.is_leaf(**id));
    sort(leaves.map(|&id| key(grid, forest, id)).collect())
}

pub(super) fn mark_refined<const D: usize>(
    grid: &Grid<D>,
    forest: &Forest<D>,
    level: usize,
    refined: &[u64],
    marks: &mut [u8],
) {
    let marks = shared::bytes(marks);
    forest.levels[level].par_iter().for_each(|&id| {
        if refined.binary_search(&key(grid, forest, id)).is_ok() {
            marks[id as usize].store(Mark::Refine as u8, Relaxed);
        }
    });
}
