//! `cutlink inspect` on an STL, PLY or polyline file: its health report, and with `--check` its self-intersections.

use crate::cli::InspectArgs;
use crate::console::Console;
use cutlink::Error;
use cutlink::inspect::SurfaceReport;
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
    loaded: Loaded<D>,
    console: &Console,
) -> Result<(), Error>
where
    Facet<D>: Meet<D>,
{
    let report = SurfaceReport::new(&args.file, loaded, args.check)?;
    console.show(&report.text())?;
    console.object(&report.to_json())
}
