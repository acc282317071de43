//! Every invariant of the forest, checked independently: by coordinates and descent
//! from the root, never by the neighbour ids that are under test.

use crate::{FREE, Forest, NONE, OUTSIDE, dims};
use rayon::prelude::*;

/// The first invariant found broken; ids are block ids.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForestViolation {
    /// Arrays of different lengths.
    #[error("array {array} has {len} elements, {expected} expected")]
    Length {
        /// The array.
        array: &'static str,
        /// Its length.
        len: usize,
        /// The length that fits.
        expected: usize,
    },
    /// A level's list and the levels of its blocks disagree.
    #[error("block {id} is listed on level {listed} but has level {level}")]
    Listed {
        /// The block.
        id: u32,
        /// Level of the list.
        listed: usize,
        /// Level in the array, 255 for a free id.
        level: u8,
    },
    /// Ids that are neither in a list nor in a gap, or in two places.
    #[error("{listed} ids in lists and {gaps} in gaps do not make up {capacity} ids, each once")]
    Ids {
        /// Ids in level lists.
        listed: usize,
        /// Ids in gaps.
        gaps: usize,
        /// All ids.
        capacity: usize,
    },
    /// A block whose coordinate is not that of its place in the tree, or not in the box.
    #[error(
        "block {id} of level {level} has coordinates {coord:?}, which its place in the tree contradicts"
    )]
    Coordinate {
        /// The block.
        id: u32,
        /// Its level.
        level: u8,
        /// Its coordinates.
        coord: Vec<i32>,
    },
    /// A parent and a child that do not refer to each other, or children out of range.
    #[error("block {id} and its parent or children do not point at each other")]
    Family {
        /// The block.
        id: u32,
    },
    /// A wrong neighbour id.
    #[error(
        "block {id} has {found} as its neighbour in direction {direction}, {expected} expected"
    )]
    Neighbor {
        /// The block.
        id: u32,
        /// The direction.
        direction: usize,
        /// The id found.
        found: u32,
        /// The id found by descent from the root.
        expected: u32,
    },
    /// Two leaves that touch are more than one level apart.
    #[error("leaf {id} of level {level} touches leaf {other} of level {other_level}: not 2:1")]
    Unbalanced {
        /// The finer leaf.
        id: u32,
        /// Its level.
        level: u8,
        /// The coarser leaf.
        other: u32,
        /// Its level.
        other_level: u8,
    },
}

impl<const D: usize> Forest<D> {
    /// Checks every invariant and names the first one broken (by level list, then id order
    /// in it). Cost: 3^D walks from the root a block.
    pub fn validate(&self) -> Result<(), ForestViolation> {
        self.check_lengths()?;
        self.check_ids()?;
        self.check_tree()?;
        let first = self
            .levels
            .par_iter()
            .flatten()
            .find_map_first(|&id| self.check_around(id).err());
        first.map_or(Ok(()), Err)
    }

    pub(crate) fn check_lengths(&self) -> Result<(), ForestViolation> {
        let expected = self.capacity();
        let lengths = [
            ("coord", self.coord.len()),
            ("parent", self.parent.len()),
            ("first_child", self.first_child.len()),
        ];
        for (array, len) in lengths {
            if len != expected {
                return Err(ForestViolation::Length {
                    array,
                    len,
                    expected,
                });
            }
        }
        let roots = self.roots();
        let groups = expected.saturating_sub(roots) / dims::children(D);
        let whole = roots + groups * dims::children(D);
        if expected != whole {
            return Err(ForestViolation::Length {
                array: "level",
                len: expected,
                expected: whole,
            });
        }
        let (len, expected) = (self.families.len(), self.families_len(expected));
        if len != expected {
            return Err(ForestViolation::Length {
                array: "families",
                len,
                expected,
            });
        }
        let len = self.levels.first().map_or(0, Vec::len);
        if len != roots {
            return Err(ForestViolation::Length {
                array: "levels[0]",
                len,
                expected: roots,
            });
        }
        Ok(())
    }

