//! A sweep along one axis.

use super::{DeviceMesh, DeviceParams, InterfaceWork, LANES, SWEEP, addresses};
use crate::sweep::{Crossing, Momentum, Moved, SweepWork};
use cutlink_device::{
    DeviceError,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

pub(super) fn mark_full<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    alpha: &CudaBuf<f64>,
    full: &mut CudaBuf<u8>,
) -> Result<(), DeviceError> {
    mesh.check(&[alpha.len(), full.len()], &[]);
    let launch = cuda.launch(&SWEEP, D, "mark_full");
    let launch = launch.buf(alpha).val(alpha.len() as u64).out(full);
    // SAFETY: a fraction and a mark for each cell.
    unsafe { launch.run(mesh.over_cells()) }
}

pub(super) fn fluxes<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    params: &DeviceParams<D>,
    interface: &InterfaceWork,
    of: &Crossing<'_, D, Cuda>,
    w: &mut SweepWork<D, Cuda>,
) -> Result<(), DeviceError> {
    mesh.check(&[of.alpha.len()], &[of.flux.len(), w.liquid.len()]);
    let (mut velocity, mut crossing) = ([0; D], [0; D]);
    if let (Some(u), Some(Momentum { crossing: m, .. })) = (of.velocity, &mut w.momentum) {
        mesh.check(&[], &m.each_ref().map(CudaBuf::len));
        mesh.check(&u.each_ref().map(CudaBuf::len), &[]);
        velocity = addresses(u.each_ref());
        crossing = m.each_mut().map(CudaBuf::share);
    }
    let launch = cuda
        .launch(&SWEEP, D, "fluxes")
        .val(mesh.addresses())
        .val(*params)
        .val(interface.planes(mesh))
        .buf(of.alpha)
        .val(velocity)
        .buf(of.flux)
        .val(of.dt)
        .val(of.axis as i32)
        .out(&mut w.liquid)
        .val(crossing);
    // SAFETY: arrays of the mesh; a thread writes its own faces.
    unsafe { launch.run(mesh.over_cells()) }
}

pub(super) fn update<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    params: &DeviceParams<D>,
    flux: &CudaBuf<f64>,
    (dt, axis): (f64, usize),
    w: &SweepWork<D, Cuda>,
    moved: Moved<'_, D, Cuda>,
) -> Result<(), DeviceError> {
    let Moved { alpha, velocity } = moved;
    mesh.check(&[alpha.len(), w.full.len()], &[flux.len(), w.liquid.len()]);
    let (mut crossing, mut before, mut out) = ([0; D], [0; D], [0; D]);
    if let (Some(u), Some(m)) = (velocity, &w.momentum) {
        mesh.check(&[], &m.crossing.each_ref().map(CudaBuf::len));
        mesh.check(&m.before.each_ref().map(CudaBuf::len), &[]);
        mesh.check(&u.each_ref().map(CudaBuf::len), &[]);
        crossing = addresses(m.crossing.each_ref());
        before = addresses(m.before.each_ref());
        out = u.each_mut().map(CudaBuf::share);
    }
    let launch = cuda
        .launch(&SWEEP, D, "update")
        .val(mesh.addresses())
        .val(*params)
        .buf(flux)
        .val(dt)
        .val(axis as i32)
        .buf(&w.liquid)
        .buf(&w.full)
        .val(crossing)
        .val(before)
        .out(alpha)
        .val(out);
    // SAFETY: arrays of the mesh; a thread reads and writes its own cell.
    unsafe { launch.run(mesh.over_cells()) }
}

pub(super) fn keep_volume<const D: usize>(
    cuda: &Cuda,
    mesh: &DeviceMesh<D>,
    alpha: &mut CudaBuf<f64>,
    flux: &CudaBuf<f64>,
    dt: f64,
    full: &CudaBuf<u8>,
) -> Result<(), DeviceError> {
    mesh.check(&[alpha.len(), full.len()], &[flux.len()]);
    let blocks = mesh.len();
    let mut added = cuda.uninit::<f64>("sums of blocks", blocks)?;
    let mut room = cuda.uninit::<f64>("sums of blocks", blocks)?;
    let launch = cuda
        .launch(&SWEEP, D, "added_and_room")
        .val(mesh.addresses())
        .buf(alpha)
        .buf(flux)
        .buf(full)
        .val(dt)
        .out(&mut added)
        .out(&mut room);
    // SAFETY: arrays of the mesh, with a sum for each block.
    unsafe { launch.run(mesh.over_cells())? };
    let mut share = cuda.uninit::<f64>("a part of the room", 1)?;
    let launch = cuda.launch(&SWEEP, D, "share");
    let launch = launch
        .buf(&added)
        .buf(&room)
        .val(blocks as u32)
        .out(&mut share);
    // SAFETY: a sum for each block, and one number.
    unsafe { launch.run(LaunchGrid::blocks(1, LANES))? };
    let launch = cuda
        .launch(&SWEEP, D, "keep_volume")
        .val(mesh.addresses())
        .buf(&share)
        .out(alpha);
    // SAFETY: one number, and an array of the mesh.
    unsafe { launch.run(mesh.over_cells()) }
}
