//! A run: from a case to integrals, fields, checkpoints and a summary.

use super::{
    case::FluxCase,
    resolve::{FluxInitial, FluxSetting, bytes_of_element, failed},
    scene::FluxScene,
    state::{restore, set_up, settle_step},
    totals::{TotalsTable, write},
};
use crate::{
    error::{Error, ErrorKind},
    fields::{
        self, Clock, FieldUnit, FieldUnits, FieldWriter, Moment, OutputKind, OutputSpec, Start,
    },
    observer::Observer,
    output, pool,
    solve::{
        begin::{begin, note_changes, resume},
        checkpoint::{self, Header},
        lock::FolderLock,
        resolve::FOLDER,
        run::{RunOptions, RunPlan, RunSummary},
    },
};
use cutlink_amr::{LinearKernels, linear::Leaves};
use cutlink_device::{DeviceChoice, Host};
use cutlink_fr::{EulerFlow, Totals, kernels::Kernels};
use cutlink_mesher::exact::{Exact, Facet};
use cutlink_solver::Precision;
use cutlink_voxelizer::kernels::AdaptKernels;
use serde_json::json;
use std::{
    fmt::Write as _,
    io::Write,
    path::PathBuf,
    time::{Duration, Instant},
};

/// Steps between two checks of the flow, at multiples of it.
const CHUNK: u64 = 64;
/// Wall time between checkpoints if the case gives no number of steps.
const SAVE_INTERVAL: Duration = Duration::from_secs(600);
/// Steps between two lines of integrals, by default.
const INTEGRALS_EVERY: u64 = 256;
/// Upper bound of the steps of a run.
const MAX_STEPS: f64 = 1e12;

impl FluxCase {
    /// Runs the flow and writes the output folder. Notes and progress go to `observer`.
    ///
    /// # Errors
    /// An invalid case, a flow that does not fit into memory, existing files, a full disk;
    /// [`Diverged`](ErrorKind::Diverged) and [`Stopped`](ErrorKind::Stopped), both of which keep the files written so far.
    pub fn run_with(
        &self,
        options: &RunOptions,
        observer: &mut dyn Observer,
    ) -> Result<RunSummary, Error> {
        match self.start(options, false, observer)? {
            Done::Ran(summary) => Ok(summary),
            Done::Planned(_) => {
                unreachable!("a run that is not only planned should end in a summary")
            }
        }
    }

    /// Does everything up to the first step, and forecasts the run. Writes nothing.
    ///
    /// # Errors
    /// Those of [`run_with`](Self::run_with) that occur before the first step.
    pub fn plan(
        &self,
        options: &RunOptions,
        observer: &mut dyn Observer,
    ) -> Result<RunPlan, Error> {
        match self.start(options, true, observer)? {
            Done::Planned(plan) => Ok(plan),
            Done::Ran(_) => unreachable!("a run that is only planned should not end in a summary"),
        }
    }

    fn start(
        &self,
        options: &RunOptions,
        only_plan: bool,
        observer: &mut dyn Observer,
    ) -> Result<Done, Error> {
        let choice = options.device.unwrap_or_default().0;
        if matches!(choice, DeviceChoice::Cuda(_)) {
            return Err(Error::input("flux reconstruction runs on the CPU alone")
                .hint("give --device cpu, or leave it out"));
        }
        if options.world.is_some() || !options.ranks.is_empty() {
            return Err(Error::input("flux reconstruction has no ranks")
                .hint("leave --ranks out, and start one process"));
        }
        let work = || {
            let named = |error: Error| error.within(&self.name());
            match self.dimensions().map_err(named)? {
                2 => self.in_dimension::<2>(options, only_plan, observer),
                _ => self.in_dimension::<3>(options, only_plan, observer),
            }
        };
        pool::install(options.threads, work)
    }

