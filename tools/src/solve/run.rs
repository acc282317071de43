//! `cutlink solve`: from a case to forces, checkpoints and a summary.
//!
//! Writes into the case's folder: `case.toml`, with nothing left open; `integrals.csv`, `forces.csv`, or `energy.csv` of a
//! box without a body that is to settle, as the run goes; fields ([`crate::fields`]); checkpoints; and at the end
//! `forces.png` and `summary.json`. All but these tables are whole or not there.

use crate::{
    cli::{MeshArgs, SolveArgs},
    console::Console,
    device::{Opened, on},
    failure::{Failure, Kind},
    fields::{self, Body, FieldWriter, Moment},
    mesh::build::{AnyPlaced, Builder, Placed, bare},
    mesh::report,
    mesh::resolve::{self as job},
    options::{Device, Flow as MeshFlow, MeshOptions, Output},
    output,
    solve::{
        begin::{open, set, tell_changes},
        bulk::{Bulk, Fluid},
        case::{self, Case, PatchKind, PatchTable},
        checkpoint::{self, Header},
        earlier::{self, Earlier},
        energy::Energy,
        example, hints,
        history::{Growing, History},
        integrals::Integrals,
        notes, recirculation, reference,
        resolve::{Grid, Resolved, Until},
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
use cutlink_solver::{Flow, ForceSample, Plan, SolverError, kernels::Kernels};
use cutlink_voxelizer::Mesh;
use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Instant,
};

mod end;

/// Root steps between two looks at the flow, at multiples of it: a resumed run looks at the same.
const CHUNK: u64 = 64;

/// Least root steps between two looks at the flow on the whole, which take as long as some steps.
const WHOLE: u64 = 256;

/// Set by Ctrl-C: the run ends at its next look.
pub(crate) static STOP: AtomicBool = AtomicBool::new(false);
/// Whether a run looks at [`STOP`].
pub(crate) static RUNNING: AtomicBool = AtomicBool::new(false);

/// Does what `cutlink solve` was asked for.
pub(crate) fn command(args: &SolveArgs) -> Result<(), Failure> {
    if let Some(name) = &args.example {
        return example::write(name, args.case.as_deref(), args.force, args.output);
    }
    let case = case::read(args.file())?;
    let dimensions = case.dimensions_of_domain()?;
    let choice = args.device.or(case.mesh.as_ref().and_then(|m| m.device));
    let choice = choice.unwrap_or_default();
    let mut selected = select(choice.0)?;
    crate::in_pool(args.threads, || {
        let on = On {
            opened: Opened::open(choice.0, &mut selected)?,
            choice,
            selected,
        };
        let named = |failure: Failure| failure.within(&args.file().display().to_string());
        match (dimensions, &case.domain) {
            (Some(2), Some(domain)) => on.solve(
                args,
                &case,
                &bare::<2>(&domain.bounds, &domain.root).map_err(named)?,
                Surfaces::NONE,
            ),
            (Some(_), Some(domain)) => on.solve(
                args,
                &case,
                &bare::<3>(&domain.bounds, &domain.root).map_err(named)?,
                Surfaces::NONE,
            ),
            _ => on.embedded(args, &case),
        }
    })
}

/// The device of a run.
struct On {
    opened: Opened,
    choice: Device,
    selected: Selected,
}

impl On {
    /// Meshes what the case names, and runs.
    fn embedded(&self, args: &SolveArgs, case: &Case) -> Result<(), Failure> {
        let mut options = case.mesh.clone().unwrap_or_default();
        options.device = Some(self.choice);
        if options.periodic.is_none() {
            options.periodic = Some(case.boundary.periodic());
        }
        let job = job::resolve(&MeshArgs::without_files(options, None, Output::QUIET))?;
        let mut builder = Builder::new(&job, &self.opened, Console::new(Output::QUIET));
        match builder.place()? {
            AnyPlaced::D2(placed) => self.embedded_in(args, case, builder, placed),
            AnyPlaced::D3(placed) => self.embedded_in(args, case, builder, placed),
        }
    }

    fn embedded_in<const D: usize>(
        &self,
        args: &SolveArgs,
        case: &Case,
        mut builder: Builder<'_>,
        placed: Placed<D>,
    ) -> Result<(), Failure>
    where
        Facet<D>: Meet<D> + Exact<D>,
    {
        // A case is the same one on any device.
        let options = MeshOptions {
            device: None,
            ..placed.options(builder.job)
        };
        let mut case = Case {
            mesh: Some(options),
            ..case.clone()
        };
        // A duct has no front.
        if case.physics.area.is_none() && builder.job.flow == MeshFlow::Outside {
            let [along, ..] = reference::axes::<D>(case.free_stream.as_ref())?;
            let along = std::array::from_fn(|a| along[a]);
            case.physics.area = Some(silhouette::frontal(&placed.placed, along));
        }
        if let Some(table) = &mut case.output.recirculation {
            let stream = case.free_stream.as_ref();
            let name = args.file().display().to_string();
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
        self.solve(args, &case, &mesh, surfaces)
    }

    fn solve<const D: usize>(
        &self,
        args: &SolveArgs,
        case: &Case,
        mesh: &Mesh<D>,
        surfaces: Surfaces<'_, D>,
    ) -> Result<(), Failure>
    where
        Facet<D>: Meet<D> + Exact<D>,
    {
        let device = report::Device::new(&self.selected, &self.opened);
        let load = |path: &Path| earlier::load::<D>(path, &self.opened);
        let inputs = Inputs {
            mesh,
            surfaces,
            load: &load,
        };
        on!(&self.opened, backend => solve(args, case, inputs, backend, device))
    }
}

/// The surface of a body, where there is one and it is needed: on the integer lattice, and as placed.
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

/// What a case is solved on.
struct Inputs<'a, const D: usize> {
    mesh: &'a Mesh<D>,
    surfaces: Surfaces<'a, D>,
    /// Reads the flow of another run.
    load: &'a dyn Fn(&Path) -> Result<Earlier<D>, Failure>,
}

/// A run and where it writes.
struct Run<'a, const D: usize> {
    args: &'a SolveArgs,
    mesh: &'a Mesh<D>,
    resolved: Resolved<D>,
    header: Header,
    history: History<D>,
    /// The forces of the last root step.
    last: Option<ForceSample>,
    /// The body, where there is one.
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
    /// The flow on the whole, so far.
    looks: Vec<Bulk>,
    /// Root step of the last checkpoint.
    saved: Option<u64>,
    sheet: Sheet,
    console: Console,
    device: report::Device,
    began: Instant,
    begun_at: u64,
}

