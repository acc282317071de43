//! The part of the command line that is about flows.

use super::Output;
pub use crate::pack::PackArgs;
use crate::{bench, pack, solve};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use cutlink::Error;
use cutlink::device::DeviceOption;
use cutlink::options::{FillRule, FlowSide, Numbers, Root};
use cutlink::solve::example::EXAMPLES;
use cutlink_fr::MAX_ORDER;
use cutlink_mpi::World;
use cutlink_solver::{Collision, LatticeKind, Les, Precision};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The commands that need a solver.
#[derive(Debug, Subcommand)]
pub enum FlowCommand {
    /// Run the flow of a case file, on the CPU or an NVIDIA GPU
    Solve(SolveArgs),
    /// Pack grains into a box or a closed surface, as CSV, PLY, STL or VTP
    Pack(PackArgs),
    /// Measure the speed of meshing and of flows on this machine
    #[command(subcommand)]
    Bench(BenchCommand),
}

impl FlowArgs {
    pub(crate) fn is_given(&self) -> bool {
        self.re.is_some() || self.y_plus.is_some()
    }
}

impl FlowCommand {
    pub(super) fn output(&self) -> Output {
        match self {
            Self::Pack(args) => args.report,
            Self::Solve(args) => args.output,
            Self::Bench(BenchCommand::Mesh(args)) => args.run.output,
            Self::Bench(BenchCommand::Solve(args)) => args.run.output,
            Self::Bench(BenchCommand::Move(args)) => args.run.output,
            Self::Bench(BenchCommand::Adapt(args)) => args.run.output,
            Self::Bench(BenchCommand::Flux(args)) => args.run.output,
            Self::Bench(BenchCommand::Hex(args)) => args.run.output,
            Self::Bench(BenchCommand::Grains(args)) => args.output,
        }
    }

    /// Runs the command, with the other processes that an MPI launcher has started.
    ///
    /// # Errors
    /// Any failure; `docs/cli.md` lists the exit codes.
    pub fn run(&self, world: Option<&Arc<World>>) -> Result<(), Error> {
        match self {
            Self::Pack(args) => pack::command(args),
            Self::Solve(args) => solve::command(args, world),
            Self::Bench(BenchCommand::Mesh(args)) => bench::mesh(args),
            Self::Bench(BenchCommand::Solve(args)) => bench::solve::command(args),
            Self::Bench(BenchCommand::Move(args)) => bench::solve::moving::command(args),
            Self::Bench(BenchCommand::Adapt(args)) => bench::adapt::command(args),
            Self::Bench(BenchCommand::Flux(args)) => bench::flux::command(args),
            Self::Bench(BenchCommand::Hex(args)) => bench::hex::command(args),
            Self::Bench(BenchCommand::Grains(args)) => bench::grains::command(args),
        }
    }
}

/// Arguments of `cutlink estimate` for flows.
#[derive(Debug, Clone, Copy, Args)]
pub struct FlowArgs {
    /// Of a flow: Reynolds number, instead of that of the case
    #[arg(long, value_name = "RE", help_heading = "Flow")]
    pub re: Option<f64>,

    /// Of a flow: the cells at the wall that have this y+ at their centre, and what they cost
    #[arg(long, value_name = "Y+", help_heading = "Flow")]
    pub y_plus: Option<f64>,
}

/// What `cutlink bench` measures.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Time, bytes and memory of each meshing stage, relative to the memory copy bandwidth
    Mesh(Box<BenchMeshArgs>),
    /// Cell updates per second of flows, as a share of the memory copy bandwidth, and time by level
    Solve(Box<BenchSolveArgs>),
    /// Time of a step with a body that moves, beside the same flow with the body at rest
    Move(Box<BenchMoveArgs>),
    /// Measure the time that a flow's mesh takes to change
    Adapt(Box<BenchAdaptArgs>),
    /// Degrees of freedom per second of flux reconstruction, and the time of its adaptation
    Flux(Box<BenchFluxArgs>),
    /// Time and memory of refining hexahedra with their fields, on the CPU
    Hex(BenchHexArgs),
    /// Time of a step of grains at rest, per grain
    Grains(bench::grains::BenchGrainsArgs),
}

