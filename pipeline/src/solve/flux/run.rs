//! A run: from a case to integrals, fields, checkpoints and a summary.

use super::{
    case::FluxCase,
    earlier::{self, EarlierGas, saved_step},
    flow::Gas,
    forces::{self, FORCES_EVERY},
    outline::{FluxStart, sampled_step},
    resolve::{FluxInitial, FluxSetting, bytes_of_element, failed},
    state::{set_up, settle_step},
};
use crate::solve::outcome::{Outcome, case_runs, check_alone};
use cutlink_amr::{LinearKernels, linear::Leaves};
use cutlink_common::{
    Error, Observer,
    device::{DeviceReport, Opened, on},
    pool,
};
use cutlink_device::{Backend, Host, Memory, select};
use cutlink_flow::{
    RunOptions, RunPlan, RunSetting, RunTimes, Until,
    fields::{self, Clock, FieldUnit, FieldUnits, OutputKind, OutputSpec},
    looks::Looks,
    setting::{FOLDER, averages},
    tables::{AveragesTable, FieldUnitsName, OutputTable},
    until,
    verdict::check_accepted,
};
use cutlink_fr::{
    Sensor, TimeStep,
    kernels::{EulerKernels, Kernels},
};
use cutlink_mesher::{
    exact::{Exact, Facet},
    intersect::Meet,
};
use cutlink_solver::Precision;
use cutlink_voxelizer::{Mesh, kernels::AdaptKernels};
use serde_json::json;
use std::{fmt::Write as _, path::PathBuf};

/// Steps between two lines of integrals, by default.
const INTEGRALS_EVERY: u64 = 256;

case_runs!(FluxCase);

impl FluxCase {
    fn start(
        &self,
        options: &RunOptions,
        only_plan: bool,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        check_alone(options, "flux reconstruction")?;
        let choice = options.device.unwrap_or_default().0;
        let mut selected = select(choice)?;
        let work = || {
            let opened = Opened::open(choice, &mut selected)?;
            let device = DeviceReport::new(&selected, &opened);
            let named = |error: Error| error.within(&self.name());
            let dimensions = self.dimensions().map_err(named)?;
            let begun = Begun {
                options,
                only_plan,
                device,
                observer,
            };
            on!(&opened, backend => match dimensions {
                2 => self.in_dimension::<2, _>(backend, begun),
                _ => self.in_dimension::<3, _>(backend, begun),
            })
        };
        pool::install(options.threads, work)
    }

    fn in_dimension<const D: usize, B: EulerKernels<D>>(
        &self,
        backend: &B,
        begun: Begun<'_>,
    ) -> Result<Outcome, Error>
    where
        Facet<D>: Exact<D> + Meet<D>,
        Host: AdaptKernels<D> + LinearKernels<D>,
        f32: Kernels<D>,
        f64: Kernels<D>,
    {
        let named = |error: Error| error.within(&self.name());
        // Beside the new state of an adaptation, a device holds the old one.
        let free = match B::MEMORY {
            Memory::Host => Host.free_bytes(),
            Memory::Device => Host.free_bytes().min(backend.free_bytes() / 2),
        };
        let memory = [Host.free_bytes(), backend.free_bytes()];
        self.check_memory::<D>(memory).map_err(named)?;
        if begun.only_plan && !self.is_small::<D>() {
            let plan = self.outline::<D>(free, begun).map_err(named)?;
            return Ok(Outcome::Planned(plan));
        }
        let mut setting = self.setting::<D>(free).map_err(named)?;
        let observer = &mut *begun.observer;
        let earlier = (self.earlier(&mut setting, begun.options, free, observer)).map_err(named)?;
        match setting.precision {
            Precision::F32 => self.go::<D, f32, B>(setting, earlier, backend, begun),
            _ => self.go::<D, f64, B>(setting, earlier, backend, begun),
        }
    }