    fn in_dimension<const D: usize>(
        &self,
        options: &RunOptions,
        only_plan: bool,
        observer: &mut dyn Observer,
    ) -> Result<Done, Error>
    where
        Facet<D>: Exact<D>,
        Host: AdaptKernels<D> + LinearKernels<D>,
        f32: Kernels<D>,
        f64: Kernels<D>,
    {
        let named = |error: Error| error.within(&self.name());
        let setting = self.setting::<D>().map_err(named)?;
        match setting.precision {
            Precision::F32 => self.go::<D, f32>(setting, options, only_plan, observer),
            _ => self.go::<D, f64>(setting, options, only_plan, observer),
        }
    }

    fn go<const D: usize, T: Kernels<D>>(
        &self,
        setting: FluxSetting<D>,
        options: &RunOptions,
        only_plan: bool,
        observer: &mut dyn Observer,
    ) -> Result<Done, Error>
    where
        Host: AdaptKernels<D> + LinearKernels<D>,
    {
        let named = |error: Error| error.within(&self.name());
        let mut flow = set_up::<D, T>(&setting).map_err(named)?;
        let dt = settle_step(&setting, &mut flow).map_err(named)?;
        let resolved = self.with_step(setting, dt).map_err(named)?;
        let steps = options.steps.unwrap_or(resolved.steps);
        if only_plan || observer.wants_summary() {
            let plan = resolved.plan(&flow, steps);
            observer.summary(&plan.text)?;
            if only_plan {
                return Ok(Done::Planned(plan));
            }
        }
        let folder = resolved.folder.clone();
        std::fs::create_dir_all(&folder).map_err(|e| output::failed(&folder, &e))?;
        let lock = FolderLock::take(&folder)?;
        let header = Header {
            version: checkpoint::VERSION,
            cutlink: env!("CARGO_PKG_VERSION").into(),
            case: resolved.case.fixed().to_toml()?,
            mesh: Leaves::<D>::new(&Host, *flow.leaves().grid())
                .map_err(failed)?
                .checksum(),
            device: "cpu".into(),
            step: 0,
            looks: Vec::new(),
        };
        let mut totals = TotalsTable::new(D, resolved.dt, resolved.exact().is_some());
        let text = resolved.case.to_toml()?;
        let start = if options.resume {
            output::remove_abandoned(&folder);
            let step = resume(&folder, &header, observer, |from| restore(&mut flow, from))?.step;
            totals.read(&folder, step)?;
            note_changes(&folder.join("case.toml"), &text, observer);
            Start::Resumed { step }
        } else {
            begin(options, self.file.as_deref(), &folder)?;
            Start::Fresh {
                force: options.replace,
            }
        };
        let scene = FluxScene::new(&resolved.setting.mesh, &flow)?;
        let specs = &resolved.specs;
        let fields = FieldWriter::new(&folder, specs, resolved.units(), &scene.mesh, start)?;
        write(&folder, "case.toml", &text)?;
        totals.begin(&folder)?;
        let begun_at = flow.steps();
        let mut run = FluxRun {
            options,
            observer,
            resolved,
            header,
            totals,
            fields,
            flow,
            most: steps,
            begun_at,
            began: Instant::now(),
            work: 0.0,
            saved: options.resume.then_some(begun_at),
            last_save: Instant::now(),
            _lock: lock,
        };
        let done = {
            let _running = options.stop.running();
            run.go()
        };
        run.observer.end();
        done.map(Done::Ran)
    }

