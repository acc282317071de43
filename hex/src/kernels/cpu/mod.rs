//! The stages on the CPU, with rayon.

mod cells;
mod close;
mod corners;
mod cut;
mod fluxes;
mod geometry;
mod group;
mod hexes;
mod map;
mod number;
mod outlines;
mod places;
mod points;
mod shape;
mod sheets;
mod tets;
mod view;

use super::{
    CellFaces, CellShape, ClosedMarks, Corners, FaceOutlines, FluxKernels, FluxTask, MapKernels,
    NewCells, NewFaces, NewPoints, RefineKernels, RefineTask, SplitCounts, SplitKernels,
    SplitNumbers,
};
use crate::refine::{CellPath, CellRanges, HexMesh, RefineError};
use cut::Cut;
use cutlink_device::Host;
use hexes::Hexes;
use sheets::Sheets;
use tets::Tets;
use view::View;

impl RefineKernels for Host {
    const TAKES_ALL: bool = true;
}

#[expect(unsafe_code, reason = "as declared")]
impl SplitKernels for Host {
    unsafe fn cell_faces(&self, mesh: &HexMesh<Self>) -> Result<CellFaces<Self>, RefineError> {
        group::cell_faces(mesh)
    }

    unsafe fn corners(
        &self,
        mesh: &HexMesh<Self>,
        of: &CellFaces<Self>,
    ) -> Result<(Vec<Corners>, usize), RefineError> {
        let view = View::new(mesh, of);
        match mesh.shape {
            CellShape::Hexahedron => corners::corners(view),
            CellShape::Tetrahedron => Ok((tets::corners(view, &mesh.paths)?, 0)),
            CellShape::Sheet => sheets::corners(view),
        }
    }

    unsafe fn close(
        &self,
        mesh: &HexMesh<Self>,
        of: &CellFaces<Self>,
        corners: &Vec<Corners>,
        marks: &mut Vec<u8>,
    ) -> Result<ClosedMarks, RefineError> {
        close::close(View::new(mesh, of), &mesh.paths, corners, marks)
    }

    unsafe fn number(
        &self,
        task: &RefineTask<'_, Self>,
        closed: ClosedMarks,
    ) -> Result<SplitNumbers<Self>, RefineError> {
        let (view, shape) = (View::new(task.mesh, task.of), task.mesh.shape);
        number::number(view, shape, task.corners, task.marks, closed)
    }

    unsafe fn places(
        &self,
        task: &RefineTask<'_, Self>,
        numbers: &SplitNumbers<Self>,
    ) -> Result<Vec<u32>, RefineError> {
        let cut = Cut::new(task, numbers);
        match task.mesh.shape {
            CellShape::Hexahedron => places::places::<Hexes>(cut),
            CellShape::Tetrahedron => places::places::<Tets>(cut),
            CellShape::Sheet => places::places::<Sheets>(cut),
        }
    }

    unsafe fn points(
        &self,
        task: &RefineTask<'_, Self>,
        numbers: &SplitNumbers<Self>,
    ) -> Result<NewPoints<Host>, RefineError> {
        points::points(Cut::new(task, numbers))
    }

    unsafe fn outlines(
        &self,
        task: &RefineTask<'_, Self>,
        numbers: &SplitNumbers<Self>,
        places: &Vec<u32>,
    ) -> Result<FaceOutlines<Self>, RefineError> {
        let cut = Cut::new(task, numbers);
        match task.mesh.shape {
            CellShape::Hexahedron => outlines::outlines::<Hexes>(cut, places),
            CellShape::Tetrahedron => outlines::outlines::<Tets>(cut, places),
            CellShape::Sheet => outlines::outlines::<Sheets>(cut, places),
        }
    }

    unsafe fn order(
        &self,
        counts: &SplitCounts,
        outlines: &FaceOutlines<Self>,
    ) -> Result<Vec<u32>, RefineError> {
        group::order(counts, outlines)
    }

