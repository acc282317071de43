//! A thread a new point.

use super::{D, POINTS, THREADS, cut, of_shape, view};
use crate::kernels::{CellShape, NewPoints, RefineTask, SplitNumbers};
use crate::refine::RefineError;
use cutlink_device::{
    Backend,
    cuda::{Cuda, LaunchGrid},
};

pub(super) fn points(
    cuda: &Cuda,
    task: &RefineTask<'_, Cuda>,
    numbers: &SplitNumbers<Cuda>,
) -> Result<NewPoints<Cuda>, RefineError> {
    let (mesh, counts) = (task.mesh, &numbers.counts);
    let mut points = cuda.uninit("points", counts.new_points())?;
    let mut levels = cuda.uninit("point levels", counts.new_points())?;
    points.copy_from(0, &mesh.points)?;
    levels.copy_from(0, &mesh.point_levels)?;
    let mut of_edge = cuda.alloc("levels of edges", counts.edges, 0u32)?;
    let name = of_shape(counts.shape, "level_edges_of_hexes", "level_edges_of_tets");
    let launch = cut(cuda.launch(&POINTS, D, name), task, numbers).out(&mut of_edge);
    // SAFETY: the arrays of one step, a level for each split edge.
    unsafe {
        launch.run(LaunchGrid::over(
            counts.shape.edges() * counts.marked,
            THREADS,
        ))?
    };
    let at = counts.points;
    let launch = cuda
        .launch(&POINTS, D, "put_edge_points")
        .buf(&mesh.points)
        .buf(&numbers.edges)
        .val(counts.edges as u32)
        .buf(&of_edge)
        .out_at(&mut points, at)
        .out_at(&mut levels, at);
    // SAFETY: edges between old points; there is room for all new points behind the old ones.
    unsafe { launch.run(LaunchGrid::over(counts.edges, THREADS))? };
    if counts.shape == CellShape::Tetrahedron {
        return Ok(NewPoints { points, levels });
    }
    let at = at + counts.edges;
    let launch = view(cuda.launch(&POINTS, D, "put_face_points"), mesh, task.of)
        .buf(&mesh.points)
        .buf(&numbers.split)
        .out_at(&mut points, at)
        .out_at(&mut levels, at);
    // SAFETY: as above; split faces have four corners.
    unsafe { launch.run(LaunchGrid::over(counts.faces, THREADS))? };
    let at = at + counts.split;
    let launch = cuda
        .launch(&POINTS, D, "put_cell_points")
        .buf(&mesh.points)
        .buf(task.corners)
        .buf(&mesh.cell_levels)
        .buf(&numbers.marked)
        .val(counts.marked as u32)
        .out_at(&mut points, at)
        .out_at(&mut levels, at);
    // SAFETY: as above; split cells have eight corners.
    unsafe { launch.run(LaunchGrid::over(counts.marked, THREADS))? };
    Ok(NewPoints { points, levels })
}
