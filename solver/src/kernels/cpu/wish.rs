//! Where leaves are wanted finer or coarser (`adapt::wish`).

use crate::{
    adapt::{
        LevelLimit,
        wish::{Weight, Wishes},
    },
    tables::Level,
};
use cutlink_amr::{FREE, Forest, Mark, NONE, OUTSIDE};
use cutlink_device::{Host, shared};
use rayon::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

/// The centre of a block in root cells.
fn center<const D: usize>(level: usize, coord: [i32; D]) -> [f64; D] {
    let edge = 4.0 / f64::from(1u32 << level);
    coord.map(|c| edge * (f64::from(c) + 0.5))
}

/// Whether a point, in root cells, lies in a box.
fn contains<const D: usize>([lower, upper]: &[[f64; D]; 2], at: [f64; D]) -> bool {
    (0..D).all(|a| at[a] >= lower[a] && at[a] <= upper[a])
}

pub(super) fn limit<const D: usize>(
    forest: &Forest<D>,
    limits: &[LevelLimit<D>],
    levels: usize,
) -> Vec<u8> {
    let most = |(&level, &coord): (&u8, &[i32; D])| {
        if level == FREE {
            return 0;
        }
        let at = center(usize::from(level), coord);
        let here = limits.iter().filter(|limit| contains(&limit.within, at));
        let least = here.map(|limit| limit.levels).min();
        least.map_or(levels, |least| least.min(levels)) as u8
    };
    let blocks = forest.level.par_iter().zip(&forest.coord);
    blocks.map(most).collect()
}

pub(super) fn weigh<const D: usize>(
    forest: &Forest<D>,
    level: &Level<D, Host>,
    blocks: &[u32],
    values: &[f32],
    weight: &Weight<D>,
    wishes: &mut Wishes<Host>,
) {
    for ((&id, &value), &coord) in blocks.iter().zip(values).zip(&level.coord) {
        let is_outside = |within| !contains(within, center(level.index, coord));
        if !forest.is_leaf(id) || weight.within.as_ref().is_some_and(is_outside) {
            continue;
        }
        let [hot, cold] = [&mut wishes.hot[id as usize], &mut wishes.cold[id as usize]];
        *hot = hot.max(value / weight.refine);
        *cold = cold.max(value * weight.one_up / weight.coarsen);
    }
}

pub(super) fn want<const D: usize>(
    forest: &Forest<D>,
    level: usize,
    wishes: &Wishes<Host>,
    raised: f32,
    wanted: &mut [u8],
) {
    let is_hot = |id: u32| wishes.hot[id as usize] > raised;
    let wanted = shared::bytes(wanted);
    forest.levels[level].par_iter().for_each(|&id| {
        let wants = if forest.is_leaf(id) {
            is_hot(id) && level + 1 < usize::from(wishes.levels[id as usize])
        } else {
            let first = forest.first_child[id as usize];
            let is_needed = |child: u32| {
                let is_wanted = wanted[child as usize].load(Relaxed) != 0;
                is_wanted || forest.is_leaf(child) && is_hot(child)
            };
            (first..first + (1 << D)).any(is_needed)
        };
        if wants {
            wanted[id as usize].store(1, Relaxed);
        }
    });
}

/// All that reach a block store the same number, so the order of the stores does not matter.
pub(super) fn spread<const D: usize>(
    forest: &Forest<D>,
    level: usize,
    layer: u8,
    wanted: &mut [u8],
) {
    let wanted = shared::bytes(wanted);
    forest.levels[level].par_iter().for_each(|&id| {
        if wanted[id as usize].load(Relaxed) != layer {
            return;
        }
        let there = forest
            .neighbors_of(id)
            .filter(|&n| n != NONE && n != OUTSIDE);
        for near in there {
            let reached = &wanted[near as usize];
            if reached.load(Relaxed) == 0 {
                reached.store(layer + 1, Relaxed);
            }
        }
    });
}

pub(super) fn mark_wanted<const D: usize>(
    forest: &Forest<D>,
    wishes: &Wishes<Host>,
    raised: f32,
    wanted: &[u8],
) -> Vec<u8> {
    let mark = |id: usize| {
        let level = forest.level[id];
        if level == FREE || forest.first_child[id] != NONE {
            return Mark::Keep as u8;
        }
        let may_grow = level + 1 < wishes.levels[id];
        let parent = forest.parent[id];
        match wanted[id] != 0 {
            true if may_grow => Mark::Refine as u8,
            false if parent != NONE && wanted[parent as usize] == 0 && wishes.cold[id] < raised => {
                Mark::Coarsen as u8
            }
            _ => Mark::Keep as u8,
        }
    };
    (0..forest.capacity()).into_par_iter().map(mark).collect()
}
