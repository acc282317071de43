//! A run: from a case to forces, fields, checkpoints and a summary.
//!
//! Writes into the case's folder: the resolved `case.toml`; `integrals.csv`, `forces.csv`, or `energy.csv` of a
//! box without a body that is to settle, as the run goes; fields ([`crate::fields`]); checkpoints; and at the end
//! `forces.png` and `summary.json`. All files except these tables are written atomically.

use crate::{
    device::{Opened, on},
    error::{Error, ErrorKind},
    fields::{self, Body, FieldWriter, Moment},
    mesh::build::{AnyPlaced, Builder, Placed, bare_periodic},
    mesh::report,
    mesh::resolve::{self as job},
    observer::Observer,
    options::{DeviceOption, FlowSide, MeshOptions},
    output, pool,
    solve::{
        adapt::Looks,
        begin::{note_changes, open, set},
        bulk::{Bulk, Fluid},
        case::{Case, DomainTable, PatchKind, PatchTable},
        checkpoint::{self, Header},
        earlier::{self, Earlier},
        energy::Energy,
        hints,
        history::{Growing, History},
        integrals::Integrals,
        lock::FolderLock,
        notes, recirculation, reference,
        resolve::{CaseGrid, Resolved, Until},
        sheet::{self, Sheet},
        watch::{self, Growth},
    },
};
use cutlink_device::{Selected, select};
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    intersect::Meet,
    silhouette,
    snap::Snapped,
};
use cutlink_solver::{Flow, ForceSample, Plan, SolverError, kernels::FlowKernels};
use cutlink_voxelizer::Mesh;
use serde::Serialize;
use std::{
    path::Path,
    time::{Duration, Instant},
};

mod api;
mod end;
mod follow;
mod look;

pub use api::{Coefficient, RunOptions, RunPlan, RunSummary};

/// Root steps between two checks of the flow, at multiples of it, so that a resumed run checks at the same steps.
const CHUNK: u64 = 64;

/// Default wall time between checkpoints if the case gives no number of steps, and at least [`SAVE_SHARE`] times the
/// duration of the last checkpoint.
const SAVE_INTERVAL: Duration = Duration::from_secs(600);
const SAVE_SHARE: u32 = 20;

/// Minimum number of root steps between two checks of bulk quantities, which cost as much as several steps.
const WHOLE: u64 = 256;

impl Case {
    /// Runs the case with the default options.
    ///
    /// # Errors
    /// As [`Case::run_with`].
    pub fn run(&self, observer: &mut dyn Observer) -> Result<RunSummary, Error> {
        self.run_with(&RunOptions::default(), observer)
    }

    /// Builds the mesh of the case, runs the flow and writes the output folder. Notes and progress go to `observer`.
    ///
    /// # Errors
    /// An invalid or unstable case, a mesh or flow that does not fit into memory, existing files, a full disk;
    /// [`ErrorKind::Diverged`] and [`ErrorKind::Stopped`], both of which keep the files written so far.
    pub fn run_with(
        &self,
        options: &RunOptions,
        observer: &mut dyn Observer,
    ) -> Result<RunSummary, Error> {
        match self.begin(options, false, observer)? {
            Ended::Ran(summary) => Ok(summary),
            Ended::Planned(_) => {
                unreachable!("a run that is not only planned should end in a summary")
            }
        }
    }

    /// Does everything up to the first step, and forecasts memory and time of the run. Writes nothing.
    ///
    /// # Errors
    /// Those of [`Case::run_with`] that occur before the first step.
    pub fn plan(
        &self,
        options: &RunOptions,
        observer: &mut dyn Observer,
    ) -> Result<RunPlan, Error> {
        match self.begin(options, true, observer)? {
            Ended::Planned(plan) => Ok(plan),
            Ended::Ran(_) => unreachable!("a run that is only planned should not end in a summary"),
        }
    }

    /// The mesh of a box without a body. One that changes has the periodic faces of the flow.
    pub(super) fn box_of<const D: usize>(&self, domain: &DomainTable) -> Result<Mesh<D>, Error>
    where
        Facet<D>: Exact<D>,
    {
        let periodic = match self.adapt {
            Some(_) => self.boundary.periodic().0,
            None => [false; 3],
        };
        bare_periodic(&domain.bounds, &domain.root, periodic)
    }

