//! A launch each: a thread block a slot, or a refined block.

use super::BY_BLOCK;
use crate::{SolverError, run::snapshot::RefinedBlocks};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};
use std::ops::Range;

/// A thread a cell of a block.
const THREADS: u32 = 64;

pub(super) fn put_by_block<const D: usize>(
    cuda: &Cuda,
    values: &CudaBuf<f32>,
    blocks: &CudaBuf<u32>,
    slots: Range<usize>,
    density: &mut CudaBuf<f32>,
    velocity: &mut CudaBuf<f32>,
) -> Result<(), SolverError> {
    assert!(slots.end <= blocks.len(), "slots of the level");
    let all = density.len() as u64;
    let launch = cuda
        .launch(&BY_BLOCK, D, "put_by_block")
        .buf(values)
        .buf(blocks)
        .val(slots.start as u32)
        .val(all)
        .out(density)
        .out(velocity);
    // SAFETY: 1 + D rows for each slot of the range; D times as many velocities as densities, which all blocks have.
    unsafe { launch.run(LaunchGrid::blocks(slots.len(), THREADS))? };
    Ok(())
}

pub(super) fn fill_refined<const D: usize>(
    cuda: &Cuda,
    refined: &RefinedBlocks<Cuda>,
    density: &mut CudaBuf<f32>,
    velocity: &mut CudaBuf<f32>,
) -> Result<(), SolverError> {
    let all = density.len() as u64;
    let launch = cuda
        .launch(&BY_BLOCK, D, "fill_refined")
        .buf(&refined.ids)
        .buf(&refined.first_child)
        .buf(&refined.solid)
        .val(all)
        .out(density)
        .out(velocity);
    // SAFETY: as above; 2^D children of each refined block, none of which is of its level.
    unsafe { launch.run(LaunchGrid::blocks(refined.ids.len(), THREADS))? };
    Ok(())
}
