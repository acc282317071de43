//! Grains in the flow: bodies in [`penalty`](crate::penalty).

use super::{Made, Scene, TwoPhaseMemory};
use crate::grain_cells::{GrainFields, RigidMotion};
use crate::penalty::{self, GrainSum};
use crate::running::Fields;
use crate::viscous::System;
use cutlink_device::Host;

/// Grains in the flow.
pub(crate) trait GrainKernels<const D: usize>: TwoPhaseMemory<D> {
    /// Cells that grains hold get their velocities; returns what their fluid gets.
    fn rigid(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        fields: &mut Fields<D, Self>,
    ) -> Made<Vec<GrainSum>>;

    /// Momentum of the fluid that each grain displaces, and its moment.
    fn interior(at: &Scene<'_, D, Self>, fields: &Fields<D, Self>) -> Made<Vec<GrainSum>>;

    /// The liquid's part of the fluid beside each grain.
    fn around(at: &Scene<'_, D, Self>, alpha: &Self::Buf<f64>) -> Made<Vec<f64>>;

    /// The equation of a component holds cells of grains.
    fn penalise(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        of: &System<'_, Self>,
        conductance: &Self::Buf<f64>,
        diagonal_and_b: [&mut Self::Buf<f64>; 2],
    ) -> Made<()>;

    /// What these cells give to each grain is added to its force and torque.
    fn handed(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        component_and_dt: (usize, f64),
        conductance_and_u: [&Self::Buf<f64>; 2],
        sums: &mut [GrainSum],
    ) -> Made<()>;

    /// Accelerations of grains are added to those of faces.
    fn accelerate_grains(
        at: &Scene<'_, D, Self>,
        accelerations: &[RigidMotion],
        alpha: &Self::Buf<f64>,
        out: &mut Self::Buf<f64>,
    ) -> Made<Vec<GrainSum>>;

    /// Velocities of cut cells become those of all of their mass.
    /// Returns the velocities of the fluid in cut cells.
    fn blend(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        fields: &mut Fields<D, Self>,
    ) -> Made<Self::Buf<f64>>;

    /// Velocities of cut cells become those of their fluid again.
    fn unblend(
        at: &Scene<'_, D, Self>,
        kept: &Self::Buf<f64>,
        dt: f64,
        fields: &mut Fields<D, Self>,
    ) -> Made<()>;

    /// Forces and torques by accelerations of cells.
    fn pushed(at: &Scene<'_, D, Self>, pull: &[Self::Buf<f64>; D]) -> Made<Vec<GrainSum>>;
}

impl<const D: usize> GrainKernels<D> for Host {
    fn rigid(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        fields: &mut Fields<D>,
    ) -> Made<Vec<GrainSum>> {
        let Fields {
            alpha, velocity, ..
        } = fields;
        let of = |grains: &GrainFields| penalty::rigid(grains, at.params, motions, alpha, velocity);
        Ok(at.grains.map(of).unwrap_or_default())
    }

    fn interior(at: &Scene<'_, D, Self>, fields: &Fields<D>) -> Made<Vec<GrainSum>> {
        let of = |grains: &GrainFields| {
            penalty::interior(&grains.cells, at.params, &fields.alpha, &fields.velocity)
        };
        Ok(at.grains.map(of).unwrap_or_default())
    }

    fn around(at: &Scene<'_, D, Self>, alpha: &Vec<f64>) -> Made<Vec<f64>> {
        let of = |grains: &GrainFields| penalty::around(&grains.cells, alpha);
        Ok(at.grains.map(of).unwrap_or_default())
    }

    fn penalise(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        of: &System<'_, Self>,
        conductance: &Vec<f64>,
        [diagonal, b]: [&mut Vec<f64>; 2],
    ) -> Made<()> {
        if let Some(grains) = at.grains {
            let held = penalty::Held {
                component: of.component,
                dt: of.dt,
                alpha: of.alpha,
                conductance,
            };
            let to = [diagonal, b].map(|v| &mut v[..]);
            penalty::penalise((at.mesh, at.params), grains, motions, &held, to);
        }
        Ok(())
    }

    fn handed(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        component_and_dt: (usize, f64),
        conductance_and_u: [&Vec<f64>; 2],
        sums: &mut [GrainSum],
    ) -> Made<()> {
        if let Some(grains) = at.grains {
            let values = conductance_and_u.map(|v| &v[..]);
            penalty::handed::<D>(&grains.cells, motions, component_and_dt, values, sums);
        }
        Ok(())
    }

    fn accelerate_grains(
        at: &Scene<'_, D, Self>,
        accelerations: &[RigidMotion],
        alpha: &Vec<f64>,
        out: &mut Vec<f64>,
    ) -> Made<Vec<GrainSum>> {
        let both = (at.mesh, at.params);
        let of =
            |grains: &GrainFields| penalty::accelerate(both, grains, accelerations, alpha, out);
        Ok(at.grains.map(of).unwrap_or_default())
    }

    fn blend(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        fields: &mut Fields<D>,
    ) -> Made<Vec<f64>> {
        let of = |grains: &GrainFields| penalty::blend(grains, at.params, motions, fields);
        Ok(at.grains.map(of).unwrap_or_default())
    }

    fn unblend(
        at: &Scene<'_, D, Self>,
        kept: &Vec<f64>,
        dt: f64,
        fields: &mut Fields<D>,
    ) -> Made<()> {
        if let Some(grains) = at.grains {
            penalty::unblend(grains, kept, dt, fields);
        }
        Ok(())
    }

    fn pushed(at: &Scene<'_, D, Self>, pull: &[Vec<f64>; D]) -> Made<Vec<GrainSum>> {
        let of = |grains: &GrainFields| penalty::pushed(&grains.cells, pull);
        Ok(at.grains.map(of).unwrap_or_default())
    }
}
