//! Slip velocities of modelled walls: `wall_model.rs`.

use super::cell::View;
use crate::{
    constants::law::SLACK,
    lattice::Lattice,
    storage::Storage,
    tables::{At, Level},
    wall_model::ModeledCell,
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

/// A vector of as many components as there are dimensions.
pub(super) fn wide<const D: usize>(v: &[f32; 3]) -> [f64; D] {
    std::array::from_fn(|a| f64::from(v[a]))
}

/// The part of a velocity along a wall of some normal, seen from the wall.
pub(super) fn tangential<const D: usize, T: Real>(
    u: [T; D],
    own: &[f64; D],
    normal: &[f64; D],
) -> [f64; D] {
    let seen: [f64; D] = std::array::from_fn(|a| u[a].wide() - own[a]);
    let across: f64 = (0..D).map(|a| seen[a] * normal[a]).sum();
    std::array::from_fn(|a| seen[a] - across * normal[a])
}

/// The slip velocity.
fn of_cell<const D: usize, L: Lattice, S: Storage>(
    view: &View<'_, D, L, S>,
    modeled: &ModeledCell,
) -> [f64; D] {
    let (here, more) = extrapolated(view, modeled);
    std::array::from_fn(|a| f64::from(modeled.own[a]) + here[a] + more[a])
}

/// The velocity of a cell along the wall, seen from it, and by how much that at the wall is slower, extrapolated.
pub(super) fn extrapolated<const D: usize, L: Lattice, S: Storage>(
    view: &View<'_, D, L, S>,
    modeled: &ModeledCell,
) -> ([f64; D], [f64; D]) {
    let (normal, own) = (wide(&modeled.normal), wide(&modeled.own));
    let at = At::<D>::new(modeled.slot as usize, modeled.cell as usize);
    let near = At::<D>::new(modeled.near_slot as usize, modeled.near_cell as usize);
    let along = |at| tangential(view.moments(at).1, &own, &normal);
    let (here, near) = (along(at), along(near));
    let inward = f64::from(modeled.inward);
    let more: [f64; D] = std::array::from_fn(|a| inward * (here[a] - near[a]));
    let length = |v: &[f64; D]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    // Faster than the cell, the stream at the wall would feed on itself.
    let is_slower = (0..D).map(|a| more[a] * here[a]).sum::<f64>() <= 0.0;
    let (most, found) = (SLACK * length(&here), length(&more));
    let share = match is_slower {
        true if found > most => most / found,
        true => 1.0,
        false => 0.0,
    };
    (here, more.map(|u| share * u))
}