    /// The flow of another run that is the initial state. A saved state replaces it, and its steps are as long as they were.
    fn earlier<const D: usize>(
        &self,
        setting: &mut FluxSetting<D>,
        options: &RunOptions,
        free: u64,
        observer: &mut dyn Observer,
    ) -> Result<Option<EarlierGas<D>>, Error>
    where
        Facet<D>: Exact<D> + Meet<D>,
        Host: AdaptKernels<D> + LinearKernels<D>,
        f32: Kernels<D>,
        f64: Kernels<D>,
    {
        let FluxInitial::Earlier(path) = &setting.initial else {
            return Ok(None);
        };
        if options.resume {
            if let TimeStep::Courant(_) = setting.params.time_step {
                setting.params.time_step = saved_step(&self.folder())?;
            }
            return Ok(None);
        }
        let earlier = earlier::load::<D>(path, free)?;
        earlier.check_covers(&setting.bounds)?;
        observer.note(&earlier.note());
        Ok(Some(earlier))
    }

    /// The plan of a large flow, which is not set up: elements are those before any is refined, the length of steps is
    /// that of a sample of the initial state.
    fn outline<const D: usize>(&self, free: u64, begun: Begun<'_>) -> Result<RunPlan, Error>
    where
        Facet<D>: Exact<D> + Meet<D>,
        Host: AdaptKernels<D> + LinearKernels<D>,
        f32: Kernels<D>,
        f64: Kernels<D>,
    {
        let Begun {
            options,
            device,
            observer,
            ..
        } = begun;
        let mut setting = self.coarsened().setting::<D>(free)?;
        let bounds = &self.domain.bounds;
        setting.bounds =
            std::array::from_fn(|upper| std::array::from_fn(|a| bounds[upper * D + a]));
        let earlier = self.earlier(&mut setting, options, free, observer)?;
        for note in &setting.notes {
            observer.note(note);
        }
        let start = self.start_without_flow(&setting);
        let dt = sampled_step(&setting, earlier.as_ref(), start.edge)?;
        let resolved = self.with_step(setting, dt)?;
        let plan = resolved.plan(start, options.steps.unwrap_or(resolved.steps), &device);
        observer.summary(&plan.text)?;
        Ok(plan)
    }

    fn go<const D: usize, T: Kernels<D>, B: EulerKernels<D>>(
        &self,
        setting: FluxSetting<D>,
        earlier: Option<EarlierGas<D>>,
        backend: &B,
        begun: Begun<'_>,
    ) -> Result<Outcome, Error>
    where
        Host: AdaptKernels<D> + LinearKernels<D>,
    {
        let Begun {
            options,
            only_plan,
            device,
            observer,
        } = begun;
        let named = |error: Error| error.within(&self.name());
        check_accepted(&self.run.accept).map_err(named)?;
        for note in &setting.notes {
            observer.note(note);
        }
        let mut flow = set_up::<D, T>(&setting, earlier.as_ref()).map_err(named)?;
        drop(earlier);
        let dt = settle_step(&setting, &mut flow).map_err(named)?;
        let resolved = self.with_step(setting, dt).map_err(named)?;
        let steps = options.steps.unwrap_or(resolved.steps);
        let start = FluxStart::of(&flow, &resolved.setting);
        let plan = resolved.plan(start, steps, &device);
        if only_plan || observer.wants_summary() {
            observer.summary(&plan.text)?;
        }
        let mesh = Leaves::<D>::new(&Host, *flow.leaves().grid());
        let setting = resolved.run_setting(mesh.map_err(failed)?.checksum(), device)?;
        let mut gas = Gas::new(flow, backend, resolved);
        if only_plan {
            let tried = plan.tried(&mut gas, setting, options, observer);
            return tried.map(Outcome::Planned).map_err(named);
        }
        cutlink_flow::run(&mut gas, setting, options, observer).map(Outcome::Ran)
    }

    /// The output folder.
    fn folder(&self) -> PathBuf {
        self.output.folder.clone().unwrap_or_else(|| FOLDER.into())
    }

    /// The case with steps of a length.
    fn with_step<const D: usize>(
        &self,
        mut setting: FluxSetting<D>,
        dt: f64,
    ) -> Result<FluxResolved<D>, Error> {
        let through = setting.through;
        let times = RunTimes {
            step: dt,
            through,
            steps: |steps| (steps - 1e-6).ceil() as u64,
        };
        let (until, run) = until(&self.run, &times)?;
        let clock = Clock { step: dt, through };
        let given = &self.output;
        check_outputs(given)?;
        let specs = fields::written(&given.write, &setting.mesh.frame, &clock)?;
        for spec in &specs {
            let name = spec.name.as_deref().unwrap_or_default();
            let wrong = |what: &str| Error::input(format!("[[output.write]] \"{name}\" {what}"));
            if spec.kind == OutputKind::Surface {
                return Err(wrong(
                    "is of kind \"surface\", which flux reconstruction has not",
                ));
            }
        }
        fields::check_mean_pressure(&specs)?;
        let averages = averages(given.averages.as_ref(), &specs, &clock)?;
        fields::check(&specs, &units_of(&setting.mesh, dt), &setting.mesh)?;
        let folder = self.folder();
        let case = &mut setting.case;
        case.run = run;
        (case.numerics.dt, case.numerics.cfl) = (Some(dt), None);
        case.output.folder = Some(folder.clone());
        case.output.integrals_every = Some(given.integrals_every.unwrap_or(INTEGRALS_EVERY));
        case.output.forces_every =
            (setting.reference.as_ref()).map(|_| given.forces_every.unwrap_or(FORCES_EVERY));
        case.output.averages = averages.map(|[from, every]| AveragesTable {
            from_steps: Some(from),
            every_steps: Some(every),
            ..AveragesTable::default()
        });
        case.output.write.clone_from(&specs);
        Ok(FluxResolved {
            integrals_every: given.integrals_every.unwrap_or(INTEGRALS_EVERY),
            forces_every: given.forces_every.unwrap_or(FORCES_EVERY),
            checkpoint_every: given.checkpoint_every,
            checkpoint_at_end: given.checkpoint_at_end.unwrap_or(true),
            report: given.report.unwrap_or(true),
            case: case.clone(),
            setting,
            folder,
            specs,
            averages,
            until,
            steps: until.most(),
            dt,
        })
    }
}

/// Values are in SI units as they are; what is derived on the mesh is by its root cells.
fn units_of<const D: usize>(mesh: &Mesh<D>, dt: f64) -> FieldUnits {
    let dx = mesh.frame.dx;
    FieldUnits {
        vorticity: FieldUnit::new(1.0 / dx, "1/s"),
        q: FieldUnit::new(1.0 / (dx * dx), "1/s^2"),
        ..FieldUnits::si(dt, dt, 1.0)
    }
}

/// Refuses keys of outputs that are those of lattices.
fn check_outputs(given: &OutputTable) -> Result<(), Error> {
    if given.units.is_some_and(|units| units != FieldUnitsName::Si) {
        return Err(
            Error::input("[output] units are those of a lattice, and there is none")
                .hint("flux reconstruction writes SI units: remove units"),
        );
    }
    match given.recirculation {
        None => Ok(()),
        Some(_) => Err(Error::input(
            "[output.recirculation] is measured in lattice Boltzmann flows alone",
        )),
    }
}

/// What a run begins with.
struct Begun<'a> {
    options: &'a RunOptions,
    only_plan: bool,
    device: DeviceReport,
    observer: &'a mut dyn Observer,
}

