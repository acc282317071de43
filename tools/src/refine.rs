//! `cutlink refine`: the mesh of an OpenFOAM case, or one of another program.

use crate::cli::RefineArgs;
use crate::console::Console;
use cutlink::mesh::report::{bytes, counted, grouped};
use cutlink::openfoam::ImportOptions;
use cutlink::{Error, openfoam, pool};
use std::path::Path;

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
    let device = args.device.unwrap_or_default().0;
    let report = pool::install(args.threads, || match &args.polymesh {
        None => {
            check_case(&args.case)?;
            openfoam::refine(&args.case, &args.rules, format, device, &mut observer)
        }
        Some(case) => {
            let (force, patch_angle) = (args.force, args.patch_angle);
            if !(patch_angle > 0.0 && patch_angle <= 180.0) {
                let text = format!("--patch-angle is {patch_angle}, not between 0 and 180 degrees");
                return Err(Error::input(text));
            }
            let options = ImportOptions {
                format,
                force,
                patch_angle,
            };
            openfoam::import(
                &args.case,
                case,
                &args.rules,
                options,
                device,
                &mut observer,
            )
        }
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
    let patches = match &report.mesh {
        None => String::new(),
        Some(_) => {
            let each = report.patches.iter();
            let each = each.map(|(name, faces)| format!("{name} {}", grouped(*faces as u64)));
            format!("patches   {}\n", each.collect::<Vec<_>>().join(", "))
        }
    };
    console.show(&format!(
        "parent    {}\nbefore    {}\ncells     {} = {} by level; {} faces, {} points\n{patches}{fields}{zones}device    {}\nfiles     {} ({})\n",
        counted(report.parent_cells as u64, "cell"),
        counted(report.cells_before as u64, "cell"),
        grouped(report.cells as u64),
        levels.join(" + "),
        grouped(report.faces as u64),
        grouped(report.points as u64),
        report.device.text(),
        report.case.display(),
        bytes(report.bytes),
    ))?;
    console.object(&report)
}

/// Names the option that a mesh of another program needs.
fn check_case(case: &Path) -> Result<(), Error> {
    match case.is_file() {
        false => Ok(()),
        true => Err(
            Error::input(format!("{} is no folder of a case", case.display()))
                .hint("for a mesh of Gmsh or VTU, say with --polymesh CASE which case to write"),
        ),
    }
}
