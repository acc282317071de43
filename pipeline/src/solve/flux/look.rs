//! The running flow as an observer sees it.

use super::{scene::FluxScene, steps::FluxRun};
use crate::{error::Error, observer::FlowLook, solve::run::look::check_points};
use cutlink_amr::LinearKernels;
use cutlink_device::Host;
use cutlink_fr::{
    EulerFlow,
    kernels::{EulerKernels, Kernels},
};
use cutlink_solver::fields::velocity_at;
use cutlink_voxelizer::{Mesh, kernels::AdaptKernels};
use rayon::prelude::*;

impl<const D: usize> FluxRun<'_, D>
where
    Host: AdaptKernels<D> + LinearKernels<D>,
{
    pub(super) fn look_by_observer<T: Kernels<D>, B: EulerKernels<D>>(
        &mut self,
        flow: &EulerFlow<D, T, B>,
    ) -> Result<(), Error> {
        let look = Look {
            flow,
            base: &self.resolved.setting.mesh,
            coefficients: self.forces.as_ref().and_then(|forces| forces.last()),
        };
        self.observer.look(&look)
    }
}

struct Look<'a, const D: usize, T: Kernels<D>, B: EulerKernels<D>> {
    flow: &'a EulerFlow<D, T, B>,
    /// The box as a mesh of the coarsest elements.
    base: &'a Mesh<D>,
    coefficients: Option<[f64; 3]>,
}

impl<const D: usize, T: Kernels<D>, B: EulerKernels<D>> FlowLook for Look<'_, D, T, B>
where
    Host: AdaptKernels<D> + LinearKernels<D>,
{
    fn steps(&self) -> u64 {
        self.flow.steps()
    }

    fn time(&self) -> f64 {
        self.flow.time()
    }

    fn coefficients(&self) -> Option<[f64; 3]> {
        self.coefficients
    }

    /// The pressure is absolute.
    fn sample(&self, points: &[f64]) -> Result<Vec<f64>, Error> {
        check_points::<D>(points)?;
        let scene = B::look(self.flow, |seen| FluxScene::new(self.base, seen))??;
        let frame = &scene.mesh.frame;
        let value = |x: &[f64]| {
            let at = std::array::from_fn(|a| (x[a] - frame.origin[a]) / frame.dx);
            match velocity_at(&scene.mesh, &scene.pressure, at) {
                Some((pressure, v)) => std::iter::once(pressure).chain(v).collect(),
                None => vec![f64::NAN; D + 1],
            }
        };
        Ok(points.par_chunks_exact(D).flat_map_iter(value).collect())
    }
}
