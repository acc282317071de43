//! The mass of a level, and all its densities times a factor.

use super::{BLOCK, cell::sums, order::Order};
use crate::{
    lattice::Lattice,
    storage::Storage,
    tables::{Level, bits},
};
use cutlink_amr::dims;
use cutlink_device::{Host, Real};
use rayon::prelude::*;

pub(super) fn mass<const D: usize, L: Lattice, S: Storage>(
    level: &Level<D, Host>,
    from: &[S],
) -> Vec<f64> {
    let of_slot = |slot: usize| -> f64 {
        bits(level.stepped[slot] & !level.ghost[slot])
            .map(|cell| sums::<D, L, S>(from, slot, cell).0.wide())
            .sum()
    };
    (0..level.slots).into_par_iter().map(of_slot).collect()
}

pub(super) fn rescale<const D: usize, L: Lattice, S: Storage>(factor: f64, populations: &mut [S]) {
    let cells = dims::cells(D);
    populations.par_chunks_mut(L::Q * cells).for_each(|block| {
        for q in 0..L::Q {
            let added = S::Real::of(L::W[q] * (factor - 1.0));
            for cell in 0..cells {
                let f = &mut block[Order::<L>::of(q, cell)];
                let changed = f.load() * S::Real::of(factor) + added;
                *f = S::store_change(changed, BLOCK * q + cell);
            }
        }
    });
}
