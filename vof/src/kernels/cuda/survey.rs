//! What the host decides on after a step.

use super::{SURVEY, adapt, addresses, values};
use crate::adapt::{SeenBlocks, Sight};
use crate::kernels::{Made, Scene, SurveyKernels};
use crate::running::Fields;
use crate::survey::Survey;
use cutlink_device::{Backend, cuda::Cuda};

impl<const D: usize> SurveyKernels<D> for Cuda {
    fn survey(at: &Scene<'_, D, Self>, fields: &Fields<D, Self>, levels: usize) -> Made<Survey> {
        let (cuda, mesh) = (at.backend, at.tables);
        let Fields {
            alpha,
            velocity,
            pressure,
            flux,
            ..
        } = fields;
        mesh.check_fields(fields);
        let mut keys = cuda.upload(vec![0u64; 4])?;
        let launch = cuda
            .launch(&SURVEY, D, "survey")
            .val(mesh.addresses())
            .buf(alpha)
            .val(addresses(velocity.each_ref()))
            .buf(pressure)
            .buf(flux)
            .val(levels as u32)
            .out(&mut keys);
        // SAFETY: fields of the mesh, and four keys.
        unsafe { launch.run(mesh.over_cells())? };
        let keys = cuda.download(&keys)?;
        Ok(Survey {
            fastest: f64::from_bits(keys[0]),
            divergence: f64::from_bits(keys[1]),
            is_bad: keys[2] != 0,
            is_at_edge: keys[3] != 0,
        })
    }

    fn seen(at: &Scene<'_, D, Self>, fields: &Fields<D, Self>, of: &Sight) -> Made<SeenBlocks> {
        Ok(adapt::seen(at.backend, at.tables, &values(at), fields, of)?)
    }
}
