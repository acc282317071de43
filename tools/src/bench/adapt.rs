//! `cutlink bench adapt`: the time that a flow's mesh takes to change.
//!
//! In a periodic box with one level, a cube of root blocks is refined at once, for cubes of several sizes; the look after
//! it changes nothing. A look is timed from the end of the step before it to the moment when populations and tables of the
//! new mesh are complete. Its least work is to write the new populations and to read the old ones, which is compared with
//! the copy bandwidth. J25 (figure 23) has this measurement.

use super::measure::Copier;
use super::report::{Head, Spread, rate};
use crate::cli::BenchAdaptArgs;
use crate::console::Console;
use cutlink::device::DeviceReport;
use cutlink::device::{Opened, OpenedDevice, on};
use cutlink::mesh::build::bare_periodic;
use cutlink::mesh::report::{columns, grouped};
use cutlink::options::Root;
use cutlink::{Error, ErrorKind};
use cutlink_device::Memory;
use cutlink_solver::{
    Adaptation, Criterion, Indicator, LatticeKind, Params, PatchCondition, Plan, Precision,
    WallScheme, kernels::FlowKernels,
};
use serde::Serialize;
use std::f64::consts::TAU;

/// Default number of measured changes of each size.
const RUNS: u32 = 10;
/// Cubes of blocks that are refined, as shares of the box along each axis: the last one is two thirds of its volume.
const SHARES: [f64; 4] = [0.125, 0.25, 0.5, 0.875];

/// The object that `cutlink bench adapt --json` prints.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct AdaptBenchReport {
    #[serde(flatten)]
    pub head: Head,
    pub lattice: String,
    pub precision: String,
    pub root_cells: u32,
    pub cases: Vec<AdaptCaseReport>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct AdaptCaseReport {
    pub refined: u64,
    pub inserted: u64,
    pub cells: u64,
    pub ms: Spread,
    pub idle_ms: Spread,
    pub bytes: u64,
    pub of_copy: f64,
}

/// Runs `cutlink bench adapt`.
///
/// # Errors
/// Any failure; `docs/cli.md` lists the exit codes.
pub fn command(args: &BenchAdaptArgs) -> Result<(), Error> {
    let choice = args.run.device.unwrap_or_default().0;
    let console = Console::new(args.run.output);
    cutlink::pool::install(args.run.threads.unwrap_or(0), || {
        let OpenedDevice { opened, selected } = OpenedDevice::new(choice)?;
        let device = DeviceReport::new(&selected, &opened);
        on!(&opened, kernels => all(args, kernels, &opened, device, console))
    })
}

fn all<K: FlowKernels<3>>(
    args: &BenchAdaptArgs,
    kernels: &K,
    opened: &Opened,
    device: DeviceReport,
    console: Console,
) -> Result<(), Error> {
    let cells = args.cells.unwrap_or(match K::MEMORY {
        Memory::Host => 64,
        Memory::Device => 160,
    });
    let runs = args.run.runs.unwrap_or(RUNS);
    let precision = args.precision.unwrap_or(Precision::F32);
    let copy = Copier::new(kernels)?.measure(runs)?;
    let mut report = AdaptBenchReport {
        head: Head::new("bench adapt", device, runs, copy),
        lattice: LatticeKind::D3Q19.to_string(),
        precision: precision.to_string(),
        root_cells: cells,
        cases: Vec::new(),
    };
    console.show(&report.head.text("medians, in milliseconds"))?;
    for share in SHARES {
        let blocks = (share * f64::from(cells / 4)).round().max(1.0);
        report
            .cases
            .push(case(kernels, &report, precision, blocks, runs)?);
    }
    report.head.device.peak_bytes = opened.peak_bytes();
    console.show(&report.table())?;
    console.object(&report)
}

/// Refines a cube of so many blocks along each axis, as often as there are runs and once before.
fn case<K: FlowKernels<3>>(
    kernels: &K,
    report: &AdaptBenchReport,
    precision: Precision,
    blocks: f64,
    runs: u32,
) -> Result<AdaptCaseReport, Error> {
    let edge = f64::from(report.root_cells);
    let bounds = [[0.0; 3], [edge; 3]].concat();
    let root = Root::Cells(vec![report.root_cells; 3]);
    let mesh = bare_periodic::<3>(&bounds, &root, [true; 3])?;
    let params = Params {
        precision,
        forces: false,
        patches: vec![PatchCondition::wall(WallScheme::Linear); mesh.patches.len()],
        adaptation: Some(Adaptation {
            every: 1,
            levels: 2,
            max_cells: u64::MAX,
            buffer: 0,
            criteria: vec![Criterion {
                indicator: Indicator::Vorticity,
                refine: 1e-12,
                coarsen: 0.5,
                within: Some([[0.0; 3], [4.0 * blocks; 3]]),
                // Not at the initial state, which would be computed anew on the refined mesh.
                from_step: 1,
            }],
            limits: Vec::new(),
        }),
        ..Params::new(LatticeKind::D3Q19, 0.02)
    };
    let mut flow = Plan::new(&mesh, params)?.start(kernels)?;
    let (mut changes, mut idle) = (Vec::new(), Vec::new());
    let mut made = (0, 0);
    for run in 0..=runs {
        flow.set(&|at| (1.0, [0.02 * (TAU * at[1] / edge).sin(), 0.0, 0.0]))?;
        flow.take_looks();
        flow.advance(2)?;
        let looks = flow.take_looks();
        let [change, quiet] = &looks[..] else {
            return Err(wrong(&format!("{} looks in two root steps", looks.len())));
        };
        if change.refined == 0 || quiet.refined + quiet.coarsened > 0 {
            return Err(wrong(
                "the first look should refine blocks, the second none",
            ));
        }
        made = (change.refined, 64 * change.leaves.iter().sum::<u64>());
        // The first one allocates.
        if run > 0 {
            changes.push(change.seconds);
            idle.push(quiet.seconds);
        }
    }
    let (refined, cells) = made;
    let roots = u64::from(report.root_cells).pow(3);
    let bytes = 19 * precision.stored_bytes() * (roots + cells);
    let ms = Spread::of(changes);
    Ok(AdaptCaseReport {
        refined,
        inserted: 8 * refined,
        cells,
        ms,
        idle_ms: Spread::of(idle),
        bytes,
        of_copy: bytes as f64 / (1e-3 * ms.median) / report.head.copy.bytes_per_second,
    })
}

fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::Runtime, format!("bench adapt: {what}"))
}

impl AdaptBenchReport {
    /// The cases as a table.
    fn table(&self) -> String {
        let mut lines = vec![
            [
                "inserted blocks",
                "cells",
                "change, ms",
                "no change, ms",
                "of the copy",
            ]
            .map(str::to_owned),
        ];
        for case in &self.cases {
            lines.push([
                grouped(case.inserted),
                grouped(case.cells),
                format!("{:.3}", case.ms.median),
                format!("{:.3}", case.idle_ms.median),
                format!("{:.0} %", 100.0 * case.of_copy),
            ]);
        }
        format!(
            "{} root cells, {}, {}; copy {}\n{}",
            grouped(u64::from(self.root_cells).pow(3)),
            self.lattice,
            self.precision,
            rate(self.head.copy.bytes_per_second),
            columns(&lines)
        )
    }
}
