//! The cost of a flow before its mesh is built: cells, memory, updates and time, for several numbers of levels and for a
//! y⁺ at the wall.
//!
//! - **Cells by level**: [`cutlink_voxelizer::forecast`].
//! - **Updates, memory of the flow**: a mesh of as many levels as have [`BUILD_BLOCKS`] blocks is built and planned. Its
//!   ratios of stepped blocks, blocks beside walls and bytes to leaves hold for the levels below; the last but one
//!   level's for finer levels that are not the finest, the finest level's for the finest. Bytes are those of the storage
//!   that each kind of memory has ([`CellStorage`](cutlink_solver::CellStorage)).
//! - **Time**: as in [`sheet`], by the speed of a plain box, which is measured.
//! - **Wall**: [`WallUnits`].

mod table;

use crate::solve::{
    case::{Case, DomainTable},
    laws,
    reference::with_free_stream,
    resolve::{self, CaseGrid, Resolved},
    sheet,
    units::Physics,
    wall_units::WallUnits,
};
use cutlink_amr::dims;
use cutlink_common::{
    Error,
    device::{DeviceOption, DeviceReport, Opened, on},
    pool,
};
use cutlink_device::{Backend, Memory, memory, select};
use cutlink_flow::Until;
use cutlink_mesher::{
    exact::{Exact, Facet},
    intersect::Meet,
};
use cutlink_meshing::{
    estimate::forecast_on_cpu,
    mesh::{
        build::{AnyPlaced, Builder, Placed, bare, embedded},
        domain, resolve as job,
    },
    options::Root,
};
use cutlink_solver::{LevelSheet, Plan, stability::Unstable};
use cutlink_voxelizer::{EmbedParams, Estimate, Frame, Mesh, check_levels, mesh_file};

/// Blocks of the mesh that is built for its ratios: a second.
const BUILD_BLOCKS: u64 = 60_000;
/// Root cells of a box that is planned as it is; larger ones are planned smaller.
const BUILD_CELLS: u64 = 2_000_000;

/// What to estimate.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct EstimateOptions {
    /// Reynolds number; overrides the viscosity of the case.
    pub re: Option<f64>,
    /// y⁺ that the cells at the wall shall have.
    pub y_plus: Option<f64>,
    /// Where the flow would run; overrides `[mesh] device` of the case.
    pub device: Option<DeviceOption>,
    /// Worker threads; 0 for one per core.
    pub threads: usize,
}

/// The cost of a flow.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FlowEstimate {
    /// As text.
    pub text: String,
    /// The same as the JSON object of `docs/json-schema.md`.
    pub json: serde_json::Value,
}

/// A mesh that could be had, and what its flow costs.
#[derive(Debug, Clone, PartialEq)]
struct Choice {
    levels: usize,
    /// Finest cells.
    dx: f64,
    /// Cells of leaves by level.
    cells: Vec<u64>,
    /// Root steps.
    steps: f64,
    /// Updates of cells in a root step, and those of plain blocks that take as long.
    updates: f64,
    weight: f64,
    /// On the CPU.
    cpu: f64,
    /// On a GPU: its memory, and the host's.
    gpu: [f64; 2],
    y_plus: f64,
}

/// What a y⁺ needs.
#[derive(Debug, Clone, PartialEq)]
struct Target {
    y_plus: f64,
    dx: f64,
    levels: Option<usize>,
    /// Root cells along the longest edge of a box without a body.
    root: Option<f64>,
    /// `None` where the lattice is too coarse for so many levels.
    choice: Option<Choice>,
}

/// All that was found out.
struct Found<'a> {
    name: String,
    dimensions: usize,
    physics: Physics,
    params: [String; 3],
    unstable: Option<Unstable>,
    at_most: bool,
    adapts: bool,
    wall: WallUnits,
    device: &'a DeviceReport,
    /// Where the flow would run, and its free bytes.
    memory: (Memory, u64),
    /// Updates per second of plain blocks.
    speed: f64,
    /// The level of the case in `choices`.
    given: usize,
    choices: Vec<Choice>,
    target: Option<Target>,
}

