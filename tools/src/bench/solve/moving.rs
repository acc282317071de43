//! `cutlink bench move`: what a body that moves costs in a step of the finest level, beside the same flow with the body at rest.
//!
//! The sphere of `bench solve` swings by two finest cells to both sides along the stream, on blocks that hold its path, and is embedded
//! anew after each step of the finest level. Root steps of the two flows alternate, so that other load of the machine affects both. The
//! parts of a step are timed in runs of their own, one after another.

use super::{
    cases::Kind,
    measure::{ACROSS, laps, tunnel},
    report::LapReport,
    seconds_of,
};
use crate::bench::WARM_UP;
use crate::bench::measure::Copier;
use crate::bench::report::{Head, Spread, ms};
use crate::cli::BenchMoveArgs;
use crate::console::Console;
use cutlink::device::{DeviceReport, Opened, OpenedDevice, on};
use cutlink::mesh::report::{columns, grouped};
use cutlink::{Error, Observer as _};
use cutlink_device::Memory;
use cutlink_mesher::{primitives::Shape3, rigid::Pose};
use cutlink_solver::{
    BodyMotion, BodyPath, BodyState, Collision, LatticeFlow, LatticeKind, Les, Plan, Precision,
    RigidBodies, kernels::FlowKernels,
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh, MovingPatches, MovingSurface};
use serde::Serialize;
use std::sync::Arc;

/// Default number of measured runs.
const RUNS: u32 = 5;
/// How far the surface is off the sphere, in finest cells: facets are about a cell large.
const OFF: f64 = 0.0125;
/// Finest cells by which the sphere swings to each side.
const AMPLITUDE: f64 = 2.0;
/// Its largest speed, on the lattice of any level.
const SPEED: f64 = 0.05;
/// The parts of a finest step, as they are called in reports.
const PARTS: [&str; 5] = ["step", "embed", "tables", "refill", "forces"];

/// The object that `cutlink bench move --json` prints.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct MoveBenchReport {
    #[serde(flatten)]
    pub head: Head,
    pub lattice: String,
    pub precision: String,
    pub collision: String,
    pub root_cells: u32,
    pub facets: usize,
    pub links: usize,
    pub blocks: usize,
    pub cells: u64,
    pub finest_cells: u64,
    pub finest_steps: u32,
    pub updates: u64,
    pub steps: u64,
    pub rest: MoveReport,
    pub moving: MoveReport,
    pub ratio: f64,
    pub finest_ratio: f64,
}

/// A flow with the body at rest, or with the body that moves.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct MoveReport {
    pub ms: Spread,
    pub mlups: f64,
    pub finest_ms: f64,
    pub parts: Vec<PartReport>,
}

/// A part of a finest step.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct PartReport {
    pub part: &'static str,
    pub ms: f64,
}

/// Runs `cutlink bench move`.
///
/// # Errors
/// Any failure; `docs/cli.md` lists the exit codes.
pub fn command(args: &BenchMoveArgs) -> Result<(), Error> {
    let choice = args.run.device.unwrap_or_default().0;
    let console = Console::new(args.run.output);
    cutlink::pool::install(args.run.threads.unwrap_or(0), || {
        let OpenedDevice { opened, selected } = OpenedDevice::new(choice)?;
        let device = DeviceReport::new(&selected, &opened);
        on!(&opened, kernels => all(args, kernels, &opened, device, console))
    })
}

fn all<K: FlowKernels<3>>(
    args: &BenchMoveArgs,
    kernels: &K,
    opened: &Opened,
    device: DeviceReport,
    mut console: Console,
) -> Result<(), Error> {
    let root = args.root.unwrap_or(match K::MEMORY {
        Memory::Host => 64,
        Memory::Device => 256,
    });
    let levels = args.levels.unwrap_or(4);
    let kind = Kind {
        lattice: LatticeKind::D3Q19,
        precision: args.precision.unwrap_or(Precision::F32),
        collision: args.collision.unwrap_or(Collision::Regularized),
        les: Les::None,
    };
    let runs = args.run.runs.unwrap_or(RUNS);
    let copy = Copier::new(kernels)?.measure(runs)?;
    let head = Head::new("bench move", device, runs, copy);
    console.show(&head.text("medians, in milliseconds"))?;
    let (mesh, bodies) = sphere(root, levels)?;
    let facets = bodies.surface.body(0).facets.len();
    let params = tunnel(&mesh, kind);
    let plan = || Plan::new(&mesh, params.clone());
    let (updates, sheets) = (plan()?.updates(), plan()?.levels.clone());
    let mut flows = [
        plan()?.start(kernels)?,
        plan()?.with_bodies(bodies)?.start(kernels)?,
    ];
    for flow in &mut flows {
        flow.set(&|_| (1.0, [SPEED, 0.0, 0.0]))?;
        flow.advance(2)?;
    }
    let steps = args.steps.unwrap_or(1);
    let (times, ratio) = alternate(kernels, &mut flows, steps, runs, &mut console)?;
    let finest_steps = 1 << (levels - 1);
    let [rest, moving] = flows.each_mut().map(|flow| -> Result<_, Error> {
        flow.check()?;
        laps(&mut **flow, steps)
    });
    let of = |times: Vec<f64>, laps: Vec<LapReport>| {
        let ms = Spread::of(times);
        MoveReport::new(ms, updates, levels - 1, &laps)
    };
    let [at_rest, swinging] = times;
    let (rest, moving) = (of(at_rest, rest?), of(swinging, moving?));
    let mut report = MoveBenchReport {
        head,
        lattice: params.lattice.to_string(),
        precision: params.precision.to_string(),
        collision: params.collision.to_string(),
        root_cells: root,
        facets,
        links: mesh.links.len(),
        blocks: mesh.links.blocks.len(),
        cells: sheets.iter().map(|level| level.cells).sum(),
        finest_cells: sheets.last().map_or(0, |level| level.cells),
        finest_steps,
        updates,
        steps,
        ratio,
        finest_ratio: moving.finest_ms / rest.finest_ms,
        rest,
        moving,
    };
    report.head.device.peak_bytes = opened.peak_bytes();
    console.show(&report.table())?;
    console.object(&report)
}

