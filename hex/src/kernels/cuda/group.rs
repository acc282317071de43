//! Lists by cell: counts, a scan, a fill in any order, and each list sorted.

use super::{D, GROUP, THREADS};
use crate::kernels::{CellFaces, FaceOutlines, SplitCounts};
use crate::refine::{HexMesh, RefineError};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

/// The faces of each cell, unsorted: `faces` of them by owner, `internal` of these by neighbour too.
fn lists(
    cuda: &Cuda,
    cells: usize,
    (owner, faces): (&CudaBuf<u32>, usize),
    (neighbour, internal): (&CudaBuf<u32>, usize),
) -> Result<CellFaces<Cuda>, RefineError> {
    let mut start = cuda.alloc("starts of cells", cells + 1, 0u32)?;
    let launch = cuda
        .launch(&GROUP, D, "count_cells")
        .buf(owner)
        .buf(neighbour)
        .val(faces as u32)
        .val(internal as u32)
        .out(&mut start);
    // SAFETY: cells of faces are in range, and there is a count for each.
    unsafe { launch.run(LaunchGrid::over(faces, THREADS))? };
    let mut total = cuda.uninit::<u64>("a count", 1)?;
    cuda.scan(&mut start, &mut total, 0)?;
    let mut next = start.piece("ends of lists", 0, cells)?;
    let mut lists = cuda.uninit("faces of cells", faces + internal)?;
    let launch = cuda
        .launch(&GROUP, D, "fill_lists")
        .buf(owner)
        .buf(neighbour)
        .val(faces as u32)
        .val(internal as u32)
        .out(&mut next)
        .out(&mut lists);
    // SAFETY: as above; each cell has as many places as were counted.
    unsafe { launch.run(LaunchGrid::over(faces, THREADS))? };
    Ok(CellFaces {
        start,
        faces: lists,
    })
}

pub(super) fn cell_faces(
    cuda: &Cuda,
    mesh: &HexMesh<Cuda>,
) -> Result<CellFaces<Cuda>, RefineError> {
    let (cells, faces, internal) = (mesh.cells(), mesh.faces(), mesh.neighbour.len());
    let mut of = lists(
        cuda,
        cells,
        (&mesh.owner, faces),
        (&mesh.neighbour, internal),
    )?;
    let launch = cuda
        .launch(&GROUP, D, "sort_faces")
        .buf(&of.start)
        .val(cells as u32)
        .out(&mut of.faces);
    // SAFETY: lists as they were filled.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    Ok(of)
}

/// The places of each key among `count` ones, ascending; `NONE` is in no list.
pub(super) fn by_key(
    cuda: &Cuda,
    keys: &CudaBuf<u32>,
    count: usize,
) -> Result<CellFaces<Cuda>, RefineError> {
    let mut of = lists(cuda, count, (keys, keys.len()), (keys, 0))?;
    let launch = cuda
        .launch(&GROUP, D, "sort_faces")
        .buf(&of.start)
        .val(count as u32)
        .out(&mut of.faces);
    // SAFETY: lists as they were filled.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(of)
}

pub(super) fn order(
    cuda: &Cuda,
    counts: &SplitCounts,
    outlines: &FaceOutlines<Cuda>,
) -> Result<CudaBuf<u32>, RefineError> {
    let (cells, internal) = (counts.cells, counts.new_internal());
    let mut of = lists(
        cuda,
        cells,
        (&outlines.owner, internal),
        (&outlines.neighbour, 0),
    )?;
    let launch = cuda
        .launch(&GROUP, D, "sort_slots")
        .buf(&of.start)
        .val(cells as u32)
        .buf(&outlines.neighbour)
        .out(&mut of.faces);
    // SAFETY: lists as they were filled, of internal faces, which have neighbours.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    Ok(of.faces)
}
