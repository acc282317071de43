//! `cutlink inspect`: shows, checks and exports a mesh file; for a surface, reports its health. The kind of a file is
//! detected by its content.

mod export;
pub mod report;
mod surface;

use crate::cli::InspectArgs;
use crate::console::Console;
use cutlink::{Error, ErrorKind};
use cutlink_mesher::read::{ReadError, read_any};
use cutlink_voxelizer::mesh_file::{self, FileError};
use cutlink_voxelizer::{AnyMesh, Mesh, validate};
use report::{FileCheck, InspectReport};
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
    match mesh_file::read(&args.file) {
        Ok((mesh, metadata)) => look(args, &mesh, &metadata, &console),
        Err(FileError::NotAMesh { path, reason }) => match read_any(&args.file) {
            Ok(_) if export::wanted(args) => Err(Error::input(format!(
                "{} is a surface, not a mesh file: it cannot be exported",
                path.display()
            ))
            .hint("mesh it first: cutlink mesh FILE")),
            Ok(surface) => surface::inspect(args, surface, &console),
            Err(ReadError::UnknownFormat { .. }) => Err(Error::input(format!(
                "{} is neither a mesh file ({reason}) nor a surface (STL, PLY or polyline)",
                path.display()
            ))),
            Err(error) => Err(error.into()),
        },
        Err(error) => Err(unreadable(error)),
    }
}

/// The error for an unreadable mesh file: bad input, with `--check` too.
fn unreadable(error: FileError) -> Error {
    match error {
        FileError::Memory { source, path } => {
            let mut failure = Error::from(source);
            failure.message = format!("cannot load {}: {}", path.display(), failure.message);
            failure
        }
        _ => Error::input(error.to_string()),
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
        report.files = export::write(args, mesh)?;
    }
    let after = report.after_text();
    if !after.is_empty() {
        console.show(&format!("\n{after}"))?;
    }
    match report.checks.iter().find(|c| !c.passed) {
        None => console.object(&report),
        Some(check) => {
            let name = args.file.display();
            let mut failure = Error::new(
                ErrorKind::Runtime,
                format!("{name} failed its check: {}", check.name),
            );
            failure.causes.extend(check.violation.clone());
            failure = failure.details(serde_json::json!({ "checks": report.checks }));
            Err(failure.hint("write the mesh again with cutlink mesh"))
        }
    }
}

/// Runs all checks.
fn checks<const D: usize>(mesh: &Mesh<D>) -> Vec<FileCheck> {
    let forest = mesh.forest.validate().err().map(|e| e.to_string());
    let cells = validate(mesh).err().map(|e| e.to_string());
    let file = FileCheck {
        name: "file",
        what: "sizes, structure and both checksums (on reading)",
        passed: true,
        violation: None,
    };
    let forest = FileCheck {
        name: "forest",
        what: "lists, tree, coordinates, siblings, neighbours, 2:1 over faces, edges and corners",
        passed: forest.is_none(),
        violation: forest,
    };
    let cells = FileCheck {
        name: "cells and links",
        what: "class masks, link table, every q in (0, 1], every fluid-solid link cut, every cut \
               seen from both ends, no surface between levels",
        passed: cells.is_none(),
        violation: cells,
    };
    vec![file, forest, cells]
}
