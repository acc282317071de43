//! A thread a cell of the mesh that is mapped to.

use super::{D, MAP, THREADS};
use crate::refine::{CellPath, CellRanges, RefineError};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

pub(super) fn ranges(
    cuda: &Cuda,
    from: &CudaBuf<CellPath>,
    to: &CudaBuf<CellPath>,
) -> Result<CellRanges<Cuda>, RefineError> {
    let cells = to.len();
    let mut ranges = CellRanges {
        first: cuda.uninit("sources of cells", cells)?,
        count: cuda.uninit("sources of cells", cells)?,
        sources: from.len(),
    };
    let launch = cuda
        .launch(&MAP, D, "find_ranges")
        .buf(from)
        .val(from.len() as u32)
        .buf(to)
        .val(cells as u32)
        .out(&mut ranges.first)
        .out(&mut ranges.count);
    // SAFETY: as many paths as said, two words for each cell.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    Ok(ranges)
}

pub(super) fn map(
    cuda: &Cuda,
    ranges: &CellRanges<Cuda>,
    volumes: &CudaBuf<f64>,
    values: &CudaBuf<f64>,
) -> Result<CudaBuf<f64>, RefineError> {
    let cells = ranges.first.len();
    let mut mapped = cuda.uninit("mapped values", cells)?;
    let launch = cuda
        .launch(&MAP, D, "map_values")
        .buf(&ranges.first)
        .buf(&ranges.count)
        .val(cells as u32)
        .buf(volumes)
        .buf(values)
        .out(&mut mapped);
    // SAFETY: the ranges lie in volumes and values; a number for each cell.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    Ok(mapped)
}

pub(super) fn project(
    cuda: &Cuda,
    ranges: &CellRanges<Cuda>,
    wanted: &CudaBuf<u8>,
    paths: &CudaBuf<CellPath>,
) -> Result<(CudaBuf<u8>, usize), RefineError> {
    let cells = ranges.first.len();
    let mut marks = cuda.uninit("marks", cells)?;
    let mut total = cuda.alloc("a count", 1, 0u32)?;
    let launch = cuda
        .launch(&MAP, D, "project_marks")
        .buf(&ranges.first)
        .buf(&ranges.count)
        .val(cells as u32)
        .buf(wanted)
        .buf(paths)
        .out(&mut marks)
        .out(&mut total);
    // SAFETY: the ranges lie in the numbers; a path and a mark for each cell.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    Ok((marks, total.read(0)? as usize))
}
