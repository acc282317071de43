//! One thread a leaf; those of other levels or marks return at once.

use super::{CLOSE, THREADS, linear::KeyGrid};
use crate::{ForestError, linear::Leaves};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

pub(super) fn close_refine<const D: usize>(
    cuda: &Cuda,
    leaves: &Leaves<D, Cuda>,
    level: u32,
    marks: &mut CudaBuf<u8>,
) -> Result<(), ForestError> {
    let count = leaves.len();
    let launch = cuda
        .launch(&CLOSE, D, "close_refine")
        .val(KeyGrid::of(leaves.grid()))
        .val(level)
        .buf(leaves.keys())
        .val(count as u32)
        .out(marks);
    // SAFETY: a mark for each leaf; leaves fill the box, so a search finds one.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(())
}

pub(super) fn close_coarsen<const D: usize>(
    cuda: &Cuda,
    leaves: &Leaves<D, Cuda>,
    level: u32,
    marks: &CudaBuf<u8>,
    going: &mut CudaBuf<u8>,
) -> Result<(), ForestError> {
    let count = leaves.len();
    let launch = cuda
        .launch(&CLOSE, D, "close_coarsen")
        .val(KeyGrid::of(leaves.grid()))
        .val(level)
        .buf(leaves.keys())
        .val(count as u32)
        .buf(marks)
        .out(going);
    // SAFETY: as in `close_refine`; siblings are looked at where all of them are leaves.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(())
}

pub(super) fn close_rest<const D: usize>(
    cuda: &Cuda,
    going: &CudaBuf<u8>,
    marks: &mut CudaBuf<u8>,
) -> Result<(), ForestError> {
    let count = going.len();
    let launch = cuda
        .launch(&CLOSE, D, "close_rest")
        .val(count as u32)
        .buf(going)
        .out(marks);
    // SAFETY: a mark for each leaf, as the caller checked.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(())
}
