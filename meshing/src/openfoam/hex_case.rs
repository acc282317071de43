//! A mesh in memory, with its parent and its zones.

use super::divide::{Origin, divide};
use super::import::ImportOptions;
use super::{Zones, create, suited};
use crate::polymesh;
use cutlink_common::{
    Error, Observer,
    device::{Opening, on},
    output,
};
use cutlink_device::DeviceChoice;
use cutlink_hex::polymesh::MESH_FILES;
use cutlink_hex::refine::{PARENT, PARENT_LISTS};
use cutlink_hex::volume::{VolumeMesh, read_volume};
use cutlink_hex::{CellPath, PolyMesh, RefinedMesh};
use std::path::Path;
use std::sync::Arc;

/// A mesh of hexahedra or of tetrahedra: of an OpenFOAM case, of Gmsh or of VTK. It never changes: refining makes another
/// one of the same parent.
#[derive(Debug, Clone)]
pub struct HexCase {
    parent: Arc<PolyMesh>,
    zones: Arc<Zones>,
    refined: RefinedMesh,
}

impl HexCase {
    /// Reads a case, its `polyMesh` folder, or a volume mesh, whose boundary is divided at edges of `patch_angle` degrees
    /// where it has no names.
    ///
    /// # Errors
    /// A folder without a mesh; a file that is no volume mesh; damaged ones; too little memory.
    pub fn read(path: &Path, patch_angle: f64, observer: &mut dyn Observer) -> Result<Self, Error> {
        if !path.is_dir() {
            let read = read_volume(path, patch_angle)?;
            for note in &read.notes {
                observer.note(note);
            }
            return Self::of(read);
        }
        let inner = path.join("constant").join("polyMesh");
        let folder = match inner.is_dir() {
            true => inner,
            false => path.to_owned(),
        };
        let (refined, parent) = RefinedMesh::read(&folder)?;
        let is_first = !folder.join(PARENT).is_dir();
        let zones = Zones::read(&folder, is_first, &parent)?;
        let (parent, zones) = (Arc::new(parent), Arc::new(zones));
        Ok(Self {
            parent,
            zones,
            refined,
        })
    }

    /// Of a volume mesh, not refined.
    pub(super) fn of(read: VolumeMesh) -> Result<Self, Error> {
        let some = |zones: Vec<_>| Some(zones).filter(|zones| !zones.is_empty());
        let refined = RefinedMesh::new(&read.mesh)?;
        let zones = Zones([some(read.cell_zones), some(read.face_zones), None]);
        Ok(Self {
            parent: Arc::new(read.mesh),
            zones: Arc::new(zones),
            refined,
        })
    }

    /// The mesh.
    pub fn mesh(&self) -> &PolyMesh {
        &self.refined.mesh
    }

    /// The mesh that refinement started from.
    pub fn parent(&self) -> &PolyMesh {
        &self.parent
    }

    /// Where each cell is in the parent.
    pub fn paths(&self) -> &[CellPath] {
        &self.refined.paths
    }

    /// The mesh with its paths.
    pub(super) fn refined(&self) -> &RefinedMesh {
        &self.refined
    }

    /// Another mesh of the same parent.
    pub(super) fn with(&self, refined: RefinedMesh) -> Self {
        Self {
            refined,
            ..self.clone()
        }
    }

    /// Refines each cell so many times more, and those that have to be refined with them: levels differ by one at most
    /// around every point. Cells that are neither hexahedra nor, in a mesh of them, tetrahedra stay, and limit the
    /// levels beside them. So do cells whose children would have faces that point the wrong way; a note counts them.
    ///
    /// The same mesh on every device.
    ///
    /// # Errors
    /// Another number of cells; too many levels; such a cell that the levels around it divide; a mesh too large for 32-bit
    /// ids or for memory; a device given by name that is not there.
    pub fn refine(
        &self,
        times: &[u8],
        choice: DeviceChoice,
        observer: &mut dyn Observer,
    ) -> Result<Self, Error> {
        let cells = self.refined.mesh.cells;
        if times.len() != cells {
            let text = format!("{} marks for {cells} cells", times.len());
            return Err(Error::input(text).hint("give one for each cell"));
        }
        let opening = Opening::begin(choice)?;
        let opening = suited(opening, choice, &self.parent, observer)?;
        let device = opening.get()?;
        let refined = &self.refined;
        let origin = |path: CellPath| {
            let cell = refined.paths.partition_point(|old| *old <= path) - 1;
            Origin {
                cell,
                is_part: refined.paths[cell] != path,
            }
        };
        let by_times = |whole: &[bool]| {
            let each = times.iter().zip(whole);
            let times: Vec<u8> = each.map(|(&n, &stays)| if stays { 0 } else { n }).collect();
            Ok(on!(&device.opened, kernels => refined.refined_on(kernels, &times))?)
        };
        Ok(self.with(divide(&refined.mesh, origin, by_times, observer)?))
    }

    /// The parent as a mesh of its own.
    ///
    /// # Errors
    /// Too little memory.
    pub fn coarsen(&self) -> Result<Self, Error> {
        Ok(self.with(RefinedMesh::new(&self.parent)?))
    }

    /// Writes the mesh as `constant/polyMesh` of a case, with its parent where it is refined, and the dictionaries that
    /// `system` lacks. Returns the bytes of the mesh.
    ///
    /// # Errors
    /// A mesh that exists (without `force`), or whose folder has other files; I/O errors, after which an earlier mesh is
    /// still there.
    pub fn write(&self, case: &Path, options: ImportOptions) -> Result<u64, Error> {
        check(case, options.force)?;
        let bytes = self.put(case, options, |_| Ok(()))?;
        polymesh::complete(case)?;
        Ok(bytes)
    }

    /// Names of the zones.
    pub(super) fn zone_names(&self) -> Vec<String> {
        self.zones.names()
    }

    /// Writes the mesh; `keep` adds to the folder of its parent.
    pub(super) fn put(
        &self,
        case: &Path,
        options: ImportOptions,
        keep: impl FnOnce(&Path) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let (new, parent, format) = (&self.refined, &*self.parent, options.format);
        create(&case.join("constant"))?;
        output::write_folder(&folder_of(case), options.force, &is_ours, |at| {
            if new.mesh.cells == parent.cells {
                return Ok(parent.write(at, format)? + self.zones.write(at)?);
            }
            let to = at.join(PARENT);
            create(&to)?;
            parent.write(&to, format)?;
            self.zones.write(&to)?;
            keep(&to)?;
            let zones = Zones::clone(&self.zones).of(new, parent);
            Ok(new.write(at, format)? + zones.write(at)?)
        })
    }
}

fn folder_of(case: &Path) -> std::path::PathBuf {
    case.join("constant").join("polyMesh")
}

/// Checks before any work that the mesh of a case can be written.
pub(super) fn check(case: &Path, force: bool) -> Result<(), Error> {
    polymesh::check_case(case)?;
    output::check_folder(&folder_of(case), force, &is_ours)
}

/// Whether a file of a `polyMesh` folder belongs to its mesh.
fn is_ours(name: &str) -> bool {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    name == PARENT || PARENT_LISTS.contains(&name) || MESH_FILES.contains(&name)
}
