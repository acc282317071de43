//! Two launches: the forces of a step, and after it these added.

use super::{DRAG, entry, give};
use crate::{
    SolverError, constants::launch::THREADS, lattice::Lattice, storage::Storage, tables::Level,
};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

pub(super) fn friction<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &mut Level<D, Cuda>,
    from: &CudaBuf<S>,
) -> Result<(), SolverError> {
    let cells = Cuda::len(&level.modeled.dragged);
    let drag = level.modeled.drag.share();
    let launch = give(cuda.launch(&DRAG, D, entry!("friction", L, S)), level)
        .buf(&level.modeled.dragged)
        .val(cells as u32)
        .val(level.modeled.viscosity)
        .buf(from)
        .val(drag);
    // SAFETY: tables of one level; populations of all its slots; D forces for each cell that friction acts on.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    Ok(())
}

pub(super) fn drag<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &Level<D, Cuda>,
    populations: &mut CudaBuf<S>,
    moments: &mut CudaBuf<S::Real>,
) -> Result<(), SolverError> {
    let cells = Cuda::len(&level.modeled.dragged);
    let launch = cuda
        .launch(&DRAG, D, entry!("drag", L, S))
        .buf(&level.modeled.dragged)
        .val(cells as u32)
        .buf(&level.modeled.drag)
        .val(level.exchanging as u32)
        .out(populations)
        .out(moments);
    // SAFETY: cells of the level, each once, and D forces for each; populations of all slots, moments of the exchanging ones.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    Ok(())
}