impl Case {
    /// Estimates what the flow of the case costs on this machine, without building its mesh. Takes a few seconds.
    ///
    /// # Errors
    /// An invalid case, a surface that cannot be read or placed, a y⁺ or Reynolds number that is not positive.
    pub fn estimate(&self, options: &EstimateOptions) -> Result<FlowEstimate, Error> {
        let mut case = self.clone();
        for (what, given) in [("--re", options.re), ("--y-plus", options.y_plus)] {
            if let Some(value) = given.filter(|value| !(value.is_finite() && *value > 0.0)) {
                return Err(Error::input(format!("{what} is {value}")).hint("it must be positive"));
            }
        }
        if let Some(re) = options.re {
            (case.physics.re, case.physics.viscosity) = (Some(re), None);
        }
        // Its limits are reported, and not an error; what is written does not matter.
        case.numerics.allow_unstable = Some(true);
        case.output.recirculation = None;
        let named = |error: Error| error.within(&self.name());
        let dimensions = case.dimensions_of_domain().map_err(named)?;
        let choice = options.device.or(case.mesh.as_ref().and_then(|m| m.device));
        let choice = choice.unwrap_or_default();
        let mut selected = select(choice.0)?;
        pool::install(options.threads, || {
            let opened = Opened::open(choice.0, &mut selected)?;
            let device = DeviceReport::new(&selected, &opened);
            let on = On {
                case: &case,
                options,
                opened: &opened,
                device: &device,
            };
            let found = match (dimensions, &case.domain) {
                (Some(2), Some(domain)) => on.of_box::<2>(domain),
                (Some(_), Some(domain)) => on.of_box::<3>(domain),
                _ => on.of_body(),
            };
            found.map_err(named)
        })
    }
}

/// A case, and where it would run.
struct On<'a> {
    case: &'a Case,
    options: &'a EstimateOptions,
    opened: &'a Opened,
    device: &'a DeviceReport,
}

