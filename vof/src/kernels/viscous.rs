//! Viscosity: bodies in [`viscous`](crate::viscous).

use super::{Made, Scene, TwoPhaseMemory};
use crate::viscous::{self, System};
use cutlink_device::Host;

/// Viscosity.
pub(crate) trait ViscousKernels<const D: usize>: TwoPhaseMemory<D> {
    /// Conductances of faces for the velocity.
    fn viscosity(
        at: &Scene<'_, D, Self>,
        alpha: &Self::Buf<f64>,
        out: &mut Self::Buf<f64>,
    ) -> Made<()>;

    /// What couples the components of the velocity, on faces and on cells.
    fn stress(
        at: &Scene<'_, D, Self>,
        velocity: &[Self::Buf<f64>; D],
        conductance: &Self::Buf<f64>,
        component: usize,
        out: &mut Self::Buf<f64>,
    ) -> Made<()>;

    /// What couples the components of the velocity, on faces and on cells.
    fn force(
        at: &Scene<'_, D, Self>,
        stress: &Self::Buf<f64>,
        out: &mut Self::Buf<f64>,
    ) -> Made<()>;

    /// Accelerations over some time are added to velocities.
    fn kick(
        at: &Scene<'_, D, Self>,
        pull: &Self::Buf<f64>,
        dt: f64,
        u: &mut Self::Buf<f64>,
    ) -> Made<()>;

    /// Diagonal and right side of a component.
    fn equation(
        at: &Scene<'_, D, Self>,
        of: &System<'_, Self>,
        diagonal: &mut Self::Buf<f64>,
        b: &mut Self::Buf<f64>,
    ) -> Made<()>;
}

impl<const D: usize> ViscousKernels<D> for Host {
    fn viscosity(at: &Scene<'_, D, Self>, alpha: &Vec<f64>, out: &mut Vec<f64>) -> Made<()> {
        viscous::viscosity(at.mesh, at.params, at.grains, alpha, out);
        Ok(())
    }

    fn stress(
        at: &Scene<'_, D, Self>,
        velocity: &[Vec<f64>; D],
        conductance: &Vec<f64>,
        component: usize,
        out: &mut Vec<f64>,
    ) -> Made<()> {
        viscous::stress(at.mesh, velocity, conductance, component, out);
        Ok(())
    }

    fn force(at: &Scene<'_, D, Self>, stress: &Vec<f64>, out: &mut Vec<f64>) -> Made<()> {
        viscous::force(at.mesh, stress, out);
        Ok(())
    }

    fn kick(_: &Scene<'_, D, Self>, pull: &Vec<f64>, dt: f64, u: &mut Vec<f64>) -> Made<()> {
        viscous::kick(pull, dt, u);
        Ok(())
    }

    fn equation(
        at: &Scene<'_, D, Self>,
        of: &System<'_, Self>,
        diagonal: &mut Vec<f64>,
        b: &mut Vec<f64>,
    ) -> Made<()> {
        viscous::equation(at.mesh, at.params, at.grains, of, diagonal, b);
        Ok(())
    }
}
