//! What a run makes of what it prepared: the report's fixed part, the mesh file's metadata,
//! and the files.

use crate::failure::Failure;
use crate::mesh::build::Prepared;
use crate::mesh::report::{
    Device, FrameReport, Input, Level, Parameters, Report, Snapping, Times, Transform,
};
use crate::mesh::resolve::{Job, Source, describe};
use crate::output;
use crate::picture::{PictureError, SliceOptions, slice_png};
use cutlink_voxelizer::{AnyMesh, Mesh, mesh_file};
use std::collections::BTreeMap;
use std::path::Path;

/// The report as far as it is known before the mesh is built.
pub(super) fn plan<const D: usize>(job: &Job, prepared: &Prepared<D>, device: Device) -> Report {
    let frame = prepared.domain.frame;
    let snapping = prepared.snapped.report;
    let levels = (0..prepared.params.levels).map(|level| Level {
        level,
        dx: frame.dx_at(level),
        counts: None,
    });
    Report {
        schema: crate::JSON_SCHEMA,
        cutlink: env!("CARGO_PKG_VERSION"),
        command: "mesh",
        dry_run: false,
        dimensions: D,
        input: input(job, prepared),
        health: serde_json::json!(prepared.health),
        health_text: prepared.health.to_string(),
        transform: Transform {
            unit: job.placement.unit.to_string(),
            linear: prepared.affine.linear.iter().map(|r| r.to_vec()).collect(),
            offset: prepared.affine.offset.to_vec(),
            text: if prepared.affine.is_identity() {
                describe(&job.placement)
            } else {
                format!("{}\n{}", describe(&job.placement), prepared.affine)
            },
        },
        frame: FrameReport {
            origin: frame.origin.to_vec(),
            upper: frame.upper().to_vec(),
            dx: frame.dx,
            root_cells: frame.root_cells.to_vec(),
            how: prepared.domain.how.clone(),
        },
        parameters: Parameters {
            levels: prepared.params.levels,
            wall_distance: prepared.params.wall_distance,
            fill: prepared.params.fill.rule(),
            flow: prepared.params.fill.flow(),
            deviation: prepared.deviation,
            robust: job.robust,
            periodic: job.periodic.to_string(),
            refine: job.refine.iter().map(ToString::to_string).collect(),
            seed: job.seed.clone(),
            wall_distance_given: job.wall_distance.is_some(),
        },
        snapping: Snapping {
            unit: snapping.unit,
            max_displacement: snapping.max_displacement,
            merged_vertices: snapping.merged_vertices,
            collapsed_facets: snapping.collapsed_facets,
        },
        intersections: prepared.intersections.as_ref().map(|f| f.report.clone()),
        device,
        threads: rayon::current_num_threads(),
        levels: levels.collect(),
        built: None,
        times_ms: Times::default(),
        peak_rss_bytes: 0,
        files: BTreeMap::new(),
        notes: Vec::new(),
    }
}

fn input<const D: usize>(job: &Job, prepared: &Prepared<D>) -> Input {
    let read = prepared.read.as_ref();
    let (kind, name) = match &job.source {
        Source::File(path) => ("file", path.display().to_string()),
        Source::Shape(shape) => ("shape", shape.to_string()),
    };
    Input {
        kind,
        name,
        format: read.map(|r| r.format.to_string()),
        gzipped: read.is_some_and(|r| r.gzipped),
        bytes: read.map_or(0, |r| r.bytes),
        triangles: prepared.health.facets,
        vertices: prepared.health.vertices,
        closed: prepared.health.closed(),
        patches: prepared.patches.clone(),
    }
}

/// The mesh file's own strings: where the surface came from and what was done to it.
/// No time and no host, so that the same run gives the same bytes.
pub(super) fn metadata(job: &Job, report: &Report) -> BTreeMap<String, String> {
    let json = |value: serde_json::Value| value.to_string();
    [
        ("input", json(serde_json::json!(report.input))),
        ("health", report.health.to_string()),
        ("placement", describe(&job.placement)),
        ("transform", json(serde_json::json!(report.transform))),
        ("snapping", json(serde_json::json!(report.snapping))),
        ("parameters", json(serde_json::json!(report.parameters))),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into()
}

/// Writes the mesh file; its size.
pub(super) fn write_mesh<const D: usize>(
    mesh: &Mesh<D>,
    extra: &BTreeMap<String, String>,
    path: &Path,
    force: bool,
) -> Result<u64, Failure> {
    let written = output::write(path, force, |out| {
        mesh_file::write(mesh, extra, out).map_err(|e| output::failed(path, &e))
    })?;
    Ok(written.1)
}

/// A mesh whose dimension is known only at run time again.
pub(super) trait IntoAny {
    fn into_any(self) -> AnyMesh;
}

impl IntoAny for Mesh<2> {
    fn into_any(self) -> AnyMesh {
        AnyMesh::D2(self)
    }
}

impl IntoAny for Mesh<3> {
    fn into_any(self) -> AnyMesh {
        AnyMesh::D3(self)
    }
}

/// Draws a slice and writes it; its size.
pub(crate) fn write_picture(
    mesh: &AnyMesh,
    options: &SliceOptions,
    path: &Path,
    force: bool,
) -> Result<u64, Failure> {
    let written = output::write(path, force, |out| {
        slice_png(mesh, options, out).map_err(|e| match e {
            PictureError::Write(e) => output::failed(path, &e),
            e => Failure::usage(e.to_string()),
        })
    })?;
    Ok(written.1)
}
