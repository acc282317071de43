//! Cells in and beside grains; `cuda/hold.cu` has the same.

use super::{BLOCK, cell::sums, damp::rows, faces::equilibrium, order::Order};
use crate::{
    kernels::{HeldSphere, HoldNumbers, HoldTables},
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
    let arm: [f64; 3] = std::array::from_fn(|a| {
        let (x, period) = (at[a] - sphere.center[a], numbers.period[a]);
        if period > 0.0 {
            x - period * (x / period).round()
        } else {
            x
        }
    });
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
        let stepped = level.stepped[*slot];
        for cell in (0..dims::cells(D)).filter(|cell| stepped >> cell & 1 == 1) {
            let local = dims::unravel::<D>(cell, 4);
            let at = std::array::from_fn(|a| match a < D {
                true => f64::from(4 * level.coord[*slot][a] + local[a]) + 0.5,
                false => 0.0,
            });
            let found = |k: usize| draw(&spheres[grains[k] as usize], numbers, at);
            of_cell::<D, L, S>(cell, grains.len(), found, half_step, f, given);
        }
    });
}

/// Draws a cell to the grains that do so, and adds what each gave.
fn of_cell<const D: usize, L: Lattice, S: Storage>(
    cell: usize,
    count: usize,
    found: impl Fn(usize) -> Option<Draw>,
    half_step: [S::Real; 3],
    f: &mut [S],
    given: &mut [f64],
) {
    let (mut total, mut push, mut holder) = (0.0, [0.0; 3], None);
    for k in 0..count {
        let Some(of) = found(k) else { continue };
        if of.rate == f64::INFINITY {
            holder = Some(k);
            push = of.velocity;
            break;
        }
        total += of.rate;
        (0..3).for_each(|a| push[a] += of.rate * of.velocity[a]);
    }
    if holder.is_none() && total == 0.0 {
        return;
    }
    let (rho, j) = sums::<D, L, S>(f, 0, cell);
    let density = S::Real::of(1.0) + rho;
    let own: [S::Real; D] = std::array::from_fn(|a| j[a] / density - half_step[a]);
    let drawn: [f64; D] = std::array::from_fn(|a| match holder {
        Some(_) => push[a],
        None => (own[a].wide() + push[a]) / (1.0 + total),
    });
    for k in 0..count {
        if holder.is_some_and(|holder| holder != k) {
            continue;
        }
        let Some(of) = found(k) else { continue };
        let mut gives = [0.0; 3];
        for a in 0..D {
            gives[a] = density.wide()
                * match holder {
                    Some(_) => drawn[a] - own[a].wide(),
                    None => of.rate * (of.velocity[a] - drawn[a]),
                };
        }
        let [x, y, z] = of.arm;
        let moment = [
            y * gives[2] - z * gives[1],
            z * gives[0] - x * gives[2],
            x * gives[1] - y * gives[0],
        ];
        let to = given[6 * k..][..6].iter_mut();
        to.zip(gives.iter().chain(&moment))
            .for_each(|(to, of)| *to += of);
    }
    let drawn = drawn.map(S::Real::of);
    for q in 0..L::Q {
        let change = equilibrium::<D, L, S::Real>(q, (rho, drawn))
            - equilibrium::<D, L, S::Real>(q, (rho, own));
        let f = &mut f[Order::<L>::of(q, cell)];
        *f = S::store_change(f.load() + change, BLOCK * q + cell);
    }
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
