//! A launch each.

use super::{LIFT, Vector, entry};
use crate::{
    SolverError, heat::tables::HeatTables, lattice::Lattice, storage::Storage, tables::Level,
};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

/// A thread a cell of a block.
const THREADS: u32 = 64;

pub(super) fn momentum<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &Level<D, Cuda>,
    half_step: [S::Real; 3],
    from: &CudaBuf<S>,
    to: &mut CudaBuf<f64>,
) -> Result<(), SolverError> {
    let launch = cuda
        .launch(&LIFT, D, entry!("momentum", L, S))
        .val(Vector(half_step))
        .buf(from)
        .out(to);
    // SAFETY: populations of all slots, D rows for each of them.
    unsafe { launch.run(LaunchGrid::blocks(level.slots, THREADS))? };
    Ok(())
}

pub(super) fn lift<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &Level<D, Cuda>,
    tables: &HeatTables<Cuda>,
    lift: [f64; 3],
    temperature: &CudaBuf<f64>,
    populations: &mut CudaBuf<S>,
) -> Result<(), SolverError> {
    let launch = cuda
        .launch(&LIFT, D, entry!("lift", L, S))
        .buf(&tables.there)
        .val(Vector(lift))
        .buf(temperature)
        .out(populations);
    // SAFETY: masks, temperatures and populations of all slots.
    unsafe { launch.run(LaunchGrid::blocks(level.slots, THREADS))? };
    Ok(())
}
