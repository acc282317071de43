//! Two launches: sums by slot with cut links, and these added up.

use super::{FORCES, Vector, entry, give};
use crate::{
    SolverError,
    kernels::{ExactSum, SUMS},
    lattice::Lattice,
    storage::Storage,
    tables::Level,
};
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

/// As in `forces.cu`.
const THREADS: u32 = 64;
const ADDERS: u32 = 256;

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
        .val(center)
        .val(scale)
        .buf(from)
        .out(parts);
    // SAFETY: tables and populations of one level; `parts` has [`SUMS`] values a linked slot and patch.
    unsafe { launch.run(LaunchGrid::blocks(level.linked.len(), THREADS))? };
    let launch = cuda
        .launch(&FORCES, D, "total")
        .buf(parts)
        .val(level.linked.len() as u32)
        .val(values as u32)
        .val(u32::from(fresh))
        .out_at(sums, at);
    // SAFETY: as above; from `at` on there are that many sums.
    unsafe { launch.run(LaunchGrid::blocks(values, ADDERS))? };
    Ok(())
}
