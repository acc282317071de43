//! From a mesh to the run: the plan and its forecast, the flow, and what the run loop needs of the case.

use super::{
    Lattice, budget,
    forecast::{Forecast, OfAverages},
    initial_state,
    pilot::{self, OpenLaws, Pilot, PilotChange, PilotTerms},
    spheres::{self, LatticeSpheres},
};
use crate::solve::outcome::Outcome;
use crate::solve::verdict::{openings::Openings, patience};
use crate::solve::{
    case::Case,
    earlier::Earlier,
    energy::Energy,
    heat::lattice::RunningHeat,
    integrals::Integrals,
    laws::{self, Laws},
    motion::{self, Maker, Motions},
    resolve::{CaseGrid, Resolved, refused},
    shares::{Shares, processes},
    turbulence,
};
use cutlink_common::{Error, Observer, Running, device::DeviceReport};
use cutlink_flow::{
    RunOptions, RunSetting, fields,
    history::History,
    is_tried,
    looks::Looks,
    tables::{OutputTable, RunTable},
    verdict::check_accepted,
};
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    snap::Snapped,
};
use cutlink_meshing::options::MeshOptions;
use cutlink_solver::{LatticeFlow, Place, Plan, RigidBodies, kernels::FlowKernels};
use cutlink_voxelizer::{EmbedParams, Mesh};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::{path::Path, sync::Arc, time::Instant};

/// The surface of the body, if there is one and it is needed: on the integer lattice, and as placed.
#[derive(Clone, Copy)]
pub(super) struct Surfaces<'a, const D: usize> {
    pub(super) snapped: Option<&'a Snapped<D>>,
    pub(super) placed: Option<&'a Surface<D>>,
    /// How it was embedded.
    pub(super) embedding: Option<&'a EmbedParams>,
}

impl<const D: usize> Surfaces<'_, D> {
    pub(super) const NONE: Self = Self {
        snapped: None,
        placed: None,
        embedding: None,
    };
}

/// The inputs of a run besides its case.
pub(super) struct Inputs<'a, const D: usize> {
    pub(super) mesh: &'a Mesh<D>,
    pub(super) surfaces: Surfaces<'a, D>,
    /// Reads the flow of another run.
    pub(super) load: &'a dyn Fn(&Path) -> Result<Earlier<'static, D>, Error>,
    pub(super) options: &'a RunOptions,
    pub(super) only_plan: bool,
    pub(super) device: DeviceReport,
    pub(super) set_up: SetUp,
}

/// Seconds before the first step, as `summary.json` has them.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct SetUp {
    /// Opening the device.
    pub(super) open: f64,
    /// From the surface to the mesh.
    pub(super) mesh: f64,
    /// Tables, checks, and the forecast.
    pub(super) plan: f64,
    /// Allocation, upload, and the initial state.
    pub(super) flow: f64,
}

/// What a flow begins with, besides the inputs of its run.
struct Begun<'a, const D: usize> {
    /// The case, with the numerics that a pilot has chosen.
    case: Case,
    changes: Vec<PilotChange>,
    /// The laws of the case as given, if it may have a pilot.
    open: Option<OpenLaws>,
    /// A plan on the mesh whose tables serve the flow.
    plan: Option<Plan<'a, D>>,
    /// The state that the pilot has ended with.
    state: Option<Earlier<'a, D>>,
    /// A request to stop between two flows waits for the second one, which ends with a checkpoint.
    running: Option<Running<'a>>,
}

/// How a flow ended.
enum Pass<'a, const D: usize> {
    Ended(Outcome),
    /// Its pilot has found another time step.
    HandedOver(Box<Begun<'a, D>>),
}

