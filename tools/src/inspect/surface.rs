//! `cutlink inspect` on an STL, PLY or polyline file: its health report, and with `--check` its self-intersections.

use crate::cli::InspectArgs;
use crate::console::Console;
use cutlink::Error;
use cutlink::mesh::intersections;
use cutlink::mesh::report::bytes;
use cutlink::mesh::source::health_of;
use cutlink_mesher::exact::Facet;
use cutlink_mesher::intersect::Meet;
use cutlink_mesher::read::{AnySurface, Loaded};

/// Reports on a surface of either dimension.
///
/// # Errors
/// I/O errors of stdout.
pub(super) fn inspect(
    args: &InspectArgs,
    surface: AnySurface,
    console: &Console,
) -> Result<(), Error> {
    match surface {
        AnySurface::D2(loaded) => report(args, loaded, console),
        AnySurface::D3(loaded) => report(args, loaded, console),
    }
}

fn report<const D: usize>(
    args: &InspectArgs,
    mut loaded: Loaded<D>,
    console: &Console,
) -> Result<(), Error>
where
    Facet<D>: Meet<D>,
{
    let path = &args.file;
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
    let intersections = match args.check {
        true => Some(intersections::find_as_is(&loaded.surface)?.report),
        false => None,
    };
    if let Some(found) = &intersections {
        text += &format!("{}\n", found.text());
    }
    for note in &notes {
        text += &format!("note: {note}\n");
    }
    console.show(&text)?;
    console.object(&serde_json::json!({
        "schema": cutlink::JSON_SCHEMA,
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
        "intersections": intersections,
        "notes": notes,
    }))
}