const SOLVE_EXAMPLES: &str = "\
Examples:
  cutlink solve --example cylinder case.toml
  cutlink solve case.toml --dry-run
  cutlink solve case.toml
  cutlink solve case.toml --resume
  cutlink solve case.toml --mesh part.cutlink

docs/case.md describes the file. The output folder gets the resolved case.toml, \
forces.csv, forces.png, integrals.csv, fields, checkpoints and summary.json.

Exit codes: 0 success, 1 run-time failure, 2 usage or bad input, 3 geometry refused, \
4 out of memory, 5 flow diverged, 130 stopped by Ctrl-C, with a checkpoint.";

/// Arguments of `cutlink solve`.
#[derive(Debug, Args)]
#[command(after_help = SOLVE_EXAMPLES)]
pub struct SolveArgs {
    /// The case: a TOML file; with --example the file to write
    #[arg(required_unless_present_any = ["example", "schema"])]
    pub case: Option<PathBuf>,

    /// Write a commented example case (to the given file, else to stdout) and stop
    #[arg(
        long,
        value_name = "NAME",
        value_parser = PossibleValuesParser::new(EXAMPLES.map(|(name, _)| name)),
        conflicts_with_all = ["resume", "steps", "dry_run"]
    )]
    pub example: Option<String>,

    /// Print the JSON schema of a case, for editors, and stop
    #[arg(long, exclusive = true)]
    pub schema: bool,

    /// Mesh file to run the case on, instead of the mesh or box that the case describes
    #[arg(long, value_name = "FILE", conflicts_with = "example")]
    pub mesh: Option<PathBuf>,

    /// Continue from the last checkpoint in the output folder
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,

    /// Replace an earlier run in the output folder; with --example, an existing file
    #[arg(long)]
    pub force: bool,

    /// Maximum number of root steps; overrides the case
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,

    /// Print units, levels, memory and expected time; write nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Where to run; auto uses a CUDA GPU if there is one
    #[arg(long, value_name = "auto|cpu|cuda[:N]")]
    pub device: Option<DeviceOption>,

    /// Worker threads; 0 uses all cores
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,

    /// Ranks that share the flow, each on threads of its own with a part of the mesh; with --dry-run several numbers, as in 2,8,64
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..))]
    pub ranks: Vec<u16>,

    /// GPUs of this machine that share the flow, each with a part of the mesh, from that of --device on
    #[arg(long, value_name = "N", conflicts_with = "ranks", value_parser = clap::value_parser!(u16).range(1..))]
    pub gpus: Option<u16>,

    /// How to report.
    #[command(flatten)]
    pub output: Output,
}

impl SolveArgs {
    /// The case file; the parser guarantees that there is one without `example` and `schema`.
    pub(crate) fn file(&self) -> &Path {
        self.case.as_deref().unwrap_or_else(|| Path::new("-"))
    }
}

const BENCH_EXAMPLES: &str = "\
Examples:
  cutlink bench mesh
  cutlink bench mesh --case torus --levels 5
  cutlink bench mesh part.stl --levels 6 --split 2 --device cuda
  cutlink bench mesh --scans ../shared/meshes --device cuda --json

Without a surface, built-in shapes or the scans of --scans are used. Other options apply to each \
case: --levels 3 makes all of them smaller.

Times are medians over the runs. Nothing is written.

Exit codes: 0 success, 1 run-time failure, 2 usage or bad input, 3 geometry refused, \
4 out of memory, 130 stopped by Ctrl-C.";

/// Options of a bench run.
#[derive(Debug, Clone, Copy, Args)]
pub struct BenchRun {
    /// Measured runs per case, after three warm-up runs [default: 20 for meshes, 10 for flows]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=100_000),
        help_heading = "Run"
    )]
    pub runs: Option<u32>,

    /// Where to run: auto, cpu, cuda or cuda:N [default: auto]
    #[arg(long, value_name = "DEVICE", help_heading = "Run")]
    pub device: Option<DeviceOption>,

    /// Worker threads; 0 uses all cores [default: 0]
    #[arg(long, value_name = "N", help_heading = "Run")]
    pub threads: Option<usize>,

    /// How to report.
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `cutlink bench mesh`.
#[derive(Debug, Args)]
#[command(after_help = BENCH_EXAMPLES)]
pub struct BenchMeshArgs {
    /// Surface file
    #[arg(conflicts_with_all = ["scans", "case"])]
    pub file: Option<PathBuf>,

