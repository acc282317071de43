//! A launch: a thread block a slot.

use super::INDICATE;
use crate::{Indicator, SolverError, tables::Level};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

/// A thread a cell of a block.
const THREADS: u32 = 64;

pub(super) fn indicate<const D: usize>(
    cuda: &Cuda,
    level: &Level<D, Cuda>,
    what: Indicator,
    fields: &CudaBuf<f32>,
) -> Result<CudaBuf<f32>, SolverError> {
    let mut out = cuda.uninit("indicators", level.slots)?;
    let launch = cuda
        .launch(&INDICATE, D, "indicate")
        .buf(&level.neighbors)
        .buf(&level.solid)
        .buf(&level.stepped)
        .buf(&level.ghost)
        .val(level.slots as u32)
        .val(what as u32)
        .buf(fields)
        .out(&mut out);
    // SAFETY: tables of the level; 1 + D rows of all slots; a number a slot.
    unsafe { launch.run(LaunchGrid::blocks(level.slots, THREADS))? };
    Ok(out)
}
