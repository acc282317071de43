//! Friction of modelled walls, as a force on the cells near them: `wall_model.rs`.

use super::{
    BLOCK,
    cell::View,
    damp::rows,
    order::Order,
    slip::{extrapolated, tangential, wide},
};
use crate::{
    kernels::exchanged,
    lattice::Lattice,
    storage::Storage,
    tables::{At, Level},
    wall_model::{DraggedCell, friction_velocity},
};
use cutlink_amr::dims;
use cutlink_device::{Host, Real};
use rayon::prelude::*;
use std::marker::PhantomData;

pub(super) fn friction<const D: usize, L: Lattice, S: Storage>(
    level: &mut Level<D, Host>,
    from: &[S],
) {
    let mut drag = std::mem::take(&mut level.modeled.drag);
    let view = View::<D, L, S> {
        level,
        from,
        lattice: PhantomData,
    };
    drag.par_chunks_exact_mut(D)
        .zip(&view.level.modeled.dragged)
        .for_each(|(to, cell)| to.copy_from_slice(&of_cell(&view, cell)));
    level.modeled.drag = drag;
}

/// The force on a cell.
fn of_cell<const D: usize, L: Lattice, S: Storage>(
    view: &View<'_, D, L, S>,
    dragged: &DraggedCell,
) -> [f64; D] {
    let (normal, own) = (wide(&dragged.normal), wide(&dragged.wall.own));
    let at = At::<D>::new(dragged.slot as usize, dragged.cell as usize);
    let there = At::<D>::new(dragged.sample_slot as usize, dragged.sample_cell as usize);
    let along = tangential(view.moments(there).1, &own, &normal);
    let speed = along.iter().map(|u| u * u).sum::<f64>().sqrt();
    if speed == 0.0 {
        return [0.0; D];
    }
    let (height, viscosity) = (f64::from(dragged.height), view.level.modeled.viscosity);
    let friction = friction_velocity(speed, height, viscosity);
    let by_law = friction * friction / speed;
    // Links exchange the viscous stress of the velocity extrapolated to the wall.
    let (_, more) = extrapolated(view, &dragged.wall);
    let by_links = viscosity / f64::from(dragged.wall.distance);
    let density = 1.0 + view.moments(at).0.wide();
    let mass = density * f64::from(dragged.area);
    std::array::from_fn(|a| -mass * (by_law * along[a] + by_links * more[a]))
}

/// Adds the force to populations and transferred moments.
pub(super) fn drag<const D: usize, L: Lattice, S: Storage>(
    level: &Level<D, Host>,
    populations: &mut [S],
    moments: &mut [S::Real],
) {
    let modeled = &level.modeled;
    let groups = modeled.starts.windows(2);
    let groups: Vec<_> = groups.map(|of| of[0] as usize..of[1] as usize).collect();
    let of_group = |group: &std::ops::Range<usize>| modeled.dragged[group.start].slot;
    let slots: Vec<u32> = groups.iter().map(of_group).collect();
    let shared = slots.partition_point(|&slot| (slot as usize) < level.exchanging);
    let cells = dims::cells(D);
    let blocks = rows(populations, L::Q * cells, &slots);
    let moments = rows(moments, exchanged(D) * cells, &slots[..shared]);
    let moments = moments.into_iter().map(Some);
    let mut work: Vec<_> = blocks
        .into_iter()
        .zip(moments.chain(std::iter::repeat_with(|| None)))
        .zip(groups)
        .collect();
    work.par_iter_mut().for_each(|((f, moments), group)| {
        let force = modeled.drag[D * group.start..].chunks_exact(D);
        for (dragged, force) in modeled.dragged[group.clone()].iter().zip(force) {
            let cell = dragged.cell as usize;
            push::<D, L, S>(f, cell, force);
            for (a, &force) in force.iter().enumerate() {
                if let Some(moments) = moments {
                    moments[(1 + a) * cells + cell] += S::Real::of(force);
                }
            }
        }
    });
}

/// Adds a momentum to the populations of a cell of a block.
fn push<const D: usize, L: Lattice, S: Storage>(block: &mut [S], cell: usize, force: &[f64]) {
    for q in 1..L::Q {
        let along: f64 = (0..D).map(|a| f64::from(L::C[q][a]) * force[a]).sum();
        let f = &mut block[Order::<L>::of(q, cell)];
        let changed = f.load() + S::Real::of(3.0 * L::W[q] * along);
        *f = S::store_change(changed, BLOCK * q + cell);
    }
}
