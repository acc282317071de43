//! A launch for a step; two for what a coarser level gets, one for ghosts.

use super::HEAT;
use crate::{
    SolverError, constants::launch::THREADS, heat::tables::HeatBetween, kernels::HeatLevel,
};
use bytemuck::{Pod, Zeroable};
use cutlink_amr::dims;
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

/// Numbers of `HeatNumbers` of `heat.cu`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct DeviceHeat {
    diffusivity: f64,
    slots: u32,
    special: u32,
}

pub(super) fn carry<const D: usize>(
    cuda: &Cuda,
    heat: &HeatLevel<'_, D, Cuda>,
    from: &CudaBuf<f64>,
    to: &mut CudaBuf<f64>,
    given: &mut CudaBuf<f64>,
) -> Result<(), SolverError> {
    let (level, tables) = (heat.level, heat.tables);
    let numbers = DeviceHeat {
        diffusivity: heat.diffusivity,
        slots: level.slots as u32,
        special: level.special as u32,
    };
    let launch = cuda
        .launch(&HEAT, D, "carry")
        .val(numbers)
        .buf(&level.neighbors)
        .buf(&level.stepped)
        .buf(&tables.there)
        .buf(&tables.open)
        .buf(&tables.start)
        .buf(&tables.faces)
        .buf(heat.momentum)
        .buf(from)
        .out(to)
        .out(given);
    // SAFETY: tables of one level; temperatures and momenta of all its slots; a number for each of its faces.
    unsafe { launch.run(LaunchGrid::blocks(level.slots, THREADS))? };
    Ok(())
}

pub(super) fn restrict<const D: usize>(
    cuda: &Cuda,
    shared: &HeatBetween<Cuda>,
    fine: &CudaBuf<f64>,
    given: &mut CudaBuf<f64>,
    coarse: &mut CudaBuf<f64>,
) -> Result<(), SolverError> {
    let count = Cuda::len(&shared.means) / (1 + dims::children(D));
    let launch = cuda
        .launch(&HEAT, D, "means")
        .buf(&shared.means)
        .val(count as u32)
        .buf(fine)
        .out(coarse);
    // SAFETY: places of both levels, coarse ones once.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    let count = Cuda::len(&shared.owed);
    let launch = cuda
        .launch(&HEAT, D, "owed")
        .buf(&shared.owed)
        .buf(&shared.owed_start)
        .buf(&shared.owed_faces)
        .val(count as u32)
        .out(given)
        .out(coarse);
    // SAFETY: places of the coarse level and faces of the fine one, each once.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(())
}

pub(super) fn prolong<const D: usize>(
    cuda: &Cuda,
    shared: &HeatBetween<Cuda>,
    coarse: &CudaBuf<f64>,
    fine: &mut CudaBuf<f64>,
) -> Result<(), SolverError> {
    let count = Cuda::len(&shared.ghosts) / (dims::directions(D) + dims::children(D));
    let launch = cuda
        .launch(&HEAT, D, "prolong")
        .buf(&shared.ghosts)
        .val(count as u32)
        .buf(coarse)
        .out(fine);
    // SAFETY: places of both levels, fine ones once.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(())
}
