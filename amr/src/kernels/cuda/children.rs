//! Groups of children: the arrays grow, then one thread per child.

use super::{CHILDREN, THREADS};
use crate::{Forest, ForestError, dims};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

pub(super) fn insert<const D: usize>(
    cuda: &Cuda,
    forest: &mut Forest<D, Cuda>,
    level: usize,
    parents: &CudaBuf<u32>,
    marks: &mut CudaBuf<u8>,
) -> Result<(), ForestError> {
    let group = dims::children(D);
    let recycled = parents.len().min(forest.gaps.len());
    let start = forest.capacity();
    let capacity = start + (parents.len() - recycled) * group;
    let listed = grow(cuda, forest, capacity, parents.len() * group, level)?;
    marks.grow("marks", capacity)?;
    let forest = &mut forest.arrays;
    let rest = forest.gaps.len() - recycled;
    let mut firsts = forest.gaps.split_off(rest);
    firsts.reverse();
    let firsts = cuda.upload(firsts)?;
    let launch = cuda
        .launch(&CHILDREN, D, "insert")
        .buf(parents)
        .val(parents.len() as u32)
        .buf(&firsts)
        .val(recycled as u32)
        .val(start as u32)
        .val(level as u8 + 1)
        .out(&mut forest.coord)
        .out(&mut forest.level)
        .out(&mut forest.parent)
        .out(&mut forest.first_child)
        .out(marks)
        .out_at(&mut forest.levels[level + 1], listed);
    // SAFETY: parents are ids; every array has room for the capacity, the level's list for all
    // children; recycled groups are within it.
    unsafe { launch.run(LaunchGrid::over(parents.len() * group, THREADS))? };
    Ok(())
}

/// Grows the arrays, and returns the previous length of the level's list.
fn grow<const D: usize>(
    cuda: &Cuda,
    forest: &mut Forest<D, Cuda>,
    capacity: usize,
    inserted: usize,
    level: usize,
) -> Result<usize, ForestError> {
    let places = forest.families_len(capacity);
    let forest = &mut forest.arrays;
    forest.coord.grow("block coordinates", capacity)?;
    forest.parent.grow("parents", capacity)?;
    forest.first_child.grow("first children", capacity)?;
    forest.families.grow("block neighbours", places)?;
    forest.level.grow("block levels", capacity)?;
    if forest.levels.len() == level + 1 {
        forest.levels.push(cuda.uninit("block ids", 0)?);
    }
    let ids = &mut forest.levels[level + 1];
    let listed = ids.len();
    ids.grow("block ids", listed + inserted)?;
    Ok(listed)
}

pub(super) fn remove<const D: usize>(
    cuda: &Cuda,
    forest: &mut Forest<D, Cuda>,
    level: usize,
    parents: &CudaBuf<u32>,
) -> Result<(), ForestError> {
    let forest = &mut forest.arrays;
    let mut gaps = cuda.uninit::<u32>("free groups", parents.len())?;
    let launch = cuda
        .launch(&CHILDREN, D, "remove_groups")
        .buf(parents)
        .val(parents.len() as u32)
        .out(&mut forest.first_child)
        .out(&mut forest.level)
        .out(&mut gaps);
    // SAFETY: parents are ids of blocks with children, whose ids are below the capacity.
    unsafe { launch.run(LaunchGrid::over(parents.len(), THREADS))? };
    let ids = &forest.levels[level + 1];
    let mut flags = cuda.uninit("flags", ids.len())?;
    let launch = cuda
        .launch(&CHILDREN, D, "flag_alive")
        .buf(ids)
        .val(ids.len() as u32)
        .buf(&forest.level)
        .out(&mut flags);
    // SAFETY: ids are below the capacity; a flag each.
    unsafe { launch.run(LaunchGrid::over(ids.len(), THREADS))? };
    let alive = cuda.select("block ids", Some(ids), &flags)?;
    forest.levels[level + 1] = alive;
    forest.gaps.extend(cuda.download(&gaps)?);
    if forest.levels[level + 1].is_empty() {
        forest.levels.truncate(level + 1);
    }
    Ok(())
}
