//! The results of a job: report, notes on the mesh, metadata of the mesh file, and the files.

use crate::error::Error;
use crate::mesh::build::{Builder, Prepared, ms};
use crate::mesh::intersections;
use crate::mesh::report::{
    self, DeviceReport, FrameReport, Input, LevelReport, MeshReport, Parameters, Snapping, Times,
    Transform, Written, counted,
};
use crate::mesh::resolve::{Job, Source, describe};
use crate::output;
use crate::picture::{PictureError, SliceOptions, slice_png};
use cutlink_voxelizer::{AnyMesh, Mesh, mesh_file, thin};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// The part of the report that is known before the mesh is built.
pub fn plan<const D: usize>(job: &Job, prepared: &Prepared<D>, device: DeviceReport) -> MeshReport {
    let frame = prepared.domain.frame;
    let snapping = prepared.snapped.report;
    let levels = (0..prepared.params.levels).map(|level| LevelReport {
        level,
        dx: frame.dx_at(level),
        counts: None,
    });
    MeshReport {
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
        Source::Memory => ("memory", job.name()),
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

/// Metadata of the mesh file: the source of the surface and its processing. Without time and host, so that the same run
/// writes the same bytes.
fn metadata(job: &Job, report: &MeshReport) -> BTreeMap<String, String> {
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

/// Writes the mesh file; returns its size in bytes.
fn write_mesh<const D: usize>(
    mesh: &Mesh<D>,
    extra: &BTreeMap<String, String>,
    path: &Path,
    force: bool,
) -> Result<u64, Error> {
    let written = output::write(path, force, |out| {
        mesh_file::write(mesh, extra, out).map_err(|e| output::failed(path, &e))
    })?;
    Ok(written.1)
}

impl Builder<'_> {
    /// Notes about the links: links at gaps, and thin parts of the body.
    fn look_at_links<const D: usize>(
        &mut self,
        mesh: &Mesh<D>,
        gap: bool,
    ) -> (u64, report::ThinReport) {
        let mut links = 0;
        if gap && let (Some(count), Some(name)) = (mesh.patch_links().pop(), mesh.patches.last()) {
            links = count;
            self.note(format!(
                "{} into the body without a facet: cut halfway, patch \"{name}\"",
                counted(links, "link")
            ));
        }
        let thin = thin(mesh);
        if thin.cells > 0 {
            let mut note = format!(
                "the body is thinner than a cell in {}, {} ({} with fluid at both ends); largest:",
                counted(thin.places.len() as u64, "place"),
                counted(thin.cells, "cell"),
                counted(thin.links, "link"),
            );
            for place in thin.places.iter().take(3) {
                let [lower, upper] = place.bounds.map(|p| report::point(&p));
                note += &format!(" {} in {lower} to {upper};", counted(place.cells, "cell"));
            }
            self.note(note.trim_end_matches(';').to_owned());
        }
        (links, thin.into())
    }

    /// Adds the mesh to the report, and adds notes about it; `gap`: whether it has links at gaps.
    pub fn describe<const D: usize>(&mut self, report: &mut MeshReport, mesh: &Mesh<D>, gap: bool) {
        report.levels = mesh
            .level_counts()
            .into_iter()
            .map(LevelReport::from)
            .collect();
        let sum = |of: fn(&report::Counts) -> u64| {
            let each = |l: &LevelReport| l.counts.as_ref().map_or(0, of);
            report.levels.iter().map(each).sum::<u64>()
        };
        let (fluid, boundary, solid) = (sum(|c| c.fluid), sum(|c| c.boundary), sum(|c| c.solid));
        if solid == 0 {
            self.note(
                "no cell centre lies inside the body: it is thinner than the finest cells and represented by cut \
                 links only"
                    .into(),
            );
        }
        let (gap_links, thin) = self.look_at_links(mesh, gap);
        if fluid + boundary == 0 {
            self.note("every cell is solid: the box lies inside the body".into());
        }
        report.built = Some(report::Built {
            blocks: mesh.forest.blocks(),
            cells: fluid + boundary + solid,
            solid_finest: mesh.solid_at(self.levels - 1),
            links: mesh.links.len(),
            boundary_cells: boundary,
            gap_links,
            thin,
            checksum: format!("{:016x}", mesh.checksum()),
        });
    }

    /// Writes the files of the job, and adds them to the report.
    ///
    /// # Errors
    /// Files that cannot be written.
    pub fn write<const D: usize>(
        &mut self,
        report: &mut MeshReport,
        prepared: &Prepared<D>,
        mesh: Mesh<D>,
    ) -> Result<(), Error>
    where
        Mesh<D>: IntoAny,
    {
        let targets = &self.job.targets;
        let begin = Instant::now();
        let extra = metadata(self.job, report);
        let bytes = write_mesh(&mesh, &extra, &targets.mesh, targets.force)?;
        self.times.write = ms(begin);
        let path = targets.mesh.clone();
        report.files.insert("mesh", Written { path, bytes });
        if let (Some(path), Some(found)) = (&targets.intersections, &prepared.intersections)
            && let Some(bytes) = intersections::write(&found.facets, path, targets.force)?
        {
            let path = path.clone();
            report
                .files
                .insert("intersections", Written { path, bytes });
        }
        if let Some(path) = &targets.picture {
            let begin = Instant::now();
            let slice = SliceOptions::default();
            let bytes = write_picture(&mesh.into_any(), &slice, path, targets.force)?;
            self.times.picture = ms(begin);
            let path = path.clone();
            report.files.insert("picture", Written { path, bytes });
        }
        Ok(())
    }
}

/// Conversion to a mesh whose dimension is a run-time value.
pub trait IntoAny {
    /// The mesh as [`AnyMesh`].
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

/// Draws a slice and writes it; returns its size in bytes.
///
/// # Errors
/// A plane outside the box, a file that cannot be written.
pub fn write_picture(
    mesh: &AnyMesh,
    options: &SliceOptions,
    path: &Path,
    force: bool,
) -> Result<u64, Error> {
    let written = output::write(path, force, |out| {
        slice_png(mesh, options, out).map_err(|e| match e {
            PictureError::Write(e) => output::failed(path, &e),
            e => Error::input(e.to_string()),
        })
    })?;
    Ok(written.1)
}
