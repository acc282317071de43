//! Closes the marks of leaves under 2:1, a level at a time.

use super::search::{holder, is_group};
use crate::{
    Mark, dims,
    linear::{Leaves, level as level_of, morton},
};
use cutlink_device::shared;
use rayon::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

const CHUNK: usize = 1 << 12;

const REFINE: u8 = Mark::Refine as u8;
const COARSEN: u8 = Mark::Coarsen as u8;

/// The coarser leaves that a leaf touches are among the 2^D - 1 blocks of their level around the corner of its parent that
/// it lies in. Marks are only ever raised to `Refine`, so the order of the stores does not matter.
pub(super) fn close_refine<const D: usize>(leaves: &Leaves<D>, level: u32, marks: &mut [u8]) {
    let (grid, keys) = (leaves.grid(), leaves.keys());
    let marks = shared::bytes(marks);
    let leaves = marks.par_iter().zip(keys).enumerate();
    leaves.for_each(|(leaf, (mark, &key))| {
        if level_of(key) != level || mark.load(Relaxed) != REFINE {
            return;
        }
        let at = morton(key);
        let corner = grid.child_number(at, level);
        let parent = grid.cover(at, level - 1);
        for axes in 1..dims::children(D) {
            let step = |at, a: usize| match axes >> a & 1 {
                0 => Some(at),
                _ => grid.beside(at, level - 1, a, corner >> a & 1 == 1),
            };
            let Some(to) = (0..D).try_fold(parent, step) else {
                continue;
            };
            let other = holder(keys, to, leaf);
            if level_of(keys[other]) < level {
                marks[other].store(REFINE, Relaxed);
            }
        }
    });
}

/// Reads the flags of the finer level and writes those of this level, so the order of the groups does not matter.
pub(super) fn close_coarsen<const D: usize>(
    leaves: &Leaves<D>,
    level: u32,
    marks: &[u8],
    going: &mut [u8],
) {
    let (grid, keys) = (leaves.grid(), leaves.keys());
    let going = shared::bytes(going);
    let parts = keys.par_chunks(CHUNK).enumerate();
    parts.for_each(|(chunk, part)| {
        let mut around = Around {
            leaves,
            level,
            near: [chunk * CHUNK; 27],
        };
        for (first, &key) in (chunk * CHUNK..).zip(part) {
            let is_wanted = level_of(key) == level && marks[first] == COARSEN;
            if !is_wanted || !is_group(grid, keys, first) {
                continue;
            }
            let group = first..first + dims::children(D);
            let goes = |leaf: usize| going[leaf].load(Relaxed) == 1;
            if marks[group.clone()].iter().all(|&mark| mark == COARSEN)
                && !around.has_refined(first, marks, goes)
            {
                group.for_each(|leaf| going[leaf].store(1, Relaxed));
            }
        }
    });
}

/// What touches groups of siblings of a level.
struct Around<'a, const D: usize> {
    leaves: &'a Leaves<D>,
    level: u32,
    /// By direction, where the last search ended.
    near: [usize; 27],
}

impl<const D: usize> Around<'_, D> {
    /// Whether a block of the level that touches the group at `first` is refined after the adaptation.
    fn has_refined(&mut self, first: usize, marks: &[u8], goes: impl Fn(usize) -> bool) -> bool {
        let (grid, keys, level) = (self.leaves.grid(), self.leaves.keys(), self.level);
        let is_refined = |leaf: usize| match level_of(keys[leaf]) - level {
            0 => marks[leaf] == REFINE,
            1 => !goes(leaf),
            _ => true,
        };
        // Of the parent's siblings the leaves are near.
        let (parent, above) = (morton(keys[first]), level.saturating_sub(2));
        (0..dims::directions(D)).any(|direction| {
            let step = dims::step::<D>(direction);
            let beside = grid.stepped(parent, level - 1, step);
            let Some(beside) = beside.filter(|_| direction != dims::center(D)) else {
                return false;
            };
            let is_sibling = grid.cover(beside, above) == grid.cover(parent, above);
            let near = if is_sibling {
                first
            } else {
                self.near[direction]
            };
            let other = holder(keys, beside, near);
            if !is_sibling {
                self.near[direction] = other;
            }
            if level_of(keys[other]) < level {
                return false;
            }
            let is_whole = level_of(keys[other]) == level && is_group(grid, keys, other);
            let touches = |child: &usize| {
                let side = |a: usize| (step[a] > 0) == (child >> a & 1 == 0);
                (0..D).all(|a| step[a] == 0 || side(a))
            };
            let leaf = |child: usize| match is_whole {
                true => other + child,
                false => holder(keys, grid.child(beside, level - 1, child), other),
            };
            let mut children = (0..dims::children(D)).filter(touches);
            children.any(|child| is_refined(leaf(child)))
        })
    }
}

pub(super) fn close_rest(going: &[u8], marks: &mut [u8]) {
    marks.par_iter_mut().zip(going).for_each(|(mark, &goes)| {
        *mark = match (*mark, goes) {
            (REFINE, _) => REFINE,
            (_, 1) => COARSEN,
            _ => Mark::Keep as u8,
        }
    });
}
