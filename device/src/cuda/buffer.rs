//! Device memory with an owner.

use super::context::{Cuda, check};
use crate::{DeviceError, Item, exported::Held, memory};
use cudarc::driver::sys;
use std::{fmt, marker::PhantomData, mem::MaybeUninit, slice};

/// Memory of the device, given back on drop in stream order.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) at: sys::CUdeviceptr,
    /// Bytes that may be used.
    pub(super) bytes: usize,
    /// Bytes that were requested, which is what is counted.
    pub(super) asked: usize,
}

impl Raw {
    const NONE: Self = Self {
        at: 0,
        bytes: 0,
        asked: 0,
    };
}

/// A buffer in a device's memory.
pub struct CudaBuf<T> {
    raw: Raw,
    len: usize,
    of: Cuda,
    items: PhantomData<T>,
}

impl<T> fmt::Debug for CudaBuf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CudaBuf({} items of {} bytes)", self.len, size_of::<T>())
    }
}

impl<T> Drop for CudaBuf<T> {
    fn drop(&mut self) {
        if self.raw.bytes > 0 {
            let raw = std::mem::replace(&mut self.raw, Raw::NONE);
            self.of.give_back(raw);
        }
    }
}

/// A buffer that other libraries use.
#[derive(Debug)]
pub(super) struct Foreign<T>(pub(super) CudaBuf<T>);

impl<T: Item> Held<T> for Foreign<T> {
    fn to_host(&self) -> Result<Vec<T>, DeviceError> {
        self.0.to_host()
    }
}

impl<T> Drop for Foreign<T> {
    fn drop(&mut self) {
        // Where this fails, the device does, and every later call reports it.
        let _ = self.0.of.wait_for_all();
    }
}

impl<T: Item> CudaBuf<T> {
    pub(super) fn new(of: &Cuda, what: &'static str, len: usize) -> Result<Self, DeviceError> {
        let bytes = len
            .checked_mul(size_of::<T>())
            .ok_or(DeviceError::OutOfMemory {
                memory: crate::Memory::Device,
                what,
                requested: u64::MAX,
                free: crate::Backend::free_bytes(of),
            })?;
        let raw = match bytes {
            0 => Raw::NONE,
            _ => of.take(what, bytes)?,
        };
        Ok(Self {
            raw,
            len,
            of: of.clone(),
            items: PhantomData,
        })
    }

    pub(super) fn from_host(
        of: &Cuda,
        what: &'static str,
        data: &[T],
    ) -> Result<Self, DeviceError> {
        let buf = Self::new(of, what, data.len())?;
        of.copy_in(bytemuck::cast_slice(data), buf.raw.at)?;
        Ok(buf)
    }

