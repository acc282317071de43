//! `cutlink solve`: from a case to forces, checkpoints and a summary.
//!
//! Writes into the case's folder: `case.toml`, with nothing left open; `forces.csv`, or `energy.csv` of a
//! box without a body that is to settle; fields ([`crate::fields`]); checkpoints; and at the end `forces.png` and
//! `summary.json`. Each is whole or not there.

use crate::{
    cli::{MeshArgs, SolveArgs},
    console::{self, Console},
    device::{Opened, on},
    failure::{Failure, Kind},
    fields::{self, Averages, FieldWriter, Moment, Start},
    mesh::build::{AnyPlaced, Builder, Placed, bare},
    mesh::report,
    mesh::resolve::{self as job},
    options::{Device, MeshOptions, Output},
    output,
    solve::{
        case::{self, Case, PatchKind, PatchTable},
        checkpoint::{self, Header},
        energy::Energy,
        example,
        history::History,
        initial::Initial,
        notes,
        resolve::{Grid, Resolved, Until},
        sheet::{self, Sheet},
    },
};
use cutlink_device::{Selected, select};
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    intersect::Meet,
};
use cutlink_solver::{Flow, Plan, kernels::Kernels};
use cutlink_voxelizer::Mesh;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::{
    fmt::Write as _,
    fs,
    io::Read,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};

/// Root steps between two looks at the flow, at multiples of it: a resumed run looks at the same.
const CHUNK: u64 = 64;

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
        match (dimensions, &case.domain) {
            (Some(2), Some(domain)) => {
                on.solve(args, &case, &bare::<2>(&domain.bounds, &domain.root)?, None)
            }
            (Some(_), Some(domain)) => {
                on.solve(args, &case, &bare::<3>(&domain.bounds, &domain.root)?, None)
            }
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
        let case = Case {
            mesh: Some(options),
            ..case.clone()
        };
        let by_mass = |patch: &PatchTable| patch.kind == PatchKind::MassFlow;
        let surface = case
            .patches
            .values()
            .any(by_mass)
            .then(|| placed.placed.clone());
        let prepared = builder.prepare(placed)?;
        self.solve(args, &case, &builder.build(&prepared)?, surface.as_ref())
    }

    fn solve<const D: usize>(
        &self,
        args: &SolveArgs,
        case: &Case,
        mesh: &Mesh<D>,
        surface: Option<&Surface<D>>,
    ) -> Result<(), Failure>
    where
        Facet<D>: Exact<D>,
    {
        let device = report::Device::new(&self.selected, &self.opened);
        on!(&self.opened, backend => solve(args, case, mesh, surface, backend, device))
    }
}

/// A run and where it writes.
struct Run<'a, const D: usize> {
    args: &'a SolveArgs,
    mesh: &'a Mesh<D>,
    resolved: Resolved<D>,
    header: Header,
    history: History<D>,
    energy: Option<Energy>,
    fields: FieldWriter<D>,
    sheet: Sheet,
    console: Console,
    device: report::Device,
    began: Instant,
    begun_at: u64,
}

fn solve<const D: usize, B: Kernels<D>>(
    args: &SolveArgs,
    case: &Case,
    mesh: &Mesh<D>,
    surface: Option<&Surface<D>>,
    backend: &B,
    device: report::Device,
) -> Result<(), Failure>
where
    Facet<D>: Exact<D>,
{
    let name = args.file().display().to_string();
    let mut resolved = case.resolve(&name, Grid::of(mesh))?;
    if !resolved.by_mass.is_empty() {
        let areas = resolved.areas(&Plan::new(mesh, resolved.params.clone())?, surface);
        let grid = Grid {
            areas: &areas,
            ..Grid::of(mesh)
        };
        resolved = case.resolve(&name, grid)?;
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
    let sum = Sha256::digest(text.as_bytes());
    let header = Header {
        version: checkpoint::VERSION,
        cutlink: env!("CARGO_PKG_VERSION").into(),
        case: sum.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        }),
        mesh: mesh.checksum(),
        device: kind_of(&device),
        step: 0,
    };
    let mut flow = plan.start(backend)?;
    begin_with(&mut *flow, &resolved.initial)?;
    let begun = open(args, mesh, &resolved, &header, &console, &mut *flow)?;
    let mut run = Run {
        args,
        mesh,
        resolved,
        header,
        history: begun.history,
        energy: begun.energy,
        fields: begun.fields,
        sheet,
        console,
        device,
        began: Instant::now(),
        begun_at: flow.steps(),
    };
    run.write("case.toml", &text)?;
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

