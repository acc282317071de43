//! A thread a block without facets, a thread block for one with facets.

use super::{CLASSIFY, THREADS, all_small, gaps, threads_for};
use crate::{
    VoxelError,
    kernels::{Classified, LevelData, Seeds, SolidRule},
};
use cutlink_amr::dims;
use cutlink_device::cuda::{Cuda, CudaBuf, Grid};

pub(super) fn classify<const D: usize>(
    cuda: &Cuda,
    data: &LevelData<'_, D, Cuda>,
    seeds: &Seeds<'_, Cuda>,
    rule: SolidRule<'_, D>,
    solid: &mut CudaBuf<u64>,
) -> Result<Classified<Cuda>, VoxelError> {
    let LevelData {
        set,
        forest,
        bins,
        view,
    } = data;
    let (numbers, from_parent, first_parent) = match seeds {
        Seeds::Blocks(numbers) => (numbers, 0u32, 0),
        Seeds::Parents { anchors, first, .. } => (*anchors, 1, *first as u32),
    };
    let fill = if rule.gaps.is_some() {
        gaps::far(rule.fill)
    } else {
        rule.fill
    };
    let kept = if view.last { 0 } else { view.count };
    let mut anchors = cuda.uninit("winding numbers", kept * dims::children(D))?;
    let launch = cuda
        .launch(&CLASSIFY, D, "plain")
        .val(view.first as u32)
        .val(view.count as u32)
        .buf(&forest.coord)
        .buf(&forest.parent)
        .buf(numbers)
        .val(from_parent)
        .val(first_parent)
        .buf(&bins.starts)
        .val(fill as u32)
        .val(u32::from(!view.last))
        .out(&mut anchors)
        .out(solid);
    // SAFETY: the level's blocks have consecutive ids, with a row each of the lists; numbers are
    // one a block or 2^D a parent; anchors, where they are kept, 2^D a block; a mask an id.
    unsafe { launch.run(Grid::over(view.count, THREADS))? };
    let small = all_small(data);
    let kernel = if small {
        "crossed_small"
    } else {
        "crossed_any"
    };
    let launch = cuda
        .launch(&CLASSIFY, D, kernel)
        .buf(&set.corners)
        .buf(&bins.rows)
        .buf(&bins.starts)
        .buf(&bins.facets)
        .val(view.first as u32)
        .val(view.spacing)
        .buf(&forest.coord)
        .buf(&forest.parent)
        .buf(numbers)
        .val(from_parent)
        .val(first_parent)
        .val(fill as u32)
        .val(u32::from(!view.last))
        .out(&mut anchors)
        .out(solid);
    let threads = threads_for(bins.facets.len(), bins.rows.len());
    // SAFETY: as above, for the rows that have facets; the lists hold numbers of facets.
    unsafe { launch.run(Grid::blocks(bins.rows.len(), threads))? };
    let uncertain = match rule.gaps {
        Some(tree) => gaps::classify(cuda, data, seeds, rule.fill, tree, solid)?,
        None => cuda.uninit("uncertain blocks", 0)?,
    };
    Ok(Classified { anchors, uncertain })
}
