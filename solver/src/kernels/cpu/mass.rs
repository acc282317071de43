//! The mass of a level, and all its densities times a factor.

use super::{
    cell::{bits, sums},
    order::Order,
};
use crate::{lattice::Lattice, real::Real, tables::Level};
use cutlink_amr::dims;
use cutlink_device::Host;
use rayon::prelude::*;

pub(super) fn mass<const D: usize, L: Lattice, T: Real>(
    level: &Level<D, Host>,
    from: &[T],
) -> Vec<f64> {
    let of_slot = |slot: usize| -> f64 {
        bits(level.stepped[slot] & !level.ghost[slot])
            .map(|cell| sums::<D, L, T>(from, slot, cell).0.wide())
            .sum()
    };
    (0..level.slots).into_par_iter().map(of_slot).collect()
}

pub(super) fn rescale<const D: usize, L: Lattice, T: Real>(factor: f64, populations: &mut [T]) {
    let cells = dims::cells(D);
    populations.par_chunks_mut(L::Q * cells).for_each(|block| {
        for q in 0..L::Q {
            let added = T::of(L::W[q] * (factor - 1.0));
            for cell in 0..cells {
                let f = &mut block[Order::<L>::of(q, cell)];
                *f = *f * T::of(factor) + added;
            }
        }
    });
}
