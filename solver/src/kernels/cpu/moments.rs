//! Density and velocity of the cells that ghost cells and moving walls take them from: worked out once a cell, though each of them
//! serves several populations.

use super::cell::View;
use crate::{lattice::Lattice, storage::Storage, tables::At};
use cutlink_device::Real;

/// Most cells of a block and of those around it, one deep: 6^D.
const HALO: usize = 216;

/// Density less 1 and velocity.
pub(super) type State<const D: usize, T> = (T, [T; D]);

/// Moments of cells of a block and around it, by place in 6^D cells, filled on demand.
pub(super) struct Moments<const D: usize, T> {
    values: [State<D, T>; HALO],
    known: [u64; HALO.div_ceil(64)],
}

impl<const D: usize, T: Real> Moments<D, T> {
    pub(super) fn new() -> Self {
        Self {
            values: [(T::of(0.0), [T::of(0.0); D]); HALO],
            known: [0; 4],
        }
    }

    /// Forgets all, for another block or other populations.
    pub(super) fn clear(&mut self) {
        self.known = [0; 4];
    }

    /// The place of the cell a step away from a cell of the block.
    fn place(local: [i32; D], step: [i32; D]) -> usize {
        (0..D)
            .rev()
            .fold(0, |place, a| 6 * place + (local[a] + step[a] + 1) as usize)
    }
}

impl<const D: usize, L: Lattice, T: Real, S: Storage<Real = T>> View<'_, D, L, S> {
    /// The moments of `near`, the cell a `step` away from a cell of the block that `moments` are of.
    pub(super) fn moments_near(
        &self,
        at: At<D>,
        step: [i32; D],
        near: At<D>,
        moments: &mut Moments<D, T>,
    ) -> State<D, T> {
        let place = Moments::<D, T>::place(at.local, step);
        let (word, bit) = (place / 64, 1 << (place % 64));
        if moments.known[word] & bit == 0 {
            moments.known[word] |= bit;
            moments.values[place] = self.moments(near);
        }
        moments.values[place]
    }
}
