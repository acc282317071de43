//! Slip velocities of modelled walls: `wall_model.rs`.

use super::{cell::View, order::Toward};
use crate::{
    constants::law::SLACK,
    lattice::{Lattice, MOST},
    storage::Storage,
    tables::{At, Level, bits},
    wall_model::{ModeledCell, friction_velocity},
};
use cutlink_device::{Host, Real};
use rayon::prelude::*;
use std::marker::PhantomData;

pub(super) fn slip<const D: usize, L: Lattice, S: Storage>(level: &mut Level<D, Host>, from: &[S]) {
    let mut profile = std::mem::take(&mut level.profile);
    let view = View::<D, L, S> {
        level,
        from,
        lattice: PhantomData,
    };
    let own = &mut profile[D * view.level.modeled.first..];
    own.par_chunks_exact_mut(D)
        .zip(&view.level.modeled.cells)
        .for_each(|(to, cell)| to.copy_from_slice(&of_cell(&view, cell)));
    level.profile = profile;
}

fn of_cell<const D: usize, L: Lattice, S: Storage>(
    view: &View<'_, D, L, S>,
    modeled: &ModeledCell,
) -> [f64; D] {
    let wide = |v: &[f32; 3]| -> [f64; D] { std::array::from_fn(|a| f64::from(v[a])) };
    let (normal, own) = (wide(&modeled.normal), wide(&modeled.own));
    let dot = |v: &[f64; D], u: &[f64; D]| (0..D).map(|a| v[a] * u[a]).sum::<f64>();
    // Along the wall, seen from it.
    let tangential = |u: [S::Real; D]| -> [f64; D] {
        let seen = std::array::from_fn(|a| u[a].wide() - own[a]);
        let across = dot(&seen, &normal);
        std::array::from_fn(|a| seen[a] - across * normal[a])
    };
    let at = At::<D>::new(modeled.slot as usize, modeled.cell as usize);
    let there = At::<D>::new(modeled.sample_slot as usize, modeled.sample_cell as usize);
    let (rho, u) = view.moments(at);
    let rho = rho.wide();
    let (far, sampled) = view.moments(there);
    // The density that the cell would have without the noise of the staircase, by those farther off.
    let near = At::<D>::new(modeled.near_slot as usize, modeled.near_cell as usize);
    let (near, between) = view.moments(near);
    let outer = f64::from(modeled.outer);
    let smooth = outer * far.wide() + (1.0 - outer) * near.wide();
    let [mine, sampled, between] = [u, sampled, between].map(tangential);
    let speed = dot(&sampled, &sampled).sqrt();
    if speed == 0.0 {
        return own;
    }
    let along = sampled.map(|u| u / speed);
    let height = f64::from(modeled.height);
    let friction = friction_velocity(speed, height, view.level.modeled.viscosity);
    let stress = (1.0 + rho) * friction * friction;
    // With a slip velocity as the cell's own, the momentum that links exchange beyond that of a stream along the wall in equilibrium;
    // how it changes with the slip velocity; and the links' share of the wall, weighed by what they can exchange. What velocity
    // across the wall carries along it counts as exchanged: at the wall it is part of the stress.
    let trial: [f64; D] = std::array::from_fn(|a| own[a] + mine[a]);
    let square = dot(&trial, &trial);
    let (mut exchanged, mut change, mut weight) = (0.0, 0.0, 0.0);
    let links = view.links(at);
    for direction in bits(u64::from(modeled.links)) {
        let k = Toward::<L>::VELOCITY[direction];
        let Some(link) = links.place(direction).filter(|_| k != MOST) else {
            continue;
        };
        let rule = &view.level.rules[2 * D + usize::from(view.level.patch[link])];
        let (value, share) = view.reflected(at, k, link, links, rule);
        let c: [f64; D] = std::array::from_fn(|a| f64::from(L::C[k][a]));
        let (toward, w) = (dot(&c, &along), L::W[k]);
        let factor = 6.0 * w * (1.0 + rho) * share;
        let stream = dot(&c, &trial);
        let sum = view.f(at, k).wide() + value.wide() - factor * stream;
        let even = 2.0 * w * (smooth + (1.0 + smooth) * (4.5 * stream * stream - 1.5 * square));
        exchanged += (sum - even) * toward;
        change += factor * toward * toward;
        weight += w * toward * toward;
    }
    if change == 0.0 {
        return trial;
    }
    let mut of_plane = 0.0;
    for k in 1..L::Q {
        let c: [f64; D] = std::array::from_fn(|a| f64::from(L::C[k][a]));
        let toward = dot(&c, &along);
        of_plane += 0.5 * L::W[k] * toward * toward * dot(&c, &normal).abs();
    }
    let more = (exchanged - stress * weight / of_plane) / change;
    // Not far from the velocity extrapolated to the wall, on either side alike: a bound on one side alone would make a drag of noise.
    let (most, here) = (speed.max(dot(&mine, &mine).sqrt()), dot(&mine, &along));
    let expected = here + f64::from(modeled.inward) * (here - dot(&between, &along));
    let expected = expected.max(0.0).min(most);
    let slip = (here + more).max(expected - SLACK * most);
    let slip = slip.min(expected + SLACK * most);
    std::array::from_fn(|a| trial[a] + (slip - here) * along[a])
}