/// Puts the initial state into a flow.
fn begin_with<const D: usize>(flow: &mut dyn Flow<D>, initial: &Initial<D>) -> Result<(), Failure> {
    let wrong = Mutex::new(None);
    flow.set(&|x| {
        initial.at(x).unwrap_or_else(|why| {
            wrong
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert(why);
            (1.0, [0.0; D])
        })
    })?;
    match wrong.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => Ok(()),
        Some(why) => Err(Failure::usage(format!("[initial]: {why}"))
            .hint("it is evaluated in solid cells too: if(a, b, c) may help")),
    }
}

/// What a run has written so far.
struct Begun<const D: usize> {
    history: History<D>,
    energy: Option<Energy>,
    fields: FieldWriter<D>,
}

/// Makes the folder, or takes up the run in it.
fn open<const D: usize>(
    args: &SolveArgs,
    mesh: &Mesh<D>,
    resolved: &Resolved<D>,
    header: &Header,
    console: &Console,
    flow: &mut dyn Flow<D>,
) -> Result<Begun<D>, Failure> {
    let folder = &resolved.folder;
    fs::create_dir_all(folder).map_err(|e| output::failed(folder, &e))?;
    let mut history = History::new(resolved, &mesh.patches);
    let settles = matches!(resolved.until, Until::Settled { .. });
    let bare = settles && !resolved.params.forces;
    let mut energy = bare.then(|| Energy::new(mesh, resolved));
    let outputs = &resolved.outputs;
    let mut averages = outputs
        .averages
        .map(|[from, every]| Averages::new(mesh, from, every));
    let start = if args.resume {
        let restore = |from: &mut dyn Read| {
            flow.restore(from)?;
            match &mut averages {
                Some(averages) => averages.restore(from),
                None => Ok(()),
            }
        };
        let step = resume(folder, header, console, restore)?;
        history.read(&folder.join("forces.csv"), step)?;
        if let Some(energy) = &mut energy {
            energy.read(&folder.join("energy.csv"), step)?;
        }
        Start::Resumed { step }
    } else {
        begin(args, folder)?;
        Start::Fresh { force: args.force }
    };
    let (specs, units) = (&outputs.specs, outputs.units.clone());
    let mut fields = FieldWriter::new(folder, specs, units, mesh, start)?;
    if let Some(averages) = averages {
        fields = fields.with_averages(averages);
    }
    Ok(Begun {
        history,
        energy,
        fields,
    })
}

/// Clears the way for a run from the start.
fn begin(args: &SolveArgs, folder: &Path) -> Result<(), Failure> {
    const NAMES: [&str; 5] = [
        "case.toml",
        "forces.csv",
        "forces.png",
        "energy.csv",
        "summary.json",
    ];
    for name in NAMES {
        output::check(&folder.join(name), args.force, Some(args.file()))?;
    }
    let old = checkpoint::list(folder);
    if let Some(path) = old.first().filter(|_| !args.force) {
        return Err(
            Failure::usage(format!("{} is there already", path.display()))
                .hint("go on from it with --resume, or start again with --force"),
        );
    }
    for path in old {
        fs::remove_file(&path).map_err(|e| output::failed(&path, &e))?;
    }
    Ok(())
}

