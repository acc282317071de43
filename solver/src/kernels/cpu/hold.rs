//! Cells in and beside grains; `cuda/hold.cu` has the same.

use super::{
    BLOCK, LAYER, damp::rows, faces::equilibrium, macroscopic::sums_of_layer, order::Order,
};
use crate::{
    kernels::{HeldSphere, HoldNumbers, HoldTables, nearest_image},
    lattice::Lattice,
    storage::Storage,
    tables::Level,
};
use cutlink_amr::dims;
use cutlink_device::{Host, Real};
use rayon::prelude::*;

/// How a grain draws a cell.
struct Draw {
    /// How strongly, a step; infinite in the grain.
    rate: f64,
    /// The velocity of the grain there.
    velocity: [f64; 3],
    /// From the centre to the cell.
    arm: [f64; 3],
}

/// How a grain draws the cell with its centre at a place; none if it does not.
fn draw(sphere: &HeldSphere, numbers: &HoldNumbers, at: [f64; 3]) -> Option<Draw> {
    let arm: [f64; 3] =
        std::array::from_fn(|a| nearest_image(at[a] - sphere.center[a], numbers.period[a]));
    let square = arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2];
    let r = sphere.radius - numbers.inset;
    let mut rate = 0.0;
    if square < r * r {
        rate = f64::INFINITY;
    } else if square < (r + 1.0) * (r + 1.0) {
        for x in arm.map(f64::abs) {
            // The square of half the chord along the axis through the cell, and whether the next cell is on it.
            let chord = r * r - (square - x * x);
            if (x - 1.0) * (x - 1.0) < chord {
                let q = x - chord.sqrt();
                rate += numbers.viscosity * (1.0 / q.max(1e-9) - 1.0);
            }
        }
    }
    (rate > 0.0).then(|| {
        let (u, w) = (sphere.velocity, sphere.spin);
        let velocity = [
            u[0] + w[1] * arm[2] - w[2] * arm[1],
            u[1] + w[2] * arm[0] - w[0] * arm[2],
            u[2] + w[0] * arm[1] - w[1] * arm[0],
        ];
        Draw {
            rate,
            velocity,
            arm,
        }
    })
}

pub(super) fn hold_cells<const D: usize, L: Lattice, S: Storage>(
    level: &Level<D, Host>,
    tables: &HoldTables<Host>,
    (spheres, numbers): (&[HeldSphere], &HoldNumbers),
    half_step: [S::Real; 3],
    populations: &mut [S],
    given: &mut [f64],
) {
    given.fill(0.0);
    let blocks = rows(populations, L::Q * dims::cells(D), &tables.slots);
    let (mut rest, mut work) = (given, Vec::with_capacity(blocks.len()));
    for (n, f) in blocks.into_iter().enumerate() {
        let pairs = tables.starts[n] as usize..tables.starts[n + 1] as usize;
        let (own, behind) = std::mem::take(&mut rest).split_at_mut(6 * pairs.len());
        rest = behind;
        work.push((tables.slots[n] as usize, &tables.grains[pairs], f, own));
    }
    work.par_iter_mut().for_each(|(slot, grains, f, given)| {
        let of: Vec<&HeldSphere> = grains.iter().map(|k| &spheres[*k as usize]).collect();
        for layer in 0..dims::cells(D) / LAYER {
            let there = level.stepped[*slot] >> (LAYER * layer) & 0xffff;
            let at = |n: usize| {
                let local = dims::unravel::<D>(LAYER * layer + n, 4);
                std::array::from_fn(|a| match a < D {
                    true => f64::from(4 * level.coord[*slot][a] + local[a]) + 0.5,
                    false => 0.0,
                })
            };
            let found = |n: usize, k: usize| draw(of[k], numbers, at(n));
            of_layer::<D, L, S>(layer, there, (of.len(), &found), half_step, f, given);
        }
    });
}

/// What draws a cell.
#[derive(Clone, Copy)]
enum Drawn {
    Nothing,
    /// A grain, in which it is, whose velocity there it gets.
    Held(usize, [f64; 3]),
    /// Grains beside it: the sum of their rates, and of rates times velocities.
    Beside(f64, [f64; 3]),
}

