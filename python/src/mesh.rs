//! Meshes: built from options and a surface, read from a file; their arrays, checks and reports.

use crate::errors::{OrRaise, from_json};
use crate::work::{self, Port};
use crate::{cells, views};
use cutlink::device::DeviceReport;
use cutlink::device::Opening;
use cutlink::inspect::{self, InspectReport, Inspected, SurfaceReport};
use cutlink::mesh::build::{AnyPlaced, Builder, Placed, ms};
use cutlink::mesh::product;
use cutlink::mesh::report::Times;
use cutlink::mesh::resolve::{Job, resolve, resolve_for_surface};
use cutlink::vtk::{self, VtkFormat};
use cutlink::{AnyMesh, Error, ErrorKind, Mesh, MeshOptions, StopToken, output, pool};
use cutlink_device::memory;
use cutlink_mesher::Surface;
use cutlink_mesher::exact::{Exact, Facet};
use cutlink_mesher::intersect::Meet;
use cutlink_mesher::read::AnySurface;
use cutlink_mesher::snap::Snapped;
use cutlink_voxelizer::EmbedParams;
use cutlink_voxelizer::mesh_file::{self, FileError};
use numpy::{PyArrayMethods as _, PyReadonlyArray1, PyReadonlyArray2, ToPyArray as _};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// A mesh in host memory, which is never changed.
#[pyclass(frozen, name = "Mesh", module = "cutlink._native")]
#[derive(Debug)]
pub(crate) struct NativeMesh {
    pub(crate) mesh: Arc<AnyMesh>,
    /// The string map of its file.
    metadata: BTreeMap<String, String>,
    /// The object of `cutlink mesh --json`, or of `cutlink inspect --json` for a mesh that was read.
    report: String,
    /// The surface of a 3D mesh that was built.
    pub(crate) body: Option<Arc<Body<3>>>,
}

/// The surface that a mesh was built of, for walls and cells of a `polyMesh`.
#[derive(Debug)]
pub(crate) struct Body<const D: usize> {
    /// As placed.
    pub(crate) placed: Surface<D>,
    /// On the lattice of the mesh.
    pub(crate) snapped: Snapped<D>,
    /// Where cells are fine, one by one: `wall_distance` is 0 where it was not given.
    pub(crate) params: EmbedParams,
}

/// Calls generic code with the mesh of either dimension.
macro_rules! of_mesh {
    ($any:expr, $mesh:ident => $work:expr) => {
        match $any {
            cutlink::AnyMesh::D2($mesh) => $work,
            cutlink::AnyMesh::D3($mesh) => $work,
        }
    };
}
pub(crate) use of_mesh;

/// A surface of the caller, of either dimension.
enum Given {
    D2(Surface<2>),
    D3(Surface<3>),
}

/// Vertices (n, D), facets (m, D), patch of each facet (m or 0), patch names.
type Arrays<'py> = (
    PyReadonlyArray2<'py, f64>,
    PyReadonlyArray2<'py, u32>,
    PyReadonlyArray1<'py, u16>,
    Vec<String>,
);