    fn begin(
        &self,
        options: &RunOptions,
        only_plan: bool,
        observer: &mut dyn Observer,
    ) -> Result<Ended, Error> {
        let dimensions = self.dimensions_of_domain()?;
        let choice = options.device.or(self.mesh.as_ref().and_then(|m| m.device));
        let choice = choice.unwrap_or_default();
        let began = Instant::now();
        let mut selected = select(choice.0)?;
        pool::install(options.threads, || {
            let on = On {
                opened: Opened::open(choice.0, &mut selected)?,
                open: began.elapsed().as_secs_f64(),
                opened_at: Instant::now(),
                choice,
                selected,
                options,
                only_plan,
            };
            let named = |error: Error| error.within(&self.name());
            match (dimensions, &self.domain) {
                (Some(2), Some(domain)) => {
                    let mesh = self.box_of::<2>(domain).map_err(named)?;
                    on.solve(self, &mesh, Surfaces::NONE, observer)
                }
                (Some(_), Some(domain)) => {
                    let mesh = self.box_of::<3>(domain).map_err(named)?;
                    on.solve(self, &mesh, Surfaces::NONE, observer)
                }
                _ => on.embedded(self, observer),
            }
        })
    }
}

/// How a run ended.
enum Ended {
    Planned(RunPlan),
    Ran(RunSummary),
}

/// The device and the options of a run.
struct On<'a> {
    opened: Opened,
    /// Seconds that opening the device took, and when it was done.
    open: f64,
    opened_at: Instant,
    choice: DeviceOption,
    selected: Selected,
    options: &'a RunOptions,
    only_plan: bool,
}

impl On<'_> {
    /// Builds the mesh of the case, and runs.
    fn embedded(&self, case: &Case, observer: &mut dyn Observer) -> Result<Ended, Error> {
        let mut options = case.mesh.clone().unwrap_or_default();
        options.device = Some(self.choice);
        if options.periodic.is_none() {
            options.periodic = Some(case.boundary.periodic());
        }
        let job = job::resolve(&options)?;
        let mut silent = ();
        let mut builder = Builder::new(&job, &self.opened, &mut silent);
        match builder.place()? {
            AnyPlaced::D2(placed) => self.embedded_in(case, builder, placed, observer),
            AnyPlaced::D3(placed) => self.embedded_in(case, builder, placed, observer),
        }
    }

    fn embedded_in<const D: usize>(
        &self,
        case: &Case,
        mut builder: Builder<'_>,
        placed: Placed<D>,
        observer: &mut dyn Observer,
    ) -> Result<Ended, Error>
    where
        Facet<D>: Meet<D> + Exact<D>,
    {
        // The resolved case does not depend on the device.
        let options = MeshOptions {
            device: None,
            ..placed.options(builder.job)
        };
        let mut case = Case {
            mesh: Some(options),
            ..case.clone()
        };
        // A duct has no frontal area.
        if case.physics.area.is_none() && builder.job.flow == FlowSide::Outside {
            let [along, ..] = reference::axes::<D>(case.free_stream.as_ref())?;
            let along = std::array::from_fn(|a| along[a]);
            case.physics.area = Some(silhouette::frontal(&placed.placed, along));
        }
        let name = case.name();
        if let Some(table) = &mut case.output.recirculation {
            let stream = case.free_stream.as_ref();
            *table = recirculation::with_body(table, stream, &placed.placed)
                .map_err(|failure| failure.within(&name))?;
        }
        let may_pass =
            |patch: &PatchTable| matches!(patch.kind, PatchKind::MassFlow | PatchKind::Velocity);
        let placed_surface = case
            .patches
            .values()
            .any(may_pass)
            .then(|| placed.placed.clone());
        let prepared = builder.prepare(placed)?;
        let mesh = builder.build(&prepared)?;
        let surfaces = Surfaces {
            snapped: Some(&prepared.snapped),
            placed: placed_surface.as_ref(),
        };
        self.solve(&case, &mesh, surfaces, observer)
    }

    fn solve<const D: usize>(
        &self,
        case: &Case,
        mesh: &Mesh<D>,
        surfaces: Surfaces<'_, D>,
        observer: &mut dyn Observer,
    ) -> Result<Ended, Error>
    where
        Facet<D>: Meet<D> + Exact<D>,
    {
        let device = report::DeviceReport::new(&self.selected, &self.opened);
        let load = |path: &Path| earlier::load::<D>(path, &self.opened);
        let inputs = Inputs {
            mesh,
            surfaces,
            load: &load,
            options: self.options,
            only_plan: self.only_plan,
            device,
            set_up: SetUp {
                open: self.open,
                mesh: self.opened_at.elapsed().as_secs_f64(),
                ..SetUp::default()
            },
        };
        on!(&self.opened, backend => solve(case, inputs, backend, observer))
    }
}

