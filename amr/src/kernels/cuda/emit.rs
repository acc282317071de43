//! A count, a scan and a write; one read-back.

use super::{EMIT, THREADS, linear::KeyGrid};
use crate::{
    ForestError,
    linear::{Counted, Leaves},
};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

pub(super) fn count<const D: usize>(
    cuda: &Cuda,
    leaves: &Leaves<D, Cuda>,
    marks: &CudaBuf<u8>,
) -> Result<Counted<Cuda>, ForestError> {
    let count = leaves.len();
    let mut first = cuda.uninit("the map of leaves", count + 1)?;
    // Refined leaves, coarsened groups, levels, new leaves.
    let mut tally = cuda.alloc("counts", 4, 0u64)?;
    let launch = cuda
        .launch(&EMIT, D, "count_new")
        .val(KeyGrid::of(leaves.grid()))
        .buf(leaves.keys())
        .buf(marks)
        .val(count as u32)
        .out(&mut first)
        .out(&mut tally);
    // SAFETY: a mark for each leaf, a number for each and one more.
    unsafe { launch.run(LaunchGrid::over(count + 1, THREADS))? };
    cuda.scan(&mut first, &mut tally, 3)?;
    let tally = cuda.download(&tally)?;
    Ok(Counted {
        first,
        leaves: tally[3],
        refined: tally[0],
        coarsened: tally[1],
        finest: tally[2].checked_ilog2().unwrap_or(0),
    })
}

pub(super) fn emit<const D: usize>(
    cuda: &Cuda,
    leaves: &Leaves<D, Cuda>,
    marks: &CudaBuf<u8>,
    counted: &Counted<Cuda>,
) -> Result<CudaBuf<u64>, ForestError> {
    let mut keys = cuda.uninit("leaves", counted.leaves as usize)?;
    let launch = cuda
        .launch(&EMIT, D, "write_new")
        .val(KeyGrid::of(leaves.grid()))
        .buf(leaves.keys())
        .buf(marks)
        .val(leaves.len() as u32)
        .buf(&counted.first)
        .out(&mut keys);
    // SAFETY: the caller's promise: room for all that were counted, each in its place.
    unsafe { launch.run(LaunchGrid::over(leaves.len(), THREADS))? };
    Ok(keys)
}
