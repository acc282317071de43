//! A launch: a thread a cell.

use super::ACCUMULATE;
use crate::SolverError;
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

const THREADS: u32 = 256;

pub(super) fn accumulate<const D: usize>(
    cuda: &Cuda,
    density: &CudaBuf<f32>,
    velocity: &CudaBuf<f32>,
    share: f64,
    values: &mut CudaBuf<[f64; 2]>,
) -> Result<(), SolverError> {
    let cells = density.len();
    assert_eq!(velocity.len(), D * cells, "D velocities a cell");
    assert_eq!(values.len(), (1 + D) * cells, "1 + D values a cell");
    let launch = cuda
        .launch(&ACCUMULATE, D, "accumulate")
        .val(cells as u64)
        .buf(density)
        .buf(velocity)
        .val(share)
        .out(values);
    // SAFETY: the lengths are checked above.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    Ok(())
}
