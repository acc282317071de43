//! What a user may type, and the help texts. Values stay as typed here: [`crate::options`]
//! has their types, [`crate::mesh`] checks what they mean.

use crate::options::{MeshOptions, Output};
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

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
