//! The fields of the latest time of a case.

use super::fluxes;
use cutlink_common::{Error, device::Opened, output};
use cutlink_hex::polymesh::{FieldEntries, FieldValue, FoamField};
use cutlink_hex::refine::MeanMap;
use cutlink_hex::{PolyMesh, RefinedMesh};
use std::fs;
use std::path::{Path, PathBuf};

/// Fields in memory.
pub(super) struct Fields {
    folder: Option<PathBuf>,
    fields: Vec<(String, FoamField)>,
    /// Names of fields of faces that are not mapped.
    pub(super) left_out: Vec<String>,
    cells: usize,
}

impl Fields {
    /// Reads the latest time folder, of `0`, `0.5`, `100`, …
    pub(super) fn read(case: &Path, mesh: &PolyMesh) -> Result<Self, Error> {
        let broken =
            |e: std::io::Error| Error::input(format!("cannot read {}", case.display())).because(&e);
        let time = |entry: &fs::DirEntry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.parse::<f64>().ok().filter(|_| entry.path().is_dir())
        };
        let entries: Vec<fs::DirEntry> = fs::read_dir(case).map_err(broken)?.flatten().collect();
        let latest = entries.iter().filter_map(|e| Some((time(e)?, e.path())));
        let folder = latest
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|latest| latest.1);
        let mut all = Self {
            folder: folder.clone(),
            fields: Vec::new(),
            left_out: Vec::new(),
            cells: mesh.cells,
        };
        let Some(folder) = folder else { return Ok(all) };
        let mut files: Vec<PathBuf> = fs::read_dir(&folder)
            .map_err(broken)?
            .flatten()
            .map(|e| e.path())
            .collect();
        files.sort();
        for path in files.into_iter().filter(|path| path.is_file()) {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let Some(field) = FoamField::read(&path)? else {
                continue;
            };
            if !field.class.starts_with("vol") && !fluxes::is_flux(&field, mesh) {
                // Without lists it fits every mesh.
                if has_lists(&field) {
                    all.left_out.push(name);
                }
                continue;
            }
            check(&path, &field, mesh)?;
            all.fields.push((name, field));
        }
        Ok(all)
    }

    /// Fields that are in no file yet, of a time folder.
    pub(super) fn of(folder: PathBuf, fields: Vec<(String, FoamField)>, cells: usize) -> Self {
        Self {
            folder: Some(folder),
            fields,
            left_out: Vec::new(),
            cells,
        }
    }

    /// Name of the time folder.
    pub(super) fn time(&self) -> Option<String> {
        let name = self.folder.as_ref()?.file_name()?;
        Some(name.to_string_lossy().into_owned())
    }

    /// Values of a scalar in each cell, of others their lengths.
    pub(super) fn lengths(&self, name: &str) -> Result<Vec<f64>, Error> {
        let of_cells = || self.fields.iter().filter(|field| !is_of_faces(&field.1));
        let found = of_cells().find(|field| field.0 == name);
        let (_, field) = found.ok_or_else(|| {
            let known: Vec<&str> = of_cells().map(|field| field.0.as_str()).collect();
            let time = self.time().unwrap_or_else(|| "(none)".into());
            Error::input(format!("there is no field {name} in time {time}"))
                .hint(format!("fields of cells there: {}", known.join(", ")))
        })?;
        match field.get("internalField") {
            Some(FieldValue::List {
                components: 1,
                values,
                ..
            }) => Ok(values.clone()),
            Some(FieldValue::List {
                components, values, ..
            }) => {
                let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
                Ok(values.chunks(*components).map(length).collect())
            }
            Some(FieldValue::Text(text)) => {
                let numbers = text.trim_start_matches("uniform").replace(['(', ')'], " ");
                let numbers: Vec<f64> = numbers
                    .split_whitespace()
                    .filter_map(|x| x.parse().ok())
                    .collect();
                let value = match numbers[..] {
                    [x] => x,
                    _ => numbers.iter().map(|x| x * x).sum::<f64>().sqrt(),
                };
                Ok(vec![value; self.cells])
            }
            None => Err(Error::input(format!("field {name} has no internalField"))),
        }
    }

    /// The fields on another mesh; fluxes are mapped on the device.
    pub(super) fn map(
        &self,
        old: &RefinedMesh,
        new: &RefinedMesh,
        device: &Opened,
    ) -> Result<Vec<(String, FoamField)>, Error> {
        if self.fields.is_empty() {
            return Ok(Vec::new());
        }
        let geometry = old.mesh.face_geometry();
        let volumes: Vec<f64> = old
            .mesh
            .cell_geometry(&geometry)
            .iter()
            .map(|c| c.volume)
            .collect();
        let cells = MeanMap::of_cells(&old.paths, &volumes, &new.paths);
        let rims = |mesh: &RefinedMesh, patch: usize| {
            let (first, patch) = (mesh.mesh.internal_faces(), &mesh.mesh.patches[patch]);
            let path = |face: usize| {
                (
                    mesh.rims[face - first],
                    mesh.paths[mesh.mesh.owner[face] as usize],
                )
            };
            (patch.start..patch.start + patch.faces)
                .map(|face| (face, path(face)))
                .collect::<Vec<_>>()
        };
        let area = |face: usize| {
            geometry[face]
                .area
                .iter()
                .map(|x| x * x)
                .sum::<f64>()
                .sqrt()
        };
        let patches: Vec<(&str, MeanMap)> = (0..old.mesh.patches.len())
            .map(|patch| {
                let from: Vec<_> = rims(old, patch)
                    .into_iter()
                    .map(|(f, (rim, path))| (rim, path, area(f)))
                    .collect();
                let to: Vec<_> = rims(new, patch).into_iter().map(|(_, rim)| rim).collect();
                (
                    old.mesh.patches[patch].name.as_str(),
                    MeanMap::of_faces(&from, &to),
                )
            })
            .collect();
        let map_field = |field: &FoamField| {
            let mut field = field.clone();
            if is_of_faces(&field) {
                return field;
            }
            map_lists(&mut field.entries, &cells);
            for (name, entries) in &mut field.patches {
                if let Some((_, map)) = patches.iter().find(|patch| patch.0 == name) {
                    map_lists(entries, map);
                }
            }
            field
        };
        let each = self.fields.iter();
        let mut mapped: Vec<(String, FoamField)> = each
            .map(|(name, field)| (name.clone(), map_field(field)))
            .collect();
        let of_faces = mapped.iter_mut().map(|field| &mut field.1);
        let mut of_faces: Vec<&mut FoamField> = of_faces.filter(|f| is_of_faces(f)).collect();
        fluxes::map(&mut of_faces, old, new, device)?;
        Ok(mapped)
    }

    /// Copies the files of the fields as they are.
    pub(super) fn keep(&self, into: &Path) -> Result<(), Error> {
        match &self.folder {
            Some(folder) => super::copy(folder, &into.join(self.time().unwrap_or_default())),
            None => Ok(()),
        }
    }

    /// Writes the fields as they are into a folder.
    pub(super) fn write_into(&self, folder: &Path) -> Result<(), Error> {
        put(folder, &self.time().unwrap_or_default(), &self.fields)
    }

    /// Writes mapped fields in the place of theirs, and removes those that are left out.
    pub(super) fn write(&self, mapped: &[(String, FoamField)]) -> Result<(), Error> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        put(folder, &self.time().unwrap_or_default(), mapped)?;
        let packed = mapped
            .iter()
            .map(|field| &field.0)
            .filter(|name| name.ends_with(".gz"));
        for name in self.left_out.iter().chain(packed) {
            let path = folder.join(name);
            fs::remove_file(&path).map_err(|e| output::failed(&path, &e))?;
        }
        Ok(())
    }
}

