//! Momentum of cells, and the weight that temperatures give them.

use super::{BLOCK, LAYER, macroscopic::sums_of_layer, order::Order};
use crate::{heat::tables::HeatTables, lattice::Lattice, storage::Storage};
use cutlink_amr::dims;
use cutlink_device::{Host, Real};
use rayon::prelude::*;

pub(super) fn momentum<const D: usize, L: Lattice, S: Storage>(
    half_step: [S::Real; 3],
    from: &[S],
    to: &mut [f64],
) {
    let cells = dims::cells(D);
    let each = to.par_chunks_mut(D * cells).enumerate();
    each.for_each(|(slot, to)| {
        for layer in 0..cells / LAYER {
            let (rho, j) = sums_of_layer::<D, L, S>(from, slot, layer);
            for a in 0..D {
                let row = &mut to[a * cells + LAYER * layer..][..LAYER];
                for (n, to) in row.iter_mut().enumerate() {
                    // After collision half a step of the acceleration too much is in the momentum.
                    let density = S::Real::of(1.0) + rho[n];
                    *to = (j[a][n] - density * half_step[a]).wide();
                }
            }
        }
    });
}

pub(super) fn lift<const D: usize, L: Lattice, S: Storage>(
    tables: &HeatTables<Host>,
    lift: [f64; 3],
    temperature: &[f64],
    populations: &mut [S],
) {
    let cells = dims::cells(D);
    populations
        .par_chunks_mut(L::Q * cells)
        .zip(temperature.par_chunks(cells))
        .zip(&tables.there)
        .for_each(|((f, t), &there)| {
            for layer in 0..cells / LAYER {
                let there = there >> (LAYER * layer) & 0xffff;
                if there != 0 {
                    of_layer::<D, L, S>(layer, there, lift, &t[LAYER * layer..][..LAYER], f);
                }
            }
        });
}

/// Adds the difference of the equilibria with and without the weight to some cells of a layer.
fn of_layer<const D: usize, L: Lattice, S: Storage>(
    layer: usize,
    there: u64,
    lift: [f64; 3],
    t: &[f64],
    f: &mut [S],
) {
    let of = |value: f64| S::Real::of(value);
    let none = of(0.0);
    let (rho, j) = sums_of_layer::<D, L, S>(f, 0, layer);
    // Force a = ρ g, and the momentum halfway.
    let (mut force, mut middle, mut along) =
        ([[none; LAYER]; D], [[none; LAYER]; D], [none; LAYER]);
    for n in 0..LAYER {
        if there >> n & 1 == 0 {
            continue;
        }
        for a in 0..D {
            force[a][n] = (of(1.0) + rho[n]) * of(lift[a] * t[n]);
            middle[a][n] = (j[a][n] + of(0.5) * force[a][n]) / (of(1.0) + rho[n]);
            along[n] += force[a][n] * middle[a][n];
        }
    }
    for q in 0..L::Q {
        let row = Order::<L>::row(q, layer);
        for (n, f) in f[row..row + LAYER].iter_mut().enumerate() {
            let (mut push, mut drift) = (none, none);
            for a in 0..D {
                let c = of(f64::from(L::C[q][a]));
                push += c * force[a][n];
                drift += c * middle[a][n];
            }
            let change = of(3.0) * push + of(9.0) * (push * drift) - of(3.0) * along[n];
            let changed = f.load() + of(L::W[q]) * change;
            *f = S::store_change(changed, BLOCK * q + LAYER * layer + n);
        }
    }
}
