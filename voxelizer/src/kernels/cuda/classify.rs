//! One thread per block without facets, one thread block per block with facets.

use super::{CLASSIFY, THREADS, address_or_none, all_small, gaps, small_extent};
use crate::{
    Fill, VoxelError,
    constants::FEW,
    kernels::{Classified, LevelData, LevelView, Seeds, SolidRule},
};
use bytemuck::{Pod, Zeroable};
use cutlink_amr::dims;
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

/// `Level` of `level.cuh`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct LevelAddresses {
    corners: u64,
    times: u64,
    rows: u64,
    starts: u64,
    facets: u64,
    coord: u64,
    parent: u64,
    numbers: u64,
    from_parent: u32,
    first_parent: u32,
    above: u64,
    anchors: u64,
    solid: u64,
    first: u32,
    spacing: i32,
    small: i32,
    fill: u32,
    keep: u32,
    walls: u32,
}

/// Whether winding numbers of a level are kept. Links that pass facets need them on the finest level too.
fn keeps(view: LevelView, fill: Fill) -> bool {
    !view.last || fill.passes_facets()
}

impl LevelAddresses {
    /// Of a level whose blocks in `rows` are classified.
    pub(super) fn new<const D: usize>(
        data: &LevelData<'_, D, Cuda>,
        seeds: &Seeds<'_, Cuda>,
        fill: Fill,
        rows: &CudaBuf<u32>,
        anchors: &mut CudaBuf<i32>,
        solid: &mut CudaBuf<u64>,
    ) -> Self {
        let LevelData {
            set,
            forest,
            bins,
            view,
            ..
        } = data;
        let (numbers, from_parent, first_parent, above) = match seeds {
            Seeds::Blocks(numbers) => (numbers, 0, 0, 0),
            Seeds::Parents {
                anchors,
                first,
                uncertain,
            } => (*anchors, 1, *first as u32, address_or_none(uncertain)),
        };
        Self {
            corners: set.corners.address(0),
            times: address_or_none(&set.times),
            rows: rows.address(0),
            starts: bins.starts.address(0),
            facets: bins.facets.address(0),
            coord: forest.coord.address(0),
            parent: forest.parent.address(0),
            numbers: numbers.address(0),
            from_parent,
            first_parent,
            above,
            anchors: anchors.share(),
            solid: solid.share(),
            first: view.first as u32,
            spacing: view.spacing,
            small: small_extent(view.spacing),
            fill: fill as u32,
            keep: u32::from(keeps(*view, fill)),
            walls: set.walls,
        }
    }
}

pub(super) fn classify<const D: usize>(
    cuda: &Cuda,
    data: &LevelData<'_, D, Cuda>,
    seeds: &Seeds<'_, Cuda>,
    rule: SolidRule<'_, D>,
    solid: &mut CudaBuf<u64>,
) -> Result<Classified<Cuda>, VoxelError> {
    let (bins, view, fill) = (data.bins, data.view, rule.fill);
    let kept = if keeps(view, fill) { view.count } else { 0 };
    let mut anchors = cuda.uninit("winding numbers", kept * dims::children(D))?;
    let level = LevelAddresses::new(data, seeds, fill, &bins.rows, &mut anchors, solid);
    let launch = cuda
        .launch(&CLASSIFY, D, "plain")
        .val(level)
        .val(view.count as u32);
    // SAFETY: the level's blocks have consecutive ids, with a row each of the lists; numbers are
    // one a block or 2^D a parent; anchors, where they are kept, 2^D a block; a mask an id.
    unsafe { launch.run(LaunchGrid::over(view.count, THREADS))? };
    let small = all_small(data);
    let by_size = |all_small, mixed| if small { all_small } else { mixed };
    let launch = |kernel| cuda.launch(&CLASSIFY, D, kernel).val(level);
    let rows = bins.rows.len();
    // SAFETY (all): as above, for the rows that have facets; the lists hold numbers of facets. Few
    // blocks a warp, a thread block a block, or parts of one whose sums have 4^D places a row.
    match Plan::new(data) {
        Plan::Few => {
            let launch = launch(by_size("crossed_few_small", "crossed_few_mixed"));
            let launch = launch.val(rows as u32);
            // SAFETY: see above.
            unsafe { launch.run(LaunchGrid::blocks(rows.div_ceil(FEW), 32))? };
        }
        Plan::Parts(parts) => {
            let mut all = cuda.alloc("winding numbers", rows * dims::cells(D), 0i32)?;
            let first = launch(by_size("crossed_parts_small", "crossed_parts_mixed"));
            let first = first.val(parts as u32).out(&mut all);
            // SAFETY: see above.
            unsafe { first.run(LaunchGrid::blocks(rows * parts, THREADS))? };
            let end = launch("crossed_end").val(rows as u32).buf(&all);
            // SAFETY: see above.
            unsafe { end.run(LaunchGrid::over(32 * rows, THREADS))? };
        }
        Plan::Each { threads } => {
            let launch = launch(by_size("crossed_small", "crossed_mixed"));
            // SAFETY: see above.
            unsafe { launch.run(LaunchGrid::blocks(rows, threads))? };
        }
    }
    let uncertain = match rule.gaps {
        Some(tree) => gaps::classify(cuda, data, seeds, (fill, tree), &mut anchors, solid)?,
        None => cuda.uninit("uncertain blocks", 0)?,
    };
    Ok(Classified { anchors, uncertain })
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
