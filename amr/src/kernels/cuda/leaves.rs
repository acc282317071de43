//! All children and root blocks, refined ones replaced by a word above all keys; the leaves are the first of the sorted
//! ones, and their number is known.

use super::{LEAVES, THREADS, linear::KeyGrid};
use crate::{
    ForestError, dims,
    linear::{Grid, check_count},
};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

pub(super) fn leaves<const D: usize>(
    cuda: &Cuda,
    grid: &Grid<D>,
    refined: &[CudaBuf<u64>],
) -> Result<CudaBuf<u64>, ForestError> {
    let (roots, blocks) = (
        grid.roots(),
        refined.iter().map(CudaBuf::len).sum::<usize>(),
    );
    let all = roots + blocks * dims::children(D);
    let count = all - blocks;
    check_count(count as u64)?;
    let none = cuda.uninit("refined blocks", 0)?;
    let mut keys = cuda.uninit("leaves", all)?;
    let of_roots = refined.first().unwrap_or(&none);
    let launch = cuda
        .launch(&LEAVES, D, "write_roots")
        .val(KeyGrid::of(grid))
        .val([grid.root(), grid.periodic().map(u32::from)])
        .val(roots as u32)
        .buf(of_roots)
        .val(of_roots.len() as u32)
        .out(&mut keys);
    // SAFETY: as many keys as said; room for all blocks.
    unsafe { launch.run(LaunchGrid::over(roots, THREADS))? };
    let mut first = roots;
    for (level, blocks) in refined.iter().enumerate() {
        let finer = refined.get(level + 1).unwrap_or(&none);
        let children = blocks.len() * dims::children(D);
        let launch = cuda
            .launch(&LEAVES, D, "write_children")
            .val(KeyGrid::of(grid))
            .val(level as u32)
            .buf(blocks)
            .val(blocks.len() as u32)
            .buf(finer)
            .val(finer.len() as u32)
            .out_at(&mut keys, first);
        // SAFETY: as above; the children of this level begin behind those of the coarser ones.
        unsafe { launch.run(LaunchGrid::over(children, THREADS))? };
        first += children;
    }
    let mut sorted = cuda.sort_keys(&keys, grid.key_bits(refined.len() as u32))?;
    sorted.truncate(count);
    Ok(sorted)
}