/// A flow that runs on a backend.
type AnyFlow<'a> = Box<dyn LatticeFlow<3> + 'a>;

/// Seconds of a root step of each flow, in turn, and the median of their ratio.
fn alternate<K: FlowKernels<3>>(
    kernels: &K,
    flows: &mut [AnyFlow<'_>; 2],
    steps: u64,
    runs: u32,
    console: &mut Console,
) -> Result<([Vec<f64>; 2], f64), Error> {
    console.begin(u64::from(WARM_UP + runs));
    let (mut times, mut ratios) = ([Vec::new(), Vec::new()], Vec::new());
    for run in 0..WARM_UP + runs {
        let mut both = [0.0; 2];
        for (flow, seconds) in flows.iter_mut().zip(&mut both) {
            *seconds = seconds_of(kernels, || Ok(flow.advance(steps)?))? / steps as f64;
        }
        if run >= WARM_UP {
            times[0].push(both[0]);
            times[1].push(both[1]);
            ratios.push(both[1] / both[0]);
        }
        console.advance(1, "sphere");
    }
    console.end();
    // A ratio has no unit, so the factor 1000 of `Spread` is removed.
    Ok((times, 1e-3 * Spread::of(ratios).median))
}

/// A sphere in the middle of a cube, and how it swings there. The mesh holds its path.
fn sphere(root: u32, levels: usize) -> Result<(Mesh<3>, Arc<RigidBodies<3>>), Error> {
    let finest = 1.0 / f64::from(1u32 << (levels - 1).min(31));
    let frame = Frame::new([0.0; 3], 1.0, [root; 3])?;
    let center = [0.5 * f64::from(root); 3];
    let shape = Shape3::Sphere {
        radius: 0.5 * ACROSS,
    };
    let mut surface = shape.surface(OFF * finest)?;
    for x in &mut surface.vertices {
        *x = std::array::from_fn(|a| x[a] + center[a]);
    }
    let part = MovingPatches {
        name: "sphere".into(),
        patches: vec![0],
        center,
    };
    let amplitude = AMPLITUDE * finest;
    let rate = SPEED / amplitude;
    let there = move |shift: f64| Pose::at([center[0] + shift, center[1], center[2]]);
    let path: BodyPath<3> = Arc::new(move |time| {
        let (sin, cos) = (rate * time).sin_cos();
        Ok(BodyState {
            pose: there(amplitude * sin),
            velocity: [SPEED * cos, 0.0, 0.0],
            spin: [0.0; 3],
        })
    });
    let bodies = RigidBodies {
        surface: MovingSurface::new(&surface, vec![part])?,
        motions: vec![BodyMotion::Prescribed(path)],
        paths: vec![Some([-amplitude, 0.0, amplitude].map(there).to_vec())],
        embedding: EmbedParams::new(levels, 0.25 * ACROSS, Fill::NonZero),
        rebin: 1,
    };
    Ok((bodies.first_mesh(frame)?, Arc::new(bodies)))
}

impl MoveReport {
    /// From root steps of so many updates, and the parts of root steps.
    fn new(ms: Spread, updates: u64, finest: usize, laps: &[LapReport]) -> Self {
        let steps = f64::from(1u32 << finest);
        let part = |part: &'static str| {
            let mut laps = laps.iter();
            let lap = laps.find(|lap| lap.work == part && lap.level == finest);
            lap.map(|lap| PartReport {
                part,
                ms: lap.ms / steps,
            })
        };
        let parts: Vec<PartReport> = PARTS.into_iter().filter_map(part).collect();
        Self {
            ms,
            mlups: 1e-3 * updates as f64 / ms.median,
            finest_ms: parts.iter().map(|part| part.ms).sum(),
            parts,
        }
    }
}

impl MoveBenchReport {
    /// Root steps, and the parts of a finest step.
    fn table(&self) -> String {
        let heads = ["", "at rest", "moving"].map(str::to_owned);
        let row = |name: &str, of: &dyn Fn(&MoveReport) -> String| {
            [name.to_owned(), of(&self.rest), of(&self.moving)]
        };
        let mut rows = vec![
            heads,
            row("MLUPS", &|of| format!("{:.1}", of.mlups)),
            row("root step", &|of| ms(of.ms.median)),
            row("finest step", &|of| ms(of.finest_ms)),
        ];
        for part in PARTS {
            rows.push(row(&format!("  {part}"), &|of| {
                let mut parts = of.parts.iter();
                let found = parts.find(|of| of.part == part);
                found.map_or("-".into(), |part| ms(part.ms))
            }));
        }
        format!(
            "\nsphere    {} {} {}: {} cells, {} of them finest; {} facets, {} links in {} blocks\n\
             moving    {:.2} times a root step at rest, {:.2} times a finest step\n\n{}",
            self.lattice,
            self.precision,
            self.collision,
            grouped(self.cells),
            grouped(self.finest_cells),
            grouped(self.facets as u64),
            grouped(self.links as u64),
            grouped(self.blocks as u64),
            self.ratio,
            self.finest_ratio,
            columns(&rows)
        )
    }
}
