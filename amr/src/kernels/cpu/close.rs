//! Closes the marks of leaves under 2:1, a level at a time.

use super::search::{holder, is_group};
use crate::{
    Mark, dims,
    linear::{Leaves, level as level_of, morton},
};
use cutlink_device::shared;
use rayon::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

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

/// Reads what goes of the finer level and writes what goes of this one, so the order of the groups does not matter.
pub(super) fn close_coarsen<const D: usize>(
    leaves: &Leaves<D>,
    level: u32,
    marks: &[u8],
    going: &mut [u8],
) {
    let keys = leaves.keys();
    let going = shared::bytes(going);
    (marks.par_iter().enumerate()).for_each(|(first, &mark)| {
        if mark != COARSEN
            || level_of(keys[first]) != level
            || !is_group(leaves.grid(), keys, first)
        {
            return;
        }
        let group = first..first + dims::children(D);
        let is_wanted = marks[group.clone()].iter().all(|&mark| mark == COARSEN);
        let goes = |leaf: usize| going[leaf].load(Relaxed) == 1;
        if is_wanted && !touches_refined(leaves, first, level, marks, goes) {
            group.for_each(|leaf| going[leaf].store(1, Relaxed));
        }
    });
}

/// Whether a block of `level` that touches the parent of the group at `first` is refined after the adaptation.
fn touches_refined<const D: usize>(
    leaves: &Leaves<D>,
    first: usize,
    level: u32,
    marks: &[u8],
    goes: impl Fn(usize) -> bool,
) -> bool {
    let (grid, keys) = (leaves.grid(), leaves.keys());
    let parent = morton(keys[first]);
    (0..dims::directions(D)).any(|direction| {
        let step = dims::step::<D>(direction);
        let Some(beside) = grid.stepped(parent, level - 1, step) else {
            return false;
        };
        let holder_of_beside = holder(keys, beside, first);
        if direction == dims::center(D) || level_of(keys[holder_of_beside]) < level {
            return false;
        }
        (0..dims::children(D)).any(|child| {
            let touches = (0..D).all(|a| match step[a] {
                0 => true,
                s => (s > 0) == (child >> a & 1 == 0),
            });
            if !touches {
                return false;
            }
            let leaf = holder(keys, grid.child(beside, level - 1, child), holder_of_beside);
            match level_of(keys[leaf]) - level {
                0 => marks[leaf] == REFINE,
                1 => !goes(leaf),
                _ => true,
            }
        })
    })
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