/// The surface of the body, if there is one and it is needed: on the integer lattice, and as placed.
#[derive(Clone, Copy)]
struct Surfaces<'a, const D: usize> {
    snapped: Option<&'a Snapped<D>>,
    placed: Option<&'a Surface<D>>,
}

impl<const D: usize> Surfaces<'_, D> {
    const NONE: Self = Self {
        snapped: None,
        placed: None,
    };
}

/// The inputs of a run besides its case.
struct Inputs<'a, const D: usize> {
    mesh: &'a Mesh<D>,
    surfaces: Surfaces<'a, D>,
    /// Reads the flow of another run.
    load: &'a dyn Fn(&Path) -> Result<Earlier<D>, Error>,
    options: &'a RunOptions,
    only_plan: bool,
    device: report::DeviceReport,
    set_up: SetUp,
}

/// Seconds before the first step, as `summary.json` has them.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct SetUp {
    /// Opening the device.
    open: f64,
    /// From the surface to the mesh.
    mesh: f64,
    /// Tables, checks, and the forecast.
    plan: f64,
    /// Allocation, upload, and the initial state.
    flow: f64,
}

/// A run and its outputs.
struct Run<'a, const D: usize> {
    options: &'a RunOptions,
    observer: &'a mut dyn Observer,
    resolved: Resolved<D>,
    header: Header,
    history: History<D>,
    /// The forces of the last root step.
    last: Option<ForceSample>,
    /// The body, if there is one.
    surface: Option<&'a Snapped<D>>,
    /// `forces.csv`.
    forces: Option<Growing>,
    energy: Option<Energy>,
    /// `energy.csv`.
    energies: Option<Growing>,
    integrals: Integrals<D>,
    /// `integrals.csv`.
    integral_lines: Option<Growing>,
    fields: FieldWriter<D>,
    fluid: Fluid,
    /// [`Flow::epoch`] of the mesh that `fluid` and the body of `fields` are of.
    epoch: u64,
    /// How the mesh has followed the flow, and `adapt.csv`.
    adapted: Option<(Looks, Growing)>,
    /// Updates of leaf cells in a root step on that mesh, and in all so far.
    each: u64,
    updates: f64,
    /// Bulk quantities of the flow at each check so far.
    looks: Vec<Bulk>,
    /// Root step of the last checkpoint.
    saved: Option<u64>,
    sheet: Sheet,
    device: report::DeviceReport,
    began: Instant,
    begun_at: u64,
    set_up: SetUp,
    /// Time of the last checkpoint, and its duration.
    last_save: Instant,
    save_time: Duration,
    _lock: FolderLock,
}

