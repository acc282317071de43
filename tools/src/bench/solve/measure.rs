//! One case: its mesh, then each flow on it, alternating steps and copies.

use super::{
    Flows,
    cases::{Case, Kind},
    check::{params, vortex},
    report::{FlowCaseReport, FlowLevelReport, LapReport},
    seconds_of,
};
use crate::bench::WARM_UP;
use crate::bench::measure::Copier;
use crate::bench::report::{Copy, Spread};
use crate::cli::BenchSolveArgs;
use crate::console::Console;
use cutlink::device::Opened;
use cutlink::inspect::unreadable;
use cutlink::mesh::build::{AnyPlaced, Builder, bare};
use cutlink::mesh::resolve;
use cutlink::options::{MeshOptions, Numbers, Root};
use cutlink::{Error, Observer as _};
use cutlink_device::Route;
use cutlink_mesher::exact::{Exact, Facet};
use cutlink_solver::{
    FaceCondition, InitialState, LatticeFlow, Params, Plan, Work, kernels::FlowKernels,
};
use cutlink_voxelizer::{AnyMesh, Mesh, mesh_file};
use std::time::Instant;

/// Minimum duration of a measured run in seconds, unless --steps is given.
const RUN: f64 = 0.1;
/// Root cells across the sphere.
pub(super) const ACROSS: f64 = 4.0;

/// What all cases of a bench share.
pub(super) struct Bench<'a, K: Flows> {
    kernels: &'a K,
    args: &'a BenchSolveArgs,
    runs: u32,
    copier: Copier<K>,
    console: Console,
}

impl<'a, K: Flows> Bench<'a, K> {
    pub(super) fn new(
        kernels: &'a K,
        args: &'a BenchSolveArgs,
        runs: u32,
        console: Console,
    ) -> Result<Self, Error> {
        let copier = Copier::new(kernels)?;
        Ok(Self {
            kernels,
            args,
            runs,
            copier,
            console,
        })
    }

    /// The copy bandwidth before the first case.
    pub(super) fn copy(&mut self, runs: u32) -> Result<Copy, Error> {
        Ok(self.copier.measure(runs)?)
    }

    /// Measures a case: all flows on its mesh.
    pub(super) fn case(
        &mut self,
        case: &Case,
        opened: &Opened,
    ) -> Result<Vec<FlowCaseReport>, Error> {
        match case {
            Case::Box { edges, kinds } => match edges[..] {
                [x, y] => self.uniform([x, y], kinds),
                [x, y, z] => self.uniform([x, y, z], kinds),
                _ => Err(Error::input("a box has two or three edges")),
            },
            Case::Sphere {
                root,
                levels,
                kinds,
            } => {
                let mesh = sphere(*root, *levels, opened)?;
                self.past("sphere", &mesh, kinds)
            }
            Case::File { path, kinds } => match mesh_file::read(path).map_err(unreadable)?.0 {
                AnyMesh::D3(mesh) => self.past("mesh", &mesh, kinds),
                AnyMesh::D2(_) => Err(Error::input(format!("{} is 2D", path.display()))
                    .hint("--mesh takes a mesh of a body in 3D")),
            },
        }
    }

    /// Flows past the body of a mesh.
    fn past(
        &mut self,
        name: &'static str,
        mesh: &Mesh<3>,
        kinds: &[Kind],
    ) -> Result<Vec<FlowCaseReport>, Error> {
        let inflow = |_| (1.0, [0.05, 0.0, 0.0]);
        let run = |kind: &Kind| self.flow(name, mesh, tunnel(mesh, *kind), &inflow);
        kinds.iter().map(run).collect()
    }

    fn uniform<const D: usize>(
        &mut self,
        edges: [u32; D],
        kinds: &[Kind],
    ) -> Result<Vec<FlowCaseReport>, Error>
    where
        K: FlowKernels<D>,
        Facet<D>: Exact<D>,
    {
        let bounds = [[0.0; D], edges.map(f64::from)].concat();
        let mesh = bare::<D>(&bounds, &Root::Cells(edges.to_vec()))?;
        let edge = f64::from(edges.into_iter().min().unwrap_or(0));
        let run = |kind: &Kind| {
            let params = params(*kind, 0.02, mesh.patches.len());
            self.flow("box", &mesh, params, &|at| vortex(edge, at))
        };
        kinds.iter().map(run).collect()
    }

    /// Devices that share each flow.
    fn ranks(&self) -> usize {
        self.args.gpus.map_or(1, usize::from)
    }

    /// Seconds of so many root steps: by the device's clock, of several devices by the host's.
    fn seconds<const D: usize>(
        &self,
        flow: &mut dyn LatticeFlow<D>,
        steps: u64,
    ) -> Result<f64, Error> {
        if self.ranks() == 1 {
            return seconds_of(self.kernels, || Ok(flow.advance(steps)?));
        }
        flow.wait()?;
        let began = Instant::now();
        flow.advance(steps)?;
        flow.wait()?;
        Ok(began.elapsed().as_secs_f64())
    }