    pub(super) fn to_host(&self) -> Result<Vec<T>, DeviceError> {
        let mut data: Vec<T> = memory::with_capacity("a copy of the device's memory", self.len)?;
        let room = &mut data.spare_capacity_mut()[..self.len];
        // SAFETY: the same memory, as bytes that need not be initialized either.
        let bytes = unsafe {
            slice::from_raw_parts_mut(
                room.as_mut_ptr().cast::<MaybeUninit<u8>>(),
                size_of_val(room),
            )
        };
        self.of.copy_out(self.raw.at, bytes)?;
        // SAFETY: all of it was written, and an item may have any bits.
        unsafe { data.set_len(self.len) };
        Ok(data)
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Elements that there is memory for.
    pub fn capacity(&self) -> usize {
        self.raw.bytes / size_of::<T>().max(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device address of element `first`, as a value for kernels that read it. A launch does not borrow the buffer by it; see
    /// [`share`](Self::share).
    pub fn address(&self, first: usize) -> u64 {
        assert!(first <= self.len, "an address should lie in its buffer");
        self.raw.at + (first * size_of::<T>()) as u64
    }

    /// The device address of the first element, a value for [`Launch::val`](super::Launch::val): for several kernels
    /// side by side that write different elements. A launch does not borrow the buffer by it, so whoever runs the
    /// launch also promises, in its `unsafe` call, that the buffer outlives it and that nothing else reads or writes
    /// these elements meanwhile.
    pub fn share(&mut self) -> u64 {
        self.address(0)
    }

    /// One element; waits for all work.
    pub fn read(&self, i: usize) -> Result<T, DeviceError> {
        assert!(i < self.len, "element {i} of {}", self.len);
        let mut value = MaybeUninit::<T>::uninit();
        // SAFETY: the value's own memory, as bytes that need not be initialized.
        let bytes = unsafe {
            let at = value.as_mut_ptr().cast::<MaybeUninit<u8>>();
            slice::from_raw_parts_mut(at, size_of::<T>())
        };
        self.of.copy_out(self.address(i), bytes)?;
        // SAFETY: all of it was written, and an item may have any bits.
        Ok(unsafe { value.assume_init() })
    }

    /// Shortens the buffer to `len` elements; keeps the memory.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Changes the length; new elements are unspecified.
    pub fn grow(&mut self, what: &'static str, len: usize) -> Result<(), DeviceError> {
        if len * size_of::<T>() <= self.raw.bytes {
            self.len = len;
            return Ok(());
        }
        let next = Self::new(&self.of, what, len)?;
        let bytes = self.len * size_of::<T>();
        if bytes > 0 {
            self.of.bind()?;
            // SAFETY: both hold so many bytes, and do not overlap.
            check("copy memory", unsafe {
                sys::cuMemcpyDtoDAsync_v2(next.raw.at, self.raw.at, bytes, self.of.0.stream)
            })?;
        }
        *self = next;
        Ok(())
    }

    /// Makes room for `len` elements, and where memory is ample for an eighth more, so that a buffer that grows often is
    /// seldom moved. The length stays; where the memory is new, all elements are unspecified.
    ///
    /// # Errors
    /// Where memory is short; the buffer is as it was then.
    pub fn make_room(&mut self, what: &'static str, len: usize) -> Result<(), DeviceError> {
        if len <= self.capacity() {
            return Ok(());
        }
        let next = match Self::new(&self.of, what, len + len / 8) {
            Err(DeviceError::OutOfMemory { .. }) => Self::new(&self.of, what, len)?,
            ample => ample?,
        };
        let len = self.len;
        *self = next;
        self.len = len;
        Ok(())
    }

    /// Copies all of `from` into the elements from `first` on.
    pub fn copy_from(&mut self, first: usize, from: &Self) -> Result<(), DeviceError> {
        assert!(first + from.len <= self.len, "a copy should fit");
        if from.len == 0 {
            return Ok(());
        }
        self.of.bind()?;
        // SAFETY: both hold so many bytes, and are different buffers.
        check("copy memory", unsafe {
            let bytes = from.len * size_of::<T>();
            sys::cuMemcpyDtoDAsync_v2(self.address(first), from.raw.at, bytes, self.of.0.stream)
        })
    }

    /// A copy of `len` elements from `first` on.
    pub fn piece(&self, what: &'static str, first: usize, len: usize) -> Result<Self, DeviceError> {
        assert!(first + len <= self.len, "a piece should lie in its buffer");
        let piece = Self::new(&self.of, what, len)?;
        if len > 0 {
            self.of.bind()?;
            // SAFETY: both hold so many bytes, and are different buffers.
            check("copy memory", unsafe {
                let (from, bytes) = (self.address(first), len * size_of::<T>());
                sys::cuMemcpyDtoDAsync_v2(piece.raw.at, from, bytes, self.of.0.stream)
            })?;
        }
        Ok(piece)
    }

    /// Copies as many elements of `from` as this has.
    pub(super) fn copy_front(&mut self, from: &Self) -> Result<(), DeviceError> {
        assert!(self.len <= from.len, "a copy should have enough");
        if self.len == 0 {
            return Ok(());
        }
        self.of.bind()?;
        // SAFETY: both hold so many bytes, and are different buffers.
        check("copy memory", unsafe {
            let bytes = self.len * size_of::<T>();
            sys::cuMemcpyDtoDAsync_v2(self.raw.at, from.raw.at, bytes, self.of.0.stream)
        })
    }

    /// Repeats a row, whose length divides the buffer's: each copy doubles what is there.
    pub(super) fn fill_with(&mut self, row: &[T]) -> Result<(), DeviceError> {
        if self.len == 0 {
            return Ok(());
        }
        assert!(
            self.len.is_multiple_of(row.len().max(1)),
            "a row should repeat"
        );
        self.of.copy_in(bytemuck::cast_slice(row), self.raw.at)?;
        let mut done = row.len();
        while done < self.len {
            let more = done.min(self.len - done);
            // SAFETY: both parts lie in the buffer, and do not overlap.
            check("copy memory", unsafe {
                let (to, bytes) = (self.address(done), more * size_of::<T>());
                sys::cuMemcpyDtoDAsync_v2(to, self.raw.at, bytes, self.of.0.stream)
            })?;
            done += more;
        }
        Ok(())
    }

    /// Sets the elements from `first` on. The driver fills with patterns of 1 or 4 bytes: other
    /// values are copied from the host.
    pub(super) fn fill(&mut self, first: usize, value: T) -> Result<(), DeviceError> {
        let count = self.len - first;
        if count == 0 {
            return Ok(());
        }
        let bytes = bytemuck::bytes_of(&value);
        let size = bytes.len();
        let (at, stream) = (self.address(first), self.of.0.stream);
        self.of.bind()?;
        if bytes.iter().all(|&b| b == bytes[0]) {
            // SAFETY: so many bytes from there on are this buffer's.
            return check("fill memory", unsafe {
                sys::cuMemsetD8Async(at, bytes[0], count * size, stream)
            });
        }
        if let Ok(word) = <[u8; 4]>::try_from(bytes) {
            let word = u32::from_ne_bytes(word);
            // SAFETY: as above, in words.
            return check("fill memory", unsafe {
                sys::cuMemsetD32Async(at, word, count, stream)
            });
        }
        self.of
            .copy_in(bytemuck::cast_slice(&vec![value; count]), at)
    }
}
