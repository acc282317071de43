//! Every invariant of a linear tree, checked without its order: keys are taken apart bit by bit, and blocks are looked up
//! in a hash table of levels and coordinates.

use super::{Grid, LEVEL_BITS, Leaves, coordinate_bits};
use crate::dims;
use rayon::prelude::*;
use std::collections::HashSet;

/// The first invariant found broken; ids are places in the array of keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeavesViolation {
    /// A word that names no block of the root grid.
    #[error("leaf {id} has the key {key:#x}, which is not that of a block of the root grid")]
    Key {
        /// The leaf.
        id: usize,
        /// The word.
        key: u64,
    },
    /// Two keys out of order, or equal.
    #[error("the keys of leaf {id} and the next one do not ascend")]
    Order {
        /// The first of the two.
        id: usize,
    },
    /// A leaf inside another one.
    #[error("leaf {id} of level {level} lies in a leaf of level {other_level}")]
    Overlap {
        /// The finer leaf.
        id: usize,
        /// Its level.
        level: u32,
        /// The level of the coarser leaf.
        other_level: u32,
    },
    /// Leaves that leave a part of the box without one.
    #[error("the leaves fill {found} blocks of level {level}, the box has {expected}")]
    Volume {
        /// The level that volumes are counted in: the finest that keys can name.
        level: u32,
        /// Blocks of this level that the leaves fill.
        found: u128,
        /// Blocks of this level in the box.
        expected: u128,
    },
    /// Two leaves that touch are more than one level apart.
    #[error("leaf {id} of level {level} touches a leaf of level {other_level}: not 2:1")]
    Unbalanced {
        /// The finer leaf.
        id: usize,
        /// Its level.
        level: u32,
        /// The level of the coarser leaf.
        other_level: u32,
    },
    /// Another finest level than the leaves'.
    #[error("the finest leaf has level {found}, {expected} expected")]
    Finest {
        /// The level found.
        found: u32,
        /// The level noted.
        expected: u32,
    },
}

type Block<const D: usize> = (u32, [i32; D]);

/// Level and coordinate of a key, bit by bit; `None` for what is not one.
fn decode<const D: usize>(grid: &Grid<D>, key: u64) -> Option<Block<D>> {
    let level = (key % (1 << LEVEL_BITS)) as u32;
    let bits = coordinate_bits(D);
    if level > grid.limit() || key >> (LEVEL_BITS + D as u32 * bits) != 0 {
        return None;
    }
    let mut coord = [0; D];
    for a in 0..D {
        let fine = (0..bits).fold(0u64, |x, bit| {
            let from = LEVEL_BITS + D as u32 * bit + a as u32;
            x | (key >> from & 1) << bit
        });
        let size = 1 << (grid.limit() - level);
        let inside = fine < u64::from(grid.root()[a]) << grid.limit();
        if !inside || fine % size != 0 {
            return None;
        }
        coord[a] = (fine / size) as i32;
    }
    Some((level, coord))
}

impl<const D: usize> Leaves<D> {
    /// Checks every invariant and names the first one broken: keys, order, no leaf in another, the box filled, 2:1 over
    /// faces, edges and corners. Cost: some 3^D look-ups in a hash table a leaf.
    pub fn validate(&self) -> Result<(), LeavesViolation> {
        let grid = self.grid();
        let decoded = (self.keys.par_iter().enumerate())
            .map(|(id, &key)| decode(grid, key).ok_or(LeavesViolation::Key { id, key }));
        let blocks: Vec<Block<D>> = match decoded.clone().find_map_first(Result::err) {
            Some(violation) => return Err(violation),
            None => decoded.flatten().collect(),
        };
        if let Some(id) = self.keys.windows(2).position(|pair| pair[0] >= pair[1]) {
            return Err(LeavesViolation::Order { id });
        }
        let found = blocks.iter().map(|block| block.0).max().unwrap_or(0);
        if found != self.finest() {
            let expected = self.finest();
            return Err(LeavesViolation::Finest { found, expected });
        }
        let set: HashSet<Block<D>> = blocks.iter().copied().collect();
        let check = |(id, &block)| check_block(grid, &set, id, block);
        let first = blocks.par_iter().enumerate().map(check);
        if let Some(violation) = first.find_map_first(Result::err) {
            return Err(violation);
        }
        self.check_volume(&blocks)
    }

    fn check_volume(&self, blocks: &[Block<D>]) -> Result<(), LeavesViolation> {
        let grid = self.grid();
        let volume = |level: u32| 1u128 << (D as u32 * (grid.limit() - level));
        let found: u128 = blocks.iter().map(|block| volume(block.0)).sum();
        let expected = grid.roots() as u128 * volume(0);
        if found != expected {
            return Err(LeavesViolation::Volume {
                level: grid.limit(),
                found,
                expected,
            });
        }
        Ok(())
    }
}

/// Looks for leaves that a leaf lies in, and for leaves two or more levels coarser that it touches.
fn check_block<const D: usize>(
    grid: &Grid<D>,
    set: &HashSet<Block<D>>,
    id: usize,
    (level, at): Block<D>,
) -> Result<(), LeavesViolation> {
    let above = |at: [i32; D], other: u32| set.contains(&(other, at.map(|c| c >> (level - other))));
    for direction in 0..dims::directions(D) {
        let step = dims::step::<D>(direction);
        let count = grid.root().map(|n| (u64::from(n) << level) as i64);
        let to: [i64; D] = std::array::from_fn(|a| {
            let to = i64::from(at[a] + step[a]);
            if grid.periodic()[a] {
                to.rem_euclid(count[a])
            } else {
                to
            }
        });
        if (0..D).any(|a| to[a] < 0 || to[a] >= count[a]) {
            continue;
        }
        let to = to.map(|c| c as i32);
        if direction == dims::center(D) {
            if let Some(other_level) = (0..level).find(|&other| above(to, other)) {
                return Err(LeavesViolation::Overlap {
                    id,
                    level,
                    other_level,
                });
            }
            continue;
        }
        if above(to, level) || level > 0 && above(to, level - 1) {
            continue;
        }
        if let Some(other_level) = (0..level.saturating_sub(1)).find(|&other| above(to, other)) {
            return Err(LeavesViolation::Unbalanced {
                id,
                level,
                other_level,
            });
        }
    }
    Ok(())
}
