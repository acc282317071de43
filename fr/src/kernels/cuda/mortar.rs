//! One group of threads a hanging face.

use super::{MORTAR, THREADS, blocks, name_of};
use crate::{
    FrError,
    kernels::{Kernels, Task, sizes},
};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

pub(super) fn mortars<const D: usize, T: Kernels<D>>(
    cuda: &Cuda,
    task: &Task<'_, D, T, Cuda>,
    viscous: &CudaBuf<T>,
    out: &mut CudaBuf<T>,
) -> Result<(), FrError> {
    let (q, slots) = (task.basis.order() + 1, task.faces.slots.len());
    task.check(out.len());
    let name = if task.viscosity.is_some() {
        name_of!("mortars_viscous", T, q)
    } else {
        name_of!("mortars", T, q)
    };
    let launch = cuda
        .launch(&MORTAR, D, name)
        .buf(&task.faces.slots)
        .buf(&task.faces.hanging)
        .val(slots as u32)
        .buf(task.traces)
        .buf(viscous)
        .val(task.gamma)
        .buf(task.matrices)
        .out(out);
    let grid = LaunchGrid::blocks(blocks(slots, sizes::face(D, q)), THREADS);
    // SAFETY: faces are those of the leaves, which have a trace for each and, where the kernel asks for them, viscous traces;
    // slots have room for their fluxes.
    unsafe { launch.run(grid)? };
    Ok(())
}
