//! `cutlink refine`: the hexahedra of an OpenFOAM case.

use crate::cli::RefineArgs;
use crate::console::Console;
use cutlink::mesh::report::{bytes, counted, grouped};
use cutlink::{Error, openfoam, pool};

/// Runs the command.
///
/// # Errors
/// Any failure; `docs/cli.md` lists the exit codes.
pub fn command(args: &RefineArgs) -> Result<(), Error> {
    let console = Console::new(args.output);
    let format = args
        .polymesh_format
        .map_or_else(Default::default, Into::into);
    let mut observer = console.clone();
    let report = pool::install(args.threads, || {
        openfoam::refine(&args.case, &args.rules, format, &mut observer)
    })?;
    let levels: Vec<String> = report.levels.iter().map(|&n| grouped(n as u64)).collect();
    let fields = match (&report.time, report.fields.is_empty()) {
        (Some(time), false) => format!("fields    {} of time {time}\n", report.fields.join(", ")),
        _ => "fields    none\n".to_owned(),
    };
    let zones = match report.zones.is_empty() {
        true => String::new(),
        false => format!("zones     {}\n", report.zones.join(", ")),
    };
    console.show(&format!(
        "parent    {}\nbefore    {}\ncells     {} = {} by level; {} faces, {} points\n{fields}{zones}files     {} ({})\n",
        counted(report.parent_cells as u64, "cell"),
        counted(report.cells_before as u64, "cell"),
        grouped(report.cells as u64),
        levels.join(" + "),
        grouped(report.faces as u64),
        grouped(report.points as u64),
        args.case.display(),
        bytes(report.bytes),
    ))?;
    console.object(&report)
}
