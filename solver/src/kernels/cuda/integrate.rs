//! Values of each slot, then those of all: a launch each.

use super::{INTEGRATE, Vector, entry};
use crate::{
    SolverError,
    constants::{
        integral::{SUMMED, VALUES},
        launch::ADDERS,
    },
    fields::FluidSums,
    kernels::ExactSum,
    lattice::Lattice,
    storage::Storage,
    tables::Level,
};
use cutlink_amr::dims;
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

/// One a cell of a slot.
const THREADS: u32 = 64;

pub(super) fn integrate<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &Level<D, Cuda>,
    slots: &CudaBuf<u32>,
    half_step: [S::Real; 3],
    from: &CudaBuf<S>,
) -> Result<FluidSums, SolverError> {
    let count = Cuda::len(slots);
    if count == 0 {
        return Ok(FluidSums::NONE);
    }
    let edge = f64::from(1u32 << level.index);
    let volume = edge.recip().powi(D as i32);
    let mut parts = cuda.uninit::<f64>("integrals by block", VALUES * count)?;
    let launch = cuda
        .launch(&INTEGRATE, D, entry!("integrate", L, S))
        .buf(slots)
        .buf(&level.neighbors)
        .val(edge)
        .val(volume)
        .val(Vector(half_step))
        .buf(from)
        .val(level.populated as u32)
        .val(count as u32)
        .out(&mut parts);
    // SAFETY: slots of the level whose neighbours beside the faces are slots too, or ends of the box; values of all slots;
    // [`VALUES`] for each of the list.
    unsafe { launch.run(LaunchGrid::blocks(count, THREADS))? };
    let mut sums = cuda.uninit::<ExactSum>("integrals", SUMMED)?;
    let mut extremes = cuda.uninit::<f64>("extremes", VALUES - SUMMED)?;
    let launch = cuda
        .launch(&INTEGRATE, D, "all_slots")
        .buf(&parts)
        .val(count as u32)
        .out(&mut sums)
        .out(&mut extremes);
    // SAFETY: as above; a place for each value.
    unsafe { launch.run(LaunchGrid::blocks(VALUES, ADDERS))? };
    let (sums, extremes) = (cuda.unload(sums)?, cuda.unload(extremes)?);
    let whole = (count * dims::cells(D)) as f64 * volume;
    Ok(FluidSums {
        totals: [ExactSum::from(whole), sums[0], sums[1], sums[2]],
        square: extremes[0],
        densities: [extremes[1], extremes[2]],
    })
}
