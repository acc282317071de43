//! Density and velocity from populations.

use super::{LAYER, cell::sums, order::Order, processor::AnyProcessor};
use crate::{lattice::Lattice, storage::Storage, tables::Level};
use cutlink_amr::dims;
use cutlink_device::{Host, Real};
use rayon::prelude::*;

pub(super) fn macroscopic<const D: usize, L: Lattice, S: Storage>(
    level: &Level<D, Host>,
    slots: impl IndexedParallelIterator<Item = usize>,
    half_step: [S::Real; 3],
    from: &[S],
) -> Vec<f32> {
    let size = (1 + D) * dims::cells(D);
    let mut out = vec![0.0f32; slots.len() * size];
    let each = out.par_chunks_mut(size).zip(slots);
    each.for_each(|(out, slot)| of_slot::<D, L, S>(level, slot, half_step, from, out));
    out
}

/// Density and velocity of a slot's cells, to zeros.
#[allow(clippy::cast_possible_truncation, reason = "f32 is what reports hold")]
fn of_slot<const D: usize, L: Lattice, S: Storage>(
    level: &Level<D, Host>,
    slot: usize,
    half_step: [S::Real; 3],
    from: &[S],
    out: &mut [f32],
) {
    let cells = dims::cells(D);
    for layer in 0..cells / LAYER {
        let (rho, j) = sums_of_layer::<D, L, S>(from, slot, layer);
        for (place, rho) in rho.into_iter().enumerate() {
            let cell = layer * LAYER + place;
            if level.solid[slot] >> cell & 1 == 1 {
                out[cell] = 1.0;
                continue;
            }
            let density = S::Real::of(1.0) + rho;
            out[cell] = density.wide() as f32;
            for a in 0..D {
                // After collision half a step of the acceleration too much is in the momentum.
                let u = j[a][place] / density - half_step[a];
                out[(1 + a) * cells + cell] = u.wide() as f32;
            }
        }
    }
}

/// [`sums`] of the cells of a layer, in the same order.
pub(super) fn sums_of_layer<const D: usize, L: Lattice, S: Storage>(
    from: &[S],
    slot: usize,
    layer: usize,
) -> ([S::Real; LAYER], [[S::Real; LAYER]; D]) {
    let none = S::Real::of(0.0);
    let (mut rho, mut j) = ([none; LAYER], [[none; LAYER]; D]);
    let mut spare = [none; LAYER];
    for q in 0..L::Q {
        let at = slot * L::Q * dims::cells(D) + Order::<L>::row(q, layer);
        let row: &[S; LAYER] = from[at..].first_chunk().expect("populations of a layer");
        let row = S::widen(AnyProcessor, row, &mut spare);
        for (rho, &f) in rho.iter_mut().zip(row) {
            *rho += f;
        }
        for (j, &c) in j.iter_mut().zip(&L::C[q]) {
            if c != 0 {
                let c = S::Real::of(f64::from(c));
                for (j, &f) in j.iter_mut().zip(row) {
                    *j += c * f;
                }
            }
        }
    }
    (rho, j)
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "f32 is enough to tell sound from nonsense"
)]
pub(super) fn fastest<const D: usize, L: Lattice, S: Storage>(
    level: &Level<D, Host>,
    from: &[S],
) -> Vec<f32> {
    let speed = |slot: usize| {
        let stepped = level.stepped[slot] & !level.ghost[slot];
        let cells = (0..dims::cells(D)).filter(|cell| stepped >> cell & 1 == 1);
        cells.fold(0.0f32, |most, cell| {
            let (rho, j) = sums::<D, L, S>(from, slot, cell);
            let density = 1.0 + rho.wide();
            let square: f64 = j.iter().map(|j| (j.wide() / density).powi(2)).sum();
            if square.is_finite() && density.is_finite() && density > 0.0 {
                most.max(square as f32)
            } else {
                f32::INFINITY
            }
        })
    };
    (0..level.slots).into_par_iter().map(speed).collect()
}
