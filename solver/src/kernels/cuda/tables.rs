//! Sorts by flags and prefix sums; then a thread a slot, a thread a neighbour, or a warp a row of cut links.

use super::TABLES;
use crate::{
    SolverError,
    tables::{Cuts, Places, Slots, WallSlots},
};
use cutlink_amr::{NONE, dims};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid, Sums},
};
use cutlink_voxelizer::Mesh;

const THREADS: u32 = 256;

/// Replaces sums by their exclusive prefix sums, and returns the last of them: the totals. Waits for them.
pub(super) fn totals(cuda: &Cuda, sums: &mut CudaBuf<Sums>) -> Result<[usize; 3], SolverError> {
    cuda.scan_sums(sums)?;
    Ok(sums.read(sums.len() - 1)?.0.map(|sum| sum as usize))
}

pub(super) fn slots<const D: usize>(
    cuda: &Cuda,
    mesh: &Mesh<D, Cuda>,
    level: usize,
    children: &CudaBuf<u32>,
    slot_of: &mut CudaBuf<u32>,
) -> Result<Slots<Cuda>, SolverError> {
    let (forest, classes) = (&mesh.forest, &mesh.classes);
    let ids = &forest.levels[level];
    let launch = cuda
        .launch(&TABLES, D, "take_children")
        .buf(children)
        .val(children.len() as u32)
        .out(slot_of);
    // SAFETY: children are ids, and there is a slot for each id.
    unsafe { launch.run(LaunchGrid::over(children.len(), THREADS))? };
    let mut kinds = cuda.uninit::<u8>("kinds of blocks", forest.capacity())?;
    let mut sums = cuda.uninit::<Sums>("sorts of blocks", ids.len() + 1)?;
    let launch = cuda
        .launch(&TABLES, D, "sort_blocks")
        .buf(ids)
        .val(ids.len() as u32)
        .val(forest.grid())
        .buf(&forest.families)
        .buf(&forest.first_child)
        .buf(&classes.solid)
        .buf(&classes.boundary)
        .buf(slot_of)
        .out(&mut kinds)
        .out(&mut sums);
    // SAFETY: the arrays of a forest, masks, slots and kinds have an entry an id; a sum for each block of the level, and one more.
    unsafe { launch.run(LaunchGrid::over(ids.len() + 1, THREADS))? };
    let [exchange, wall, plain] = totals(cuda, &mut sums)?;
    let exchanging = children.len() + exchange;
    let special = exchanging + wall;
    let mut blocks = cuda.uninit("blocks by slot", special + plain)?;
    blocks.copy_from(0, children)?;
    let launch = cuda
        .launch(&TABLES, D, "order_blocks")
        .buf(ids)
        .val(ids.len() as u32)
        .buf(&kinds)
        .buf(&sums)
        .val(children.len() as u32)
        .val(exchanging as u32)
        .val(special as u32)
        .out(slot_of)
        .out(&mut blocks);
    // SAFETY: as above; the sums of each sort are below its number, and there is a place for all.
    unsafe { launch.run(LaunchGrid::over(ids.len(), THREADS))? };
    let mut flags = cuda.uninit("flags", exchanging)?;
    let launch = cuda
        .launch(&TABLES, D, "flag_overlaps")
        .buf(&blocks)
        .val(exchanging as u32)
        .buf(&kinds)
        .out(&mut flags);
    // SAFETY: the exchanging slots are the first ones; blocks are ids of the level, which have kinds.
    unsafe { launch.run(LaunchGrid::over(exchanging, THREADS))? };
    let overlaps = cuda.select("overlap blocks", None, &flags)?;
    let mut overlap_of = cuda.alloc("places of overlap blocks", exchanging, NONE)?;
    let mut below = cuda.uninit("children", overlaps.len() * dims::children(D))?;
    let launch = cuda
        .launch(&TABLES, D, "name_overlaps")
        .buf(&overlaps)
        .val(overlaps.len() as u32)
        .buf(&blocks)
        .buf(&forest.first_child)
        .out(&mut overlap_of)
        .out(&mut below);
    // SAFETY: overlap blocks are among the exchanging slots; a group of children for each.
    unsafe { launch.run(LaunchGrid::over(overlaps.len(), THREADS))? };
    Ok(Slots {
        blocks,
        exchanging,
        special,
        overlaps,
        overlap_of,
        children: below,
    })
}

pub(super) fn places<const D: usize>(
    cuda: &Cuda,
    mesh: &Mesh<D, Cuda>,
    blocks: &CudaBuf<u32>,
    slot_of: &CudaBuf<u32>,
) -> Result<Places<D, Cuda>, SolverError> {
    let forest = &mesh.forest;
    let slots = blocks.len();
    let places = slots * dims::directions(D);
    let mut neighbors = cuda.uninit("neighbours", places)?;
    let launch = cuda
        .launch(&TABLES, D, "find_neighbors")
        .buf(blocks)
        .val(slots as u32)
        .val(forest.grid())
        .buf(&forest.families)
        .buf(slot_of)
        .out(&mut neighbors);
    // SAFETY: blocks are ids; families have the places of all but root blocks; a slot for each id, a place for each direction.
    unsafe { launch.run(LaunchGrid::over(places, THREADS))? };
    let (coord, [stepped, solid, ghost]) = masks(cuda, mesh, blocks)?;
    Ok(Places {
        coord,
        neighbors,
        stepped,
        solid,
        ghost,
    })
}

