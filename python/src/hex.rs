//! Meshes of hexahedra and of tetrahedra: read, refined, written; their arrays.

use crate::errors::OrRaise;
use crate::{views, work};
use cutlink::device::DeviceOption;
use cutlink::openfoam::{HexCase, ImportOptions};
use cutlink::options::PolyMeshEncoding;
use cutlink::{Error, ErrorKind, StopToken, pool};
use numpy::{IntoPyArray as _, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use std::path::PathBuf;

/// A mesh in host memory, which is never changed.
#[pyclass(frozen, name = "HexMesh", module = "cutlink._native")]
#[derive(Debug)]
pub(crate) struct NativeHexMesh(HexCase);

/// Two arrays.
type Pair<'py, A, B> = (Bound<'py, PyArray1<A>>, Bound<'py, PyArray1<B>>);

/// Reads a case, a `polyMesh` folder, or a mesh of Gmsh or VTK. `on_report` is called with notes.
#[pyfunction]
pub(crate) fn read_hex(
    py: Python<'_>,
    path: PathBuf,
    patch_angle: f64,
    threads: usize,
    on_report: &Bound<'_, PyAny>,
) -> PyResult<NativeHexMesh> {
    let stop = StopToken::new();
    let on = |report| crate::report(on_report, report);
    work::run(py, &stop, on, move |port| {
        pool::install(threads, || {
            HexCase::read(&path, patch_angle, port).map(NativeHexMesh)
        })
    })
}

/// The format of a `polyMesh` by its name in the command line.
pub(crate) fn encoding(name: &str) -> Result<PolyMeshEncoding, Error> {
    match name {
        "ascii" => Ok(PolyMeshEncoding::Ascii),
        "binary" => Ok(PolyMeshEncoding::Binary),
        "binary64" => Ok(PolyMeshEncoding::Binary64),
        _ => Err(Error::input(format!("there is no format \"{name}\""))
            .hint("formats: ascii, binary, binary64")),
    }
}

#[pymethods]
impl NativeHexMesh {
    #[getter]
    fn cells(&self) -> usize {
        self.0.mesh().cells
    }

    #[getter]
    fn parent_cells(&self) -> usize {
        self.0.parent().cells
    }

    /// Name, type, first face and number of faces of each patch.
    #[getter]
    fn patches(&self) -> Vec<(String, String, usize, usize)> {
        let patches = self.0.mesh().patches.iter();
        patches
            .map(|p| (p.name.clone(), p.kind.clone(), p.start, p.faces))
            .collect()
    }

    /// An array by its name; a view. `points` is flat.
    fn array<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        Ok(match name {
            "points" => views::rows(slf, |this| this.0.mesh().points.as_flattened()),
            "face_start" => views::rows(slf, |this| &this.0.mesh().face_start[..]),
            "face_points" => views::rows(slf, |this| &this.0.mesh().face_points[..]),
            "owner" => views::rows(slf, |this| &this.0.mesh().owner[..]),
            "neighbour" => views::rows(slf, |this| &this.0.mesh().neighbour[..]),
            _ => {
                let error = Error::input(format!("a mesh has no array \"{name}\""));
                return Err(error).or_raise(slf.py());
            }
        })
    }

    /// Cell of the parent and refinements of each cell; copies.
    fn places<'py>(&self, py: Python<'py>) -> Pair<'py, u32, u8> {
        let (parents, levels): (Vec<u32>, Vec<u8>) = py.detach(|| {
            let paths = self.0.paths().iter();
            paths.map(|path| (path.parent(), path.level())).unzip()
        });
        (parents.into_pyarray(py), levels.into_pyarray(py))
    }

    /// Volume and centre of each cell, flat.
    fn geometry<'py>(&self, py: Python<'py>) -> Pair<'py, f64, f64> {
        let (volumes, centers): (Vec<f64>, Vec<f64>) = py.detach(|| {
            let mesh = self.0.mesh();
            let cells = mesh.cell_geometry(&mesh.face_geometry());
            let volumes = cells.iter().map(|c| c.volume).collect();
            (volumes, cells.iter().flat_map(|c| c.center).collect())
        });
        (volumes.into_pyarray(py), centers.into_pyarray(py))
    }

    /// Refines each cell so many times more. `on_report` is called with notes.
    fn refine(
        &self,
        py: Python<'_>,
        times: PyReadonlyArray1<'_, u8>,
        device: &str,
        threads: usize,
        on_report: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let times: Vec<u8> = times.as_array().iter().copied().collect();
        let device: DeviceOption = device.parse().or_raise(py)?;
        let of = self.0.clone();
        let stop = StopToken::new();
        let on = |report| crate::report(on_report, report);
        work::run(py, &stop, on, move |port| {
            pool::install(threads, || {
                of.refine(&times, device.0, port).map(NativeHexMesh)
            })
        })
    }

    /// The parent.
    fn coarsen(&self, py: Python<'_>) -> PyResult<Self> {
        py.detach(|| self.0.coarsen().map(NativeHexMesh))
            .or_raise(py)
    }

    /// Checks every invariant.
    fn validate(&self, py: Python<'_>) -> PyResult<()> {
        let checked = py.detach(|| self.0.mesh().validate());
        checked
            .map_err(|e| Error::new(ErrorKind::Runtime, "the mesh breaks an invariant").because(&e))
            .or_raise(py)
    }

    /// Writes the mesh as that of a case; returns its bytes.
    fn write_polymesh(
        &self,
        py: Python<'_>,
        case: PathBuf,
        format: &str,
        force: bool,
    ) -> PyResult<u64> {
        let format = encoding(format).or_raise(py)?.into();
        let options = ImportOptions {
            format,
            force,
            patch_angle: 0.0,
        };
        py.detach(|| self.0.write(&case, options)).or_raise(py)
    }

    fn checksum(&self, py: Python<'_>) -> String {
        py.detach(|| format!("{:016x}", self.0.mesh().checksum()))
    }
}
