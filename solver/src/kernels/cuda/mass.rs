//! A launch each.

use super::{MASS, entry};
use crate::{SolverError, lattice::Lattice, storage::Storage, tables::Level};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

/// A thread a cell of a block.
const THREADS: u32 = 64;

pub(super) fn mass<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &Level<D, Cuda>,
    from: &CudaBuf<S>,
) -> Result<CudaBuf<f64>, SolverError> {
    let mut out = cuda.uninit("mass by block", level.slots)?;
    let launch = cuda
        .launch(&MASS, D, entry!("mass", L, S))
        .buf(&level.stepped)
        .buf(&level.ghost)
        .buf(from)
        .val(level.populated as u32)
        .out(&mut out);
    // SAFETY: values of all slots; a number a slot.
    unsafe { launch.run(LaunchGrid::blocks(level.slots, THREADS))? };
    Ok(out)
}

pub(super) fn rescale<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &Level<D, Cuda>,
    factor: f64,
    populations: &mut CudaBuf<S>,
) -> Result<(), SolverError> {
    let launch = cuda
        .launch(&MASS, D, entry!("rescale", L, S))
        .val(factor)
        .out(populations);
    // SAFETY: populations of so many slots, a thread block each.
    unsafe { launch.run(LaunchGrid::blocks(level.populated, THREADS))? };
    if !level.keeps_moments {
        return Ok(());
    }
    let launch = cuda
        .launch(&MASS, D, entry!("rescale", "_kept", L, S))
        .val(factor)
        .val(level.populated as u32)
        .out(populations);
    // SAFETY: the 9 values of all slots behind these populations, a thread block a slot.
    unsafe { launch.run(LaunchGrid::blocks(level.slots, THREADS))? };
    Ok(())
}