/// Takes a case through its run: one flow, or several if the pilot changes the time step.
pub(super) fn solve<const D: usize, B: FlowKernels<D>>(
    case: &Case,
    inputs: Inputs<'_, D>,
    backend: &B,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error>
where
    Facet<D>: Exact<D>,
{
    check_accepted(&case.run.accept).map_err(|error| error.within(&case.name()))?;
    // Of the run that the files so far are of.
    let later = RunOptions {
        replace: true,
        resume: false,
        ..inputs.options.clone()
    };
    let mut inputs: Inputs<'_, D> = inputs;
    // On any number of ranks, though the pilot itself has one.
    let may_resume = inputs.options.resume && !laws::Given::of(case).lattice_velocity;
    let resumed = may_resume.then(|| pilot::resumed(case)).flatten();
    let (of_case, changes) = resumed.unwrap_or_else(|| (case.clone(), Vec::new()));
    let mut plan = None;
    let mut begun = Begun {
        case: of_case,
        changes,
        open: open_laws(case, &inputs, &mut plan)?,
        plan,
        state: None,
        running: None,
    };
    loop {
        begun = match pass(case, begun, &inputs, backend, observer)? {
            Pass::Ended(outcome) => return Ok(outcome),
            Pass::HandedOver(next) => *next,
        };
        if let Some(change) = begun.changes.last() {
            observer.note(&change.note());
        }
        inputs.options = &later;
    }
}

/// Takes a flow through its part of the run: the plan, its forecast, the flow, the loop.
fn pass<'a, const D: usize, B: FlowKernels<D>>(
    original: &Case,
    begun: Begun<'a, D>,
    inputs: &Inputs<'a, D>,
    backend: &B,
    observer: &mut dyn Observer,
) -> Result<Pass<'a, D>, Error>
where
    Facet<D>: Exact<D>,
{
    let (options, mesh, case) = (inputs.options, inputs.mesh, &begun.case);
    let name = case.name();
    let named = |error: Error| error.within(&name);
    let (mut set_up, planning) = (inputs.set_up, Instant::now());
    let (resolved, plan, bodies) = plan_of(case, inputs, begun.plan)?;
    let mut laws = Laws::of(&resolved, mesh);
    let (mut plan, spheres, of_spheres) =
        with_spheres(plan, (case, inputs), &resolved, &mut laws).map_err(named)?;
    check_bounds(&plan, &resolved, &laws).map_err(named)?;
    if let Some(world) = options.world.as_ref().filter(|world| world.rank() != 0) {
        plan.start_linked(backend, processes(world))?;
        return Ok(Pass::Ended(Outcome::Served));
    }
    let mut setting = setting_of(case, &resolved, inputs, pilot::counted(&begun.changes))?;
    let of_pilot = terms_of(case, (&resolved, &laws), options, setting.earliest);
    let pilot = Pilot::new(
        begun.changes,
        begun.open.clone(),
        of_pilot,
        resolved.is_unsteady,
    );
    let ranks = ranks_of(options);
    let mut forecast = Forecast::new(&plan, &resolved, options, &ranks, B::MEMORY)?;
    forecast.pilot = pilot.at();
    forecast.spheres = of_spheres;
    let is_tried = forecast.shares.is_empty() && is_tried(forecast.sheet.flow);
    let mut planned = None;
    if begun.state.is_none() {
        let of = (&plan, &resolved, &laws);
        planned = forecast.tell(backend, of, inputs, is_tried, observer)?;
    }
    let planned = match planned {
        Some(planned) if !is_tried => return Ok(Pass::Ended(Outcome::Planned(planned))),
        planned => planned,
    };
    forecast.sheet.check_memory(backend)?;
    let free = backend.free_bytes();
    limit_cells(case, &resolved, &mut plan, forecast.averages, free).map_err(named)?;
    let earlier = match begun.state {
        Some(state) => Some(state),
        None => earlier_of(&resolved, inputs).map_err(named)?,
    };
    set_up.plan = planning.elapsed().as_secs_f64();
    let starting = Instant::now();
    let mut flow = start(plan, backend, options, &ranks)?;
    let mut shares = forecast.shares.pop();
    note_messages(&*flow, shares.as_mut(), observer);
    flow.sample_forces_every(resolved.forces_every);
    initial_state::set(&mut *flow, &resolved, &mesh.frame, earlier, observer).map_err(named)?;
    flow.set_steps(pilot.begun())?;
    flow.wait()?;
    set_up.flow = starting.elapsed().as_secs_f64();
    setting.looks = looks_of(&*flow, &resolved, bodies.as_deref())?;
    let mut flow = Lattice {
        surface: inputs.surfaces.snapped,
        motions: bodies.as_ref().map(|of| motions_of(of, mesh, &resolved)),
        bodies,
        energy: Energy::of(&resolved),
        heat: RunningHeat::new(&resolved, &*flow)?,
        spheres,
        integrals: Integrals::new(&resolved, &mesh.patches),
        open: Vec::new(),
        looks: Vec::new(),
        faces: Vec::new(),
        openings: Openings::new(&resolved),
        finest: mesh.forest.levels.len() - 1,
        earliest: setting.earliest,
        sheet: forecast.sheet,
        laws,
        shares,
        set_up,
        pilot,
        end: None,
        resolved,
        flow,
    };
    if let Some(planned) = planned {
        let tried = planned.tried(&mut flow, setting, options, observer)?;
        return Ok(Pass::Ended(Outcome::Planned(tried)));
    }
    drop(begun.running);
    match cutlink_flow::run_or_hand_over(&mut flow, setting, options, observer)? {
        Some(summary) => Ok(Pass::Ended(Outcome::Ran(summary))),
        None => {
            let running = options.stop.running();
            handed_over(flow, original, mesh, (begun.open, running))
                .map(|next| Pass::HandedOver(Box::new(next)))
        }
    }
}

