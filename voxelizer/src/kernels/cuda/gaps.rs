//! Blocks near gaps are few: one thread per block finds where the caps' angle may matter, and only these blocks are
//! classified by it, with one thread per cell. The tree is copied each time: its size is proportional to the open
//! edges, not to the facets.

use super::{GAPS, THREADS, classify::LevelAddresses};
use crate::{
    Fill, VoxelError,
    constants::CERTAIN,
    kernels::{LevelData, Seeds},
};
use cutlink_amr::dims;
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};
use cutlink_mesher::{kernels::Caps, robust::CapTree};

/// Classifies the blocks near gaps anew, whose parents are not certain; their winding numbers are in `anchors`, which get
/// what W - g is rounded to where a block is certain. Returns the marks of the level's blocks.
pub(super) fn classify<const D: usize>(
    cuda: &Cuda,
    data: &LevelData<'_, D, Cuda>,
    seeds: &Seeds<'_, Cuda>,
    rule: (Fill, &CapTree<D>),
    anchors: &mut CudaBuf<i32>,
    solid: &mut CudaBuf<u64>,
) -> Result<CudaBuf<u8>, VoxelError> {
    let LevelData { forest, view, .. } = data;
    let (fill, tree) = rule;
    let caps = Caps::new(cuda, tree)?;
    let mut uncertain = cuda.alloc("uncertain blocks", view.count, CERTAIN)?;
    let none = cuda.uninit("uncertain blocks", 0)?;
    let (from_parent, first_parent, above) = match seeds {
        Seeds::Blocks(_) => (0u32, 0, &none),
        Seeds::Parents {
            first, uncertain, ..
        } => (1, *first as u32, *uncertain),
    };
    let mut flags = cuda.uninit("flags", view.count)?;
    let launch = cuda
        .launch(&GAPS, D, "flag_near")
        .val(view.first as u32)
        .val(view.count as u32)
        .val(view.spacing)
        .buf(&forest.coord)
        .buf(&forest.parent)
        .val(from_parent)
        .val(first_parent)
        .buf(above);
    let launch = caps.give(launch).out(&mut flags);
    // SAFETY: the level's blocks have consecutive ids, with a parent each that has a byte `above`; the caps and their
    // rim are trees; a flag a block.
    unsafe { launch.run(LaunchGrid::over(view.count, THREADS))? };
    let rows = cuda.select("blocks near gaps", None, &flags)?;
    let level = LevelAddresses::new(data, seeds, fill, &rows, anchors, solid);
    let launch = caps
        .give(cuda.launch(&GAPS, D, "classify_near").val(level))
        .val(u32::from(fill.is_solid(1)))
        .out(&mut uncertain);
    // SAFETY: as above; rows of the level; numbers are one a block or 2^D a parent, multiplicities one a facet, if any; the lists hold numbers of facets;
    // anchors, where they are kept, 2^D a block; a mask an id, a byte a block.
    unsafe {
        launch.run(LaunchGrid::blocks(
            rows.len(),
            dims::cells(D).max(32) as u32,
        ))?
    };
    Ok(uncertain)
}

/// A flag for each of the level's blocks: 1 for leaves that may have links, those with walls and those where fluid
/// meets solid.
pub(super) fn linked<const D: usize>(
    cuda: &Cuda,
    data: &LevelData<'_, D, Cuda>,
    solid: &CudaBuf<u64>,
) -> Result<CudaBuf<u8>, VoxelError> {
    let LevelData {
        set,
        forest,
        bins,
        view,
        ..
    } = data;
    let mut flags = cuda.uninit("flags", view.count)?;
    let launch = cuda
        .launch(&GAPS, D, "flag_linked")
        .val(view.first as u32)
        .val(view.count as u32)
        .buf(&bins.starts)
        .buf(&bins.facets)
        .val(set.walls)
        .buf(&forest.first_child)
        .val(forest.grid())
        .buf(&forest.families)
        .buf(solid)
        .out(&mut flags);
    // SAFETY: the level's blocks have consecutive ids, with a row each of the lists; their
    // neighbours are blocks too, with a mask each; a flag a block.
    unsafe { launch.run(LaunchGrid::over(view.count, THREADS))? };
    Ok(flags)
}
