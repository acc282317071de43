//! Fields of faces that are fluxes, such as `phi`: a number for each face, out of its owner.

use super::fields::is_empty_list;
use cutlink_common::{
    Error,
    device::{Opened, on},
};
use cutlink_hex::polymesh::{FieldEntries, FieldValue, FoamField};
use cutlink_hex::refine::map_fluxes_on;
use cutlink_hex::{PolyMesh, RefinedMesh};

/// Dimensions of what flows through faces: volume or mass in a time.
const DIMENSIONS: [[i32; 3]; 2] = [[0, 3, -1], [1, 0, -1]];

/// Whether a field is one of fluxes that can be mapped: volume or mass in a time; the values of each patch its own, or
/// uniformly zero.
pub(super) fn is_flux(field: &FoamField, mesh: &PolyMesh) -> bool {
    if field.class != "surfaceScalarField" {
        return false;
    }
    let Some(FieldValue::Text(text)) = field.get("dimensions") else {
        return false;
    };
    let numbers = text.trim_matches(['[', ']', ' ']).split_whitespace();
    let numbers: Option<Vec<i32>> = numbers.map(|x| x.parse().ok()).collect();
    let is_of_flow = |n: &Vec<i32>| {
        n.len() >= 3 && DIMENSIONS.iter().any(|d| n[..3] == d[..]) && n[3..].iter().all(|&x| x == 0)
    };
    let are_patches = field.patches.iter().all(|(name, entries)| {
        let is_patch = mesh.patches.iter().any(|patch| patch.name == *name);
        entries
            .iter()
            .all(|(key, value)| match (key.as_str(), number(value)) {
                ("value", Some(uniform)) => is_patch || uniform == 0.0,
                ("value", None) => is_patch && (is_list(value) || is_empty_list(value)),
                _ => matches!(value, FieldValue::Text(_)),
            })
    });
    let inner = field.get("internalField");
    numbers.as_ref().is_some_and(is_of_flow)
        && inner.is_some_and(|value| is_list(value) || number(value).is_some())
        && are_patches
}

fn is_list(value: &FieldValue) -> bool {
    matches!(value, FieldValue::List { components: 1, .. })
}

/// Of `uniform 0`.
fn number(value: &FieldValue) -> Option<f64> {
    match value {
        FieldValue::Text(text) => text.strip_prefix("uniform")?.trim().parse().ok(),
        FieldValue::List { .. } => None,
    }
}

/// The fluxes through so many faces.
fn put(value: &FieldValue, into: &mut [f64]) {
    match value {
        value if is_empty_list(value) => {}
        FieldValue::List { values, .. } => into.copy_from_slice(values),
        FieldValue::Text(_) => into.fill(number(value).unwrap_or(0.0)),
    }
}

fn list(values: &[f64]) -> FieldValue {
    FieldValue::List {
        kind: "List<scalar>".to_owned(),
        components: 1,
        values: values.to_vec(),
    }
}

fn value_of<'a>(field: &'a FoamField, patch: &str) -> Option<&'a FieldValue> {
    let entries: &FieldEntries = &field.patches.iter().find(|p| p.0 == patch)?.1;
    entries
        .iter()
        .find(|entry| entry.0 == "value")
        .map(|entry| &entry.1)
}

/// The fields on another mesh of the same parent.
pub(super) fn map(
    fields: &mut [&mut FoamField],
    old: &RefinedMesh,
    new: &RefinedMesh,
    device: &Opened,
) -> Result<(), Error> {
    if fields.is_empty() {
        return Ok(());
    }
    let read = |field: &&mut FoamField| {
        let mut all = vec![0.0; old.mesh.faces()];
        let (inner, _) = all.split_at_mut(old.mesh.internal_faces());
        if let Some(value) = field.get("internalField") {
            put(value, inner);
        }
        for patch in &old.mesh.patches {
            if let Some(value) = value_of(field, &patch.name) {
                put(value, &mut all[patch.start..patch.start + patch.faces]);
            }
        }
        all
    };
    let fluxes = fields.iter().map(read).collect();
    let fluxes = on!(device, kernels => map_fluxes_on(kernels, old, new, fluxes))?;
    for (field, all) in fields.iter_mut().zip(fluxes) {
        let internal = new.mesh.internal_faces();
        for (key, value) in &mut field.entries {
            if key == "internalField" {
                *value = list(&all[..internal]);
            }
        }
        for (name, entries) in &mut field.patches {
            let Some(patch) = new.mesh.patches.iter().find(|patch| patch.name == *name) else {
                continue;
            };
            for (key, value) in entries {
                if key == "value" && number(value) != Some(0.0) && !is_empty_list(value) {
                    *value = list(&all[patch.start..patch.start + patch.faces]);
                }
            }
        }
    }
    Ok(())
}