    /// The case with steps of a length.
    fn with_step<const D: usize>(
        &self,
        mut setting: FluxSetting<D>,
        dt: f64,
    ) -> Result<FluxResolved<D>, Error> {
        let steps = match (self.run.steps, self.run.seconds) {
            (Some(steps), None) => steps,
            (None, Some(seconds)) => {
                let steps = (seconds / dt - 1e-6).ceil();
                if !(0.0..=MAX_STEPS).contains(&steps) {
                    return Err(Error::input(format!("[run] seconds is {seconds}"))
                        .hint(format!("a time of up to {MAX_STEPS:e} steps of {dt} s")));
                }
                steps as u64
            }
            _ => {
                return Err(Error::input("[run] needs either steps or seconds"));
            }
        };
        let clock = Clock {
            step: dt,
            through: f64::NAN,
        };
        let given = &self.output;
        let specs = fields::written(&given.write, &setting.mesh.frame, &clock)?;
        for spec in &specs {
            let name = spec.name.as_deref().unwrap_or_default();
            if spec.average.is_some() || spec.kind == OutputKind::Surface {
                return Err(Error::input(format!(
                    "[[output.write]] \"{name}\": flux reconstruction has neither averages nor surfaces"
                )));
            }
        }
        fields::check(&specs, &setting.mesh)?;
        let folder = given.folder.clone().unwrap_or_else(|| FOLDER.into());
        let case = &mut setting.case;
        case.run.steps = Some(steps);
        case.run.seconds = None;
        (case.numerics.dt, case.numerics.cfl) = (Some(dt), None);
        case.output.folder = Some(folder.clone());
        case.output.integrals_every = Some(given.integrals_every.unwrap_or(INTEGRALS_EVERY));
        case.output.write.clone_from(&specs);
        Ok(FluxResolved {
            integrals_every: given.integrals_every.unwrap_or(INTEGRALS_EVERY),
            checkpoint_every: given.checkpoint_every,
            checkpoint_at_end: given.checkpoint_at_end.unwrap_or(true),
            case: case.clone(),
            setting,
            folder,
            specs,
            steps,
            dt,
        })
    }
}

/// How a run ended.
enum Done {
    Planned(RunPlan),
    Ran(RunSummary),
}

/// A case with nothing left open.
struct FluxResolved<const D: usize> {
    setting: FluxSetting<D>,
    case: FluxCase,
    folder: PathBuf,
    specs: Vec<OutputSpec>,
    steps: u64,
    dt: f64,
    integrals_every: u64,
    checkpoint_every: Option<u64>,
    checkpoint_at_end: bool,
}

impl<const D: usize> FluxResolved<D> {
    /// The exact density at a time, if it is known.
    fn exact(&self) -> Option<impl Fn(f64, [f64; D]) -> f64 + Sync> {
        match self.setting.initial {
            FluxInitial::Vortex(vortex) => {
                Some(move |time, x: [f64; D]| vortex.at::<D>(time, x).density)
            }
            FluxInitial::Fields { .. } => None,
        }
    }

    /// Values are in SI units as they are; what is derived on the mesh is by its root cells.
    fn units(&self) -> FieldUnits {
        let dx = self.setting.mesh.frame.dx;
        FieldUnits {
            time: FieldUnit::new(self.dt, "s"),
            velocity: FieldUnit::new(1.0, "m/s"),
            pressure: FieldUnit::new(1.0, "Pa"),
            density: FieldUnit::new(1.0, "kg/m^3"),
            vorticity: FieldUnit::new(1.0 / dx, "1/s"),
            q: FieldUnit::new(1.0 / (dx * dx), "1/s^2"),
        }
    }

    /// The forecast.
    fn plan<T: Kernels<D>>(&self, flow: &EulerFlow<D, T>, steps: u64) -> RunPlan {
        let params = &self.setting.params;
        let elements = flow.leaves().len() as u64;
        let bytes = elements * bytes_of_element::<D>(params.order, self.setting.precision);
        let most = self
            .setting
            .adaptation
            .as_ref()
            .map(|a| a.most_elements as u64);
        let finest = match &self.setting.adaptation {
            Some(adaptation) => adaptation.levels[1],
            None => 0,
        };
        let dx = 4.0 * self.setting.mesh.frame.dx / f64::from(1u32 << finest.min(31));
        let points = elements * flow.nodes() as u64;
        let mut text = format!(
            "flux reconstruction of order {} in {D}D, {}, on the CPU\n{elements} elements at the start, {points} points, \
             {:.1} MB; the finest edge is {dx:.4} m\n",
            params.order,
            self.setting.precision,
            bytes as f64 / 1e6,
        );
        if let Some(most) = most {
            let _ = writeln!(
                text,
                "the mesh follows the flow, with at most {most} elements"
            );
        }
        let time = steps as f64 * self.dt;
        let _ = writeln!(text, "{steps} steps of {:.6} s: {time:.6} s", self.dt);
        let json = json!({
            "schema": crate::JSON_SCHEMA,
            "cutlink": env!("CARGO_PKG_VERSION"),
            "command": "solve",
            "kind": "flux-reconstruction",
            "order": params.order,
            "elements": elements,
            "most_elements": most,
            "points": points,
            "bytes": { "flow": bytes },
            "steps": steps,
            "dt": self.dt,
            "time": time,
        });
        RunPlan { text, json }
    }
}

