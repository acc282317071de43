//! All outputs of a run.

use super::averages::Averages;
use super::kinds::{Average, CellField, OutputKind, SurfaceFormat};
use super::paged::PagedFields;
use super::particles;
use super::picture;
use super::plane::cells_in;
use super::probes;
use super::render::{self, SavedSpec};
use super::series::Series;
use super::span::{Flat, flat};
use super::spec::{Output, OutputSpec, What, check_fields, resolve};
use super::spectra;
use super::surface::Body;
use super::units::FieldUnits;
use super::values::{Column, Scene, unit_of};
use crate::{Flow, FlowState};
use cutlink_amr::{CellRef, dims};
use cutlink_common::{Error, output};
use cutlink_mesher::snap::Snapped;
use cutlink_pictures::cut::Cut;
use cutlink_pictures::film::write_film;
use cutlink_solver::RunningMeans;
use cutlink_solver::fields::{blocks_around, vorticity_components};
use cutlink_voxelizer::Mesh;
use cutlink_voxelizer::vtk::{About, Field, Htg, Part, VtkError};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// Facets of the body, at most, that a page is made from; it shows fewer.
const PAGED_FACETS: usize = 400_000;

/// Whether a run is new or resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// A new run: existing files are an error, or replaced with `force`.
    Fresh {
        /// Whether files may be replaced.
        force: bool,
    },
    /// A run resumed at a root step: indices and tables are truncated there, later files replaced.
    Resumed {
        /// Root steps done.
        step: u64,
    },
}

/// The time of a write in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// During the run: writes the outputs that are due.
    Running,
    /// At its end: also writes the outputs not yet written at this step.
    End,
}

/// Writes the outputs of a run; see the module.
#[derive(Debug)]
pub struct FieldWriter<const D: usize> {
    outputs: Vec<Open<D>>,
    averages: Option<Averages<D>>,
    body: Option<Body<D>>,
    /// What `report.html` shows.
    pub(super) paged: Option<PagedFields<D>>,
    pub(super) units: FieldUnits,
    replace: bool,
}

/// An output and its files.
#[derive(Debug)]
struct Open<const D: usize> {
    output: Output<D>,
    /// For a table, only the name is used.
    series: Series,
    /// The last root step written.
    last: Option<u64>,
    /// The root step at which its spectra or its film were written.
    concluded: Option<u64>,
    /// Of a picture: the section of the surface.
    cut: Option<Cut>,
}

/// Checks outputs against a mesh.
///
/// # Errors
/// Usage errors: outputs that this mesh does not support.
pub fn check<const D: usize>(
    specs: &[OutputSpec],
    units: &FieldUnits,
    mesh: &Mesh<D>,
) -> Result<(), Error> {
    check_fields(specs, units)?;
    resolve(specs, mesh).map(drop)
}

/// Bytes of outputs while they are written, and of `averages` throughout, all of them on the host.
pub fn memory<const D: usize>(specs: &[OutputSpec], averages: bool, mesh: &Mesh<D>) -> u64 {
    if specs.is_empty() && !averages {
        return 0;
    }
    let snapshot = 4 * (1 + D) as u64;
    // Samples and averaged outputs take one more snapshot by turns.
    let averaged = RunningMeans::<D>::VALUE_BYTES + snapshot;
    let fields = |spec: &OutputSpec| {
        let width = |field: &CellField| match field {
            CellField::Velocity => 3,
            CellField::Vorticity => vorticity_components(D) as u64,
            _ => 1,
        };
        let all = spec.fields.iter().flatten();
        match spec.kind {
            OutputKind::Volume | OutputKind::Span => 4 * all.map(width).sum::<u64>(),
            _ => 0,
        }
    };
    let most = specs.iter().map(fields).max().unwrap_or(0);
    let cells = (mesh.forest.capacity() * dims::cells(D)) as u64;
    let pictures = resolve(specs, mesh).unwrap_or_default();
    let pictures = pictures.iter().filter_map(|output| match &output.what {
        What::Picture(spec) => Some(picture::memory(mesh, spec)),
        What::Render(spec) => Some(render::memory(mesh, spec)),
        What::Isosurface(_) => Some(render::memory_of_isosurface(mesh)),
        _ => None,
    });
    cells * (snapshot + most + if averages { averaged } else { 0 }) + pictures.max().unwrap_or(0)
}

