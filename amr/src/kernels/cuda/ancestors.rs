//! Counted, scanned and written in the order of keys, then sorted by level alone, which keeps this order within a level.

use super::{ANCESTORS, THREADS, linear::KeyGrid};
use crate::{
    ForestError,
    linear::{Grid, LEVEL_BITS},
};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

const LEVELS: usize = 1 << LEVEL_BITS;

pub(super) fn ancestors<const D: usize>(
    cuda: &Cuda,
    grid: &Grid<D>,
    keys: &CudaBuf<u64>,
) -> Result<Vec<CudaBuf<u64>>, ForestError> {
    let count = keys.len();
    if count == 0 {
        return Ok(Vec::new());
    }
    let mut starts = cuda.uninit("numbers of ancestors", count + 1)?;
    // By level; words that are no keys; all ancestors.
    let mut sums = cuda.alloc("numbers of ancestors", LEVELS + 2, 0u64)?;
    let launch = cuda
        .launch(&ANCESTORS, D, "count_ancestors")
        .val(KeyGrid::of(grid))
        .buf(keys)
        .val(count as u32)
        .out(&mut starts)
        .out(&mut sums);
    // SAFETY: a number for each key and one more; sums of all levels that a key can have and one more.
    unsafe { launch.run(LaunchGrid::over(count + 1, THREADS))? };
    cuda.scan(&mut starts, &mut sums, LEVELS + 1)?;
    let sums = cuda.download(&sums)?;
    let (strangers, blocks) = (sums[LEVELS], sums[LEVELS + 1]);
    if strangers > 0 {
        return Err(ForestError::NoBlocks { count: strangers });
    }
    if blocks > u64::from(u32::MAX) {
        return Err(ForestError::TooManyBlocks { blocks });
    }
    let mut all = cuda.uninit("refined blocks", blocks as usize)?;
    let launch = cuda
        .launch(&ANCESTORS, D, "write_ancestors")
        .val(KeyGrid::of(grid))
        .buf(keys)
        .val(count as u32)
        .buf(&starts)
        .out(&mut all);
    // SAFETY: a start for each key and one more; room for all that were counted.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    let all = cuda.sort_keys(&all, 0..LEVEL_BITS)?;
    let mut first = 0;
    let of_level = |&count: &u64| {
        let piece = all.piece("refined blocks", first, count as usize)?;
        first += count as usize;
        Ok(piece)
    };
    // Whoever has ancestors on a level has them on all coarser ones.
    sums[..LEVELS]
        .iter()
        .take_while(|&&count| count > 0)
        .map(of_level)
        .collect()
}
