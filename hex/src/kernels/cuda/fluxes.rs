//! A thread a face, a split cell, a list.

use super::{D, FLUXES, THREADS, group};
use crate::kernels::{CellFaces, CellShape, FluxTask};
use crate::refine::{CellRanges, HexMesh, RefineError, foreign};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

pub(super) fn shares(
    cuda: &Cuda,
    from: &CudaBuf<u32>,
    old_faces: usize,
    faces: &CudaBuf<[f64; 6]>,
) -> Result<CudaBuf<f64>, RefineError> {
    let parts = group::by_key(cuda, from, old_faces)?;
    let mut shares = cuda.uninit("shares of fluxes", from.len())?;
    let launch = cuda
        .launch(&FLUXES, D, "share_fluxes")
        .buf(from)
        .val(from.len() as u32)
        .buf(faces)
        .buf(&parts.start)
        .buf(&parts.faces)
        .out(&mut shares);
    // SAFETY: lists of new faces for each old one; a number for each new one.
    unsafe { launch.run(LaunchGrid::over(from.len(), THREADS))? };
    Ok(shares)
}

pub(super) fn split(
    cuda: &Cuda,
    task: &FluxTask<'_, Cuda>,
    flux: &CudaBuf<f64>,
) -> Result<CudaBuf<f64>, RefineError> {
    let (mesh, from, first) = (task.mesh, &task.split.from, &task.split.first);
    let (faces, internal, old_cells) = (from.len(), mesh.neighbour.len(), first.len() - 1);
    let mut new = cuda.uninit("fluxes", faces)?;
    let launch = cuda
        .launch(&FLUXES, D, "part_fluxes")
        .buf(from)
        .val(faces as u32)
        .buf(task.shares)
        .buf(flux)
        .out(&mut new);
    // SAFETY: faces come from old ones, which have a flux each; a number for each face.
    unsafe { launch.run(LaunchGrid::over(faces, THREADS))? };
    let mut potential = cuda.alloc("potentials of fluxes", mesh.cells(), 0.0)?;
    let launch = cuda
        .launch(&FLUXES, D, "potentials")
        .buf(first)
        .val(old_cells as u32)
        .buf(&mesh.owner)
        .buf(&task.of.start)
        .buf(&task.of.faces)
        .buf(task.volumes)
        .buf(&new)
        .val(u32::from(mesh.shape == CellShape::Tetrahedron))
        .out(&mut potential);
    // SAFETY: children are cells of the mesh, whose lists of faces are those given.
    unsafe { launch.run(LaunchGrid::over(old_cells, THREADS))? };
    let launch = cuda
        .launch(&FLUXES, D, "inner_fluxes")
        .buf(from)
        .val(internal as u32)
        .buf(&mesh.owner)
        .buf(&mesh.neighbour)
        .buf(&potential)
        .out(&mut new);
    // SAFETY: ends of internal faces are cells, which have a number each.
    unsafe { launch.run(LaunchGrid::over(internal, THREADS))? };
    Ok(new)
}

pub(super) fn parts(
    cuda: &Cuda,
    (fine, of): (&HexMesh<Cuda>, &CellFaces<Cuda>),
    (to, of_to): (&HexMesh<Cuda>, &CellFaces<Cuda>),
    holders: &CellRanges<Cuda>,
) -> Result<CellFaces<Cuda>, RefineError> {
    let faces = fine.faces();
    let mut targets = cuda.uninit("targets of fluxes", faces)?;
    let mut missing = cuda.alloc("a count", 1, 0u32)?;
    let launch = cuda
        .launch(&FLUXES, D, "find_targets")
        .buf(&fine.owner)
        .buf(&fine.neighbour)
        .val(faces as u32)
        .val(fine.neighbour.len() as u32)
        .buf(&of.start)
        .buf(&of.faces)
        .buf(&fine.rims)
        .buf(&holders.first)
        .buf(&holders.count)
        .buf(&to.owner)
        .buf(&to.neighbour)
        .val(to.neighbour.len() as u32)
        .buf(&of_to.start)
        .buf(&of_to.faces)
        .buf(&to.rims)
        .out(&mut targets)
        .out(&mut missing);
    // SAFETY: both meshes' own arrays; holders with a count of 1 are cells of the coarser one.
    unsafe { launch.run(LaunchGrid::over(faces, THREADS))? };
    if missing.read(0)? > 0 {
        return Err(foreign());
    }
    group::by_key(cuda, &targets, to.faces())
}

pub(super) fn sum(
    cuda: &Cuda,
    parts: &CellFaces<Cuda>,
    flux: &CudaBuf<f64>,
) -> Result<CudaBuf<f64>, RefineError> {
    let lists = parts.start.len() - 1;
    let mut sums = cuda.uninit("fluxes", lists)?;
    let launch = cuda
        .launch(&FLUXES, D, "sum_fluxes")
        .buf(&parts.start)
        .val(lists as u32)
        .buf(&parts.faces)
        .buf(flux)
        .out(&mut sums);
    // SAFETY: entries are faces, which have a flux each; a sum for each list.
    unsafe { launch.run(LaunchGrid::over(lists, THREADS))? };
    Ok(sums)
}