fn solve<'a, const D: usize, B: FlowKernels<D>>(
    case: &Case,
    inputs: Inputs<'a, D>,
    backend: &B,
    observer: &'a mut dyn Observer,
) -> Result<Ended, Error>
where
    Facet<D>: Exact<D>,
{
    let (options, mesh) = (inputs.options, inputs.mesh);
    let name = case.name();
    let (mut set_up, planning) = (inputs.set_up, Instant::now());
    let resolved = resolve(case, &inputs)?;
    let mut plan = Plan::new(mesh, resolved.params.clone())?;
    let sheet = Sheet::new(&plan, &resolved, options.steps);
    let planned = if inputs.only_plan || observer.wants_summary() {
        let speed = sheet::calibrate(backend, &plan.params)?;
        let device = &inputs.device;
        let text = format!(
            "device  {}\n{}",
            device.text(),
            sheet.text(&plan, &resolved, speed)
        );
        observer.summary(&text)?;
        let json = sheet.to_json(&plan, &resolved, device, speed);
        Some(RunPlan { text, json })
    } else {
        None
    };
    for note in notes::of(&plan).iter().chain(&resolved.notes) {
        observer.note(note);
    }
    if let Some(planned) = planned.filter(|_| inputs.only_plan) {
        return Ok(Ended::Planned(planned));
    }
    sheet.check_memory(backend)?;
    if let Some(adaptation) = &mut plan.params.adaptation {
        let least = plan.levels.iter().map(|level| level.cells).sum();
        let given = case.adapt.as_ref().and_then(|a| a.max_cells);
        let room = follow::room_for_cells::<D>(backend.free_bytes(), &resolved.params);
        adaptation.max_cells =
            follow::budget(given, least, room).map_err(|error| error.within(&name))?;
    }
    let text = resolved.case.to_toml()?;
    let header = Header {
        version: checkpoint::VERSION,
        cutlink: env!("CARGO_PKG_VERSION").into(),
        case: checkpoint::fixed(&resolved.case).to_toml()?,
        mesh: mesh.checksum(),
        device: kind_of(&inputs.device),
        step: 0,
        looks: Vec::new(),
    };
    let initial = resolved.case.initial.as_ref();
    let from = initial.and_then(|table| table.from.as_deref());
    let earlier = match from.filter(|_| !options.resume) {
        Some(path) => Some((inputs.load)(path).map_err(|error| error.within(&name))?),
        None => None,
    };
    set_up.plan = planning.elapsed().as_secs_f64();
    let starting = Instant::now();
    let mut flow = plan.start(backend)?;
    flow.sample_forces_every(resolved.forces_every);
    let set = set(&mut *flow, &resolved, &mesh.frame, earlier, observer);
    set.map_err(|error| error.within(&name))?;
    flow.wait()?;
    set_up.flow = starting.elapsed().as_secs_f64();
    let file = case.file.as_deref();
    let begun = open(
        options, file, mesh, &resolved, &header, observer, &mut *flow,
    )?;
    if options.resume {
        note_changes(&resolved.folder.join("case.toml"), &text, observer);
    }
    let mut fields = begun.fields;
    if let Some(surface) = inputs.surfaces.snapped {
        fields = fields.with_surface(flow.mesh()?, surface);
    }
    if let Some(surface) = inputs.surfaces.snapped.filter(|_| fields.needs_body()) {
        fields = fields.with_body(Body::new(flow.mesh()?, surface, &resolved.params));
    }
    let mut run = Run {
        options,
        observer,
        resolved,
        header,
        history: begun.history,
        last: None,
        surface: inputs.surfaces.snapped,
        forces: None,
        energy: begun.energy,
        energies: None,
        integrals: begun.integrals,
        integral_lines: None,
        fields,
        fluid: Fluid::new(flow.mesh()?),
        epoch: flow.epoch(),
        adapted: None,
        each: flow.updates(),
        updates: 0.0,
        looks: begun.looks,
        saved: options.resume.then(|| flow.steps()),
        sheet,
        device: inputs.device,
        began: Instant::now(),
        begun_at: flow.steps(),
        set_up,
        last_save: Instant::now(),
        save_time: Duration::ZERO,
        _lock: begun.lock,
    };
    run.write("case.toml", &text)?;
    run.begin_histories()?;
    run.begin_looks(&mut *flow)?;
    let done = {
        let _running = options.stop.running();
        run.go(&mut *flow)
    };
    run.observer.end();
    done.map(Ended::Ran)
}

