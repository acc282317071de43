//! A sweep along one axis.

use super::{InterfaceWork, LANES, SWEEP, addresses, interface, values};
use crate::kernels::{Made, Scene, SweepKernels};
use crate::sweep::{Crossing, Momentum, Moved, SweepWork};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

type Buf = CudaBuf<f64>;

impl<const D: usize> SweepKernels<D> for Cuda {
    fn mark_full(at: &Scene<'_, D, Self>, alpha: &Buf, full: &mut CudaBuf<u8>) -> Made<()> {
        let (cuda, mesh) = (at.backend, at.tables);
        mesh.check(&[alpha.len(), full.len()], &[]);
        let launch = cuda.launch(&SWEEP, D, "mark_full");
        let launch = launch.buf(alpha).val(alpha.len() as u64).out(full);
        // SAFETY: a fraction and a mark for each cell.
        unsafe { launch.run(mesh.over_cells())? };
        Ok(())
    }

    fn planes(at: &Scene<'_, D, Self>, alpha: &Buf, interface: &mut InterfaceWork) -> Made<()> {
        interface::planes(at.backend, at.tables, &values(at), alpha, interface)
    }

    fn fluxes(
        at: &Scene<'_, D, Self>,
        interface: &InterfaceWork,
        of: &Crossing<'_, D, Self>,
        w: &mut SweepWork<D, Self>,
    ) -> Made<()> {
        let (cuda, mesh) = (at.backend, at.tables);
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
            .val(values(at))
            .val(interface.planes(mesh))
            .buf(of.alpha)
            .val(velocity)
            .buf(of.flux)
            .val(of.dt)
            .val(of.axis as i32)
            .out(&mut w.liquid)
            .val(crossing);
        // SAFETY: arrays of the mesh; a thread writes its own faces.
        unsafe { launch.run(mesh.over_cells())? };
        Ok(())
    }

    fn update(
        at: &Scene<'_, D, Self>,
        flux: &Buf,
        (dt, axis): (f64, usize),
        w: &SweepWork<D, Self>,
        moved: Moved<'_, D, Self>,
    ) -> Made<()> {
        let (cuda, mesh) = (at.backend, at.tables);
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
            .val(values(at))
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
        unsafe { launch.run(mesh.over_cells())? };
        Ok(())
    }

    fn keep_volume(
        at: &Scene<'_, D, Self>,
        alpha: &mut Buf,
        flux: &Buf,
        dt: f64,
        full: &CudaBuf<u8>,
    ) -> Made<()> {
        let (cuda, mesh) = (at.backend, at.tables);
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
        unsafe { launch.run(mesh.over_cells())? };
        Ok(())
    }
}
