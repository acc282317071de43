//! Sums by slot with cut links, and by slot that friction of modelled walls acts on; then these added up.

use super::{FORCES, Vector, entry, give};
use crate::{
    SolverError,
    constants::launch::{ADDERS, THREADS},
    kernels::{ExactSum, SUMS},
    lattice::Lattice,
    storage::Storage,
    tables::Level,
};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

pub(super) fn forces<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &Level<D, Cuda>,
    from: &CudaBuf<S>,
    parts: &mut CudaBuf<f64>,
    at: usize,
    fresh: bool,
    sums: &mut CudaBuf<ExactSum>,
) -> Result<(), SolverError> {
    let values = SUMS * level.patches;
    let scale = 1.0 / f64::from(1u32 << (level.index * (D - 1)));
    let center = Vector(std::array::from_fn(|a| {
        level.moment_center.get(a).copied().unwrap_or(0.0)
    }));
    let launch = give(cuda.launch(&FORCES, D, entry!("by_slot", L, S)), level)
        .buf(&level.linked)
        .buf(&level.ghost)
        .val(level.patches as u32)
        .buf(&level.modeled.cells)
        .val(level.modeled.first as u32)
        .val(Cuda::len(&level.modeled.cells) as u32)
        .val(center)
        .val(scale)
        .buf(from)
        .out(parts);
    // SAFETY: tables and populations of one level; `parts` has [`SUMS`] values a linked slot and patch.
    unsafe { launch.run(LaunchGrid::blocks(level.linked.len(), THREADS))? };
    let groups = level.modeled.groups();
    if groups > 0 {
        let launch = cuda
            .launch(&FORCES, D, "by_group")
            .buf(&level.coord)
            .buf(&level.modeled.dragged)
            .buf(&level.modeled.starts)
            .buf(&level.modeled.drag)
            .val(level.index as i32)
            .val(level.patches as u32)
            .val(center)
            .val(scale)
            .out_at(parts, values * level.linked.len());
        // SAFETY: tables of one level; behind the rows of linked slots `parts` has one for each of these, and friction acts on no
        // more cells of a slot than it has.
        unsafe { launch.run(LaunchGrid::blocks(groups, THREADS))? };
    }
    let launch = cuda
        .launch(&FORCES, D, "total")
        .buf(parts)
        .val((level.linked.len() + groups) as u32)
        .val(values as u32)
        .val(u32::from(fresh))
        .out_at(sums, at);
    // SAFETY: as above; from `at` on there are that many sums.
    unsafe { launch.run(LaunchGrid::blocks(values, ADDERS))? };
    Ok(())
}