/// The resolved case, with velocities scaled to the flux through the surfaces of its patches.
fn resolve<const D: usize>(case: &Case, inputs: &Inputs<'_, D>) -> Result<Resolved<D>, Error>
where
    Facet<D>: Exact<D>,
{
    let (mesh, surface) = (inputs.mesh, inputs.surfaces.placed);
    let name = case.name();
    let mut resolved = case.resolve(&name, CaseGrid::of(mesh))?;
    if !resolved.by_mass.is_empty() {
        let areas = resolved.areas(&Plan::new(mesh, resolved.params.clone())?, surface);
        let grid = CaseGrid {
            areas: &areas,
            ..CaseGrid::of(mesh)
        };
        resolved = case.resolve(&name, grid)?;
    }
    if let Some(surface) = surface {
        let plan = Plan::new(mesh, resolved.params.clone())?;
        for (patch, factor) in resolved.deliver(&plan, surface) {
            let (name, share) = (&mesh.patches[patch], 100.0 / factor);
            resolved.notes.push(format!(
                "the links of patch {name} carry {share:.0} % of the flux through its surface; use more cells across it"
            ));
        }
    }
    resolved.params.forces = resolved.forces_every > 0 && !mesh.links.is_empty();
    fields::check(&resolved.outputs.specs, mesh).map_err(|error| error.within(&name))?;
    Ok(resolved)
}

/// The kind of a device: `cuda` of `cuda:1`.
fn kind_of(device: &report::DeviceReport) -> String {
    device.name.split(':').next().unwrap_or_default().into()
}

impl<const D: usize> Run<'_, D> {
    fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        output::write_text(&self.resolved.folder.join(name), true, text)
    }

    /// Maximum number of root steps.
    fn most(&self) -> u64 {
        let most = match self.resolved.until {
            Until::Steps(steps) => steps,
            Until::Settled { most, .. } => most,
        };
        self.options.steps.unwrap_or(most)
    }

    /// Root steps to the next check of the flow.
    fn to_next_look(&self, step: u64) -> u64 {
        let to_multiple = |of: u64| of - step % of;
        let mut steps = to_multiple(CHUNK);
        for every in [
            self.resolved.checkpoint_every.unwrap_or(0),
            self.integrals.every,
        ] {
            if every > 0 {
                steps = steps.min(to_multiple(every));
            }
        }
        let due = self.fields.next_due(step);
        due.map_or(steps, |due| steps.min(due - step))
    }

    fn go(&mut self, flow: &mut dyn Flow<D>) -> Result<RunSummary, Error> {
        let most = self.most();
        self.observer.begin(most.saturating_sub(self.begun_at));
        if self.integrals.is_due(flow.steps()) {
            self.integrals
                .add(flow.mesh()?, &flow.snapshot()?, self.last.as_ref());
        }
        self.write_fields(flow, Moment::Running)?;
        let every = self.resolved.checkpoint_every;
        let mut settled = false;
        while flow.steps() < most && !settled {
            let steps = self.to_next_look(flow.steps()).min(most - flow.steps());
            flow.advance(steps)?;
            self.follow(flow, steps)?;
            let sound = flow.check();
            let mut samples = flow.take_forces()?;
            self.history.add(&samples);
            self.last = samples.pop().or(self.last.take());
            if let Err(error) = sound {
                self.write_histories()?;
                return Err(self.diverged(error));
            }
            let growth = self.look(flow)?;
            self.write_histories()?;
            if let Some(growth) = growth {
                return self.finish(flow, false, Some(growth));
            }
            self.write_fields(flow, Moment::Running)?;
            match every {
                Some(0) => {}
                Some(every) if flow.steps().is_multiple_of(every) => self.save(flow)?,
                Some(_) => {}
                None => self.save_by_time(flow),
            }
            self.look_by_observer(flow)?;
            let status = self.progress(flow.steps());
            self.observer.advance(steps, &status);
            if self.options.stop.is_stopped() {
                self.save(flow)?;
                return Err(Error::new(
                    ErrorKind::Stopped,
                    format!("stopped at root step {}, with a checkpoint", flow.steps()),
                )
                .hint("continue with --resume"));
            }
            if let Until::Settled { change, .. } = self.resolved.until {
                settled = self.is_settled(flow.steps(), change);
            }
        }
        let growth = self.watch();
        self.finish(flow, settled, growth)
    }

    /// Checks the bulk quantities when due; returns what grows without bound, if anything.
    fn look(&mut self, flow: &dyn Flow<D>) -> Result<Option<Growth>, Error> {
        let step = flow.steps();
        let watched = step.is_multiple_of(WHOLE.max(sparse(step, 16)));
        let of_energy = self.energy.is_some() && step.is_multiple_of(CHUNK);
        let of_integrals = self.integrals.is_due(step);
        if !(watched || of_energy || of_integrals) {
            return Ok(None);
        }
        let snapshot = flow.snapshot()?;
        if of_integrals {
            self.integrals
                .add(flow.mesh()?, &snapshot, self.last.as_ref());
        }
        let bulk = self.fluid.sum(&snapshot);
        if let Some(energy) = self.energy.as_mut().filter(|_| step.is_multiple_of(CHUNK)) {
            energy.add(&bulk);
        }
        if !watched {
            return Ok(None);
        }
        self.looks.push(bulk);
        Ok(self.watch())
    }

    fn watch(&self) -> Option<Growth> {
        let [drag, lift, side, ..] = &self.history.total;
        watch::bulk(&self.looks).or_else(|| watch::forces(&self.history.steps, [drag, lift, side]))
    }

    /// The error for a diverged flow.
    fn diverged(&self, error: SolverError) -> Error {
        let advice = matches!(error, SolverError::Diverged { .. }).then(|| self.advice());
        let failure = Error::from(error);
        match advice {
            Some(advice) => failure.hint(advice),
            None => failure,
        }
    }

    fn advice(&self) -> String {
        hints::diverged(&self.resolved.params, &self.resolved.physics, self.saved)
    }

    /// Whether the run has settled; checked at sparse steps only.
    fn is_settled(&self, step: u64, change: f64) -> bool {
        step.is_multiple_of(CHUNK.max(sparse(step, 32)))
            && match &self.energy {
                Some(energy) => energy.is_settled(change),
                None => self.history.is_settled(change),
            }
    }

    fn write_fields(&mut self, flow: &dyn Flow<D>, moment: Moment) -> Result<(), Error> {
        if self.fields.is_due(flow.steps(), moment) {
            self.fields.write(flow.mesh()?, &flow.snapshot()?, moment)?;
        }
        Ok(())
    }

    fn mlups(&self, steps: u64) -> f64 {
        let done = match self.adapted {
            Some(_) => self.updates,
            None => (steps - self.begun_at) as f64 * self.sheet.updates as f64,
        };
        done / self.began.elapsed().as_secs_f64() / 1e6
    }

    fn progress(&self, steps: u64) -> String {
        // On a mesh that changes, the steps to come are taken to be like those so far.
        let each = match self.adapted {
            Some(_) => self.updates / (steps - self.begun_at).max(1) as f64,
            None => self.sheet.updates as f64,
        };
        let left = (self.most() - steps) as f64 * each / 1e6 / self.mlups(steps).max(1e-9);
        let drag = self
            .history
            .last_drag()
            .map_or(String::new(), |c| format!(", C_D {c:.4}"));
        let cells = self.adapted.as_ref().map(|(looks, _)| looks.progress());
        format!(
            "{:.1} MLUPS, {left:.0} s left{drag}{}",
            self.mlups(steps),
            cells.unwrap_or_default()
        )
    }

    /// Writes the histories so far to their files.
    fn begin_histories(&mut self) -> Result<(), Error> {
        let folder = self.resolved.folder.clone();
        if self.resolved.params.forces {
            let text = self.history.whole_csv();
            self.forces = Some(Growing::new(folder.join("forces.csv"), &text)?);
        }
        if let Some(energy) = &mut self.energy {
            self.energies = Some(Growing::new(
                folder.join("energy.csv"),
                &energy.whole_csv(),
            )?);
        }
        if self.integrals.every > 0 {
            let text = self.integrals.whole_csv();
            self.integral_lines = Some(Growing::new(folder.join("integrals.csv"), &text)?);
        }
        Ok(())
    }

    /// Appends new samples of the histories to their files.
    fn write_histories(&mut self) -> Result<(), Error> {
        if let Some(file) = &mut self.forces {
            file.append(&self.history.fresh())?;
        }
        if let (Some(file), Some(energy)) = (&mut self.energies, &mut self.energy) {
            file.append(&energy.fresh())?;
        }
        if let Some(file) = &mut self.integral_lines {
            file.append(&self.integrals.fresh())?;
        }
        Ok(())
    }

    /// Writes a checkpoint by wall time if the last one is old. A failure is noted and does not end the run.
    fn save_by_time(&mut self, flow: &dyn Flow<D>) {
        if self.last_save.elapsed() < SAVE_INTERVAL.max(SAVE_SHARE * self.save_time) {
            return;
        }
        if let Err(error) = self.save(flow) {
            self.last_save = Instant::now();
            self.observer.note(&format!(
                "cannot write a checkpoint at root step {}, the run continues: {error}",
                flow.steps()
            ));
        }
    }

    fn save(&mut self, flow: &dyn Flow<D>) -> Result<(), Error> {
        let begin = Instant::now();
        let header = Header {
            step: flow.steps(),
            looks: self.looks.clone(),
            ..self.header.clone()
        };
        let folder = &self.resolved.folder;
        let files = [&self.forces, &self.energies, &self.integral_lines];
        for file in files.into_iter().flatten() {
            file.sync()?;
        }
        checkpoint::write(folder, &header, |out| {
            flow.save(out)?;
            match self.fields.averages() {
                Some(averages) => averages.save(out).map_err(|e| output::failed(folder, &e)),
                None => Ok(()),
            }
        })?;
        self.saved = Some(header.step);
        (self.last_save, self.save_time) = (Instant::now(), begin.elapsed());
        Ok(())
    }
}

/// Each check scans the whole history, so checks are spaced in proportion to the steps so far (O(n) in total). They are
/// at multiples of a power of two, so that a resumed run checks at the same steps.
fn sparse(step: u64, share: u64) -> u64 {
    (step / share).checked_ilog2().map_or(1, |power| 1 << power)
}