impl On<'_> {
    fn of_body(&self) -> Result<FlowEstimate, Error> {
        let mut options = self.case.mesh.clone().unwrap_or_default();
        if let [path] = options.file.as_deref().unwrap_or_default()
            && mesh_file::read(path).is_ok()
        {
            return Err(Error::input(
                "the mesh of the case is a mesh file, which is there already",
            )
            .hint("cutlink solve --dry-run tells what its flow costs"));
        }
        if options.periodic.is_none() {
            options.periodic = Some(self.case.boundary.periodic());
        }
        let job = job::resolve(&options)?;
        let mut silent = ();
        let mut builder = Builder::new(&job, self.opened, &mut silent);
        match builder.place()? {
            AnyPlaced::D2(placed) => self.of_placed(&builder.params(&placed)?, &placed),
            AnyPlaced::D3(placed) => self.of_placed(&builder.params(&placed)?, &placed),
        }
    }

    fn of_placed<const D: usize>(
        &self,
        params: &EmbedParams,
        placed: &Placed<D>,
    ) -> Result<FlowEstimate, Error>
    where
        Facet<D>: Meet<D> + Exact<D>,
    {
        let (surface, frame) = (&placed.placed, placed.domain.frame);
        let given = params.levels;
        let physics = self.physics(&frame)?;
        let wall = WallUnits::of(&physics);
        let wanted = self
            .options
            .y_plus
            .map(|y_plus| levels_for(&frame, wall.cell(y_plus)));
        let fits = |&levels: &usize| check_levels(&frame, levels).is_ok();
        let most = wanted
            .into_iter()
            .chain([given + 1, given])
            .filter(fits)
            .max()
            .unwrap_or(given);
        let deep = deepened(params, most);
        let made = forecast_on_cpu(surface, frame, &deep, BUILD_BLOCKS)?;
        let made = made.with_input(placed.read.as_ref().map_or(0, |read| read.bytes));
        let built = (1..=most)
            .rev()
            .find(|&n| made.at(n).blocks <= BUILD_BLOCKS)
            .unwrap_or(1);
        let coarse = deepened(params, built).with_levels(built);
        let (mesh, _) = embedded(surface, frame, &coarse)?;
        let missing = given.saturating_sub(built);
        let resolved = laws::choose(self.case, "", CaseGrid::of(&mesh), &mesh, missing)?;
        let plan = Plan::new(&mesh, resolved.params.clone())?;
        let steps = steps(&resolved) as f64;
        let planned = self.planned(&plan);
        let choice = |levels: usize| {
            let estimate = made.at(levels);
            let mut choice = Choice::of::<D>(&estimate, &planned, steps);
            choice.y_plus = wall.y_plus(choice.dx);
            choice
        };
        let shown = given.saturating_sub(1).max(1)..=(given + 1).min(most);
        let target = wanted
            .zip(self.options.y_plus)
            .map(|(levels, y_plus)| Target {
                y_plus,
                dx: wall.cell(y_plus),
                levels: Some(levels),
                root: None,
                choice: fits(&levels).then(|| choice(levels)),
            });
        let choices: Vec<Choice> = shown.map(choice).collect();
        self.report(&resolved, &plan, given, choices, target)
    }

    /// A box without a body; a large one by a smaller one.
    fn of_box<const D: usize>(&self, domain: &DomainTable) -> Result<FlowEstimate, Error>
    where
        Facet<D>: Exact<D>,
    {
        let frame = domain::of_case::<D>(&domain.bounds, &domain.root)?.frame;
        let wall = WallUnits::of(&self.physics(&frame)?);
        let (mut root, mut factor) = (frame.root_cells, 1.0);
        let count = |root: &[u32; D]| root.iter().map(|&n| u64::from(n)).product::<u64>();
        while count(&root) > BUILD_CELLS && root.iter().all(|n| n % 8 == 0) {
            root = root.map(|n| n / 2);
            factor *= 2.0;
        }
        let mesh: Mesh<D> = bare(&domain.bounds, &Root::Cells(root.to_vec()))?;
        let grid = CaseGrid {
            frame: &frame,
            ..CaseGrid::of(&mesh)
        };
        let missing = f64::log2(factor).round() as usize;
        let resolved = laws::choose(self.case, "", grid, &mesh, missing)?;
        let plan = Plan::new(
            &mesh,
            resolved.case.resolve("", CaseGrid::of(&mesh))?.params,
        )?;
        let planned = self.planned(&plan)[0];
        let at = |factor: f64, dx: f64| {
            let mut choice =
                Choice::of_box::<D>(planned, factor, steps(&resolved) as f64 * frame.dx / dx);
            (choice.dx, choice.y_plus) = (dx, wall.y_plus(dx));
            choice
        };
        let given = at(factor, frame.dx);
        let target = self.options.y_plus.map(|y_plus| {
            let dx = wall.cell(y_plus);
            let longest = frame.root_cells.iter().max().copied().unwrap_or(0);
            Target {
                y_plus,
                dx,
                levels: None,
                root: Some((f64::from(longest) * frame.dx / dx).ceil()),
                choice: Some(at(factor * frame.dx / dx, dx)),
            }
        });
        self.report(&resolved, &plan, 1, vec![given], target)
    }

    /// The levels of a plan, with the work of their steps where the flow would be.
    fn planned<'p, const D: usize>(&self, plan: &'p Plan<'_, D>) -> Vec<Planned<'p>> {
        let (memory, _) = on!(self.opened, backend => available(backend));
        let levels = plan.levels.iter().zip(plan.level_work(memory));
        let on_device = plan.level_bytes(Memory::Device).into_iter();
        let planned = |((sheet, work), on_device)| Planned {
            sheet,
            work,
            on_device,
        };
        levels.zip(on_device).map(planned).collect()
    }

    fn physics<const D: usize>(&self, frame: &Frame<D>) -> Result<Physics, Error> {
        let case = with_free_stream::<D>(self.case)?;
        let grid = CaseGrid {
            frame,
            patches: &[],
            areas: &[],
        };
        Ok(resolve::physics(&case.physics, &grid)?.0)
    }

    fn report<const D: usize>(
        &self,
        resolved: &Resolved<D>,
        plan: &Plan<'_, D>,
        given: usize,
        choices: Vec<Choice>,
        target: Option<Target>,
    ) -> Result<FlowEstimate, Error>
    where
        Facet<D>: Exact<D>,
    {
        let (speed, memory) = on!(self.opened, backend => {
            let room = available(backend);
            (sheet::calibrate(backend, &plan.params, plan.cell_storage(room.0))?, room)
        });
        let found = Found {
            name: self.case.name(),
            dimensions: D,
            physics: resolved.physics,
            params: [
                resolved.params.lattice.to_string(),
                resolved.params.collision.to_string(),
                resolved.params.precision.to_string(),
            ],
            unstable: resolved.unstable,
            at_most: matches!(resolved.until, Until::Settled { .. }),
            adapts: self.case.adapt.is_some(),
            wall: WallUnits::of(&resolved.physics),
            device: self.device,
            memory,
            speed,
            given: choices.iter().position(|c| c.levels == given).unwrap_or(0),
            choices,
            target,
        };
        Ok(FlowEstimate {
            text: found.text(),
            json: found.to_json(),
        })
    }
}

/// Where a backend computes, and the free bytes there.
fn available<B: Backend>(backend: &B) -> (Memory, u64) {
    match B::MEMORY {
        Memory::Host => (Memory::Host, memory::available()),
        Memory::Device => (Memory::Device, backend.free_bytes()),
    }
}

