//! Launches over slots.

use super::TRANSFER;
use crate::{
    SolverError,
    adapt::transfer::{Before, SlotSource},
    tables::Level,
};
use cutlink_amr::{Forest, FormerIds};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

const THREADS: u32 = 256;

pub(super) fn own_slots<const D: usize>(
    cuda: &Cuda,
    forest: &Forest<D, Cuda>,
    level: &Level<D, Cuda>,
    blocks: &CudaBuf<u32>,
    slot_of: &mut CudaBuf<u32>,
) -> Result<(), SolverError> {
    let launch = cuda
        .launch(&TRANSFER, D, "own_slots")
        .buf(blocks)
        .val(level.slots as u32)
        .val(level.exchanging as u32)
        .buf(&level.overlap_of)
        .buf(&forest.first_child)
        .out(slot_of);
    // SAFETY: a block for each slot, a place for each exchanging one; blocks are ids.
    unsafe { launch.run(LaunchGrid::over(level.slots, THREADS))? };
    Ok(())
}

pub(super) fn sources<const D: usize>(
    cuda: &Cuda,
    forest: &Forest<D, Cuda>,
    blocks: &CudaBuf<u32>,
    former: &FormerIds<Cuda>,
    before: &Before<Cuda>,
) -> Result<CudaBuf<SlotSource>, SolverError> {
    let mut out = cuda.uninit("sources of populations", blocks.len())?;
    let launch = cuda
        .launch(&TRANSFER, D, "sources")
        .buf(blocks)
        .val(blocks.len() as u32)
        .buf(&forest.parent)
        .buf(&forest.first_child)
        .buf(former.ids())
        .buf(&before.slot_of)
        .buf(&before.first_child)
        .out(&mut out);
    // SAFETY: blocks are ids; those that are new have a parent that is not; former ids are those that `before` has entries of.
    unsafe { launch.run(LaunchGrid::over(blocks.len(), THREADS))? };
    Ok(out)
}
