//! A thread a cell; it searches the corners of its parent.

use super::{D, TETS, THREADS, view};
use crate::kernels::{CellFaces, Corners, NONE};
use crate::refine::{HexMesh, RefineError, misplaced};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

pub(super) fn corners(
    cuda: &Cuda,
    mesh: &HexMesh<Cuda>,
    of: &CellFaces<Cuda>,
) -> Result<CudaBuf<Corners>, RefineError> {
    let cells = mesh.cells();
    let mut corners = cuda.uninit("corners of cells", cells)?;
    let mut bad = cuda.alloc("the first wrong cell", 1, NONE)?;
    let launch = view(cuda.launch(&TETS, D, "order_corners"), mesh, of)
        .buf(&mesh.points)
        .buf(&mesh.paths)
        .val(cells as u32)
        .out(&mut corners)
        .out(&mut bad);
    // SAFETY: the mesh's own arrays, and eight words for each cell.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    match bad.read(0)? {
        NONE => Ok(corners),
        cell => Err(misplaced(cell as usize)),
    }
}
