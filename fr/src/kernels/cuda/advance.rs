//! One group of threads an element; one thread a number of the traces; one thread a point for the fastest wave.

use super::{ADVANCE, ByAxis, Sixteen, THREADS, blocks, name_of};
use crate::{
    FrError,
    kernels::{Fluxes, Kernels, Task, operators, sizes, stages::Waves},
};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

/// Threads of a block of kernels that need no group.
const ALONE: u32 = 256;

pub(super) fn advance<const D: usize, T: Kernels<D>>(
    cuda: &Cuda,
    task: &Task<'_, D, T, Cuda>,
    fluxes: &Fluxes<'_, T, Cuda>,
    u: &mut CudaBuf<T>,
    start: &mut CudaBuf<T>,
    traces: &mut CudaBuf<T>,
) -> Result<(), FrError> {
    let (q, count) = (task.basis.order() + 1, task.leaves.len());
    task.check(fluxes.mortars.len());
    task.check_viscous(fluxes.viscous.len(), fluxes.rates.len());
    task.check_elements([u.len(), start.len()], traces.len());
    assert_eq!(
        fluxes.walls.len(),
        task.check_walls() * sizes::wall(D, q),
        "of the walls"
    );
    let known = operators::numbers::<T>(task.basis);
    // The first stage writes beside the state, which is then the state at the start; the others write over it.
    let (from, kept, to) = if task.is_first {
        (u.share(), u.share(), start.share())
    } else {
        (u.share(), start.share(), u.share())
    };
    let name = if task.viscosity.is_some() {
        name_of!("advance_viscous", T, q)
    } else {
        name_of!("advance", T, q)
    };
    let launch = cuda
        .launch(&ADVANCE, D, name)
        .buf(&task.faces.codes)
        .buf(task.leaves.keys())
        .val(count as u32)
        .buf(task.traces)
        .buf(fluxes.mortars)
        .buf(task.far_field)
        .buf(fluxes.viscous)
        .buf(fluxes.rates)
        .buf(fluxes.walls)
        .val(from)
        .val(kept)
        .val(to)
        .out(traces)
        .val(task.gamma)
        .val(task.keep)
        .val(task.time)
        .val(ByAxis(task.rates))
        .buf(task.matrices)
        .val(Sixteen::of(&known, 0))
        .val(Sixteen::of(&known, 16))
        .val(Sixteen::of(&known, 32));
    let grid = LaunchGrid::blocks(blocks(count, sizes::face(D, q)), THREADS);
    // SAFETY: lengths are those of the leaves, slots and walls; a thread writes over what it alone reads, and nothing else uses
    // both states meanwhile.
    unsafe { launch.run(grid)? };
    if task.is_first {
        std::mem::swap(u, start);
    }
    Ok(())
}

pub(super) fn traces<const D: usize, T: Kernels<D>>(
    cuda: &Cuda,
    task: &Task<'_, D, T, Cuda>,
    u: &CudaBuf<T>,
    traces: &mut CudaBuf<T>,
) -> Result<(), FrError> {
    let q = task.basis.order() + 1;
    task.check_elements([u.len(), u.len()], traces.len());
    let count = traces.len();
    let launch = cuda
        .launch(&ADVANCE, D, name_of!("traces", T, q))
        .buf(u)
        .val(count as u64)
        .buf(task.matrices)
        .out(traces);
    // SAFETY: a state and traces of the same leaves.
    unsafe { launch.run(LaunchGrid::over(count, ALONE))? };
    Ok(())
}

pub(super) fn wave_rate<const D: usize, T: Kernels<D>>(
    cuda: &Cuda,
    waves: &Waves<'_, D, Cuda>,
    u: &CudaBuf<T>,
) -> Result<f64, FrError> {
    let q = (2..=5)
        .find(|&q| sizes::nodes(D, q) == waves.nodes)
        .expect("points of an element of an order");
    let count = waves.leaves.len() * waves.nodes;
    assert_eq!(
        u.len(),
        count * sizes::unknowns(D),
        "a state should be of its leaves"
    );
    let codes = 2 * D * waves.leaves.len();
    assert_eq!(waves.faces.codes.len(), codes, "a code for each face");
    let mut largest = cuda.upload_slice("the fastest wave", &[0u64])?;
    let launch = cuda
        .launch(&ADVANCE, D, name_of!("wave_rate", T, q))
        .buf(u)
        .buf(waves.leaves.keys())
        .buf(&waves.faces.codes)
        .val(count as u64)
        .val(waves.gamma)
        .val(ByAxis(waves.edges))
        .val(waves.diffusion)
        .out(&mut largest);
    // SAFETY: a key and codes for each leaf, and the state that its length was compared with.
    unsafe { launch.run(LaunchGrid::over(count, ALONE))? };
    Ok(f64::from_bits(largest.read(0)?))
}
