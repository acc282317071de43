//! Volume and momentum move along an axis: bodies in [`sweep`](crate::sweep), and `planes` in [`interface`](crate::interface).

use super::memory::Interface;
use super::{Made, Scene, TwoPhaseMemory};
use crate::interface::Planes;
use crate::sweep::{self, Crossing, Moved, SweepWork};
use cutlink_device::Host;

/// Sweeps.
pub(crate) trait SweepKernels<const D: usize>: TwoPhaseMemory<D> {
    /// Cells that are more than half full.
    fn mark_full(
        at: &Scene<'_, D, Self>,
        alpha: &Self::Buf<f64>,
        full: &mut Self::Buf<u8>,
    ) -> Made<()>;

    /// The interface in mixed cells.
    ///
    /// # Errors
    /// An interface on a coarse level.
    fn planes(
        at: &Scene<'_, D, Self>,
        alpha: &Self::Buf<f64>,
        interface: &mut Self::Interface,
    ) -> Made<()>;

    /// Liquid and momentum through the faces along an axis.
    fn fluxes(
        at: &Scene<'_, D, Self>,
        interface: &Self::Interface,
        of: &Crossing<'_, D, Self>,
        w: &mut SweepWork<D, Self>,
    ) -> Made<()>;

    /// What crossed is added to volume and momentum of cells.
    fn update(
        at: &Scene<'_, D, Self>,
        flux: &Self::Buf<f64>,
        along: (f64, usize),
        w: &SweepWork<D, Self>,
        moved: Moved<'_, D, Self>,
    ) -> Made<()>;

    /// What the residual divergence added is taken from mixed cells.
    fn keep_volume(
        at: &Scene<'_, D, Self>,
        alpha: &mut Self::Buf<f64>,
        flux: &Self::Buf<f64>,
        dt: f64,
        full: &Self::Buf<u8>,
    ) -> Made<()>;
}

impl<const D: usize> SweepKernels<D> for Host {
    fn mark_full(_: &Scene<'_, D, Self>, alpha: &Vec<f64>, full: &mut Vec<u8>) -> Made<()> {
        sweep::mark_full(alpha, full);
        Ok(())
    }

    fn planes(at: &Scene<'_, D, Self>, alpha: &Vec<f64>, interface: &mut Interface<D>) -> Made<()> {
        interface.planes = Planes::new(at.mesh, at.params, alpha)?;
        Ok(())
    }

    fn fluxes(
        at: &Scene<'_, D, Self>,
        interface: &Interface<D>,
        of: &Crossing<'_, D, Self>,
        w: &mut SweepWork<D, Self>,
    ) -> Made<()> {
        sweep::fluxes(at, &interface.planes, of, w);
        Ok(())
    }

    fn update(
        at: &Scene<'_, D, Self>,
        flux: &Vec<f64>,
        along: (f64, usize),
        w: &SweepWork<D, Self>,
        moved: Moved<'_, D, Self>,
    ) -> Made<()> {
        sweep::update(at, flux, along, w, moved);
        Ok(())
    }

    fn keep_volume(
        at: &Scene<'_, D, Self>,
        alpha: &mut Vec<f64>,
        flux: &Vec<f64>,
        dt: f64,
        full: &Vec<u8>,
    ) -> Made<()> {
        sweep::keep_volume(at.mesh, alpha, flux, dt, full);
        Ok(())
    }
}
