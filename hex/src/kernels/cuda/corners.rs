//! A thread a cell; it reads its faces several times.

use super::{CORNERS, D, THREADS, view};
use crate::kernels::{CellFaces, Corners};
use crate::refine::{HexMesh, RefineError};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

pub(super) fn corners(
    cuda: &Cuda,
    mesh: &HexMesh<Cuda>,
    of: &CellFaces<Cuda>,
) -> Result<(CudaBuf<Corners>, usize), RefineError> {
    let cells = mesh.cells();
    let mut corners = cuda.uninit("corners of cells", cells)?;
    let mut none = cuda.alloc("a count", 1, 0u32)?;
    let launch = view(cuda.launch(&CORNERS, D, "find_corners"), mesh, of)
        .val(cells as u32)
        .out(&mut corners)
        .out(&mut none);
    // SAFETY: the mesh's own arrays, and eight words for each cell.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    Ok((corners, none.read(0)? as usize))
}
