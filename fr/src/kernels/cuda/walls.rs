//! One thread a point of a face with a wall.

use super::{ByAxis, WALLS, name_of};
use crate::{
    FrError,
    kernels::{Coefficients, Kernels, Task, sizes},
};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

/// Threads of a block.
const ALONE: u32 = 128;

pub(super) fn walls<const D: usize, T: Kernels<D>>(
    cuda: &Cuda,
    task: &Task<'_, D, T, Cuda>,
    viscous: &CudaBuf<T>,
    out: &mut CudaBuf<T>,
) -> Result<(), FrError> {
    let q = task.basis.order() + 1;
    let slots = task.check_walls();
    let of_viscous = task.viscosity.map_or(0, |_| sizes::gradient_trace(D, q));
    assert_eq!(
        [viscous.len(), out.len(), task.traces.len()],
        [
            slots * of_viscous,
            slots * sizes::wall(D, q),
            2 * D * task.leaves.len() * sizes::trace(D, q)
        ],
        "of the walls"
    );
    let by = task.viscosity.unwrap_or(Coefficients {
        viscosity: T::ZERO,
        conductivity: T::ZERO,
        slopes: [T::ZERO; D],
    });
    let launch = cuda
        .launch(&WALLS, D, name_of!("walls", T, q))
        .buf(&task.walls.faces)
        .buf(&task.walls.kinds)
        .buf(&task.walls.states)
        .val(slots as u32)
        .buf(task.leaves.keys())
        .buf(task.traces)
        .buf(viscous)
        .val(u32::from(task.viscosity.is_some()))
        .val(task.gamma)
        .val(by.viscosity)
        .val(by.conductivity)
        .val(task.penalty)
        .val(ByAxis(by.slopes))
        .out(out);
    // SAFETY: faces are those of the leaves, which have a trace for each; lengths are those of the walls.
    unsafe { launch.run(LaunchGrid::over(slots * sizes::face(D, q), ALONE))? };
    Ok(())
}
