//! The results of a job: report, notes on the mesh, metadata of the mesh file, and the files.

use crate::compiled::compiled;
use crate::mesh::build::{Builder, Prepared, ms};
use crate::mesh::intersections;
use crate::mesh::report::{
    self, FrameReport, Input, LevelReport, MeshReport, Parameters, PatchArea, Snapping, Times,
    Transform, Written, counted,
};
use crate::mesh::resolve::{self, Job, PolyMeshTarget, Source, describe};
use crate::polymesh::{self, Castellated, CellGrading, PolyLabels, PolyMeshExport, PolyMeshReport};
use cutlink_common::{Error, ErrorKind, device::DeviceReport, output};
use cutlink_device::Host;
use cutlink_mesher::Surface;
use cutlink_mesher::robust::first_gap;
use cutlink_mesher::snap::Snapped;
use cutlink_pictures::{PictureError, SliceOptions, slice_png, slice_png_of};
use cutlink_voxelizer::{
    AnyMesh, Fill, LevelCounts, Mesh, MeshCounts, Thin, VoxelError, mesh_file,
};
use std::any::Any;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

/// The part of the report that is known before the mesh is built.
pub fn plan<const D: usize>(job: &Job, prepared: &Prepared<D>, device: DeviceReport) -> MeshReport {
    (compiled::<D>().plan)(job, prepared, device)
}

pub(crate) fn plan_here<const D: usize>(
    job: &Job,
    prepared: &Prepared<D>,
    device: DeviceReport,
) -> MeshReport {
    let frame = prepared.domain.frame;
    let snapping = prepared.snapped.report;
    let levels = (0..prepared.params.levels).map(|level| LevelReport {
        level,
        dx: frame.dx_at(level),
        counts: None,
    });
    MeshReport {
        schema: cutlink_common::JSON_SCHEMA,
        cutlink: env!("CARGO_PKG_VERSION"),
        command: "mesh",
        dry_run: false,
        dimensions: D,
        input: input(job, prepared),
        patches: areas(prepared),
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
            close_holes: job.close_holes,
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
        polymesh: None,
        times_ms: Times::default(),
        peak_rss_bytes: 0,
        files: BTreeMap::new(),
        notes: Vec::new(),
    }
}

fn areas<const D: usize>(prepared: &Prepared<D>) -> Vec<PatchArea> {
    let names = prepared.snapped.patches.iter().cloned();
    names
        .zip(prepared.areas.iter().copied())
        .map(|(name, area)| PatchArea { name, area })
        .collect()
}

