//! Refines the mesh of an OpenFOAM case, and maps its fields; [`import()`] makes cases of meshes of other programs, and
//! [`HexCase`] has meshes in memory.
//!
//! The result is a function of the parent mesh and of the rules: cells that no rule names any more are coarse again. The
//! parent is the mesh that the case had at first. It stays in `constant/polyMesh/parent` with all its files, and with the
//! fields of that time in `parent/fields`.
//!
//! | in the latest time folder | mapped |
//! |---|---|
//! | fields of cells: scalars, vectors, tensors | the same value to children, means by volume to coarser cells |
//! | their values on patches | likewise, means by area |
//! | fluxes of volume or mass, such as `phi` | divided by areas, summed up; each cell keeps its divergence |
//! | other fields of faces, fields of points | left out where they have lists |
//! | other files | stay as they are |
//!
//! Zones of cells, faces and points are those of the parent, as `refineHexMesh` has them: parts of their cells and faces,
//! and the parent's points.

mod divide;
mod fields;
mod fluxes;
mod hex_case;
mod import;
mod rules;
mod surface;

pub use hex_case::HexCase;
pub use import::{ImportOptions, import};
pub use rules::CellRule;

use cutlink_common::{
    Error, Observer,
    device::{DeviceReport, Opened, OpenedDevice, Opening},
    output,
};
use cutlink_device::DeviceChoice;
use cutlink_hex::polymesh::{FoamZone, MESH_FILES, ZONE_FILES, read_zones, write_zones};
use cutlink_hex::refine::{PARENT, PARENT_LISTS, is_one_cell_thick, only_on_host};
use cutlink_hex::{MeshFileError, PolyMesh, PolyMeshFormat, RefinedMesh};
use divide::divide_parent;
use fields::Fields;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// A refined case in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct RefineReport {
    pub schema: u32,
    pub cutlink: &'static str,
    pub command: &'static str,
    pub case: PathBuf,
    pub mesh: Option<PathBuf>,
    pub patches: Vec<(String, usize)>,
    pub parent_cells: usize,
    pub cells_before: usize,
    pub cells: usize,
    pub faces: usize,
    pub points: usize,
    pub levels: Vec<usize>,
    pub polyhedra: usize,
    pub time: Option<String>,
    pub fields: Vec<String>,
    pub left_out: Vec<String>,
    pub zones: Vec<String>,
    pub bytes: u64,
    pub device: DeviceReport,
}

impl RefineReport {
    /// Of meshes alone.
    fn new(
        case: &Path,
        parent: &PolyMesh,
        old: &PolyMesh,
        new: &RefinedMesh,
        device: &OpenedDevice,
    ) -> Self {
        let patches = new.mesh.patches.iter();
        let mut of_device = DeviceReport::new(&device.selected, &device.opened);
        of_device.peak_bytes = device.opened.peak_bytes();
        Self {
            schema: cutlink_common::JSON_SCHEMA,
            cutlink: env!("CARGO_PKG_VERSION"),
            command: "refine",
            case: case.to_owned(),
            mesh: None,
            patches: patches.map(|p| (p.name.clone(), p.faces)).collect(),
            parent_cells: parent.cells,
            cells_before: old.cells,
            cells: new.mesh.cells,
            faces: new.mesh.faces(),
            points: new.mesh.points.len(),
            levels: levels(new),
            polyhedra: new.polyhedra,
            time: None,
            fields: Vec::new(),
            left_out: Vec::new(),
            zones: Vec::new(),
            bytes: 0,
            device: of_device,
        }
    }
}

/// Refines a case by rules; without rules it gets its parent mesh back. Nothing is written before all is computed; each
/// file, and the mesh as a whole, is complete or as it was. The mesh and the fluxes are the same bits on every device.
///
/// # Errors
/// A device given by name that is not there; a case without a mesh, damaged files, a rule for a field that does not exist; too little memory; I/O errors.
pub fn refine(
    case: &Path,
    rules: &[CellRule],
    format: PolyMeshFormat,
    choice: DeviceChoice,
    observer: &mut dyn Observer,
) -> Result<RefineReport, Error> {
    let opening = Opening::begin(choice)?;
    let folder = case.join("constant").join("polyMesh");
    let (old, parent) = RefinedMesh::read(&folder)?;
    let fields = Fields::read(case, &old.mesh)?;
    let marks = rules::wanted(rules, &old, &fields)?;
    let opening = suited(opening, choice, &parent, observer)?;
    let device = opening.get()?;
    let opened = &device.opened;
    let new = divide_parent(opened, &parent, &marks, observer)?;
    let mapped = fields.map(&old, &new, opened)?;
    let is_first = !folder.join(PARENT).is_dir();
    let zones = Zones::read(&folder, is_first, &parent)?.of(&new, &parent);
    let mut report = RefineReport {
        time: fields.time(),
        fields: mapped.iter().map(|(name, _)| name.clone()).collect(),
        left_out: fields.left_out.clone(),
        zones: zones.names(),
        ..RefineReport::new(case, &parent, &old.mesh, &new, device)
    };
    report.bytes = put_mesh(&folder, &new, &zones, &fields, is_first, format)?;
    fields.write(&mapped)?;
    note(&report, rules, &parent, &folder, observer);
    Ok(report)
}

