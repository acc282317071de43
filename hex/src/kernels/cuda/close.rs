//! Fixed points by repetition; one read-back each time.

use super::{CLOSE, D, THREADS};
use crate::kernels::{CellFaces, ClosedMarks, Corners};
use crate::refine::{HexMesh, RefineError};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

pub(super) fn close(
    cuda: &Cuda,
    mesh: &HexMesh<Cuda>,
    of: &CellFaces<Cuda>,
    corners: &CudaBuf<Corners>,
    marks: &mut CudaBuf<u8>,
) -> Result<ClosedMarks, RefineError> {
    let cells = mesh.cells();
    let mut levels = cuda.uninit("levels of cells", cells)?;
    let launch = cuda
        .launch(&CLOSE, D, "limit_levels")
        .buf(&mesh.cell_levels)
        .buf(corners)
        .val(cells as u32)
        .out(&mut levels);
    // SAFETY: an entry for each cell in all arrays.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    let mut scratch = Scratch {
        cuda,
        mesh,
        of,
        at_point: cuda.uninit("levels around points", mesh.points())?,
        of_face: cuda.uninit("levels around faces", mesh.faces())?,
        changes: cuda.uninit("a count", 1)?,
    };
    while scratch.change(&mut levels, true)? {}
    let launch = cuda
        .launch(&CLOSE, D, "target_levels")
        .buf(&mesh.cell_levels)
        .buf(marks)
        .val(cells as u32)
        .out(&mut levels);
    // SAFETY: as above.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    while scratch.change(&mut levels, false)? {}
    let (mut count, mut deepest) = (
        cuda.alloc("a count", 1, 0u32)?,
        cuda.alloc("the deepest cell", 1, 0u32)?,
    );
    let launch = cuda
        .launch(&CLOSE, D, "mark_targets")
        .buf(&mesh.cell_levels)
        .buf(&levels)
        .buf(&mesh.paths)
        .val(cells as u32)
        .out(marks)
        .out(&mut count)
        .out(&mut deepest);
    // SAFETY: as above; a path is three words.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    Ok(ClosedMarks {
        count: count.read(0)? as usize,
        deepest: deepest.read(0)?,
    })
}

/// Levels around points and around the points of faces.
struct Scratch<'a> {
    cuda: &'a Cuda,
    mesh: &'a HexMesh<Cuda>,
    of: &'a CellFaces<Cuda>,
    at_point: CudaBuf<u32>,
    of_face: CudaBuf<u8>,
    changes: CudaBuf<u32>,
}

impl Scratch<'_> {
    /// Lowers the levels of cells to one beyond the least around their points, or raises them to one below the most.
    /// Whether any changed.
    fn change(&mut self, levels: &mut CudaBuf<u8>, lower: bool) -> Result<bool, RefineError> {
        let (cuda, mesh) = (self.cuda, self.mesh);
        let (cells, faces) = (mesh.cells(), mesh.faces());
        let none = if lower { u32::from(u8::MAX) } else { 0 };
        refill(cuda, &mut self.at_point, none)?;
        refill(cuda, &mut self.changes, 0)?;
        let name = if lower {
            "lower_points"
        } else {
            "raise_points"
        };
        let launch = cuda
            .launch(&CLOSE, D, name)
            .buf(&mesh.face_start)
            .buf(&mesh.face_points)
            .buf(&mesh.owner)
            .buf(&mesh.neighbour)
            .val(mesh.neighbour.len() as u32)
            .val(faces as u32)
            .buf(levels)
            .out(&mut self.at_point);
        // SAFETY: the mesh's own arrays, a level for each cell, a word for each point.
        unsafe { launch.run(LaunchGrid::over(faces, THREADS))? };
        let launch = cuda
            .launch(&CLOSE, D, "gather_faces")
            .buf(&mesh.face_start)
            .buf(&mesh.face_points)
            .val(faces as u32)
            .buf(&self.at_point)
            .val(u32::from(lower))
            .out(&mut self.of_face);
        // SAFETY: as above, and a level for each face.
        unsafe { launch.run(LaunchGrid::over(faces, THREADS))? };
        let launch = cuda
            .launch(&CLOSE, D, "change_cells")
            .buf(&self.of.start)
            .buf(&self.of.faces)
            .val(cells as u32)
            .buf(&self.of_face)
            .val(u32::from(lower))
            .out(levels)
            .out(&mut self.changes);
        // SAFETY: as above.
        unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
        Ok(self.changes.read(0)? > 0)
    }
}

fn refill(cuda: &Cuda, buf: &mut CudaBuf<u32>, value: u32) -> Result<(), RefineError> {
    let len = buf.len();
    buf.truncate(0);
    Ok(cuda.resize("levels around points", buf, len, value)?)
}
