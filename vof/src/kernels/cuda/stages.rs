//! The stages of a step: see [`TwoPhaseKernels`].

use super::grain_cells::GrainAddresses;
use super::penalty::Place;
use super::{
    DeviceGrains, DeviceMesh, DeviceParams, InterfaceWork, adapt, forces, interface, project,
    survey, sweep, transfer, turning, viscous,
};
use crate::TwoPhaseError;
use crate::adapt::{SeenBlocks, Sight};
use crate::grain_cells::{GrainCells, RigidMotion};
use crate::kernels::{Scene, TwoPhaseKernels};
use crate::mesh::FlowMesh;
use crate::penalty::{GrainSum, add_sums};
use crate::project::Sizes;
use crate::running::Fields;
use crate::survey::Survey;
use crate::sweep::{Crossing, Moved, SweepWork};
use crate::transfer::Passage;
use crate::turning::Rotation;
use crate::viscous::System;
use cutlink_device::cuda::{Cuda, CudaBuf};
use cutlink_device::{Backend, DeviceError};
use cutlink_elliptic::DeviceBlocks;

type Made<T> = Result<T, TwoPhaseError>;
type Buf = CudaBuf<f64>;

fn values<const D: usize>(at: &Scene<'_, D, Cuda>) -> DeviceParams<D> {
    DeviceParams::new(at.params)
}

fn grains_of<const D: usize>(at: &Scene<'_, D, Cuda>) -> GrainAddresses {
    GrainAddresses::of(at.grains)
}

/// What a stage of grains finds; nothing where there are none.
fn with_grains<'a, const D: usize, T: Default>(
    at: &Scene<'a, D, Cuda>,
    of: impl FnOnce(Place<'a, D>) -> Result<T, DeviceError>,
) -> Made<T> {
    let Some(grains) = at.grains else {
        return Ok(T::default());
    };
    let place = Place {
        cuda: at.backend,
        mesh: at.tables,
        params: values(at),
        grains,
    };
    Ok(of(place)?)
}

impl<const D: usize> TwoPhaseKernels<D> for Cuda {
    type Mesh = DeviceMesh<D>;
    type Interface = InterfaceWork;
    type Grains = DeviceGrains;

    fn grains(at: &Scene<'_, D, Self>, cells: GrainCells) -> Made<DeviceGrains> {
        Ok(DeviceGrains::new(at.backend, at.tables, &cells)?)
    }

    fn rigid(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        fields: &mut Fields<D, Self>,
    ) -> Made<Vec<GrainSum>> {
        with_grains(at, |place| place.rigid(motions, fields))
    }

    fn interior(at: &Scene<'_, D, Self>, fields: &Fields<D, Self>) -> Made<Vec<GrainSum>> {
        with_grains(at, |place| place.interior(fields))
    }

    fn around(at: &Scene<'_, D, Self>, alpha: &Buf) -> Made<Vec<f64>> {
        with_grains(at, |place| place.around(alpha))
    }

    fn penalise(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        of: &System<'_, Self>,
        conductance: &Buf,
        diagonal_and_b: [&mut Buf; 2],
    ) -> Made<()> {
        with_grains(at, |place| {
            place.penalise(motions, of, conductance, diagonal_and_b)
        })
    }

    fn handed(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        component_and_dt: (usize, f64),
        conductance_and_u: [&Buf; 2],
        sums: &mut [GrainSum],
    ) -> Made<()> {
        let found = with_grains(at, |place| {
            place.handed(motions, component_and_dt, conductance_and_u)
        })?;
        add_sums(sums, &found);
        Ok(())
    }

    fn blend(
        at: &Scene<'_, D, Self>,
        motions: &[RigidMotion],
        fields: &mut Fields<D, Self>,
    ) -> Made<Buf> {
        match with_grains(at, |place| place.blend(motions, fields).map(Some))? {
            Some(kept) => Ok(kept),
            None => Ok(at.backend.alloc("velocities of cut cells", 0, 0.0)?),
        }
    }

    fn accelerate_grains(
        at: &Scene<'_, D, Self>,
        accelerations: &[RigidMotion],
        alpha: &Buf,
        out: &mut Buf,
    ) -> Made<Vec<GrainSum>> {
        with_grains(at, |place| place.accelerate(accelerations, alpha, out))
    }

