//! Transfers between host and device through two pinned staging buffers of 8 MiB: while the device copies
//! one, the host fills or empties the other.

use super::context::{Cuda, check, lock};
use crate::DeviceError;
use cudarc::driver::sys;
use std::{ptr, slice};

/// Bytes of a staging buffer.
const PAGE: usize = 8 << 20;

/// Two pinned staging buffers, and the events after the device's last use of each.
pub(super) struct Pinned {
    pages: [*mut u8; 2],
    done: [sys::CUevent; 2],
}

// SAFETY: plain memory and events, used under a lock.
unsafe impl Send for Pinned {}

impl Drop for Pinned {
    fn drop(&mut self) {
        for i in 0..2 {
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
            pages: [ptr::null_mut(); 2],
            done: [ptr::null_mut(); 2],
        };
        for i in 0..2 {
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

    /// A staging buffer, once the device is done with it.
    fn page(&mut self, i: usize) -> Result<&mut [u8], DeviceError> {
        // SAFETY: an event that lives as long as this.
        check("wait for a copy", unsafe {
            sys::cuEventSynchronize(self.done[i])
        })?;
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
        self.with_pinned(|pinned| {
            for (i, part) in from.chunks(PAGE).enumerate() {
                let page = pinned.page(i % 2)?;
                page[..part.len()].copy_from_slice(part);
                // SAFETY: the page holds the bytes until its event has passed; the device's
                // memory has room for them by the caller.
                unsafe {
                    let at = to + (i * PAGE) as u64;
                    let page = pinned.pages[i % 2].cast();
                    check(
                        "copy to the device",
                        sys::cuMemcpyHtoDAsync_v2(at, page, part.len(), stream),
                    )?;
                    check(
                        "record an event",
                        sys::cuEventRecord(pinned.done[i % 2], stream),
                    )?;
                }
            }
            Ok(())
        })
    }

    /// Copies device memory to the host; waits for all work before it.
    pub(super) fn copy_out(
        &self,
        from: sys::CUdeviceptr,
        to: &mut [u8],
    ) -> Result<(), DeviceError> {
        if to.is_empty() {
            return Ok(());
        }
        let stream = self.0.stream;
        self.with_pinned(|pinned| {
            let parts = to.len().div_ceil(PAGE);
            let size = |i: usize| (to.len() - i * PAGE).min(PAGE);
            let mut sizes: Vec<usize> = (0..parts).map(size).collect();
            sizes.push(0);
            for i in 0..=parts {
                if i < parts {
                    pinned.page(i % 2)?;
                    // SAFETY: the page is free, as waited for; the bytes are a buffer's.
                    unsafe {
                        let at = from + (i * PAGE) as u64;
                        let page = pinned.pages[i % 2].cast();
                        check(
                            "copy from the device",
                            sys::cuMemcpyDtoHAsync_v2(page, at, sizes[i], stream),
                        )?;
                        check(
                            "record an event",
                            sys::cuEventRecord(pinned.done[i % 2], stream),
                        )?;
                    }
                }
                if let Some(last) = i.checked_sub(1) {
                    let page = pinned.page(last % 2)?;
                    to[last * PAGE..][..sizes[last]].copy_from_slice(&page[..sizes[last]]);
                }
            }
            Ok(())
        })
    }
}
