//! The state of a flow in a backend's memory, and a step of it.

use crate::adapt::{SeenBlocks, Sight};
use crate::equations::Equations;
use crate::flow::StepDone;
use crate::grains::{Coupled, Exchange};
use crate::heat_params::{HeatField, HeatNumbers};
use crate::heat_step::{self, HeatKernels};
use crate::kernels::Scene;
use crate::mesh::FlowMesh;
use crate::params::FlowParams;
use crate::penalty::GrainSum;
use crate::survey::Survey;
use crate::sweep::{self, Moved, SweepWork};
use crate::{TwoPhaseError, grains, project, restrict, transfer, viscous};
use cutlink_device::{Backend, Host};
use cutlink_elliptic::faces;

/// How often the accelerations before the first step are found, each time with those of the time before: the error falls
/// by a factor of 5 or more.
const BEGIN: usize = 3;

/// Arrays of the state.
#[derive(Debug)]
pub(crate) struct Fields<const D: usize, B: Backend = Host> {
    pub(crate) alpha: B::Buf<f64>,
    pub(crate) velocity: [B::Buf<f64>; D],
    pub(crate) pressure: B::Buf<f64>,
    /// Velocities through faces.
    pub(crate) flux: B::Buf<f64>,
    /// Accelerations of cells in the last step by pressure, tension and weight.
    pub(crate) pull: [B::Buf<f64>; D],
    /// Of a flow with heat.
    pub(crate) heat: Option<HeatField<D, B>>,
}

/// What is to be shown of a state that is behind the velocities.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    pub(crate) alpha: Vec<f64>,
    pub(crate) temperature: Vec<f64>,
}

/// How far volume and momentum are to move with the velocities through faces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    /// So long, s.
    pub(crate) time: f64,
    /// In so many equal parts.
    pub(crate) parts: usize,
    /// Steps before it.
    pub(crate) steps: u64,
}

/// A step to be done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Next {
    /// Its length, s.
    pub(crate) dt: f64,
    /// Its largest Courant number.
    pub(crate) courant: f64,
    /// What moves before its forces: to the middle of the step.
    pub(crate) way: Way,
    /// Most levels of a mesh that follows the interface; none where it stays.
    pub(crate) levels: usize,
}

/// A state with the arrays of its steps.
#[derive(Debug)]
pub(crate) struct Running<const D: usize, B: HeatKernels<D>> {
    backend: B,
    tables: B::Mesh,
    pub(crate) fields: Fields<D, B>,
    /// Of steps, once there was one.
    work: Option<Work<D, B>>,
}

/// Arrays of steps.
#[derive(Debug)]
struct Work<const D: usize, B: HeatKernels<D>> {
    interface: B::Interface,
    sweeps: SweepWork<D, B>,
    equations: Equations<D, B>,
    /// Accelerations of faces.
    acceleration: B::Buf<f64>,
}

impl<const D: usize, B: HeatKernels<D>> Work<D, B> {
    fn new(at: &Scene<'_, D, B>, has_heat: bool) -> Result<Self, TwoPhaseError> {
        Ok(Self {
            interface: B::interface(at)?,
            sweeps: SweepWork::new(at, [true, has_heat])?,
            equations: Equations::new(at)?,
            acceleration: none(at)?,
        })
    }

    /// Moves volume and momentum.
    fn go(
        &mut self,
        at: &Scene<'_, D, B>,
        fields: &mut Fields<D, B>,
        way: Way,
    ) -> Result<(), TwoPhaseError> {
        let moved = Moved {
            alpha: &mut fields.alpha,
            velocity: Some(&mut fields.velocity),
        };
        let (interface, w) = (&mut self.interface, &mut self.sweeps);
        let heat = fields.heat.as_mut();
        sweep::go(at, moved, heat, &fields.flux, way, interface, w)
    }

    /// Conducts heat, where the flow has some; returns iterations.
    fn conduct(
        &mut self,
        at: &Scene<'_, D, B>,
        fields: &mut Fields<D, B>,
        dt: f64,
    ) -> Result<usize, TwoPhaseError> {
        let Some(field) = &mut fields.heat else {
            return Ok(0);
        };
        let work = (&mut self.equations, &mut self.sweeps);
        heat_step::conduct(at, field, &fields.alpha, work, dt)
    }

    /// Accelerations of faces by tension and weight.
    fn accelerate(
        &mut self,
        at: &Scene<'_, D, B>,
        fields: &Fields<D, B>,
    ) -> Result<(), TwoPhaseError> {
        let out = &mut self.acceleration;
        B::accelerate(at, fields, &mut self.interface, out)?;
        match fields.heat.as_ref().filter(|of| of.params.has_buoyancy()) {
            Some(HeatField {
                temperature,
                params,
                ..
            }) => {
                let numbers = HeatNumbers::new(at.params, params);
                B::buoyancy(at, &numbers, &fields.alpha, temperature, out)
            }
            None => Ok(()),
        }
    }