fn surface<const D: usize>(arrays: &Arrays<'_>) -> Result<Surface<D>, Error> {
    let (vertices, facets, patch, patches) = arrays;
    let wrong = |what: &str| Error::input(format!("the surface has {what}"));
    let columns = |shape: &[usize], what: &str| match shape[1] == D {
        true => Ok(()),
        false => Err(wrong(&format!(
            "{what} of {} columns, {D} expected",
            shape[1]
        ))),
    };
    columns(vertices.as_array().shape(), "vertices")?;
    columns(facets.as_array().shape(), "facets")?;
    let vertices = fixed::<f64, D>(&vertices.as_array().iter().copied().collect::<Vec<_>>());
    let facets = fixed::<u32, D>(&facets.as_array().iter().copied().collect::<Vec<_>>());
    let facet_patch: Vec<u16> = patch.as_array().iter().copied().collect();
    if let Some(row) = vertices
        .iter()
        .position(|v| !v.iter().all(|x| x.is_finite()))
    {
        return Err(wrong(&format!("a vertex that is not finite: row {row}")));
    }
    let beyond = |f: &[u32; D]| f.iter().any(|&v| v as usize >= vertices.len());
    if let Some(row) = facets.iter().position(beyond) {
        return Err(wrong(&format!(
            "{} vertices, and facet {row} refers to {:?}",
            vertices.len(),
            facets[row]
        )));
    }
    if facets.is_empty() {
        return Err(Error::new(ErrorKind::Geometry, "the surface has no facets"));
    }
    if !facet_patch.is_empty() && facet_patch.len() != facets.len() {
        return Err(wrong(&format!(
            "{} facets and patches for {}",
            facets.len(),
            facet_patch.len()
        )));
    }
    if facet_patch.iter().any(|&p| usize::from(p) >= patches.len()) || patches.is_empty() {
        return Err(wrong("a facet of a patch without a name"));
    }
    Ok(Surface {
        vertices,
        facets,
        facet_patch,
        patches: patches.clone(),
    })
}

fn fixed<T: Copy, const D: usize>(numbers: &[T]) -> Vec<[T; D]> {
    let row = |row: &[T]| std::array::from_fn(|a| row[a]);
    numbers.chunks_exact(D).map(row).collect()
}

/// Builds a mesh from options (a JSON object with the keys of a configuration file) and the surface that they name, or
/// arrays. `on_report` is called with steps done, steps in all and the status, or with a note.
#[pyfunction]
#[pyo3(signature = (options, arrays, on_report))]
pub(crate) fn build(
    py: Python<'_>,
    options: &str,
    arrays: Option<Arrays<'_>>,
    on_report: &Bound<'_, PyAny>,
) -> PyResult<NativeMesh> {
    let options: MeshOptions = crate::table("options", options).or_raise(py)?;
    let given = match &arrays {
        None => None,
        Some(arrays) if arrays.0.as_array().shape()[1] == 2 => {
            Some(Given::D2(surface(arrays).or_raise(py)?))
        }
        Some(arrays) => Some(Given::D3(surface(arrays).or_raise(py)?)),
    };
    let stop = StopToken::new();
    let on = |report| crate::report(on_report, report);
    work::run(py, &stop, on, move |port| {
        let began = Instant::now();
        let mut job = match given {
            None => resolve(&options)?,
            Some(_) => resolve_for_surface(&options)?,
        };
        job.targets.intersections = None;
        // Keeps the placed surface.
        job.targets.snap = true;
        pool::install(job.threads, || from_job(&job, given, port, began))
    })
}

fn from_job(
    job: &Job,
    given: Option<Given>,
    port: &mut Port,
    began: Instant,
) -> Result<NativeMesh, Error> {
    let opening = Opening::begin(job.device.0)?;
    let mut builder = Builder::opening(job, &opening, port);
    let placed = match given {
        None => builder.place()?,
        Some(Given::D2(surface)) => AnyPlaced::D2(place(&mut builder, surface)?),
        Some(Given::D3(surface)) => AnyPlaced::D3(place(&mut builder, surface)?),
    };
    match placed {
        AnyPlaced::D2(placed) => {
            let (mesh, metadata, report, _) = complete(builder, &opening, placed, began)?;
            NativeMesh::new(AnyMesh::D2(mesh), metadata, report, None)
        }
        AnyPlaced::D3(placed) => {
            let (mesh, metadata, report, body) = complete(builder, &opening, placed, began)?;
            NativeMesh::new(AnyMesh::D3(mesh), metadata, report, body)
        }
    }
}