/// A run and its outputs.
struct FluxRun<'a, const D: usize, T: Kernels<D>> {
    options: &'a RunOptions,
    observer: &'a mut dyn Observer,
    resolved: FluxResolved<D>,
    header: Header,
    totals: TotalsTable,
    fields: FieldWriter<D>,
    flow: EulerFlow<D, T>,
    most: u64,
    begun_at: u64,
    began: Instant,
    /// Degrees of freedom times stages so far.
    work: f64,
    saved: Option<u64>,
    last_save: Instant,
    _lock: FolderLock,
}

impl<const D: usize, T: Kernels<D>> FluxRun<'_, D, T>
where
    Host: AdaptKernels<D> + LinearKernels<D>,
{
    fn go(&mut self) -> Result<RunSummary, Error> {
        self.observer.begin(self.most.saturating_sub(self.begun_at));
        self.add_totals()?;
        self.write_fields(Moment::Running)?;
        while self.flow.steps() < self.most {
            let step = self.flow.steps();
            let steps = self.to_next_look(step).min(self.most - step);
            self.flow.advance(steps)?;
            let stages = self.resolved.setting.params.runge_kutta.evaluations() as f64;
            self.work += steps as f64 * stages * self.flow.degrees_of_freedom() as f64;
            if !self.flow.wave_rate()?.is_finite() {
                return Err(self.diverged());
            }
            self.add_totals()?;
            self.write_fields(Moment::Running)?;
            let step = self.flow.steps();
            let is_due = match self.resolved.checkpoint_every {
                Some(0) => false,
                Some(every) => step.is_multiple_of(every),
                None => self.last_save.elapsed() > SAVE_INTERVAL,
            };
            if is_due {
                self.save()?;
            }
            let status = self.progress();
            self.observer.advance(steps, &status);
            if self.options.stop.is_stopped() {
                self.save()?;
                let message = format!("stopped at step {step}, with a checkpoint");
                return Err(Error::new(ErrorKind::Stopped, message).hint("continue with --resume"));
            }
        }
        self.finish()
    }

    /// Steps to the next check of the flow.
    fn to_next_look(&self, step: u64) -> u64 {
        let periods = [
            CHUNK,
            self.resolved.checkpoint_every.unwrap_or(0),
            self.resolved.integrals_every,
        ];
        let multiples = periods.into_iter().filter(|&every| every > 0);
        let due = self.fields.next_due(step).map(|due| due - step);
        multiples
            .map(|every| every - step % every)
            .chain(due)
            .min()
            .expect("there is a period")
    }

    fn diverged(&self) -> Error {
        let (step, time) = (self.flow.steps(), self.flow.time());
        Error::new(
            ErrorKind::Diverged,
            format!("the flow diverged by step {step} (time {time:.6} s): a density or pressure is not positive"),
        )
        .hint("choose a smaller [numerics] cfl or dt, finer elements, or a lower order: there is no shock capturing")
    }

    /// Mass, momentum, energy and elements, and the error where the exact flow is known.
    fn numbers(&self) -> Vec<f64> {
        let Totals {
            mass,
            momentum,
            energy,
        } = self.flow.totals();
        let elements = self.flow.leaves().len() as f64;
        let mut numbers = vec![mass];
        numbers.extend(momentum);
        numbers.extend([energy, elements]);
        numbers.extend(self.error());
        numbers
    }

    /// The L2 error of the density, where the exact one is known.
    fn error(&self) -> Option<f64> {
        let exact = self.resolved.exact()?;
        let time = self.flow.time();
        Some(self.flow.density_error(|x| exact(time, x)))
    }

    fn add_totals(&mut self) -> Result<(), Error> {
        let (step, every) = (self.flow.steps(), self.resolved.integrals_every);
        if every > 0 && step.is_multiple_of(every) {
            let numbers = self.numbers();
            self.totals.add(step, numbers)?;
        }
        Ok(())
    }

    fn write_fields(&mut self, moment: Moment) -> Result<(), Error> {
        if self.fields.is_due(self.flow.steps(), moment) {
            let scene = FluxScene::new(&self.resolved.setting.mesh, &self.flow)?;
            let pressure = Some(&scene.pressure);
            self.fields
                .write_with(&scene.mesh, &scene.snapshot, pressure, moment)?;
        }
        Ok(())
    }

    /// Degrees of freedom times stages a second, in 10⁹.
    fn rate(&self) -> f64 {
        self.work / self.began.elapsed().as_secs_f64().max(1e-9) / 1e9
    }

    fn progress(&self) -> String {
        let done = (self.flow.steps() - self.begun_at).max(1) as f64;
        let left = (self.most - self.flow.steps()) as f64 / done;
        format!(
            "{:.3} GDoF/s, {:.0} s left, {} elements",
            self.rate(),
            left * self.began.elapsed().as_secs_f64(),
            self.flow.leaves().len()
        )
    }

    fn save(&mut self) -> Result<(), Error> {
        let step = self.flow.steps();
        if self.saved == Some(step) {
            return Ok(());
        }
        self.totals.sync()?;
        let header = Header {
            step,
            ..self.header.clone()
        };
        let (folder, flow) = (&self.resolved.folder, &self.flow);
        checkpoint::write(folder, &header, |out: &mut dyn Write| {
            let keys = flow.leaves().keys();
            let words = [step, flow.time().to_bits(), keys.len() as u64];
            let words = words.iter().chain(keys).flat_map(|word| word.to_le_bytes());
            let words: Vec<u8> = words.collect();
            out.write_all(&words)
                .and_then(|()| out.write_all(bytemuck::cast_slice(flow.unknowns())))
                .map_err(|e| output::failed(folder, &e))
        })?;
        (self.saved, self.last_save) = (Some(step), Instant::now());
        Ok(())
    }

    fn finish(&mut self) -> Result<RunSummary, Error> {
        self.write_fields(Moment::End)?;
        if self.resolved.checkpoint_at_end {
            self.save()?;
        }
        let (steps, seconds) = (self.flow.steps(), self.began.elapsed().as_secs_f64());
        let (time, now) = (steps as f64 * self.resolved.dt, self.numbers());
        // Of mass and energy; the integrals of the first line are those of the start.
        let drift = |i: usize| self.totals.first().map(|first| now[i] / first[i] - 1.0);
        let (elements, error) = (self.flow.leaves().len(), self.error());
        let params = &self.resolved.setting.params;
        let summary = json!({
            "schema": crate::JSON_SCHEMA,
            "cutlink": env!("CARGO_PKG_VERSION"),
            "command": "solve",
            "kind": "flux-reconstruction",
            "folder": self.resolved.folder,
            "steps": steps,
            "time": time,
            "dt": self.resolved.dt,
            "order": params.order,
            "elements": elements,
            "points": elements * self.flow.nodes(),
            "integrals": {
                "mass": now[0],
                "momentum": &now[1..1 + D],
                "energy": now[1 + D],
                "mass_drift": drift(0),
                "energy_drift": drift(1 + D),
            },
            "density_error": error,
            "gdofs": self.rate(),
            "seconds": seconds,
        });
        let folder = &self.resolved.folder;
        write(folder, "summary.json", &format!("{summary:#}\n"))?;
        let mut text = format!("{elements} elements at time {time:.6} s\n");
        if let Some(error) = error {
            let _ = writeln!(text, "L2 error of the density: {error:.4e}");
        }
        if let (Some(mass), Some(energy)) = (drift(0), drift(1 + D)) {
            let _ = writeln!(
                text,
                "mass has changed by {mass:.1e} of it, energy by {energy:.1e}"
            );
        }
        let _ = writeln!(
            text,
            "{:.3} GDoF/s; written to {}",
            self.rate(),
            folder.display()
        );
        self.observer.summary(&text)?;
        Ok(RunSummary {
            folder: folder.clone(),
            steps,
            time,
            settled: None,
            json: summary,
        })
    }
}
