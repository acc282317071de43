//! Viscosity: one thread a cell, or a face where these are written.

use super::grain_cells::GrainAddresses;
use super::{DeviceMesh, DeviceParams, VISCOUS, addresses};
use crate::viscous::System;
use cutlink_device::{
    DeviceError,
    cuda::{Cuda, CudaBuf},
};

type Buf = CudaBuf<f64>;
type Done = Result<(), DeviceError>;

pub(super) fn viscosity<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    params: &DeviceParams<D>,
    grains: GrainAddresses,
    alpha: &Buf,
    out: &mut Buf,
) -> Done {
    mesh.check(&[alpha.len()], &[out.len()]);
    let launch = cuda
        .launch(&VISCOUS, D, "viscosity")
        .val(mesh.addresses())
        .val(*params)
        .val(grains)
        .buf(alpha)
        .out(out);
    // SAFETY: arrays of the mesh, here and below.
    unsafe { launch.run(mesh.over_faces()) }
}

pub(super) fn stress<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    velocity: &[Buf; D],
    conductance: &Buf,
    component: usize,
    out: &mut Buf,
) -> Done {
    mesh.check(
        &velocity.each_ref().map(CudaBuf::len),
        &[conductance.len(), out.len()],
    );
    let launch = cuda
        .launch(&VISCOUS, D, "stress")
        .val(mesh.addresses())
        .val(addresses(velocity.each_ref()))
        .buf(conductance)
        .val(component as u32)
        .out(out);
    // SAFETY: as above.
    unsafe { launch.run(mesh.over_faces()) }
}

pub(super) fn force<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    stress: &Buf,
    out: &mut Buf,
) -> Done {
    mesh.check(&[out.len()], &[stress.len()]);
    let launch = cuda
        .launch(&VISCOUS, D, "force")
        .val(mesh.addresses())
        .buf(stress)
        .out(out);
    // SAFETY: as above.
    unsafe { launch.run(mesh.over_cells()) }
}

pub(super) fn kick<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    pull: &Buf,
    dt: f64,
    u: &mut Buf,
) -> Done {
    mesh.check(&[pull.len(), u.len()], &[]);
    let launch = cuda
        .launch(&VISCOUS, D, "kick")
        .val(mesh.cells() as u64)
        .buf(pull)
        .val(dt)
        .out(u);
    // SAFETY: as above.
    unsafe { launch.run(mesh.over_cells()) }
}

pub(super) fn equation<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    params: &DeviceParams<D>,
    grains: GrainAddresses,
    of: &System<'_, Cuda>,
    diagonal: &mut Buf,
    b: &mut Buf,
) -> Done {
    mesh.check(
        &[of.alpha, of.u, of.force, diagonal, b].map(CudaBuf::len),
        &[],
    );
    let launch = cuda
        .launch(&VISCOUS, D, "equation")
        .val(mesh.addresses())
        .val(*params)
        .val(grains)
        .val(of.component as u32)
        .val(of.dt)
        .buf(of.alpha)
        .buf(of.u)
        .buf(of.force)
        .out(diagonal)
        .out(b);
    // SAFETY: as above.
    unsafe { launch.run(mesh.over_cells()) }
}