    fn unblend(
        at: &Scene<'_, D, Self>,
        kept: &Buf,
        dt: f64,
        fields: &mut Fields<D, Self>,
    ) -> Made<()> {
        with_grains(at, |place| place.unblend(kept, dt, fields))
    }

    fn pushed(at: &Scene<'_, D, Self>, pull: &[Buf; D]) -> Made<Vec<GrainSum>> {
        with_grains(at, |place| place.pushed(pull))
    }

    fn upload_mesh(&self, mesh: &FlowMesh<D>) -> Made<DeviceMesh<D>> {
        Ok(DeviceMesh::new(self, mesh)?)
    }

    fn blocks_of(mesh: &DeviceMesh<D>) -> &DeviceBlocks {
        mesh.tables()
    }

    fn interface(at: &Scene<'_, D, Self>) -> Made<InterfaceWork> {
        Ok(InterfaceWork::new(at.backend, at.tables)?)
    }

    fn mark_full(at: &Scene<'_, D, Self>, alpha: &Buf, full: &mut CudaBuf<u8>) -> Made<()> {
        Ok(sweep::mark_full(at.backend, at.tables, alpha, full)?)
    }

    fn planes(at: &Scene<'_, D, Self>, alpha: &Buf, interface: &mut InterfaceWork) -> Made<()> {
        interface::planes(at.backend, at.tables, &values(at), alpha, interface)
    }

    fn fluxes(
        at: &Scene<'_, D, Self>,
        interface: &InterfaceWork,
        of: &Crossing<'_, D, Self>,
        w: &mut SweepWork<D, Self>,
    ) -> Made<()> {
        Ok(sweep::fluxes(
            at.backend,
            at.tables,
            &values(at),
            interface,
            of,
            w,
        )?)
    }

    fn update(
        at: &Scene<'_, D, Self>,
        flux: &Buf,
        along: (f64, usize),
        w: &SweepWork<D, Self>,
        moved: Moved<'_, D, Self>,
    ) -> Made<()> {
        Ok(sweep::update(
            at.backend,
            at.tables,
            &values(at),
            flux,
            along,
            w,
            moved,
        )?)
    }

    fn keep_volume(
        at: &Scene<'_, D, Self>,
        alpha: &mut Buf,
        flux: &Buf,
        dt: f64,
        full: &CudaBuf<u8>,
    ) -> Made<()> {
        Ok(sweep::keep_volume(
            at.backend, at.tables, alpha, flux, dt, full,
        )?)
    }

    fn viscosity(at: &Scene<'_, D, Self>, alpha: &Buf, out: &mut Buf) -> Made<()> {
        Ok(viscous::viscosity(
            at.backend,
            at.tables,
            &values(at),
            grains_of(at),
            alpha,
            out,
        )?)
    }

    fn stress(
        at: &Scene<'_, D, Self>,
        velocity: &[Buf; D],
        conductance: &Buf,
        component: usize,
        out: &mut Buf,
    ) -> Made<()> {
        Ok(viscous::stress(
            at.backend,
            at.tables,
            velocity,
            conductance,
            component,
            out,
        )?)
    }

    fn force(at: &Scene<'_, D, Self>, stress: &Buf, out: &mut Buf) -> Made<()> {
        Ok(viscous::force(at.backend, at.tables, stress, out)?)
    }

    fn kick(at: &Scene<'_, D, Self>, pull: &Buf, dt: f64, u: &mut Buf) -> Made<()> {
        Ok(viscous::kick(at.backend, at.tables, pull, dt, u)?)
    }

    fn equation(
        at: &Scene<'_, D, Self>,
        of: &System<'_, Self>,
        diagonal: &mut Buf,
        b: &mut Buf,
    ) -> Made<()> {
        Ok(viscous::equation(
            at.backend,
            at.tables,
            &values(at),
            grains_of(at),
            of,
            diagonal,
            b,
        )?)
    }

    fn coriolis(at: &Scene<'_, D, Self>, by: &Rotation, velocity: &mut [Buf; D]) -> Made<()> {
        Ok(turning::turn(at.backend, at.tables, by, velocity)?)
    }

