//! `cutlink bench grains`: the time of a step of grains at rest.
//!
//! Spheres of one size settle from a disordered lattice in a box that is periodic along x and y, with friction and
//! history: 2 mm, 2500 kg/m³, 5 MPa, Poisson's ratio 0.3, restitution 0.6, friction 0.5. Then runs of steps are timed, on
//! the wall and, where the system tells it, by processor time, which other programs do not lengthen.

use crate::cli::Output;
use crate::console::Console;
use clap::Args;
use cutlink::mesh::report::grouped;
use cutlink::{Error, pool};
use cutlink_device::memory;
use cutlink_grains::{
    Bed, BoxAxis, Grain, GrainBox, GrainParams, Material, Materials, Touch, rayleigh_time,
};
use serde::Serialize;
use std::time::Instant;

const BENCH_GRAINS_EXAMPLES: &str = "\
Examples:
  cutlink bench grains --threads 1
  cutlink bench grains --grains 100000 --settle 20000 --json

Grains settle first, which takes most of the time. Nothing is written.

Exit codes: 0 success, 1 run-time failure, 2 usage or bad input, 4 out of memory, 130 stopped by Ctrl-C.";

/// Arguments of `cutlink bench grains`.
#[derive(Debug, Args)]
#[command(after_help = BENCH_GRAINS_EXAMPLES)]
pub struct BenchGrainsArgs {
    /// Grains
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(100..))]
    pub grains: u32,

    /// Steps until the grains are taken to be at rest
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub settle: u64,

    /// Steps of a run
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: u64,

    /// Measured runs
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,

    /// Worker threads; 0 uses all cores
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,

    /// How to report.
    #[command(flatten)]
    pub output: Output,
}

/// The object that `cutlink bench grains --json` prints.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct GrainsBenchReport {
    pub schema: u32,
    pub cutlink: &'static str,
    pub command: &'static str,
    pub grains: u32,
    pub threads: usize,
    pub settle: u64,
    pub steps: u64,
    pub runs: u32,
    pub contacts: f64,
    pub candidates: f64,
    pub sorts: u64,
    pub energy: f64,
    pub step_us: [f64; 3],
    pub processor_us: Option<f64>,
    pub bytes_a_grain: f64,
}

/// Runs `cutlink bench grains`.
///
/// # Errors
/// Any failure; `docs/cli.md` lists the exit codes.
pub fn command(args: &BenchGrainsArgs) -> Result<(), Error> {
    let console = Console::new(args.output);
    let report = pool::install(args.threads, || measure(args))?;
    console.show(&report.text())?;
    console.object(&report)
}

const RADIUS: f64 = 1e-3;
const MATERIAL: Material = Material {
    young: 5e6,
    poisson: 0.3,
    density: 2500.0,
};

/// Numbers from -0.5 to 0.5 (Knuth's MMIX generator).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        let product = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = product.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64 - 0.5
    }

    fn vector(&mut self, scale: f64) -> [f64; 3] {
        [(); 3].map(|()| scale * self.next())
    }
}

fn bed(grains: u32) -> Result<Bed, Error> {
    let side = f64::from(grains).cbrt().ceil() as u32;
    let spacing = 2.2 * RADIUS;
    let mut numbers = Numbers(7);
    let mut all: Vec<Grain> = memory::with_capacity("grains", grains as usize)?;
    for i in 0..grains {
        let at = [i % side, i / side % side, i / side / side];
        let shift = numbers.vector(0.1 * RADIUS);
        let place = |a: usize| (f64::from(at[a]) + 0.55) * spacing + shift[a];
        let mut grain = Grain::at(std::array::from_fn(place), RADIUS);
        grain.velocity = numbers.vector(0.1);
        grain.velocity[2] -= 0.3;
        all.push(grain);
    }
    let touch = Touch {
        restitution: 0.6,
        friction: 0.5,
        rolling: 0.0,
    };
    let edge = f64::from(side) * spacing;
    let mut domain = GrainBox::closed([0.0; 3], [edge, edge, 1.2 * edge], 0);
    domain.axes[0] = BoxAxis::Periodic;
    domain.axes[1] = BoxAxis::Periodic;
    let materials = Materials::alike(&[MATERIAL], touch)?;
    let dt = 0.1 * rayleigh_time(RADIUS, &MATERIAL);
    let mut params = GrainParams::new(materials, domain, dt);
    params.gravity = [0.0, 0.0, -9.81];
    Ok(Bed::start(params, None, &all)?)
}

