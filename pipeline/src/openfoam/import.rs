//! Volume meshes of other programs as OpenFOAM cases, refined on the way.
//!
//! The mesh goes to `constant/polyMesh`, data of cells to the time folder `0`. Where cells are refined, the mesh of the
//! file is the parent: `cutlink refine CASE --coarsen` brings it back.

use super::divide::divide_parent;
use super::fields::Fields;
use super::hex_case::{self, HexCase};
use super::{RefineReport, create, note, rules};
use crate::polymesh;
use cutlink_common::{Error, Observer, device::Opening, output};
use cutlink_device::DeviceChoice;
use cutlink_hex::polymesh::{FieldValue, FoamField, word};
use cutlink_hex::volume::{CellValues, read_volume};
use cutlink_hex::{PolyMesh, PolyMeshFormat, VolumeMesh};
use std::path::Path;

/// The time folder of fields.
const TIME: &str = "0";

/// How a mesh is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImportOptions {
    /// Format of the mesh.
    pub format: PolyMeshFormat,
    /// Whether an earlier mesh and fields of the same names are replaced.
    pub force: bool,
    /// Angle at edges between patches, in degrees, for files without names of surfaces.
    pub patch_angle: f64,
}

/// Writes a volume mesh (Gmsh, VTU) as a case, refined by rules. Nothing is written before all is computed; each file,
/// and the mesh as a whole, is complete or absent.
///
/// # Errors
/// A file that is no such mesh, or damaged; a mesh or a field that exists (without `force`); a rule for a field that does
/// not exist; too little memory; I/O errors.
pub fn import(
    file: &Path,
    case: &Path,
    rules: &[super::CellRule],
    options: ImportOptions,
    choice: DeviceChoice,
    observer: &mut dyn Observer,
) -> Result<RefineReport, Error> {
    let opening = Opening::begin(choice)?;
    hex_case::check(case, options.force)?;
    let read = read_volume(file, options.patch_angle)?;
    for text in &read.notes {
        observer.note(text);
    }
    let fields = fields(case, &read, options.force, observer)?;
    let old = HexCase::of(read)?;
    let marks = rules::wanted(rules, old.refined(), &fields)?;
    let device = opening.get()?;
    let opened = &device.opened;
    let new = match rules.is_empty() {
        true => old.clone(),
        false => old.with(divide_parent(opened, old.parent(), &marks, observer)?),
    };
    let mapped = fields.map(old.refined(), new.refined(), opened)?;
    let mut report = RefineReport {
        mesh: Some(file.to_owned()),
        time: fields.time().filter(|_| !mapped.is_empty()),
        fields: mapped.iter().map(|(name, _)| name.clone()).collect(),
        zones: new.zone_names(),
        ..RefineReport::new(case, old.parent(), old.mesh(), new.refined(), device)
    };
    report.bytes = new.put(case, options, |parent| {
        let kept = parent.join("fields").join(TIME);
        create(&kept)?;
        fields.write_into(&kept)
    })?;
    if !mapped.is_empty() {
        create(&case.join(TIME))?;
        fields.write(&mapped)?;
    }
    polymesh::complete(case)?;
    let folder = case.join("constant").join("polyMesh");
    note(&report, rules, old.parent(), &folder, observer);
    Ok(report)
}

/// Data of cells as fields without dimensions.
fn fields(
    case: &Path,
    read: &VolumeMesh,
    force: bool,
    observer: &mut dyn Observer,
) -> Result<Fields, Error> {
    let mut all: Vec<(String, FoamField)> = Vec::new();
    for values in &read.values {
        let name = word(&values.name);
        let Some(field) = field(values, &read.mesh) else {
            let n = values.components;
            observer.note(&format!(
                "left out: {name}, {n} numbers a cell, no scalars, vectors or tensors"
            ));
            continue;
        };
        if all.iter().any(|(other, _)| *other == name) {
            let text = format!("two arrays of cells would be the field {name}");
            return Err(Error::input(text).hint("rename one of them"));
        }
        let path = case.join(TIME).join(&name);
        if path.exists() {
            output::check(&path, force, None)?;
        }
        all.push((name, field));
    }
    Ok(Fields::of(case.join(TIME), all, read.mesh.cells))
}

fn field(values: &CellValues, mesh: &PolyMesh) -> Option<FoamField> {
    // VTK has symmetric tensors as xx yy zz xy yz xz.
    let (class, kind, order): (_, _, &[usize]) = match values.components {
        1 => ("volScalarField", "List<scalar>", &[0]),
        3 => ("volVectorField", "List<vector>", &[0, 1, 2]),
        6 => (
            "volSymmTensorField",
            "List<symmTensor>",
            &[0, 3, 5, 1, 4, 2],
        ),
        9 => (
            "volTensorField",
            "List<tensor>",
            &[0, 1, 2, 3, 4, 5, 6, 7, 8],
        ),
        _ => return None,
    };
    let rows = values.values.chunks_exact(values.components);
    let list = FieldValue::List {
        kind: kind.to_owned(),
        components: values.components,
        values: rows.flat_map(|row| order.iter().map(|&i| row[i])).collect(),
    };
    let text = |text: &str| FieldValue::Text(text.to_owned());
    let patch = |name: &String| {
        (
            name.clone(),
            vec![("type".to_owned(), text("zeroGradient"))],
        )
    };
    Some(FoamField {
        class: class.to_owned(),
        entries: vec![
            ("dimensions".to_owned(), text("[0 0 0 0 0 0 0]")),
            ("internalField".to_owned(), list),
        ],
        patches: mesh.patches.iter().map(|p| patch(&p.name)).collect(),
    })
}
