//! One launch.

use super::{DAMP, Vector, entry};
use crate::{SolverError, lattice::Lattice, sponge::Damped, storage::Storage, tables::Level};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

/// A thread a cell of a block.
const THREADS: u32 = 64;

pub(super) fn damp<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &Level<D, Cuda>,
    damped: &Damped<Cuda>,
    half_step: [S::Real; 3],
    populations: &mut CudaBuf<S>,
    moments: &mut CudaBuf<S::Real>,
) -> Result<(), SolverError> {
    let launch = cuda
        .launch(&DAMP, D, entry!("damp", L, S))
        .buf(&damped.slots)
        .buf(&damped.rate)
        .buf(&level.rules)
        .val(damped.density as u32)
        .val(damped.velocity as u32)
        .val(level.exchanging as u32)
        .val(Vector(half_step))
        .out(populations)
        .out(moments);
    // SAFETY: slots of the level, each once; rates of their cells; populations of all slots, moments of the exchanging ones;
    // rules of faces, of which a sponge has two.
    unsafe { launch.run(LaunchGrid::blocks(damped.slots.len(), THREADS))? };
    Ok(())
}