/// Places a surface of the caller; coincident vertices are merged, as of a file.
fn place<const D: usize>(
    builder: &mut Builder<'_>,
    mut surface: Surface<D>,
) -> Result<Placed<D>, Error> {
    let merged = surface.weld();
    if merged > 0 {
        builder.note(format!(
            "{merged} vertices merged with coincident ones or dropped as unused"
        ));
    }
    builder.place_surface(surface)
}

/// A mesh, the metadata of its file, its report, and its surface.
type Made<const D: usize> = (Mesh<D>, BTreeMap<String, String>, String, Option<Body<D>>);

fn complete<const D: usize>(
    mut builder: Builder<'_>,
    opening: &Opening,
    placed: Placed<D>,
    began: Instant,
) -> Result<Made<D>, Error>
where
    Facet<D>: Meet<D> + Exact<D>,
{
    let prepared = builder.prepare(placed)?;
    let device = opening.get()?;
    let device = DeviceReport::new(&device.selected, &device.opened);
    let mut report = product::plan(builder.job, &prepared, device);
    let (mesh, counts) = builder.build_counted(&prepared)?;
    let metadata = product::metadata(builder.job, &report);
    builder.count(&mut report, &prepared, &mesh, counts)?;
    report.times_ms = Times {
        total: ms(began),
        ..builder.times
    };
    report.peak_rss_bytes = memory::peak_resident();
    report.device.peak_bytes = opening.get()?.opened.peak_bytes();
    let params = builder.params_by_cell(&prepared)?;
    report.notes = builder.notes;
    let body = prepared.placed.map(|placed| Body {
        placed,
        snapped: prepared.snapped,
        params,
    });
    Ok((mesh, metadata, crate::json(&report)?, body))
}

/// Reads a mesh file.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: PathBuf, threads: usize) -> PyResult<NativeMesh> {
    let stop = StopToken::new();
    work::run(
        py,
        &stop,
        |_| Ok(()),
        move |_| {
            pool::install(threads, || {
                let (mesh, metadata) = mesh_file::read(&path).map_err(inspect::unreadable)?;
                let report = of_mesh!(&mesh, mesh => {
                    crate::json(&InspectReport::new(mesh, &metadata, &path))?
                });
                NativeMesh::new(mesh, metadata, report, None)
            })
        },
    )
}

/// The mesh of the bytes of a file, with its report.
#[pyfunction]
pub(crate) fn from_bytes(py: Python<'_>, bytes: &[u8], report: String) -> PyResult<NativeMesh> {
    let made = py.detach(|| {
        let read = mesh_file::parse(Path::new("the mesh"), bytes);
        let (mesh, metadata) = read.map_err(inspect::unreadable)?;
        NativeMesh::new(mesh, metadata, report, None)
    });
    made.or_raise(py)
}

/// The object of `cutlink inspect --json` for a mesh file or a surface.
#[pyfunction]
pub(crate) fn inspect_file(
    py: Python<'_>,
    path: PathBuf,
    check: bool,
    threads: usize,
) -> PyResult<Bound<'_, PyAny>> {
    let stop = StopToken::new();
    let report = work::run(
        py,
        &stop,
        |_| Ok(()),
        move |_| {
            pool::install(threads, || match inspect::open(&path)? {
                Inspected::Mesh(mesh, metadata) => of_mesh!(&*mesh, mesh => {
                    let mut report = InspectReport::new(mesh, &metadata, &path);
                    if check {
                        report.checks = inspect::checks(mesh);
                        inspect::verdict(&report.checks, &path.display().to_string())?;
                    }
                    crate::json(&report)
                }),
                Inspected::Surface(AnySurface::D2(loaded)) => {
                    Ok(SurfaceReport::new(&path, loaded, check)?
                        .to_json()
                        .to_string())
                }
                Inspected::Surface(AnySurface::D3(loaded)) => {
                    Ok(SurfaceReport::new(&path, loaded, check)?
                        .to_json()
                        .to_string())
                }
            })
        },
    )?;
    from_json(py, &report)
}