    /// Built-in shape instead of a file, such as sphere:r=0.5
    #[arg(long, value_name = "SHAPE", help_heading = "Surface", conflicts_with_all = ["scans", "case"])]
    pub shape: Option<String>,

    /// Divide each facet edge into N parts: a triangle into N * N, a segment into N
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1024),
        help_heading = "Surface"
    )]
    pub split: Option<u32>,

    /// Folder with bunny_unit.stl and dragon_unit.ply: the cases of docs/performance.md
    #[arg(long, value_name = "DIR", help_heading = "Surface")]
    pub scans: Option<PathBuf>,

    /// Only this built-in or scanned case; repeatable
    #[arg(long, value_name = "NAME", help_heading = "Surface")]
    pub case: Vec<String>,

    /// Box of the mesh, in metres: x0,y0,z0,x1,y1,z1 (2D: x0,y0,x1,y1)
    #[arg(
        long,
        value_name = "BOX",
        allow_hyphen_values = true,
        help_heading = "Mesh"
    )]
    pub domain: Option<Numbers>,

    /// Root cells along the longest edge, or per axis (128x64x64); multiples of 4
    #[arg(long, value_name = "N", help_heading = "Mesh")]
    pub root: Option<Root>,

    /// Number of levels, the root level included
    #[arg(long, value_name = "N", help_heading = "Mesh")]
    pub levels: Option<usize>,

    /// Distance from the surface up to which cells are refined, in metres
    #[arg(
        long,
        value_name = "LENGTH",
        help_heading = "Mesh",
        allow_negative_numbers = true
    )]
    pub wall_distance: Option<f64>,

    /// Winding numbers that are inside [default: nonzero]
    #[arg(long, value_enum, value_name = "RULE", help_heading = "Mesh")]
    pub fill: Option<FillRule>,

    /// Where the fluid is [default: outside]
    #[arg(long, value_enum, value_name = "SIDE", help_heading = "Mesh")]
    pub flow: Option<FlowSide>,

    /// Accept surfaces that are open or inconsistently oriented
    #[arg(long, help_heading = "Mesh")]
    pub robust: bool,

    /// Measure the whole program, from surface file to mesh file, in 5 runs after one
    #[arg(long, help_heading = "Run", conflicts_with = "split")]
    pub end_to_end: bool,

    /// Folder for the files that --end-to-end writes and removes [default: the system's folder for temporary files]
    #[arg(
        long,
        value_name = "DIR",
        help_heading = "Run",
        requires = "end_to_end"
    )]
    pub folder: Option<PathBuf>,

    /// How to run, and how to report.
    #[command(flatten)]
    pub run: BenchRun,
}

const BENCH_SOLVE_EXAMPLES: &str = "\
Examples:
  cutlink bench solve
  cutlink bench solve --case box --lattice d3q19 --collision bgk,trt,regularized --cells 192
  cutlink bench solve --case sphere --root 128 --levels 4 --precision f32
  cutlink bench solve --gpus 2 --case box --lattice d3q19 --cells 1024,512,512
  cutlink bench solve --mesh bunny.cut --lattice d3q19 --precision f32

A decaying vortex is checked before anything is timed. Steps and memory copies alternate. \
Nothing is written.

Exit codes: 0 success, 1 run-time failure, 2 usage or bad input, 4 out of memory, 130 stopped by Ctrl-C.";

/// The cases of `cutlink bench solve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FlowCase {
    /// Uniform periodic boxes
    Box,
    /// A sphere on a refined mesh, with interpolated bounce-back and forces
    Sphere,
}

/// Arguments of `cutlink bench solve`.
#[derive(Debug, Args)]
#[command(after_help = BENCH_SOLVE_EXAMPLES)]
pub struct BenchSolveArgs {
    /// Only these cases [default: all]
    #[arg(long, value_enum, value_name = "CASE", value_delimiter = ',')]
    pub case: Vec<FlowCase>,