fn input<const D: usize>(job: &Job, prepared: &Prepared<D>) -> Input {
    let read = prepared.read.as_ref();
    let (kind, name) = match &job.source {
        Source::Files(paths) => ("file", resolve::listed(paths)),
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
pub fn metadata(job: &Job, report: &MeshReport) -> BTreeMap<String, String> {
    let json = |value: serde_json::Value| value.to_string();
    [
        ("input", json(serde_json::json!(report.input))),
        ("areas", json(serde_json::json!(report.patches))),
        ("health", report.health.to_string()),
        ("placement", describe(&job.placement)),
        ("transform", json(serde_json::json!(report.transform))),
        ("snapping", json(serde_json::json!(report.snapping))),
        ("parameters", json(serde_json::json!(report.parameters))),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into()
}

/// Cell centres of level `finest` inside the body.
fn solid_at<const D: usize>(counts: &MeshCounts<D>, finest: usize) -> u64 {
    let of_level = |c: &LevelCounts| c.solid << (D * (finest - c.level));
    counts.levels.iter().map(of_level).sum()
}

/// Fluid cells without a cut link, with one, and solid cells.
fn cells<const D: usize>(counts: &MeshCounts<D>) -> [u64; 3] {
    let sum = |of: fn(&LevelCounts) -> u64| counts.levels.iter().map(of).sum();
    [sum(|c| c.fluid), sum(|c| c.boundary), sum(|c| c.solid)]
}

/// Why all cells of a box are solid, and what helps.
fn why_solid(fill: Fill) -> (&'static str, &'static str) {
    match fill {
        Fill::NonZero | Fill::EvenOdd => (
            "the box lies inside the body",
            "give a box around the body (--domain, [mesh] domain), or say that the fluid is inside (--flow inside, \
             [mesh] flow)",
        ),
        Fill::Zero | Fill::Even => (
            "no cell centre of the box lies inside the surface, and the fluid is what it encloses (--flow inside)",
            "give a box around the surface (--domain, [mesh] domain), more levels if it is thin, or say that the fluid \
             is outside (--flow outside, [mesh] flow)",
        ),
        Fill::Sheets | Fill::Sheltered => ("the fluid of the seed is empty", "give another --seed"),
    }
}

/// What is made beside the writing of the mesh file.
struct Beside<const D: usize> {
    counts: MeshCounts<D>,
    /// Of the counts, if they are made here.
    counts_ms: Option<f64>,
    /// PNG.
    picture: Option<Result<Vec<u8>, PictureError>>,
    picture_ms: f64,
}

impl<const D: usize> Beside<D> {
    fn new(
        mesh: &Mesh<D>,
        counts: Option<MeshCounts<D>>,
        surface: &Snapped<D>,
        picture: bool,
    ) -> Result<Self, VoxelError> {
        let begin = Instant::now();
        let (counts, counts_ms) = match counts {
            Some(counts) => (counts, None),
            None => (mesh.counts(&Host)?, Some(ms(begin))),
        };
        let begin = Instant::now();
        let picture = picture.then(|| {
            let mut png = Vec::new();
            slice_png_of(mesh, Some(surface), &SliceOptions::default(), &mut png).map(|()| png)
        });
        Ok(Self {
            counts,
            counts_ms,
            picture,
            picture_ms: ms(begin),
        })
    }
}

/// Gaps that a note lists.
const SHOWN_GAPS: usize = 6;

impl Builder<'_> {
    /// Notes about the links: links at gaps, whose first patch is `gap`, and thin parts of the body. Returns the links
    /// at gaps.
    fn note_links<const D: usize>(
        &mut self,
        mesh: &Mesh<D>,
        thin: &Thin<D>,
        gap: Option<u16>,
    ) -> u64 {
        let mut links = 0;
        if let Some(gap) = gap {
            let counts = mesh.patch_links();
            let gaps = mesh.patches.iter().zip(&counts).skip(gap.into());
            links = gaps.clone().map(|(_, count)| count).sum();
            let mut each: Vec<String> = gaps
                .take(SHOWN_GAPS)
                .map(|(name, count)| format!("\"{name}\" ({count})"))
                .collect();
            let more = counts.len() - usize::from(gap) - each.len();
            if more > 0 {
                each.push(format!("{more} more"));
            }
            self.note(format!(
                "{} into solid cells without a facet: cut halfway, {} {}",
                counted(links, "link"),
                if each.len() == 1 { "patch" } else { "patches" },
                each.join(", ")
            ));
        }
        // By parity only copies of facets are passed, which are noted as such.
        if self.passed > 0 && mesh.fill == Fill::Zero {
            self.note(format!(
                "bodies overlap or lie in one another: their facets inside the fluid are no walls ({}); `--fill \
                 evenodd` makes a body within a body solid",
                counted(self.passed.div_ceil(2), "link")
            ));
        }
        if thin.links > 0 && mesh.fill.is_sheets() {
            self.note(format!(
                "walls without thickness have fluid on both sides at {}",
                counted(thin.links, "link")
            ));
        } else if thin.cells > 0 {
            let solid = match mesh.fill.passes_facets() {
                true => "the solid around the fluid",
                false => "the body",
            };
            let mut note = format!(
                "{solid} is thinner than a cell in {}, {} ({} with fluid at both ends); largest:",
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
        links
    }

    /// Adds notes about the mesh; `gap`: the first patch of the gaps, if it has any. Returns the links at gaps.
    fn note_mesh<const D: usize>(
        &mut self,
        mesh: &Mesh<D>,
        of: &MeshCounts<D>,
        gap: Option<u16>,
    ) -> u64 {
        let [fluid, boundary, solid] = cells(of);
        if solid == 0 && !mesh.fill.is_sheets() {
            self.note(
                "no cell centre lies inside the body: it is thinner than the finest cells and represented by cut \
                 links only"
                    .into(),
            );
        }
        let closed = mesh.patches.len() - self.gaps.len();
        let gap = gap.or((!self.gaps.is_empty()).then_some(closed as u16));
        let gap_links = self.note_links(mesh, &of.thin, gap);
        if fluid + boundary == 0 {
            self.note(format!("every cell is solid: {}", why_solid(mesh.fill).0));
        }
        gap_links
    }

    /// Adds notes about a mesh that a flow is to run on.
    ///
    /// # Errors
    /// A mesh without a fluid cell; not enough memory.
    pub fn check_for_flow<const D: usize>(
        &mut self,
        prepared: &Prepared<D>,
        mesh: &Mesh<D>,
    ) -> Result<(), Error> {
        (compiled::<D>().check_for_flow)(self, prepared, mesh)
    }

    pub(crate) fn check_for_flow_here<const D: usize>(
        &mut self,
        prepared: &Prepared<D>,
        mesh: &Mesh<D>,
    ) -> Result<(), Error> {
        let counts = mesh.counts(&Host)?;
        let [fluid, boundary, _] = cells(&counts);
        if fluid + boundary == 0 {
            let (why, hint) = why_solid(mesh.fill);
            let message = format!("{}: no cell of the box is fluid: {why}", self.job.name());
            return Err(Error::new(ErrorKind::Geometry, message).hint(hint));
        }
        self.note_mesh(mesh, &counts, first_gap(&prepared.snapped));
        Ok(())
    }

    /// Adds the mesh to the report, and adds notes about it; `gap`: the first patch of the gaps, if it has any.
    fn describe<const D: usize>(
        &mut self,
        report: &mut MeshReport,
        mesh: &Mesh<D>,
        of: MeshCounts<D>,
        gap: Option<u16>,
    ) {
        let solid_finest = solid_at(&of, self.levels - 1);
        let [fluid, boundary, solid] = cells(&of);
        let gap_links = self.note_mesh(mesh, &of, gap);
        report.levels = of.levels.into_iter().map(LevelReport::from).collect();
        report.built = Some(report::Built {
            blocks: mesh.forest.blocks(),
            cells: fluid + boundary + solid,
            solid_finest,
            links: mesh.links.len(),
            boundary_cells: boundary,
            gap_links,
            thin: of.thin.into(),
            checksum: format!("{:016x}", of.checksum),
        });
    }

    /// Adds the mesh to the report with notes about it; writes nothing. Cost: that of the counts, if none are given.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn count<const D: usize>(
        &mut self,
        report: &mut MeshReport,
        prepared: &Prepared<D>,
        mesh: &Mesh<D>,
        counts: Option<MeshCounts<D>>,
    ) -> Result<(), Error> {
        (compiled::<D>().count)(self, report, prepared, mesh, counts)
    }

    pub(crate) fn count_here<const D: usize>(
        &mut self,
        report: &mut MeshReport,
        prepared: &Prepared<D>,
        mesh: &Mesh<D>,
        counts: Option<MeshCounts<D>>,
    ) -> Result<(), Error> {
        report.patches.extend(self.gaps.iter().cloned());
        let counts = match counts {
            Some(counts) => counts,
            None => mesh.counts(&Host)?,
        };
        self.describe(report, mesh, counts, first_gap(&prepared.snapped));
        Ok(())
    }

    /// Adds the mesh to the report with notes about it, and writes the files of the job. Counts, unless
    /// they are given, and the picture are made while the mesh file is written; the other files follow it.
    ///
    /// # Errors
    /// Files that cannot be written.
    pub fn deliver<const D: usize>(
        &mut self,
        report: &mut MeshReport,
        prepared: &Prepared<D>,
        mesh: &Mesh<D>,
        counts: Option<MeshCounts<D>>,
    ) -> Result<(), Error> {
        (compiled::<D>().deliver)(self, report, prepared, mesh, counts)
    }

    pub(crate) fn deliver_here<const D: usize>(
        &mut self,
        report: &mut MeshReport,
        prepared: &Prepared<D>,
        mesh: &Mesh<D>,
        counts: Option<MeshCounts<D>>,
    ) -> Result<(), Error> {
        let targets = &self.job.targets;
        let begin = Instant::now();
        report.patches.extend(self.gaps.iter().cloned());
        let extra = metadata(self.job, report);
        let (path, force) = (&targets.mesh, targets.force);
        let (beside, bytes) = output::write_at(path, force, |file| {
            let beside = || {
                let picture = targets.picture.is_some();
                let beside = Beside::new(mesh, counts, &prepared.snapped, picture);
                (beside.as_ref().map_or(0, |b| b.counts.checksum), beside)
            };
            let written = mesh_file::write_file(mesh, &extra, file, beside);
            let (_, beside) = written.map_err(|e| output::failed(path, &e))?;
            Ok(beside?)
        })?;
        self.times.write = ms(begin);
        self.times.counts += beside.counts_ms.unwrap_or_default();
        self.times.picture = beside.picture_ms;
        self.describe(report, mesh, beside.counts, first_gap(&prepared.snapped));
        let mut add = |name, path: &Path, bytes| {
            let path = path.to_owned();
            report.files.insert(name, Written { path, bytes });
        };
        add("mesh", path, bytes);
        if let (Some(path), Some(found)) = (&targets.intersections, &prepared.intersections)
            && let Some(bytes) = intersections::write(&found.facets, path, force)?
        {
            add("intersections", path, bytes);
        }
        if let (Some(path), Some(png)) = (&targets.picture, beside.picture) {
            let begin = Instant::now();
            let png = png.map_err(|e| picture_error(path, e))?;
            let written = output::write(path, force, |out| {
                out.write_all(&png).map_err(|e| output::failed(path, &e))
            })?;
            self.times.picture += ms(begin);
            add("picture", path, written.1);
        }
        if let Some(target) = &targets.polymesh {
            let begin = Instant::now();
            let (made, bytes) = self.export(prepared, mesh, target)?;
            self.times.polymesh = ms(begin);
            made.notes().into_iter().for_each(|note| self.note(note));
            add("polymesh", &target.case, bytes);
            report.polymesh = Some(PolyMeshReport::new(&made));
        }
        Ok(())
    }

    /// Writes the fluid as the mesh of an OpenFOAM case, cells chosen one by one.
    fn export<const D: usize>(
        &self,
        prepared: &Prepared<D>,
        mesh: &Mesh<D>,
        target: &PolyMeshTarget,
    ) -> Result<(Castellated, u64), Error> {
        let placed = prepared.placed.as_ref().map(|placed| placed as &dyn Any);
        let snapped: &dyn Any = &prepared.snapped;
        let params = self.params_by_cell(prepared)?;
        let surface = snapped.downcast_ref::<Snapped<3>>();
        let rule = |(between, surface)| CellGrading {
            between,
            surface,
            params: &params,
        };
        let of = PolyMeshExport {
            cells: target.between.zip(surface).map(rule),
            labels: PolyLabels {
                types: &target.types,
                zones: &prepared.zones,
            },
            template: target.template.as_ref(),
            layers: &target.layers,
            snap_to: placed.and_then(|placed| placed.downcast_ref::<Surface<3>>()),
            case: &target.case,
            format: target.encoding.into(),
            force: self.job.targets.force,
        };
        polymesh::export(mesh, &of)
    }
}

fn picture_error(path: &Path, error: PictureError) -> Error {
    match error {
        PictureError::Write(e) => output::failed(path, &e),
        e => Error::input(e.to_string()),
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
        slice_png(mesh, options, out).map_err(|e| picture_error(path, e))
    })?;
    Ok(written.1)
}