    fn check_ids(&self) -> Result<(), ForestViolation> {
        let capacity = self.capacity();
        let mut seen = vec![false; capacity];
        let (mut listed, mut gaps, mut twice) = (0, 0, false);
        let mut is_new = |id: usize| {
            seen.get_mut(id)
                .is_some_and(|s| !std::mem::replace(s, true))
        };
        for (level, ids) in self.levels.iter().enumerate() {
            for &id in ids {
                twice |= !is_new(id as usize);
                listed += 1;
                let found = self.level.get(id as usize).copied().unwrap_or(FREE);
                if usize::from(found) != level {
                    return Err(ForestViolation::Listed {
                        id,
                        listed: level,
                        level: found,
                    });
                }
            }
        }
        for &first in &self.gaps {
            for id in first as usize..first as usize + dims::children(D) {
                gaps += 1;
                twice |= !is_new(id) || self.level.get(id) != Some(&FREE);
            }
        }
        if twice || listed + gaps != capacity {
            return Err(ForestViolation::Ids {
                listed,
                gaps,
                capacity,
            });
        }
        Ok(())
    }

    fn check_tree(&self) -> Result<(), ForestViolation> {
        let first = self
            .levels
            .par_iter()
            .flatten()
            .find_map_first(|&id| self.check_family(id).err());
        first.map_or(Ok(()), Err)
    }

    fn check_family(&self, id: u32) -> Result<(), ForestViolation> {
        let at = id as usize;
        let (level, coord) = (self.level[at], self.coord[at]);
        let misplaced = || ForestViolation::Coordinate {
            id,
            level,
            coord: coord.to_vec(),
        };
        let family = ForestViolation::Family { id };
        let first = self.first_child[at];
        if first != NONE {
            let group = first as usize..first as usize + dims::children(D);
            let own = |child: usize| {
                self.parent.get(child) == Some(&id) && self.level[child] == level + 1
            };
            // A group's places are found by its number, so groups must not straddle.
            let aligned = (first as usize)
                .checked_sub(self.roots())
                .is_some_and(|after| after % dims::children(D) == 0);
            if !aligned || !group.clone().all(own) {
                return Err(family);
            }
            for (i, child) in group.enumerate() {
                let expected = std::array::from_fn(|a| 2 * coord[a] + (i >> a & 1) as i32);
                if self.coord[child] != expected {
                    return Err(ForestViolation::Coordinate {
                        id: child as u32,
                        level: level + 1,
                        coord: self.coord[child].to_vec(),
                    });
                }
            }
        }
        match (level, self.parent[at]) {
            (0, NONE) => {
                let mut rest = u64::from(id);
                let expected = self.root.map(|n| {
                    let c = rest % u64::from(n);
                    rest /= u64::from(n);
                    c as i32
                });
                if coord == expected && rest == 0 {
                    Ok(())
                } else {
                    Err(misplaced())
                }
            }
            (0, _) | (_, NONE) => Err(family),
            (_, parent) => {
                let first = self.first_child.get(parent as usize).copied();
                let own = first.is_some_and(|f| {
                    f != NONE && id >= f && ((id - f) as usize) < dims::children(D)
                });
                if own { Ok(()) } else { Err(family) }
            }
        }
    }

    fn check_around(&self, id: u32) -> Result<(), ForestViolation> {
        let level = self.level[id as usize];
        let coord = self.coord[id as usize];
        for (direction, found) in self.neighbors_of(id).enumerate() {
            let step = dims::step::<D>(direction);
            let at: [i32; D] = std::array::from_fn(|a| coord[a] + step[a]);
            let deepest = self.find(usize::from(level), self.wrap(usize::from(level), at));
            let expected = match deepest {
                None => OUTSIDE,
                Some(other) if self.level[other as usize] == level => other,
                Some(_) => NONE,
            };
            if found != expected {
                return Err(ForestViolation::Neighbor {
                    id,
                    direction,
                    found,
                    expected,
                });
            }
            if let Some(other) = deepest {
                let other_level = self.level[other as usize];
                if other_level + 1 < level {
                    return Err(ForestViolation::Unbalanced {
                        id,
                        level,
                        other,
                        other_level,
                    });
                }
            }
        }
        Ok(())
    }
}
