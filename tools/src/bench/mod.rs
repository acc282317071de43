//! `cutlink bench`: the speed of meshing, of flows ([`solve`]) and of bodies that move in them ([`solve::moving`]), of their adaptation ([`adapt`]), of flux
//! reconstruction ([`flux`]), of refined hexahedra ([`hex`]) and of grains ([`grains`]) on this machine.
//!
//! For meshes, each case follows `cutlink mesh` up to the embedding (read or generated, split, placed, snapped), which
//! then runs repeatedly. Its time is reported twice: by stage on the clock of the backend, and as wall time of the
//! whole call, which ends when all work is done. Counts made afterwards (mesh statistics, checksum, the bytes of
//! `bytes`) are outside of both. The copy bandwidth is measured in the same run. `end_to_end` measures the whole program
//! instead, from file to file.

pub mod adapt;
mod bytes;
mod cases;
mod end_to_end;
pub mod flux;
pub mod grains;
pub mod hex;
mod measure;
pub mod report;
pub mod solve;

use crate::cli::BenchMeshArgs;
use crate::console::Console;
use cutlink::Error;
use cutlink::device::DeviceReport;
use cutlink::device::{OpenedDevice, on};
use cutlink_device::Backend;
use measure::{Bench, WARM_UP};
use report::{BenchReport, Head};

/// Default number of measured runs of a case.
const RUNS: u32 = 20;

/// Waits for all work of a backend.
fn wait<B: Backend>(backend: &B) -> Result<(), Error> {
    let stamp = backend.stamp()?;
    backend.seconds(&stamp, &stamp)?;
    Ok(())
}

/// Runs `cutlink bench mesh`.
///
/// # Errors
/// Any failure; `docs/cli.md` lists the exit codes.
pub fn mesh(args: &BenchMeshArgs) -> Result<(), Error> {
    if args.end_to_end {
        return end_to_end::command(args);
    }
    let cases = cases::cases(args)?;
    // Errors of all cases are reported before the first case runs.
    let jobs = cases.iter().map(measure::job);
    let jobs = jobs.collect::<Result<Vec<_>, _>>()?;
    let job = jobs.into_iter().next().expect("there should be a case");
    let console = Console::new(args.run.output);
    cutlink::pool::install(args.run.threads.unwrap_or(0), || {
        let OpenedDevice { opened, selected } = OpenedDevice::new(job.device.0)?;
        let runs = args.run.runs.unwrap_or(RUNS);
        let device = DeviceReport::new(&selected, &opened);
        let copy = on!(&opened, backend => measure::copy(backend, runs))?;
        let mut report = BenchReport {
            head: Head::new("bench mesh", device, runs, copy),
            cases: Vec::new(),
        };
        console.show(&report.head.text("medians, in milliseconds"))?;
        let bench = Bench {
            opened: &opened,
            runs,
            console: &console,
        };
        let mut failed = None;
        for case in &cases {
            match bench.case(case, &report.head.copy) {
                Ok(made) => {
                    console.show(&made.table())?;
                    report.cases.push(made);
                }
                Err(failure) => {
                    failed = Some(failure);
                    break;
                }
            }
        }
        if !report.cases.is_empty() {
            console.show(&report.tables())?;
        }
        report.head.device.peak_bytes = opened.peak_bytes();
        match failed {
            None => console.object(&report),
            // The results of earlier cases are kept.
            Some(failure) if !report.cases.is_empty() => {
                Err(failure.details(serde_json::json!({ "bench": report })))
            }
            Some(failure) => Err(failure),
        }
    })
}
