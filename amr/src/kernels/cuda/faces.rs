//! Codes, a scan that numbers hanging faces, and their table.

use super::{FACES, THREADS, linear::KeyGrid};
use crate::{
    ForestError, dims,
    linear::{Faces, Leaves},
};
use cutlink_device::cuda::{Cuda, LaunchGrid};

pub(super) fn faces<const D: usize>(
    cuda: &Cuda,
    leaves: &Leaves<D, Cuda>,
) -> Result<Faces<D, Cuda>, ForestError> {
    let (keys, count) = (leaves.keys(), leaves.len() * 2 * D);
    let mut codes = cuda.uninit("codes of faces", count)?;
    let mut slot = cuda.uninit("slots of faces", count + 1)?;
    let launch = cuda
        .launch(&FACES, D, "write_codes")
        .val(KeyGrid::of(leaves.grid()))
        .buf(keys)
        .val(keys.len() as u32)
        .out(&mut codes)
        .out(&mut slot);
    // SAFETY: a code for each face of each leaf, a number for each and one more; leaves fill the box, so a search finds one.
    unsafe { launch.run(LaunchGrid::over(count + 1, THREADS))? };
    let mut total = cuda.uninit::<u64>("a count", 1)?;
    cuda.scan(&mut slot, &mut total, 0)?;
    let hanging = total.read(0)? as usize;
    let mut slots = cuda.uninit("hanging faces", hanging)?;
    let mut table = cuda.uninit("hanging faces", hanging * dims::children(D) / 2)?;
    let launch = cuda
        .launch(&FACES, D, "write_slots")
        .val(keys.len() as u32)
        .buf(&slot)
        .out(&mut codes)
        .out(&mut slots)
        .out(&mut table);
    // SAFETY: as above; room for all slots that were counted, and beyond a face to a coarser leaf is a hanging one.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(Faces {
        codes,
        hanging: table,
        slots,
    })
}
