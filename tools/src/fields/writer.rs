//! All outputs of a run.

use super::frame;
use super::plane::cells_in;
use super::probes;
use super::series::Series;
use super::spec::{CellField, Output, OutputSpec, What, resolve};
use super::units::FieldUnits;
use super::values::{Column, Scene, unit_of};
use crate::failure::Failure;
use crate::output;
use cutlink_solver::Snapshot;
use cutlink_voxelizer::Mesh;
use cutlink_voxelizer::vtk::{About, Field, Htg, Part, VtkError};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// Whether there was a run before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// No: files that are there already are refused, or replaced if `force` says so.
    Fresh {
        /// Whether files may be replaced.
        force: bool,
    },
    /// It goes on from a root step: indices and tables are cut there, later files replaced.
    Resumed {
        /// Root steps done.
        step: u64,
    },
}

/// When in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// In it: what is due is written.
    Running,
    /// At its end: so is what was not written at this step yet.
    End,
}

/// Writes the fields of a run; see the module.
#[derive(Debug)]
pub struct FieldWriter<const D: usize> {
    outputs: Vec<Open<D>>,
    units: FieldUnits,
    replace: bool,
}

/// An output and its files.
#[derive(Debug)]
struct Open<const D: usize> {
    output: Output<D>,
    /// A table's name is that of a series without steps.
    series: Series,
    /// The root step that was written last.
    last: Option<u64>,
}

impl<const D: usize> FieldWriter<D> {
    /// Checks the outputs against the mesh and begins or continues their files in `folder`, which
    /// is made.
    ///
    /// # Errors
    /// Usage errors: outputs that this mesh does not have, files that are there already.
    pub fn new(
        folder: &Path,
        specs: &[OutputSpec],
        units: FieldUnits,
        mesh: &Mesh<D>,
        start: Start,
    ) -> Result<Self, Failure> {
        let outputs = resolve(specs, mesh, units.time.factor)?;
        if !outputs.is_empty() {
            std::fs::create_dir_all(folder).map_err(|e| {
                Failure::usage(format!("cannot make the folder {}", folder.display())).because(&e)
            })?;
        }
        let outputs: Vec<Open<D>> = outputs
            .into_iter()
            .map(|output| Open {
                series: Series::new(folder, &output.name, extension(&output.what)),
                output,
                last: None,
            })
            .collect();
        let mut writer = Self {
            outputs,
            units,
            replace: start != Start::Fresh { force: false },
        };
        if !writer.replace {
            refuse_present(folder, &writer.outputs)?;
        }
        for open in &mut writer.outputs {
            let keep = match start {
                Start::Fresh { .. } => None,
                Start::Resumed { step } => Some(step),
            };
            let present = match &open.output.what {
                What::Probes(points) => {
                    probes::begin::<D>(&open.table(), points.len(), &writer.units, keep)?
                }
                What::Picture(_) => keep.is_some_and(|step| open.series.file(step).exists()),
                _ => match keep {
                    Some(step) => open.series.cut_after(step)?,
                    None => false,
                },
            };
            open.last = keep.filter(|_| present);
        }
        Ok(writer)
    }

    /// The first root step after `step` at which something is due, but for the end.
    pub fn next_due(&self, step: u64) -> Option<u64> {
        let periods = self.outputs.iter().filter_map(|o| o.output.period);
        periods
            .map(|period| (step / period + 1).saturating_mul(period))
            .min()
    }

    /// Whether [`write`](Self::write) would write anything at a root step.
    pub fn is_due(&self, step: u64, moment: Moment) -> bool {
        self.outputs.iter().any(|o| o.is_due(step, moment))
    }

    /// Writes what is due at the snapshot's root step; the files.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn write(
        &mut self,
        mesh: &Mesh<D>,
        snapshot: &Snapshot<D>,
        moment: Moment,
    ) -> Result<Vec<PathBuf>, Failure> {
        let scene = Scene {
            mesh,
            snapshot,
            units: &self.units,
        };
        let mut files = Vec::new();
        for open in &mut self.outputs {
            if open.is_due(snapshot.step, moment) {
                files.push(open.write(scene, self.replace)?);
                open.last = Some(snapshot.step);
            }
        }
        Ok(files)
    }
}

impl<const D: usize> Open<D> {
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

    fn write(&mut self, scene: Scene<'_, D>, replace: bool) -> Result<PathBuf, Failure> {
        let (step, mesh) = (scene.snapshot.step, scene.mesh);
        let path = self.series.file(step);
        match &self.output.what {
            What::Probes(points) => {
                let path = self.table();
                probes::append(&path, scene, points)?;
                return Ok(path);
            }
            What::Picture(spec) => {
                let canvas = frame::draw(scene, spec);
                output::write(&path, replace, |out| {
                    canvas.write_png(out).map_err(|e| output::failed(&path, &e))
                })?;
                return Ok(path);
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
                let columns = scene.of(&cells, fields);
                save(
                    &path,
                    replace,
                    scene,
                    fields,
                    &columns,
                    |columns, about, out| {
                        Part::new(mesh, &cells, None, columns)?
                            .about(about)
                            .write(out)
                    },
                )?;
            }
            What::Slice(plane, fields) => {
                let cells = plane.cells(mesh);
                let columns = scene.of(&cells, fields);
                save(
                    &path,
                    replace,
                    scene,
                    fields,
                    &columns,
                    |columns, about, out| {
                        Part::new(mesh, &cells, plane.normal, columns)?
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

/// Where a file for VTK goes.
type Out<'a, 'b> = &'a mut BufWriter<&'b File>;

/// Writes a file for VTK, with time and units.
fn save<const D: usize>(
    path: &Path,
    replace: bool,
    scene: Scene<'_, D>,
    fields: &[CellField],
    columns: &[Column],
    write: impl FnOnce(&[Field<'_>], &About<'_>, Out<'_, '_>) -> Result<u64, VtkError>,
) -> Result<(), Failure> {
    let arrays: Vec<Field<'_>> = columns
        .iter()
        .map(|c| Field {
            name: c.name,
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
        What::Box(..) | What::Slice(..) => "vtu",
        What::Probes(_) => "csv",
        What::Picture(_) => "png",
    }
}

/// Refuses a folder that has files of these outputs.
fn refuse_present<const D: usize>(folder: &Path, outputs: &[Open<D>]) -> Result<(), Failure> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let ours = |o: &Open<D>| {
            let is = |path: PathBuf| path.file_name().is_some_and(|n| n == name);
            is(o.series.path()) || is(o.table()) || o.series.step_of(name).is_some()
        };
        if outputs.iter().any(ours) {
            let path = folder.join(name);
            return Err(Failure::usage(format!("{} exists", path.display()))
                .hint("replace it with --force, or write elsewhere"));
        }
    }
    Ok(())
}
