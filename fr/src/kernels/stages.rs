//! The stages of a step, for a backend to implement, and the CPU's.

use super::{Fluxes, Kernels, Penalty, Task};
use crate::{ElementChanges, EulerFlow, FrError, compiled::FlowFunctions, walls::is_removed};
use cutlink_amr::linear::{Faces, Leaves};
use cutlink_device::{Backend, Host};
use rayon::prelude::*;

mod sealed {
    pub trait Sealed {}

    impl Sealed for cutlink_device::Host {}
    #[cfg(feature = "cuda")]
    impl Sealed for cutlink_device::cuda::Cuda {}
}

/// The stages of a flow in a memory space. All backends give the same bits.
pub trait StageKernels<const D: usize>: Backend + sealed::Sealed {
    /// The traces of a state. `task` has no traces yet.
    fn traces<T: Kernels<D>>(
        &self,
        task: &Task<'_, D, T, Self>,
        u: &Self::Buf<T>,
        traces: &mut Self::Buf<T>,
    ) -> Result<(), FrError>;

    /// The common velocities and temperatures of hanging faces, and their projections to the coarse sides.
    fn common_states<T: Kernels<D>>(
        &self,
        task: &Task<'_, D, T, Self>,
        states: &mut Self::Buf<T>,
    ) -> Result<(), FrError>;

    /// The viscous traces and rates of the state, and the viscous fluxes at walls, with the `common_states` of hanging faces.
    fn viscous_rates<T: Kernels<D>>(
        &self,
        task: &Task<'_, D, T, Self>,
        states: &Self::Buf<T>,
        u: &Self::Buf<T>,
        out: [&mut Self::Buf<T>; 3],
    ) -> Result<(), FrError>;

    /// The fluxes through walls, with the viscous ones there.
    fn walls<T: Kernels<D>>(
        &self,
        task: &Task<'_, D, T, Self>,
        viscous: &Self::Buf<T>,
        out: &mut Self::Buf<T>,
    ) -> Result<(), FrError>;

    /// The common fluxes of hanging faces, and their projections to the coarse sides.
    fn mortars<T: Kernels<D>>(
        &self,
        task: &Task<'_, D, T, Self>,
        viscous: &Self::Buf<T>,
        mortars: &mut Self::Buf<T>,
    ) -> Result<(), FrError>;

    /// A stage of all elements: the new state in `u`, the state at the start of the step in `start`, and the traces of
    /// the new state in `traces`.
    fn advance<T: Kernels<D>>(
        &self,
        task: &Task<'_, D, T, Self>,
        fluxes: &Fluxes<'_, T, Self>,
        u: &mut Self::Buf<T>,
        start: &mut Self::Buf<T>,
        traces: &mut Self::Buf<T>,
    ) -> Result<(), FrError>;

    /// Bodies take from the points inside of them what a step lets them, after its last stage; `losses` has how much.
    fn penalize<T: Kernels<D>>(
        &self,
        penalty: &Penalty<'_, T, Self>,
        u: &mut Self::Buf<T>,
        traces: &mut Self::Buf<T>,
        losses: &mut Self::Buf<T>,
    ) -> Result<(), FrError>;

    /// The largest of `Σ (|v_a| + c) / h_a + diffusion / ρ 4^level` at the points but for removed elements; infinite where a
    /// state is no flow.
    fn wave_rate<T: Kernels<D>>(
        &self,
        waves: &Waves<'_, D, Self>,
        u: &Self::Buf<T>,
    ) -> Result<f64, FrError>;
}

/// What a flow in a memory space is made of: the stages, and what is written for the backend as a whole. Sealed: kernels on a
/// GPU trust the tables of faces and walls, which this crate alone makes.
pub trait EulerKernels<const D: usize>: StageKernels<D> {
    /// Adapts the mesh of a flow once, by its sensor: see [`EulerFlow::adapt`].
    fn adapt<T: Kernels<D>>(flow: &mut EulerFlow<D, T, Self>) -> Result<ElementChanges, FrError>;

    /// Functions of flows on this backend, compiled in this crate.
    fn functions<T: Kernels<D>>() -> &'static FlowFunctions<D, T, Self>;

    /// Looks at a flow on the host. Unless the flow is there, it is copied.
    fn look<T: Kernels<D>, R>(
        flow: &EulerFlow<D, T, Self>,
        look: impl FnOnce(&EulerFlow<D, T>) -> R,
    ) -> Result<R, FrError> {
        Ok(look(&flow.to_host()?))
    }
}

