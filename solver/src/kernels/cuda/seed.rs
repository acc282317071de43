//! A launch: a thread block a slot.

use super::{SEED, arrival_entry, entry};
use crate::{
    SolverError,
    constants::OperatorKind,
    kernels::{Arrival, Departure, Origin, Transfer},
    lattice::Lattice,
    storage::Storage,
};
use bytemuck::Zeroable;
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

/// A thread a cell of a block.
const THREADS: u32 = 64;

/// Buffers in place of those of a level that is not there: no source names it.
struct Nothing<S: Storage> {
    slots: CudaBuf<u32>,
    masks: CudaBuf<u64>,
    populations: CudaBuf<S>,
}

/// What a kernel takes of a level before the mesh changed.
struct Given<'a, S: Storage> {
    neighbors: &'a CudaBuf<u32>,
    solid: &'a CudaBuf<u64>,
    slots: u32,
    populations: &'a CudaBuf<S>,
    departure: Departure<S::Real>,
    arrival: Arrival<S::Real>,
}

impl<S: Storage> Nothing<S> {
    fn or<'a, const D: usize>(&'a self, from: Option<&'a Origin<'a, D, S, Cuda>>) -> Given<'a, S> {
        match from {
            Some(from) => Given {
                neighbors: &from.level.neighbors,
                solid: &from.level.solid,
                slots: from.level.slots as u32,
                populations: from.populations,
                departure: from.departure,
                arrival: from.arrival,
            },
            None => Given {
                neighbors: &self.slots,
                solid: &self.masks,
                slots: 0,
                populations: &self.populations,
                departure: Departure::zeroed(),
                arrival: Arrival::zeroed(),
            },
        }
    }
}

pub(super) fn seed<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    transfer: &Transfer<'_, D, S, Cuda>,
    to: &mut CudaBuf<S>,
) -> Result<(), SolverError> {
    let slots = <Cuda as Backend>::len(transfer.sources);
    let nothing = Nothing {
        slots: cuda.upload(Vec::new())?,
        masks: cuda.upload(Vec::new())?,
        populations: cuda.upload(Vec::new())?,
    };
    let coarser = nothing.or(transfer.coarser.as_ref());
    let finer = nothing.or(transfer.finer.as_ref());
    let origin = transfer.coarser.as_ref().or(transfer.finer.as_ref());
    let operator = origin.map_or(OperatorKind::Trt, |from| from.arrival.relax.kind());
    let launch = cuda
        .launch(&SEED, D, arrival_entry!("seed", operator, L, S))
        .buf(transfer.sources)
        .buf(transfer.slot_of)
        .buf(transfer.same.unwrap_or(&nothing.populations))
        .buf(coarser.neighbors)
        .buf(coarser.solid)
        .val(coarser.slots)
        .buf(coarser.populations)
        .val(coarser.departure)
        .val(coarser.arrival)
        .buf(finer.solid)
        .val(finer.slots)
        .buf(finer.populations)
        .val(finer.departure)
        .val(finer.arrival)
        .out(to);
    // SAFETY: a source for each slot of `to`; slots and blocks that sources name are those before the change.
    unsafe { launch.run(LaunchGrid::blocks(slots, THREADS))? };
    Ok(())
}