fn steps<const D: usize>(resolved: &Resolved<D>) -> u64 {
    match resolved.until {
        Until::Steps(steps) => steps,
        Until::Settled { most, .. } => most,
    }
}

/// Levels whose finest cells are at most so large.
fn levels_for<const D: usize>(frame: &Frame<D>, dx: f64) -> usize {
    (1..)
        .find(|&n| frame.dx / 2f64.powi(n as i32 - 1) <= dx * (1.0 + 1e-12))
        .unwrap_or(1)
}

/// The parameters with more levels at the walls that have the most.
fn deepened(params: &EmbedParams, levels: usize) -> EmbedParams {
    let mut deep = params.clone();
    let finest = deep.walls.iter().map(|rule| rule.levels).max();
    for rule in &mut deep.walls {
        if Some(rule.levels) == finest {
            rule.levels = rule.levels.max(levels);
        }
    }
    deep.levels = levels.max(params.levels);
    deep
}

/// A level that was planned.
#[derive(Debug, Clone, Copy)]
struct Planned<'a> {
    sheet: &'a LevelSheet,
    /// Of a step of it.
    work: u64,
    /// Its bytes on a GPU.
    on_device: u64,
}

impl Choice {
    fn of<const D: usize>(estimate: &Estimate, planned: &[Planned<'_>], steps: f64) -> Self {
        let cells = dims::cells(D) as f64;
        let n = estimate.levels.len();
        let (last, mut choice) = (planned.len() - 1, Self::empty(n, steps));
        let (mut flow, mut on_device, mut largest) = (0.0, 0.0, 0.0f64);
        for of in &estimate.levels {
            let Planned {
                sheet: like,
                work,
                on_device: bytes,
            } = match of.level {
                // The finest one has no finer neighbours.
                level if level + 1 == n => planned[last],
                level => planned[level.min(last.saturating_sub(1))],
            };
            // Without leaves there is nothing to step.
            let leaves = like.cells as f64 / cells;
            let share = if leaves > 0.0 {
                of.leaf_blocks as f64 / leaves
            } else {
                0.0
            };
            let blocks = share * like.blocks as f64;
            let times = 2f64.powi(of.level as i32);
            choice.updates += of.leaf_blocks as f64 * cells * times;
            choice.weight += share * work as f64 * times;
            flow += share * like.bytes as f64;
            on_device += share * bytes as f64;
            largest = largest.max(blocks);
            choice.cells.push(of.cells);
            choice.dx = of.dx;
        }
        let moments = (4 * (1 + D)) as f64 * cells;
        let output = estimate.blocks as f64 * moments;
        choice.cpu = (estimate.bytes_file as f64 + flow + output).max(estimate.bytes_peak as f64);
        choice.gpu = [
            (on_device + largest * moments).max(estimate.bytes_device as f64),
            (estimate.bytes_file as f64 + output).max(estimate.bytes_beside as f64),
        ];
        choice
    }

    /// A box whose edges have `factor` times as many cells as that of a sheet.
    fn of_box<const D: usize>(planned: Planned<'_>, factor: f64, steps: f64) -> Self {
        let Planned { sheet, work, .. } = planned;
        let volume = factor.powi(D as i32);
        let cells = dims::cells(D) as f64;
        let blocks = sheet.blocks as f64 * volume;
        // What blocks at the faces cost more.
        let faces = (work as f64 - sheet.blocks as f64 * cells) * factor.powi(D as i32 - 1);
        let [flow, on_device] = [sheet.bytes, planned.on_device].map(|of| of as f64 * volume);
        let moments = (4 * (1 + D)) as f64 * cells;
        Self {
            cells: vec![(sheet.cells as f64 * volume) as u64],
            updates: sheet.cells as f64 * volume,
            weight: blocks * cells + faces,
            cpu: flow + blocks * moments,
            gpu: [on_device + blocks * moments, blocks * moments],
            ..Self::empty(1, steps)
        }
    }

    fn empty(levels: usize, steps: f64) -> Self {
        Self {
            levels,
            dx: 0.0,
            cells: Vec::new(),
            steps,
            updates: 0.0,
            weight: 0.0,
            cpu: 0.0,
            gpu: [0.0; 2],
            y_plus: 0.0,
        }
    }

    fn all_cells(&self) -> u64 {
        self.cells.iter().sum()
    }

    fn seconds(&self, speed: f64) -> f64 {
        self.steps * self.weight / speed
    }
}
