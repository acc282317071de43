//! Forces: bodies in [`forces`](crate::forces), and `coriolis` in [`turning`](crate::turning).

use super::memory::Interface;
use super::{Made, Scene, TwoPhaseMemory};
use crate::forces;
use crate::running::Fields;
use crate::turning::Rotation;
use cutlink_device::Host;

/// Tension, weight and the turning of the box.
pub(crate) trait ForceKernels<const D: usize>: TwoPhaseMemory<D> {
    /// Accelerations of faces by tension and weight.
    ///
    /// # Errors
    /// An interface on a coarse level.
    fn accelerate(
        at: &Scene<'_, D, Self>,
        fields: &Fields<D, Self>,
        interface: &mut Self::Interface,
        out: &mut Self::Buf<f64>,
    ) -> Made<()>;

    /// How many cells have their curvature from heights, and from fits.
    fn curvatures(at: &Scene<'_, D, Self>, interface: &Self::Interface) -> Made<[usize; 2]>;

    /// The velocity turns.
    fn coriolis(
        at: &Scene<'_, D, Self>,
        by: &Rotation,
        velocity: &mut [Self::Buf<f64>; D],
    ) -> Made<()>;
}

impl<const D: usize> ForceKernels<D> for Host {
    fn accelerate(
        at: &Scene<'_, D, Self>,
        fields: &Fields<D>,
        interface: &mut Interface<D>,
        out: &mut Vec<f64>,
    ) -> Made<()> {
        let found = forces::accelerate(at.mesh, at.params, at.grains, fields, out)?;
        interface.curvatures = [found.by_heights, found.by_fit];
        Ok(())
    }

    fn curvatures(_: &Scene<'_, D, Self>, interface: &Interface<D>) -> Made<[usize; 2]> {
        Ok(interface.curvatures)
    }

    fn coriolis(at: &Scene<'_, D, Self>, by: &Rotation, velocity: &mut [Vec<f64>; D]) -> Made<()> {
        by.turn(at.mesh, velocity);
        Ok(())
    }
}