    /// Face velocities free of divergence; those of cells are corrected. Returns iterations.
    fn project(
        &mut self,
        at: &Scene<'_, D, B>,
        fields: &mut Fields<D, B>,
        dt: f64,
    ) -> Result<usize, TwoPhaseError> {
        B::to_faces(at, fields, &self.acceleration, dt)?;
        restrict::faces(at, &mut fields.flux)?;
        project::project(at, fields, &mut self.acceleration, &mut self.equations, dt)
    }
}

/// An array for each axis.
pub(crate) fn by_axis<const D: usize, T, E>(
    each: impl FnMut(usize) -> Result<T, E>,
) -> Result<[T; D], E> {
    let made: Result<Vec<T>, E> = (0..D).map(each).collect();
    Ok(made?
        .try_into()
        .unwrap_or_else(|_| unreachable!("as many as axes")))
}

/// Another array of the same values.
pub(crate) fn copied<B: Backend>(
    backend: &B,
    from: &B::Buf<f64>,
) -> Result<B::Buf<f64>, TwoPhaseError> {
    let mut to = backend.alloc(transfer::WHAT, B::len(from), 0.0)?;
    backend.copy(from, &mut to)?;
    Ok(to)
}

impl<const D: usize, B: HeatKernels<D>> Running<D, B> {
    /// # Errors
    /// Memory.
    pub(crate) fn new(
        backend: B,
        mesh: &FlowMesh<D>,
        fields: Fields<D, B>,
    ) -> Result<Self, TwoPhaseError> {
        Ok(Self {
            tables: backend.upload_mesh(mesh)?,
            backend,
            fields,
            work: None,
        })
    }

    /// The next step makes its arrays anew.
    pub(crate) fn forget_work(&mut self) {
        self.work = None;
    }

    /// Volume and heat alone move, by the velocities through faces that are set.
    pub(crate) fn advect(
        &mut self,
        mesh: &FlowMesh<D>,
        params: &FlowParams<D>,
        way: Way,
    ) -> Result<(), TwoPhaseError> {
        let at = scene(&self.backend, &self.tables, mesh, params);
        let Fields {
            alpha, flux, heat, ..
        } = &mut self.fields;
        let mut sweeps = move_volume(&at, alpha, heat.as_mut(), flux, way)?;
        match heat {
            Some(field) => heat_step::settle(&at, field, alpha, &mut sweeps, &[]),
            None => Ok(()),
        }
    }

    /// Makes the velocities of faces from those of cells, free of divergence; those of cells are corrected.
    pub(crate) fn project(
        &mut self,
        mesh: &FlowMesh<D>,
        params: &FlowParams<D>,
    ) -> Result<(), TwoPhaseError> {
        let at = scene(&self.backend, &self.tables, mesh, params);
        Work::new(&at, false)?.project(&at, &mut self.fields, 1.0)?;
        Ok(())
    }

    /// Fractions and temperatures after a way; those of the state stay.
    ///
    /// # Errors
    /// As of a step.
    pub(crate) fn after(
        &self,
        mesh: &FlowMesh<D>,
        params: &FlowParams<D>,
        way: Way,
    ) -> Result<Shown, TwoPhaseError> {
        let (backend, fields) = (&self.backend, &self.fields);
        let at = scene(backend, &self.tables, mesh, params);
        let mut alpha = copied(backend, &fields.alpha)?;
        let copy = |field: &HeatField<D, B>| {
            let temperature = copied(backend, &field.temperature)?;
            Ok::<HeatField<D, B>, TwoPhaseError>(field.with::<B>(temperature))
        };
        let mut heat = fields.heat.as_ref().map(copy).transpose()?;
        move_volume(&at, &mut alpha, heat.as_mut(), &fields.flux, way)?;
        let temperature = heat.map(|of| backend.download(&of.temperature));
        Ok(Shown {
            alpha: backend.download(&alpha)?,
            temperature: temperature.transpose()?.unwrap_or_default(),
        })
    }

    /// What a look sees.
    ///
    /// # Errors
    /// What the backend reports.
    pub(crate) fn seen(
        &self,
        mesh: &FlowMesh<D>,
        params: &FlowParams<D>,
        of: &Sight,
    ) -> Result<SeenBlocks, TwoPhaseError> {
        let at = scene(&self.backend, &self.tables, mesh, params);
        B::seen(&at, &self.fields, of)
    }

