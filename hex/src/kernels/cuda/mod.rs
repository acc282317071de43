//! The stages on an NVIDIA GPU: the same bits as on the CPU.

#![expect(unsafe_code, reason = "kernels are launched with addresses")]

mod cells;
mod close;
mod corners;
mod fluxes;
mod geometry;
mod group;
mod map;
mod number;
mod outlines;
mod places;
mod points;
mod tets;

use super::{
    CellFaces, CellShape, ClosedMarks, Corners, FaceOutlines, FluxKernels, FluxTask, MapKernels,
    NewCells, NewFaces, NewPoints, RefineKernels, RefineTask, SplitCounts, SplitKernels,
    SplitNumbers,
};
use crate::refine::{CellPath, CellRanges, HexMesh, RefineError};
use bytemuck::{Pod, Zeroable};
use cutlink_device::cuda::{Cuda, CudaBuf, Launch, Module};

/// Threads of a block.
const THREADS: u32 = 256;

static CELLS: [Module; 2] = cutlink_device::cuda_modules!("cells");
static CLOSE: [Module; 2] = cutlink_device::cuda_modules!("close");
static CORNERS: [Module; 2] = cutlink_device::cuda_modules!("corners");
static FLUXES: [Module; 2] = cutlink_device::cuda_modules!("fluxes");
static GEOMETRY: [Module; 2] = cutlink_device::cuda_modules!("geometry");
static GROUP: [Module; 2] = cutlink_device::cuda_modules!("group");
static MAP: [Module; 2] = cutlink_device::cuda_modules!("map");
static NUMBER: [Module; 2] = cutlink_device::cuda_modules!("number");
static OUTLINES: [Module; 2] = cutlink_device::cuda_modules!("outlines");
static PLACES: [Module; 2] = cutlink_device::cuda_modules!("places");
static POINTS: [Module; 2] = cutlink_device::cuda_modules!("points");
static TETS: [Module; 2] = cutlink_device::cuda_modules!("tets");

/// Meshes have three dimensions.
const D: usize = 3;

/// `View` of `hex.cuh`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct ViewAddresses {
    face_start: u64,
    face_points: u64,
    owner: u64,
    neighbour: u64,
    cell_levels: u64,
    point_levels: u64,
    start: u64,
    of_cell: u64,
    faces: u32,
    internal: u32,
}

/// `Cut` of `hex.cuh`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct CutAddresses {
    view: ViewAddresses,
    corners: u64,
    marks: u64,
    first: u64,
    split: u64,
    edges: u64,
    edge_start: u64,
    marked: u64,
    marked_count: u32,
    points: u32,
    edge_count: u32,
    split_count: u32,
}

fn view_of(mesh: &HexMesh<Cuda>, of: &CellFaces<Cuda>) -> ViewAddresses {
    ViewAddresses {
        face_start: mesh.face_start.address(0),
        face_points: mesh.face_points.address(0),
        owner: mesh.owner.address(0),
        neighbour: mesh.neighbour.address(0),
        cell_levels: mesh.cell_levels.address(0),
        point_levels: mesh.point_levels.address(0),
        start: of.start.address(0),
        of_cell: of.faces.address(0),
        faces: mesh.owner.len() as u32,
        internal: mesh.neighbour.len() as u32,
    }
}

/// A mesh with its faces by cell, which the launch borrows.
fn view<'a>(launch: Launch<'a>, mesh: &'a HexMesh<Cuda>, of: &'a CellFaces<Cuda>) -> Launch<'a> {
    launch.val(view_of(mesh, of))
}

/// The numbers of a step, which the launch borrows.
fn cut<'a>(
    launch: Launch<'a>,
    task: &RefineTask<'a, Cuda>,
    numbers: &'a SplitNumbers<Cuda>,
) -> Launch<'a> {
    let counts = &numbers.counts;
    launch.val(CutAddresses {
        view: view_of(task.mesh, task.of),
        corners: task.corners.address(0),
        marks: task.marks.address(0),
        first: numbers.first.address(0),
        split: numbers.split.address(0),
        edges: numbers.edges.address(0),
        edge_start: numbers.edge_start.address(0),
        marked: numbers.marked.address(0),
        marked_count: counts.marked as u32,
        points: counts.points as u32,
        edge_count: counts.edges as u32,
        split_count: counts.split as u32,
    })
}

/// The kernel of a shape. Meshes of one cell's thickness are refused before: [`RefineKernels::TAKES_ALL`].
fn of_shape(shape: CellShape, hexes: &'static str, tets: &'static str) -> &'static str {
    match shape {
        CellShape::Tetrahedron => tets,
        CellShape::Hexahedron | CellShape::Sheet => hexes,
    }
}

impl RefineKernels for Cuda {
    const TAKES_ALL: bool = false;
}

impl SplitKernels for Cuda {
    unsafe fn cell_faces(&self, mesh: &HexMesh<Self>) -> Result<CellFaces<Self>, RefineError> {
        group::cell_faces(self, mesh)
    }

    unsafe fn corners(
        &self,
        mesh: &HexMesh<Self>,
        of: &CellFaces<Self>,
    ) -> Result<(CudaBuf<Corners>, usize), RefineError> {
        match mesh.shape {
            CellShape::Tetrahedron => Ok((tets::corners(self, mesh, of)?, 0)),
            CellShape::Hexahedron | CellShape::Sheet => corners::corners(self, mesh, of),
        }
    }

