//! The projection: bodies in [`project`](crate::project).

use super::{Made, Scene, TwoPhaseMemory};
use crate::project::{self, Sizes};
use crate::running::Fields;
use cutlink_device::Host;

/// The projection.
pub(crate) trait ProjectionKernels<const D: usize>: TwoPhaseMemory<D> {
    /// Velocities of faces from those of cells; not beside finer cells.
    fn to_faces(
        at: &Scene<'_, D, Self>,
        fields: &mut Fields<D, Self>,
        acceleration: &Self::Buf<f64>,
        dt: f64,
    ) -> Made<()>;

    /// Of the pressure.
    fn conductance(
        at: &Scene<'_, D, Self>,
        alpha: &Self::Buf<f64>,
        out: &mut Self::Buf<f64>,
    ) -> Made<()>;

    /// Of the pressure.
    fn right_side(
        at: &Scene<'_, D, Self>,
        flux: &Self::Buf<f64>,
        conductance: &Self::Buf<f64>,
        dt: f64,
        b: &mut Self::Buf<f64>,
    ) -> Made<()>;

    /// Sums over right side and fluxes.
    fn sizes(
        at: &Scene<'_, D, Self>,
        flux: &Self::Buf<f64>,
        b: &Self::Buf<f64>,
        dt: f64,
    ) -> Made<Sizes>;

    /// Accelerations of faces by the pressure are added; not beside finer cells.
    fn pull(
        at: &Scene<'_, D, Self>,
        fields: &Fields<D, Self>,
        before: &Self::Buf<f64>,
        out: &mut Self::Buf<f64>,
    ) -> Made<()>;

    /// Velocities of faces and of cells by them.
    fn correct(
        at: &Scene<'_, D, Self>,
        after_and_before: [&Self::Buf<f64>; 2],
        dt: f64,
        flux: &mut Self::Buf<f64>,
    ) -> Made<()>;

    /// Velocities of faces and of cells by them.
    fn to_cells(
        at: &Scene<'_, D, Self>,
        acceleration: &Self::Buf<f64>,
        dt: f64,
        fields: &mut Fields<D, Self>,
    ) -> Made<()>;
}

impl<const D: usize> ProjectionKernels<D> for Host {
    fn to_faces(
        at: &Scene<'_, D, Self>,
        fields: &mut Fields<D>,
        acceleration: &Vec<f64>,
        dt: f64,
    ) -> Made<()> {
        project::to_faces(at.mesh, at.params, at.grains, fields, acceleration, dt);
        Ok(())
    }

    fn conductance(at: &Scene<'_, D, Self>, alpha: &Vec<f64>, out: &mut Vec<f64>) -> Made<()> {
        project::conductance(at.mesh, at.params, at.grains, alpha, out);
        Ok(())
    }

    fn right_side(
        at: &Scene<'_, D, Self>,
        flux: &Vec<f64>,
        conductance: &Vec<f64>,
        dt: f64,
        b: &mut Vec<f64>,
    ) -> Made<()> {
        project::right_side(at.mesh, at.params, flux, conductance, dt, b);
        Ok(())
    }

    fn sizes(at: &Scene<'_, D, Self>, flux: &Vec<f64>, b: &Vec<f64>, dt: f64) -> Made<Sizes> {
        Ok(project::sizes(at.mesh, flux, b, dt))
    }

    fn pull(
        at: &Scene<'_, D, Self>,
        fields: &Fields<D>,
        before: &Vec<f64>,
        out: &mut Vec<f64>,
    ) -> Made<()> {
        project::pull(at.mesh, at.params, at.grains, fields, before, out);
        Ok(())
    }

    fn correct(
        at: &Scene<'_, D, Self>,
        [after, before]: [&Vec<f64>; 2],
        dt: f64,
        flux: &mut Vec<f64>,
    ) -> Made<()> {
        project::correct(at.mesh, [after, before], dt, flux);
        Ok(())
    }

    fn to_cells(
        at: &Scene<'_, D, Self>,
        acceleration: &Vec<f64>,
        dt: f64,
        fields: &mut Fields<D>,
    ) -> Made<()> {
        project::to_cells(at.mesh, acceleration, dt, fields);
        Ok(())
    }
}
