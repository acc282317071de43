//! Values between levels: density, momentum and non-equilibrium stress, interpolated to ghost cells and averaged back.
//!
//! Populations are made anew from these as collision leaves them, and the collision of cells that exchange
//! leaves nothing else of odd order. The stress is rescaled before collision (Dupuis & Chopard 2003),
//! so that nothing depends on how far from 1 the relaxation time is, and ten numbers travel in place of 19 or
//! 27. Values are the means of their cells: a coarse cell's is the mean of its children, exactly, and interpolation
//! makes children whose mean is the coarse cell's.

use super::{
    cell::{At, step_from},
    collide,
};
use crate::{
    kernels::{Arrival, Between, exchanged},
    lattice::{Lattice, cubic_shares},
    real::Real,
    tables::Level,
};
use cutlink_amr::{NONE, dims};
use cutlink_device::Host;
use rayon::prelude::*;

/// The ten numbers of a cell, six in the plane.
type Values<T> = [T; 10];

/// Populations after collision, of values before it that are this level's.
fn populations<const D: usize, L: Lattice, T: Real>(
    values: &Values<T>,
    to: &Arrival<T>,
    mut put: impl FnMut(usize, T),
) {
    let density = T::of(1.0) + values[0];
    let u: [T; 3] = std::array::from_fn(|a| match a < D {
        true => values[1 + a] / density,
        false => T::of(0.0),
    });
    let stress = &values[1 + D..];
    let cubic = match to.regularized {
        1 => collide::third_order(density, u, &in_space::<D, T>(stress), to.keep),
        _ => [T::of(0.0); 7],
    };
    for q in 0..L::Q {
        let c: [T; D] = std::array::from_fn(|a| T::of(f64::from(L::C[q][a])));
        let (mut along, mut square, mut pull, mut trace, mut push) =
            (T::of(0.0), T::of(0.0), T::of(0.0), T::of(0.0), T::of(0.0));
        let mut n = 0;
        for a in 0..D {
            along += c[a] * u[a];
            square += u[a] * u[a];
            push += c[a] * to.half_step[a];
            trace += stress[n];
            for b in a..D {
                let twice = if a == b { T::of(1.0) } else { T::of(2.0) };
                pull += twice * c[a] * c[b] * stress[n];
                n += 1;
            }
        }
        let mut f = values[0]
            + density
                * (T::of(3.0) * (along + push) + T::of(4.5) * along * along - T::of(1.5) * square)
            + to.keep * (T::of(4.5) * pull - T::of(1.5) * trace);
        for (share, cubic) in cubic_shares::<L>(q).into_iter().zip(cubic) {
            f += T::of(share) * cubic;
        }
        put(q, T::of(L::W[q]) * f);
    }
}

/// xx, xy, xz, yy, yz, zz of what levels exchange, in the plane with zeros.
fn in_space<const D: usize, T: Real>(stress: &[T]) -> [T; 6] {
    let none = T::of(0.0);
    match *stress {
        [xx, xy, yy, ..] if D == 2 => [xx, xy, none, yy, none, none],
        [xx, xy, xz, yy, yz, zz, ..] => [xx, xy, xz, yy, yz, zz],
        _ => [none; 6],
    }
}

/// Weights of the cells at -2..=2 for the half of the middle one that lies up, by what there is, so
/// that the mean of both halves is the cell's value: the parabola that has the means of three cells, else the
/// line that has those of two.
fn weights(cubic: bool, there: [bool; 5]) -> [f64; 5] {
    match (cubic, there) {
        (true, [_, true, _, true, _]) => [0.0, -0.125, 1.0, 0.125, 0.0],
        (true, [_, false, _, true, true]) => [0.0, 0.0, 0.625, 0.5, -0.125],
        (true, [true, true, _, false, _]) => [0.125, -0.5, 1.375, 0.0, 0.0],
        (_, [.., true, _]) => [0.0, 0.0, 0.75, 0.25, 0.0],
        (_, [_, true, ..]) => [0.0, -0.25, 1.25, 0.0, 0.0],
        _ => [0.0, 0.0, 1.0, 0.0, 0.0],
    }
}

/// A level's exchanged values.
struct Source<'a, const D: usize, T> {
    level: &'a Level<D, Host>,
    moments: &'a [T],
}

impl<const D: usize, T: Real> Source<'_, D, T> {
    /// The exchanging cell so many steps away, if there is one.
    fn at(&self, at: At<D>, step: [i32; D]) -> Option<At<D>> {
        let (slot, to) = step_from(self.level, at, step);
        ((slot as usize) < self.level.exchanging).then_some(to)
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

    /// Values of the child of a cell that lies to the given side on each axis.
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
            if let Some(cell) = self.at(at, std::array::from_fn(|a| bits[a] * side[a]))
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

    /// The product of [`weights`] on each axis; `None` where a cell of it is missing or solid.
    fn product(&self, at: At<D>, side: [i32; D], cubic: bool) -> Option<Values<T>> {
        let mut axes = [[0.0; 5]; D];
        for a in 0..D {
            let there = |steps: i32| {
                let mut step = [0; D];
                step[a] = steps * side[a];
                self.at(at, step).is_some()
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
            let cell = self.at(at, std::array::from_fn(|a| (offset[a] - 2) * side[a]))?;
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
        ..
    } = *between;
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
                    local: dims::above(child, local),
                };
                let mut values = source.near(at, local.map(|c| 2 * (c & 1) - 1), cubic);
                between.to.rescale::<D>(&mut values);
                populations::<D, L, T>(&values, &between.to, |q, f| to[q * cells + cell] = f);
            }
        });
}

pub(super) fn average<const D: usize, L: Lattice, T: Real>(
    between: &Between<'_, D, T, Host>,
    fine_moments: &[T],
    to: &mut [T],
    moments: &mut [T],
) {
    let Between { coarse, fine, .. } = *between;
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
                let mut values = [T::of(0.0); 10];
                let mut count = 0.0;
                for corner in 0..dims::children(D) {
                    let (child, local) = dims::below(local, dims::unravel::<D>(corner, 2));
                    let at = At {
                        slot: shell as usize * dims::children(D) + child,
                        local,
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
                values = values.map(|value| value * mean);
                between.to.rescale::<D>(&mut values);
                for n in 0..exchanged(D) {
                    moments[n * cells + cell] = values[n];
                }
                populations::<D, L, T>(&values, &between.to, |q, f| to[q * cells + cell] = f);
            }
        });
}