/// The device that refines a mesh: where it may be any, the CPU for what only the CPU refines.
fn suited(
    opening: Opening,
    choice: DeviceChoice,
    mesh: &PolyMesh,
    observer: &mut dyn Observer,
) -> Result<Opening, Error> {
    let patch = only_on_host(&mesh.patches);
    let Some(patch) = patch.filter(|_| choice == DeviceChoice::Auto) else {
        return Ok(opening);
    };
    if !matches!(opening.get()?.opened, Opened::Cpu) {
        observer.note(&format!(
            "refined on the CPU: patch {} is of type {}",
            patch.name, patch.kind
        ));
    }
    Ok(Opening::begin(DeviceChoice::Cpu)?)
}

/// Zones of cells, of faces and of points.
#[derive(Debug, Clone)]
struct Zones([Option<Vec<FoamZone>>; 3]);

impl Zones {
    /// Those of the parent.
    fn read(folder: &Path, is_first: bool, parent: &PolyMesh) -> Result<Self, Error> {
        let folder = match is_first {
            true => folder.to_owned(),
            false => folder.join(PARENT),
        };
        let counts = [parent.cells, parent.faces(), parent.points.len()];
        let read = |i: usize| read_zones(&folder.join(ZONE_FILES[i].0), counts[i]);
        Ok(Self([read(0)?, read(1)?, read(2)?]))
    }

    /// On a refined mesh. The parent's points keep their numbers.
    fn of(self, new: &RefinedMesh, parent: &PolyMesh) -> Self {
        let [cells, faces, points] = self.0;
        let cells = cells.map(|zones| new.cell_zones(parent, &zones));
        let faces = faces.map(|zones| new.face_zones(parent, &zones));
        Self([cells, faces, points])
    }

    fn names(&self) -> Vec<String> {
        let all = self.0.iter().flatten().flatten();
        all.map(|zone| zone.name.clone()).collect()
    }

    fn write(&self, folder: &Path) -> Result<u64, MeshFileError> {
        let files = ZONE_FILES.iter().zip(&self.0);
        let files = files.filter_map(|(file, zones)| Some((file.0, zones.as_ref()?)));
        files
            .map(|(name, zones)| write_zones(folder, name, zones))
            .sum()
    }
}

/// Cells of each number of refinements.
fn levels(mesh: &RefinedMesh) -> Vec<usize> {
    let mut levels = Vec::new();
    for path in &mesh.paths {
        let level = usize::from(path.level());
        if levels.len() <= level {
            levels.resize(level + 1, 0);
        }
        levels[level] += 1;
    }
    levels
}

fn note(
    report: &RefineReport,
    rules: &[CellRule],
    parent: &PolyMesh,
    folder: &Path,
    observer: &mut dyn Observer,
) {
    if !rules.is_empty() && report.levels.len() == 1 {
        observer.note(
            "no cell was refined: no rule with two levels or more meets a cell that can be divided",
        );
    }
    if report.polyhedra > 0 {
        let what = match is_one_cell_thick(&parent.patches) {
            true => "do not lie between two quadrilaterals of empty or wedge patches",
            false => "are not hexahedra",
        };
        observer.note(&format!(
            "{} of {} cells of the parent {what}: they stay as they are, and limit the levels beside them",
            report.polyhedra, parent.cells
        ));
    }
    if !report.left_out.is_empty() {
        observer.note(&format!(
            "fields of faces left out: {}",
            report.left_out.join(", ")
        ));
    }
    if report.case.join("processor0").is_dir() {
        observer.note(
            "processor0 and others have the mesh before: divide the case anew for parallel runs",
        );
    }
    if folder.join(PARENT).join("sets").is_dir() {
        observer.note(&format!("not mapped, and in {PARENT} only: sets"));
    }
}

/// Replaces the mesh; its parent goes along.
fn put_mesh(
    folder: &Path,
    new: &RefinedMesh,
    zones: &Zones,
    fields: &Fields,
    is_first: bool,
    format: PolyMeshFormat,
) -> Result<u64, Error> {
    let is_ours = |name: &str| {
        let name = name.strip_suffix(".gz").unwrap_or(name);
        // What is there at first is copied, whatever it is.
        is_first || name == PARENT || PARENT_LISTS.contains(&name) || MESH_FILES.contains(&name)
    };
    output::write_folder(folder, true, &is_ours, |at| {
        let to = at.join(PARENT);
        match is_first {
            true => {
                copy(folder, &to)?;
                fields.keep(&to.join("fields"))?;
            }
            false => copy(&folder.join(PARENT), &to)?,
        }
        Ok(new.write(at, format)? + zones.write(at)?)
    })
}

fn create(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|e| output::failed(folder, &e))
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    let broken = |error: std::io::Error| output::failed(to, &error);
    fs::create_dir_all(to).map_err(broken)?;
    for entry in fs::read_dir(from).map_err(broken)? {
        let entry = entry.map_err(broken)?;
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy(&path, &to)?,
            false => drop(fs::copy(&path, &to).map_err(|error| output::failed(&to, &error))?),
        }
    }
    Ok(())
}
