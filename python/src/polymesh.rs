//! The fluid of a mesh for OpenFOAM.

use crate::errors::{OrRaise as _, from_json};
use crate::mesh::{Body, NativeMesh};
use crate::work;
use cutlink::polymesh::{
    self, CellGrading, PatchLayers, PatchType, PolyLabels, PolyMeshExport, PolyMeshReport, Template,
};
use cutlink::{AnyMesh, Error, Observer as _, StopToken};
use pyo3::prelude::*;
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;

/// What to write, with the words of the command line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    snap: bool,
    format: String,
    force: bool,
    /// Cells between levels, chosen one by one; without it the leaf cells.
    cells_between_levels: Option<u32>,
    #[serde(default)]
    patch: Vec<PatchType>,
    #[serde(default)]
    layers: Vec<PatchLayers>,
    template: Option<Template>,
}

/// Writes the fluid as the mesh of an OpenFOAM case, and with a template its other files; returns the object `polymesh`
/// of `cutlink mesh --json`. `on_report` is called with notes.
pub(crate) fn save<'py>(
    of: &NativeMesh,
    py: Python<'py>,
    case: PathBuf,
    options: &str,
    on_report: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let options: Options = crate::table("options", options).or_raise(py)?;
    let format = crate::hex::encoding(&options.format).or_raise(py)?.into();
    let (mesh, body) = (Arc::clone(&of.mesh), of.body.clone());
    let stop = StopToken::new();
    let on = |report| crate::report(on_report, report);
    let report = work::run(py, &stop, on, move |port| {
        let AnyMesh::D3(solid) = &*mesh else {
            return Err(polymesh::planar());
        };
        polymesh::check(&case, options.force)?;
        polymesh::check_types(&options.patch, &solid.patches, solid.forest.periodic)?;
        let (layers, template) = (&options.layers, options.template.as_ref());
        polymesh::check_layers(layers, template, &solid.patches, solid.forest.periodic)?;
        if let Some(template) = &options.template {
            polymesh::check_template(template, &case, options.force)?;
        }
        let needs = |what: &str| {
            let text = format!("the mesh has no surface that {what}");
            Error::input(text).hint("build the mesh with cutlink.mesh: a mesh file has no surface")
        };
        let body: Option<&Body<3>> = body.as_deref();
        let snap_to = match options.snap {
            true => Some(
                &body
                    .ok_or_else(|| needs("its walls could move onto"))?
                    .placed,
            ),
            false => None,
        };
        let cells = match options.cells_between_levels {
            Some(between) => {
                let body = body.ok_or_else(|| needs("its cells could be chosen by"))?;
                Some(CellGrading {
                    between,
                    surface: &body.snapped,
                    params: &body.params,
                })
            }
            None => None,
        };
        let of = PolyMeshExport {
            cells,
            labels: PolyLabels {
                types: &options.patch,
                ..PolyLabels::default()
            },
            template: options.template.as_ref(),
            layers: &options.layers,
            snap_to,
            case: &case,
            format,
            force: options.force,
        };
        let (made, _) = polymesh::export(solid, &of)?;
        made.notes().iter().for_each(|note| port.note(note));
        crate::json(&PolyMeshReport::new(&made))
    })?;
    from_json(py, &report)
}
