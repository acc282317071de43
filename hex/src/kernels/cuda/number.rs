//! Scans, and edges sorted; some read-backs of counts.

use super::{D, NUMBER, THREADS, of_shape, view};
use crate::kernels::{CellShape, ClosedMarks, NONE, RefineTask, SplitCounts, SplitNumbers};
use crate::refine::{RefineError, unfit};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

pub(super) fn number(
    cuda: &Cuda,
    task: &RefineTask<'_, Cuda>,
    closed: ClosedMarks,
) -> Result<SplitNumbers<Cuda>, RefineError> {
    let mesh = task.mesh;
    let (cells, faces, points) = (mesh.cells(), mesh.faces(), mesh.points());
    let mut totals = cuda.uninit("counts", 3)?;
    let mut first = cuda.uninit("numbers of cells", cells + 1)?;
    let launch = cuda
        .launch(&NUMBER, D, "count_children")
        .buf(task.marks)
        .val(cells as u32)
        .out(&mut first);
    // SAFETY: a mark for each cell, a number for each and one more.
    unsafe { launch.run(LaunchGrid::over(cells + 1, THREADS))? };
    cuda.scan(&mut first, &mut totals, 0)?;
    let split = split(cuda, task, &mut totals)?;
    let marked = cuda.select("split cells", None, task.marks)?;
    let edges = edges(cuda, task, &marked)?;
    let mut edge_start = cuda.alloc("split edges by point", points + 1, 0u32)?;
    let launch = cuda
        .launch(&NUMBER, D, "count_edges")
        .buf(&edges)
        .val(edges.len() as u32)
        .out(&mut edge_start);
    // SAFETY: edges between points of the mesh.
    unsafe { launch.run(LaunchGrid::over(edges.len(), THREADS))? };
    cuda.scan(&mut edge_start, &mut totals, 2)?;
    let totals = cuda.download(&totals)?;
    if totals[0] > u64::from(u32::MAX) {
        let (what, count) = ("cells", (cells + 7 * closed.count) as u64);
        return Err(RefineError::TooLarge { what, count });
    }
    let internal = mesh.neighbour.len();
    let starts = mesh.boundary.patches.iter();
    let starts = starts.map(|patch| patch.start as u32);
    let at: Vec<u32> = starts.chain([internal as u32]).collect();
    let mut split_patches = pick(cuda, &split, &at)?;
    let split_internal = split_patches.pop().unwrap_or(0) as usize;
    let counts = SplitCounts {
        shape: mesh.shape,
        points,
        faces,
        internal,
        cells: totals[0] as usize,
        marked: marked.len(),
        edges: edges.len(),
        split: totals[1] as usize,
        quarters: match mesh.shape {
            CellShape::Tetrahedron => 0,
            _ => totals[1] as usize,
        },
        added: 3 * totals[1] as usize,
        added_internal: 3 * split_internal,
        added_patches: split_patches.iter().map(|&n| 3 * n as usize).collect(),
    };
    let quarters = cuda.alloc("numbers of faces", 0, 0u32)?;
    Ok(SplitNumbers {
        first,
        split,
        quarters,
        marked,
        edges,
        edge_start,
        counts,
    })
}

/// Split faces before each face.
fn split(
    cuda: &Cuda,
    task: &RefineTask<'_, Cuda>,
    totals: &mut CudaBuf<u64>,
) -> Result<CudaBuf<u32>, RefineError> {
    let faces = task.mesh.faces();
    let mut split = cuda.uninit("numbers of faces", faces + 1)?;
    let launch = view(cuda.launch(&NUMBER, D, "flag_faces"), task.mesh, task.of)
        .buf(task.marks)
        .out(&mut split);
    // SAFETY: the mesh's own arrays, a mark for each cell, a number for each face and one more.
    unsafe { launch.run(LaunchGrid::over(faces + 1, THREADS))? };
    cuda.scan(&mut split, totals, 1)?;
    let mut bad = cuda.alloc("the first wrong face", 1, NONE)?;
    let name = of_shape(
        task.mesh.shape,
        "check_sides_of_hexes",
        "check_sides_of_tets",
    );
    let launch = view(cuda.launch(&NUMBER, D, name), task.mesh, task.of)
        .buf(&split)
        .out(&mut bad);
    // SAFETY: as above.
    unsafe { launch.run(LaunchGrid::over(faces, THREADS))? };
    match bad.read(0)? {
        NONE => Ok(split),
        face => Err(unfit(face as usize)),
    }
}

/// The edges of marked cells that have no point yet, ascending.
fn edges(
    cuda: &Cuda,
    task: &RefineTask<'_, Cuda>,
    marked: &CudaBuf<u32>,
) -> Result<CudaBuf<u64>, RefineError> {
    let shape = task.mesh.shape;
    let count = shape.edges() * marked.len();
    let mut keys = cuda.uninit("edges", count)?;
    let name = of_shape(shape, "put_edges_of_hexes", "put_edges_of_tets");
    let launch = view(cuda.launch(&NUMBER, D, name), task.mesh, task.of)
        .buf(task.corners)
        .buf(marked)
        .val(marked.len() as u32)
        .out(&mut keys);
    // SAFETY: the mesh's own arrays, a key for each edge of each marked cell.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    // The word in the place of no edge has all bits, and no point has the number of its high half.
    let bits = u32::BITS
        + (task.mesh.points() as u32)
            .checked_ilog2()
            .map_or(1, |n| n + 1);
    let sorted = cuda.sort_keys(&keys, 0..bits)?;
    drop(keys);
    let mut edges = cuda.unique(&sorted)?;
    if let Some(last) = edges.len().checked_sub(1)
        && edges.read(last)? == u64::MAX
    {
        edges.truncate(last);
    }
    Ok(edges)
}

/// Some entries of a list.
fn pick(cuda: &Cuda, list: &CudaBuf<u32>, at: &[u32]) -> Result<Vec<u32>, RefineError> {
    let places = cuda.upload_slice("places", at)?;
    let mut out = cuda.uninit("some entries", at.len())?;
    let launch = cuda
        .launch(&NUMBER, D, "pick")
        .buf(list)
        .buf(&places)
        .val(at.len() as u32)
        .out(&mut out);
    // SAFETY: the places lie in the list.
    unsafe { launch.run(LaunchGrid::over(at.len(), THREADS))? };
    Ok(cuda.download(&out)?)
}