    unsafe fn emit(
        &self,
        task: &RefineTask<'_, Self>,
        numbers: &SplitNumbers<Self>,
        places: &Vec<u32>,
        outlines: FaceOutlines<Self>,
        order: Vec<u32>,
    ) -> Result<NewFaces<Self>, RefineError> {
        let (cut, rims) = (Cut::new(task, numbers), &task.mesh.rims);
        match task.mesh.shape {
            CellShape::Hexahedron => outlines::emit::<Hexes>(cut, places, rims, outlines, &order),
            CellShape::Tetrahedron => outlines::emit::<Tets>(cut, places, rims, outlines, &order),
            CellShape::Sheet => outlines::emit::<Sheets>(cut, places, rims, outlines, &order),
        }
    }

    unsafe fn cells(
        &self,
        task: &RefineTask<'_, Self>,
        numbers: &SplitNumbers<Self>,
    ) -> Result<NewCells<Host>, RefineError> {
        let mesh = task.mesh;
        cells::cells(&mesh.cell_levels, &mesh.paths, task.marks, numbers)
    }
}

#[expect(unsafe_code, reason = "as declared")]
impl MapKernels for Host {
    unsafe fn faces_geometry(&self, mesh: &HexMesh<Self>) -> Result<Vec<[f64; 6]>, RefineError> {
        geometry::faces(mesh)
    }

    unsafe fn volumes(
        &self,
        mesh: &HexMesh<Self>,
        of: &CellFaces<Self>,
        faces: &Vec<[f64; 6]>,
    ) -> Result<Vec<f64>, RefineError> {
        geometry::volumes(View::new(mesh, of), faces)
    }

    unsafe fn centers(
        &self,
        mesh: &HexMesh<Self>,
        of: &CellFaces<Self>,
        faces: &Vec<[f64; 6]>,
    ) -> Result<Vec<[f64; 4]>, RefineError> {
        geometry::centers(View::new(mesh, of), faces)
    }

    fn ranges(
        &self,
        from: &Vec<CellPath>,
        to: &Vec<CellPath>,
    ) -> Result<CellRanges<Self>, RefineError> {
        map::ranges(from, to)
    }

    unsafe fn map(
        &self,
        ranges: &CellRanges<Self>,
        volumes: &Vec<f64>,
        values: &Vec<f64>,
    ) -> Result<Vec<f64>, RefineError> {
        map::map(ranges, volumes, values)
    }

    unsafe fn project(
        &self,
        ranges: &CellRanges<Self>,
        wanted: &Vec<u8>,
        paths: &Vec<CellPath>,
    ) -> Result<(Vec<u8>, usize), RefineError> {
        map::project(ranges, wanted, paths)
    }
}

#[expect(unsafe_code, reason = "as declared")]
impl FluxKernels for Host {
    unsafe fn flux_shares(
        &self,
        from: &Vec<u32>,
        old_faces: usize,
        faces: &Vec<[f64; 6]>,
    ) -> Result<Vec<f64>, RefineError> {
        Ok(fluxes::shares(from, old_faces, faces))
    }

    unsafe fn split_flux(
        &self,
        task: &FluxTask<'_, Self>,
        flux: &Vec<f64>,
    ) -> Result<Vec<f64>, RefineError> {
        Ok(fluxes::split(task, flux))
    }

    unsafe fn flux_parts(
        &self,
        fine: (&HexMesh<Self>, &CellFaces<Self>),
        to: (&HexMesh<Self>, &CellFaces<Self>),
        holders: &CellRanges<Self>,
    ) -> Result<CellFaces<Self>, RefineError> {
        fluxes::parts(fine, to, holders)
    }

    unsafe fn sum_flux(
        &self,
        parts: &CellFaces<Self>,
        flux: &Vec<f64>,
    ) -> Result<Vec<f64>, RefineError> {
        Ok(fluxes::sum(parts, flux))
    }
}
