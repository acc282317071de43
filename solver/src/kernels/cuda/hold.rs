//! A launch each.

use super::{HOLD, Vector, entry};
use crate::{
    SolverError,
    constants::launch::THREADS as ALL,
    kernels::{HeldSphere, HoldNumbers, HoldTables},
    lattice::Lattice,
    storage::Storage,
    tables::Level,
};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

/// A thread a cell of a block.
const THREADS: u32 = 64;

pub(super) fn hold_cells<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &Level<D, Cuda>,
    tables: &HoldTables<Cuda>,
    (spheres, numbers): (&CudaBuf<HeldSphere>, HoldNumbers),
    half_step: [S::Real; 3],
    populations: &mut CudaBuf<S>,
    given: &mut CudaBuf<f64>,
) -> Result<(), SolverError> {
    let launch = cuda
        .launch(&HOLD, D, entry!("hold_cells", L, S))
        .buf(&level.coord)
        .buf(&level.stepped)
        .buf(&tables.slots)
        .buf(&tables.starts)
        .buf(&tables.grains)
        .buf(spheres)
        .val(numbers)
        .val(Vector(half_step))
        .out(populations)
        .out(given);
    // SAFETY: slots of the level, each once, and by each the places of its pairs, whose grains are among the spheres; populations
    // of all slots, six numbers a pair.
    unsafe { launch.run(LaunchGrid::blocks(tables.slots.len(), THREADS))? };
    Ok(())
}

pub(super) fn sum_given(
    cuda: &Cuda,
    d: usize,
    tables: &HoldTables<Cuda>,
    given: &CudaBuf<f64>,
    sums: &mut CudaBuf<f64>,
) -> Result<(), SolverError> {
    let count = tables.firsts.len() - 1;
    let launch = cuda
        .launch(&HOLD, d, "sum_given")
        .val(count as u32)
        .buf(&tables.firsts)
        .buf(&tables.pairs)
        .buf(given)
        .out(sums);
    // SAFETY: by grain the places of its pairs, six numbers of each; six numbers a grain.
    unsafe { launch.run(LaunchGrid::over(count, ALL))? };
    Ok(())
}
