//! Sponges: populations drawn to a given density and velocity by the difference of two equilibria.

use super::{BLOCK, LAYER, faces::equilibrium, order::Order};
use crate::{
    kernels::exchanged, lattice::Lattice, sponge::Damped, storage::Storage, tables::Level,
};
use cutlink_amr::dims;
use cutlink_device::{Host, Real};
use rayon::prelude::*;

/// Rows of some slots, which are in ascending order.
pub(super) fn rows<'a, T>(mut rest: &'a mut [T], row: usize, slots: &[u32]) -> Vec<&'a mut [T]> {
    let mut first = 0;
    let of_slot = |&slot: &u32| {
        let (_, from) = std::mem::take(&mut rest).split_at_mut((slot as usize - first) * row);
        let (block, behind) = from.split_at_mut(row);
        (rest, first) = (behind, slot as usize + 1);
        block
    };
    slots.iter().map(of_slot).collect()
}

pub(super) fn damp<const D: usize, L: Lattice, S: Storage>(
    level: &Level<D, Host>,
    damped: &Damped<Host>,
    half_step: [S::Real; 3],
    populations: &mut [S],
    moments: &mut [S::Real],
) {
    let cells = dims::cells(D);
    let shared = damped
        .slots
        .partition_point(|&slot| (slot as usize) < level.exchanging);
    let blocks = rows(populations, L::Q * cells, &damped.slots);
    let moments = rows(moments, exchanged(D) * cells, &damped.slots[..shared]);
    let moments = moments.into_iter().map(Some);
    let mut work: Vec<_> = blocks
        .into_iter()
        .zip(moments.chain(std::iter::repeat_with(|| None)))
        .zip(damped.rate.chunks_exact(cells))
        .collect();
    let target = Target {
        rho: S::Real::of(level.rules[damped.density].density - 1.0),
        u: level.rules[damped.velocity].velocity.map(S::Real::of),
        half_step,
    };
    work.par_iter_mut()
        .for_each(|((f, moments), rate)| target.draw::<D, L, S>(rate, f, moments.as_deref_mut()));
}

/// Where the flow is drawn to.
struct Target<T> {
    /// Density less 1.
    rho: T,
    u: [T; 3],
    /// Half a step of the acceleration, of which there is too much in the momentum after collision.
    half_step: [T; 3],
}

impl<T: Real> Target<T> {
    /// Draws the cells of a block, and what they exchange.
    fn draw<const D: usize, L: Lattice, S: Storage<Real = T>>(
        &self,
        rate: &[f32],
        f: &mut [S],
        moments: Option<&mut [T]>,
    ) {
        let cells = dims::cells(D);
        let none = T::of(0.0);
        let layers = cells / LAYER;
        let (mut rho, mut u) = ([none; BLOCK], [[none; BLOCK]; D]);
        for q in 0..L::Q {
            for layer in 0..layers {
                let row = &f[Order::<L>::row(q, layer)..][..LAYER];
                for (n, f) in row.iter().enumerate() {
                    let f = f.load();
                    rho[layer * LAYER + n] += f;
                    for a in 0..D {
                        u[a][layer * LAYER + n] += T::of(f64::from(L::C[q][a])) * f;
                    }
                }
            }
        }
        for cell in 0..cells {
            let inverse = T::of(1.0) / (T::of(1.0) + rho[cell]);
            for a in 0..D {
                u[a][cell] = u[a][cell] * inverse - self.half_step[a];
            }
        }
        let to: [T; D] = std::array::from_fn(|a| self.u[a]);
        for q in 0..L::Q {
            let drawn = equilibrium::<D, L, T>(q, (self.rho, to));
            for layer in 0..layers {
                let row = &mut f[Order::<L>::row(q, layer)..][..LAYER];
                for (n, f) in row.iter_mut().enumerate() {
                    let cell = layer * LAYER + n;
                    let own = std::array::from_fn(|a| u[a][cell]);
                    let own = equilibrium::<D, L, T>(q, (rho[cell], own));
                    let changed = f.load() - T::of(f64::from(rate[cell])) * (own - drawn);
                    *f = S::store_change(changed, BLOCK * q + cell);
                }
            }
        }
        let Some(moments) = moments else { return };
        for cell in 0..cells {
            let share = T::of(f64::from(rate[cell]));
            moments[cell] -= share * (rho[cell] - self.rho);
            for a in 0..D {
                let own = (T::of(1.0) + rho[cell]) * u[a][cell];
                let drawn = (T::of(1.0) + self.rho) * to[a];
                let j = &mut moments[(1 + a) * cells + cell];
                *j -= share * (own - drawn);
            }
        }
    }
}
