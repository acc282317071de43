//! `cutlink bench flux`: the speed of flux reconstruction, and of its adaptation.
//!
//! Degrees of freedom are points times unknowns. Each case is a periodic box with Runge–Kutta 33: of equal elements, and with
//! every eighth one refined, which has hanging faces. The copy bandwidth is measured in the same run. Its share is that of the least
//! bytes of a stage: the state read and written, the state at the start of the step where a stage takes some of it back,
//! traces written and read once; of a viscous flow the state read once more, viscous traces and rates written and read once.
//!
//! An adaptation is one of a mesh that follows a vortex (Witherden & Vincent 2024 have this flow): sensor, marks, tree, faces, state
//! and traces.

use super::measure::Copier;
use super::report::{Head, Spread, rate};
use super::{WARM_UP, wait};
use crate::cli::BenchFluxArgs;
use crate::console::Console;
use cutlink::device::DeviceReport;
use cutlink::device::{Opened, OpenedDevice, on};
use cutlink::mesh::report::{bytes, columns, grouped};
use cutlink::{Error, ErrorKind};
use cutlink_amr::{
    Mark,
    linear::{Grid, Leaves},
};
use cutlink_device::{Backend, Host, Memory};
use cutlink_fr::{
    ElementAdaptation, EulerFlow, EulerParams, FrError, GasWalls, IsentropicVortex, MAX_ORDER,
    Primitive, RungeKutta, Sensor, TimeStep, Viscosity,
    kernels::{EulerKernels, Kernels, sizes},
};
use cutlink_solver::Precision;
use serde::Serialize;
use std::time::Instant;

/// Default number of measured runs of a case.
const RUNS: u32 = 5;
/// Seconds of a run, about.
const RUN: f64 = 0.2;
/// Edges of boxes by order on the CPU and on a GPU, in elements: about as many degrees of freedom each.
const PLANE: [[u32; MAX_ORDER]; 2] = [[256, 128, 128, 128], [2048, 1360, 1024, 820]];
const SPACE: [[u32; MAX_ORDER]; 2] = [[32, 24, 20, 16], [128, 88, 64, 52]];
/// Looks for each that changes the mesh, at most.
const LOOKS: u32 = 20;
/// Of viscous flows: so little that it limits no step.
const VISCOSITY: Viscosity = Viscosity {
    dynamic: 1e-6,
    prandtl: 0.72,
};
/// Edges of the box that is adapted, in root elements.
const ADAPTED: [u32; 2] = [12, 50];

/// The object that `cutlink bench flux --json` prints.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct FluxBenchReport {
    #[serde(flatten)]
    pub head: Head,
    pub cases: Vec<FluxCaseReport>,
    pub adaptation: AdaptationReport,
}

#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct FluxCaseReport {
    pub dimensions: usize,
    pub precision: String,
    pub order: usize,
    pub is_viscous: bool,
    pub has_hanging_faces: bool,
    pub elements: usize,
    pub degrees_of_freedom: u64,
    pub stages: u64,
    pub ms: Spread,
    pub degrees_of_freedom_per_second: f64,
    pub bytes_per_second: f64,
    pub of_copy: f64,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct AdaptationReport {
    pub dimensions: usize,
    pub order: usize,
    pub elements: usize,
    pub changed: u64,
    pub ms: Spread,
}

/// A backend with the stages for 2D and 3D.
trait Both: EulerKernels<2> + EulerKernels<3> {}
impl<B: EulerKernels<2> + EulerKernels<3>> Both for B {}

/// Runs `cutlink bench flux`.
///
/// # Errors
/// Any failure; `docs/cli.md` lists the exit codes.
pub fn command(args: &BenchFluxArgs) -> Result<(), Error> {
    let choice = args.run.device.unwrap_or_default().0;
    let console = Console::new(args.run.output);
    cutlink::pool::install(args.run.threads.unwrap_or(0), || {
        let OpenedDevice { opened, selected } = OpenedDevice::new(choice)?;
        let device = DeviceReport::new(&selected, &opened);
        on!(&opened, backend => all(args, backend, &opened, device, console))
    })
}

fn all<B: Both>(
    args: &BenchFluxArgs,
    backend: &B,
    opened: &Opened,
    device: DeviceReport,
    console: Console,
) -> Result<(), Error> {
    let runs = args.run.runs.unwrap_or(RUNS);
    let copy = Copier::new(backend)?.measure(runs)?;
    let mut bench = Bench {
        args,
        backend,
        runs,
        report: FluxBenchReport {
            head: Head::new("bench flux", device, runs, copy),
            cases: Vec::new(),
            adaptation: AdaptationReport {
                dimensions: 3,
                order: 3,
                elements: 0,
                changed: 0,
                ms: Spread::of(Vec::new()),
            },
        },
    };
    let head = bench.report.head.text("medians of whole steps");
    console.show(&head)?;
    let on_device = usize::from(B::MEMORY == Memory::Device);
    for precision in [Precision::F32, Precision::F64] {
        if !(args.precision.is_empty() || args.precision.contains(&precision)) {
            continue;
        }
        for order in (1..=MAX_ORDER).filter(|o| args.order.is_empty() || args.order.contains(o)) {
            let edges = [PLANE, SPACE].map(|of| of[on_device][order - 1]);
            match precision {
                Precision::F32 => bench.of_order::<f32>(edges, order, precision)?,
                _ => bench.of_order::<f64>(edges, order, precision)?,
            }
        }
    }
    bench.adaptation(args.elements.unwrap_or(ADAPTED[on_device]))?;
    let mut report = bench.report;
    report.head.device.peak_bytes = opened.peak_bytes();
    console.show(&report.table())?;
    console.object(&report)
}

