//! The children of refined blocks that are not refined, in the order of keys: a walk from the root blocks down, in which
//! the sorted lists of refined blocks are read once from front to back.

use crate::{
    dims,
    linear::{Grid, morton, pack},
};
use rayon::prelude::*;

/// Subtrees that are wanted at least, for threads to share.
const SUBTREES: usize = 512;

pub(super) fn leaves<const D: usize>(grid: &Grid<D>, refined: &[Vec<u64>]) -> Vec<u64> {
    let tops = tops(grid, refined);
    let parts: Vec<Vec<u64>> = tops
        .par_chunks(tops.len().div_ceil(SUBTREES))
        .map(|tops| {
            let mut walk = Walk::from(grid, refined, tops[0]);
            for &top in tops {
                walk.descend(top);
            }
            walk.leaves
        })
        .collect();
    parts.concat()
}

/// Blocks that fill the box, in the order of keys: root blocks, or finer ones where these are few.
fn tops<const D: usize>(grid: &Grid<D>, refined: &[Vec<u64>]) -> Vec<u64> {
    let mut tops = grid.root_keys();
    for (level, refined) in refined.iter().enumerate() {
        if tops.len() >= SUBTREES {
            break;
        }
        let split = |&top: &u64| {
            let is_refined = refined.binary_search(&top).is_ok();
            let children = if is_refined { dims::children(D) } else { 1 };
            (0..children).map(move |child| match is_refined {
                true => pack(
                    grid.child(morton(top), level as u32, child),
                    level as u32 + 1,
                ),
                false => top,
            })
        };
        tops = tops.iter().flat_map(split).collect();
    }
    tops
}

struct Walk<'a, const D: usize> {
    grid: &'a Grid<D>,
    /// By level, the refined blocks that are still to come.
    refined: Vec<std::slice::Iter<'a, u64>>,
    leaves: Vec<u64>,
}

impl<'a, const D: usize> Walk<'a, D> {
    fn from(grid: &'a Grid<D>, refined: &'a [Vec<u64>], top: u64) -> Self {
        let behind = |keys: &'a Vec<u64>| keys[keys.partition_point(|&k| k < top)..].iter();
        Self {
            grid,
            refined: refined.iter().map(behind).collect(),
            leaves: Vec::new(),
        }
    }

    fn descend(&mut self, key: u64) {
        let level = crate::linear::level(key);
        let list = self.refined.get_mut(level as usize);
        let Some(list) = list.filter(|list| list.as_slice().first() == Some(&key)) else {
            self.leaves.push(key);
            return;
        };
        list.next();
        for child in 0..dims::children(D) {
            let at = self.grid.child(morton(key), level, child);
            self.descend(pack(at, level + 1));
        }
    }
}
