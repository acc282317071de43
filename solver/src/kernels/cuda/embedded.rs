//! A thread a slot, or a row of the mesh's table.

use super::{EMBEDDED, tables::totals};
use crate::{SolverError, tables::Cuts};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid, Sums},
};
use cutlink_voxelizer::Mesh;

const THREADS: u32 = 256;

pub(super) fn uncovered<const D: usize>(
    cuda: &Cuda,
    before: &CudaBuf<u64>,
    now: &CudaBuf<u64>,
) -> Result<Vec<u32>, SolverError> {
    assert_eq!(before.len(), now.len(), "a mask a slot");
    let slots = now.len();
    let mut sums = cuda.uninit::<Sums>("cells that were uncovered", slots + 1)?;
    let launch = cuda
        .launch(&EMBEDDED, D, "count_uncovered")
        .buf(before)
        .buf(now)
        .val(slots as u32)
        .out(&mut sums);
    // SAFETY: a mask a slot of both, a sum for each and one more.
    unsafe { launch.run(LaunchGrid::over(slots + 1, THREADS))? };
    let [count, ..] = totals(cuda, &mut sums)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let mut cells = cuda.uninit("cells that were uncovered", count)?;
    let launch = cuda
        .launch(&EMBEDDED, D, "list_uncovered")
        .buf(before)
        .buf(now)
        .val(slots as u32)
        .buf(&sums)
        .out(&mut cells);
    // SAFETY: as above; the sums are the places of what was counted, all of which there is room for.
    unsafe { launch.run(LaunchGrid::over(slots, THREADS))? };
    Ok(cuda.download(&cells)?)
}

pub(super) fn has_fault<const D: usize>(
    cuda: &Cuda,
    mesh: &Mesh<D, Cuda>,
    cuts: &Cuts<Cuda>,
    exchanging: usize,
    owner: &CudaBuf<u32>,
    bodies: u32,
) -> Result<bool, SolverError> {
    let (forest, table, slots) = (&mesh.forest, &mesh.links, cuts.boundary.len());
    let mut flag = cuda.alloc::<u32>("whether bodies may be there", 1, 0)?;
    let launch = cuda
        .launch(&EMBEDDED, D, "check_slots")
        .buf(&cuts.boundary)
        .val(slots as u32)
        .val(exchanging as u32)
        .buf(&cuts.cell_start)
        .buf(&cuts.cells)
        .buf(&cuts.q)
        .buf(&cuts.patch)
        .buf(owner)
        .val(bodies)
        .out(&mut flag);
    // SAFETY: an entry a slot of the first two; the others are what they name; patches have an owner each. Threads that write the flag
    // write the same.
    unsafe { launch.run(LaunchGrid::over(slots, THREADS))? };
    let launch = cuda
        .launch(&EMBEDDED, D, "check_rows")
        .buf(&table.blocks)
        .val(table.blocks.len() as u32)
        .buf(&forest.level)
        .val(forest.levels.len() as u32 - 1)
        .buf(&table.cell_start)
        .buf(&table.cells)
        .val(table.cells.len() as u64)
        .val(table.len() as u64)
        .buf(&table.patch)
        .val(u32::from(!table.patch.is_empty()))
        .buf(owner)
        .val(bodies)
        .out(&mut flag);
    // SAFETY: rows have a block, which is an id, a start and an end; links have a patch or none has; as above.
    unsafe { launch.run(LaunchGrid::over(table.blocks.len(), THREADS))? };
    Ok(flag.read(0)? != 0)
}