/// Takes up the last checkpoint that is sound; its root step.
fn resume(
    folder: &Path,
    header: &Header,
    console: &Console,
    mut restore: impl FnMut(&mut dyn Read) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let mut refused = None;
    for path in checkpoint::list(folder) {
        match checkpoint::read(&path, &header.case, header.mesh, &mut restore) {
            Ok(Header { step, device, .. }) => {
                let path = path.display();
                console.note(&format!("resumed at root step {step} from {path}"));
                if !device.is_empty() && device != header.device {
                    console.note(&format!(
                        "that was a run on {device}, and this one is on {}: they agree to rounding, not bit for bit",
                        header.device
                    ));
                }
                return Ok(step);
            }
            Err(failure) => {
                console.note(&failure.message);
                refused.get_or_insert(failure);
            }
        }
    }
    Err(refused.unwrap_or_else(|| {
        Failure::usage(format!(
            "{} has no checkpoint to resume from",
            folder.display()
        ))
        .hint("start without --resume")
    }))
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
        if self.resolved.checkpoint_every > 0 {
            steps = steps.min(to_multiple(self.resolved.checkpoint_every));
        }
        let due = self.fields.next_due(step);
        due.map_or(steps, |due| steps.min(due - step))
    }

    fn go(&mut self, flow: &mut dyn Flow<D>) -> Result<(), Failure> {
        let most = self.most();
        self.console.start(most.saturating_sub(self.begun_at));
        self.write_fields(flow, Moment::Running)?;
        let every = self.resolved.checkpoint_every;
        let mut settled = false;
        while flow.steps() < most && !settled {
            let steps = self.to_next_look(flow.steps()).min(most - flow.steps());
            flow.advance(steps)?;
            flow.check()?;
            self.history.add(&flow.take_forces()?);
            if let Some(energy) = self.energy.as_mut().filter(|_| flow.steps() % CHUNK == 0) {
                energy.add(&flow.snapshot()?);
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
        self.finish(flow, settled)
    }

    /// Asked often, the whole history would be gone through as often: the steps at which it is lie apart
    /// by a share of the steps so far. They are multiples of a power of two, the same ones of a resumed run.
    fn is_settled(&self, step: u64, change: f64) -> bool {
        let apart = match (step / 32).checked_ilog2() {
            Some(power) => CHUNK.max(1 << power),
            None => CHUNK,
        };
        step.is_multiple_of(apart)
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

    /// The histories so far.
    fn write_histories(&self) -> Result<(), Failure> {
        if self.resolved.params.forces {
            self.write("forces.csv", &self.history.to_csv())?;
        }
        match &self.energy {
            Some(energy) => self.write("energy.csv", &energy.to_csv()),
            None => Ok(()),
        }
    }

    fn save(&self, flow: &dyn Flow<D>) -> Result<(), Failure> {
        let header = Header {
            step: flow.steps(),
            ..self.header.clone()
        };
        let folder = &self.resolved.folder;
        self.write_histories()?;
        checkpoint::write(folder, &header, |out| {
            flow.save(out)?;
            match self.fields.averages() {
                Some(averages) => averages.save(out).map_err(|e| output::failed(folder, &e)),
                None => Ok(()),
            }
        })
        .map(drop)
    }

    fn finish(&mut self, flow: &dyn Flow<D>, settled: bool) -> Result<(), Failure> {
        self.write_fields(flow, Moment::End)?;
        if self.fields.averages().is_some_and(|a| a.samples() == 0) {
            self.console.note(
                "the run ended before its averages began: [output.averages] says from when on",
            );
        }
        self.write_histories()?;
        let folder = &self.resolved.folder;
        if let Some(plot) = self.history.plot() {
            let path = folder.join("forces.png");
            output::write(&path, true, |out| {
                plot.write_png(out).map_err(|e| output::failed(&path, &e))
            })?;
        }
        let summary = json!({
            "schema": crate::JSON_SCHEMA,
            "command": "solve",
            "device": self.device,
            "folder": folder,
            "steps": flow.steps(),
            "time": flow.steps() as f64 * self.resolved.units.time,
            "settled": matches!(self.resolved.until, Until::Settled { .. }).then_some(settled),
            "reynolds": self.resolved.physics.reynolds(),
            "mach": self.resolved.physics.mach(),
            "mlups": self.mlups(flow.steps()),
            "seconds": self.began.elapsed().as_secs_f64(),
            "bytes": { "flow": self.sheet.flow, "output": self.sheet.output },
            "walls": self.sheet.walls(),
            "patches": self.history.summary(),
            "strouhal": self.history.shedding().map(|s| json!({
                "fit": { "value": s.fit.value, "error": s.fit.error },
                "spectrum": { "value": s.spectrum.value, "error": s.spectrum.error },
                "amplitude": { "value": s.amplitude.value, "error": s.amplitude.error },
                "cycles": s.cycles,
            })),
        });
        self.write("summary.json", &format!("{summary:#}\n"))?;
        if let Until::Settled { most, .. } = self.resolved.until
            && !settled
        {
            self.console.note(&format!(
                "the flow has not settled within {most} root steps"
            ));
        }
        self.console.summary(&format!(
            "{}{:.1} MLUPS; written to {}\n",
            self.history.table(),
            self.mlups(flow.steps()),
            folder.display()
        ))?;
        if self.args.output.json {
            return console::print(&format!("{summary:#}\n"));
        }
        Ok(())
    }
}
