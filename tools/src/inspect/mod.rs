//! `cutlink inspect`: shows, checks and exports a mesh file; for a surface, reports its health. The kind of a file is
//! detected by its content.

mod export;
mod surface;

use crate::cli::InspectArgs;
use crate::console::Console;
use cutlink::inspect::{self, InspectReport, Inspected, checks, verdict};
use cutlink::{Error, output};
use cutlink_mesher::read::read_all;
use cutlink_voxelizer::AnyMesh;
use std::collections::BTreeMap;

/// Runs the command.
///
/// # Errors
/// Any failure; `docs/cli.md` lists the exit codes. A failed check is a run-time failure.
pub fn command(args: &InspectArgs) -> Result<(), Error> {
    export::check(args)?;
    cutlink::pool::install(args.threads, || inspect(args))
}

fn inspect(args: &InspectArgs) -> Result<(), Error> {
    let console = Console::new(args.output);
    let opened = match &args.more[..] {
        [] => inspect::open(&args.file)?,
        more => {
            let files = [std::slice::from_ref(&args.file), more].concat();
            Inspected::Surface(read_all(&files).map_err(Error::from)?)
        }
    };
    match opened {
        Inspected::Mesh(mesh, metadata) => look(args, &mesh, &metadata, &console),
        Inspected::Surface(_) if export::wanted(args) => Err(Error::input(format!(
            "{} is a surface, not a mesh file: it cannot be exported",
            args.file.display()
        ))
        .hint("mesh it first: cutlink mesh FILE")),
        Inspected::Surface(surface) => surface::inspect(args, surface, &console),
    }
}

fn look(
    args: &InspectArgs,
    mesh: &AnyMesh,
    metadata: &BTreeMap<String, String>,
    console: &Console,
) -> Result<(), Error> {
    export::check_for(args, mesh)?;
    let mut report = match mesh {
        AnyMesh::D2(mesh) => InspectReport::new(mesh, metadata, &args.file),
        AnyMesh::D3(mesh) => InspectReport::new(mesh, metadata, &args.file),
    };
    console.show(&report.text())?;
    if args.check {
        report.checks = match mesh {
            AnyMesh::D2(mesh) => checks(mesh),
            AnyMesh::D3(mesh) => checks(mesh),
        };
    }
    if report.checks.iter().all(|c| c.passed) {
        report.files = export::write(args, mesh, console)?;
    }
    if let Some(path) = &args.report {
        let page = inspect::mesh_page(mesh, &report);
        output::write_text(path, args.force, &page.html())?;
    }
    let after = report.after_text();
    if !after.is_empty() {
        console.show(&format!("\n{after}"))?;
    }
    verdict(&report.checks, &args.file.display().to_string())?;
    console.object(&report)
}
