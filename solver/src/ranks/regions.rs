//! Parts of a flow that one rank can step alone: finer levels that are connected, with the blocks beside them that they exchange with.
//!
//! Ranks wait for one another after each step of the finest level that any two of them share, so a region that a rank has as a whole
//! costs no messages at its own steps, but one exchange at each step of the level around it.

use crate::tables::Built;
use cutlink_amr::{NONE, dims};

/// Slots of all levels, in sets that are joined; each knows its work.
struct Sets {
    parent: Vec<u32>,
    work: Vec<u64>,
}

impl Sets {
    fn find(&mut self, mut of: u32) -> u32 {
        while self.parent[of as usize] != of {
            let above = self.parent[of as usize];
            self.parent[of as usize] = self.parent[above as usize];
            of = above;
        }
        of
    }

    /// The smaller number names the joined set.
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            let (first, second) = (a.min(b), a.max(b));
            self.parent[second as usize] = first;
            self.work[first as usize] += self.work[second as usize];
        }
    }
}

/// The slots of a level beside which there are overlap blocks, and these.
fn near_overlaps<const D: usize>(built: &Built<D>) -> Vec<bool> {
    let level = &built.level;
    let mut is_near = vec![false; level.slots];
    for &overlap in &level.overlaps {
        is_near[overlap as usize] = true;
        let first = overlap as usize * dims::directions(D);
        for &next in &level.neighbors[first..first + dims::directions(D)] {
            if (next as usize) < level.slots {
                is_near[next as usize] = true;
            }
        }
    }
    is_near
}

/// Joins neighbours on a level, of some slots.
fn join_neighbors<const D: usize>(
    sets: &mut Sets,
    built: &Built<D>,
    first: usize,
    is_in: impl Fn(usize) -> bool,
) {
    let level = &built.level;
    // Half of the directions are enough.
    let half = dims::directions(D) / 2;
    for slot in (0..level.slots).filter(|&slot| is_in(slot)) {
        for &next in &level.neighbors[slot * dims::directions(D)..][..half] {
            let next = next as usize;
            if next < level.slots && is_in(next) {
                sets.join((first + slot) as u32, (first + next) as u32);
            }
        }
    }
}

/// The regions with no more work than a rank's share, each as large as that allows: by level and slot the region, or [`NONE`].
/// `work` is by level and slot.
pub(crate) fn regions<const D: usize>(
    tables: &[Built<D>],
    work: &[Vec<u64>],
    share: u64,
) -> Vec<Vec<u32>> {
    let firsts: Vec<usize> = tables
        .iter()
        .scan(0, |next, built| {
            let first = *next;
            *next += built.level.slots;
            Some(first)
        })
        .collect();
    let all = work.concat();
    let mut region = vec![NONE; all.len()];
    let mut sets = Sets {
        parent: (0..all.len() as u32).collect(),
        work: all,
    };
    for base in (0..tables.len() - 1).rev() {
        // All of the next level, and of this one what exchanges with it.
        join_neighbors(&mut sets, &tables[base + 1], firsts[base + 1], |_| true);
        let is_near = near_overlaps(&tables[base]);
        join_neighbors(&mut sets, &tables[base], firsts[base], |slot| is_near[slot]);
        for (n, &overlap) in tables[base].level.overlaps.iter().enumerate() {
            let children = firsts[base + 1] + n * dims::children(D);
            for child in children..children + dims::children(D) {
                sets.join((firsts[base] + overlap as usize) as u32, child as u32);
            }
        }
        let near = (0..is_near.len()).filter(|&slot| is_near[slot]);
        let of_base = near.map(|slot| firsts[base] + slot);
        for slot in of_base.chain(firsts[base + 1]..region.len()) {
            let set = sets.find(slot as u32);
            if sets.work[set as usize] <= share {
                region[slot] = set;
            }
        }
    }
    let of_level = |(built, &first): (&Built<D>, &usize)| {
        let slots = first..first + built.level.slots;
        region[slots].to_vec()
    };
    tables.iter().zip(&firsts).map(of_level).collect()
}