    /// The state on another mesh: of its blocks, `old_of` has the former ids. Arrays of steps are made anew by the next one; this
    /// state gives its own ones back.
    ///
    /// # Errors
    /// Memory; this state is as it was then.
    pub(crate) fn on_mesh(
        &mut self,
        [old, new]: [&FlowMesh<D>; 2],
        params: &FlowParams<D>,
        old_of: &[u32],
    ) -> Result<Self, TwoPhaseError> {
        self.work = None;
        let tables = self.backend.upload_mesh(new)?;
        let from = scene(&self.backend, &self.tables, old, params);
        let to = scene(&self.backend, &tables, new, params);
        let fields = transfer::fields(&from, &to, &self.fields, old_of)?;
        Ok(Self {
            backend: self.backend.clone(),
            tables,
            fields,
            work: None,
        })
    }

    /// The largest velocity through a face over the width of its cells, 1/s.
    ///
    /// # Errors
    /// What the backend reports.
    #[cfg(feature = "cuda")]
    pub(crate) fn fastest(
        &self,
        mesh: &FlowMesh<D>,
        params: &FlowParams<D>,
    ) -> Result<f64, TwoPhaseError> {
        let at = scene(&self.backend, &self.tables, mesh, params);
        Ok(B::survey(&at, &self.fields, 0)?.fastest)
    }

    /// One step, and what is to be known of its end. Volume and momentum are in its middle then.
    ///
    /// # Errors
    /// An interface on a coarse level, an equation that is not solved, memory.
    pub(crate) fn step(
        &mut self,
        mesh: &FlowMesh<D>,
        params: &FlowParams<D>,
        next: Next,
        mut coupled: Option<&mut Coupled>,
    ) -> Result<(StepDone, Survey), TwoPhaseError> {
        let at = scene(&self.backend, &self.tables, mesh, params);
        let work = match &mut self.work {
            Some(kept) => kept,
            none => none.insert(Work::new(&at, self.fields.heat.is_some())?),
        };
        let (fields, dt) = (&mut self.fields, next.dt);
        let interior = match &mut coupled {
            Some(of) => before(&at, of, fields, work, next)?,
            None => Vec::new(),
        };
        if next.way.steps == 0 && coupled.is_none() {
            begin(&at, fields, work, dt)?;
        }
        work.go(&at, fields, next.way)?;
        let heat_iterations = work.conduct(&at, fields, dt)?;
        let (viscous_iterations, pressure_iterations) = match coupled {
            Some(of) => with_grains(&at, of, fields, work, (dt, &interior))?,
            None => forces(&at, fields, work, dt)?,
        };
        restrict_all(&at, fields)?;
        let mut survey = B::survey(&at, fields, next.levels)?;
        survey.is_bad |= fields.heat.as_ref().is_some_and(HeatField::is_bad);
        let done = StepDone {
            dt,
            courant: next.courant,
            pressure_iterations,
            viscous_iterations,
            heat_iterations,
            divergence: dt * survey.divergence,
            curvatures: B::curvatures(&at, &work.interface)?,
            setup: work.equations.take_setup(),
        };
        Ok((done, survey))
    }
}

/// What stages work with, without grains.
fn scene<'a, const D: usize, B: HeatKernels<D>>(
    backend: &'a B,
    tables: &'a B::Mesh,
    mesh: &'a FlowMesh<D>,
    params: &'a FlowParams<D>,
) -> Scene<'a, D, B> {
    Scene {
        backend,
        mesh,
        tables,
        params,
        grains: None,
    }
}

/// Volume and heat alone move; returns what came in on the way.
fn move_volume<const D: usize, B: HeatKernels<D>>(
    at: &Scene<'_, D, B>,
    alpha: &mut B::Buf<f64>,
    mut heat: Option<&mut HeatField<D, B>>,
    flux: &B::Buf<f64>,
    way: Way,
) -> Result<SweepWork<D, B>, TwoPhaseError> {
    let mut w = SweepWork::new(at, [false, heat.is_some()])?;
    let mut interface = B::interface(at)?;
    let moved = Moved {
        alpha,
        velocity: None,
    };
    sweep::go(
        at,
        moved,
        heat.as_deref_mut(),
        flux,
        way,
        &mut interface,
        &mut w,
    )?;
    restrict::cells(at, alpha)?;
    if let Some(field) = heat {
        restrict::cells(at, &mut field.temperature)?;
    }
    Ok(w)
}

/// Viscosity, accelerations, projection; returns iterations of viscosity and pressure.
fn forces<const D: usize, B: HeatKernels<D>>(
    at: &Scene<'_, D, B>,
    fields: &mut Fields<D, B>,
    work: &mut Work<D, B>,
    dt: f64,
) -> Result<(usize, usize), TwoPhaseError> {
    let viscous = viscous::advance(at, fields, &mut work.equations, dt, None)?;
    if let Some(by) = at.params.turning.as_ref().and_then(|of| of.rotation(dt)) {
        B::coriolis(at, &by, &mut fields.velocity)?;
    }
    work.accelerate(at, fields)?;
    Ok((viscous, work.project(at, fields, dt)?))
}

