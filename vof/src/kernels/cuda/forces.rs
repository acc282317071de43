//! Accelerations of faces by surface tension and weight.

use super::grain_cells::GrainAddresses;
use super::interface::{InterfaceWork, planes, smooth};
use super::{DeviceMesh, DeviceParams, FORCES, curvature::curvature};
use crate::TwoPhaseError;
use cutlink_device::cuda::{Cuda, CudaBuf};

/// Accelerations of faces, m/s², with fractions and velocities through faces, and accelerations of cells in the last step, `pull`. Counts of the curvature are
/// [`InterfaceWork::curvatures`].
///
/// # Errors
/// An interface on a coarse level; what the driver reports.
///
/// # Panics
/// Where an array is not of the mesh.
pub(crate) fn accelerate<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    params: &DeviceParams<D>,
    grains: GrainAddresses,
    ([alpha, flux], pull): ([&CudaBuf<f64>; 2], [&CudaBuf<f64>; D]),
    out: &mut CudaBuf<f64>,
    work: &mut InterfaceWork,
) -> Result<(), TwoPhaseError> {
    mesh.check(&pull.map(CudaBuf::len), &[flux.len(), out.len()]);
    mesh.check(&[alpha.len()], &[]);
    if params.finds_curvature() {
        curvature(cuda, mesh, params, alpha, work)?;
    }
    if params.has_lines() {
        planes(cuda, mesh, params, alpha, work)?;
        smooth(cuda, mesh, alpha, work)?;
    }
    let curvatures = [work.curvature.address(0), mesh.finest().start as u64];
    let launch = cuda
        .launch(&FORCES, D, "accelerate")
        .val(mesh.addresses())
        .val(*params)
        .val(grains)
        .buf(alpha)
        .buf(flux)
        .val(curvatures)
        .val(work.planes(mesh))
        .val(pull.map(|of| of.address(0)))
        .val(u32::from(params.has_lines()))
        .out(out);
    // SAFETY: values of all cells and faces, and `work` has those of the finest level's cells; all outlive the launch.
    unsafe { launch.run(mesh.over_faces())? };
    Ok(())
}