impl<const D: usize> FieldWriter<D> {
    /// Checks the outputs against the mesh and begins or continues their files in `folder`, which is created.
    ///
    /// # Errors
    /// Usage errors: outputs that this mesh does not support, existing files.
    pub fn new(
        folder: &Path,
        specs: &[OutputSpec],
        units: FieldUnits,
        mesh: &Mesh<D>,
        start: Start,
    ) -> Result<Self, Error> {
        check_fields(specs, &units)?;
        let outputs = resolve(specs, mesh)?;
        if !outputs.is_empty() {
            std::fs::create_dir_all(folder).map_err(|e| {
                Error::input(format!("cannot create the folder {}", folder.display())).because(&e)
            })?;
        }
        let outputs: Vec<Open<D>> = outputs
            .into_iter()
            .map(|output| Open {
                series: Series::new(folder, &output.name, extension(&output.what)),
                output,
                last: None,
                concluded: None,
                cut: None,
            })
            .collect();
        let mut writer = Self {
            outputs,
            averages: None,
            body: None,
            paged: None,
            units,
            replace: start != Start::Fresh { force: false },
        };
        if !writer.replace {
            refuse_present(folder, &writer.outputs)?;
        }
        for open in &mut writer.outputs {
            let now = match start {
                Start::Fresh { .. } => None,
                Start::Resumed { step } => Some(step),
            };
            let period = open.output.period;
            let keep = |at: u64| {
                now.is_some_and(|now| at <= now) && period.is_some_and(|p| at.is_multiple_of(p))
            };
            let present = match &open.output.what {
                What::Probes(points) => {
                    probes::begin::<D>(&open.table(), points.len(), &writer.units, now, keep)?
                }
                what if extension(what) == "png" || extension(what) == "ply" => {
                    now.is_some_and(|now| keep(now) && open.series.file(now).exists())
                }
                _ => match now {
                    Some(now) => open.series.take_up(now, keep)?,
                    None => false,
                },
            };
            open.series.prune(keep)?;
            open.last = now.filter(|_| present);
            if now.is_some() {
                // They were of an end that is no longer one.
                for path in open.conclusions().iter().filter(|path| path.exists()) {
                    std::fs::remove_file(path).map_err(|e| output::failed(path, &e))?;
                }
            }
        }
        Ok(writer)
    }

    /// Adds averages, which outputs with `average` need.
    #[must_use]
    pub fn with_averages(mut self, averages: Averages<D>) -> Self {
        self.averages = Some(averages);
        self
    }

    /// Adds the facets of the body, which outputs of kind `surface` need and those of kind `render` show.
    #[must_use]
    pub fn with_body(mut self, body: Body<D>) -> Self {
        self.body = Some(body);
        self
    }

    /// Adds the surface of the mesh, whose section pictures show.
    #[must_use]
    pub fn with_surface(mut self, mesh: &Mesh<D>, surface: &Snapped<D>) -> Self {
        self.set_surface(mesh, surface);
        self
    }

    /// As [`with_surface`](Self::with_surface).
    pub fn set_surface(&mut self, mesh: &Mesh<D>, surface: &Snapped<D>) {
        for open in &mut self.outputs {
            if let What::Picture(spec) = &open.output.what {
                let plane = spec.plane;
                open.cut = Some(Cut::new(mesh, surface, plane.normal, plane.axes));
            }
        }
        if let Some(paged) = &mut self.paged {
            paged.set_surface(mesh, surface);
        }
    }

    /// Replaces the facets of the body, on a mesh that has changed.
    pub fn set_body(&mut self, body: Body<D>) {
        match &mut self.paged {
            Some(paged) if paged.wants_body => paged.body = Some(body),
            _ => self.body = Some(body),
        }
    }

