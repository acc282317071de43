//! A launch: a thread block a slot.

use super::{SEED, entry};
use crate::{SolverError, kernels::Seeds, lattice::Lattice, real::Real};
use cutlink_amr::dims;
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

/// A thread a cell of a block.
const THREADS: u32 = 64;

pub(super) fn seed<const D: usize, L: Lattice, T: Real>(
    cuda: &Cuda,
    seeds: &Seeds<'_, D, T, Cuda>,
    to: &mut CudaBuf<T>,
) -> Result<(), SolverError> {
    let slots = <Cuda as Backend>::len(seeds.sources);
    // What a level does not have, no source names; its place in the kernel's parameters is taken by a level that there is.
    let any = seeds.coarser.as_ref().or(seeds.finer.as_ref());
    let none = cuda.upload(Vec::new())?;
    let (coarser, finer) = (seeds.coarser.as_ref().or(any), seeds.finer.as_ref().or(any));
    let (Some(coarser), Some(finer)) = (coarser, finer) else {
        return Err(SolverError::State {
            reason: "a level cannot be seeded where it is the only one".into(),
        });
    };
    let launch = cuda
        .launch(&SEED, D, entry!("seed", L, T))
        .buf(seeds.sources)
        .buf(seeds.groups)
        .buf(seeds.same.unwrap_or(&none))
        .buf(&coarser.level.neighbors)
        .buf(&coarser.level.solid)
        .val(coarser.level.slots as u32)
        .buf(coarser.populations)
        .val(coarser.departure)
        .val(coarser.arrival)
        .buf(&finer.level.solid)
        .val(finer.level.slots as u32)
        .buf(finer.populations)
        .val(finer.departure)
        .val(finer.arrival)
        .out(to);
    debug_assert_eq!(<Cuda as Backend>::len(seeds.groups) % dims::children(D), 0);
    // SAFETY: a source for each slot of `to`; slots that sources and groups name are those of the levels before the change.
    unsafe { launch.run(LaunchGrid::blocks(slots, THREADS))? };
    Ok(())
}
