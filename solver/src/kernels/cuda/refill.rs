//! One launch.

use super::{REFILL, Vector, entry, give};
use crate::{
    SolverError, kernels::RefillSource, lattice::Lattice, storage::Storage, tables::Level,
};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

/// A thread a cell.
const THREADS: u32 = 64;

pub(super) fn refill<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &Level<D, Cuda>,
    half_step: [f64; 3],
    waiting: &[u32],
    source: RefillSource,
    populations: &mut CudaBuf<S>,
) -> Result<Vec<u32>, SolverError> {
    let places = cuda.upload_slice("cells that were uncovered", waiting)?;
    let mut waits: CudaBuf<u32> = cuda.uninit("cells that still wait", waiting.len())?;
    let launch = give(cuda.launch(&REFILL, D, entry!("refill", L, S)), level)
        .buf(&places)
        .val(waiting.len() as u32)
        .val(u32::from(source == RefillSource::Rest))
        .val(Vector(half_step))
        .out(populations)
        .out(&mut waits);
    // SAFETY: tables and populations of one level, of which the places are cells; a word a place. No thread reads populations that
    // another one writes: those of cells of the list.
    unsafe { launch.run(LaunchGrid::over(waiting.len(), THREADS))? };
    let waits = cuda.download(&waits)?;
    let left = waiting.iter().zip(waits).filter(|(_, waits)| *waits == 1);
    Ok(left.map(|(&place, _)| place).collect())
}
