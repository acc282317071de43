//! Density and velocity from populations.

use super::cell::sums;
use crate::{lattice::Lattice, real::Real, tables::Level};
use cutlink_amr::dims;
use cutlink_device::Host;
use rayon::prelude::*;
use std::ops::Range;

#[allow(clippy::cast_possible_truncation, reason = "f32 is what reports hold")]
pub(super) fn macroscopic<const D: usize, L: Lattice, T: Real>(
    level: &Level<D, Host>,
    slots: Range<usize>,
    half_step: [T; 3],
    from: &[T],
) -> Vec<f32> {
    let cells = dims::cells(D);
    let mut out = vec![0.0f32; slots.len() * (1 + D) * cells];
    out.par_chunks_mut((1 + D) * cells)
        .zip(slots)
        .for_each(|(out, slot)| {
            for cell in 0..cells {
                if level.solid[slot] >> cell & 1 == 1 {
                    out[cell] = 1.0;
                    continue;
                }
                let (rho, j) = sums::<D, L, T>(from, slot, cell);
                let density = T::of(1.0) + rho;
                out[cell] = density.wide() as f32;
                for a in 0..D {
                    // After collision half a step of the acceleration too much is in the momentum.
                    out[(1 + a) * cells + cell] = (j[a] / density - half_step[a]).wide() as f32;
                }
            }
        });
    out
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "f32 is enough to tell sound from nonsense"
)]
pub(super) fn fastest<const D: usize, L: Lattice, T: Real>(
    level: &Level<D, Host>,
    from: &[T],
) -> Vec<f32> {
    let speed = |slot: usize| {
        let stepped = level.stepped[slot] & !level.ghost[slot];
        let cells = (0..dims::cells(D)).filter(|cell| stepped >> cell & 1 == 1);
        cells.fold(0.0f32, |most, cell| {
            let (rho, j) = sums::<D, L, T>(from, slot, cell);
            let density = 1.0 + rho.wide();
            let square: f64 = j.iter().map(|j| (j.wide() / density).powi(2)).sum();
            if square.is_finite() && density > 0.0 {
                most.max(square as f32)
            } else {
                f32::INFINITY
            }
        })
    };
    (0..level.slots).into_par_iter().map(speed).collect()
}
