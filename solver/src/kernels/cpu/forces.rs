//! Momentum and mass exchange: what leaves along a cut link and what it reflects, consistent with the wall's
//! scheme, seen from the wall (Wen, Zhang, Tu, Wang & Fang 2014, eq. 13); and friction of modelled walls.

use super::{cell::View, moments::Moments, order::Toward};
use crate::{
    constants::balance,
    kernels::{ExactSum, SUMS},
    lattice::{Lattice, MOST},
    storage::Storage,
    tables::{At, Level},
};
use cutlink_amr::{NONE, dims};
use cutlink_device::{Host, Real};
use rayon::prelude::*;
use std::{marker::PhantomData, ops::Range};

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
    let (of_links, of_friction) = parts.split_at_mut(row * level.linked.len());
    of_links
        .par_chunks_mut(row.max(1))
        .zip(&level.linked)
        .for_each(|(part, &slot)| of_block(&view, slot as usize, part));
    of_friction
        .par_chunks_mut(row.max(1))
        .zip(level.modeled.starts.par_windows(2))
        .for_each(|(part, of)| friction(level, of[0] as usize..of[1] as usize, part));
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
            let u = seen_from::<D, L, S>(view, at, k, link);
            let slip = scale * (out - back).wide();
            for (a, force) in force.iter_mut().enumerate().take(D) {
                *force -= slip * u[a];
            }
            let sums = &mut sums[SUMS * usize::from(level.patch[link])..][..SUMS];
            add(level, cut, force, sums);
            let rule = &level.rules[2 * D + usize::from(level.patch[link])];
            sums[6] += scale
                * match rule.conserves(balance::TURNING) {
                    true => view.displaced(at, k, rule),
                    false => (back - out).wide(),
                };
        }
    }
}

/// Adds a force at a point, and its torque.
fn add<const D: usize>(level: &Level<D, Host>, at: [f64; 3], force: [f64; 3], sums: &mut [f64]) {
    let center = &level.moment_center;
    let r: [f64; 3] = std::array::from_fn(|a| at[a] - center.get(a).copied().unwrap_or(0.0));
    let torque = [
        r[1] * force[2] - r[2] * force[1],
        r[2] * force[0] - r[0] * force[2],
        r[0] * force[1] - r[1] * force[0],
    ];
    for a in 0..3 {
        sums[a] += force[a];
        sums[3 + a] += torque[a];
    }
}

/// The velocity from which the exchange along a link is seen: that of the wall itself, which slip has no part in.
fn seen_from<const D: usize, L: Lattice, S: Storage>(
    view: &View<'_, D, L, S>,
    at: At<D>,
    k: usize,
    link: usize,
) -> [f64; 3] {
    let modeled = &view.level.modeled;
    let place = view.level.profile_link.get(link).copied().unwrap_or(NONE);
    match (place as usize).checked_sub(modeled.first) {
        Some(n) if n < modeled.cells.len() => modeled.cells[n].own.map(f64::from),
        _ => view.wall_velocity(at, k, link),
    }
}

/// Friction of modelled walls on cells of a slot, at the wall.
fn friction<const D: usize>(level: &Level<D, Host>, cells: Range<usize>, sums: &mut [f64]) {
    sums.fill(0.0);
    let scale = 1.0 / f64::from(1u32 << (level.index * (D - 1)));
    let modeled = &level.modeled;
    for n in cells {
        let cell = &modeled.dragged[n];
        if cell.patch == NONE {
            continue;
        }
        let at = At::<D>::new(cell.slot as usize, cell.cell as usize);
        let middle = level.point(at, [0; D], 0.0);
        let dx = 1.0 / f64::from(1u32 << level.index);
        let (mut foot, mut force) = ([0.0; 3], [0.0; 3]);
        for a in 0..D {
            foot[a] = middle[a] - dx * f64::from(cell.distance) * f64::from(cell.normal[a]);
            force[a] = -scale * modeled.drag[D * n + a];
        }
        let sums = &mut sums[SUMS * cell.patch as usize..][..SUMS];
        add(level, foot, force, sums);
    }
}