    fn flow<const D: usize>(
        &mut self,
        name: &'static str,
        mesh: &Mesh<D>,
        params: Params<D>,
        start: &InitialState<'_, D>,
    ) -> Result<FlowCaseReport, Error>
    where
        K: FlowKernels<D>,
    {
        let mut plan = Plan::new(mesh, params.clone())?;
        if self.args.populations {
            plan = plan.with_populations();
        }
        let (updates, sheets) = (plan.updates(), plan.levels.clone());
        let storage = plan.cell_storage(K::MEMORY);
        let level_bytes = plan.level_bytes(K::MEMORY);
        let shares = match self.ranks() {
            1 => Vec::new(),
            ranks => plan.ranks(ranks, K::MEMORY)?,
        };
        let backends = (0..self.ranks()).map(|rank| self.kernels.nth_after(rank as u32));
        let backends = backends.collect::<Result<Vec<_>, _>>()?;
        let mut flow = plan.start_ranks(&backends)?;
        flow.set(start)?;
        // Of several GPUs two steps, since both parities of buffers are recorded.
        flow.advance(2)?;
        let one = self.seconds(&mut *flow, 1)?;
        let steps = match self.args.steps {
            Some(steps) => steps,
            None => ((RUN / one).ceil() as u64).clamp(1, 10_000),
        };
        self.console.begin(u64::from(WARM_UP + self.runs));
        let status = format!("{name} {} {}", params.lattice, params.precision);
        self.console.advance(0, &status);
        let (mut times, mut copies, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for run in 0..WARM_UP + self.runs {
            let copied = self.copier.once()?;
            let stepped = self.seconds(&mut *flow, steps)? / steps as f64;
            if run >= WARM_UP {
                times.push(stepped);
                copies.push(copied);
                ratios.push(copied / stepped);
            }
            self.console.advance(1, &status);
        }
        flow.check()?;
        flow.take_forces()?;
        let laps = laps(&mut *flow, steps)?;
        self.console.end();
        let moved = params.update_bytes(storage);
        let ms = Spread::of(times);
        let rate = |ms: f64| updates as f64 / (1e-3 * ms);
        let copied = self.copier.bytes() as f64;
        // From alternating copies and steps; a ratio has no unit, so the factor 1000 of `Spread` is removed.
        let of_copy = 1e-3 * Spread::of(ratios).median * (updates * moved) as f64
            / (copied * self.ranks() as f64);
        let cells: u64 = sheets.iter().map(|l| l.cells).sum();
        let bytes: u64 = level_bytes.iter().sum();
        Ok(FlowCaseReport {
            name,
            lattice: params.lattice.to_string(),
            precision: params.precision.to_string(),
            storage: storage.name(),
            collision: params.collision.to_string(),
            les: params.les.to_string(),
            root_cells: mesh.frame.root_cells.to_vec(),
            cells,
            ranks: self.ranks(),
            messages: flow.messages().map(|route| match route {
                Route::Direct(name) => name,
                Route::Host(_) => "host memory".into(),
            }),
            received: shares.iter().map(|rank| rank.received).max(),
            updates,
            steps,
            bytes,
            bytes_per_cell: bytes as f64 / cells as f64,
            bytes_per_update: moved,
            ms,
            mlups: 1e-6 * rate(ms.median),
            mlups_best: 1e-6 * rate(ms.min),
            bytes_per_second: rate(ms.median) * moved as f64,
            copy_bytes_per_second: copied / (1e-3 * Spread::of(copies).median),
            of_copy,
            levels: (sheets.iter().zip(level_bytes))
                .map(|(sheet, bytes)| FlowLevelReport::new(sheet, bytes))
                .collect(),
            laps,
        })
    }
}

/// The time of each kind of work in a root step, by level.
pub(super) fn laps<const D: usize>(
    flow: &mut dyn LatticeFlow<D>,
    steps: u64,
) -> Result<Vec<LapReport>, Error> {
    let laps = flow.laps(steps)?;
    let all: f64 = laps.iter().map(|lap| lap.seconds).sum();
    let mut laps: Vec<LapReport> = laps
        .into_iter()
        .map(|lap| LapReport {
            work: match lap.work {
                Work::Step => "step",
                Work::Interpolate => "interpolate",
                Work::Average => "average",
                Work::Forces => "forces",
                Work::Exchange => "exchange",
                Work::Embed => "embed",
                Work::Tables => "tables",
                Work::Refill => "refill",
                Work::Grains => "grains",
            },
            level: lap.level,
            ms: 1e3 * lap.seconds / steps as f64,
            mean_ms: 1e3 * lap.mean / steps as f64,
            share: lap.seconds / all,
        })
        .collect();
    laps.sort_by_key(|lap| (lap.level, lap.work));
    Ok(laps)
}

/// A sphere in the middle of a cube.
fn sphere(root: u32, levels: usize, opened: &Opened) -> Result<Mesh<3>, Error> {
    let edge = f64::from(root);
    let options = MeshOptions {
        shape: Some(format!("sphere:r={}", 0.5 * ACROSS)),
        translate: Some(Numbers::Many(vec![0.5 * edge; 3])),
        domain: Some(Numbers::Many([[0.0; 3], [edge; 3]].concat())),
        root: Some(Root::Longest(root)),
        levels: Some(levels),
        wall_distance: Some(0.25 * ACROSS),
        ..MeshOptions::default()
    };
    let job = resolve::resolve(&options)?;
    let mut silent = ();
    let mut builder = Builder::new(&job, opened, &mut silent);
    let AnyPlaced::D3(placed) = builder.place()? else {
        return Err(Error::input("a sphere must be 3D"));
    };
    let prepared = builder.prepare(placed)?;
    builder.build(&prepared)
}

/// Flow past a body, at Re 100 of [`ACROSS`] root cells: interpolated bounce-back, forces in each root step.
pub(super) fn tunnel(mesh: &Mesh<3>, kind: Kind) -> Params<3> {
    let inflow = FaceCondition::Velocity([0.05, 0.0, 0.0]);
    Params {
        faces: [
            [inflow, FaceCondition::Pressure(1.0)],
            [FaceCondition::FreeSlip; 2],
            [FaceCondition::FreeSlip; 2],
        ],
        moment_center: mesh.frame.root_cells.map(|n| 0.5 * f64::from(n)),
        forces: true,
        ..params(kind, 0.05 * ACROSS / 100.0, mesh.patches.len())
    }
}
