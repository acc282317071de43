//! Keys of all ids, those of no leaf above all others; a search for each block of a level.

use super::{CONVERT, THREADS, linear::KeyGrid};
use crate::{Forest, ForestError, dims, linear::Grid};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

pub(super) fn leaves_of<const D: usize>(
    cuda: &Cuda,
    grid: &Grid<D>,
    forest: &Forest<D, Cuda>,
) -> Result<CudaBuf<u64>, ForestError> {
    let ids = forest.capacity();
    let mut keys = cuda.uninit("leaves", ids)?;
    let launch = cuda
        .launch(&CONVERT, D, "leaf_keys")
        .val(KeyGrid::of(grid))
        .val(ids as u32)
        .buf(&forest.level)
        .buf(&forest.first_child)
        .buf(&forest.coord)
        .out(&mut keys);
    // SAFETY: an entry of each array for each id, and a key.
    unsafe { launch.run(LaunchGrid::over(ids, THREADS))? };
    let mut sorted = cuda.sort_keys(&keys, grid.key_bits(forest.finest() as u32))?;
    // All but root blocks are children of refined ones.
    let (blocks, roots) = (forest.blocks(), forest.roots());
    sorted.truncate(blocks - (blocks - roots) / dims::children(D));
    Ok(sorted)
}

pub(super) fn mark_refined<const D: usize>(
    cuda: &Cuda,
    grid: &Grid<D>,
    forest: &Forest<D, Cuda>,
    level: usize,
    refined: &CudaBuf<u64>,
    marks: &mut CudaBuf<u8>,
) -> Result<(), ForestError> {
    let ids = &forest.levels[level];
    let launch = cuda
        .launch(&CONVERT, D, "mark_refined")
        .val(KeyGrid::of(grid))
        .val(level as u32)
        .buf(ids)
        .val(ids.len() as u32)
        .buf(&forest.coord)
        .buf(refined)
        .val(refined.len() as u32)
        .out(marks);
    // SAFETY: ids of blocks, which have a coordinate and a mark; as many keys as said.
    unsafe { launch.run(LaunchGrid::over(ids.len(), THREADS))? };
    Ok(())
}
