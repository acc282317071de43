//! Values between levels: density, momentum and non-equilibrium stress, interpolated to ghost cells and averaged back.
//!
//! Populations are made anew from these: equilibrium and what collision leaves of the second-order
//! non-equilibrium, rescaled (Dupuis & Chopard 2003; the regularized form: Latt & Chopard 2006). So
//! nothing depends on how far from 1 the relaxation time is, and ten numbers travel in place of 19 or 27.

use super::cell::At;
use crate::{
    kernels::{Between, exchanged},
    lattice::Lattice,
    real::Real,
    tables::Level,
};
use cutlink_amr::{NONE, OUTSIDE, dims};
use cutlink_device::Host;
use rayon::prelude::*;

/// The ten numbers of a cell, six in the plane.
type Values<T> = [T; 10];

/// Populations after collision: `keep` times the given stress is what collision leaves of it.
fn populations<const D: usize, L: Lattice, T: Real>(
    values: &Values<T>,
    keep: T,
    half_step: [T; 3],
    mut put: impl FnMut(usize, T),
) {
    let density = T::of(1.0) + values[0];
    let u: [T; D] = std::array::from_fn(|a| values[1 + a] / density);
    for q in 0..L::Q {
        let c: [T; D] = std::array::from_fn(|a| T::of(f64::from(L::C[q][a])));
        let (mut along, mut square, mut stress, mut trace, mut push) =
            (T::of(0.0), T::of(0.0), T::of(0.0), T::of(0.0), T::of(0.0));
        let mut n = 1 + D;
        for a in 0..D {
            along += c[a] * u[a];
            square += u[a] * u[a];
            push += c[a] * half_step[a];
            trace += values[n];
            for b in a..D {
                let twice = if a == b { T::of(1.0) } else { T::of(2.0) };
                stress += twice * c[a] * c[b] * values[n];
                n += 1;
            }
        }
        let equilibrium = values[0]
            + density
                * (T::of(3.0) * (along + push) + T::of(4.5) * along * along - T::of(1.5) * square);
        put(
            q,
            T::of(L::W[q]) * (equilibrium + keep * (T::of(4.5) * stress - T::of(1.5) * trace)),
        );
    }
}

/// Weights of the cells at -2..=2 for a place a quarter of a cell above the middle one, by what there
/// is: Lagrange's through four cells, else through three or two.
fn weights(cubic: bool, there: [bool; 5]) -> [f64; 5] {
    let nodes: &[i32] = match (cubic, there) {
        (true, [_, true, _, true, true]) => &[-1, 0, 1, 2],
        (true, [_, true, _, true, false]) => &[-1, 0, 1],
        (true, [_, false, _, true, true]) => &[0, 1, 2],
        (true, [true, true, _, false, _]) => &[-2, -1, 0],
        (_, [.., true, _]) => &[0, 1],
        (_, [_, true, _, _, _]) => &[-1, 0],
        _ => &[0],
    };
    let mut weights = [0.0; 5];
    for &i in nodes {
        let factors = nodes.iter().filter(|&&k| k != i);
        weights[(i + 2) as usize] = factors
            .map(|&k| (0.25 - f64::from(k)) / f64::from(i - k))
            .product();
    }
    weights
}

/// A level's exchanged values.
struct Source<'a, const D: usize, T> {
    level: &'a Level<D, Host>,
    moments: &'a [T],
}

impl<const D: usize, T: Real> Source<'_, D, T> {
    /// The exchanging cell so many steps away: its slot and place; or whether that is beyond the box.
    fn at(&self, at: At<D>, step: [i32; D]) -> Result<At<D>, bool> {
        let to: [i32; D] = std::array::from_fn(|a| at.local[a] + step[a]);
        let toward = dims::direction(to.map(|c| c >> 2));
        match self.level.neighbors[at.slot * dims::directions(D) + toward] {
            slot if (slot as usize) < self.level.exchanging => Ok(At {
                slot: slot as usize,
                local: to.map(|c| c & 3),
            }),
            slot => Err(slot == OUTSIDE),
        }
    }

    fn is_fluid(&self, at: At<D>) -> bool {
        self.level.solid[at.slot] >> at.cell() & 1 == 0
    }

    fn add(&self, at: At<D>, weight: T, to: &mut Values<T>) {
        let cells = dims::cells(D);
        let row = &self.moments[at.slot * exchanged(D) * cells..];
        for (n, to) in to.iter_mut().enumerate().take(exchanged(D)) {
            *to += weight * row[n * cells + at.cell()];
        }
    }

    /// Values a quarter of a cell from a cell's centre, to the given side on each axis.
    fn near(&self, at: At<D>, side: [i32; D], cubic: bool) -> Values<T> {
        if let Some(values) = self.product(at, side, cubic) {
            return values;
        }
        if let Some(values) = cubic.then(|| self.product(at, side, false)).flatten() {
            return values;
        }
        // Solid cells about: the weights of those that are fluid.
        let mut values = [T::of(0.0); 10];
        let mut sum = T::of(0.0);
        for corner in 0..dims::children(D) {
            let bits = dims::unravel::<D>(corner, 2);
            let weight = bits
                .iter()
                .map(|&b| if b == 1 { 0.25 } else { 0.75 })
                .product();
            if let Ok(cell) = self.at(at, std::array::from_fn(|a| bits[a] * side[a]))
                && self.is_fluid(cell)
            {
                self.add(cell, T::of(weight), &mut values);
                sum += T::of(weight);
            }
        }
        if sum > T::of(0.0) {
            values = values.map(|v| v / sum);
        }
        values
    }

    /// Lagrange's polynomial on each axis; `None` where a cell of it is missing or solid.
    fn product(&self, at: At<D>, side: [i32; D], cubic: bool) -> Option<Values<T>> {
        let mut axes = [[0.0; 5]; D];
        for a in 0..D {
            let there = |steps: i32| {
                let mut step = [0; D];
                step[a] = steps * side[a];
                self.at(at, step).is_ok()
            };
            axes[a] = weights(cubic, std::array::from_fn(|n| there(n as i32 - 2)));
        }
        let mut values = [T::of(0.0); 10];
        for corner in 0..5usize.pow(D as u32) {
            let offset = dims::unravel::<D>(corner, 5);
            let weight: f64 = (0..D).map(|a| axes[a][offset[a] as usize]).product();
            if weight == 0.0 {
                continue;
            }
            let cell = self
                .at(at, std::array::from_fn(|a| (offset[a] - 2) * side[a]))
                .ok()?;
            if !self.is_fluid(cell) {
                return None;
            }
            self.add(cell, T::of(weight), &mut values);
        }
        Some(values)
    }
}

