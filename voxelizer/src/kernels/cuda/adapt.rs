//! Launches over all ids, or over the blocks of a level.

use super::{ADAPT, THREADS};
use crate::{Mesh, VoxelError};
use cutlink_amr::Forest;
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

pub(super) fn hold<const D: usize>(
    cuda: &Cuda,
    forest: &Forest<D, Cuda>,
    held: &CudaBuf<u8>,
    marks: &mut CudaBuf<u8>,
) -> Result<(), VoxelError> {
    let count = forest.capacity();
    let launch = cuda
        .launch(&ADAPT, D, "hold")
        .val(count as u32)
        .buf(&forest.parent)
        .buf(held)
        .out(marks);
    // SAFETY: a flag and a mark for each id; parents are ids.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(())
}

pub(super) fn withdraw<const D: usize>(
    cuda: &Cuda,
    mesh: &Mesh<D, Cuda>,
    level: usize,
    marks: &mut CudaBuf<u8>,
    withheld: &mut CudaBuf<u32>,
) -> Result<(), VoxelError> {
    let (forest, ids) = (&mesh.forest, &mesh.forest.levels[level]);
    let launch = cuda
        .launch(&ADAPT, D, "withdraw")
        .buf(ids)
        .val(ids.len() as u32)
        .val(forest.grid())
        .buf(&forest.families)
        .buf(&forest.coord)
        .buf(&forest.parent)
        .buf(&forest.first_child)
        .buf(&mesh.classes.solid)
        .buf(&mesh.classes.boundary)
        .out(marks)
        .out(withheld);
    // SAFETY: the arrays of a forest, masks and marks have an entry an id; families the places of all but root blocks,
    // which have a neighbour or a face in each direction.
    unsafe { launch.run(LaunchGrid::over(ids.len(), THREADS))? };
    Ok(())
}

pub(super) fn name_rows<const D: usize>(
    cuda: &Cuda,
    row_of: &CudaBuf<u32>,
    blocks: &mut CudaBuf<u32>,
) -> Result<(), VoxelError> {
    let launch = cuda
        .launch(&ADAPT, D, "name_rows")
        .val(row_of.len() as u32)
        .buf(row_of)
        .out(blocks);
    // SAFETY: rows are those of the table, which has a block for each.
    unsafe { launch.run(LaunchGrid::over(row_of.len(), THREADS))? };
    Ok(())
}