/// A case with nothing left open.
pub(super) struct FluxResolved<const D: usize> {
    pub(super) setting: FluxSetting<D>,
    pub(super) case: FluxCase,
    pub(super) folder: PathBuf,
    pub(super) specs: Vec<OutputSpec>,
    /// The first step of averages, and the steps between two samples.
    pub(super) averages: Option<[u64; 2]>,
    pub(super) until: Until,
    pub(super) steps: u64,
    pub(super) dt: f64,
    pub(super) integrals_every: u64,
    pub(super) forces_every: u64,
    pub(super) checkpoint_every: Option<u64>,
    pub(super) checkpoint_at_end: bool,
    pub(super) report: bool,
}

impl<const D: usize> FluxResolved<D> {
    /// Whether the flow has viscosity.
    pub(super) fn is_viscous(&self) -> bool {
        self.setting.params.viscosity.is_some()
    }

    /// The exact density at a time, if it is known.
    pub(super) fn exact(&self) -> Option<impl Fn(f64, [f64; D]) -> f64 + Sync> {
        match self.setting.initial {
            FluxInitial::Vortex(vortex) if !self.is_viscous() => {
                Some(move |time, x: [f64; D]| vortex.at::<D>(time, x).density)
            }
            _ => None,
        }
    }

    /// What the run loop needs of the case; the mesh at the start has this checksum.
    fn run_setting(&self, mesh: u64, device: DeviceReport) -> Result<RunSetting<D>, Error> {
        let adapts = self.setting.adaptation.as_ref();
        let adapts = adapts.filter(|a| a.sensor != Sensor::Places);
        let (run, history) = (&self.case.run, forces::history(self));
        Ok(RunSetting {
            file: self.case.file.clone(),
            folder: self.folder.clone(),
            until: self.until,
            earliest: (self.setting.patience / self.dt).ceil() as u64,
            watch: run.watch != Some(false),
            accept: run.accept.clone(),
            checkpoint_every: self.checkpoint_every,
            checkpoint_at_end: self.checkpoint_at_end,
            report: self.report,
            specs: self.specs.clone(),
            averages: self.averages,
            units: units_of(&self.setting.mesh, self.dt),
            step_name: "step",
            has_forces: !history.parts.is_empty(),
            history,
            looks: adapts.map(|_| Looks::of_elements(self.dt)),
            case: self.case.to_toml()?,
            fixed: self.case.fixed().to_toml()?,
            mesh,
            // All devices give the same bits.
            device_kind: String::new(),
            device,
        })
    }

