//! `cutlink mesh`: what was typed → a checked job ([`resolve`]) → the mesh ([`build`]) → the files,
//! the summary and the JSON object (`run`, [`report`]).

pub mod build;
pub mod domain;
pub mod gate;
pub(crate) mod intersections;
mod product;
pub mod report;
pub mod resolve;
mod run;
pub mod source;

pub(crate) use build::stage_name;
pub(crate) use product::write_picture;
pub(crate) use run::{Goal, run};

use crate::cli::MeshArgs;
use crate::console::{self, Console};
use crate::failure::Failure;
use cutlink_mesher::primitives::SHAPES;

/// Extension of mesh files.
pub const MESH_EXTENSION: &str = "cutlink";
/// The default near-wall distance, as a share of the box's longest edge (J26 Table 1).
const WALL_SHARE: f64 = 0.05;

/// Runs the command.
///
/// # Errors
/// Any failure; `docs/cli.md` lists the exit codes.
pub fn command(args: &MeshArgs) -> Result<(), Failure> {
    if args.options.shape.as_deref() == Some("help") {
        let list: Vec<String> = SHAPES
            .iter()
            .map(|(name, grammar)| format!("{name:<10} {grammar}\n"))
            .collect();
        return console::print(&list.concat());
    }
    run(args, Console::new(args.output), Goal::Mesh)
}
