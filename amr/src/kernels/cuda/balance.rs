//! Missing blocks are appended, sorted, made unique and merged in.

use super::{BALANCE, THREADS, linear::KeyGrid};
use crate::{ForestError, linear::Grid};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

pub(super) fn balance<const D: usize>(
    cuda: &Cuda,
    grid: &Grid<D>,
    level: u32,
    finer: &CudaBuf<u64>,
    coarser: &mut CudaBuf<u64>,
) -> Result<(), ForestError> {
    let asked = finer.len() << D;
    if asked > u32::MAX as usize {
        let blocks = asked as u64;
        return Err(ForestError::TooManyBlocks { blocks });
    }
    let mut missing = cuda.uninit("missing blocks", asked)?;
    let mut found = cuda.alloc("a count", 1, 0u64)?;
    let launch = cuda
        .launch(&BALANCE, D, "missing")
        .val(KeyGrid::of(grid))
        .val(level)
        .buf(finer)
        .val(finer.len() as u32)
        .buf(coarser)
        .val(coarser.len() as u32)
        .out(&mut missing)
        .out(&mut found);
    // SAFETY: as many keys as said; room for all that are requested.
    unsafe { launch.run(LaunchGrid::over(asked, THREADS))? };
    missing.truncate(found.read(0)? as usize);
    if missing.is_empty() {
        return Ok(());
    }
    let sorted = cuda.sort_keys(&missing, grid.key_bits(level - 1))?;
    let more = cuda.unique(&sorted)?;
    let mut merged = cuda.uninit("refined blocks", coarser.len() + more.len())?;
    let launch = cuda
        .launch(&BALANCE, D, "merge")
        .buf(coarser)
        .val(coarser.len() as u32)
        .buf(&more)
        .val(more.len() as u32)
        .out(&mut merged);
    // SAFETY: as many keys as said, none in both lists, none twice; room for both.
    unsafe { launch.run(LaunchGrid::over(coarser.len() + more.len(), THREADS))? };
    *coarser = merged;
    Ok(())
}