/// What the fastest wave is found with.
#[derive(Debug)]
pub struct Waves<'a, const D: usize, B: Backend = Host> {
    /// The ratio of specific heats.
    pub gamma: f64,
    /// Edges of root elements.
    pub edges: [f64; D],
    /// The part of a rate that viscosity has in a root element of density 1: 0 for the Euler equations.
    pub diffusion: f64,
    /// Points of an element.
    pub nodes: usize,
    /// The leaves.
    pub leaves: &'a Leaves<D, B>,
    /// The level of each leaf, on the host.
    pub levels: &'a [u8],
    /// What lies beyond the faces of leaves.
    pub faces: &'a Faces<D, B>,
}

impl<const D: usize> StageKernels<D> for Host {
    fn traces<T: Kernels<D>>(
        &self,
        task: &Task<'_, D, T>,
        u: &Vec<T>,
        traces: &mut Vec<T>,
    ) -> Result<(), FrError> {
        T::traces(task.basis, u, traces);
        Ok(())
    }

    fn common_states<T: Kernels<D>>(
        &self,
        task: &Task<'_, D, T>,
        states: &mut Vec<T>,
    ) -> Result<(), FrError> {
        T::common_states(task, states);
        Ok(())
    }

    fn viscous_rates<T: Kernels<D>>(
        &self,
        task: &Task<'_, D, T>,
        states: &Vec<T>,
        u: &Vec<T>,
        out: [&mut Vec<T>; 3],
    ) -> Result<(), FrError> {
        T::viscous_rates(task, states, u, out.map(|out| &mut out[..]));
        Ok(())
    }

    fn walls<T: Kernels<D>>(
        &self,
        task: &Task<'_, D, T>,
        viscous: &Vec<T>,
        out: &mut Vec<T>,
    ) -> Result<(), FrError> {
        T::walls(task, viscous, out);
        Ok(())
    }

    fn mortars<T: Kernels<D>>(
        &self,
        task: &Task<'_, D, T>,
        viscous: &Vec<T>,
        mortars: &mut Vec<T>,
    ) -> Result<(), FrError> {
        T::mortars(task, viscous, mortars);
        Ok(())
    }

    fn advance<T: Kernels<D>>(
        &self,
        task: &Task<'_, D, T>,
        fluxes: &Fluxes<'_, T>,
        u: &mut Vec<T>,
        start: &mut Vec<T>,
        traces: &mut Vec<T>,
    ) -> Result<(), FrError> {
        T::advance(task, fluxes, u, start, traces);
        if task.is_first {
            std::mem::swap(u, start);
        }
        Ok(())
    }

    fn penalize<T: Kernels<D>>(
        &self,
        penalty: &Penalty<'_, T>,
        u: &mut Vec<T>,
        traces: &mut Vec<T>,
        losses: &mut Vec<T>,
    ) -> Result<(), FrError> {
        T::penalize(penalty, u, traces, losses);
        Ok(())
    }

    fn wave_rate<T: Kernels<D>>(&self, waves: &Waves<'_, D>, u: &Vec<T>) -> Result<f64, FrError> {
        let (nodes, gamma) = (waves.nodes, waves.gamma);
        let of_element = |(leaf, u): (usize, &[T])| {
            if is_removed(waves.faces, leaf as u32) {
                return 0.0;
            }
            let scale = f64::from(1u32 << waves.levels[leaf]);
            let of_node = |node: usize| {
                let value = |v: usize| u[v * nodes + node].wide();
                let velocity: [f64; D] = std::array::from_fn(|a| value(1 + a) / value(0));
                let kinetic = 0.5 * velocity.iter().map(|v| v * v).sum::<f64>() * value(0);
                let pressure = (gamma - 1.0) * (value(1 + D) - kinetic);
                let sound = (gamma * pressure / value(0)).sqrt();
                let speeds = (0..D).map(|a| (velocity[a].abs() + sound) / waves.edges[a]);
                let diffusion = waves.diffusion / value(0) * (scale * scale);
                let rate = speeds.sum::<f64>() * scale + diffusion;
                if rate.is_finite() && value(0) > 0.0 {
                    rate
                } else {
                    f64::INFINITY
                }
            };
            (0..nodes).map(of_node).fold(0.0, f64::max)
        };
        let elements = u.par_chunks((D + 2) * nodes).enumerate();
        Ok(elements.map(of_element).reduce(|| 0.0, f64::max))
    }
}

impl<const D: usize> EulerKernels<D> for Host {
    fn adapt<T: Kernels<D>>(flow: &mut EulerFlow<D, T>) -> Result<ElementChanges, FrError> {
        flow.adapt_here()
    }

    fn functions<T: Kernels<D>>() -> &'static FlowFunctions<D, T, Self> {
        T::flow_functions()
    }

    fn look<T: Kernels<D>, R>(
        flow: &EulerFlow<D, T>,
        look: impl FnOnce(&EulerFlow<D, T>) -> R,
    ) -> Result<R, FrError> {
        Ok(look(flow))
    }
}
