//! Launches over the blocks of a level, or over all ids.

use super::{REBUILD, THREADS};
use crate::{Forest, ForestError, FormerIds, constants::REFINED_COUNTS};
use cutlink_device::{
    Backend, Item,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

pub(super) fn flag_refined<const D: usize>(
    cuda: &Cuda,
    forest: &Forest<D, Cuda>,
    marks: &CudaBuf<u8>,
) -> Result<CudaBuf<u8>, ForestError> {
    let count = forest.capacity();
    let mut flags = cuda.uninit("flags", count)?;
    let launch = cuda
        .launch(&REBUILD, D, "flag_refined")
        .val(count as u32)
        .buf(&forest.level)
        .buf(&forest.first_child)
        .buf(marks)
        .out(&mut flags);
    // SAFETY: an entry of each array, and a flag, for each id.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(flags)
}

pub(super) fn clear_coarsened<const D: usize>(
    cuda: &Cuda,
    forest: &Forest<D, Cuda>,
    level: usize,
    marks: &CudaBuf<u8>,
    flags: &mut CudaBuf<u8>,
) -> Result<(), ForestError> {
    let ids = &forest.levels[level];
    let launch = cuda
        .launch(&REBUILD, D, "clear_coarsened")
        .buf(ids)
        .val(ids.len() as u32)
        .val(forest.grid())
        .buf(&forest.families)
        .buf(&forest.first_child)
        .buf(marks)
        .out(flags);
    // SAFETY: the arrays of a forest, marks and flags have an entry an id; families the places of all but root blocks.
    unsafe { launch.run(LaunchGrid::over(ids.len(), THREADS))? };
    Ok(())
}

pub(super) fn count_refined<const D: usize>(
    cuda: &Cuda,
    forest: &Forest<D, Cuda>,
    flags: &CudaBuf<u8>,
) -> Result<Vec<u64>, ForestError> {
    let count = forest.capacity();
    let mut counts = cuda.alloc("counts", REFINED_COUNTS as usize, 0u64)?;
    let launch = cuda
        .launch(&REBUILD, D, "count_refined")
        .val(count as u32)
        .buf(&forest.level)
        .buf(&forest.first_child)
        .buf(flags)
        .out(&mut counts);
    // SAFETY: as in `flag_refined`; levels are below the number of counts.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(cuda.download(&counts)?)
}

pub(super) fn follow_marks<const D: usize>(
    cuda: &Cuda,
    fresh: &Forest<D, Cuda>,
    level: usize,
    old_of: &CudaBuf<u32>,
    flags: &CudaBuf<u8>,
    marks: &mut CudaBuf<u8>,
) -> Result<(), ForestError> {
    let ids = &fresh.levels[level];
    let launch = cuda
        .launch(&REBUILD, D, "follow_marks")
        .buf(ids)
        .val(ids.len() as u32)
        .buf(old_of)
        .buf(flags)
        .out(marks);
    // SAFETY: a former id and a mark for each id; a flag for each former id.
    unsafe { launch.run(LaunchGrid::over(ids.len(), THREADS))? };
    Ok(())
}

pub(super) fn follow_children<const D: usize>(
    cuda: &Cuda,
    old: &Forest<D, Cuda>,
    fresh: &Forest<D, Cuda>,
    level: usize,
    old_of: &mut CudaBuf<u32>,
) -> Result<(), ForestError> {
    let ids = &fresh.levels[level];
    let launch = cuda
        .launch(&REBUILD, D, "follow_children")
        .buf(ids)
        .val(ids.len() as u32)
        .buf(&fresh.first_child)
        .buf(&old.first_child)
        .out(old_of);
    // SAFETY: a place for each id; blocks with children had a former id, which is one of the old forest.
    unsafe { launch.run(LaunchGrid::over(ids.len(), THREADS))? };
    Ok(())
}

pub(super) fn follow<const D: usize, T: Item>(
    cuda: &Cuda,
    values: &CudaBuf<T>,
    former: &FormerIds<Cuda>,
    none: T,
) -> Result<CudaBuf<T>, ForestError> {
    let kernel = match size_of::<T>() {
        1 => "follow_u8",
        4 => "follow_u32",
        8 => "follow_u64",
        size => panic!("values of 1, 4 or 8 bytes should follow, not {size}"),
    };
    let old_of = former.ids();
    let count = old_of.len();
    let mut out = cuda.uninit("values that follow", count)?;
    let launch = cuda
        .launch(&REBUILD, D, kernel)
        .val(count as u32)
        .buf(old_of)
        .buf(values)
        .val(none)
        .out(&mut out);
    // SAFETY: there is a value for each former id that is not NONE, as the caller checked; a value of this size for each new id.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(out)
}
