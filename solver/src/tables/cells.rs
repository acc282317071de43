//! Cells of a level, their neighbours and their cut links.

use super::Level;
use cutlink_amr::dims;
use cutlink_device::Host;
use cutlink_voxelizer::unpack_cell;

/// A cell of a level.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct At<const D: usize> {
    pub(crate) slot: usize,
    pub(crate) local: [i32; D],
}

impl<const D: usize> At<D> {
    pub(crate) fn new(slot: usize, cell: usize) -> Self {
        Self {
            slot,
            local: dims::unravel::<D>(cell, 4),
        }
    }

    pub(crate) fn cell(&self) -> usize {
        dims::ravel::<D>(self.local, 4)
    }
}

/// The places of the bits that are set.
#[inline]
pub(crate) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}

/// The block that a point is in, as a direction, and its place there; coordinates count from the lower corner of the block in
/// the middle.
#[inline]
pub(crate) const fn locate<const D: usize>(at: [i32; D]) -> (usize, [i32; D]) {
    let (mut toward, mut local, mut a) = ([0; D], [0; D], 0);
    while a < D {
        (toward[a], local[a]) = (at[a] >> 2, at[a] & 3);
        a += 1;
    }
    (dims::direction(toward), local)
}

/// The cut links of a cell.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Links {
    /// Bits of their directions.
    pub(crate) directions: u32,
    /// The place of the first one.
    first: usize,
}

impl Links {
    /// The place of the link in a direction, where it is cut.
    #[inline]
    pub(crate) fn place(self, direction: usize) -> Option<usize> {
        let before = self.directions & ((1 << direction) - 1);
        (self.directions >> direction & 1 == 1).then(|| self.first + before.count_ones() as usize)
    }

    /// Directions and places, in ascending order.
    pub(crate) fn places(self) -> impl Iterator<Item = (usize, usize)> {
        bits(u64::from(self.directions)).zip(self.first..)
    }
}

impl<const D: usize> Level<D, Host> {
    /// What lies a step away: a slot of the level or what `neighbors` has in its place, and the cell there.
    #[inline]
    pub(crate) fn step_from(&self, at: At<D>, step: [i32; D]) -> (u32, At<D>) {
        let mut to = at.local;
        for a in 0..D {
            to[a] += step[a];
        }
        let (toward, local) = locate(to);
        let slot = self.neighbors[at.slot * dims::directions(D) + toward];
        let at = At {
            slot: slot as usize,
            local,
        };
        (slot, at)
    }

    /// The cut links of a cell.
    #[inline]
    pub(crate) fn links(&self, at: At<D>) -> Links {
        if at.slot >= self.special {
            return Links::default();
        }
        let (boundary, cell) = (self.boundary[at.slot], at.cell());
        if boundary >> cell & 1 == 0 {
            return Links::default();
        }
        let rank = (boundary & ((1 << cell) - 1)).count_ones();
        let entry = self.cells[(self.cell_start[at.slot] + rank) as usize];
        let (directions, first) = unpack_cell(entry);
        Links {
            directions,
            first: first as usize,
        }
    }

    /// The point at a share of a cell's link of velocity `c`, in root cells from the lower corner of the box.
    #[inline]
    pub(crate) fn point(&self, at: At<D>, c: [i32; D], share: f64) -> [f64; D] {
        let dx = 1.0 / f64::from(1u32 << self.index);
        let block = self.coord[at.slot];
        std::array::from_fn(|a| {
            dx * (f64::from(4 * block[a] + at.local[a]) + 0.5 + share * f64::from(c[a]))
        })
    }
}
