//! Links into a staging area in the order in which thread blocks are done, then into the table in
//! the order of blocks.

use super::{CUT_LINKS, THREADS, address_or_none, all_small, gaps};
use crate::{
    LinkTable, VoxelError,
    kernels::{LevelData, LinkRule},
};
use cutlink_amr::NONE;
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid, Sums},
};

/// Initial capacity: links of a block with facets, measured on scans.
const TYPICAL_LINKS: usize = 88;
/// Threads that share a block.
const WARP: u32 = 32;
/// Boundary cells likewise.
const TYPICAL_CELLS: usize = 14;

/// Blocks with links and what was found of each.
struct Found {
    q: CudaBuf<f32>,
    patch: CudaBuf<u16>,
    cells: CudaBuf<u64>,
    /// First link and first cell of each block above.
    at: CudaBuf<[u64; 2]>,
    /// Links, cells and rows before each block, and behind the last.
    sums: CudaBuf<Sums>,
    total: [u64; 3],
    /// Links that pass facets and are not cut.
    passed: u64,
}

impl Found {
    /// Room for links and boundary cells of some blocks.
    fn with_room(
        cuda: &Cuda,
        rows: usize,
        [links, cells]: [usize; 2],
        has_patches: bool,
    ) -> Result<Self, VoxelError> {
        let bytes = if has_patches { 6 } else { 4 };
        cuda.reserve("cut links", (links * bytes + cells * 8 + rows * 40) as u64)?;
        Ok(Self {
            q: cuda.uninit("cut links", links)?,
            patch: cuda.uninit("cut links", if has_patches { links } else { 0 })?,
            cells: cuda.uninit("cut links", cells)?,
            at: cuda.uninit("cut links", rows)?,
            sums: cuda.alloc("cut links", rows + 1, Sums([0; 3]))?,
            total: [0; 3],
            passed: 0,
        })
    }
}

pub(super) fn cut_links<const D: usize>(
    cuda: &Cuda,
    data: &LevelData<'_, D, Cuda>,
    solid: &CudaBuf<u64>,
    rule: &LinkRule<'_, Cuda>,
    boundary: &mut CudaBuf<u64>,
    table: &mut LinkTable<Cuda>,
) -> Result<u64, VoxelError> {
    let gap = rule.gap;
    let leaves;
    let rows = if data.images.is_some() {
        leaves = with_images(cuda, data, solid, gap)?;
        &leaves
    } else if gap.is_some() {
        let flags = gaps::linked(cuda, data, solid)?;
        leaves = cuda.select("blocks with links", None, &flags)?;
        &leaves
    } else if data.view.last {
        &data.bins.rows
    } else {
        leaves = leaves_of(cuda, data)?;
        &leaves
    };
    if rows.is_empty() {
        return Ok(0);
    }
    let mut room = [TYPICAL_LINKS * rows.len(), TYPICAL_CELLS * rows.len()];
    let found = loop {
        let found = cut(cuda, data, solid, rule, rows, room, boundary)?;
        let needed = [found.total[0] as usize, found.total[1] as usize];
        if needed[0] <= room[0] && needed[1] <= room[1] {
            break found;
        }
        room = needed;
    };
    append(cuda, data, rows, &found, table)?;
    Ok(found.passed)
}

/// Leaves that have facets or images in their lists, or links through a gap.
fn with_images<const D: usize>(
    cuda: &Cuda,
    data: &LevelData<'_, D, Cuda>,
    solid: &CudaBuf<u64>,
    gap: Option<u16>,
) -> Result<CudaBuf<u32>, VoxelError> {
    let LevelData {
        forest, bins, view, ..
    } = data;
    let mut flags = match gap {
        Some(_) => gaps::linked(cuda, data, solid)?,
        None => cuda.alloc("flags", view.count, 0u8)?,
    };
    if let Some(images) = &data.images {
        let launch = cuda
            .launch(&CUT_LINKS, D, "flag_images")
            .val(view.first as u32)
            .val(view.count as u32)
            .buf(&bins.starts)
            .buf(&images.bins.starts)
            .buf(&forest.first_child)
            .out(&mut flags);
        // SAFETY: the level's blocks have consecutive ids, with a row each of both lists; a flag a block.
        unsafe { launch.run(LaunchGrid::over(view.count, THREADS))? };
    }
    Ok(cuda.select("blocks with links", None, &flags)?)
}

fn leaves_of<const D: usize>(
    cuda: &Cuda,
    data: &LevelData<'_, D, Cuda>,
) -> Result<CudaBuf<u32>, VoxelError> {
    let rows = &data.bins.rows;
    let mut flags = cuda.uninit("flags", rows.len())?;
    let launch = cuda
        .launch(&CUT_LINKS, D, "flag_leaves")
        .buf(rows)
        .val(rows.len() as u32)
        .val(data.view.first as u32)
        .buf(&data.forest.first_child)
        .out(&mut flags);
    // SAFETY: rows of the level, whose ids are consecutive; a flag a row listed.
    unsafe { launch.run(LaunchGrid::over(rows.len(), THREADS))? };
    Ok(cuda.select("leaves with facets", Some(rows), &flags)?)
}