/// What all cases share.
struct Bench<'a, B> {
    args: &'a BenchFluxArgs,
    backend: &'a B,
    runs: u32,
    report: FluxBenchReport,
}

impl<B: Both> Bench<'_, B> {
    fn of_order<T: Kernels<2> + Kernels<3>>(
        &mut self,
        [plane, space]: [u32; 2],
        order: usize,
        precision: Precision,
    ) -> Result<(), Error> {
        for has_hanging_faces in [false, true] {
            let plane = self.args.elements.unwrap_or(plane);
            self.case::<2, T>(plane, order, precision, has_hanging_faces)?;
        }
        for has_hanging_faces in [false, true] {
            let space = self.args.elements.unwrap_or(space);
            self.case::<3, T>(space, order, precision, has_hanging_faces)?;
        }
        Ok(())
    }

    fn case<const D: usize, T: Kernels<D>>(
        &mut self,
        edge: u32,
        order: usize,
        precision: Precision,
        has_hanging_faces: bool,
    ) -> Result<(), Error>
    where
        B: EulerKernels<D>,
    {
        let is_viscous = self.args.viscous;
        let bytes = sizes::bytes::<T>(D, order + 1, is_viscous);
        check_memory::<D, B>(self.backend, edge, bytes, has_hanging_faces)?;
        let leaves = tree::<D>(edge, has_hanging_faces)?;
        // A third of what is stable on refined elements.
        let time_step = TimeStep::Fixed(0.03 / f64::from(edge * (2 * order as u32 + 1)));
        let mut params = params(order, time_step);
        params.viscosity = is_viscous.then_some(VISCOSITY);
        let mut flow = EulerFlow::<D, T>::new(&leaves, [0.0; D], [1.0; D], params)?;
        flow.set(|x| Primitive {
            density: 1.0 + 0.2 * (std::f64::consts::TAU * x.iter().sum::<f64>()).sin(),
            velocity: [1.0; D],
            pressure: 1.0,
        });
        let numbers = flow.degrees_of_freedom() as u64;
        let mut flow = flow.on(self.backend)?;
        let mut timed = |steps: u64| -> Result<f64, Error> {
            let start = Instant::now();
            flow.advance(steps)?;
            wait(self.backend)?;
            Ok(start.elapsed().as_secs_f64())
        };
        timed(1)?;
        let steps = ((RUN / timed(1)?) as u64).clamp(1, 10_000);
        for _ in 0..WARM_UP - 1 {
            timed(steps.div_ceil(4))?;
        }
        let times = (0..self.runs).map(|_| Ok(timed(steps)? / steps as f64));
        let ms = Spread::of(times.collect::<Result<_, Error>>()?);
        if !flow.wave_rate()?.is_finite() {
            return Err(Error::new(
                ErrorKind::Runtime,
                "bench flux: a flow diverged",
            ));
        }
        let stages = RungeKutta::Rk33.evaluations() as u64;
        let traces = 2.0 * (2 * D * sizes::trace(D, order + 1)) as f64;
        // Two of three stages read the state at the start of the step.
        let q = order + 1;
        let viscous = if is_viscous {
            sizes::element(D, q) + 2 * (sizes::viscous(D, q) + sizes::rates(D, q))
        } else {
            0
        };
        let least = 2.0 + 2.0 / 3.0 + (traces + viscous as f64) / sizes::element(D, q) as f64;
        let per_second = (numbers * stages) as f64 / (1e-3 * ms.median);
        let bytes_per_second = per_second * least * size_of::<T>() as f64;
        self.report.cases.push(FluxCaseReport {
            dimensions: D,
            precision: precision.to_string(),
            order,
            is_viscous,
            has_hanging_faces,
            elements: leaves.len(),
            degrees_of_freedom: numbers,
            stages,
            ms,
            degrees_of_freedom_per_second: per_second,
            bytes_per_second,
            of_copy: bytes_per_second / self.report.head.copy.bytes_per_second,
        });
        Ok(())
    }

    /// Adaptations of a mesh that follows a vortex, each after two steps.
    fn adaptation(&mut self, edge: u32) -> Result<(), Error> {
        let order = self.report.adaptation.order;
        let bytes = sizes::bytes::<f64>(3, order + 1, false);
        check_memory::<3, B>(self.backend, edge, bytes, true)?;
        let vortex = IsentropicVortex::w24(20.0);
        let leaves = tree::<3>(edge, false)?;
        let params = params(order, TimeStep::Courant(0.5));
        let mut flow = EulerFlow::<3, f64>::new(&leaves, [-10.0; 3], [10.0; 3], params)?;
        flow.follow(Some(ElementAdaptation {
            every: u64::MAX,
            sensor: Sensor::Modal {
                refine_above: 0.1,
                coarsen_below: 0.001,
                momentum: 1.0,
                floor: 1e-10,
            },
            levels: [0, 2],
            buffer: 0,
            most_elements: usize::MAX,
            at_bodies: 0,
            places: Vec::new(),
        }))?;
        flow.set_adapted(|x| vortex.at(0.0, x))?;
        let mut flow = flow.on(self.backend)?;
        let (mut times, mut changed) = (Vec::new(), 0);
        for _ in 0..LOOKS * (WARM_UP + self.runs) {
            flow.advance(2)?;
            // Waits for the device.
            flow.wave_rate()?;
            let start = Instant::now();
            let changes = B::adapt(&mut flow)?;
            flow.wave_rate()?;
            if changes.is_any() {
                times.push(start.elapsed().as_secs_f64());
                changed = changes.refined + changes.coarsened;
            }
            if times.len() == (WARM_UP + self.runs) as usize {
                break;
            }
        }
        times.drain(..times.len().min(WARM_UP as usize));
        let report = &mut self.report.adaptation;
        (report.elements, report.changed) = (flow.elements(), changed);
        report.ms = Spread::of(times);
        Ok(())
    }
}

