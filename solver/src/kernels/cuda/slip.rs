//! One launch.

use super::{SLIP, entry, give};
use crate::{
    SolverError, constants::launch::THREADS, lattice::Lattice, storage::Storage, tables::Level,
};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

pub(super) fn slip<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &mut Level<D, Cuda>,
    from: &CudaBuf<S>,
) -> Result<(), SolverError> {
    let cells = Cuda::len(&level.modeled.cells);
    let slips = level.profile.share() + (8 * D * level.modeled.first) as u64;
    let launch = give(cuda.launch(&SLIP, D, entry!("slip", L, S)), level)
        .buf(&level.modeled.cells)
        .val(cells as u32)
        .buf(from)
        .val(slips);
    // SAFETY: tables of one level; populations of all its slots; the profile has a place for each modelled cell from `first` on, and
    // the kernel reads no profile.
    unsafe { launch.run(LaunchGrid::over(cells, THREADS))? };
    Ok(())
}
