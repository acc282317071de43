//! Closes marks under 2:1, and selects the blocks to refine and coarsen.

use crate::{Forest, Mark, NONE, OUTSIDE, dims};
use cutlink_device::{scan::select, shared};
use rayon::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

/// Marks are only ever raised to `Refine`, so the order of the stores does not matter.
pub(super) fn ripple<const D: usize>(forest: &Forest<D>, level: usize, marks: &mut [u8]) {
    let refine = Mark::Refine as u8;
    let marks = shared::bytes(marks);
    forest.levels[level].par_iter().for_each(|&id| {
        if marks[id as usize].load(Relaxed) != refine || !forest.is_leaf(id) {
            return;
        }
        for (i, neighbor) in forest.neighbors_of(id).enumerate() {
            if neighbor == NONE {
                let coarse = forest.coarser_neighbor(id, i);
                marks[coarse as usize].store(refine, Relaxed);
            }
        }
    });
}

pub(super) fn select_refine<const D: usize>(
    forest: &Forest<D>,
    level: usize,
    marks: &[u8],
) -> Vec<u32> {
    select(&forest.levels[level], |id| {
        marks[id as usize] == Mark::Refine as u8 && forest.is_leaf(id)
    })
}

pub(super) fn select_coarsen<const D: usize>(
    forest: &Forest<D>,
    level: usize,
    marks: &[u8],
) -> Vec<u32> {
    let may_go = |id: u32| {
        marks[id as usize] == Mark::Coarsen as u8
            && forest
                .neighbors_of(id)
                .all(|n| n == NONE || n == OUTSIDE || forest.is_leaf(n))
    };
    select(&forest.levels[level], |id| {
        let first = forest.first_child[id as usize];
        first != NONE && (first..first + dims::children(D) as u32).all(may_go)
    })
}