    /// The forecast.
    fn plan(&self, start: FluxStart, steps: u64, device: &DeviceReport) -> RunPlan {
        let params = &self.setting.params;
        let FluxStart {
            elements,
            nodes,
            edge,
            is_exact,
        } = start;
        let bytes = elements
            * bytes_of_element::<D>(params.order, self.setting.precision, self.is_viscous());
        let most = self
            .setting
            .adaptation
            .as_ref()
            .filter(|a| a.sensor != Sensor::Places)
            .map(|a| a.most_elements as u64);
        let finest = match &self.setting.adaptation {
            Some(adaptation) => adaptation.levels[1],
            None => 0,
        };
        let dx = edge / f64::from(1u32 << finest.min(31));
        let points = elements * nodes;
        let (least, about) = match (is_exact, finest) {
            (true, _) => ("", ""),
            (false, 0) => ("", "about "),
            (false, _) => ("at least ", "about "),
        };
        let mut text = format!(
            "device  {}\nflux reconstruction of order {} in {D}D, {}\n{least}{elements} elements at the start, {points} points, \
             {:.1} MB; the finest edge is {dx:.4} m\n",
            device.text(),
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
        let _ = writeln!(
            text,
            "{steps} steps of {about}{:.6} s: {time:.6} s",
            self.dt
        );
        let json = json!({
            "schema": cutlink_common::JSON_SCHEMA,
            "cutlink": env!("CARGO_PKG_VERSION"),
            "command": "solve",
            "kind": "flux-reconstruction",
            "device": device,
            "order": params.order,
            "elements": elements,
            "is_exact": is_exact,
            "most_elements": most,
            "points": points,
            "bytes": { "flow": bytes },
            "steps": steps,
            "dt": self.dt,
            "time": time,
        });
        RunPlan::new(text, json)
    }
}
