//! What 2:1 needs refined on the next coarser level.
//!
//! The blocks of a level that touch a refined block have to exist, so their parents have to be refined. These are the 2^D
//! blocks around the corner of the parent that the refined block lies in: the parent itself, and one step towards the
//! corner along any of the axes. Most of them are refined already; the missing ones are sorted and merged in.
//!
//! Refined blocks with the same grandparent ask together. What they ask for lies among the 4^D *places* of the coarser
//! level in and around the grandparent, one bit each, x fastest; what is refined there are the children of 3^D blocks,
//! which are searched for in a list of families: a parent and a bit for each of its refined children.

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
    let mut missing = if level == 1 {
        // Root blocks have no parents.
        let parts = finer.par_chunks(CHUNK);
        parts
            .map(|part| missing_roots(grid, part, coarser))
            .collect::<Vec<_>>()
            .concat()
    } else {
        let (tables, families) = (Tables::new::<D>(), families(grid, level - 1, coarser));
        let parts = finer.par_chunks(CHUNK);
        parts
            .map(|part| missing(grid, level, part, &families, &tables))
            .collect::<Vec<_>>()
            .concat()
    };
    if missing.is_empty() {
        return;
    }
    missing.par_sort_unstable();
    missing.dedup();
    merge(coarser, &missing);
}

fn missing_roots<const D: usize>(grid: &Grid<D>, finer: &[u64], roots: &[u64]) -> Vec<u64> {
    let mut missing = Vec::new();
    for &key in finer {
        let corner = grid.child_number(morton(key), 1);
        let parent = grid.cover(morton(key), 0);
        for axes in 0..dims::children(D) {
            let step = |at, a: usize| match axes >> a & 1 {
                0 => Some(at),
                _ => grid.beside(at, 0, a, corner >> a & 1 == 1),
            };
            let wanted = (0..D).try_fold(parent, step).map(|at| pack(at, 0));
            let is_missing = |key: &u64| roots.binary_search(key).is_err();
            missing.extend(wanted.filter(is_missing));
        }
    }
    missing
}

/// Parents of blocks of a level, sorted, and a bit for each of their children that is among the blocks.
struct Families {
    parents: Vec<u64>,
    children: Vec<u8>,
}

fn families<const D: usize>(grid: &Grid<D>, level: u32, blocks: &[u64]) -> Families {
    let (mut parents, mut children) = (Vec::new(), Vec::new());
    for &key in blocks {
        let at = morton(key);
        let parent = grid.cover(at, level - 1);
        if parents.last() != Some(&parent) {
            parents.push(parent);
            children.push(0);
        }
        *children.last_mut().expect("a family") |= 1 << grid.child_number(at, level);
    }
    Families { parents, children }
}

/// Sets of places as bits.
struct Tables {
    /// By refined children of a block, the block's neighbours that have to be refined, itself at place (1, 1, 1).
    asked: [u64; 256],
    /// By child, how far a block's places are from those of the first child.
    shift: [u32; 8],
    /// By direction, the children that a block there has places for: the place, and which child, for as many as there are.
    seen: [Vec<(u32, u32)>; 27],
}

impl Tables {
    fn new<const D: usize>() -> Self {
        let place = |at: [i32; D]| dims::ravel(at, 4) as u32;
        let asked = std::array::from_fn(|children| {
            let corners = (0..dims::children(D)).filter(|c| children >> c & 1 == 1);
            let around = corners.flat_map(|corner| {
                (0..dims::children(D)).map(move |axes| {
                    let side = |a: usize| if corner >> a & 1 == 1 { 2 } else { 0 };
                    std::array::from_fn(|a| if axes >> a & 1 == 1 { side(a) } else { 1 })
                })
            });
            around.fold(0, |set, at| set | 1 << place(at))
        });
        let shift = std::array::from_fn(|child| place(dims::unravel(child, 2)));
        let seen = std::array::from_fn(|direction| {
            if direction >= dims::directions(D) {
                return Vec::new();
            }
            let step = dims::step::<D>(direction);
            let at = |child| -> [i32; D] {
                let low = dims::unravel::<D>(child, 2);
                std::array::from_fn(|a| 2 * step[a] + low[a] + 1)
            };
            let children = (0..dims::children(D)).map(|child| (at(child), child as u32));
            let near = children.filter(|(at, _)| at.iter().all(|c| (0..4).contains(c)));
            near.map(|(at, child)| (place(at), child)).collect()
        });
        Self { asked, shift, seen }
    }
}

/// What refined blocks of a level (2 or more) need refined on the next coarser one, whose families are given.
fn missing<const D: usize>(
    grid: &Grid<D>,
    level: u32,
    finer: &[u64],
    families: &Families,
    tables: &Tables,
) -> Vec<u64> {
    let mut missing = Vec::new();
    // By direction, where the last search ended.
    let mut near = [0; 27];
    let mut rest = finer;
    while let Some(&first) = rest.first() {
        let top = grid.cover(morton(first), level - 2);
        let mut children = [0; 8];
        let mut count = 0;
        for &key in rest {
            let at = morton(key);
            if grid.cover(at, level - 2) != top {
                break;
            }
            children[grid.child_number(at, level - 1)] |= 1 << grid.child_number(at, level);
            count += 1;
        }
        rest = &rest[count..];
        let sets = children.iter().zip(&tables.shift);
        let asked = sets.fold(0, |set, (&of, shift)| set | tables.asked[of] << shift);
        for direction in 0..dims::directions(D) {
            let mut places = tables.seen[direction].iter();
            if places.all(|&(place, _)| asked >> place & 1 == 0) {
                continue;
            }
            let step = dims::step::<D>(direction);
            let Some(parent) = grid.stepped(top, level - 2, step) else {
                continue;
            };
            let found = first_not_below(&families.parents, parent, near[direction]);
            near[direction] = found;
            let is_there = families.parents.get(found) == Some(&parent);
            let refined = if is_there {
                families.children[found]
            } else {
                0
            };
            for &(place, child) in &tables.seen[direction] {
                if asked >> place & 1 == 1 && refined >> child & 1 == 0 {
                    let at = grid.child(parent, level - 2, child as usize);
                    missing.push(pack(at, level - 1));
                }
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
