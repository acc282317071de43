//! One group of threads an element, or a hanging face.

use super::{ByAxis, Sixteen, THREADS, VISCOUS, blocks, name_of};
use crate::{
    FrError,
    kernels::{Kernels, Task, operators, sizes},
};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

pub(super) fn common_states<const D: usize, T: Kernels<D>>(
    cuda: &Cuda,
    task: &Task<'_, D, T, Cuda>,
    states: &mut CudaBuf<T>,
) -> Result<(), FrError> {
    let (q, slots) = (task.basis.order() + 1, task.faces.slots.len());
    task.check(slots * sizes::slot(D, q));
    assert_eq!(
        states.len(),
        slots * sizes::common_slot(D, q),
        "of the hanging faces"
    );
    let launch = cuda
        .launch(&VISCOUS, D, name_of!("common_states", T, q))
        .buf(&task.faces.slots)
        .buf(&task.faces.hanging)
        .val(slots as u32)
        .buf(task.traces)
        .val(task.gamma)
        .buf(task.matrices)
        .out(states);
    let grid = LaunchGrid::blocks(blocks(slots, sizes::face(D, q)), THREADS);
    // SAFETY: faces are those of the leaves, which have a trace for each, and slots room for their states.
    unsafe { launch.run(grid)? };
    Ok(())
}

pub(super) fn rates<const D: usize, T: Kernels<D>>(
    cuda: &Cuda,
    task: &Task<'_, D, T, Cuda>,
    states: &CudaBuf<T>,
    u: &CudaBuf<T>,
    [traces, rates, at_walls]: [&mut CudaBuf<T>; 3],
) -> Result<(), FrError> {
    let (q, count) = (task.basis.order() + 1, task.leaves.len());
    let slots = task.faces.slots.len();
    task.check(slots * sizes::slot(D, q));
    task.check_elements([u.len(), u.len()], task.traces.len());
    task.check_viscous(traces.len(), rates.len());
    assert_eq!(
        states.len(),
        slots * sizes::common_slot(D, q),
        "of the hanging faces"
    );
    let walls = task.check_walls();
    assert_eq!(
        at_walls.len(),
        walls * sizes::gradient_trace(D, q),
        "of the walls"
    );
    let coefficients = task.viscosity.expect("a viscous flow");
    let name = if walls > 0 {
        name_of!("viscous_rates_walls", T, q)
    } else {
        name_of!("viscous_rates", T, q)
    };
    let known = operators::numbers::<T>(task.basis);
    let launch = cuda
        .launch(&VISCOUS, D, name)
        .buf(&task.faces.codes)
        .buf(task.leaves.keys())
        .val(count as u32)
        .buf(task.traces)
        .buf(states)
        .buf(u)
        .out(traces)
        .out(rates)
        .val(task.gamma)
        .val(coefficients.viscosity)
        .val(coefficients.conductivity)
        .val(ByAxis(coefficients.slopes))
        .buf(task.matrices)
        .buf(&task.walls.kinds)
        .buf(&task.walls.states)
        .out(at_walls)
        .val(Sixteen::of(&known, 0))
        .val(Sixteen::of(&known, 16))
        .val(Sixteen::of(&known, 32));
    let grid = LaunchGrid::blocks(blocks(count, sizes::face(D, q)), THREADS);
    // SAFETY: lengths are those of the leaves, slots and walls.
    unsafe { launch.run(grid)? };
    Ok(())
}
