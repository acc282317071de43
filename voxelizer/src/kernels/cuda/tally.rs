//! Threads sum over many leaves or rows, and add their sums at the end: the sums of one number wait for each other.

use super::{TALLY, THREADS};
use crate::{
    Mesh, VoxelError,
    constants::TALLY_WARPS,
    kernels::{Tally, ThinBlock},
};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

/// The most thread blocks of a launch: some for each multiprocessor of any GPU.
const MOST: usize = 1024;

/// Threads for so many items, which take them in turns.
fn in_turns(items: usize) -> LaunchGrid {
    let threads = 32 * TALLY_WARPS;
    LaunchGrid::blocks(items.div_ceil(threads as usize).min(MOST), threads)
}

pub(super) fn tally<const D: usize>(
    cuda: &Cuda,
    mesh: &Mesh<D, Cuda>,
) -> Result<Tally<D>, VoxelError> {
    let (forest, classes) = (&mesh.forest, &mesh.classes);
    let levels = forest.levels.len();
    // Three numbers a level, the checksum, and the links with fluid at both ends.
    let mut sums = cuda.alloc("sums", 3 * levels + 2, 0u64)?;
    for (level, ids) in forest.levels.iter().enumerate() {
        let launch = cuda
            .launch(&TALLY, D, "tally_leaves")
            .buf(ids)
            .val(ids.len() as u32)
            .val(level as u32)
            .val(levels as u32)
            .buf(&forest.coord)
            .buf(&forest.first_child)
            .buf(&classes.solid)
            .buf(&classes.boundary)
            .buf(&classes.ghost)
            .buf(&classes.interface)
            .out(&mut sums);
        // SAFETY: the ids of the level, for each of which all arrays have an entry; as many sums as said above.
        unsafe { launch.run(in_turns(ids.len()))? };
    }
    let thin = thin(cuda, mesh, &mut sums)?;
    let sums = cuda.download(&sums)?;
    let (leaves, rest) = sums.split_at(3 * levels);
    Ok(Tally {
        leaves: leaves.as_chunks().0.to_vec(),
        checksum: rest[0],
        thin_links: rest[1],
        thin,
    })
}

/// Adds what the links sum up to; the blocks with cells of thin places.
fn thin<const D: usize>(
    cuda: &Cuda,
    mesh: &Mesh<D, Cuda>,
    sums: &mut CudaBuf<u64>,
) -> Result<Vec<ThinBlock<D>>, VoxelError> {
    let (forest, classes, links) = (&mesh.forest, &mesh.classes, &mesh.links);
    let rows = links.blocks.len();
    let mut cells = cuda.uninit::<u64>("thin places", rows)?;
    let mut flags = cuda.uninit("flags", rows)?;
    let launch = cuda
        .launch(&TALLY, D, "tally_links")
        .buf(&links.blocks)
        .val(rows as u32)
        .val(forest.levels.len() as u32)
        .val(forest.grid())
        .buf(&forest.families)
        .buf(&forest.level)
        .buf(&forest.coord)
        .buf(&forest.first_child)
        .buf(&classes.solid)
        .buf(&classes.boundary)
        .buf(&links.cell_start)
        .buf(&links.cells)
        .buf(&links.q)
        .buf(&links.patch)
        .val(u32::from(!links.patch.is_empty()))
        .out(&mut cells)
        .out(&mut flags)
        .out(sums);
    // SAFETY: rows of blocks, whose neighbours are blocks or none, and for which all arrays of the forest and masks have
    // an entry; the table is sound, with a patch for each link or none; a mask and a flag a row; sums as in `tally`.
    unsafe { launch.run(in_turns(32 * rows))? };
    let chosen = cuda.select("thin places", None, &flags)?;
    let count = chosen.len();
    let mut blocks = cuda.uninit::<u32>("thin places", count)?;
    let mut masks = cuda.uninit::<u64>("thin places", count)?;
    let mut level = cuda.uninit::<u8>("thin places", count)?;
    let mut coord = cuda.uninit::<[i32; D]>("thin places", count)?;
    let launch = cuda
        .launch(&TALLY, D, "gather_thin")
        .buf(&chosen)
        .val(count as u32)
        .buf(&links.blocks)
        .buf(&cells)
        .buf(&forest.level)
        .buf(&forest.coord)
        .out(&mut blocks)
        .out(&mut masks)
        .out(&mut level)
        .out(&mut coord);
    // SAFETY: rows of the table, and as many entries in what is written.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    let (blocks, masks) = (cuda.download(&blocks)?, cuda.download(&masks)?);
    let (level, coord) = (cuda.download(&level)?, cuda.download(&coord)?);
    let thin = (0..count).map(|i| ThinBlock {
        block: blocks[i],
        level: level[i],
        coord: coord[i],
        cells: masks[i],
    });
    Ok(thin.collect())
}
