//! One warp per family of siblings.

use super::{CONNECT, THREADS};
use crate::{Forest, ForestError, dims};
use cutlink_device::cuda::{Cuda, LaunchGrid};

pub(super) fn connect<const D: usize>(
    cuda: &Cuda,
    forest: &mut Forest<D, Cuda>,
    level: usize,
) -> Result<(), ForestError> {
    let grid = forest.grid();
    let forest = &mut forest.arrays;
    let ids = &forest.levels[level];
    let groups = ids.len() / dims::children(D);
    let launch = cuda
        .launch(&CONNECT, D, "connect")
        .buf(ids)
        .val(groups as u32)
        .val(grid)
        .buf(&forest.parent)
        .buf(&forest.first_child)
        .out(&mut forest.families);
    // SAFETY: siblings stand together in the level's list; each group writes its own places,
    // which are there for every id that is no root block, and reads those of the level above.
    unsafe { launch.run(LaunchGrid::over(32 * groups, THREADS))? };
    Ok(())
}
