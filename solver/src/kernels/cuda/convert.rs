//! A launch each: a thread a value.

use super::CONVERT;
use crate::{F16, SolverError};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

const THREADS: u32 = 256;

pub(super) fn narrow(cuda: &Cuda, values: &CudaBuf<f32>) -> Result<CudaBuf<F16>, SolverError> {
    let count = <Cuda as Backend>::len(values);
    let mut out = cuda.uninit("populations", count)?;
    let launch = cuda
        .launch(&CONVERT, 2, "narrow_all")
        .val(count as u32)
        .buf(values)
        .out(&mut out);
    // SAFETY: as many halves as values.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(out)
}

pub(super) fn widen(cuda: &Cuda, populations: &CudaBuf<F16>) -> Result<CudaBuf<f32>, SolverError> {
    let count = <Cuda as Backend>::len(populations);
    let mut out = cuda.uninit("values", count)?;
    let launch = cuda
        .launch(&CONVERT, 2, "widen_all")
        .val(count as u32)
        .buf(populations)
        .out(&mut out);
    // SAFETY: as many values as halves.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(out)
}
