//! Neighbour ids, stored once per group of siblings (family), and computed for root blocks.
//!
//! The 2^D children of a block and the ring of blocks around them are 4^D places of their level, x fastest.
//! [`ForestArrays::families`](crate::ForestArrays::families) holds the ids of these places, family by family; the
//! neighbour of child (cx, cy, cz) in step (dx, dy, dz) is place (cx+dx+1, cy+dy+1, cz+dz+1). Root blocks are the first
//! ids and groups of siblings follow without a gap, so family and child follow from an id: quotient and remainder of
//! `id - roots` by 2^D. 4^D ids for 2^D blocks are 32 bytes per block in 3D and 16 in 2D; a table of 3^D neighbours per
//! block takes 108 and 36.
//!
//! A root block's neighbour is its id plus a constant for each direction, or [`OUTSIDE`] beyond a face of the box that
//! is not periodic. Neighbours beyond a periodic face are the blocks of the opposite side, on all levels, because those
//! of finer levels are derived from the root blocks'.

use crate::{Forest, OUTSIDE, dims};
use cutlink_device::Backend;

/// By direction: where the neighbour's place lies, seen from that of step (-1, -1, -1).
/// The first nine are those of 2D, here and below.
const PLACE: [u8; 27] = {
    let mut table = [0; 27];
    let mut i = 0;
    while i < 27 {
        table[i] = (i % 3 + 4 * (i / 3 % 3) + 16 * (i / 9)) as u8;
        i += 1;
    }
    table
};

/// By direction: its step on each axis, plus one.
const STEP: [[u8; 3]; 27] = {
    let mut table = [[0; 3]; 27];
    let mut i = 0;
    while i < 27 {
        table[i] = [(i % 3) as u8, (i / 3 % 3) as u8, (i / 9) as u8];
        i += 1;
    }
    table
};

/// By axis and side: the directions that step to this side.
const TOWARD: [[u32; 2]; 3] = {
    let mut table = [[0; 2]; 3];
    let mut i = 0;
    while i < 27 {
        let step = dims::step::<3>(i);
        let mut a = 0;
        while a < 3 {
            if step[a] != 0 {
                table[a][(step[a] > 0) as usize] |= 1 << i;
            }
            a += 1;
        }
        i += 1;
    }
    table
};

/// The place of a child's step (-1, -1, -1) in its family.
const fn corner(child: usize) -> usize {
    (child & 1) + 4 * (child >> 1 & 1) + 16 * (child >> 2)
}

/// How the neighbours of a block are found.
#[derive(Clone, Copy)]
pub(crate) enum Around<const D: usize> {
    /// In the table of families: the place of the neighbour in step (-1, -1, -1).
    Family { corner: usize },
    /// By arithmetic: the directions that leave the box, and what a step of -1, 0 and 1 along each
    /// axis adds to the id.
    Root {
        id: u32,
        outside: u32,
        shifts: [[u32; 3]; D],
    },
}

impl<const D: usize> Around<D> {
    /// The ids below `roots`, the product of `root`, are those of the root blocks; `coord` is
    /// read for them only.
    #[inline]
    pub(crate) fn new(
        [root, periodic]: [[u32; D]; 2],
        roots: usize,
        coord: &[[i32; D]],
        id: u32,
    ) -> Self {
        if let Some(after) = (id as usize).checked_sub(roots) {
            let (family, child) = (after >> D, after & (dims::children(D) - 1));
            return Self::Family {
                corner: family * dims::cells(D) + corner(child),
            };
        }
        let at = coord[id as usize];
        let (mut outside, mut stride, mut shifts) = (0, 1u32, [[0; 3]; D]);
        for a in 0..D {
            let around = stride.wrapping_mul(root[a] - 1);
            shifts[a] = [stride.wrapping_neg(), 0, stride];
            if at[a] == 0 {
                outside |= if periodic[a] == 0 { TOWARD[a][0] } else { 0 };
                shifts[a][0] = around;
            }
            if at[a] + 1 == root[a] as i32 {
                outside |= if periodic[a] == 0 { TOWARD[a][1] } else { 0 };
                shifts[a][2] = around.wrapping_neg();
            }
            stride = stride.wrapping_mul(root[a]);
        }
        Self::Root {
            id,
            outside,
            shifts,
        }
    }