/// Refuses a box that memory has no room for.
fn check_memory<const D: usize, B: Backend>(
    backend: &B,
    edge: u32,
    of_element: u64,
    is_refined: bool,
) -> Result<(), Error> {
    let roots = u128::from(edge).pow(D as u32);
    // At first every eighth is refined. Balance refines no more: one level differs.
    let most = roots * if is_refined { 7 + (1 << D) } else { 8 } / 8;
    let need = most * u128::from(of_element);
    let free = match B::MEMORY {
        Memory::Host => Host.free_bytes(),
        Memory::Device => Host.free_bytes().min(backend.free_bytes()),
    };
    if need > u128::from(free) {
        let (need, free) = (u64::try_from(need).unwrap_or(u64::MAX), bytes(free));
        let what = format!("bench flux needs some {}, and {free} are free", bytes(need));
        return Err(Error::new(ErrorKind::Memory, what).hint("use fewer --elements"));
    }
    Ok(())
}

fn params<const D: usize>(order: usize, time_step: TimeStep) -> EulerParams<D> {
    EulerParams {
        order,
        gamma: 1.4,
        runge_kutta: RungeKutta::Rk33,
        time_step,
        far_field: None,
        viscosity: None,
        walls: GasWalls::default(),
    }
}

/// A periodic box; every eighth leaf refined, if requested.
fn tree<const D: usize>(edge: u32, is_refined: bool) -> Result<Leaves<D>, FrError> {
    let mut leaves = Leaves::new(&Host, Grid::new([edge; D], [true; D])?)?;
    if is_refined {
        let mark = |leaf: usize| match leaf.is_multiple_of(8) {
            true => Mark::Refine as u8,
            false => Mark::Keep as u8,
        };
        let mut marks: Vec<u8> = (0..leaves.len()).map(mark).collect();
        leaves.adapt(&Host, &mut marks)?;
    }
    Ok(leaves)
}

impl FluxBenchReport {
    fn table(&self) -> String {
        let titles = [
            "",
            "elements",
            "degrees of freedom",
            "step, ms",
            "GDoF/s",
            "of the copy",
        ];
        let mut lines = vec![titles.map(str::to_owned)];
        for case in &self.cases {
            let hanging = if case.has_hanging_faces {
                ", hanging faces"
            } else {
                ""
            };
            let viscous = if case.is_viscous { ", viscous" } else { "" };
            lines.push([
                format!(
                    "{}D {} p{}{viscous}{hanging}",
                    case.dimensions, case.precision, case.order
                ),
                grouped(case.elements as u64),
                grouped(case.degrees_of_freedom),
                format!("{:.3}", case.ms.median),
                format!("{:.3}", 1e-9 * case.degrees_of_freedom_per_second),
                format!("{:.0} %", 100.0 * case.of_copy),
            ]);
        }
        let AdaptationReport {
            order,
            elements,
            changed,
            ms,
            ..
        } = self.adaptation;
        let elements = grouped(elements as u64);
        let adaptation = match changed {
            0 => format!("{elements} elements of 3D f64 p{order} did not change"),
            _ => format!(
                "adaptation of {elements} elements, 3D f64 p{order}, with {} changes: {:.2} ms",
                grouped(changed),
                ms.median
            ),
        };
        format!(
            "copy {}\n{}\n{adaptation}\n",
            rate(self.head.copy.bytes_per_second),
            columns(&lines),
        )
    }
}
