//! One thread per block without facets, one thread block per block with facets.

use super::{CLASSIFY, THREADS, all_small, gaps, small_extent};
use crate::{
    VoxelError,
    constants::FEW,
    kernels::{Classified, LevelData, Seeds, SolidRule},
};
use cutlink_amr::dims;
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

/// Where winding numbers of a level start from, and whether they are kept.
struct Start<'a> {
    numbers: &'a CudaBuf<i32>,
    from_parent: u32,
    first_parent: u32,
    /// Below certain blocks of a surface with gaps, walls alone count.
    above: &'a CudaBuf<u8>,
    fill: u32,
    keeps: bool,
}

pub(super) fn classify<const D: usize>(
    cuda: &Cuda,
    data: &LevelData<'_, D, Cuda>,
    seeds: &Seeds<'_, Cuda>,
    rule: SolidRule<'_, D>,
    solid: &mut CudaBuf<u64>,
) -> Result<Classified<Cuda>, VoxelError> {
    let none = cuda.uninit("uncertain blocks", 0)?;
    let (numbers, from_parent, first_parent, above) = match seeds {
        Seeds::Blocks(numbers) => (numbers, 0u32, 0, &none),
        Seeds::Parents {
            anchors,
            first,
            uncertain,
        } => (*anchors, 1, *first as u32, *uncertain),
    };
    let start = Start {
        numbers,
        from_parent,
        first_parent,
        above,
        fill: rule.fill as u32,
        // Links that pass facets need them on the finest level too.
        keeps: !data.view.last || rule.fill.passes_facets(),
    };
    let kept = if start.keeps { data.view.count } else { 0 };
    let mut anchors = cuda.uninit("winding numbers", kept * dims::children(D))?;
    plain(cuda, data, &start, &mut anchors, solid)?;
    crossed(cuda, data, &start, &mut anchors, solid)?;
    let uncertain = match rule.gaps {
        Some(tree) => {
            let rule = (rule.fill, tree);
            gaps::classify(cuda, data, seeds, rule, &mut anchors, solid)?
        }
        None => cuda.uninit("uncertain blocks", 0)?,
    };
    Ok(Classified { anchors, uncertain })
}

/// Blocks without facets.
fn plain<const D: usize>(
    cuda: &Cuda,
    data: &LevelData<'_, D, Cuda>,
    start: &Start<'_>,
    anchors: &mut CudaBuf<i32>,
    solid: &mut CudaBuf<u64>,
) -> Result<(), VoxelError> {
    let LevelData {
        forest, bins, view, ..
    } = data;
    let launch = cuda
        .launch(&CLASSIFY, D, "plain")
        .val(view.first as u32)
        .val(view.count as u32)
        .buf(&forest.coord)
        .buf(&forest.parent)
        .buf(start.numbers)
        .val(start.from_parent)
        .val(start.first_parent)
        .buf(&bins.starts)
        .val(start.fill)
        .val(u32::from(start.keeps))
        .out(anchors)
        .out(solid);
    // SAFETY: the level's blocks have consecutive ids, with a row each of the lists; numbers are
    // one a block or 2^D a parent; anchors, where they are kept, 2^D a block; a mask an id.
    unsafe { launch.run(LaunchGrid::over(view.count, THREADS))? };
    Ok(())
}

/// Blocks with facets.
fn crossed<const D: usize>(
    cuda: &Cuda,
    data: &LevelData<'_, D, Cuda>,
    start: &Start<'_>,
    anchors: &mut CudaBuf<i32>,
    solid: &mut CudaBuf<u64>,
) -> Result<(), VoxelError> {
    let LevelData {
        set,
        forest,
        bins,
        view,
        ..
    } = data;
    let small = all_small(data);
    let by_size = |all_small, mixed| if small { all_small } else { mixed };
    let launch = |kernel| {
        cuda.launch(&CLASSIFY, D, kernel)
            .buf(&set.corners)
            .buf(&set.times)
            .val(u32::from(!set.times.is_empty()))
            .buf(&bins.rows)
            .buf(&bins.starts)
            .buf(&bins.facets)
            .val(view.first as u32)
            .val(view.spacing)
            .val(small_extent(view.spacing))
            .buf(&forest.coord)
            .buf(&forest.parent)
            .buf(start.numbers)
            .val(start.from_parent)
            .val(start.first_parent)
            .val(start.fill)
            .val(u32::from(start.keeps))
            .val(set.walls)
            .buf(start.above)
            .val(u32::from(!start.above.is_empty()))
    };
    let rows = bins.rows.len();
    // SAFETY (all): as of `plain`, for the rows that have facets; the lists hold numbers of facets. Few
    // blocks a warp, a thread block a block, or parts of one whose sums have 4^D places a row.
    match Plan::new(data) {
        Plan::Few => {
            let kernel = by_size("crossed_few_small", "crossed_few_mixed");
            let launch = launch(kernel).out(anchors).out(solid).val(rows as u32);
            // SAFETY: see above.
            unsafe { launch.run(LaunchGrid::blocks(rows.div_ceil(FEW), 32))? };
        }
        Plan::Parts(parts) => {
            let mut all = cuda.alloc("winding numbers", rows * dims::cells(D), 0i32)?;
            let kernel = by_size("crossed_parts_small", "crossed_parts_mixed");
            let first = launch(kernel).out(anchors).out(solid);
            let first = first.val(parts as u32).out(&mut all);
            // SAFETY: see above.
            unsafe { first.run(LaunchGrid::blocks(rows * parts, THREADS))? };
            let end = launch("crossed_end").out(anchors).out(solid);
            let end = end.val(rows as u32).buf(&all);
            // SAFETY: see above.
            unsafe { end.run(LaunchGrid::over(32 * rows, THREADS))? };
        }
        Plan::Each { threads } => {
            let kernel = by_size("crossed_small", "crossed_mixed");
            let launch = launch(kernel).out(anchors).out(solid);
            // SAFETY: see above.
            unsafe { launch.run(LaunchGrid::blocks(rows, threads))? };
        }
    }
    Ok(())
}

/// How blocks with facets are distributed over threads, by the mean length of their lists.
enum Plan {
    /// A few blocks per warp.
    Few,
    /// Several thread blocks per block.
    Parts(usize),
    /// One thread block per block.
    Each { threads: u32 },
}

impl Plan {
    fn new<const D: usize>(data: &LevelData<'_, D, Cuda>) -> Self {
        let (entries, rows) = (data.bins.facets.len(), data.bins.rows.len());
        match entries / rows.max(1) {
            0..=12 => Self::Few,
            mean @ 512.. => Self::Parts((mean / 512).clamp(1, 64)),
            _ => Self::Each {
                threads: LaunchGrid::threads_for(entries, rows, THREADS),
            },
        }
    }
}
