//! The stages of a step on the CPU: functions of the files that [`kernels`](crate::kernels) names.

use super::{Made, Scene, TwoPhaseKernels};
use crate::adapt::{self, SeenBlocks, Sight};
use crate::forces;
use crate::grain_cells::{GrainCells, GrainFields, RigidMotion};
use crate::interface::Planes;
use crate::mesh::FlowMesh;
use crate::penalty::{self, GrainSum};
use crate::project::{self, Sizes};
use crate::running::Fields;
use crate::survey::{self, Survey};
use crate::sweep::{self, Crossing, Moved, SweepWork};
use crate::transfer::Passage;
use crate::turning::Rotation;
use crate::viscous::{self, System};
use cutlink_device::Host;

/// What the CPU keeps of the interface.
#[derive(Debug, Default)]
pub(crate) struct Interface<const D: usize> {
    planes: Planes<D>,
    curvatures: [usize; 2],
}

impl<const D: usize> TwoPhaseKernels<D> for Host {
    type Mesh = ();
    type Interface = Interface<D>;

    type Grains = GrainFields;

    fn grains(at: &Scene<'_, D, Self>, cells: GrainCells) -> Made<GrainFields> {
        GrainFields::new(at.mesh, cells)
    }

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

    fn blend(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        fields: &mut Fields<D>,
    ) -> Made<Vec<f64>> {
        let of = |grains: &GrainFields| penalty::blend(grains, at.params, motions, fields);
        Ok(at.grains.map(of).unwrap_or_default())
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

    fn upload_mesh(&self, _: &FlowMesh<D>) -> Made<()> {
        Ok(())
    }

    fn blocks_of((): &()) -> &() {
        &()
    }

    fn interface(_: &Scene<'_, D, Self>) -> Made<Interface<D>> {
        Ok(Interface::default())
    }

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

    fn coriolis(at: &Scene<'_, D, Self>, by: &Rotation, velocity: &mut [Vec<f64>; D]) -> Made<()> {
        by.turn(at.mesh, velocity);
        Ok(())
    }

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

    fn seen(at: &Scene<'_, D, Self>, fields: &Fields<D>, of: &Sight) -> Made<SeenBlocks> {
        Ok(adapt::seen(at.mesh, at.params, fields, of))
    }

    fn move_fractions(of: &Passage<'_, D, Self>, to: &mut Vec<f64>) -> Made<()> {
        of.fractions(to);
        Ok(())
    }

    fn move_velocity(of: &Passage<'_, D, Self>, component: usize, to: &mut Vec<f64>) -> Made<()> {
        of.velocities(component, to);
        Ok(())
    }

    fn keep_momentum(
        of: &Passage<'_, D, Self>,
        component: usize,
        alpha: &Vec<f64>,
        to: &mut Vec<f64>,
    ) -> Made<()> {
        of.keep_momentum(component, alpha, to);
        Ok(())
    }

    fn move_starts(of: &Passage<'_, D, Self>, from: &Vec<f64>, to: &mut Vec<f64>) -> Made<()> {
        of.starts(from, to);
        Ok(())
    }

    fn move_faces(of: &Passage<'_, D, Self>, to: &mut Vec<f64>) -> Made<()> {
        of.fluxes(to);
        Ok(())
    }

    fn survey(at: &Scene<'_, D, Self>, fields: &Fields<D>, levels: usize) -> Made<Survey> {
        Ok(survey::survey(at.mesh, fields, levels))
    }
}
