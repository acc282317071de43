//! The set-up of a run: the device, the mesh of the case, the plan and its forecast, the flow, and the files it begins.

use super::{Lattice, budget, initial_state, mesh_file};
use crate::solve::verdict::{openings::Openings, patience, sound};
use crate::solve::{
    case::{Case, DomainTable, PatchKind, PatchTable},
    earlier::{self, Earlier},
    energy::Energy,
    integrals::Integrals,
    laws::{self, Laws},
    motion::{self, Maker, Motions},
    notes,
    numerics::at_moving_walls,
    recirculation, reference,
    resolve::{CaseGrid, Resolved},
    shares::{Costs, Shares, processes},
    sheet::{self, Sheet},
    turbulence,
};
use cutlink_common::{
    Error, Observer,
    device::{DeviceOption, DeviceReport, Opened, first_gpu, on},
    pool,
};
use cutlink_device::{LinkChoice, Memory, Selected, select};
use cutlink_flow::{
    RunOptions, RunPlan, RunSetting, RunSummary, fields,
    history::History,
    looks::Looks,
    tables::{OutputTable, RunTable},
    verdict::check_accepted,
};
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    intersect::Meet,
    read::is_stream,
    silhouette,
    snap::Snapped,
};
use cutlink_meshing::{
    mesh::{
        build::{AnyPlaced, Builder, Placed, bare_periodic},
        resolve as job, sides,
    },
    options::{FlowSide, MeshOptions},
};
use cutlink_solver::{Plan, RigidBodies, RunningMeans, kernels::FlowKernels};
use cutlink_voxelizer::{AnyMesh, EmbedParams, Mesh};
use serde::Serialize;
use std::collections::BTreeMap;
use std::{path::Path, sync::Arc, time::Instant};

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
    /// [`Diverged`](cutlink_common::ErrorKind::Diverged) and [`Stopped`](cutlink_common::ErrorKind::Stopped), both of which keep the files
    /// written so far; [`Untrusted`](cutlink_common::ErrorKind::Untrusted) after all files are written.
    pub fn run_with(
        &self,
        options: &RunOptions,
        observer: &mut dyn Observer,
    ) -> Result<RunSummary, Error> {
        match self.begin(options, false, observer)? {
            Ended::Ran(summary) => Ok(summary),
            Ended::Planned(_) | Ended::Served => {
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
            Ended::Ran(_) | Ended::Served => {
                unreachable!("a run that is only planned should not end in a summary")
            }
        }
    }

    /// The mesh of a box without a body. One that changes has the periodic faces of the flow.
    pub(in crate::solve) fn box_of<const D: usize>(
        &self,
        domain: &DomainTable,
    ) -> Result<Mesh<D>, Error>
    where
        Facet<D>: Exact<D>,
    {
        let periodic = match self.adapt {
            Some(_) => self.boundary.periodic().0,
            None => [false; 3],
        };
        bare_periodic(&domain.bounds, &domain.root, periodic)
    }

    /// Does what the first of several processes orders, until its flow ends: for all processes but that one. Writes nothing.
    ///
    /// # Errors
    /// As [`Case::run_with`], but for those of outputs.
    pub fn serve(&self, options: &RunOptions) -> Result<(), Error> {
        let _running = options.stop.running();
        self.begin(options, false, &mut ()).map(drop)
    }

    fn begin(
        &self,
        options: &RunOptions,
        only_plan: bool,
        observer: &mut dyn Observer,
    ) -> Result<Ended, Error> {
        check_ranks(options, only_plan)?;
        let dimensions = self.dimensions_of_domain()?;
        let choice = options.device.or(self.mesh.as_ref().and_then(|m| m.device));
        let mut choice = choice.unwrap_or_default();
        if options.gpus > 1 {
            choice.0 = first_gpu(choice.0, options.gpus)?;
        }
        if options.world.is_some() {
            choice.0 = choice.0.of_process(cutlink_mpi::local_rank());
        }
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
            if self.domain.is_some() {
                check_no_motion(self).map_err(named)?;
            }
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
    /// It was another process's.
    Served,
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

/// Checks that the surface of a case is no pipe: a flow that resumes reads it again.
fn check_rereadable(options: &MeshOptions) -> Result<(), Error> {
    let files = options.file.as_deref().unwrap_or_default();
    match files.iter().find(|file| is_stream(file)) {
        None => Ok(()),
        Some(file) => Err(Error::input(format!(
            "[mesh] file = \"{}\" is standard input or a pipe, which `--resume` could not read again",
            file.display()
        ))
        .hint("save the surface as a file")),
    }
}

/// Checks that bodies move only where there is a surface to move.
fn check_no_motion(case: &Case) -> Result<(), Error> {
    match case.motion.keys().next() {
        None => Ok(()),
        Some(name) => Err(Error::input(format!(
            "[motion.{name}] moves a surface, and this case has none: a box or a mesh file"
        ))
        .hint("give the surface by `file` or `shape` in [mesh], or leave the motion out")),
    }
}

impl On<'_> {
    /// Builds the mesh of the case, and runs.
    fn embedded(&self, case: &Case, observer: &mut dyn Observer) -> Result<Ended, Error> {
        let mut options = case.mesh.clone().unwrap_or_default();
        check_rereadable(&options)?;
        let read = mesh_file::of(&options, case, observer);
        if let Some(mesh) = read.map_err(|error| error.within(&case.name()))? {
            check_no_motion(case)?;
            return match mesh {
                AnyMesh::D2(mesh) => self.solve(case, &mesh, Surfaces::NONE, observer),
                AnyMesh::D3(mesh) => self.solve(case, &mesh, Surfaces::NONE, observer),
            };
        }
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
        let mut case = Case {
            mesh: Some(placed.options(builder.job).of_the_mesh_alone()),
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
        let is_moving = !case.motion.is_empty();
        let mut placed_surface =
            (is_moving || case.patches.values().any(may_pass)).then(|| placed.placed.clone());
        let mut prepared = builder.prepare(placed)?;
        let mut mesh = builder.build(&prepared)?;
        builder.check_for_flow(&prepared, &mesh)?;
        if let Some(placed) = placed_surface.as_ref().filter(|_| is_moving) {
            mesh = mesh_of_paths(&case, &mesh, placed, &prepared.params)
                .map_err(|error| error.within(&name))?;
        }
        for note in &builder.notes {
            observer.note(note);
        }
        if mesh.fill.is_sheets() {
            sides::turn_snapped(&mesh, &mut prepared.snapped);
            if let Some(surface) = &mut placed_surface {
                sides::turn_surface(&mesh, surface);
            }
        }
        let surfaces = Surfaces {
            snapped: Some(&prepared.snapped),
            placed: placed_surface.as_ref(),
            embedding: Some(&prepared.params),
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
        let device = DeviceReport::new(&self.selected, &self.opened);
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
    /// How it was embedded.
    embedding: Option<&'a EmbedParams>,
}

impl<const D: usize> Surfaces<'_, D> {
    const NONE: Self = Self {
        snapped: None,
        placed: None,
        embedding: None,
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
    device: DeviceReport,
    set_up: SetUp,
}

/// Seconds before the first step, as `summary.json` has them.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct SetUp {
    /// Opening the device.
    open: f64,
    /// From the surface to the mesh.
    mesh: f64,
    /// Tables, checks, and the forecast.
    plan: f64,
    /// Allocation, upload, and the initial state.
    flow: f64,
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
    check_accepted(&case.run.accept).map_err(|error| error.within(&name))?;
    let resolved = resolve(case, &inputs)?;
    let mut plan = Plan::new(mesh, resolved.params.clone())?;
    let bodies = bodies_of(&inputs, &resolved).map_err(|error| error.within(&name))?;
    if let Some(bodies) = &bodies {
        plan = plan.with_bodies(bodies.clone())?;
    }
    let laws = Laws::of(&resolved, mesh);
    let is_allowed = resolved.allows_unstable();
    laws.check(is_allowed)
        .map_err(|error| error.within(&name))?;
    if let Some(why) = at_moving_walls(&plan).filter(|_| !is_allowed) {
        return Err(Error::input(why.to_string())
            .hint("or set [numerics] allow_unstable = true to run it anyway")
            .within(&name));
    }
    if let Some(world) = options.world.as_ref().filter(|world| world.rank() != 0) {
        plan.start_linked(backend, processes(world))?;
        return Ok(Ended::Served);
    }
    let mut sheet = Sheet::new(&plan, &resolved, options.steps, B::MEMORY);
    let ranks = match &options.world {
        Some(world) => vec![world.size()],
        None if options.gpus > 1 => vec![options.gpus],
        None => options.ranks.clone(),
    };
    let has_averages = resolved.outputs.averages.is_some();
    // Several ranks have them on the host.
    let is_alone = options.world.is_none() && ranks.first().is_none_or(|&ranks| ranks == 1);
    let on_device = B::MEMORY == Memory::Device && is_alone;
    if has_averages && on_device {
        sheet.keep_averages_on_device(mesh);
    }
    let mut shares = shares_of(&plan, &ranks, B::MEMORY)?;
    if let [shares] = &shares[..] {
        sheet.flow = match &options.world {
            Some(world) => shares.bytes_of(world.rank()),
            None if options.gpus > 1 => shares.largest(),
            None => shares.bytes(),
        };
    }
    let planned = if inputs.only_plan || observer.wants_summary() {
        let speed = sheet::calibrate(backend, &plan.params)?;
        let costs = Costs::new(B::MEMORY, sheet.weight, speed);
        let device = &inputs.device;
        let text = format!(
            "device  {}\n{}",
            device.text(),
            sheet.text(&plan, &resolved, speed, (&shares, &costs), &laws)
        );
        observer.summary(&text)?;
        let json = sheet.to_json(&plan, &resolved, device, speed, (&shares, &costs), &laws);
        Some(RunPlan::new(text, json))
    } else {
        None
    };
    let of_sound = sound::notes(&resolved);
    for note in notes::of(&plan)
        .iter()
        .chain(&resolved.notes)
        .chain(&of_sound)
    {
        observer.note(note);
    }
    // Where the summary is shown, its table has them.
    for note in laws.notes().iter().filter(|_| planned.is_none()) {
        observer.note(note);
    }
    if let Some(planned) = planned.filter(|_| inputs.only_plan) {
        return Ok(Ended::Planned(planned));
    }
    sheet.check_memory(backend)?;
    if let Some(adaptation) = &mut plan.params.adaptation {
        let least = plan.levels.iter().map(|level| level.cells).sum();
        let given = case.adapt.as_ref().and_then(|a| a.max_cells);
        let more = match (has_averages, B::MEMORY) {
            (true, Memory::Host) => fields::Averages::<D>::CARRIED,
            (true, Memory::Device) if on_device => RunningMeans::<D>::BYTES,
            _ => 0,
        };
        let room = budget::room_for_cells::<D>(backend.free_bytes(), &resolved.params, more);
        adaptation.max_cells =
            budget::budget(given, least, room).map_err(|error| error.within(&name))?;
    }
    let initial = resolved.case.initial.as_ref();
    let from = initial.and_then(|table| table.from.as_deref());
    let earlier = match from.filter(|_| !options.resume) {
        Some(path) => Some((inputs.load)(path).map_err(|error| error.within(&name))?),
        None => None,
    };
    set_up.plan = planning.elapsed().as_secs_f64();
    let starting = Instant::now();
    let started = match &options.world {
        Some(world) => plan.start_linked(backend, processes(world))?,
        None => {
            let ranks = ranks.first().copied().unwrap_or(1);
            let of_rank = |rank: usize| match options.gpus > 1 {
                true => backend.nth_after(rank as u32),
                false => Ok(backend.clone()),
            };
            let backends = (0..ranks).map(of_rank).collect::<Result<Vec<_>, _>>()?;
            Some(plan.start_ranks(&backends)?)
        }
    };
    let mut flow = started.ok_or_else(|| Error::input("the first process has no flow"))?;
    let mut shares = shares.pop();
    let why = shares
        .as_mut()
        .and_then(|shares| shares.take_messages(flow.messages()));
    if let Some(why) = why {
        observer.note(&format!(
            "messages between ranks pass through host memory, which is slow: {why}"
        ));
    }
    flow.sample_forces_every(resolved.forces_every);
    let set = initial_state::set(&mut *flow, &resolved, &mesh.frame, earlier, observer);
    set.map_err(|error| error.within(&name))?;
    flow.wait()?;
    set_up.flow = starting.elapsed().as_secs_f64();
    let setting = setting_of(case, &resolved, &inputs, flow.mesh()?.forest.levels.len())?;
    let mut flow = Lattice {
        surface: inputs.surfaces.snapped,
        motions: bodies.as_ref().map(|bodies| {
            let parts = bodies.surface.bodies().iter();
            let names: Vec<&str> = parts.map(|of| of.name.as_str()).collect();
            Motions::new(&names, mesh.frame, resolved.units, resolved.forces_every)
        }),
        bodies,
        energy: Energy::of(&resolved),
        integrals: Integrals::new(&resolved, &mesh.patches),
        open: Vec::new(),
        looks: Vec::new(),
        faces: Vec::new(),
        openings: Openings::new(&resolved),
        finest: mesh.forest.levels.len() - 1,
        earliest: setting.earliest,
        sheet,
        laws,
        shares,
        set_up,
        end: None,
        resolved,
        flow,
    };
    cutlink_flow::run(&mut flow, setting, options, observer).map(Ended::Ran)
}

/// The mesh of a case whose bodies move: its blocks hold their paths. The first mesh tells the time step.
fn mesh_of_paths<const D: usize>(
    case: &Case,
    mesh: &Mesh<D>,
    placed: &Surface<D>,
    embedding: &EmbedParams,
) -> Result<Mesh<D>, Error>
where
    Facet<D>: Exact<D>,
{
    let first = laws::choose(case, &case.name(), CaseGrid::of(mesh), mesh, 0)?;
    let maker = Maker {
        frame: mesh.frame,
        physics: first.physics,
        units: first.units,
        placed,
        embedding,
    };
    let bodies = maker.bodies(&case.motion)?;
    motion::mesh_of_paths(&bodies, mesh.frame, first.until.most())
}

/// The bodies that move, if there are any, with outputs that they allow.
fn bodies_of<const D: usize>(
    inputs: &Inputs<'_, D>,
    resolved: &Resolved<D>,
) -> Result<Option<Arc<RigidBodies<D>>>, Error> {
    let Surfaces {
        placed: Some(placed),
        embedding: Some(embedding),
        ..
    } = inputs.surfaces
    else {
        return Ok(None);
    };
    if resolved.case.motion.is_empty() {
        return Ok(None);
    }
    motion::check_outputs(resolved)?;
    let maker = Maker {
        frame: inputs.mesh.frame,
        physics: resolved.physics,
        units: resolved.units,
        placed,
        embedding,
    };
    maker.bodies(&resolved.case.motion).map(Some)
}

/// What the run loop needs of a case; the mesh has so many levels at the start.
fn setting_of<const D: usize>(
    case: &Case,
    resolved: &Resolved<D>,
    inputs: &Inputs<'_, D>,
    levels: usize,
) -> Result<RunSetting<D>, Error> {
    let adaptation = resolved.params.adaptation.as_ref();
    Ok(RunSetting {
        file: case.file.clone(),
        folder: resolved.folder.clone(),
        until: resolved.until,
        earliest: patience::earliest(resolved),
        watch: resolved.case.run.watch != Some(false),
        accept: resolved.case.run.accept.clone(),
        checkpoint_every: resolved.checkpoint_every,
        checkpoint_at_end: resolved.checkpoint_at_end,
        report: resolved.report,
        specs: resolved.outputs.specs.clone(),
        averages: resolved.outputs.averages,
        units: resolved.outputs.units.clone(),
        step_name: "root step",
        history: history_of(resolved, &inputs.mesh.patches),
        has_forces: resolved.params.forces,
        looks: adaptation.map(|of| Looks::new(of, levels, resolved.units.time)),
        case: resolved.case.to_toml()?,
        fixed: fixed(&resolved.case).to_toml()?,
        mesh: inputs.mesh.checksum(),
        device_kind: kind_of(&inputs.device),
        device: inputs.device.clone(),
    })
}

/// How the flow is shared among each of these numbers of ranks, but for one rank.
fn shares_of<const D: usize>(
    plan: &Plan<'_, D>,
    ranks: &[usize],
    memory: Memory,
) -> Result<Vec<Shares>, Error> {
    let several = ranks.iter().filter(|&&ranks| ranks != 1);
    several
        .map(|&ranks| Shares::new(plan, ranks, memory))
        .collect()
}

/// Refuses numbers of ranks that are none of this run.
fn check_ranks(options: &RunOptions, only_plan: bool) -> Result<(), Error> {
    if options.world.is_some() || options.gpus > 1 || !options.ranks.is_empty() {
        LinkChoice::of_environment()?;
    }
    if options.ranks.len() > 1 && !only_plan {
        let message = "--ranks takes one number, and several with --dry-run alone";
        return Err(Error::input(message));
    }
    if options.gpus > 1 && options.ranks.iter().any(|&ranks| ranks != 1) {
        return Err(Error::input("--gpus and --ranks exclude each other")
            .hint("with --gpus each GPU is a rank: leave --ranks out"));
    }
    if options.gpus > 1 && options.world.is_some() {
        return Err(Error::input(
            "--gpus is for one process, and several were started, each of which takes a GPU",
        )
        .hint("leave --gpus out"));
    }
    match (&options.world, &options.ranks[..]) {
        (Some(world), [ranks]) if *ranks != world.size() => Err(Error::input(format!(
            "--ranks is {ranks}, and {} processes were started, each of which is a rank",
            world.size()
        ))
        .hint("leave --ranks out")),
        _ => Ok(()),
    }
}

/// The resolved case, with velocities scaled to the flux through the surfaces of its patches.
fn resolve<const D: usize>(case: &Case, inputs: &Inputs<'_, D>) -> Result<Resolved<D>, Error>
where
    Facet<D>: Exact<D>,
{
    let (mesh, surface) = (inputs.mesh, inputs.surfaces.placed);
    let name = case.name();
    let first = laws::without_bounds(case).resolve(&name, CaseGrid::of(mesh))?;
    let areas = match first.by_mass.is_empty() {
        true => Vec::new(),
        false => first.areas(&Plan::new(mesh, first.params.clone())?, surface),
    };
    let grid = CaseGrid {
        areas: &areas,
        ..CaseGrid::of(mesh)
    };
    let mut resolved = laws::choose(case, &name, grid, mesh, 0)?;
    if let Some(surface) = surface {
        let plan = Plan::new(mesh, resolved.params.clone())?;
        for (patch, factor) in resolved.deliver(&plan, surface) {
            let (name, share) = (&mesh.patches[patch], 100.0 / factor);
            resolved.notes.push(format!(
                "the links of patch {name} carry {share:.0} % of the flux through its surface; use more cells across it"
            ));
        }
    }
    turbulence::check(&resolved.case, mesh).map_err(|error| error.within(&name))?;
    resolved.params.forces = resolved.forces_every > 0 && !mesh.links.is_empty();
    let outputs = &resolved.outputs;
    fields::check(&outputs.specs, &outputs.units, mesh).map_err(|error| error.within(&name))?;
    Ok(resolved)
}

/// The kind of a device: `cuda` of `cuda:1`.
fn kind_of(device: &DeviceReport) -> String {
    device.name.split(':').next().unwrap_or_default().into()
}

/// The part of a resolved case that a resumed run cannot change: all except duration, folder, groups, field outputs, and
/// the options of `[mesh]` that do not change the mesh.
fn fixed(case: &Case) -> Case {
    Case {
        mesh: case.mesh.as_ref().map(MeshOptions::of_the_mesh_alone),
        run: RunTable::default(),
        groups: BTreeMap::new(),
        output: OutputTable {
            forces_every: case.output.forces_every,
            averages: case.output.averages,
            ..OutputTable::default()
        },
        ..case.clone()
    }
}

/// An empty history of forces by patch and group, with the factors that make them coefficients.
fn history_of<const D: usize>(resolved: &Resolved<D>, patches: &[String]) -> History<D> {
    let (physics, units) = (&resolved.physics, &resolved.units);
    let dimensions = i32::try_from(D).expect("two or three dimensions");
    let pressure = 0.5 * physics.density * physics.velocity.powi(2) * resolved.area;
    let mut history = History::of_patches(patches, &resolved.groups);
    history.every = resolved.forces_every.max(1);
    history.time = units.time;
    history.convective_time = physics.length / physics.velocity;
    history.scale = [
        units.force(dimensions) / pressure,
        units.torque(dimensions) / (pressure * physics.length),
    ];
    history.axes = resolved.axes;
    history
}