fn cut<const D: usize>(
    cuda: &Cuda,
    data: &LevelData<'_, D, Cuda>,
    solid: &CudaBuf<u64>,
    rule: &LinkRule<'_, Cuda>,
    rows: &CudaBuf<u32>,
    [links, cells]: [usize; 2],
    boundary: &mut CudaBuf<u64>,
) -> Result<Found, VoxelError> {
    let LevelData {
        set,
        forest,
        bins,
        view,
        ..
    } = data;
    let patched = !set.patch.is_empty();
    let mut found = Found::with_room(cuda, rows.len(), [links, cells], patched)?;
    let mut used = cuda.alloc("counts", 3, 0u64)?;
    let passes = rule.fill.passes_facets();
    let kernel = match (passes, all_small(data), patched) {
        (false, true, false) => "cut_small_plain",
        (false, true, true) => "cut_small_patched",
        (false, false, false) => "cut_any_plain",
        (false, false, true) => "cut_any_patched",
        (true, true, false) => "pass_small_plain",
        (true, true, true) => "pass_small_patched",
        (true, false, false) => "pass_any_plain",
        (true, false, true) => "pass_any_patched",
    };
    let launch = cuda
        .launch(&CUT_LINKS, D, kernel)
        .buf(&set.corners)
        .buf(&set.patch)
        .buf(&bins.starts)
        .buf(&bins.facets)
        .val(set.walls)
        .buf(rows)
        .val(view.first as u32)
        .val(view.spacing)
        .val(forest.root.map(|n| (n as i32) << view.level))
        .buf(&forest.coord)
        .buf(solid)
        .out(boundary)
        .out(&mut found.q)
        .out(&mut found.patch)
        .out(&mut found.cells)
        .val(links as u64)
        .val(cells as u64)
        .out(&mut used)
        .out(&mut found.at)
        .out(&mut found.sums);
    let launch = launch
        .val(rule.gap.map_or(NONE, u32::from))
        .val(forest.grid())
        .buf(&forest.families);
    let first_image;
    let launch = match &data.images {
        Some(images) => {
            first_image = cuda.upload(images.starts.to_vec())?;
            launch
                .buf(&images.set.corners)
                .buf(&images.set.patch)
                .buf(&images.bins.starts)
                .buf(&images.bins.facets)
                .buf(&first_image)
        }
        None => launch.val(0u64).val(0u64).val(0u64).val(0u64).val(0u64),
    };
    let marks = &rule.classified.uncertain;
    let launch = launch
        .val(address_or_none(&set.times))
        .buf(&rule.classified.anchors)
        .buf(marks)
        .val(u32::from(!marks.is_empty()))
        .val(rule.fill as u32);
    // SAFETY: `LevelData::check` has compared the lengths. Rows of the level's lists, whose entries are facets, with a
    // patch each where there are patches; a mask for each id, and neighbours are ids; a place and sums for each row;
    // nothing is written beyond the capacity that is passed. The same holds for images, as many as the last of 28
    // starts. Where links pass facets there are 2^D winding numbers for each block of the level; a mark for each, if
    // any; a multiplicity for each facet, if any (`LevelData::check_rule`).
    unsafe { launch.run(LaunchGrid::blocks(rows.len(), WARP))? };
    cuda.scan_sums(&mut found.sums)?;
    found.total = found.sums.read(rows.len())?.0;
    if passes {
        found.passed = used.read(2)?;
    }
    Ok(found)
}

fn append<const D: usize>(
    cuda: &Cuda,
    data: &LevelData<'_, D, Cuda>,
    rows: &CudaBuf<u32>,
    found: &Found,
    table: &mut LinkTable<Cuda>,
) -> Result<(), VoxelError> {
    let base = [table.q.len(), table.cells.len(), table.blocks.len()];
    let [links, cells, blocks] = [0, 1, 2].map(|i| base[i] + found.total[i] as usize);
    if u32::try_from(cells).is_err() {
        let table = "boundary cell table";
        return Err(VoxelError::TooLarge { table });
    }
    cuda.reserve("cut links", (links * 4 + cells * 8 + blocks * 8) as u64)?;
    table.q.grow("cut links", links)?;
    table.cells.grow("cut links", cells)?;
    table.blocks.grow("cut links", blocks)?;
    table.cell_start.grow("cut links", blocks + 1)?;
    if !data.set.patch.is_empty() {
        table.patch.grow("cut links", links)?;
    }
    cuda.resize("link rows", &mut table.row_of, data.forest.capacity(), NONE)?;
    let launch = cuda
        .launch(&CUT_LINKS, D, "gather")
        .buf(rows)
        .val(rows.len() as u32)
        .val(data.view.first as u32)
        .buf(&found.q)
        .buf(&found.patch)
        .buf(&found.cells)
        .buf(&found.at)
        .buf(&found.sums)
        .val(base.map(|n| n as u64))
        .val(u32::from(!data.set.patch.is_empty()))
        .out(&mut table.blocks)
        .out(&mut table.row_of)
        .out(&mut table.cell_start)
        .out(&mut table.cells)
        .out(&mut table.q)
        .out(&mut table.patch);
    // SAFETY: what was found lies in the staging area, and behind it in the table there is room for
    // as much as the sums say.
    unsafe { launch.run(LaunchGrid::over(32 * rows.len(), THREADS))? };
    Ok(())
}
