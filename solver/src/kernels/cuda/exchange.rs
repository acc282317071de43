//! A launch each: a thread block a fine block with ghosts, and a coarse block that is refined.

use super::{EXCHANGE, arrival_entry, entry};
use crate::{
    SolverError, constants::OperatorKind, kernels::Between, lattice::Lattice, storage::Storage,
};
use cutlink_amr::dims;
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

/// A thread a cell of a block.
const THREADS: u32 = 64;

pub(super) fn interpolate<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    between: &Between<'_, D, S::Real, Cuda>,
    moments: &CudaBuf<S::Real>,
    to: &mut CudaBuf<S>,
) -> Result<(), SolverError> {
    let (coarse, fine) = (between.coarse, between.fine);
    let launch = cuda
        .launch(
            &EXCHANGE,
            D,
            arrival_entry!("interpolate", between.to.relax.kind(), L, S),
        )
        .buf(&coarse.neighbors)
        .buf(&coarse.solid)
        .val(coarse.exchanging as u32)
        .buf(&coarse.overlaps)
        .buf(&fine.ghost)
        .buf(&fine.stepped)
        .val(u32::from(between.cubic))
        .val(between.to)
        .buf(moments)
        .out(to);
    // SAFETY: tables of two levels; moments of the exchanging slots of the coarser one; the finer one's first slots are
    // the children of the overlap blocks.
    unsafe {
        launch.run(LaunchGrid::blocks(
            coarse.overlaps.len() * dims::children(D),
            THREADS,
        ))?;
    }
    Ok(())
}

pub(super) fn average<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    between: &Between<'_, D, S::Real, Cuda>,
    fine_moments: &CudaBuf<S::Real>,
    to: &mut CudaBuf<S>,
    moments: &mut CudaBuf<S::Real>,
) -> Result<(), SolverError> {
    let (coarse, fine) = (between.coarse, between.fine);
    let launch = cuda
        .launch(
            &EXCHANGE,
            D,
            arrival_entry!("average", between.to.relax.kind(), L, S),
        )
        .buf(&coarse.overlaps)
        .buf(&coarse.stepped)
        .buf(&coarse.solid)
        .buf(&fine.solid)
        .val(between.to)
        .buf(fine_moments)
        .out(to)
        .out(moments);
    // SAFETY: as above; overlap blocks exchange, so they have moments.
    unsafe { launch.run(LaunchGrid::blocks(coarse.overlaps.len(), THREADS))? };
    Ok(())
}