fn measure(args: &BenchGrainsArgs) -> Result<GrainsBenchReport, Error> {
    let before = resident();
    let mut bed = bed(args.grains)?;
    bed.run(args.settle)?;
    let bytes = resident().saturating_sub(before);
    let (mut times, sorts) = (Vec::new(), bed.sorts());
    let processor = processor_seconds();
    for _ in 0..args.runs {
        let start = Instant::now();
        bed.run(args.steps)?;
        times.push(start.elapsed().as_secs_f64());
    }
    let processor = processor_seconds()
        .zip(processor)
        .map(|(end, start)| end - start);
    times.sort_by(f64::total_cmp);
    let grains = f64::from(args.grains);
    let of_step = |seconds: f64| 1e6 * seconds / (grains * args.steps as f64);
    let middle = times[times.len() / 2];
    let weight = 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3) * MATERIAL.density * 9.81;
    Ok(GrainsBenchReport {
        schema: cutlink::JSON_SCHEMA,
        cutlink: env!("CARGO_PKG_VERSION"),
        command: "bench grains",
        grains: args.grains,
        threads: rayon::current_num_threads(),
        settle: args.settle,
        steps: args.steps,
        runs: args.runs,
        contacts: (2 * bed.touching() + bed.wall_contacts().len()) as f64 / grains,
        candidates: 2.0 * bed.candidates() as f64 / grains,
        sorts: bed.sorts() - sorts,
        energy: bed.energy().kinetic / (grains * weight * RADIUS),
        step_us: [middle, times[0], times[times.len() - 1]].map(of_step),
        processor_us: processor.map(|s| of_step(s / f64::from(args.runs))),
        bytes_a_grain: bytes as f64 / grains,
    })
}

/// A number of a file of `/proc/self`, after a prefix and so many words; Linux only.
fn word(file: &str, after: &str, skip: usize) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/self/{file}")).ok()?;
    let rest = &text[text.rfind(after)? + after.len()..];
    rest.split_whitespace().nth(skip)?.parse().ok()
}

/// Processor time of this process; Linux counts it in hundredths of a second.
fn processor_seconds() -> Option<f64> {
    let ticks = word("stat", ")", 11)? + word("stat", ")", 12)?;
    Some(ticks as f64 / 100.0)
}

/// Bytes of memory in use now; 0 where the system does not tell.
fn resident() -> u64 {
    word("status", "VmRSS:", 0).map_or(0, |kib| 1024 * kib)
}

impl GrainsBenchReport {
    fn text(&self) -> String {
        let processor = match self.processor_us {
            Some(us) => format!("; processor time {us:.4} us"),
            None => String::new(),
        };
        format!(
            "grains    {} on {} thread{}, {:.2} contacts and {:.1} candidates a grain, kinetic energy {:.1e} m g r\nstep      \
             {:.4} us a grain, {:.4} to {:.4} in {} runs of {} steps{processor}\nsorts     {} in all runs\nmemory    {:.0} \
             bytes a grain\n",
            grouped(u64::from(self.grains)),
            self.threads,
            if self.threads == 1 { "" } else { "s" },
            self.contacts,
            self.candidates,
            self.energy,
            self.step_us[0],
            self.step_us[1],
            self.step_us[2],
            self.runs,
            self.steps,
            self.sorts,
            self.bytes_a_grain,
        )
    }
}