impl NativeMesh {
    fn new(
        mesh: AnyMesh,
        metadata: BTreeMap<String, String>,
        report: String,
        body: Option<Body<3>>,
    ) -> Result<Self, Error> {
        // The views have the numbering of the file, which has no gaps.
        if !of_mesh!(&mesh, mesh => mesh.forest.is_contiguous()) {
            return Err(Error::new(
                ErrorKind::Runtime,
                "the mesh has unused block ids",
            ));
        }
        Ok(Self {
            mesh: Arc::new(mesh),
            metadata,
            report,
            body: body.map(Arc::new),
        })
    }

    fn write<const D: usize>(
        &self,
        mesh: &Mesh<D>,
        path: &Path,
        force: bool,
    ) -> Result<u64, Error> {
        let written = output::write_at(path, force, |file| {
            mesh_file::write_file(mesh, &self.metadata, file, || (mesh.checksum(), ()))
                .map_err(|e| output::failed(path, &e))
        })?;
        Ok(written.1)
    }
}

#[pymethods]
impl NativeMesh {
    /// 2 or 3.
    #[getter]
    fn dimensions(&self) -> usize {
        match *self.mesh {
            AnyMesh::D2(_) => 2,
            AnyMesh::D3(_) => 3,
        }
    }

    /// Lower corner of the box, size of a root cell, root cells per axis.
    #[getter]
    fn frame(&self) -> (Vec<f64>, f64, Vec<u32>) {
        of_mesh!(&*self.mesh, mesh => {
            let frame = &mesh.frame;
            (frame.origin.to_vec(), frame.dx, frame.root_cells.to_vec())
        })
    }

    /// Names of the patches.
    #[getter]
    fn patches(&self) -> Vec<String> {
        of_mesh!(&*self.mesh, mesh => mesh.patches.clone())
    }

    /// Number of blocks of each level.
    #[getter]
    fn level_blocks(&self) -> Vec<usize> {
        of_mesh!(&*self.mesh, mesh => mesh.forest.levels.iter().map(Vec::len).collect())
    }

    /// The report as JSON.
    #[getter]
    fn report(&self) -> &str {
        &self.report
    }

    /// 16 hexadecimal digits, independent of block order.
    fn checksum(&self, py: Python<'_>) -> String {
        py.detach(|| of_mesh!(&*self.mesh, mesh => format!("{:016x}", mesh.checksum())))
    }

    /// Checks every invariant; returns name, passed and violation of each check.
    fn check(&self, py: Python<'_>) -> Vec<(&'static str, bool, Option<String>)> {
        let checks = py.detach(|| of_mesh!(&*self.mesh, mesh => inspect::checks(mesh)));
        let checks = checks.into_iter().filter(|c| c.name != "file");
        checks.map(|c| (c.name, c.passed, c.violation)).collect()
    }

    /// Writes the mesh file; returns its size in bytes.
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<u64> {
        py.detach(|| {
            output::check(&path, force, None)?;
            of_mesh!(&*self.mesh, mesh => self.write(mesh, &path, force))
        })
        .or_raise(py)
    }

    /// Writes a file for VTK; returns its size in bytes.
    fn save_vtk(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<u64> {
        py.detach(|| {
            let format = VtkFormat::of(&path, None)?;
            output::check(&path, force, None)?;
            of_mesh!(&*self.mesh, mesh => vtk::write(mesh, format, None, &path, force))
        })
        .or_raise(py)
    }

    /// Writes the fluid as the mesh of an OpenFOAM case; see [`crate::polymesh::save`].
    fn save_polymesh<'py>(
        &self,
        py: Python<'py>,
        case: PathBuf,
        options: &str,
        on_report: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        crate::polymesh::save(self, py, case, options, on_report)
    }

    /// Whether it has its surface.
    #[getter]
    fn has_surface(&self) -> bool {
        self.body.is_some()
    }

