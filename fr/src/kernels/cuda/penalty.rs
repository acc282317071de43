//! One thread a point of an element with points in bodies; one thread a number of their traces.

use super::{PENALTY, name_of};
use crate::{
    FrError,
    kernels::{Kernels, Penalty, sizes},
};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

/// Threads of a block.
const ALONE: u32 = 128;

pub(super) fn penalize<const D: usize, T: Kernels<D>>(
    cuda: &Cuda,
    penalty: &Penalty<'_, T, Cuda>,
    u: &mut CudaBuf<T>,
    traces: &mut CudaBuf<T>,
    losses: &mut CudaBuf<T>,
) -> Result<(), FrError> {
    let q = penalty.basis.order() + 1;
    let elements = penalty.table.elements.len();
    let points = elements * sizes::nodes(D, q);
    assert_eq!(
        [penalty.table.bodies.len(), losses.len()],
        [points, points * sizes::gradients(D)],
        "of the elements with points in bodies"
    );
    let leaves = u.len() / sizes::element(D, q);
    let at_faces = 2 * D * sizes::trace(D, q);
    assert_eq!(traces.len(), leaves * at_faces, "of the leaves");
    let launch = cuda
        .launch(&PENALTY, D, name_of!("penalize", T, q))
        .buf(&penalty.table.elements)
        .buf(&penalty.table.bodies)
        .val(points as u64)
        .buf(penalty.energies)
        .val(penalty.lost)
        .out(u)
        .out(losses);
    // SAFETY: elements are leaves of the state, each listed once, and bodies have an energy each.
    unsafe { launch.run(LaunchGrid::over(points, ALONE))? };
    let count = elements * at_faces;
    let launch = cuda
        .launch(&PENALTY, D, name_of!("traces_at", T, q))
        .buf(&penalty.table.elements)
        .val(count as u64)
        .buf(u)
        .buf(penalty.matrices)
        .out(traces);
    // SAFETY: as above; the state is only read.
    unsafe { launch.run(LaunchGrid::over(count, ALONE))? };
    Ok(())
}
