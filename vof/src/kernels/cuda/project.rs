//! The projection: one thread a cell, or a face where these are written.

use super::grain_cells::GrainAddresses;
use super::{DeviceMesh, DeviceParams, LANES, PROJECT, addresses};
use crate::project::Sizes;
use crate::running::Fields;
use cutlink_device::{
    Backend, DeviceError,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

type Buf = CudaBuf<f64>;
type Done = Result<(), DeviceError>;

pub(super) fn to_faces<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    params: &DeviceParams<D>,
    grains: GrainAddresses,
    fields: &mut Fields<D, Cuda>,
    acceleration: &Buf,
    dt: f64,
) -> Done {
    mesh.check_fields(fields);
    mesh.check(&[], &[acceleration.len()]);
    let launch = cuda
        .launch(&PROJECT, D, "to_faces")
        .val(mesh.addresses())
        .val(*params)
        .val(grains)
        .buf(&fields.alpha)
        .val(addresses(fields.velocity.each_ref()))
        .buf(acceleration)
        .val(dt)
        .out(&mut fields.flux);
    // SAFETY: fields of the mesh, here and below.
    unsafe { launch.run(mesh.over_faces()) }
}

pub(super) fn conductance<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    params: &DeviceParams<D>,
    grains: GrainAddresses,
    alpha: &Buf,
    out: &mut Buf,
) -> Done {
    mesh.check(&[alpha.len()], &[out.len()]);
    let launch = cuda
        .launch(&PROJECT, D, "conductance")
        .val(mesh.addresses())
        .val(*params)
        .val(grains)
        .buf(alpha)
        .out(out);
    // SAFETY: as above.
    unsafe { launch.run(mesh.over_faces()) }
}

pub(super) fn right_side<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    params: &DeviceParams<D>,
    [flux, conductance]: [&Buf; 2],
    dt: f64,
    b: &mut Buf,
) -> Done {
    mesh.check(&[b.len()], &[flux.len(), conductance.len()]);
    let launch = cuda
        .launch(&PROJECT, D, "right_side")
        .val(mesh.addresses())
        .val(*params)
        .buf(flux)
        .buf(conductance)
        .val(dt)
        .out(b);
    // SAFETY: as above.
    unsafe { launch.run(mesh.over_cells()) }
}

pub(super) fn sizes<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    flux: &Buf,
    b: &Buf,
    dt: f64,
) -> Result<Sizes, DeviceError> {
    mesh.check(&[b.len()], &[flux.len()]);
    let mut sums = cuda.alloc("sums of blocks", 3 * mesh.len(), 0.0)?;
    let launch = cuda
        .launch(&PROJECT, D, "block_sizes")
        .val(mesh.addresses())
        .buf(flux)
        .buf(b)
        .val(dt)
        .out(&mut sums);
    // SAFETY: as above; three sums of each block.
    unsafe { launch.run(mesh.over_cells())? };
    let mut found = cuda.alloc("sums", 3, 0.0)?;
    let launch = cuda
        .launch(&PROJECT, D, "sizes")
        .buf(&sums)
        .val(mesh.len() as u32)
        .out(&mut found);
    // SAFETY: as above; a thread block for each of three.
    unsafe { launch.run(LaunchGrid::blocks(3, LANES))? };
    let found = cuda.download(&found)?;
    Ok(Sizes {
        net: found[0],
        all: found[1],
        squares: found[2],
    })
}

pub(super) fn pull<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    params: &DeviceParams<D>,
    grains: GrainAddresses,
    fields: &Fields<D, Cuda>,
    before: &Buf,
    out: &mut Buf,
) -> Done {
    mesh.check_fields(fields);
    mesh.check(&[], &[before.len(), out.len()]);
    let launch = cuda
        .launch(&PROJECT, D, "pull")
        .val(mesh.addresses())
        .val(*params)
        .val(grains)
        .buf(&fields.alpha)
        .buf(&fields.pressure)
        .buf(before)
        .out(out);
    // SAFETY: as above.
    unsafe { launch.run(mesh.over_faces()) }
}

pub(super) fn correct<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    [after, before]: [&Buf; 2],
    dt: f64,
    flux: &mut Buf,
) -> Done {
    mesh.check(&[], &[after.len(), before.len(), flux.len()]);
    let launch = cuda
        .launch(&PROJECT, D, "correct")
        .val(mesh.addresses())
        .buf(after)
        .buf(before)
        .val(dt)
        .out(flux);
    // SAFETY: as above; one thread a face.
    unsafe { launch.run(mesh.over_faces()) }
}

pub(super) fn to_cells<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    acceleration: &Buf,
    dt: f64,
    fields: &mut Fields<D, Cuda>,
) -> Done {
    mesh.check_fields(fields);
    mesh.check(&[], &[acceleration.len()]);
    let launch = cuda
        .launch(&PROJECT, D, "to_cells")
        .val(mesh.addresses())
        .buf(acceleration)
        .val(dt)
        .val(fields.velocity.each_mut().map(CudaBuf::share))
        .val(fields.pull.each_mut().map(CudaBuf::share));
    // SAFETY: as above; the fields are borrowed for writing.
    unsafe { launch.run(mesh.over_cells()) }
}
