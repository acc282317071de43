//! Viscosity: one thread a cell, or a face where these are written.

use super::{VISCOUS, addresses, grains_of, values};
use crate::kernels::{Made, Scene, ViscousKernels};
use crate::viscous::System;
use cutlink_device::cuda::{Cuda, CudaBuf};

type Buf = CudaBuf<f64>;

impl<const D: usize> ViscousKernels<D> for Cuda {
    fn viscosity(at: &Scene<'_, D, Self>, alpha: &Buf, out: &mut Buf) -> Made<()> {
        let (cuda, mesh) = (at.backend, at.tables);
        mesh.check(&[alpha.len()], &[out.len()]);
        let launch = cuda
            .launch(&VISCOUS, D, "viscosity")
            .val(mesh.addresses())
            .val(values(at))
            .val(grains_of(at))
            .buf(alpha)
            .out(out);
        // SAFETY: arrays of the mesh, here and below.
        unsafe { launch.run(mesh.over_faces())? };
        Ok(())
    }

    fn stress(
        at: &Scene<'_, D, Self>,
        velocity: &[Buf; D],
        conductance: &Buf,
        component: usize,
        out: &mut Buf,
    ) -> Made<()> {
        let (cuda, mesh) = (at.backend, at.tables);
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
        unsafe { launch.run(mesh.over_faces())? };
        Ok(())
    }

    fn force(at: &Scene<'_, D, Self>, stress: &Buf, out: &mut Buf) -> Made<()> {
        let (cuda, mesh) = (at.backend, at.tables);
        mesh.check(&[out.len()], &[stress.len()]);
        let launch = cuda
            .launch(&VISCOUS, D, "force")
            .val(mesh.addresses())
            .buf(stress)
            .out(out);
        // SAFETY: as above.
        unsafe { launch.run(mesh.over_cells())? };
        Ok(())
    }

    fn kick(at: &Scene<'_, D, Self>, pull: &Buf, dt: f64, u: &mut Buf) -> Made<()> {
        let (cuda, mesh) = (at.backend, at.tables);
        mesh.check(&[pull.len(), u.len()], &[]);
        let launch = cuda
            .launch(&VISCOUS, D, "kick")
            .val(mesh.cells() as u64)
            .buf(pull)
            .val(dt)
            .out(u);
        // SAFETY: as above.
        unsafe { launch.run(mesh.over_cells())? };
        Ok(())
    }

    fn equation(
        at: &Scene<'_, D, Self>,
        of: &System<'_, Self>,
        diagonal: &mut Buf,
        b: &mut Buf,
    ) -> Made<()> {
        let (cuda, mesh) = (at.backend, at.tables);
        mesh.check(
            &[of.alpha, of.u, of.force, diagonal, b].map(CudaBuf::len),
            &[],
        );
        let launch = cuda
            .launch(&VISCOUS, D, "equation")
            .val(mesh.addresses())
            .val(values(at))
            .val(grains_of(at))
            .val(of.component as u32)
            .val(of.dt)
            .buf(of.alpha)
            .buf(of.u)
            .buf(of.force)
            .out(diagonal)
            .out(b);
        // SAFETY: as above.
        unsafe { launch.run(mesh.over_cells())? };
        Ok(())
    }
}
