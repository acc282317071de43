//! Momentum and mass exchange: what leaves along a cut link and what it reflects, consistent with the wall's
//! scheme, seen from the wall (Wen, Zhang, Tu, Wang & Fang 2014, eq. 13).

use super::{cell::View, moments::Moments, order::Toward};
use crate::{
    kernels::{ExactSum, SUMS},
    lattice::{Lattice, MOST},
    storage::Storage,
    tables::{At, Level},
};
use cutlink_amr::dims;
use cutlink_device::{Host, Real};
use rayon::prelude::*;
use std::marker::PhantomData;

pub(super) fn forces<const D: usize, L: Lattice, S: Storage>(
    level: &Level<D, Host>,
    from: &[S],
    parts: &mut [f64],
    sums: &mut [ExactSum],
) {
    let view = View::<D, L, S> {
        level,
        from,
        lattice: PhantomData,
    };
    let row = SUMS * level.patches;
    parts
        .par_chunks_mut(row.max(1))
        .zip(&level.linked)
        .for_each(|(part, &slot)| of_block(&view, slot as usize, part));
    for part in parts.chunks_exact(row.max(1)) {
        for (sum, part) in sums.iter_mut().zip(part) {
            *sum += ExactSum::from(*part);
        }
    }
}

fn of_block<const D: usize, L: Lattice, S: Storage>(
    view: &View<'_, D, L, S>,
    slot: usize,
    sums: &mut [f64],
) {
    let level = view.level;
    sums.fill(0.0);
    let ghost = level.ghost[slot];
    let mut moments = Moments::new();
    let scale = 1.0 / f64::from(1u32 << (level.index * (D - 1)));
    for cell in 0..dims::cells(D) {
        let at = At::<D>::new(slot, cell);
        if ghost >> cell & 1 == 1 {
            continue;
        }
        let links = view.links(at);
        for (direction, link) in links.places() {
            let k = Toward::<L>::VELOCITY[direction];
            if k == MOST {
                continue;
            }
            let back = view.returned(at, k, link, links, &mut moments);
            let out = view.f(at, k);
            let cut = view.cut(at, k, f64::from(level.q[link]));
            let push = (out + back).wide();
            let mut force = [0.0; 3];
            for (a, force) in force.iter_mut().enumerate().take(D) {
                *force = scale * push * f64::from(L::C[k][a]);
            }
            let u = view.wall_velocity(at, k, link);
            let slip = scale * (out - back).wide();
            for (a, force) in force.iter_mut().enumerate().take(D) {
                *force -= slip * u[a];
            }
            let r: [f64; 3] = std::array::from_fn(|a| {
                cut[a] - level.moment_center.get(a).copied().unwrap_or(0.0)
            });
            let torque = [
                r[1] * force[2] - r[2] * force[1],
                r[2] * force[0] - r[0] * force[2],
                r[0] * force[1] - r[1] * force[0],
            ];
            let first = SUMS * usize::from(level.patch[link]);
            for a in 0..3 {
                sums[first + a] += force[a];
                sums[first + 3 + a] += torque[a];
            }
            sums[first + 6] += scale * (back - out).wide();
        }
    }
}
