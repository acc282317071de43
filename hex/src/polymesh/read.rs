//! Reading `polyMesh` folders: text or binary, labels and scalars of either width, compressed or not.

use super::foam::Source;
use crate::MeshFileError;
use crate::{PolyLevels, PolyMesh, PolyPatch};
use std::path::Path;

impl PolyMesh {
    /// Reads a mesh from a `polyMesh` folder. Ids, patches and lengths are checked; closed cells, volumes and order are
    /// left to [`validate`](PolyMesh::validate). Memory: one file at a time and the mesh.
    ///
    /// # Errors
    /// A file that is missing or damaged, by name and place; arrays that do not fit one another.
    pub fn read(folder: &Path) -> Result<Self, MeshFileError> {
        let open = |name: &str| match Source::open(&folder.join(name))? {
            Some(source) => Ok(source),
            None => Err(MeshFileError::Missing {
                path: folder.join(name),
            }),
        };
        let end = |mut source: Source| match source.is_end() {
            true => Ok(()),
            false => Err(source.wrong("the file goes on after its last list")),
        };
        let mut mesh = Self::default();
        let mut source = open("points")?;
        mesh.points = source.points()?;
        end(source)?;
        let mut source = open("faces")?;
        (mesh.face_start, mesh.face_points) = source.faces()?;
        end(source)?;
        let mut source = open("owner")?;
        mesh.owner = source.labels("owners")?;
        end(source)?;
        let mut source = open("neighbour")?;
        mesh.neighbour = source.labels("neighbours")?;
        end(source)?;
        let largest = mesh.owner.iter().chain(&mesh.neighbour).max();
        mesh.cells = largest.map_or(0, |&cell| cell as usize + 1);
        let mut source = open("boundary")?;
        mesh.patches = patches(&mut source)?;
        end(source)?;
        let mut levels = PolyLevels::default();
        let cell = level_list(folder, "cellLevel", &mut levels.cell)?;
        let point = level_list(folder, "pointLevel", &mut levels.point)?;
        if cell && point {
            levels.edge = edge(folder)?.unwrap_or(0.0);
            mesh.levels = Some(levels);
        }
        mesh.check_ids()
            .map_err(|violation| MeshFileError::Invalid {
                path: folder.to_owned(),
                violation,
            })?;
        Ok(mesh)
    }
}

fn patches(source: &mut Source) -> Result<Vec<PolyPatch>, MeshFileError> {
    let len = source.length(2)?;
    let mut patches = Vec::new();
    source.skip(b'(')?;
    for _ in 0..len {
        let mut patch = PolyPatch {
            name: source.name("a patch")?,
            ..PolyPatch::default()
        };
        let (mut start, mut faces) = (None, None);
        for (key, value) in source.dictionary()? {
            let count = || {
                let what = format!(
                    "patch {}: {key} is `{value}`, a number expected",
                    patch.name
                );
                value.parse().map_err(|_| source.wrong(what))
            };
            match key.as_str() {
                "type" => patch.kind = value,
                "nFaces" => faces = Some(count()?),
                "startFace" => start = Some(count()?),
                _ => patch.entries.push((key, value)),
            }
        }
        match (start, faces) {
            (Some(start), Some(faces)) => (patch.start, patch.faces) = (start, faces),
            _ => {
                return Err(source.wrong(format!("patch {} lacks startFace or nFaces", patch.name)));
            }
        }
        patches.push(patch);
    }
    source.skip(b')')?;
    Ok(patches)
}

/// Reads levels where there are some.
fn level_list(folder: &Path, name: &str, into: &mut Vec<u8>) -> Result<bool, MeshFileError> {
    let Some(mut source) = Source::open(&folder.join(name))? else {
        return Ok(false);
    };
    for level in source.labels("levels")? {
        into.push(
            u8::try_from(level)
                .map_err(|_| source.wrong(format!("level {level} is beyond 255")))?,
        );
    }
    Ok(true)
}

/// The length of the edges of level 0, where it is known.
fn edge(folder: &Path) -> Result<Option<f64>, MeshFileError> {
    let Some(mut source) = Source::open(&folder.join("level0Edge"))? else {
        return Ok(None);
    };
    while !source.is_end() {
        let (key, value) = (source.word()?, source.value()?);
        if key == "value" {
            let edge = value.parse();
            return edge
                .map(Some)
                .map_err(|_| source.wrong(format!("`{value}` is not a length")));
        }
    }
    Ok(None)
}

/// A list of labels in a file.
pub(crate) fn read_labels(path: &Path) -> Result<Vec<u32>, MeshFileError> {
    let source = Source::open(path)?;
    let mut source = source.ok_or_else(|| MeshFileError::Missing {
        path: path.to_owned(),
    })?;
    source.labels("labels")
}