fn solve<const D: usize, B: Kernels<D>>(
    args: &SolveArgs,
    case: &Case,
    inputs: Inputs<'_, D>,
    backend: &B,
    device: report::Device,
) -> Result<(), Failure>
where
    Facet<D>: Exact<D>,
{
    let Inputs {
        mesh,
        surfaces,
        load,
    } = inputs;
    let name = args.file().display().to_string();
    let mut resolved = case.resolve(&name, Grid::of(mesh))?;
    if !resolved.by_mass.is_empty() {
        let areas = resolved.areas(&Plan::new(mesh, resolved.params.clone())?, surfaces.placed);
        let grid = Grid {
            areas: &areas,
            ..Grid::of(mesh)
        };
        resolved = case.resolve(&name, grid)?;
    }
    if let Some(surface) = surfaces.placed {
        let plan = Plan::new(mesh, resolved.params.clone())?;
        for (patch, factor) in resolved.deliver(&plan, surface) {
            let (name, share) = (&mesh.patches[patch], 100.0 / factor);
            resolved.notes.push(format!(
                "the links of patch {name} carry {share:.0} % of what passes its surface: use more cells across it"
            ));
        }
    }
    resolved.params.forces = resolved.forces_every > 0 && !mesh.links.is_empty();
    fields::check(&resolved.outputs.specs, mesh).map_err(|failure| failure.within(&name))?;
    let plan = Plan::new(mesh, resolved.params.clone())?;
    let console = Console::new(args.output);
    let sheet = Sheet::new(&plan, &resolved, args.steps);
    if !(args.output.quiet || args.output.json) {
        let speed = sheet::calibrate(backend, &plan.params)?;
        console.summary(&format!(
            "device  {}\n{}",
            device.text(),
            sheet.tell(&plan, &resolved, speed)
        ))?;
    }
    for note in notes::of(&plan).iter().chain(&resolved.notes) {
        console.note(note);
    }
    if args.dry_run {
        return Ok(());
    }
    sheet.check_room(backend)?;
    let text = resolved.case.to_toml()?;
    let header = Header {
        version: checkpoint::VERSION,
        cutlink: env!("CARGO_PKG_VERSION").into(),
        case: checkpoint::fixed(&resolved.case).to_toml()?,
        mesh: mesh.checksum(),
        device: kind_of(&device),
        step: 0,
        looks: Vec::new(),
    };
    let initial = resolved.case.initial.as_ref();
    let from = initial.and_then(|table| table.from.as_deref());
    let earlier = match from.filter(|_| !args.resume) {
        Some(path) => Some(load(path).map_err(|failure| failure.within(&name))?),
        None => None,
    };
    let mut flow = plan.start(backend)?;
    flow.sample_forces_every(resolved.forces_every);
    let set = set(&mut *flow, &resolved, &mesh.frame, earlier, &console);
    set.map_err(|failure| failure.within(&name))?;
    let begun = open(args, mesh, &resolved, &header, &console, &mut *flow)?;
    if args.resume {
        tell_changes(&resolved.folder.join("case.toml"), &text, &console);
    }
    let mut fields = begun.fields;
    if let Some(surface) = surfaces.snapped.filter(|_| fields.needs_body()) {
        fields = fields.with_body(Body::new(mesh, surface, &resolved.params));
    }
    let mut run = Run {
        args,
        mesh,
        resolved,
        header,
        history: begun.history,
        last: None,
        surface: surfaces.snapped,
        forces: None,
        energy: begun.energy,
        energies: None,
        integrals: begun.integrals,
        integral_lines: None,
        fields,
        fluid: Fluid::new(mesh),
        looks: begun.looks,
        saved: args.resume.then(|| flow.steps()),
        sheet,
        console,
        device,
        began: Instant::now(),
        begun_at: flow.steps(),
    };
    run.write("case.toml", &text)?;
    run.begin_histories()?;
    RUNNING.store(true, Relaxed);
    let done = run.go(&mut *flow);
    RUNNING.store(false, Relaxed);
    run.console.finish();
    done
}