/// What a pilot has to know of the run.
fn terms_of<const D: usize>(
    case: &Case,
    (resolved, laws): (&Resolved<D>, &Laws),
    options: &RunOptions,
    earliest: u64,
) -> PilotTerms {
    PilotTerms {
        earliest,
        expected: laws.expected_compression(),
        most: options.steps.unwrap_or(resolved.until.most()),
        is_in_time: options.steps.is_none() && pilot::is_in_time(case),
        has_ramp: patience::ramps(&resolved.case).any(|ramp| ramp > 0.0),
    }
}

/// The resolved case, its plan, and its bodies that move.
fn plan_of<'a, const D: usize>(
    case: &Case,
    inputs: &Inputs<'a, D>,
    plan: Option<Plan<'a, D>>,
) -> Result<(Resolved<D>, Plan<'a, D>, Option<Arc<RigidBodies<D>>>), Error>
where
    Facet<D>: Exact<D>,
{
    let (resolved, plan) = resolve(case, inputs, plan)?;
    let bodies = bodies_of(inputs, &resolved).map_err(|error| error.within(&case.name()))?;
    let plan = match &bodies {
        Some(bodies) => plan.with_bodies(bodies.clone())?,
        None => plan,
    };
    Ok((resolved, plan, bodies))
}

/// A plan, what its run has of spheres, and their forecast.
type WithSpheres<'a, const D: usize> =
    (Plan<'a, D>, Option<LatticeSpheres>, Option<(Value, String)>);

/// The plan with the spheres of the case, if there are any.
fn with_spheres<'a, const D: usize>(
    plan: Plan<'a, D>,
    (case, inputs): (&Case, &Inputs<'_, D>),
    resolved: &Resolved<D>,
    laws: &mut Laws,
) -> Result<WithSpheres<'a, D>, Error> {
    let Some(spheres) = spheres::of_case(case, inputs, resolved)? else {
        return Ok((plan, None, None));
    };
    let fine = f64::from(1u32 << (inputs.mesh.forest.levels.len() - 1));
    laws.take_spheres(spheres.diameter(), spheres.share());
    let told = spheres.forecast(resolved.units.length / fine, resolved.units.time / fine);
    let (grains, running) = spheres.split(resolved.integrals_every);
    Ok((plan.with_grains(grains)?, Some(running), Some(told)))
}

/// The laws of the case before its numerics are chosen, if it may have a pilot.
fn open_laws<'a, const D: usize>(
    case: &Case,
    inputs: &Inputs<'a, D>,
    plan: &mut Option<Plan<'a, D>>,
) -> Result<Option<OpenLaws>, Error>
where
    Facet<D>: Exact<D>,
{
    if !pilot::may_have(case, inputs.options) {
        return Ok(None);
    }
    let (mesh, name) = (inputs.mesh, case.name());
    let areas = areas_of(case, inputs, plan)?;
    let grid = CaseGrid {
        areas: &areas,
        ..CaseGrid::of(mesh)
    };
    let laws = laws::first(case, &name, grid, mesh)?;
    let given = laws::Given::of(case);
    Ok(Some(OpenLaws { laws, given }))
}