    unsafe fn close(
        &self,
        mesh: &HexMesh<Self>,
        of: &CellFaces<Self>,
        corners: &CudaBuf<Corners>,
        marks: &mut CudaBuf<u8>,
    ) -> Result<ClosedMarks, RefineError> {
        close::close(self, mesh, of, corners, marks)
    }

    unsafe fn number(
        &self,
        task: &RefineTask<'_, Self>,
        closed: ClosedMarks,
    ) -> Result<SplitNumbers<Self>, RefineError> {
        number::number(self, task, closed)
    }

    unsafe fn places(
        &self,
        task: &RefineTask<'_, Self>,
        numbers: &SplitNumbers<Self>,
    ) -> Result<CudaBuf<u32>, RefineError> {
        places::places(self, task, numbers)
    }

    unsafe fn points(
        &self,
        task: &RefineTask<'_, Self>,
        numbers: &SplitNumbers<Self>,
    ) -> Result<NewPoints<Cuda>, RefineError> {
        points::points(self, task, numbers)
    }

    unsafe fn outlines(
        &self,
        task: &RefineTask<'_, Self>,
        numbers: &SplitNumbers<Self>,
        places: &CudaBuf<u32>,
    ) -> Result<FaceOutlines<Self>, RefineError> {
        outlines::outlines(self, task, numbers, places)
    }

    unsafe fn order(
        &self,
        counts: &SplitCounts,
        outlines: &FaceOutlines<Self>,
    ) -> Result<CudaBuf<u32>, RefineError> {
        group::order(self, counts, outlines)
    }

    unsafe fn emit(
        &self,
        task: &RefineTask<'_, Self>,
        numbers: &SplitNumbers<Self>,
        places: &CudaBuf<u32>,
        outlines: FaceOutlines<Self>,
        order: CudaBuf<u32>,
    ) -> Result<NewFaces<Self>, RefineError> {
        outlines::emit(self, task, numbers, places, outlines, &order)
    }

    unsafe fn cells(
        &self,
        task: &RefineTask<'_, Self>,
        numbers: &SplitNumbers<Self>,
    ) -> Result<NewCells<Cuda>, RefineError> {
        cells::cells(self, task, numbers)
    }
}

impl MapKernels for Cuda {
    unsafe fn faces_geometry(
        &self,
        mesh: &HexMesh<Self>,
    ) -> Result<CudaBuf<[f64; 6]>, RefineError> {
        geometry::faces(self, mesh)
    }

    unsafe fn volumes(
        &self,
        mesh: &HexMesh<Self>,
        of: &CellFaces<Self>,
        faces: &CudaBuf<[f64; 6]>,
    ) -> Result<CudaBuf<f64>, RefineError> {
        geometry::volumes(self, mesh, of, faces)
    }

    unsafe fn centers(
        &self,
        mesh: &HexMesh<Self>,
        of: &CellFaces<Self>,
        faces: &CudaBuf<[f64; 6]>,
    ) -> Result<CudaBuf<[f64; 4]>, RefineError> {
        geometry::centers(self, mesh, of, faces)
    }

    fn ranges(
        &self,
        from: &CudaBuf<CellPath>,
        to: &CudaBuf<CellPath>,
    ) -> Result<CellRanges<Self>, RefineError> {
        map::ranges(self, from, to)
    }

    unsafe fn map(
        &self,
        ranges: &CellRanges<Self>,
        volumes: &CudaBuf<f64>,
        values: &CudaBuf<f64>,
    ) -> Result<CudaBuf<f64>, RefineError> {
        map::map(self, ranges, volumes, values)
    }

    unsafe fn project(
        &self,
        ranges: &CellRanges<Self>,
        wanted: &CudaBuf<u8>,
        paths: &CudaBuf<CellPath>,
    ) -> Result<(CudaBuf<u8>, usize), RefineError> {
        map::project(self, ranges, wanted, paths)
    }
}

impl FluxKernels for Cuda {
    unsafe fn flux_shares(
        &self,
        from: &CudaBuf<u32>,
        old_faces: usize,
        faces: &CudaBuf<[f64; 6]>,
    ) -> Result<CudaBuf<f64>, RefineError> {
        fluxes::shares(self, from, old_faces, faces)
    }

    unsafe fn split_flux(
        &self,
        task: &FluxTask<'_, Self>,
        flux: &CudaBuf<f64>,
    ) -> Result<CudaBuf<f64>, RefineError> {
        fluxes::split(self, task, flux)
    }

    unsafe fn flux_parts(
        &self,
        fine: (&HexMesh<Self>, &CellFaces<Self>),
        to: (&HexMesh<Self>, &CellFaces<Self>),
        holders: &CellRanges<Self>,
    ) -> Result<CellFaces<Self>, RefineError> {
        fluxes::parts(self, fine, to, holders)
    }

    unsafe fn sum_flux(
        &self,
        parts: &CellFaces<Self>,
        flux: &CudaBuf<f64>,
    ) -> Result<CudaBuf<f64>, RefineError> {
        fluxes::sum(self, parts, flux)
    }
}
