//! Flags by kernels, selections by the device's primitive.

use super::{MARKS, THREADS};
use crate::{Forest, ForestError};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

pub(super) fn ripple<const D: usize>(
    cuda: &Cuda,
    forest: &Forest<D, Cuda>,
    level: usize,
    marks: &mut CudaBuf<u8>,
) -> Result<(), ForestError> {
    let ids = &forest.levels[level];
    let launch = cuda
        .launch(&MARKS, D, "ripple")
        .buf(ids)
        .val(ids.len() as u32)
        .val(forest.grid())
        .buf(&forest.families)
        .buf(&forest.coord)
        .buf(&forest.parent)
        .buf(&forest.first_child)
        .out(marks);
    // SAFETY: the arrays of a forest have an entry an id, marks too, and the level's ids are below
    // that; families have the places of all but root blocks.
    unsafe { launch.run(LaunchGrid::over(ids.len(), THREADS))? };
    Ok(())
}

pub(super) fn select_refine<const D: usize>(
    cuda: &Cuda,
    forest: &Forest<D, Cuda>,
    level: usize,
    marks: &CudaBuf<u8>,
) -> Result<CudaBuf<u32>, ForestError> {
    let ids = &forest.levels[level];
    let mut flags = cuda.uninit("flags", ids.len())?;
    let launch = cuda
        .launch(&MARKS, D, "flag_refine")
        .buf(ids)
        .val(ids.len() as u32)
        .buf(&forest.first_child)
        .buf(marks)
        .out(&mut flags);
    // SAFETY: as in `ripple`; a flag an id of the level.
    unsafe { launch.run(LaunchGrid::over(ids.len(), THREADS))? };
    Ok(cuda.select("blocks to refine", Some(ids), &flags)?)
}

pub(super) fn select_coarsen<const D: usize>(
    cuda: &Cuda,
    forest: &Forest<D, Cuda>,
    level: usize,
    marks: &CudaBuf<u8>,
) -> Result<CudaBuf<u32>, ForestError> {
    let ids = &forest.levels[level];
    let mut flags = cuda.uninit("flags", ids.len())?;
    let launch = cuda
        .launch(&MARKS, D, "flag_coarsen")
        .buf(ids)
        .val(ids.len() as u32)
        .val(forest.grid())
        .buf(&forest.families)
        .buf(&forest.first_child)
        .buf(marks)
        .out(&mut flags);
    // SAFETY: as in `select_refine`.
    unsafe { launch.run(LaunchGrid::over(ids.len(), THREADS))? };
    Ok(cuda.select("blocks to coarsen", Some(ids), &flags)?)
}
