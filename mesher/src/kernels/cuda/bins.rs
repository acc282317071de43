//! Facet lists by counting, scanning and writing.

use super::{BINS, THREADS};
use crate::kernels::{BinArrays, Bins, ChildBoxes, FacetSet, checked_entries, grid_boxes};
use cutlink_device::{
    Backend, DeviceError,
    cuda::{Cuda, LaunchGrid},
};

/// Thread blocks that share the facets that meet many boxes.
const BLOCKS: usize = 264;

pub(super) fn root<const D: usize>(
    cuda: &Cuda,
    set: &FacetSet<D, Cuda>,
    boxes: [u32; D],
    edge: i32,
) -> Result<Bins<Cuda>, DeviceError> {
    let count = grid_boxes(boxes, edge);
    let facets = set.corners.len();
    let mut starts = cuda.uninit("facet counts", facets + 1)?;
    let mut large = cuda.uninit::<u32>("large facets", facets)?;
    let mut larges = cuda.alloc("a count", 1, 0u32)?;
    let launch = cuda
        .launch(&BINS, D, "count_root")
        .buf(&set.corners)
        .val(facets as u32)
        .val(boxes)
        .val(edge)
        .out(&mut starts)
        .out(&mut large)
        .out(&mut larges);
    // SAFETY: a count a facet and one behind them; no facet is listed twice.
    unsafe { launch.run(LaunchGrid::over(facets + 1, THREADS))? };
    let launch = cuda
        .launch(&BINS, D, "count_large")
        .buf(&set.corners)
        .val(boxes)
        .val(edge)
        .buf(&large)
        .buf(&larges)
        .out(&mut starts);
    // SAFETY: the listed facets, as many as counted, have a count each.
    unsafe { launch.run(LaunchGrid::blocks(BLOCKS, THREADS))? };
    let mut total = cuda.uninit("a count", 1)?;
    cuda.scan(&mut starts, &mut total, 0)?;
    let pairs = checked_entries(cuda, total.read(0)?)? as usize;
    cuda.reserve("facet lists", 4 * 4 * pairs as u64)?;
    let mut keys = cuda.uninit("facet lists", pairs)?;
    let mut values = cuda.uninit("facet lists", pairs)?;
    let launch = cuda
        .launch(&BINS, D, "emit_root")
        .buf(&set.corners)
        .val(facets as u32)
        .val(boxes)
        .val(edge)
        .buf(&starts)
        .out(&mut keys)
        .out(&mut values);
    // SAFETY: each facet writes the pairs that it counted, behind those of the facets before.
    unsafe { launch.run(LaunchGrid::over(facets, THREADS))? };
    let launch = cuda
        .launch(&BINS, D, "emit_large")
        .buf(&set.corners)
        .val(boxes)
        .val(edge)
        .buf(&large)
        .buf(&larges)
        .buf(&starts)
        .out(&mut keys)
        .out(&mut values);
    // SAFETY: as above.
    unsafe { launch.run(LaunchGrid::blocks(BLOCKS, THREADS))? };
    drop((starts, large));
    let bits = usize::BITS - (count.max(2) - 1).leading_zeros();
    let (keys, facets) = cuda.sort32(&keys, &values, bits)?;
    drop(values);
    let mut starts = cuda.uninit("facet lists", count + 1)?;
    let mut flags = cuda.uninit("flags", count)?;
    let launch = cuda
        .launch(&BINS, D, "starts_root")
        .buf(&keys)
        .val(pairs as u32)
        .val(count as u32)
        .out(&mut starts)
        .out(&mut flags);
    // SAFETY: so many keys; a start a box and one behind, a flag a box.
    unsafe { launch.run(LaunchGrid::over(count + 1, THREADS))? };
    Ok(Bins {
        arrays: BinArrays {
            starts,
            facets,
            rows: cuda.select("boxes with facets", None, &flags)?,
        },
        set_len: set.corners.len(),
    })
}

pub(super) fn children<const D: usize>(
    cuda: &Cuda,
    set: &FacetSet<D, Cuda>,
    parents: &Bins<Cuda>,
    boxes: ChildBoxes<'_, D, Cuda>,
) -> Result<Bins<Cuda>, DeviceError> {
    boxes.check(set, parents);
    let rows = parents.rows.len();
    let threads = LaunchGrid::threads_for(parents.facets.len(), rows, 1024);
    // Lists may be much longer than their mean.
    let parts = (parents.facets.len() / rows.max(1) / 512).clamp(1, 64);
    let words = parents.facets.len().div_ceil(4);
    let mut masks = cuda.alloc("children of facets", words, 0u32)?;
    let mut starts = cuda.alloc("facet lists", boxes.count + 1, 0u32)?;
    let launch = cuda
        .launch(&BINS, D, "split")
        .buf(&set.corners)
        .buf(&parents.rows)
        .buf(&parents.starts)
        .buf(&parents.facets)
        .val(boxes.first_parent as u32)
        .buf(boxes.coord)
        .buf(boxes.first_child)
        .val(boxes.first as u32)
        .val(boxes.count as u32)
        .val(boxes.edge)
        .val(parts as u32)
        .out(&mut masks)
        .out(&mut starts);
    // SAFETY: rows of the parents' lists, with an id each; first children whose group is not among the boxes are
    // skipped; one mask an entry, one count a box.
    unsafe { launch.run(LaunchGrid::blocks(rows * parts, threads.min(256)))? };
    // Entries, and boxes that have any: read back together.
    let mut counts = cuda.uninit("counts", 2)?;
    cuda.scan(&mut starts, &mut counts, 0)?;
    let mut flags = cuda.uninit("flags", boxes.count)?;
    let launch = cuda
        .launch(&BINS, D, "flag_rows")
        .buf(&starts)
        .val(boxes.count as u32)
        .out(&mut flags);
    // SAFETY: a start a box and one behind, a flag a box.
    unsafe { launch.run(LaunchGrid::over(boxes.count, THREADS))? };
    let mut filled = cuda.uninit("boxes with facets", boxes.count)?;
    cuda.select_into(None, &flags, &mut filled, &mut counts, 1)?;
    let counts = cuda.download(&counts)?;
    let filled = cuda.shrunk("boxes with facets", filled, counts[1] as usize)?;
    let total = checked_entries(cuda, counts[0])? as usize;
    cuda.reserve("facet lists", 4 * total as u64)?;
    let mut facets = cuda.uninit("facet lists", total)?;
    let launch = cuda
        .launch(&BINS, D, "fill")
        .buf(&parents.rows)
        .buf(&parents.starts)
        .buf(&parents.facets)
        .buf(&masks)
        .val(boxes.first_parent as u32)
        .buf(boxes.first_child)
        .val(boxes.first as u32)
        .val(boxes.count as u32)
        .buf(&starts)
        .out(&mut facets);
    // SAFETY: every box's entries are as many as were counted from the same masks.
    unsafe { launch.run(LaunchGrid::blocks(rows, threads))? };
    Ok(Bins {
        arrays: BinArrays {
            starts,
            facets,
            rows: filled,
        },
        set_len: set.corners.len(),
    })
}
