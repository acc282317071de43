//! The stages of a step: see [`TwoPhaseKernels`].

use super::{
    DeviceMesh, DeviceParams, InterfaceWork, adapt, forces, interface, project, survey, sweep,
    transfer, turning, viscous,
};
use crate::TwoPhaseError;
use crate::adapt::{SeenBlocks, Sight};
use crate::grain_cells::{GrainCells, RigidMotion};
use crate::kernels::{Scene, TwoPhaseKernels};
use crate::mesh::FlowMesh;
use crate::penalty::GrainSum;
use crate::project::Sizes;
use crate::running::Fields;
use crate::survey::Survey;
use crate::sweep::{Crossing, Moved, SweepWork};
use crate::transfer::Passage;
use crate::turning::Rotation;
use crate::viscous::System;
use cutlink_device::cuda::{Cuda, CudaBuf};
use cutlink_elliptic::DeviceBlocks;

type Made<T> = Result<T, TwoPhaseError>;
type Buf = CudaBuf<f64>;

fn values<const D: usize>(at: &Scene<'_, D, Cuda>) -> DeviceParams<D> {
    DeviceParams::new(at.params)
}

/// Cells of grains, of which this backend has none.
#[derive(Debug)]
pub(crate) enum NoGrains {}

/// What stages of grains return: the type of cells has no values, so that none of them is reached.
fn without<const D: usize, T>(at: &Scene<'_, D, Cuda>) -> Made<T> {
    match at.grains {
        Some(none) => match *none {},
        None => Err(TwoPhaseError::GrainsOnGpu),
    }
}

impl<const D: usize> TwoPhaseKernels<D> for Cuda {
    type Mesh = DeviceMesh<D>;
    type Interface = InterfaceWork;
    type Grains = NoGrains;

    fn grains(&self, _: GrainCells) -> Made<NoGrains> {
        Err(TwoPhaseError::GrainsOnGpu)
    }

    fn rigid(
        at: &Scene<'_, D, Self>,
        _: &[RigidMotion],
        _: &mut Fields<D, Self>,
    ) -> Made<Vec<GrainSum>> {
        without(at)
    }

    fn interior(at: &Scene<'_, D, Self>, _: &Fields<D, Self>) -> Made<Vec<GrainSum>> {
        without(at)
    }

    fn around(at: &Scene<'_, D, Self>, _: &Buf) -> Made<Vec<f64>> {
        without(at)
    }

    fn penalise(
        at: &Scene<'_, D, Self>,
        _: &[RigidMotion],
        _: &System<'_, Self>,
        _: &Buf,
        _: [&mut Buf; 2],
    ) -> Made<()> {
        without(at)
    }

    fn handed(
        at: &Scene<'_, D, Self>,
        _: &[RigidMotion],
        _: (usize, f64),
        _: [&Buf; 2],
        _: &mut [GrainSum],
    ) -> Made<()> {
        without(at)
    }

    fn blend(at: &Scene<'_, D, Self>, _: &[RigidMotion], _: &mut Fields<D, Self>) -> Made<Buf> {
        without(at)
    }

    fn accelerate_grains(
        at: &Scene<'_, D, Self>,
        _: &[RigidMotion],
        _: &Buf,
        _: &mut Buf,
    ) -> Made<Vec<GrainSum>> {
        without(at)
    }

    fn unblend(at: &Scene<'_, D, Self>, _: &Buf, _: f64, _: &mut Fields<D, Self>) -> Made<()> {
        without(at)
    }

    fn pushed(at: &Scene<'_, D, Self>, _: &[Buf; D]) -> Made<Vec<GrainSum>> {
        without(at)
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
        let values = values(at);
        forces::accelerate(at.backend, at.tables, &values, moved, pull, out, interface)
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