/// What a step of a flow with grains begins with: the momentum of the fluid that they displace.
fn before<const D: usize, B: HeatKernels<D>>(
    at: &Scene<'_, D, B>,
    coupled: &mut Coupled,
    fields: &mut Fields<D, B>,
    work: &mut Work<D, B>,
    next: Next,
) -> Result<Vec<GrainSum>, TwoPhaseError> {
    if let Some(known) = coupled.take_interior() {
        return Ok(known);
    }
    let cells = grains::on_backend(at, coupled)?;
    let at = at.with_grains(&cells);
    B::rigid(&at, &coupled.motions(), fields)?;
    if next.way.steps == 0 {
        begin(&at, fields, work, next.dt)?;
    }
    B::interior(&at, fields)
}

/// As [`forces`], with grains that move: see [`grains`].
fn with_grains<const D: usize, B: HeatKernels<D>>(
    at: &Scene<'_, D, B>,
    coupled: &mut Coupled,
    fields: &mut Fields<D, B>,
    work: &mut Work<D, B>,
    (dt, interior): (f64, &[GrainSum]),
) -> Result<(usize, usize), TwoPhaseError> {
    coupled.foresee(dt);
    let cells = grains::on_backend(at, coupled)?;
    let at = &at.with_grains(&cells);
    let (after, around) = (B::interior(at, fields)?, B::around(at, &fields.alpha)?);
    let h = at.mesh.width(at.mesh.blocks.finest());
    let mut exchange = coupled.begin([interior, &after], &around, (at.params, h, dt));
    exchange.give(&B::rigid(at, &exchange.motions, fields)?, dt);
    let Exchange { motions, sums, .. } = &mut exchange;
    let held = Some((&motions[..], &mut sums[..]));
    let viscous = viscous::advance(at, fields, &mut work.equations, dt, held)?;
    coupled.hold(&mut exchange, dt);
    exchange.give(&B::rigid(at, &exchange.motions, fields)?, dt);
    work.accelerate(at, fields)?;
    let (faces, held) = (&mut work.acceleration, &exchange.held);
    let taken = B::accelerate_grains(at, held, &fields.alpha, faces)?;
    restrict::faces(at, faces)?;
    let kept = B::blend(at, &exchange.motions, fields)?;
    let pressure = work.project(at, fields, dt)?;
    B::unblend(at, &kept, dt, fields)?;
    let pushed = B::pushed(at, &fields.pull)?;
    let motions = coupled.end(exchange, [&pushed, &taken], dt)?;
    let given = B::rigid(at, &motions, fields)?;
    coupled.keep(B::interior(at, fields)?, &given);
    Ok((viscous, pressure))
}

/// Accelerations of faces, all zero.
fn none<const D: usize, B: HeatKernels<D>>(
    at: &Scene<'_, D, B>,
) -> Result<B::Buf<f64>, TwoPhaseError> {
    let len = at.mesh.blocks.len() * faces::per_block(D);
    Ok(at.backend.alloc(transfer::WHAT, len, 0.0)?)
}

/// Finds the accelerations at the start, which the weight at the interface depends on, and the pressure.
fn begin<const D: usize, B: HeatKernels<D>>(
    at: &Scene<'_, D, B>,
    fields: &mut Fields<D, B>,
    work: &mut Work<D, B>,
    dt: f64,
) -> Result<(), TwoPhaseError> {
    if !at.params.has_head() {
        return Ok(());
    }
    let flux = copied(at.backend, &fields.flux)?;
    let velocity: [_; D] = by_axis(|a| copied(at.backend, &fields.velocity[a]))?;
    for _ in 0..BEGIN {
        work.accelerate(at, fields)?;
        work.project(at, fields, dt)?;
        at.backend.copy(&flux, &mut fields.flux)?;
        for (u, start) in fields.velocity.iter_mut().zip(&velocity) {
            at.backend.copy(start, u)?;
        }
    }
    Ok(())
}

fn restrict_all<const D: usize, B: HeatKernels<D>>(
    at: &Scene<'_, D, B>,
    fields: &mut Fields<D, B>,
) -> Result<(), TwoPhaseError> {
    let cells = [&mut fields.alpha, &mut fields.pressure];
    cells
        .into_iter()
        .chain(&mut fields.velocity)
        .chain(fields.heat.as_mut().map(|of| &mut of.temperature))
        .try_for_each(|values| restrict::cells(at, values))
}
