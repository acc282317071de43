//! A launch each.

use super::{MACROSCOPIC, Vector, entry};
use crate::{SolverError, lattice::Lattice, storage::Storage, tables::Level};
use cutlink_amr::dims;
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};
use std::ops::Range;

/// A thread a cell of a block.
const THREADS: u32 = 64;

pub(super) fn macroscopic<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &Level<D, Cuda>,
    slots: Range<usize>,
    half_step: [S::Real; 3],
    from: &CudaBuf<S>,
) -> Result<CudaBuf<f32>, SolverError> {
    assert!(slots.end <= level.slots, "slots of the level");
    let (first, count) = (slots.start as u32, slots.len());
    let mut out = cuda.uninit("density and velocity", count * (1 + D) * dims::cells(D))?;
    let launch = cuda
        .launch(&MACROSCOPIC, D, entry!("macroscopic", L, S))
        .buf(&level.solid)
        .val(first)
        .val(Vector(half_step))
        .buf(from)
        .val(level.populated as u32)
        .out(&mut out);
    // SAFETY: values of all slots; 1 + D rows for each slot of the range.
    unsafe { launch.run(LaunchGrid::blocks(count, THREADS))? };
    Ok(out)
}

pub(super) fn macroscopic_of<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &Level<D, Cuda>,
    slots: &CudaBuf<u32>,
    half_step: [S::Real; 3],
    from: &CudaBuf<S>,
) -> Result<CudaBuf<f32>, SolverError> {
    let count = slots.len();
    let mut out = cuda.uninit("density and velocity", count * (1 + D) * dims::cells(D))?;
    let launch = cuda
        .launch(&MACROSCOPIC, D, entry!("macroscopic_of", L, S))
        .buf(&level.solid)
        .buf(slots)
        .val(Vector(half_step))
        .buf(from)
        .val(level.populated as u32)
        .out(&mut out);
    // SAFETY: slots of the level, and values of all of them; 1 + D rows for each of the list.
    unsafe { launch.run(LaunchGrid::blocks(count, THREADS))? };
    Ok(out)
}

pub(super) fn fastest<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &Level<D, Cuda>,
    from: &CudaBuf<S>,
) -> Result<CudaBuf<f32>, SolverError> {
    let mut out = cuda.uninit("speeds", level.slots)?;
    let launch = cuda
        .launch(&MACROSCOPIC, D, entry!("fastest", L, S))
        .buf(&level.stepped)
        .buf(&level.ghost)
        .buf(from)
        .val(level.populated as u32)
        .out(&mut out);
    // SAFETY: values of all slots; a number a slot.
    unsafe { launch.run(LaunchGrid::blocks(level.slots, THREADS))? };
    Ok(out)
}