    /// Only these lattices: d2q9, d3q19, d3q27 [default: all]
    #[arg(
        long,
        value_name = "LATTICE",
        value_delimiter = ',',
        help_heading = "Flow"
    )]
    pub lattice: Vec<LatticeKind>,

    /// These precisions: f16, f32, f64 [default: f32,f64]
    #[arg(
        long,
        value_name = "PRECISION",
        value_delimiter = ',',
        help_heading = "Flow"
    )]
    pub precision: Vec<Precision>,

    /// These collisions: bgk, trt, regularized, cumulant (d3q27), kbc (d2q9, d3q27) [default: regularized]
    #[arg(
        long,
        value_name = "COLLISION",
        value_delimiter = ',',
        value_parser = crate::bench::solve::collision,
        help_heading = "Flow"
    )]
    pub collision: Vec<Collision>,

    /// Eddy viscosity: none, smagorinsky, qr (3D) [default: none]
    #[arg(long, value_name = "MODEL", help_heading = "Flow")]
    pub les: Option<Les>,

    /// Cells along the edges of 3D boxes, or along each of x,y,z; multiples of 4, and of the fewest of them [default: 128; on
    /// a GPU 256]
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "Mesh")]
    pub cells: Vec<u32>,

    /// GPUs that share each flow, from that of --device on
    #[arg(long, value_name = "N", help_heading = "Run", value_parser = clap::value_parser!(u16).range(1..))]
    pub gpus: Option<u16>,

    /// Keep all populations of all cells, where flows would keep moments
    #[arg(long, help_heading = "Flow")]
    pub populations: bool,

    /// Cells along the edges of 2D boxes, a multiple of 4 [default: 2048; on a GPU 4096]
    #[arg(long, value_name = "N", help_heading = "Mesh")]
    pub plane: Option<u32>,

    /// Root cells along the edges of the sphere's box; the sphere is four root cells across [default: 64; on a
    /// GPU 256]
    #[arg(long, value_name = "N", help_heading = "Mesh")]
    pub root: Option<u32>,

    /// Levels of the sphere's mesh, the root level included [default: 4]
    #[arg(long, value_name = "N", help_heading = "Mesh")]
    pub levels: Option<usize>,

    /// The flow past the body of this 3D mesh instead: a file of `cutlink mesh`
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Mesh",
        conflicts_with_all = ["case", "cells", "plane", "root", "levels"]
    )]
    pub mesh: Option<PathBuf>,

    /// Root steps per run [default: about a tenth of a second]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000),
        help_heading = "Run"
    )]
    pub steps: Option<u64>,

    /// How to run, and how to report.
    #[command(flatten)]
    pub run: BenchRun,
}

const BENCH_MOVE_EXAMPLES: &str = "\
Examples:
  cutlink bench move
  cutlink bench move --root 32 --levels 3 --precision f64
  cutlink bench move --device cuda --root 256

The sphere of `cutlink bench solve` (d3q19) swings by two finest cells to both sides, at a speed of 0.05 at most. Root steps of the \
flow with the sphere at rest, on the same mesh, alternate with those of the flow in which it moves. Nothing is written.

Exit codes: 0 success, 1 run-time failure, 2 usage or bad input, 4 out of memory, 130 stopped by Ctrl-C.";

/// Arguments of `cutlink bench move`.
#[derive(Debug, Args)]
#[command(after_help = BENCH_MOVE_EXAMPLES)]
pub struct BenchMoveArgs {
    /// Root cells along the edges of the box, a multiple of 4; the sphere is four root cells across [default: 64; on a GPU 256]
    #[arg(long, value_name = "N", help_heading = "Mesh", value_parser = clap::value_parser!(u32).range(8..))]
    pub root: Option<u32>,

    /// Levels of the mesh, the root level included [default: 4]
    #[arg(long, value_name = "N", help_heading = "Mesh", value_parser = levels)]
    pub levels: Option<usize>,

    /// f16, f32 or f64 [default: f32]
    #[arg(long, value_name = "PRECISION", help_heading = "Flow")]
    pub precision: Option<Precision>,

    /// Collision: bgk, trt, regularized [default: regularized]
    #[arg(
        long,
        value_name = "COLLISION",
        value_parser = crate::bench::solve::collision,
        help_heading = "Flow"
    )]
    pub collision: Option<Collision>,

    /// Root steps per run [default: 1]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000),
        help_heading = "Run"
    )]
    pub steps: Option<u64>,

    /// How to run, and how to report.
    #[command(flatten)]
    pub run: BenchRun,
}