/// Writes fields into a folder.
fn put(folder: &Path, location: &str, fields: &[(String, FoamField)]) -> Result<(), Error> {
    for (name, field) in fields {
        let object = name.strip_suffix(".gz").unwrap_or(name);
        let path = folder.join(object);
        output::write(&path, true, |out| {
            field
                .write(object, location, out)
                .map_err(|e| output::failed(&path, &e))
        })?;
    }
    Ok(())
}

/// Whether a field has values of single cells, faces or points.
fn has_lists(field: &FoamField) -> bool {
    let of_patches = field.patches.iter().flat_map(|(_, entries)| entries);
    let mut values = field.entries.iter().chain(of_patches);
    values.any(|(_, value)| matches!(value, FieldValue::List { .. }) && !is_empty_list(value))
}

fn is_of_faces(field: &FoamField) -> bool {
    field.class.starts_with("surface")
}

fn map_lists(entries: &mut FieldEntries, map: &MeanMap) {
    for (_, value) in entries {
        if let FieldValue::List {
            components, values, ..
        } = value
            && !values.is_empty()
        {
            *values = map.apply(values, *components);
        }
    }
}

/// Whether a value is a list of nothing: `nonuniform 0()`, or one with a type.
pub(super) fn is_empty_list(value: &FieldValue) -> bool {
    match value {
        FieldValue::Text(text) => text.starts_with("nonuniform"),
        FieldValue::List { values, .. } => values.is_empty(),
    }
}

/// Refuses lists that are not of the mesh. On patches of type `empty`, OpenFOAM writes lists of nothing.
fn check(path: &Path, field: &FoamField, mesh: &PolyMesh) -> Result<(), Error> {
    let fits = |key: &str, entries: &FieldEntries, expected: usize, may_be_empty: bool| {
        for (name, value) in entries {
            let found = match value {
                _ if is_empty_list(value) => 0,
                FieldValue::List {
                    components, values, ..
                } if values.len() == components * expected => continue,
                FieldValue::List {
                    components, values, ..
                } => values.len() / components,
                FieldValue::Text(_) => continue,
            };
            if found == 0 && (expected == 0 || may_be_empty) {
                continue;
            }
            return Err(Error::input(format!(
                "{}: {key} {name} has {found} values, the mesh {expected}",
                path.display(),
            ))
            .hint("remove the field, or restore the mesh that it belongs to"));
        }
        Ok(())
    };
    let inner = match is_of_faces(field) {
        true => mesh.internal_faces(),
        false => mesh.cells,
    };
    fits("", &field.entries, inner, false)?;
    for (name, entries) in &field.patches {
        match mesh.patches.iter().find(|patch| patch.name == *name) {
            Some(patch) => fits(name, entries, patch.faces, patch.kind == "empty")?,
            // A regular expression may have no lists but empty ones.
            None => fits(name, entries, 0, false)?,
        }
    }
    Ok(())
}
