//! A launch each: a thread a number. Ranks whose GPUs reach each other's memory send by one kernel, which counts the message, and
//! receive by another one, which waits for those of all other ranks.

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
/// Numbers of a thread at once.
const BATCH: u32 = 4;
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

/// What is sent of a level, or received, as kernels take it.
#[derive(Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C)]
struct LevelPart {
    /// Numbers of this level and those before it.
    end: u64,
    places: u64,
    buffer: u64,
    /// Received numbers, or targets.
    other: u64,
    shares: u64,
}

/// Most levels of a launch.
const LEVELS: usize = 16;

/// Levels whose steps end together, as kernels take them.
#[derive(Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C)]
struct LevelParts {
    of: [LevelPart; LEVELS],
    count: u32,
    unused: u32,
}

impl LevelParts {
    /// Of levels in order, each with its numbers; those without any are left out. And all numbers.
    fn of(levels: impl Iterator<Item = (usize, LevelPart)>) -> (Self, usize) {
        let (mut parts, mut all): (Self, usize) = (bytemuck::Zeroable::zeroed(), 0);
        for (numbers, part) in levels.filter(|&(numbers, _)| numbers > 0) {
            all += numbers;
            parts.of[parts.count as usize] = LevelPart {
                end: all as u64,
                ..part
            };
            parts.count += 1;
        }
        // The kernels read the last level's end.
        parts.count = parts.count.max(1);
        (parts, all)
    }
}

fn by_memory<T: Item>(
    cuda: &Cuda,
    group: RankGroup,
    levels: &mut [Listed<'_, T, Cuda>],
) -> Result<(), SolverError> {
    let launches = levels.len().div_ceil(LEVELS);
    for (n, levels) in levels.chunks(LEVELS).enumerate() {
        let (parts, numbers) = LevelParts::of(levels.iter().map(|(lists, buffer)| {
            let part = LevelPart {
                end: 0,
                places: lists.send.places.address(0),
                buffer: buffer.address(0),
                other: lists.targets.address(0),
                shares: lists.targets.len() as u64,
            };
            (lists.send.places.len(), part)
        }));
        let launch = cuda
            .launch(&HALO, 2, of_size::<T>(["send_2", "send_4", "send_8"]))
            .val(parts)
            .val(group)
            .val(u32::from(n + 1 == launches));
        // SAFETY: places of the levels' buffers; targets are rooms of other ranks, which live as long as the link, and which those
        // read no more when this message is sent: they have sent the one before.
        unsafe { launch.run(grid(numbers, SENDING))? };
    }
    for levels in levels.chunks_mut(LEVELS) {
        let (parts, numbers) = LevelParts::of(levels.iter_mut().map(|(lists, buffer)| {
            let part = LevelPart {
                end: 0,
                places: lists.receive.places.address(0),
                buffer: buffer.share(),
                other: lists.receive.numbers.address(0),
                shares: 0,
            };
            (lists.receive.places.len(), part)
        }));
        let launch = cuda
            .launch(
                &HALO,
                2,
                of_size::<T>(["receive_2", "receive_4", "receive_8"]),
            )
            .val(parts)
            .val(group);
        // SAFETY: places of the levels' buffers, each once, which are borrowed mutably; twice as many numbers.
        unsafe { launch.run(grid(numbers, WAITING))? };
    }
    Ok(())
}

/// Threads for so many numbers, in at most so many blocks, of which there is one in any case.
fn grid(numbers: usize, most: usize) -> LaunchGrid {
    let blocks = numbers.div_ceil((THREADS * BATCH) as usize);
    LaunchGrid::blocks(blocks.clamp(1, most), THREADS)
}