/// What goes on from a flow that hands over.
fn handed_over<'a, const D: usize>(
    flow: Lattice<'a, D>,
    case: &Case,
    mesh: &'a Mesh<D>,
    (open, running): (Option<OpenLaws>, Running<'a>),
) -> Result<Begun<'a, D>, Error> {
    let (next, open) = flow.pilot.next().zip(open).ok_or_else(|| {
        // No flow without both hands over.
        Error::input("a flow without a pilot has handed over")
    })?;
    let has_links = !mesh.links.is_empty();
    Ok(Begun {
        case: pilot::changed(case, &open, &next, &flow.resolved.case, has_links),
        open: Some(open),
        plan: None,
        state: Some(Earlier::now(&*flow.flow, mesh, flow.resolved.units)?),
        changes: flow.pilot.changes,
        running: Some(running),
    })
}

/// The flow of another run that the initial state is from, unless a checkpoint takes its place.
fn earlier_of<const D: usize>(
    resolved: &Resolved<D>,
    inputs: &Inputs<'_, D>,
) -> Result<Option<Earlier<'static, D>>, Error> {
    let initial = resolved.case.initial.as_ref();
    let from = initial.and_then(|table| table.from.as_deref());
    let from = from.filter(|_| !inputs.options.resume);
    from.map(inputs.load).transpose()
}

/// A note where messages between ranks are slow.
fn note_messages<const D: usize>(
    flow: &dyn LatticeFlow<D>,
    shares: Option<&mut Shares>,
    observer: &mut dyn Observer,
) {
    if let Some(why) = shares.and_then(|of| of.take_messages(flow.messages())) {
        observer.note(&format!(
            "messages between ranks pass through host memory, which is slow: {why}"
        ));
    }
}

/// `motion.csv` of bodies that move.
fn motions_of<const D: usize>(
    bodies: &RigidBodies<D>,
    mesh: &Mesh<D>,
    resolved: &Resolved<D>,
) -> Motions<D> {
    let parts = bodies.surface.bodies().iter();
    let names: Vec<&str> = parts.map(|of| of.name.as_str()).collect();
    Motions::new(&names, mesh.frame, resolved.units, resolved.forces_every)
}

/// Refuses a flow beyond what its scheme is right and stable for, unless the user allows it.
fn check_bounds<const D: usize>(
    plan: &Plan<'_, D>,
    resolved: &Resolved<D>,
    laws: &Laws,
) -> Result<(), Error> {
    let is_allowed = resolved.allows_unstable();
    laws.check(is_allowed)?;
    match plan.at_moving_walls().filter(|_| !is_allowed) {
        None => Ok(()),
        Some(why) => Err(refused(why)),
    }
}

/// Numbers of ranks: one of a run, several of a forecast.
fn ranks_of(options: &RunOptions) -> Vec<usize> {
    match &options.world {
        Some(world) => vec![world.size()],
        None if options.gpus > 1 => vec![options.gpus],
        None => options.ranks.clone(),
    }
}

/// The most cells of a mesh that follows the flow: as given, or as many as fit into so many free bytes.
fn limit_cells<const D: usize>(
    case: &Case,
    resolved: &Resolved<D>,
    plan: &mut Plan<'_, D>,
    averages: OfAverages,
    free: u64,
) -> Result<(), Error> {
    let least = plan.levels.iter().map(|level| level.cells).sum();
    if let Some(adaptation) = &mut plan.params.adaptation {
        let given = case.adapt.as_ref().and_then(|a| a.max_cells);
        let room = budget::room_for_cells::<D>(free, &resolved.params, averages.0);
        adaptation.max_cells = budget::budget(given, least, room)?;
    }
    Ok(())
}

