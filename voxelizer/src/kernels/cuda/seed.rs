//! One thread per facet, or one thread block where it has many rays; then one thread per row.

use super::{SEED, THREADS};
use crate::VoxelError;
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};
use cutlink_mesher::kernels::FacetSet;

/// Thread blocks that share the facets that meet many rays.
const BLOCKS: usize = 264;

pub(super) fn roots<const D: usize>(
    cuda: &Cuda,
    set: &FacetSet<D, Cuda>,
    grid: [[u32; D]; 2],
    spacing: i32,
) -> Result<CudaBuf<i32>, VoxelError> {
    let root = grid[0];
    let blocks: usize = root.iter().map(|&n| n as usize).product();
    let mut sums = cuda.alloc("winding numbers", blocks, 0i32)?;
    let facets = set.corners.len();
    let mut large = cuda.uninit::<u32>("large facets", facets)?;
    let mut larges = cuda.alloc("a count", 1, 0u32)?;
    let launch = cuda
        .launch(&SEED, D, "cross")
        .buf(&set.corners)
        .buf(&set.times)
        .val(u32::from(!set.times.is_empty()))
        .val(facets as u32)
        .val(grid)
        .val(spacing)
        .out(&mut sums)
        .out(&mut large)
        .out(&mut larges);
    // SAFETY: a multiplicity a facet, if any; a sum a root block; no facet is listed twice.
    unsafe { launch.run(LaunchGrid::over(facets, THREADS))? };
    let launch = cuda
        .launch(&SEED, D, "cross_large")
        .buf(&set.corners)
        .buf(&set.times)
        .val(u32::from(!set.times.is_empty()))
        .val(grid)
        .val(spacing)
        .buf(&large)
        .buf(&larges)
        .out(&mut sums);
    // SAFETY: as above; as many facets as are listed.
    unsafe { launch.run(LaunchGrid::blocks(BLOCKS, THREADS))? };
    let rows = blocks / root[0] as usize;
    let launch = cuda
        .launch(&SEED, D, "sum_rows")
        .val(rows as u32)
        .val(root[0])
        .out(&mut sums);
    // SAFETY: rows of that length are all of the sums.
    unsafe { launch.run(LaunchGrid::over(rows, 64))? };
    Ok(sums)
}