/// Coordinates of blocks; their cells to step, solid cells and ghosts.
type Masks<const D: usize> = (CudaBuf<[i32; D]>, [CudaBuf<u64>; 3]);

pub(super) fn masks<const D: usize>(
    cuda: &Cuda,
    mesh: &Mesh<D, Cuda>,
    blocks: &CudaBuf<u32>,
) -> Result<Masks<D>, SolverError> {
    let (forest, classes, slots) = (&mesh.forest, &mesh.classes, blocks.len());
    let mut coord = cuda.uninit("block coordinates", slots)?;
    let mut stepped = cuda.uninit("stepped cells", slots)?;
    let mut solid = cuda.uninit("solid cells", slots)?;
    let mut ghost = cuda.uninit("ghost cells", slots)?;
    let launch = cuda
        .launch(&TABLES, D, "gather_masks")
        .buf(blocks)
        .val(slots as u32)
        .buf(&forest.coord)
        .buf(&forest.first_child)
        .buf(&classes.solid)
        .buf(&classes.ghost)
        .out(&mut coord)
        .out(&mut stepped)
        .out(&mut solid)
        .out(&mut ghost);
    // SAFETY: blocks are ids, of which the forest and the masks have an entry each; an entry a slot.
    unsafe { launch.run(LaunchGrid::over(slots, THREADS))? };
    Ok((coord, [stepped, solid, ghost]))
}

pub(super) fn cuts<const D: usize>(
    cuda: &Cuda,
    mesh: &Mesh<D, Cuda>,
    blocks: &CudaBuf<u32>,
    special: usize,
) -> Result<Cuts<Cuda>, SolverError> {
    let (forest, table) = (&mesh.forest, &mesh.links);
    let mut boundary = cuda.uninit("boundary cells", special)?;
    let mut sums = cuda.uninit::<Sums>("cut cells and links", special + 1)?;
    let launch = cuda
        .launch(&TABLES, D, "count_cuts")
        .buf(blocks)
        .val(special as u32)
        .buf(&forest.first_child)
        .buf(&mesh.classes.boundary)
        .buf(&table.row_of)
        .buf(&table.cell_start)
        .buf(&table.cells)
        .val(table.cells.len() as u64)
        .val(table.len() as u64)
        .out(&mut boundary)
        .out(&mut sums);
    // SAFETY: blocks are ids with a row or NONE; rows have a start and an end; a sum for each slot, and one more.
    unsafe { launch.run(LaunchGrid::over(special + 1, THREADS))? };
    let [cells, links, _] = totals(cuda, &mut sums)?;
    let mut out = Cuts {
        boundary,
        cell_start: cuda.uninit("cut cells by slot", special)?,
        cells: cuda.uninit("cut cells", cells)?,
        q: cuda.uninit("cut distances", links)?,
        patch: cuda.uninit("patches of links", links)?,
    };
    let launch = cuda
        .launch(&TABLES, D, "copy_cuts")
        .buf(blocks)
        .val(special as u32)
        .buf(&forest.first_child)
        .buf(&table.row_of)
        .buf(&table.cell_start)
        .buf(&table.cells)
        .val(table.cells.len() as u64)
        .val(table.len() as u64)
        .buf(&table.q)
        .buf(&table.patch)
        .val(u32::from(!table.patch.is_empty()))
        .buf(&sums)
        .out(&mut out.cell_start)
        .out(&mut out.cells)
        .out(&mut out.q)
        .out(&mut out.patch);
    // SAFETY: as above; the sums are the places of what was counted, all of which there is room for.
    unsafe { launch.run(LaunchGrid::over(32 * special, THREADS))? };
    Ok(out)
}

pub(super) fn walls<const D: usize>(
    cuda: &Cuda,
    boundary: &CudaBuf<u64>,
    neighbors: &CudaBuf<u32>,
    solid: &CudaBuf<u64>,
    exchanging: usize,
) -> Result<WallSlots<Cuda>, SolverError> {
    let special = boundary.len();
    let flags = || cuda.uninit::<u8>("flags", special);
    let mut flags = [flags()?, flags()?, flags()?, flags()?, flags()?, flags()?];
    let [linked, walled, faced, bounded, cut, open] = &mut flags;
    let launch = cuda
        .launch(&TABLES, D, "flag_walls")
        .buf(boundary)
        .val(special as u32)
        .val(exchanging as u32)
        .buf(neighbors)
        .buf(solid)
        .val(solid.len() as u32)
        .out(linked)
        .out(walled)
        .out(faced)
        .out(bounded)
        .out(cut)
        .out(open);
    // SAFETY: neighbours and masks of all slots, of which the special ones are the first; six flags for each of these.
    unsafe { launch.run(LaunchGrid::over(special, THREADS))? };
    let mut lists = Vec::new();
    let mut counts = cuda.alloc::<u64>("lengths of lists", flags.len(), 0)?;
    for (at, flags) in flags.iter().enumerate() {
        let mut list = cuda.uninit("special slots", special)?;
        if special > 0 {
            cuda.select_into(None, flags, &mut list, &mut counts, at)?;
        }
        lists.push(list);
    }
    // One wait for all of them.
    let mut lists = (lists.into_iter().zip(cuda.download(&counts)?))
        .map(|(list, count)| cuda.shrunk("special slots", list, count as usize));
    let mut next = || lists.next().expect("six lists");
    Ok(WallSlots {
        linked: next()?,
        walled: next()?,
        faced: next()?,
        bounded: next()?,
        cut: next()?,
        open: next()?,
    })
}
