//! A launch each: a thread a number. Ranks whose GPUs reach each other's memory send by one kernel a level and receive by
//! another one; the last that sends counts the message, the first that receives waits for those of all other ranks.

use super::HALO;
use crate::{
    SolverError,
    ranks::{HaloLists, HaloPlaces, Listed},
};
use cutlink_device::{
    Item,
    cuda::{Cuda, CudaBuf, GpuLink, LaunchGrid, RankGroup},
};
use std::ops::Range;

const THREADS: u32 = 256;
/// Most blocks of a kernel that sends: each waits for its numbers to arrive.
const SENDING: usize = 1024;
/// Most blocks of a kernel that waits: fewer than fit on a GPU, so that others have room.
const WAITING: usize = 256;

/// The entry point for numbers of a size.
fn of_size<T>(names: [&'static str; 3]) -> &'static str {
    match size_of::<T>() {
        2 => names[0],
        4 => names[1],
        8 => names[2],
        bytes => unreachable!("numbers of {bytes} bytes"),
    }
}

pub(super) fn gather<T: Item>(
    cuda: &Cuda,
    (places, range): (&CudaBuf<u64>, Range<usize>),
    from: &CudaBuf<T>,
    to: &mut CudaBuf<T>,
) -> Result<(), SolverError> {
    assert_eq!(range.len(), to.len(), "a number a place");
    let name = of_size::<T>(["gather_2", "gather_4", "gather_8"]);
    run(cuda, name, (places, range), from, to)
}

pub(super) fn scatter<T: Item>(
    cuda: &Cuda,
    (places, range): (&CudaBuf<u64>, Range<usize>),
    from: &CudaBuf<T>,
    to: &mut CudaBuf<T>,
) -> Result<(), SolverError> {
    assert_eq!(range.len(), from.len(), "a number a place");
    let name = of_size::<T>(["scatter_2", "scatter_4", "scatter_8"]);
    run(cuda, name, (places, range), from, to)
}

fn run<T: Item>(
    cuda: &Cuda,
    name: &'static str,
    (places, range): (&CudaBuf<u64>, Range<usize>),
    from: &CudaBuf<T>,
    to: &mut CudaBuf<T>,
) -> Result<(), SolverError> {
    let count = range.len();
    if count == 0 {
        return Ok(());
    }
    assert!(range.end <= places.len(), "places should be there");
    let launch = cuda
        .launch(&HALO, 2, name)
        .val(count as u64)
        .val(range.start as u64)
        .buf(places)
        .buf(from)
        .out(to);
    // SAFETY: places of the buffer, each once where it is written; as many numbers.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(())
}

pub(super) fn exchange<const D: usize, T: Item>(
    cuda: &Cuda,
    link: &GpuLink,
    levels: &mut [Listed<'_, T, Cuda>],
) -> Result<(), SolverError> {
    match link.group()? {
        Some(group) => by_memory(cuda, group, levels),
        None => by_messages(cuda, link, levels),
    }
}

fn by_messages<T: Item>(
    cuda: &Cuda,
    link: &GpuLink,
    levels: &mut [Listed<'_, T, Cuda>],
) -> Result<(), SolverError> {
    for (lists, buffer) in levels.iter_mut() {
        let HaloPlaces {
            places, numbers, ..
        } = &mut lists.send;
        gather(cuda, (places, 0..places.len()), buffer, numbers)?;
    }
    let both = levels.iter_mut().map(|(lists, _)| {
        let HaloLists { send, receive, .. } = &mut **lists;
        let received = (&receive.shares[..], &mut receive.numbers);
        ((&send.shares[..], &send.numbers), received)
    });
    let (sent, mut received): (Vec<_>, Vec<_>) = both.unzip();
    link.exchange(cuda, &sent, &mut received)?;
    for (lists, buffer) in levels {
        let HaloPlaces {
            places, numbers, ..
        } = &lists.receive;
        let name = of_size::<T>(["scatter_2", "scatter_4", "scatter_8"]);
        run(cuda, name, (places, 0..places.len()), numbers, buffer)?;
    }
    Ok(())
}

fn by_memory<T: Item>(
    cuda: &Cuda,
    group: RankGroup,
    levels: &mut [Listed<'_, T, Cuda>],
) -> Result<(), SolverError> {
    let last = levels.len() - 1;
    for (n, (lists, buffer)) in levels.iter_mut().enumerate() {
        let count = lists.send.places.len();
        let launch = cuda
            .launch(&HALO, 2, of_size::<T>(["send_2", "send_4", "send_8"]))
            .val(count as u64)
            .buf(&lists.send.places)
            .val(lists.targets.len() as u64)
            .buf(&lists.targets)
            .buf(buffer)
            .val(group)
            .val(u32::from(n == last));
        if count > 0 || n == last {
            let blocks = count.div_ceil(THREADS as usize).clamp(1, SENDING);
            // SAFETY: places of the buffer; targets are rooms of other ranks, which live as long as the link, and which those read
            // no more when this message is sent: they have sent the one before.
            unsafe { launch.run(LaunchGrid::blocks(blocks, THREADS))? };
        }
    }
    for (n, (lists, buffer)) in levels.iter_mut().enumerate() {
        let count = lists.receive.places.len();
        let launch = cuda
            .launch(
                &HALO,
                2,
                of_size::<T>(["receive_2", "receive_4", "receive_8"]),
            )
            .val(count as u64)
            .buf(&lists.receive.places)
            .buf(&lists.receive.numbers)
            .out(buffer)
            .val(group)
            .val(u32::from(n == 0))
            .val(u32::from(n == last));
        if count > 0 || n == 0 || n == last {
            let blocks = count.div_ceil(THREADS as usize).clamp(1, WAITING);
            // SAFETY: places of the buffer, each once; twice as many numbers.
            unsafe { launch.run(LaunchGrid::blocks(blocks, THREADS))? };
        }
    }
    Ok(())
}
