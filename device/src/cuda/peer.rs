//! GPUs of one process that write into each other's memory: the counters by which their kernels wait for one another.

use super::{
    CudaBuf,
    context::{Cuda, check},
};
use crate::DeviceError;
use cudarc::driver::sys;
use std::{
    ptr,
    sync::atomic::{AtomicU32, Ordering},
};

/// Numbers of a rank's state, see [`RankGroup`].
const STATE: usize = 2;

/// A word that the host writes and kernels of all devices read.
struct Word(*mut AtomicU32);

// SAFETY: an atomic number in pinned memory.
unsafe impl Send for Word {}
// SAFETY: as above.
unsafe impl Sync for Word {}

impl Word {
    fn new() -> Result<Self, DeviceError> {
        let mut at = ptr::null_mut();
        // SAFETY: the address is written; a context is current. New pages are aligned.
        unsafe {
            let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
            check(
                "allocate pinned memory",
                sys::cuMemHostAlloc(&raw mut at, size_of::<AtomicU32>(), flags),
            )?;
            at.cast::<AtomicU32>().write(AtomicU32::new(0));
        }
        Ok(Self(at.cast()))
    }

    fn get(&self) -> &AtomicU32 {
        // SAFETY: written by `new`, given back by `drop`.
        unsafe { &*self.0 }
    }
}

impl Drop for Word {
    fn drop(&mut self) {
        // SAFETY: made by `new`; the owner has waited for the kernels that read it.
        unsafe { sys::cuMemFreeHost(self.0.cast()) };
    }
}

/// A rank's end.
pub(super) struct Peer {
    /// By rank, how many messages it has sent here; written by that rank's device.
    flags: CudaBuf<u64>,
    state: CudaBuf<u64>,
    /// Where this rank counts its messages on each of the others, and 0 for itself.
    told: CudaBuf<u64>,
    aborted: Word,
    rank: u32,
    ranks: u32,
}

/// What kernels have to know of a group of ranks, as they take it.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C)]
pub struct RankGroup {
    /// Messages sent, and blocks done of the kernel that sends.
    state: u64,
    flags: u64,
    told: u64,
    aborted: u64,
    rank: u32,
    ranks: u32,
}

impl Peer {
    /// The counters of others, of which nothing is known yet.
    pub(super) fn flags(on: &Cuda, ranks: usize) -> Result<CudaBuf<u64>, DeviceError> {
        let flags = on.upload_slice("messages between ranks", &vec![0u64; ranks])?;
        on.wait()?;
        Ok(flags)
    }

    /// With the addresses of all ranks' flags.
    pub(super) fn new(
        on: &Cuda,
        rank: usize,
        flags: CudaBuf<u64>,
        of_ranks: &[u64],
    ) -> Result<Self, DeviceError> {
        on.bind()?;
        let mine = (rank * size_of::<u64>()) as u64;
        let of_rank = |(other, at): (usize, &u64)| if other == rank { 0 } else { at + mine };
        let told: Vec<u64> = of_ranks.iter().enumerate().map(of_rank).collect();
        let peer = Self {
            flags,
            state: on.upload_slice("messages between ranks", &[0u64; STATE])?,
            told: on.upload_slice("messages between ranks", &told)?,
            aborted: Word::new()?,
            rank: rank as u32,
            ranks: of_ranks.len() as u32,
        };
        on.wait()?;
        Ok(peer)
    }

    pub(super) fn group(&self) -> RankGroup {
        RankGroup {
            state: self.state.address(0),
            flags: self.flags.address(0),
            told: self.told.address(0),
            aborted: self.aborted.0 as u64,
            rank: self.rank,
            ranks: self.ranks,
        }
    }

    /// Ends the waiting of this rank's kernels.
    pub(super) fn abort(&self) {
        self.aborted.get().store(1, Ordering::Release);
    }

    pub(super) fn is_aborted(&self) -> bool {
        self.aborted.get().load(Ordering::Acquire) != 0
    }
}
