//! A thread a face, and a thread a cell.

use super::{D, GEOMETRY, THREADS};
use crate::kernels::CellFaces;
use crate::refine::{HexMesh, RefineError};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

pub(super) fn faces(cuda: &Cuda, mesh: &HexMesh<Cuda>) -> Result<CudaBuf<[f64; 6]>, RefineError> {
    let mut out = cuda.uninit("centres and areas of faces", mesh.faces())?;
    let launch = cuda
        .launch(&GEOMETRY, D, "measure_faces")
        .buf(&mesh.points)
        .buf(&mesh.face_start)
        .buf(&mesh.face_points)
        .val(mesh.faces() as u32)
        .out(&mut out);
    // SAFETY: the mesh's own arrays, six numbers for each face.
    unsafe { launch.run(LaunchGrid::over(mesh.faces(), THREADS))? };
    Ok(out)
}

pub(super) fn volumes(
    cuda: &Cuda,
    mesh: &HexMesh<Cuda>,
    of: &CellFaces<Cuda>,
    faces: &CudaBuf<[f64; 6]>,
) -> Result<CudaBuf<f64>, RefineError> {
    let mut volumes = cuda.uninit("volumes", mesh.cells())?;
    let launch = cuda
        .launch(&GEOMETRY, D, "measure_cells")
        .buf(&mesh.owner)
        .buf(&of.start)
        .buf(&of.faces)
        .val(mesh.cells() as u32)
        .buf(faces)
        .out(&mut volumes);
    // SAFETY: the mesh's own arrays, a number for each cell.
    unsafe { launch.run(LaunchGrid::over(mesh.cells(), THREADS))? };
    Ok(volumes)
}

pub(super) fn centers(
    cuda: &Cuda,
    mesh: &HexMesh<Cuda>,
    of: &CellFaces<Cuda>,
    faces: &CudaBuf<[f64; 6]>,
) -> Result<CudaBuf<[f64; 4]>, RefineError> {
    let mut centers = cuda.uninit("centres of cells", mesh.cells())?;
    let launch = cuda
        .launch(&GEOMETRY, D, "center_cells")
        .buf(&mesh.points)
        .buf(&mesh.face_start)
        .buf(&mesh.face_points)
        .buf(&mesh.owner)
        .buf(&of.start)
        .buf(&of.faces)
        .val(mesh.cells() as u32)
        .buf(faces)
        .out(&mut centers);
    // SAFETY: the mesh's own arrays, four numbers for each cell.
    unsafe { launch.run(LaunchGrid::over(mesh.cells(), THREADS))? };
    Ok(centers)
}