    fn accelerate(
        at: &Scene<'_, D, Self>,
        fields: &Fields<D, Self>,
        interface: &mut InterfaceWork,
        out: &mut Buf,
    ) -> Made<()> {
        let (moved, pull) = ([&fields.alpha, &fields.flux], fields.pull.each_ref());
        forces::accelerate(
            at.backend,
            at.tables,
            &values(at),
            grains_of(at),
            (moved, pull),
            out,
            interface,
        )
    }

    fn curvatures(at: &Scene<'_, D, Self>, interface: &InterfaceWork) -> Made<[usize; 2]> {
        Ok(interface.curvatures(at.backend, &values(at))?)
    }

    fn to_faces(
        at: &Scene<'_, D, Self>,
        fields: &mut Fields<D, Self>,
        acceleration: &Buf,
        dt: f64,
    ) -> Made<()> {
        Ok(project::to_faces(
            at.backend,
            at.tables,
            &values(at),
            grains_of(at),
            fields,
            acceleration,
            dt,
        )?)
    }

    fn conductance(at: &Scene<'_, D, Self>, alpha: &Buf, out: &mut Buf) -> Made<()> {
        Ok(project::conductance(
            at.backend,
            at.tables,
            &values(at),
            grains_of(at),
            alpha,
            out,
        )?)
    }

    fn right_side(
        at: &Scene<'_, D, Self>,
        flux: &Buf,
        conductance: &Buf,
        dt: f64,
        b: &mut Buf,
    ) -> Made<()> {
        Ok(project::right_side(
            at.backend,
            at.tables,
            &values(at),
            [flux, conductance],
            dt,
            b,
        )?)
    }

    fn sizes(at: &Scene<'_, D, Self>, flux: &Buf, b: &Buf, dt: f64) -> Made<Sizes> {
        Ok(project::sizes(at.backend, at.tables, flux, b, dt)?)
    }

    fn pull(
        at: &Scene<'_, D, Self>,
        fields: &Fields<D, Self>,
        before: &Buf,
        out: &mut Buf,
    ) -> Made<()> {
        Ok(project::pull(
            at.backend,
            at.tables,
            &values(at),
            grains_of(at),
            fields,
            before,
            out,
        )?)
    }

    fn correct(
        at: &Scene<'_, D, Self>,
        after_and_before: [&Buf; 2],
        dt: f64,
        flux: &mut Buf,
    ) -> Made<()> {
        Ok(project::correct(
            at.backend,
            at.tables,
            after_and_before,
            dt,
            flux,
        )?)
    }

    fn to_cells(
        at: &Scene<'_, D, Self>,
        acceleration: &Buf,
        dt: f64,
        fields: &mut Fields<D, Self>,
    ) -> Made<()> {
        Ok(project::to_cells(
            at.backend,
            at.tables,
            acceleration,
            dt,
            fields,
        )?)
    }

    fn seen(at: &Scene<'_, D, Self>, fields: &Fields<D, Self>, of: &Sight) -> Made<SeenBlocks> {
        Ok(adapt::seen(at.backend, at.tables, &values(at), fields, of)?)
    }

    fn move_fractions(of: &Passage<'_, D, Self>, to: &mut Buf) -> Made<()> {
        Ok(transfer::fractions(of, to)?)
    }

    fn move_velocity(of: &Passage<'_, D, Self>, component: usize, to: &mut Buf) -> Made<()> {
        Ok(transfer::velocity(of, component, to)?)
    }

    fn keep_momentum(
        of: &Passage<'_, D, Self>,
        component: usize,
        alpha: &Buf,
        to: &mut Buf,
    ) -> Made<()> {
        Ok(transfer::keep_momentum(of, component, alpha, to)?)
    }

    fn move_starts(of: &Passage<'_, D, Self>, from: &Buf, to: &mut Buf) -> Made<()> {
        Ok(transfer::starts(of, from, to)?)
    }

    fn move_faces(of: &Passage<'_, D, Self>, to: &mut Buf) -> Made<()> {
        Ok(transfer::faces(of, to)?)
    }

    fn survey(at: &Scene<'_, D, Self>, fields: &Fields<D, Self>, levels: usize) -> Made<Survey> {
        Ok(survey::survey(at.backend, at.tables, fields, levels)?)
    }
}
