//! `cutlink inspect` on an STL, PLY or polyline file: its health report.

use crate::console::Console;
use crate::failure::Failure;
use crate::mesh::report::bytes;
use crate::mesh::source::health_of;
use cutlink_mesher::read::{AnySurface, Loaded};
use std::path::Path;

/// Reports on a surface of either dimension.
///
/// # Errors
/// A fault of stdout.
pub(super) fn inspect(path: &Path, surface: AnySurface, console: &Console) -> Result<(), Failure> {
    match surface {
        AnySurface::D2(loaded) => report(path, loaded, console),
        AnySurface::D3(loaded) => report(path, loaded, console),
    }
}

fn report<const D: usize>(
    path: &Path,
    mut loaded: Loaded<D>,
    console: &Console,
) -> Result<(), Failure> {
    let (health, welded) = health_of(&mut loaded.surface, &loaded.report);
    let read = &loaded.report;
    let notes: Vec<&String> = read.notes.iter().chain(&welded).collect();
    let patches = &loaded.surface.patches;
    let mut text = format!(
        "file      {} ({}{}, {})\n",
        path.display(),
        read.format,
        if read.gzipped { ", gzipped" } else { "" },
        bytes(read.bytes)
    );
    if patches.len() > 1 {
        text += &format!("patches   {}\n", patches.join(", "));
    }
    text += &format!("{health}\n");
    for note in &notes {
        text += &format!("note: {note}\n");
    }
    console.summary(&text)?;
    console.object(&serde_json::json!({
        "schema": crate::JSON_SCHEMA,
        "cutlink": env!("CARGO_PKG_VERSION"),
        "command": "inspect",
        "kind": "surface",
        "file": { "path": path, "bytes": read.bytes },
        "dimensions": D,
        "input": {
            "format": read.format.to_string(),
            "gzipped": read.gzipped,
            "triangles": health.facets,
            "closed": health.closed(),
            "closed_evenodd": health.closed_evenodd(),
            "patches": patches,
        },
        "health": health,
        "notes": notes,
    }))
}
