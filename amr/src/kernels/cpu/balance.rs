//! What 2:1 needs refined on the next coarser level.
//!
//! The blocks of a level that touch a refined block have to exist, so their parents have to be refined. These are the 2^D
//! blocks around the corner of the parent that the refined block lies in: the parent itself, and one step towards the
//! corner along any of the axes. Most of them are refined already; the missing ones are sorted and merged in.

use super::search::first_not_below;
use crate::{
    dims,
    linear::{Grid, morton, pack},
};
use rayon::prelude::*;

const CHUNK: usize = 1 << 12;

pub(super) fn balance<const D: usize>(
    grid: &Grid<D>,
    level: u32,
    finer: &[u64],
    coarser: &mut Vec<u64>,
) {
    let parts: Vec<Vec<u64>> = finer
        .par_chunks(CHUNK)
        .map(|part| missing(grid, level, part, coarser))
        .collect();
    let mut missing = parts.concat();
    if missing.is_empty() {
        return;
    }
    missing.par_sort_unstable();
    missing.dedup();
    merge(coarser, &missing);
}

fn missing<const D: usize>(grid: &Grid<D>, level: u32, finer: &[u64], coarser: &[u64]) -> Vec<u64> {
    let mut missing = Vec::new();
    // By corner and axes to step along, where the last search ended.
    let mut near = [[0; 8]; 8];
    for &key in finer {
        let at = morton(key);
        let corner = grid.child_number(at, level);
        let parent = grid.cover(at, level - 1);
        for axes in 0..dims::children(D) {
            let step = |at, a: usize| match axes >> a & 1 {
                0 => Some(at),
                _ => grid.beside(at, level - 1, a, corner >> a & 1 == 1),
            };
            let Some(to) = (0..D).try_fold(parent, step) else {
                continue;
            };
            let wanted = pack(to, level - 1);
            let place = first_not_below(coarser, wanted, near[corner][axes]);
            near[corner][axes] = place;
            if coarser.get(place) != Some(&wanted) && missing.last() != Some(&wanted) {
                missing.push(wanted);
            }
        }
    }
    missing
}

/// Merges sorted keys into sorted keys, none of which are among them, from the back.
fn merge(keys: &mut Vec<u64>, more: &[u64]) {
    let mut from = keys.len();
    keys.resize(from + more.len(), 0);
    let mut to = keys.len();
    for &key in more.iter().rev() {
        let keep = keys[..from].partition_point(|&k| k < key);
        keys.copy_within(keep..from, to - (from - keep));
        to -= from - keep + 1;
        keys[to] = key;
        from = keep;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_is_sorting_together() {
        let all: Vec<u64> = (0..200).collect();
        for pattern in 1..60u64 {
            let is_more = |k: &u64| (k * k * pattern + k) % 7 < pattern % 5;
            let (more, mut keys): (Vec<u64>, Vec<u64>) = all.iter().partition(|&k| is_more(k));
            merge(&mut keys, &more);
            assert_eq!(keys, all, "pattern {pattern}");
        }
    }
}