    /// The facets of the body that outputs need, at most; `None` where none needs any.
    pub fn needs_body(&self) -> Option<usize> {
        let of_surface = |o: &Open<D>| matches!(o.output.what, What::Surface(_) | What::Render(_));
        if self.paged.as_ref().is_some_and(|paged| paged.wants_body) {
            return Some(PAGED_FACETS);
        }
        (self.outputs.iter().any(of_surface)).then_some(usize::MAX)
    }

    /// The facets of the body, if given.
    pub fn body(&self) -> Option<&Body<D>> {
        self.body.as_ref()
    }

    /// The averages so far.
    pub fn averages(&self) -> Option<&Averages<D>> {
        self.averages.as_ref()
    }

    /// The averages, to be restored.
    pub fn averages_mut(&mut self) -> Option<&mut Averages<D>> {
        self.averages.as_mut()
    }

    /// The first root step after `step` at which an output is due, apart from the end of the run.
    pub fn next_due(&self, step: u64) -> Option<u64> {
        let periods = self.outputs.iter().filter_map(|o| o.output.period);
        periods
            .map(|period| (step / period + 1).saturating_mul(period))
            .chain(self.averages.as_ref().map(|a| a.next_due(step)))
            .min()
    }

    /// Whether [`write`](Self::write) has an output at a root step.
    pub fn is_due(&self, step: u64, moment: Moment) -> bool {
        let mut outputs = self.outputs.iter();
        outputs.any(|o| o.is_due(step, moment) || o.is_concluded(step, moment))
    }

    /// The blocks whose values [`write`](Self::write) needs of the snapshot at a root step, if not all: those around probes. Averaged
    /// outputs need none.
    pub fn blocks_due(&self, mesh: &Mesh<D>, step: u64, moment: Moment) -> Option<Vec<u32>> {
        let mut places = Vec::new();
        for open in self.outputs.iter().filter(|o| o.is_due(step, moment)) {
            match (&open.output.what, open.output.average) {
                (_, Some(_)) => {}
                (What::Probes(points), None) => places.extend_from_slice(points),
                _ => return None,
            }
        }
        Some(blocks_around(mesh, &places))
    }

    /// Adds a sample of the flow to the averages if one is due.
    ///
    /// # Errors
    /// As [`Averages::sample`].
    pub fn sample(&mut self, flow: &dyn Flow<D>) -> Result<(), Error> {
        match &mut self.averages {
            Some(averages) if averages.is_due(flow.steps()) => averages.sample(flow),
            _ => Ok(()),
        }
    }

    /// Writes the outputs that are due at the step of the values; returns the files. Averages without samples are skipped.
    ///
    /// # Errors
    /// I/O errors; of averages, too little memory and a device that fails.
    pub fn write(
        &mut self,
        mesh: &Mesh<D>,
        state: &FlowState<D>,
        moment: Moment,
    ) -> Result<Vec<PathBuf>, Error> {
        let snapshot = &state.snapshot;
        let step = snapshot.step;
        if let Some(averages) = &mut self.averages {
            averages.follow(mesh)?;
        }
        let mut sampled = self.averages.as_mut().filter(|a| a.samples() > 0);
        let mut files = Vec::new();
        for open in &mut self.outputs {
            if !open.is_due(step, moment) {
                continue;
            }
            let average = open.output.average;
            let averaged = match (average, &mut sampled) {
                (None, _) => None,
                (Some(_), None) => continue,
                (Some(Average::Mean), Some(averages)) => Some(averages.mean(step)?),
                (Some(Average::Rms), Some(averages)) => Some(averages.rms(step)?),
            };
            let scene = Scene {
                mesh,
                snapshot: averaged.as_ref().unwrap_or(snapshot),
                pressure: state.pressure.as_deref().filter(|_| average.is_none()),
                scalars: if average.is_none() {
                    &state.scalars
                } else {
                    &[]
                },
                particles: state.particles.as_ref().filter(|_| average.is_none()),
                units: &self.units,
                average,
            };
            files.push(open.write(scene, self.body.as_ref(), self.replace)?);
            open.last = Some(step);
        }
        for open in &mut self.outputs {
            if open.is_concluded(step, moment) {
                files.extend(open.conclude(&self.units, self.replace)?);
                open.concluded = Some(step);
            }
        }
        Ok(files)
    }
}

