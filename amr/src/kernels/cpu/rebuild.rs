//! Which blocks have children after an adaptation, and what the blocks of the new forest were.

use crate::{
    FREE, Forest, Mark, NONE, OUTSIDE,
    constants::{COUNT_GONE, COUNT_NEW, REFINED_COUNTS},
    dims,
};
use cutlink_device::shared;
use rayon::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

pub(super) fn flag_refined<const D: usize>(forest: &Forest<D>, marks: &[u8]) -> Vec<u8> {
    let flag = |(id, &mark): (usize, &u8)| {
        let has_children = forest.first_child[id] != NONE || mark == Mark::Refine as u8;
        u8::from(forest.level[id] != FREE && has_children)
    };
    marks.par_iter().enumerate().map(flag).collect()
}

/// Reads flags of the finer level and writes those of this one, so the order of the blocks does not matter.
pub(super) fn clear_coarsened<const D: usize>(
    forest: &Forest<D>,
    level: usize,
    marks: &[u8],
    flags: &mut [u8],
) {
    let flags = shared::bytes(flags);
    let is_refined = |id: u32| flags[id as usize].load(Relaxed) == 1;
    let may_go = |id: u32| {
        marks[id as usize] == Mark::Coarsen as u8
            && !is_refined(id)
            && (forest.neighbors_of(id)).all(|n| n == NONE || n == OUTSIDE || !is_refined(n))
    };
    forest.levels[level].par_iter().for_each(|&id| {
        let first = forest.first_child[id as usize];
        if first != NONE && (first..first + dims::children(D) as u32).all(may_go) {
            flags[id as usize].store(0, Relaxed);
        }
    });
}

pub(super) fn count_refined<const D: usize>(forest: &Forest<D>, flags: &[u8]) -> Vec<u64> {
    let mut counts = vec![0; REFINED_COUNTS as usize];
    for (level, ids) in forest.levels.iter().enumerate() {
        let of_block = |&id: &u32| {
            let is_refined = flags[id as usize] == 1;
            let was_refined = !forest.is_leaf(id);
            [
                is_refined,
                is_refined && !was_refined,
                was_refined && !is_refined,
            ]
            .map(u64::from)
        };
        let add = |a: [u64; 3], b: [u64; 3]| std::array::from_fn(|n| a[n] + b[n]);
        let [all, new, gone] = ids.par_iter().map(of_block).reduce(|| [0; 3], add);
        counts[level] = all;
        counts[COUNT_NEW as usize] += new;
        counts[COUNT_GONE as usize] += gone;
    }
    counts
}

pub(super) fn follow_marks<const D: usize>(
    fresh: &Forest<D>,
    level: usize,
    old_of: &[u32],
    flags: &[u8],
    marks: &mut [u8],
) {
    let marks = shared::bytes(marks);
    fresh.levels[level].par_iter().for_each(|&id| {
        let old = old_of[id as usize];
        let is_refined = old != NONE && flags[old as usize] == 1;
        let mark = [Mark::Keep, Mark::Refine][usize::from(is_refined)];
        marks[id as usize].store(mark as u8, Relaxed);
    });
}

pub(super) fn follow_children<const D: usize>(
    old: &Forest<D>,
    fresh: &Forest<D>,
    level: usize,
    old_of: &mut [u32],
) {
    let old_of = shared::words(old_of);
    fresh.levels[level].par_iter().for_each(|&id| {
        let first = fresh.first_child[id as usize];
        if first == NONE {
            return;
        }
        // Blocks without a former id have no children.
        let was = old.first_child[old_of[id as usize].load(Relaxed) as usize];
        for child in 0..dims::children(D) as u32 {
            let was = if was == NONE { NONE } else { was + child };
            old_of[(first + child) as usize].store(was, Relaxed);
        }
    });
}
