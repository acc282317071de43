//! `cutlink demo`: fetches a real scan and runs `cutlink mesh` on it with the defaults.

use crate::cli::{Cli, Command};
use crate::console;
use crate::mesh;
use clap::Parser;
use cutlink::Error;
use std::path::Path;

/// Runs the command.
///
/// # Errors
/// Those of `cutlink mesh`. A failed download is not an error: a shape is meshed instead.
pub fn command(force: bool) -> Result<(), Error> {
    let mut line = vec!["cutlink", "mesh"];
    match cutlink_meshes::bunny(Path::new(".")) {
        Ok(sample) => {
            if let (Some(package), Some(capped)) = (&sample.package, sample.capped) {
                console::tell(&format!(
                    "fetched   the Stanford bunny (Stanford 3D Scanning Repository) from {package}; \
                     {} holes closed by {} triangles: {}",
                    capped.holes,
                    capped.facets,
                    sample.path.display()
                ));
            }
            line.push("bunny.stl");
        }
        Err(error) => {
            console::tell(&format!(
                "{error}\nmeshing a built-in torus instead; to mesh your own scan: cutlink mesh FILE"
            ));
            line.extend(["--shape", "torus"]);
        }
    }
    if force {
        line.push("--force");
    }
    match Cli::parse_from(line).command {
        Command::Mesh(args) => mesh::command(&args, None),
        _ => unreachable!("the line above names the mesh command"),
    }
}
