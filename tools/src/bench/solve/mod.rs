//! `cutlink bench solve`: the speed of flows relative to the copy bandwidth of the memory.
//!
//! Uniform periodic boxes for every requested lattice, precision and collision, and a sphere on a refined mesh with
//! interpolated bounce-back. Updates are those of leaf cells, 2^level times per root step (J25 eq. 25). An update reads
//! and writes each population once; these bytes times the update rate are compared with the copy bandwidth. Steps and
//! copies alternate, so that other load of the machine affects both. Before anything is timed, the decay of a
//! Taylor-Green vortex is checked.

mod cases;
mod check;
mod measure;
pub mod moving;
pub mod report;

pub(crate) use cases::collision;

use crate::bench::report::Head;
use crate::cli::BenchSolveArgs;
use crate::console::Console;
use cutlink::Error;
use cutlink::device::DeviceReport;
use cutlink::device::{Opened, OpenedDevice, on};
use cutlink_device::{Backend, DeviceChoice};
use cutlink_solver::kernels::FlowKernels;
use measure::Bench;
use report::FlowBenchReport;

/// Default number of measured runs of a flow.
const RUNS: u32 = 10;

/// A backend that runs 2D and 3D flows.
trait Flows: FlowKernels<2> + FlowKernels<3> {}
impl<K: FlowKernels<2> + FlowKernels<3>> Flows for K {}

/// Runs `cutlink bench solve`.
///
/// # Errors
/// Any failure; `docs/cli.md` lists the exit codes.
pub fn command(args: &BenchSolveArgs) -> Result<(), Error> {
    let choice = args.run.device.unwrap_or_default().0;
    if args.gpus.is_some_and(|gpus| gpus > 1) && choice == DeviceChoice::Cpu {
        return Err(Error::input(
            "--gpus asks for GPUs, and the device is the CPU",
        ));
    }
    let console = Console::new(args.run.output);
    cutlink::pool::install(args.run.threads.unwrap_or(0), || {
        let OpenedDevice { opened, selected } = OpenedDevice::new(choice)?;
        let device = DeviceReport::new(&selected, &opened);
        on!(&opened, kernels => all(args, kernels, &opened, device, console))
    })
}

fn all<K: Flows>(
    args: &BenchSolveArgs,
    kernels: &K,
    opened: &Opened,
    device: DeviceReport,
    console: Console,
) -> Result<(), Error> {
    let cases = cases::cases(args, K::MEMORY)?;
    let runs = args.run.runs.unwrap_or(RUNS);
    let mut bench = Bench::new(kernels, args, runs, console.clone())?;
    let mut report = FlowBenchReport {
        head: Head::new("bench solve", device, runs, bench.copy(runs)?),
        checks: check::all(kernels, &cases)?,
        cases: Vec::new(),
    };
    console.show(&report.head())?;
    for case in &cases {
        report.cases.extend(bench.case(case, opened)?);
    }
    report.head.device.peak_bytes = opened.peak_bytes();
    console.show(&report.tables())?;
    console.object(&report)
}

/// The time of `work` in seconds, by the clock of the backend.
fn seconds_of<B: Backend>(
    backend: &B,
    work: impl FnOnce() -> Result<(), Error>,
) -> Result<f64, Error> {
    let begin = backend.stamp()?;
    work()?;
    let end = backend.stamp()?;
    Ok(backend.seconds(&begin, &end)?)
}