pub(super) fn interpolate<const D: usize, L: Lattice, T: Real>(
    between: &Between<'_, D, T, Host>,
    moments: &[T],
    to: &mut [T],
) {
    let Between {
        coarse,
        fine,
        cubic,
        half_step,
        ..
    } = *between;
    let scale = between.rescale * between.keep;
    let cells = dims::cells(D);
    let source = Source {
        level: coarse,
        moments,
    };
    let families = &mut to[..coarse.shells.len() * dims::children(D) * L::Q * cells];
    families
        .par_chunks_mut(L::Q * cells)
        .enumerate()
        .for_each(|(slot, to)| {
            let shell = coarse.shells[slot / dims::children(D)] as usize;
            let child = dims::unravel::<D>(slot % dims::children(D), 2);
            let targets = fine.ghost[slot] & fine.stepped[slot];
            for cell in (0..cells).filter(|cell| targets >> cell & 1 == 1) {
                let local = dims::unravel::<D>(cell, 4);
                let at = At {
                    slot: shell,
                    local: std::array::from_fn(|a| 2 * child[a] + (local[a] >> 1)),
                };
                let values = source.near(at, local.map(|c| 2 * (c & 1) - 1), cubic);
                populations::<D, L, T>(&values, scale, half_step, |q, f| to[q * cells + cell] = f);
            }
        });
}

pub(super) fn average<const D: usize, L: Lattice, T: Real>(
    between: &Between<'_, D, T, Host>,
    fine_moments: &[T],
    to: &mut [T],
    moments: &mut [T],
) {
    let Between {
        coarse,
        fine,
        rescale,
        keep,
        half_step,
        ..
    } = *between;
    let cells = dims::cells(D);
    let row = exchanged(D) * cells;
    let source = Source {
        level: fine,
        moments: fine_moments,
    };
    let to = &mut to[..coarse.exchanging * L::Q * cells];
    to.par_chunks_mut(L::Q * cells)
        .zip(moments.par_chunks_mut(row))
        .enumerate()
        .for_each(|(slot, (to, moments))| {
            let shell = coarse.shell_of[slot];
            if shell == NONE {
                return;
            }
            let targets = !(coarse.stepped[slot] | coarse.solid[slot]) & dims::full_mask(D);
            for cell in (0..cells).filter(|cell| targets >> cell & 1 == 1) {
                let local = dims::unravel::<D>(cell, 4);
                let child = dims::ravel::<D>(local.map(|c| c >> 1), 2);
                let mut values = [T::of(0.0); 10];
                let mut count = 0.0;
                for corner in 0..dims::children(D) {
                    let bits = dims::unravel::<D>(corner, 2);
                    let at = At {
                        slot: shell as usize * dims::children(D) + child,
                        local: std::array::from_fn(|a| 2 * (local[a] & 1) + bits[a]),
                    };
                    if source.is_fluid(at) {
                        source.add(at, T::of(1.0), &mut values);
                        count += 1.0;
                    }
                }
                if count == 0.0 {
                    continue;
                }
                let mean = T::of(1.0 / count);
                for (n, value) in values.iter_mut().enumerate() {
                    *value = *value * mean;
                    if n > D {
                        *value = *value * rescale;
                    }
                }
                for n in 0..exchanged(D) {
                    moments[n * cells + cell] = values[n];
                }
                populations::<D, L, T>(&values, keep, half_step, |q, f| to[q * cells + cell] = f);
            }
        });
}