/// The flow, on its ranks.
fn start<'a, const D: usize, B: FlowKernels<D>>(
    plan: Plan<'a, D>,
    backend: &B,
    options: &RunOptions,
    ranks: &[usize],
) -> Result<Box<dyn LatticeFlow<D> + 'a>, Error> {
    if let Some(world) = &options.world {
        let flow = plan.start_linked(backend, processes(world))?;
        return flow.ok_or_else(|| Error::input("the first process has no flow"));
    }
    let ranks = ranks.first().copied().unwrap_or(1);
    let of_rank = |rank: usize| match options.gpus > 1 {
        true => backend.nth_after(rank as u32),
        false => Ok(backend.clone()),
    };
    let backends = (0..ranks).map(of_rank).collect::<Result<Vec<_>, _>>()?;
    Ok(plan.start_ranks(&backends)?)
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
    let steps = resolved.until.most();
    maker.bodies(&resolved.case.motion, steps).map(Some)
}

/// How a mesh follows the flow, if it does.
fn looks_of<const D: usize>(
    flow: &dyn LatticeFlow<D>,
    resolved: &Resolved<D>,
    bodies: Option<&RigidBodies<D>>,
) -> Result<Option<Looks>, Error> {
    let (levels, time) = (flow.mesh()?.forest.levels.len(), resolved.units.time);
    let adaptation = resolved.params.adaptation.as_ref();
    Ok(match bodies.is_some_and(RigidBodies::is_followed) {
        true => Some(Looks::of_levels::<D>(levels, time)),
        false => adaptation.map(|of| Looks::new(of, levels, time)),
    })
}

/// What the run loop needs of a case, whose flow begins at a root step.
fn setting_of<const D: usize>(
    case: &Case,
    resolved: &Resolved<D>,
    inputs: &Inputs<'_, D>,
    begun: u64,
) -> Result<RunSetting<D>, Error> {
    Ok(RunSetting {
        file: case.file.clone(),
        folder: resolved.folder.clone(),
        until: resolved.until,
        earliest: patience::earliest(resolved, begun),
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
        looks: None,
        case: resolved.case.to_toml()?,
        fixed: fixed(&resolved.case).to_toml()?,
        mesh: inputs.mesh.checksum(),
        device_kind: kind_of(&inputs.device),
        device: inputs.device.clone(),
    })
}

/// The resolved case, with velocities scaled to the flux through the surfaces of its patches, and its plan without bodies that move.
fn resolve<'a, const D: usize>(
    case: &Case,
    inputs: &Inputs<'a, D>,
    mut plan: Option<Plan<'a, D>>,
) -> Result<(Resolved<D>, Plan<'a, D>), Error>
where
    Facet<D>: Exact<D>,
{
    let (mesh, surface) = (inputs.mesh, inputs.surfaces.placed);
    let name = case.name();
    let areas = areas_of(case, inputs, &mut plan)?;
    let grid = CaseGrid {
        areas: &areas,
        ..CaseGrid::of(mesh)
    };
    let mut resolved = laws::choose(case, &name, grid, mesh, 0)?;
    if let Some(surface) = surface {
        let of_links = planned(plan, mesh, &resolved)?;
        let unresolved = resolved.deliver(&of_links, surface);
        plan = Some(of_links);
        for (patch, factor) in unresolved {
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
    let plan = planned(plan, mesh, &resolved)?;
    Ok((resolved, plan))
}

/// The plan of a resolved case, with the tables of one before, if there is any.
fn planned<'a, const D: usize>(
    plan: Option<Plan<'a, D>>,
    mesh: &'a Mesh<D>,
    resolved: &Resolved<D>,
) -> Result<Plan<'a, D>, Error> {
    let params = resolved.params.clone();
    Ok(match plan {
        Some(plan) => plan.with_params(params)?,
        None => Plan::new(mesh, params)?,
    })
}

/// The areas of the mass-flow boundaries of a case, by a plan that is left for what follows.
fn areas_of<'a, const D: usize>(
    case: &Case,
    inputs: &Inputs<'a, D>,
    plan: &mut Option<Plan<'a, D>>,
) -> Result<Vec<(Place, f64)>, Error>
where
    Facet<D>: Exact<D>,
{
    let (mesh, surface) = (inputs.mesh, inputs.surfaces.placed);
    let first = laws::without_bounds(case).resolve(&case.name(), CaseGrid::of(mesh))?;
    if first.by_mass.is_empty() {
        return Ok(Vec::new());
    }
    let of_links = planned(plan.take(), mesh, &first)?;
    let areas = first.areas(&of_links, surface);
    *plan = Some(of_links);
    Ok(areas)
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
