//! `cutlink inspect` on surfaces: their health report, and with `--check` their self-intersections.

use crate::cli::InspectArgs;
use crate::console::Console;
use cutlink::inspect::{SurfaceReport, surface_page};
use cutlink::mesh::resolve::listed;
use cutlink::{Error, output};
use cutlink_mesher::exact::Facet;
use cutlink_mesher::intersect::Meet;
use cutlink_mesher::read::{AnySurface, Loaded};
use std::path::PathBuf;

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
    let files = [std::slice::from_ref(&args.file), &args.more[..]].concat();
    let name = PathBuf::from(listed(&files));
    let (report, crossing) = SurfaceReport::with_crossing(&name, &mut loaded, args.check)?;
    if let Some(path) = &args.report {
        let page = surface_page(&report, &loaded.surface, &crossing);
        output::write_text(path, args.force, &page.html())?;
    }
    console.show(&report.text())?;
    console.object(&report.to_json())
}
