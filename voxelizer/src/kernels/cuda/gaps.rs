//! Blocks near gaps are few: one thread per block finds where the caps' angle may matter, and only these blocks are
//! classified by it, with one thread per cell. The tree is copied each time: its size is proportional to the open
//! edges, not to the facets.

use super::{GAPS, THREADS, small_extent};
use crate::{
    Fill, VoxelError,
    kernels::{LevelData, Seeds},
};
use cutlink_amr::dims;
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};
use cutlink_mesher::{kernels::Caps, robust::CapTree};

/// Classifies the blocks near gaps anew, whose anchors are known; which of the level's blocks are
/// uncertain. Far from gaps the fill rule alone decides: parity is no rule for a surface with gaps
/// (`EmbedParams::validate`), and any other winding number than zero is at least a half.
pub(super) fn classify<const D: usize>(
    cuda: &Cuda,
    data: &LevelData<'_, D, Cuda>,
    seeds: &Seeds<'_, Cuda>,
    fill: Fill,
    tree: &CapTree<D>,
    solid: &mut CudaBuf<u64>,
) -> Result<CudaBuf<u8>, VoxelError> {
    let LevelData {
        set,
        forest,
        bins,
        view,
        ..
    } = data;
    let caps = Caps::new(cuda, tree)?;
    let mut uncertain = cuda.alloc("uncertain blocks", view.count, 0u8)?;
    let reach = 1.5 * f64::from(view.spacing) * (D as f64).sqrt();
    let rows = near(cuda, data, &caps, reach)?;
    let mut values = cuda.uninit::<f64>("angles of gaps", rows.len())?;
    let launch = cuda
        .launch(&GAPS, D, "steady")
        .buf(&rows)
        .val(rows.len() as u32)
        .val(view.first as u32)
        .val(view.spacing)
        .val(reach)
        .buf(&forest.coord);
    let launch = caps.give(launch).out(&mut values);
    // SAFETY: rows of the level, whose ids are consecutive; the caps are a tree; a value a row.
    unsafe { launch.run(LaunchGrid::over(rows.len(), 64))? };
    let none = cuda.uninit("uncertain blocks", 0)?;
    let (numbers, from_parent, first_parent, above) = match seeds {
        Seeds::Blocks(numbers) => (numbers, 0u32, 0, &none),
        Seeds::Parents {
            anchors,
            first,
            uncertain,
        } => (*anchors, 1, *first as u32, *uncertain),
    };
    let launch = cuda
        .launch(&GAPS, D, "classify_near")
        .buf(&set.corners)
        .buf(&rows)
        .buf(&values)
        .buf(&bins.starts)
        .buf(&bins.facets)
        .val(view.first as u32)
        .val(view.spacing)
        .val(small_extent(view.spacing))
        .buf(&forest.coord)
        .buf(&forest.parent)
        .buf(numbers)
        .val(from_parent)
        .val(first_parent)
        .buf(above);
    let launch = caps
        .give(launch)
        .val(u32::from(fill.is_solid(1)))
        .out(solid)
        .out(&mut uncertain);
    // SAFETY: as above; numbers are one a block or 2^D a parent, of which each has a byte
    // `above`; the lists hold numbers of facets; a mask an id, a byte a block.
    unsafe {
        launch.run(LaunchGrid::blocks(
            rows.len(),
            dims::cells(D).max(32) as u32,
        ))?
    };
    Ok(uncertain)
}

/// Rows of the blocks in which g may matter.
fn near<const D: usize>(
    cuda: &Cuda,
    data: &LevelData<'_, D, Cuda>,
    caps: &Caps<D>,
    reach: f64,
) -> Result<CudaBuf<u32>, VoxelError> {
    let view = data.view;
    let mut flags = cuda.uninit("flags", view.count)?;
    let launch = cuda
        .launch(&GAPS, D, "flag_near")
        .val(view.first as u32)
        .val(view.count as u32)
        .val(view.spacing)
        .val(reach)
        .buf(&data.forest.coord);
    let launch = caps.give(launch).out(&mut flags);
    // SAFETY: the level's blocks have consecutive ids; the caps are a tree; a flag a block.
    unsafe { launch.run(LaunchGrid::over(view.count, THREADS))? };
    Ok(cuda.select("blocks near gaps", None, &flags)?)
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