    /// The neighbour in a direction; `place` reads the families' table.
    #[inline]
    pub(crate) fn at(self, direction: usize, place: impl Fn(usize) -> u32) -> u32 {
        match self {
            Self::Family { corner } => place(corner + usize::from(PLACE[direction])),
            Self::Root { outside, .. } if outside >> direction & 1 == 1 => OUTSIDE,
            Self::Root { id, shifts, .. } => {
                let shift = |a: usize| shifts[a][usize::from(STEP[direction][a])];
                (0..D).fold(id, |id, a| id.wrapping_add(shift(a)))
            }
        }
    }
}

impl<const D: usize, B: Backend> Forest<D, B> {
    /// Root blocks: the ids below this number.
    #[inline]
    pub fn roots(&self) -> usize {
        self.root.iter().map(|&n| n as usize).product()
    }

    /// The length of [`families`](crate::ForestArrays::families) for so many ids.
    pub fn families_len(&self, capacity: usize) -> usize {
        capacity.saturating_sub(self.roots()) * dims::children(D)
    }
}

impl<const D: usize> Forest<D> {
    /// The block beside a block in a direction: of the same level, [`NONE`](crate::NONE) where there is none,
    /// [`OUTSIDE`] beyond a face of the box that is not periodic; in the middle direction the block itself.
    #[inline]
    pub fn neighbor(&self, id: u32, direction: usize) -> u32 {
        self.around(id).at(direction, |place| self.families[place])
    }

    /// Whether the place beside a block in a direction lies in the box: if not, what
    /// [`neighbor`](Self::neighbor) finds there is the other side of a periodic box.
    pub fn is_inside(&self, id: u32, direction: usize) -> bool {
        let (level, at) = (self.level[id as usize], self.coord[id as usize]);
        let step = dims::step::<D>(direction);
        (0..D).all(|a| {
            let to = at[a] + step[a];
            to >= 0 && to < (self.root[a] as i32) << level
        })
    }

    /// The 3^D neighbours of a block by direction; see [`neighbor`](Self::neighbor).
    #[inline]
    pub fn neighbors_of(&self, id: u32) -> impl ExactSizeIterator<Item = u32> + '_ {
        let around = self.around(id);
        (0..dims::directions(D))
            .map(move |direction| around.at(direction, |place| self.families[place]))
    }

    /// The block of the next coarser level that covers the place beside a block in a direction: what is there where
    /// [`neighbor`](Self::neighbor) is [`NONE`](crate::NONE).
    ///
    /// # Panics
    /// For a root block, which has no coarser level.
    #[inline]
    pub fn coarser_neighbor(&self, id: u32, direction: usize) -> u32 {
        let (at, step) = (self.coord[id as usize], dims::step::<D>(direction));
        let up: [i32; D] = std::array::from_fn(|a| ((at[a] & 1) + step[a]).div_euclid(2));
        self.neighbor(self.parent[id as usize], dims::direction(up))
    }

    #[inline]
    fn around(&self, id: u32) -> Around<D> {
        Around::new(self.grid(), self.roots(), &self.coord, id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutlink_device::Host;

    #[test]
    fn places_and_arithmetic_follow_the_definition() {
        for child in 0..8 {
            for direction in 0..27 {
                let low = dims::unravel::<3>(child, 2);
                let step = dims::step::<3>(direction);
                let at = std::array::from_fn(|a| low[a] + step[a] + 1);
                let place = corner(child) + usize::from(PLACE[direction]);
                assert_eq!(place, dims::ravel::<3>(at, 4), "{child} {direction}");
            }
        }
        let root = [3u32, 1, 2];
        for bits in 0..8 {
            let periodic = std::array::from_fn(|a| bits >> a & 1 == 1);
            let forest = Forest::new(&Host, root).expect("a root grid");
            let forest = forest.with_periodic(periodic);
            assert!(forest.families.is_empty(), "root blocks take no place");
            for (id, &coord) in forest.coord.iter().enumerate() {
                for (direction, found) in forest.neighbors_of(id as u32).enumerate() {
                    let step = dims::step::<3>(direction);
                    let at: [i32; 3] = std::array::from_fn(|a| {
                        let to = coord[a] + step[a];
                        let wrapped = to.rem_euclid(root[a] as i32);
                        if periodic[a] { wrapped } else { to }
                    });
                    let expected = forest.coord.iter().position(|&c| c == at);
                    let expected = expected.map_or(OUTSIDE, |id| id as u32);
                    assert_eq!(found, expected, "block {id} direction {direction}");
                }
            }
        }
    }
}