/// A number of levels.
fn levels(text: &str) -> Result<usize, String> {
    let most = cutlink_amr::MAX_LEVELS;
    let levels = text.parse().ok().filter(|n| (1..=most).contains(n));
    levels.ok_or_else(|| format!("1 to {most} levels are possible"))
}

/// Arguments of `cutlink bench adapt`.
#[derive(Debug, Args)]
#[command(after_help = BENCH_ADAPT_EXAMPLES)]
pub struct BenchAdaptArgs {
    /// Root cells along the edges of the box, a multiple of 4 [default: 64; on a GPU 160]
    #[arg(long, value_name = "N", help_heading = "Mesh")]
    pub cells: Option<u32>,

    /// f16, f32 or f64 [default: f32]
    #[arg(long, value_name = "PRECISION", help_heading = "Flow")]
    pub precision: Option<Precision>,

    /// How to run, and how to report.
    #[command(flatten)]
    pub run: BenchRun,
}

const BENCH_ADAPT_EXAMPLES: &str = "\
Examples:
  cutlink bench adapt
  cutlink bench adapt --cells 96 --precision f64 --runs 5

A cube of blocks is refined at once in a periodic box, for four sizes of the cube. Nothing is written.

Exit codes: 0 success, 1 run-time failure, 2 usage or bad input, 4 out of memory, 130 stopped by Ctrl-C.";

/// Arguments of `cutlink bench flux`.
#[derive(Debug, Args)]
#[command(after_help = BENCH_FLUX_EXAMPLES)]
pub struct BenchFluxArgs {
    /// Only these orders of polynomials: 1 to 4 [default: all]
    #[arg(long, value_name = "P", value_delimiter = ',', value_parser = order, help_heading = "Flow")]
    pub order: Vec<usize>,

    /// These precisions: f32, f64 [default: both]
    #[arg(long, value_name = "PRECISION", value_delimiter = ',', value_parser = wide, help_heading = "Flow")]
    pub precision: Vec<Precision>,

    /// The Navier-Stokes equations instead of Euler's
    #[arg(long, help_heading = "Flow")]
    pub viscous: bool,

    /// Elements along the edges of all boxes [default: as many as make the orders alike in degrees of freedom]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(2..=65_536),
        help_heading = "Mesh"
    )]
    pub elements: Option<u32>,

    /// How to run, and how to report.
    #[command(flatten)]
    pub run: BenchRun,
}

/// An order of flux reconstruction.
fn order(text: &str) -> Result<usize, String> {
    let order = text.parse().ok().filter(|o| (1..=MAX_ORDER).contains(o));
    order.ok_or_else(|| format!("an order is 1 to {MAX_ORDER}"))
}

/// A precision of flux reconstruction.
fn wide(text: &str) -> Result<Precision, String> {
    match text.parse() {
        Ok(Precision::F16) => Err("flux reconstruction has f32 and f64".into()),
        Ok(precision) => Ok(precision),
        Err(error) => Err(format!("{error}")),
    }
}

const BENCH_FLUX_EXAMPLES: &str = "\
Examples:
  cutlink bench flux --order 3 --threads 1
  cutlink bench flux --device cuda --json
  cutlink bench flux --viscous --order 3

Periodic boxes in 2D and 3D with Runge-Kutta 33, of equal elements and with every eighth one refined; then \
adaptations of a mesh that follows a vortex. Nothing is written.

Exit codes: 0 success, 1 run-time failure, 2 usage or bad input, 4 out of memory, 130 stopped by Ctrl-C.";

/// Arguments of `cutlink bench hex`.
#[derive(Debug, Args)]
#[command(after_help = BENCH_HEX_EXAMPLES)]
pub struct BenchHexArgs {
    /// So many times the cells along each axis, 1 to 8
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u8).range(1..=8)
    )]
    pub scale: u8,

    /// How to run, and how to report.
    #[command(flatten)]
    pub run: BenchRun,
}

const BENCH_HEX_EXAMPLES: &str = "\
Examples:
  cutlink bench hex
  cutlink bench hex --scale 2 --threads 1
  cutlink bench hex --scale 3 --device cuda

A box with an obstacle, 400,672 cells, is refined to 710,534, with 5 fields of cells and one of fluxes. \
Nothing is written.

Exit codes: 0 success, 1 run-time failure, 2 usage or bad input, 4 out of memory, 130 stopped by Ctrl-C.";