/// What draws a cell of those of `count` grains that do.
fn drawn_by(count: usize, found: impl Fn(usize) -> Option<Draw>) -> Drawn {
    let mut drawn = Drawn::Nothing;
    for k in 0..count {
        let Some(of) = found(k) else { continue };
        if of.rate == f64::INFINITY {
            return Drawn::Held(k, of.velocity);
        }
        let (total, push) = match drawn {
            Drawn::Beside(total, push) => (total, push),
            _ => (0.0, [0.0; 3]),
        };
        let push = std::array::from_fn(|a| push[a] + of.rate * of.velocity[a]);
        drawn = Drawn::Beside(total + of.rate, push);
    }
    drawn
}

/// Draws cells of a layer to the grains that do so, and adds what each gave.
fn of_layer<const D: usize, L: Lattice, S: Storage>(
    layer: usize,
    there: u64,
    (count, found): (usize, &impl Fn(usize, usize) -> Option<Draw>),
    half_step: [S::Real; 3],
    f: &mut [S],
    given: &mut [f64],
) {
    let all: [Drawn; LAYER] = std::array::from_fn(|n| match there >> n & 1 == 1 {
        true => drawn_by(count, |k| found(n, k)),
        false => Drawn::Nothing,
    });
    if all.iter().all(|of| matches!(of, Drawn::Nothing)) {
        return;
    }
    let (rho, j) = sums_of_layer::<D, L, S>(f, 0, layer);
    let none = [S::Real::of(0.0); LAYER];
    let (mut own, mut to) = ([none; D], [none; D]);
    for n in 0..LAYER {
        let density = S::Real::of(1.0) + rho[n];
        let u: [f64; D] = std::array::from_fn(|a| (j[a][n] / density - half_step[a]).wide());
        let drawn: [f64; D] = std::array::from_fn(|a| match all[n] {
            Drawn::Nothing => u[a],
            Drawn::Held(_, velocity) => velocity[a],
            Drawn::Beside(total, push) => (u[a] + push[a]) / (1.0 + total),
        });
        for a in 0..D {
            (own[a][n], to[a][n]) = (S::Real::of(u[a]), S::Real::of(drawn[a]));
        }
        let holder = match all[n] {
            Drawn::Nothing => continue,
            Drawn::Held(k, _) => Some(k),
            Drawn::Beside(..) => None,
        };
        for k in (0..count).filter(|k| holder.is_none_or(|holder| holder == *k)) {
            let Some(of) = found(n, k) else { continue };
            let gains: [f64; D] = std::array::from_fn(|a| match holder {
                Some(_) => drawn[a] - u[a],
                None => of.rate * (of.velocity[a] - drawn[a]),
            });
            add(
                &of.arm,
                gains.map(|u| u * density.wide()),
                &mut given[6 * k..][..6],
            );
        }
    }
    for q in 0..L::Q {
        let row = Order::<L>::row(q, layer);
        for (n, f) in f[row..row + LAYER].iter_mut().enumerate() {
            let [u, v] = [&own, &to].map(|of| std::array::from_fn(|a| of[a][n]));
            let change = equilibrium::<D, L, S::Real>(q, (rho[n], v))
                - equilibrium::<D, L, S::Real>(q, (rho[n], u));
            *f = S::store_change(f.load() + change, BLOCK * q + LAYER * layer + n);
        }
    }
}

/// Adds a momentum at the end of an arm, and its moment.
fn add<const D: usize>(arm: &[f64; 3], momentum: [f64; D], to: &mut [f64]) {
    let m: [f64; 3] = std::array::from_fn(|a| momentum.get(a).copied().unwrap_or(0.0));
    let [x, y, z] = *arm;
    let moment = [
        y * m[2] - z * m[1],
        z * m[0] - x * m[2],
        x * m[1] - y * m[0],
    ];
    to.iter_mut()
        .zip(m.iter().chain(&moment))
        .for_each(|(to, of)| *to += of);
}

pub(super) fn sum_given(tables: &HoldTables<Host>, given: &[f64], sums: &mut [f64]) {
    let each = sums.par_chunks_mut(6).zip(tables.firsts.par_windows(2));
    each.for_each(|(sums, range)| {
        sums.fill(0.0);
        for &pair in &tables.pairs[range[0] as usize..range[1] as usize] {
            let of = &given[6 * pair as usize..][..6];
            sums.iter_mut().zip(of).for_each(|(sum, of)| *sum += of);
        }
    });
}