/// The kind of a device: `cuda` of `cuda:1`.
fn kind_of(device: &report::Device) -> String {
    device.name.split(':').next().unwrap_or_default().into()
}

impl<const D: usize> Run<'_, D> {
    fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        output::write_text(&self.resolved.folder.join(name), true, text)
    }

    /// Root steps at most.
    fn most(&self) -> u64 {
        let most = match self.resolved.until {
            Until::Steps(steps) => steps,
            Until::Settled { most, .. } => most,
        };
        self.args.steps.unwrap_or(most)
    }

    /// Root steps to the next look at the flow.
    fn to_next_look(&self, step: u64) -> u64 {
        let to_multiple = |of: u64| of - step % of;
        let mut steps = to_multiple(CHUNK);
        for every in [self.resolved.checkpoint_every, self.integrals.every] {
            if every > 0 {
                steps = steps.min(to_multiple(every));
            }
        }
        let due = self.fields.next_due(step);
        due.map_or(steps, |due| steps.min(due - step))
    }

    fn go(&mut self, flow: &mut dyn Flow<D>) -> Result<(), Failure> {
        let most = self.most();
        self.console.start(most.saturating_sub(self.begun_at));
        if self.integrals.is_due(flow.steps()) {
            self.integrals
                .add(self.mesh, &flow.snapshot()?, self.last.as_ref());
        }
        self.write_fields(flow, Moment::Running)?;
        let every = self.resolved.checkpoint_every;
        let mut settled = false;
        while flow.steps() < most && !settled {
            let steps = self.to_next_look(flow.steps()).min(most - flow.steps());
            flow.advance(steps)?;
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
            if every > 0 && flow.steps().is_multiple_of(every) {
                self.save(flow)?;
            }
            self.console.step(steps);
            self.console.working_on(self.progress(flow.steps()));
            if STOP.load(Relaxed) {
                self.save(flow)?;
                return Err(Failure::new(
                    Kind::Stopped,
                    format!("stopped at root step {}, with a checkpoint", flow.steps()),
                )
                .hint("go on with --resume"));
            }
            if let Until::Settled { change, .. } = self.resolved.until {
                settled = self.is_settled(flow.steps(), change);
            }
        }
        let growth = self.watch();
        self.finish(flow, settled, growth)
    }

    /// Looks at the flow on the whole where it is time to; what grows without bound.
    fn look(&mut self, flow: &dyn Flow<D>) -> Result<Option<Growth>, Failure> {
        let step = flow.steps();
        let watched = step.is_multiple_of(WHOLE.max(sparse(step, 16)));
        let of_energy = self.energy.is_some() && step.is_multiple_of(CHUNK);
        let of_integrals = self.integrals.is_due(step);
        if !(watched || of_energy || of_integrals) {
            return Ok(None);
        }
        let snapshot = flow.snapshot()?;
        if of_integrals {
            self.integrals.add(self.mesh, &snapshot, self.last.as_ref());
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

    /// The end of a flow that has diverged.
    fn diverged(&self, error: SolverError) -> Failure {
        let advice = matches!(error, SolverError::Diverged { .. }).then(|| self.advice());
        let failure = Failure::from(error);
        match advice {
            Some(advice) => failure.hint(advice),
            None => failure,
        }
    }

    fn advice(&self) -> String {
        hints::diverged(&self.resolved.params, &self.resolved.physics, self.saved)
    }

    /// Whether the run has settled, where it is time to ask.
    fn is_settled(&self, step: u64, change: f64) -> bool {
        step.is_multiple_of(CHUNK.max(sparse(step, 32)))
            && match &self.energy {
                Some(energy) => energy.is_settled(change),
                None => self.history.is_settled(change),
            }
    }

    fn write_fields(&mut self, flow: &dyn Flow<D>, moment: Moment) -> Result<(), Failure> {
        if self.fields.is_due(flow.steps(), moment) {
            self.fields.write(self.mesh, &flow.snapshot()?, moment)?;
        }
        Ok(())
    }

    fn mlups(&self, steps: u64) -> f64 {
        let done = (steps - self.begun_at) as f64 * self.sheet.updates as f64;
        done / self.began.elapsed().as_secs_f64() / 1e6
    }

    fn progress(&self, steps: u64) -> String {
        let left = (self.most() - steps) as f64 * self.sheet.updates as f64
            / 1e6
            / self.mlups(steps).max(1e-9);
        let drag = self
            .history
            .last_drag()
            .map_or(String::new(), |c| format!(", C_D {c:.4}"));
        format!("{:.1} MLUPS, {left:.0} s left{drag}", self.mlups(steps))
    }

    /// Puts what there is of the histories into their files.
    fn begin_histories(&mut self) -> Result<(), Failure> {
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

    /// Adds what is new of the histories to their files.
    fn write_histories(&mut self) -> Result<(), Failure> {
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

    fn save(&mut self, flow: &dyn Flow<D>) -> Result<(), Failure> {
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
        Ok(())
    }
}

/// Steps that are looked at lie apart by a share of the steps so far, so that whole histories can be gone through. They are
/// multiples of a power of two, the same ones of a resumed run.
fn sparse(step: u64, share: u64) -> u64 {
    (step / share).checked_ilog2().map_or(1, |power| 1 << power)
}
