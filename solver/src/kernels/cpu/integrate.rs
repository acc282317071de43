//! Sums and extremes over the cells of blocks with nothing but fluid in them, and fluid or an end of the box beside them.

use super::macroscopic::macroscopic;
use crate::{
    fields::{FluidSums, central, toward},
    lattice::Lattice,
    storage::Storage,
    tables::Level,
};
use cutlink_amr::dims;
use cutlink_device::Host;
use rayon::prelude::*;

/// The slots below and above a slot by axis, [`OUTSIDE`](cutlink_amr::OUTSIDE) at ends of the box.
fn beside<const D: usize>(level: &Level<D, Host>, slot: u32) -> [[u32; 2]; D] {
    let first = slot as usize * dims::directions(D);
    std::array::from_fn(|axis| [-1, 1].map(|side| level.neighbors[first + toward::<D>(axis, side)]))
}

pub(super) fn integrate<const D: usize, L: Lattice, S: Storage>(
    level: &Level<D, Host>,
    slots: &[u32],
    half_step: [S::Real; 3],
    from: &[S],
) -> FluidSums {
    if slots.is_empty() {
        return FluidSums::NONE;
    }
    let cells = dims::cells(D);
    let fields = macroscopic::<D, L, S>(level, (0..level.slots).into_par_iter(), half_step, from);
    let row = |slot: u32, row: usize| &fields[(slot as usize * (1 + D) + row) * cells..][..cells];
    let edge = f64::from(1u32 << level.index);
    let volume = edge.recip().powi(D as i32);
    let of_slot = |&slot: &u32| {
        let mut slopes = [[[0.0; D]; D]; super::BLOCK];
        let value = |i: usize, slot: u32, cell: usize| row(slot, 1 + i)[cell];
        central(edge, slot, beside(level, slot), value, &mut slopes);
        let values = (0..cells).map(|cell| {
            let velocity = std::array::from_fn(|a| f64::from(row(slot, 1 + a)[cell]));
            (f64::from(row(slot, 0)[cell]), velocity, slopes[cell])
        });
        FluidSums::of_block(volume, values)
    };
    let all = slots.par_iter().map(of_slot);
    all.reduce(|| FluidSums::NONE, FluidSums::and)
}