impl<const D: usize> Open<D> {
    /// Whether spectra or a film are due.
    fn is_concluded(&self, step: u64, moment: Moment) -> bool {
        let is_wanted = self.output.spectrum || self.output.film.is_some();
        is_wanted && moment == Moment::End && self.concluded != Some(step)
    }

    /// The files that are written from all others at the end.
    fn conclusions(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        if self.output.spectrum {
            files.extend(spectra::files(&self.table()));
        }
        if self.output.film.is_some() {
            files.push(self.series.film());
        }
        files
    }

    /// Writes the spectra or the film; returns their files.
    fn conclude(&self, units: &FieldUnits, replace: bool) -> Result<Vec<PathBuf>, Error> {
        let mut files = Vec::new();
        if let Some(period) = self.output.period.filter(|_| self.output.spectrum) {
            files.extend(spectra::write::<D>(&self.table(), period, units)?);
        }
        let pictures = self.series.present();
        if let Some(rate) = self.output.film.filter(|_| !pictures.is_empty()) {
            let path = self.series.film();
            // An end before was of a shorter run.
            output::write(&path, replace || self.concluded.is_some(), |out| {
                write_film(&pictures, rate, out).map_err(|e| output::failed(&path, &e))
            })?;
            files.push(path);
        }
        Ok(files)
    }

    fn is_due(&self, step: u64, moment: Moment) -> bool {
        let due = match (moment, self.output.period) {
            (Moment::End, _) => true,
            (Moment::Running, Some(period)) => step.is_multiple_of(period),
            (Moment::Running, None) => false,
        };
        due && self.last != Some(step)
    }

    fn table(&self) -> PathBuf {
        self.series
            .path()
            .with_file_name(format!("{}.csv", self.output.name))
    }

    fn write(
        &mut self,
        scene: Scene<'_, D>,
        body: Option<&Body<D>>,
        replace: bool,
    ) -> Result<PathBuf, Error> {
        let (step, mesh) = (scene.snapshot.step, scene.mesh);
        let path = self.series.file(step);
        match &self.output.what {
            What::Probes(points) => {
                let path = self.table();
                probes::append(&path, scene, points)?;
                return Ok(path);
            }
            What::Picture(spec) => {
                let canvas = picture::draw(scene, spec, self.cut.as_ref());
                output::write(&path, replace, |out| {
                    canvas.write_png(out).map_err(|e| output::failed(&path, &e))
                })?;
                return Ok(path);
            }
            What::Render(spec) => {
                let canvas = render::draw(scene, spec, body).map_err(|what| {
                    Error::input(format!("output \"{}\" (render): {what}", self.output.name))
                })?;
                output::write(&path, replace, |out| {
                    canvas.write_png(out).map_err(|e| output::failed(&path, &e))
                })?;
                return Ok(path);
            }
            What::Surface(format) => {
                let Some(body) = body else {
                    return Err(Error::input("a surface output needs the body's facets"));
                };
                body.write(&path, replace, scene, *format)?;
                if *format == SurfaceFormat::Ply {
                    return Ok(path);
                }
            }
            What::Particles => particles::write(&path, replace, scene)?,
            What::Isosurface(spec) => {
                spec.write(&path, replace, scene)?;
                if spec.format == SurfaceFormat::Ply {
                    return Ok(path);
                }
            }
            What::Volume(fields) => {
                let columns = scene.everywhere(fields);
                save(
                    &path,
                    replace,
                    scene,
                    fields,
                    &columns,
                    |columns, about, out| Htg::new(mesh, columns)?.about(about).write(out),
                )?;
            }
            What::Box(bounds, fields) => {
                let cells = cells_in(mesh, *bounds);
                save_part(&path, replace, scene, fields, &cells, None)?;
            }
            What::Slice(plane, fields) => {
                let cells = plane.cells(mesh);
                save_part(&path, replace, scene, fields, &cells, plane.normal)?;
            }
            What::Span(plane, fields) => {
                let Flat { cells, columns } = flat(scene, plane.0, fields);
                let plane = Some(*plane);
                save(
                    &path,
                    replace,
                    scene,
                    fields,
                    &columns,
                    |columns, about, out| {
                        Part::new(mesh, &cells, plane, columns)?
                            .about(about)
                            .write(out)
                    },
                )?;
            }
        }
        self.series.add(step, scene.time())?;
        Ok(path)
    }
}

