//! `cutlink bench solve`: how fast flows run here, beside the memory's copy bandwidth.
//!
//! Uniform periodic boxes for every lattice, precision and collision that is asked for, and a sphere
//! on a refined mesh with interpolated bounce-back. Updates are those of leaf cells, 2^level times a
//! root step (J25 eq. 25). An update has to read and write each population once: that, by
//! the rate, is the bandwidth that is put beside the copy's. Steps and copies take turns, so that what
//! else the machine does meets both. Before anything is timed, a Taylor-Green vortex has to decay as it should.

mod cases;
mod check;
mod measure;
pub mod report;

pub(crate) use cases::collision;

use crate::bench::report::Head;
use crate::cli::BenchSolveArgs;
use crate::console::Console;
use cutlink::Error;
use cutlink::device::{Opened, on};
use cutlink::mesh::report::Device;
use cutlink_device::{Backend, DeviceChoice, select};
use cutlink_solver::kernels::Kernels;
use measure::Bench;
use report::Report;

/// Measured runs of a flow, where nothing else is said.
const RUNS: u32 = 10;

/// A backend that runs flows in the plane and in space.
trait Flows: Kernels<2> + Kernels<3> {}
impl<K: Kernels<2> + Kernels<3>> Flows for K {}

/// Runs `cutlink bench solve`.
///
/// # Errors
/// Any failure; `docs/cli.md` lists the exit codes.
pub fn command(args: &BenchSolveArgs) -> Result<(), Error> {
    let choice = args
        .run
        .device
        .map_or(DeviceChoice::Auto, |device| device.0);
    let mut selected = select(choice)?;
    let console = Console::new(args.run.output);
    cutlink::pool::install(args.run.threads.unwrap_or(0), || {
        let opened = Opened::open(choice, &mut selected)?;
        let device = Device::new(&selected, &opened);
        on!(&opened, kernels => all(args, kernels, &opened, device, console))
    })
}

fn all<K: Flows>(
    args: &BenchSolveArgs,
    kernels: &K,
    opened: &Opened,
    device: Device,
    console: Console,
) -> Result<(), Error> {
    let cases = cases::cases(args, K::MEMORY)?;
    let runs = args.run.runs.unwrap_or(RUNS);
    let mut bench = Bench::new(kernels, args, runs, console.clone())?;
    let mut report = Report {
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

/// Waits until a backend has done its work.
fn seconds_of<B: Backend>(
    backend: &B,
    work: impl FnOnce() -> Result<(), Error>,
) -> Result<f64, Error> {
    let begin = backend.stamp()?;
    work()?;
    let end = backend.stamp()?;
    Ok(backend.seconds(&begin, &end)?)
}
