//! Transfers between host and device through pinned staging buffers: while the device copies some, the host fills or
//! empties the others, on the way to the host by several threads (`pieces.rs`).

use super::context::{Cuda, check};
use crate::{
    DeviceError, lock,
    pieces::{self, Pages},
};
use cudarc::driver::sys;
use std::{mem::MaybeUninit, ptr, slice, sync::OnceLock, thread};

/// Bytes of a staging buffer.
const PAGE: usize = 2 << 20;
/// Number of staging buffers, and the most threads that empty them.
const PAGES: usize = 8;
/// Bytes up to which the driver keeps a copy of its own of what is to be copied, so that no staging buffer is waited for.
const FEW: usize = 64 << 10;

/// Pinned staging buffers, and the events after the device's last use of each.
pub(super) struct Pinned {
    pages: [*mut u8; PAGES],
    done: [sys::CUevent; PAGES],
}

// SAFETY: plain memory and events, used under a lock.
unsafe impl Send for Pinned {}
// SAFETY: threads that share a reference use a page each; events may be used from any thread.
unsafe impl Sync for Pinned {}

impl Drop for Pinned {
    fn drop(&mut self) {
        for i in 0..PAGES {
            // SAFETY: made by `new`, given back once, with the context current; null where `new` did not get that far.
            unsafe {
                if !self.done[i].is_null() {
                    sys::cuEventDestroy_v2(self.done[i]);
                }
                if !self.pages[i].is_null() {
                    sys::cuMemFreeHost(self.pages[i].cast());
                }
            }
        }
    }
}

impl Pinned {
    fn new() -> Result<Self, DeviceError> {
        // Owns what there is so far, also where a call fails.
        let mut pinned = Self {
            pages: [ptr::null_mut(); PAGES],
            done: [ptr::null_mut(); PAGES],
        };
        for i in 0..PAGES {
            let mut page = ptr::null_mut();
            // SAFETY: the pointers are written; a context is current.
            unsafe {
                check(
                    "allocate pinned memory",
                    sys::cuMemHostAlloc(&raw mut page, PAGE, 0),
                )?;
                pinned.pages[i] = page.cast();
                check(
                    "make an event",
                    sys::cuEventCreate(
                        &raw mut pinned.done[i],
                        sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32,
                    ),
                )?;
            }
        }
        Ok(pinned)
    }

    /// Waits until the device is done with a staging buffer.
    fn wait(&self, i: usize) -> Result<(), DeviceError> {
        // SAFETY: an event that lives as long as this.
        check("wait for a copy", unsafe {
            sys::cuEventSynchronize(self.done[i])
        })
    }

    /// A staging buffer, once the device is done with it.
    fn page(&mut self, i: usize) -> Result<&mut [u8], DeviceError> {
        self.wait(i)?;
        // SAFETY: so many bytes were allocated, and the device is done with them.
        Ok(unsafe { slice::from_raw_parts_mut(self.pages[i], PAGE) })
    }
}

impl Cuda {
    fn with_pinned(
        &self,
        run: impl FnOnce(&mut Pinned) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        self.bind()?;
        let mut pinned = lock(&self.0.pinned);
        match &mut *pinned {
            Some(pinned) => run(pinned),
            empty => run(empty.insert(Pinned::new()?)),
        }
    }

    /// Copies host memory to the device; the host's may be overwritten on return.
    pub(super) fn copy_in(&self, from: &[u8], to: sys::CUdeviceptr) -> Result<(), DeviceError> {
        if from.is_empty() {
            return Ok(());
        }
        let stream = self.0.stream;
        if from.len() <= FEW {
            self.bind()?;
            // SAFETY: the driver has read the bytes when it returns, for they are in pageable memory and few; the device's
            // memory has room for them by the caller.
            return check("copy to the device", unsafe {
                sys::cuMemcpyHtoDAsync_v2(to, from.as_ptr().cast(), from.len(), stream)
            });
        }
        self.with_pinned(|pinned| {
            for (i, part) in from.chunks(PAGE).enumerate() {
                let page = pinned.page(i % PAGES)?;
                page[..part.len()].copy_from_slice(part);
                // SAFETY: the page holds the bytes until its event has passed; the device's
                // memory has room for them by the caller.
                unsafe {
                    let at = to + (i * PAGE) as u64;
                    let page = pinned.pages[i % PAGES].cast();
                    check(
                        "copy to the device",
                        sys::cuMemcpyHtoDAsync_v2(at, page, part.len(), stream),
                    )?;
                    check(
                        "record an event",
                        sys::cuEventRecord(pinned.done[i % PAGES], stream),
                    )?;
                }
            }
            Ok(())
        })
    }

    /// Copies device memory to the host; waits for all work before it. On success, all of `to` is initialized.
    pub(super) fn copy_out(
        &self,
        from: sys::CUdeviceptr,
        to: &mut [MaybeUninit<u8>],
    ) -> Result<(), DeviceError> {
        if to.is_empty() {
            return Ok(());
        }
        // Asked for once: the answer is read from several files.
        static THREADS: OnceLock<usize> = OnceLock::new();
        let count = || thread::available_parallelism().map_or(1, usize::from);
        let threads = *THREADS.get_or_init(count);
        self.with_pinned(|pinned| {
            let source = Source {
                of: self,
                pinned,
                from,
            };
            pieces::copy(&source, (PAGES, PAGE), threads, to)
        })
    }
}

/// Device memory on its way to the host.
struct Source<'a> {
    of: &'a Cuda,
    pinned: &'a Pinned,
    from: sys::CUdeviceptr,
}

impl Pages for Source<'_> {
    fn enter(&self) -> Result<(), DeviceError> {
        self.of.bind()
    }

    fn request(&self, page: usize, from: usize, len: usize) -> Result<(), DeviceError> {
        self.pinned.wait(page)?;
        let stream = self.of.0.stream;
        // SAFETY: the page is free, as waited for, and one thread's alone; the bytes are a buffer's.
        unsafe {
            let (at, to) = (self.from + from as u64, self.pinned.pages[page].cast());
            check(
                "copy from the device",
                sys::cuMemcpyDtoHAsync_v2(to, at, len, stream),
            )?;
            check(
                "record an event",
                sys::cuEventRecord(self.pinned.done[page], stream),
            )
        }
    }

    fn read(&self, page: usize, to: &mut [MaybeUninit<u8>]) -> Result<(), DeviceError> {
        self.pinned.wait(page)?;
        // SAFETY: so many bytes were allocated; the device is done with them, and this thread alone uses the page.
        let bytes = unsafe { slice::from_raw_parts(self.pinned.pages[page], to.len()) };
        to.write_copy_of_slice(bytes);
        Ok(())
    }
}
