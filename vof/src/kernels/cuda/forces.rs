//! Accelerations of faces by surface tension and weight.

use super::curvature::curvature;
use super::interface::{InterfaceWork, planes, smooth};
use super::{FORCES, addresses, grains_of, turning, values};
use crate::kernels::{ForceKernels, Made, Scene};
use crate::running::Fields;
use crate::turning::Rotation;
use cutlink_device::cuda::{Cuda, CudaBuf};

type Buf = CudaBuf<f64>;

impl<const D: usize> ForceKernels<D> for Cuda {
    fn accelerate(
        at: &Scene<'_, D, Self>,
        fields: &Fields<D, Self>,
        interface: &mut InterfaceWork,
        out: &mut Buf,
    ) -> Made<()> {
        let (cuda, mesh, params) = (at.backend, at.tables, values(at));
        let (alpha, pull) = (&fields.alpha, fields.pull.each_ref());
        mesh.check_fields(fields);
        mesh.check(&[], &[out.len()]);
        if params.finds_curvature() {
            curvature(cuda, mesh, &params, alpha, interface)?;
        }
        if params.has_lines() {
            planes(cuda, mesh, &params, alpha, interface)?;
            smooth(cuda, mesh, alpha, interface)?;
        }
        let curvatures = [
            interface.curvature.address(0),
            interface.directions.address(0),
            mesh.finest().start as u64,
        ];
        let launch = cuda
            .launch(&FORCES, D, "accelerate")
            .val(mesh.addresses())
            .val(params)
            .val(grains_of(at))
            .buf(alpha)
            .buf(&fields.flux)
            .val(curvatures)
            .val(interface.planes(mesh))
            .val(addresses(pull))
            .val(u32::from(params.has_lines()))
            .out(out);
        // SAFETY: values of all cells and faces, and `interface` has those of the finest level's cells; all outlive the launch.
        unsafe { launch.run(mesh.over_faces())? };
        Ok(())
    }

    fn curvatures(at: &Scene<'_, D, Self>, interface: &InterfaceWork) -> Made<[usize; 2]> {
        Ok(interface.curvatures(at.backend, &values(at))?)
    }

    fn coriolis(at: &Scene<'_, D, Self>, by: &Rotation, velocity: &mut [Buf; D]) -> Made<()> {
        Ok(turning::turn(at.backend, at.tables, by, velocity)?)
    }
}
