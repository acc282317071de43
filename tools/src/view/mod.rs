//! `cutlink view`: a surface, a mesh, an OpenFOAM mesh or the results of a run in the browser.
//!
//! A file gets a page beside it, `FILE.html`, or where `--output` says. A folder of results has its own, `report.html`; while
//! a run writes into it, a server on this machine follows it.

mod server;

use crate::cli::ViewArgs;
use crate::console::Console;
use cutlink::inspect::{
    self, InspectReport, Inspected, SurfaceReport, mesh_page, polymesh_page, surface_page,
};
use cutlink::lock::is_running;
use cutlink::{Error, output};
use cutlink_hex::PolyMesh;
use cutlink_mesher::exact::Facet;
use cutlink_mesher::intersect::Meet;
use cutlink_mesher::read::{AnySurface, Loaded};
use cutlink_report::ReportPage;
use cutlink_voxelizer::AnyMesh;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The page of a folder of results.
const PAGE: &str = "report.html";

/// Runs the command.
///
/// # Errors
/// Any failure; `docs/cli.md` lists the exit codes. That no browser opens is none: the address is printed.
pub fn command(args: &ViewArgs) -> Result<(), Error> {
    let console = Console::new(args.report);
    let path = &args.path;
    if path.is_dir() && polymesh_of(path).is_none() {
        return folder(path, args, &console);
    }
    let target = match &args.output {
        Some(target) => target.clone(),
        None => beside(path),
    };
    let ours = args.output.is_none() && is_page(&target);
    output::check(&target, args.force || ours, Some(path))?;
    let page = cutlink::pool::install(args.threads, || page_of(path))?;
    output::write_text(&target, args.force || ours, &page.html())?;
    show(
        &target.display().to_string(),
        &address(&target),
        args,
        &console,
    )
}

/// `FILE.html` beside a file.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let mut name = name.to_owned();
    name.push(".html");
    path.with_file_name(name)
}

/// Whether a file is a page of this program, which may be replaced by a new one of the same file.
fn is_page(path: &Path) -> bool {
    use std::io::Read as _;
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(4096).read_to_end(&mut head));
    let head = String::from_utf8_lossy(&head);
    read.is_ok() && head.contains("script-src 'sha256-") && head.contains("default-src 'none'")
}

/// The folder of the mesh of an OpenFOAM case, if a path is one or the case.
fn polymesh_of(path: &Path) -> Option<PathBuf> {
    let folders = [
        path.to_owned(),
        path.join("constant/polyMesh"),
        path.join("polyMesh"),
    ];
    let is_mesh = |folder: &PathBuf| {
        let has =
            |name: &str| folder.join(name).exists() || folder.join(format!("{name}.gz")).exists();
        has("faces") && has("owner")
    };
    folders.into_iter().find(is_mesh)
}

fn page_of(path: &Path) -> Result<ReportPage, Error> {
    if let Some(folder) = polymesh_of(path) {
        let mesh = PolyMesh::read(&folder).map_err(|e| Error::input(e.to_string()))?;
        return Ok(polymesh_page(&mesh, path));
    }
    match inspect::open(path)? {
        Inspected::Mesh(mesh, metadata) => {
            let report = match &*mesh {
                AnyMesh::D2(mesh) => InspectReport::new(mesh, &metadata, path),
                AnyMesh::D3(mesh) => InspectReport::new(mesh, &metadata, path),
            };
            Ok(mesh_page(&mesh, &report))
        }
        Inspected::Surface(AnySurface::D2(loaded)) => of_surface(path, loaded),
        Inspected::Surface(AnySurface::D3(loaded)) => of_surface(path, loaded),
    }
}

fn of_surface<const D: usize>(path: &Path, mut loaded: Loaded<D>) -> Result<ReportPage, Error>
where
    Facet<D>: Meet<D>,
{
    let (report, crossing) = SurfaceReport::with_crossing(path, &mut loaded, true)?;
    Ok(surface_page(&report, &loaded.surface, &crossing))
}

/// Shows the results in a folder, and follows a run that writes them.
fn folder(path: &Path, args: &ViewArgs, console: &Console) -> Result<(), Error> {
    let page = path.join(PAGE);
    if args.output.is_some() {
        return Err(
            Error::input("--output is for files: a folder of results has its own page")
                .hint(format!("copy {}", page.display())),
        );
    }
    if !is_running(path) {
        if !page.is_file() {
            return Err(
                Error::input(format!("{} has no {PAGE}", path.display())).hint(
                    "a run writes it unless [output] report = false; other folders: give one file",
                ),
            );
        }
        return show(&page.display().to_string(), &address(&page), args, console);
    }
    let server = server::Server::open(&page)?;
    console.show(&format!(
        "following the run in {}; Ctrl-C ends that, not the run\non another machine: ssh -L {port}:127.0.0.1:{port} HOST\n",
        path.display(),
        port = server.port()
    ))?;
    show(&server.address(), &server.address(), args, console)?;
    server.serve(|| is_running(path))
}

/// The address of a file.
fn address(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut text = String::from("file://");
    for byte in whole.to_string_lossy().bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                text.push(char::from(byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// Prints the name of a page and opens it.
fn show(name: &str, address: &str, args: &ViewArgs, console: &Console) -> Result<(), Error> {
    console.show(&format!("{name}\n"))?;
    console.object(&serde_json::json!({ "page": name, "address": address }))?;
    if !args.no_open {
        browse(address);
    }
    Ok(())
}

/// Asks the desktop to open an address; without one nothing happens.
fn browse(address: &str) {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.args(["/c", "start", ""]);
        command
    } else {
        Command::new("xdg-open")
    };
    let quiet = || Stdio::null();
    let command = command
        .arg(address)
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet());
    // It goes on by itself.
    drop(command.spawn());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_beside_their_files() {
        assert_eq!(
            beside(Path::new("a/part.stl")),
            Path::new("a/part.stl.html")
        );
        assert_eq!(beside(Path::new("part")), Path::new("part.html"));
        let spaced = address(Path::new("/a b/<c>.html"));
        assert_eq!(spaced, "file:///a%20b/%3Cc%3E.html");
    }
}