    /// The surface as placed: vertices (n, 3), facets (m, 3), patch of each facet (m, or empty for one patch). Copies;
    /// `None` of a mesh in 2D, and of one that was read.
    fn surface<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(body) = &self.body else {
            return Ok(None);
        };
        let placed = &body.placed;
        let arrays = (
            placed
                .vertices
                .as_flattened()
                .to_pyarray(py)
                .reshape([placed.vertices.len(), 3])?,
            placed
                .facets
                .as_flattened()
                .to_pyarray(py)
                .reshape([placed.facets.len(), 3])?,
            placed.facet_patch.to_pyarray(py),
        );
        Ok(Some(arrays.into_pyobject(py)?.into_any()))
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| {
            of_mesh!(&*self.mesh, mesh => {
                let failed = |e: FileError| output::failed(Path::new("the mesh"), &e);
                let size = mesh_file::size(mesh, &self.metadata).map_err(failed)?;
                let mut bytes = memory::with_capacity("the bytes of a mesh", size as usize)?;
                mesh_file::write(mesh, &self.metadata, &mut bytes).map_err(failed)?;
                Ok::<_, Error>(bytes)
            })
        });
        Ok(PyBytes::new(py, &bytes.or_raise(py)?))
    }

    /// A stored array by its name in the mesh file, or `level`; a view.
    fn array<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        macro_rules! view {
            ($($path:tt)*) => {
                views::rows(slf, |this| of_mesh!(&*this.mesh, mesh => &mesh.$($path)*))
            };
        }
        Ok(match name {
            "solid" => view!(classes.solid),
            "boundary" => view!(classes.boundary),
            "ghost" => view!(classes.ghost),
            "interface" => view!(classes.interface),
            "level" => view!(forest.level),
            "first_child" => view!(forest.first_child),
            "link_blocks" => view!(links.blocks),
            "link_cell_start" => view!(links.cell_start),
            "link_cells" => view!(links.cells),
            "link_q" => view!(links.q),
            "link_patch" => view!(links.patch),
            "coord" => views::coordinates(slf)?,
            _ => {
                let error = Error::input(format!("a mesh has no array \"{name}\""));
                return Err(error).or_raise(slf.py());
            }
        })
    }

    /// Every cut link: centre (k, D), step (k, D), direction, q, patch, point (k, D), block, cell, level.
    fn link_table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        of_mesh!(&*self.mesh, mesh => cells::links(py, mesh))
    }

    /// Every leaf cell, or those whose centre lies in a box: centre (N, D), level, class, block, cell.
    fn cells<'py>(&self, py: Python<'py>, bounds: Option<Vec<f64>>) -> PyResult<Bound<'py, PyAny>> {
        of_mesh!(&*self.mesh, mesh => cells::leaves(py, mesh, bounds.as_deref()))
    }

    /// Block and cell of the leaf cell at each point (m, D); block 4294967295 outside the box.
    fn locate<'py>(
        &self,
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        of_mesh!(&*self.mesh, mesh => cells::locate(py, mesh, &points))
    }

    /// The same for the centres of a uniform grid over a box, in C order with x first.
    fn locate_grid<'py>(
        &self,
        py: Python<'py>,
        shape: Vec<usize>,
        lower: Vec<f64>,
        upper: Vec<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        of_mesh!(&*self.mesh, mesh => cells::locate_grid(py, mesh, &shape, &lower, &upper))
    }

    /// Corners of cells: points (P, 3), and the 2^D points of each cell, x fastest.
    fn corners<'py>(
        &self,
        py: Python<'py>,
        blocks: PyReadonlyArray1<'py, u32>,
        cells: PyReadonlyArray1<'py, u8>,
    ) -> PyResult<Bound<'py, PyAny>> {
        of_mesh!(&*self.mesh, mesh => cells::corners(py, mesh, &blocks, &cells))
    }
}
