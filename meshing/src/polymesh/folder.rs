//! A `polyMesh` folder in a case: complete or absent, like every output.

use super::PolyZones;
use cutlink_common::{Error, output};
use cutlink_hex::polymesh::{MESH_FILES, write_zones};
use cutlink_hex::{MeshFileError, PolyMesh, PolyMeshFormat};
use std::fs;
use std::path::{Path, PathBuf};

/// The dictionaries without which no program of OpenFOAM opens a mesh, `checkMesh` included.
const SYSTEM: [(&str, &str); 3] = [
    (
        "controlDict",
        "application     checkMesh;
startFrom       startTime;
startTime       0;
stopAt          endTime;
endTime         0;
deltaT          1;
writeControl    timeStep;
writeInterval   1;
writePrecision  12;
",
    ),
    (
        "fvSchemes",
        "ddtSchemes {}
gradSchemes {}
divSchemes {}
laplacianSchemes {}
",
    ),
    ("fvSolution", "solvers {}\n"),
];

/// Memory in which a mesh is formatted, with room: pieces of all threads, buffers. It is there before a folder is begun, since the
/// program ends at once where it is refused.
const FORMATTING: u64 = 32 << 20;

fn folder_of(case: &Path) -> PathBuf {
    case.join("constant").join("polyMesh")
}

/// Checks before any work that the mesh of a case can be written.
///
/// # Errors
/// A mesh that exists (without `force`), or whose folder has files that do not belong to a mesh; a case that is not a
/// folder or not writable.
pub fn check(case: &Path, force: bool) -> Result<(), Error> {
    check_case(case)?;
    output::check_folder(&folder_of(case), force, &is_of_mesh)
}

/// Checks that a case is a folder, or can be one.
pub(crate) fn check_case(case: &Path) -> Result<(), Error> {
    let mut above = case;
    while let Err(_missing) = fs::metadata(above) {
        match above.parent() {
            Some(parent) if parent != Path::new("") => above = parent,
            _ => break,
        }
    }
    if fs::metadata(above).is_ok_and(|meta| !meta.is_dir()) {
        return Err(Error::input(format!("{} is not a folder", above.display()))
            .hint("give the folder of an OpenFOAM case, or one to create"));
    }
    Ok(())
}

/// Whether a file of a `polyMesh` folder belongs to its mesh.
fn is_of_mesh(name: &str) -> bool {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    MESH_FILES.contains(&name)
}

/// Writes a mesh and its zones as `constant/polyMesh` of a case, which is created where it does not exist. Of `system`, the case gets
/// the dictionaries that it lacks, so that `checkMesh` runs; those that are there stay as they are. Returns the bytes of
/// the mesh.
///
/// # Errors
/// As [`check`]; I/O errors, after which an earlier mesh is still there.
pub fn write(
    mesh: &PolyMesh,
    zones: &PolyZones,
    case: &Path,
    format: PolyMeshFormat,
    force: bool,
) -> Result<u64, Error> {
    let target = folder_of(case);
    let create = |folder: &Path| fs::create_dir_all(folder).map_err(|e| output::failed(folder, &e));
    super::reserve("the files of a polyMesh", FORMATTING)?;
    create(&case.join("constant"))?;
    let bytes = output::write_folder(&target, force, &is_of_mesh, |folder| {
        let write = || -> Result<u64, MeshFileError> {
            let mut bytes = mesh.write(folder, format)?;
            for (name, zones) in [("cellZones", &zones.cells), ("faceZones", &zones.faces)] {
                if !zones.is_empty() {
                    bytes += write_zones(folder, name, zones)?;
                }
            }
            Ok(bytes)
        };
        write().map_err(|error| output::failed(&target, &error))
    })?;
    complete(case)?;
    Ok(bytes)
}

/// Writes the dictionaries that `system` of a case lacks.
pub(crate) fn complete(case: &Path) -> Result<(), Error> {
    let create = |folder: &Path| fs::create_dir_all(folder).map_err(|e| output::failed(folder, &e));
    let system = case.join("system");
    create(&system)?;
    for (name, entries) in SYSTEM {
        let path = system.join(name);
        if !path.exists() {
            output::write_text(&path, false, &dictionary(name, entries))?;
        }
    }
    Ok(())
}

fn dictionary(name: &str, entries: &str) -> String {
    format!(
        "FoamFile\n{{\n    version     2.0;\n    format      ascii;\n    class       dictionary;\n    \
         location    \"system\";\n    object      {name};\n}}\n\n{entries}"
    )
}
