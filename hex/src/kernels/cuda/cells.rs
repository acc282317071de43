//! A thread an old cell.

use super::{CELLS, D, THREADS};
use crate::kernels::{NewCells, RefineTask, SplitNumbers};
use crate::refine::RefineError;
use cutlink_device::cuda::{Cuda, LaunchGrid};

pub(super) fn cells(
    cuda: &Cuda,
    task: &RefineTask<'_, Cuda>,
    numbers: &SplitNumbers<Cuda>,
) -> Result<NewCells<Cuda>, RefineError> {
    let (mesh, new) = (task.mesh, numbers.counts.cells);
    let mut levels = cuda.uninit("cell levels", new)?;
    let mut paths = cuda.uninit("paths of cells", new)?;
    let launch = cuda
        .launch(&CELLS, D, "put_cells")
        .buf(&mesh.cell_levels)
        .buf(&mesh.paths)
        .buf(task.marks)
        .buf(&numbers.first)
        .val(mesh.cells() as u32)
        .out(&mut levels)
        .out(&mut paths);
    // SAFETY: an entry for each old cell; each writes where its new ones were counted.
    unsafe { launch.run(LaunchGrid::over(mesh.cells(), THREADS))? };
    Ok(NewCells { levels, paths })
}