/// Writes some cells, or their section with a plane.
fn save_part<const D: usize>(
    path: &Path,
    replace: bool,
    scene: Scene<'_, D>,
    fields: &[CellField],
    cells: &[CellRef],
    plane: Option<(usize, f64)>,
) -> Result<(), Error> {
    let columns = scene.of(cells, fields);
    save(
        path,
        replace,
        scene,
        fields,
        &columns,
        |columns, about, out| {
            Part::new(scene.mesh, cells, plane, columns)?
                .about(about)
                .write(out)
        },
    )
}

/// The writer of a VTK file.
type Out<'a, 'b> = &'a mut BufWriter<&'b File>;

/// Writes a VTK file with time and units.
fn save<const D: usize>(
    path: &Path,
    replace: bool,
    scene: Scene<'_, D>,
    fields: &[CellField],
    columns: &[Column],
    write: impl FnOnce(&[Field<'_>], &About<'_>, Out<'_, '_>) -> Result<u64, VtkError>,
) -> Result<(), Error> {
    let arrays: Vec<Field<'_>> = columns
        .iter()
        .map(|c| Field {
            name: &c.name,
            components: c.components,
            values: &c.values,
        })
        .collect();
    let named = fields.iter().zip(columns);
    let named = named.map(|(&f, c)| (format!("{}_unit", c.name), unit_of(f, scene.units)));
    let mut units: Vec<(String, &str)> = named.map(|(n, u)| (n, u.name.as_str())).collect();
    units.push(("time_unit".into(), &scene.units.time.name));
    let notes: Vec<(&str, &str)> = units.iter().map(|(n, u)| (n.as_str(), *u)).collect();
    let about = About {
        time: Some(scene.time()),
        notes: &notes,
    };
    output::write(path, replace, |out| {
        write(&arrays, &about, out).map_err(|e| output::failed(path, &e))
    })?;
    Ok(())
}

fn extension<const D: usize>(what: &What<D>) -> &'static str {
    match what {
        What::Volume(_) => "htg",
        What::Box(..) | What::Slice(..) | What::Span(..) => "vtu",
        What::Particles => "vtp",
        What::Probes(_) => "csv",
        What::Picture(_) | What::Render(_) => "png",
        What::Surface(format) | What::Isosurface(SavedSpec { format, .. }) => match format {
            SurfaceFormat::Vtp => "vtp",
            SurfaceFormat::Ply => "ply",
        },
    }
}

/// Checks that a folder has no files of these outputs.
fn refuse_present<const D: usize>(folder: &Path, outputs: &[Open<D>]) -> Result<(), Error> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let ours = |o: &Open<D>| {
            let is = |path: PathBuf| path.file_name().is_some_and(|n| n == name);
            let concluded = o.conclusions().into_iter().any(is);
            concluded || is(o.series.path()) || is(o.table()) || o.series.step_of(name).is_some()
        };
        if outputs.iter().any(ours) {
            let path = folder.join(name);
            return Err(Error::input(format!("{} exists", path.display()))
                .hint("replace it with --force, or write elsewhere"));
        }
    }
    Ok(())
}
