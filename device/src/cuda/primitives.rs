//! Scan, select and sort, by CUB (`primitives.cu`).

use super::{CudaBuf, context::Cuda};
use crate::{DeviceError, lock};
use cudarc::driver::sys::{CUdeviceptr, CUstream};
use std::{
    ffi::{CStr, c_char, c_int},
    ops::Range,
    ptr,
};

/// Three sums that are scanned together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Sums(pub [u64; 3]);

const _: () = assert!(size_of::<Sums>() == 24 && align_of::<Sums>() == 8);

/// `cudaError_t`
type Code = c_int;

#[rustfmt::skip]
unsafe extern "C" {
    fn cutlink_scan_scratch(bytes: *mut usize, n: i64) -> Code;
    fn cutlink_scan(scratch: CUdeviceptr, bytes: usize, values: CUdeviceptr, total: CUdeviceptr, n: i64, stream: CUstream) -> Code;
    fn cutlink_scan_sums_scratch(bytes: *mut usize, n: i64) -> Code;
    fn cutlink_scan_sums(scratch: CUdeviceptr, bytes: usize, values: CUdeviceptr, n: i64, stream: CUstream) -> Code;
    fn cutlink_select_scratch(bytes: *mut usize, n: i64) -> Code;
    fn cutlink_select_places_scratch(bytes: *mut usize, n: i64) -> Code;
    fn cutlink_select(scratch: CUdeviceptr, bytes: usize, items: CUdeviceptr, flags: CUdeviceptr, out: CUdeviceptr, count: CUdeviceptr, n: i64, stream: CUstream) -> Code;
    fn cutlink_sort32_scratch(bytes: *mut usize, n: i64) -> Code;
    fn cutlink_sort32(scratch: CUdeviceptr, bytes: usize, keys: CUdeviceptr, sorted: CUdeviceptr, values: CUdeviceptr, out: CUdeviceptr, n: i64, bits: c_int, stream: CUstream) -> Code;
    fn cutlink_sort64_scratch(bytes: *mut usize, n: i64) -> Code;
    fn cutlink_sort64(scratch: CUdeviceptr, bytes: usize, keys: CUdeviceptr, sorted: CUdeviceptr, values: CUdeviceptr, out: CUdeviceptr, n: i64, bits: c_int, stream: CUstream) -> Code;
    fn cutlink_sort_keys_scratch(bytes: *mut usize, n: i64) -> Code;
    fn cutlink_sort_keys(scratch: CUdeviceptr, bytes: usize, keys: CUdeviceptr, sorted: CUdeviceptr, n: i64, first: c_int, end: c_int, stream: CUstream) -> Code;
    fn cutlink_unique_scratch(bytes: *mut usize, n: i64) -> Code;
    fn cutlink_unique(scratch: CUdeviceptr, bytes: usize, keys: CUdeviceptr, out: CUdeviceptr, count: CUdeviceptr, n: i64, stream: CUstream) -> Code;
    fn cutlink_error_text(code: Code) -> *const c_char;
}

fn check(what: &'static str, code: Code) -> Result<(), DeviceError> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: gives a static string for any code.
    let text = unsafe { CStr::from_ptr(cutlink_error_text(code)) };
    Err(DeviceError::Driver {
        what,
        reason: text.to_string_lossy().into_owned(),
    })
}

impl Cuda {
    /// Runs a primitive with the scratch memory it needs, which is kept for the next one: the
    /// stream runs them one after the other.
    fn with_scratch(
        &self,
        what: &'static str,
        size: impl FnOnce(*mut usize) -> Code,
        run: impl FnOnce(CUdeviceptr, usize, CUstream) -> Code,
    ) -> Result<(), DeviceError> {
        self.bind()?;
        let mut bytes = 0;
        check(what, size(ptr::from_mut(&mut bytes)))?;
        let mut scratch = lock(&self.0.scratch);
        if scratch.as_ref().is_none_or(|raw| raw.bytes < bytes) {
            if let Some(old) = scratch.take() {
                self.give_back(old);
            }
            let bytes = bytes.max(1 << 16).next_power_of_two();
            *scratch = Some(self.take("scratch of a primitive", bytes)?);
        }
        let raw = scratch.as_ref().expect("scratch should be there");
        check(what, run(raw.at, raw.bytes, self.0.stream))?;
        self.count_launch();
        if self.0.checked {
            self.wait()?;
        }
        Ok(())
    }

    /// Replaces `values` by their exclusive prefix sums; the sum before the last value, which
    /// is 0 where the total of all others is wanted, goes to place `at` of
    /// `totals` with all its bits.
    pub fn scan(
        &self,
        values: &mut CudaBuf<u32>,
        totals: &mut CudaBuf<u64>,
        at: usize,
    ) -> Result<(), DeviceError> {
        let n = values.len() as i64;
        assert!(
            n > 0 && at < totals.len(),
            "a scan should have values and a place for the total"
        );
        self.with_scratch(
            "scan",
            // SAFETY: writes the number.
            |bytes| unsafe { cutlink_scan_scratch(bytes, n) },
            // SAFETY: as many values as said, one total, scratch of the requested size.
            |scratch, bytes, stream| unsafe {
                cutlink_scan(
                    scratch,
                    bytes,
                    values.address(0),
                    totals.address(at),
                    n,
                    stream,
                )
            },
        )
    }

    /// Replaces sums by their exclusive prefix sums.
    pub fn scan_sums(&self, values: &mut CudaBuf<Sums>) -> Result<(), DeviceError> {
        let n = values.len() as i64;
        self.with_scratch(
            "scan",
            // SAFETY: writes the number.
            |bytes| unsafe { cutlink_scan_sums_scratch(bytes, n) },
            // SAFETY: as many values as said, scratch of the requested size.
            |scratch, bytes, stream| unsafe {
                cutlink_scan_sums(scratch, bytes, values.address(0), n, stream)
            },
        )
    }

    /// The items whose flag is not 0, in their order; their places where no items are given.
    /// Waits for their number.
    pub fn select(
        &self,
        what: &'static str,
        items: Option<&CudaBuf<u32>>,
        flags: &CudaBuf<u8>,
    ) -> Result<CudaBuf<u32>, DeviceError> {
        if flags.is_empty() {
            return self.uninit(what, 0);
        }
        let mut out = self.uninit(what, flags.len())?;
        let mut count = self.uninit::<u64>("a count", 1)?;
        self.select_into(items, flags, &mut out, &mut count, 0)?;
        let count = count.read(0)? as usize;
        self.shrunk(what, out, count)
    }

    /// The first `len` elements, copied to a smaller allocation where most of the memory would stay unused.
    pub fn shrunk(
        &self,
        what: &'static str,
        mut of: CudaBuf<u32>,
        len: usize,
    ) -> Result<CudaBuf<u32>, DeviceError> {
        if 4 * len >= of.len() {
            of.truncate(len);
            return Ok(of);
        }
        let mut small = self.uninit(what, len)?;
        small.copy_front(&of)?;
        Ok(small)
    }

    /// As [`select`](Self::select), into a buffer with capacity for all items; the number goes to entry `at` of
    /// `counts`.
    pub fn select_into(
        &self,
        items: Option<&CudaBuf<u32>>,
        flags: &CudaBuf<u8>,
        out: &mut CudaBuf<u32>,
        counts: &mut CudaBuf<u64>,
        at: usize,
    ) -> Result<(), DeviceError> {
        let n = flags.len();
        assert!(
            out.len() >= n && at < counts.len(),
            "a selection should have room"
        );
        assert!(items.is_none_or(|items| items.len() == n), "a flag an item");
        let n = n as i64;
        let from = items.map_or(0, |items| items.address(0));
        self.with_scratch(
            "select",
            // SAFETY: writes the number.
            |bytes| unsafe {
                if items.is_some() {
                    cutlink_select_scratch(bytes, n)
                } else {
                    cutlink_select_places_scratch(bytes, n)
                }
            },
            // SAFETY: as many flags, items and room as said, one count, scratch as requested.
            |scratch, bytes, stream| unsafe {
                let (flags, out, count) = (flags.address(0), out.address(0), counts.address(at));
                cutlink_select(scratch, bytes, from, flags, out, count, n, stream)
            },
        )
    }

    /// Pairs sorted by the lowest `bits` bits of their keys; equal ones keep their order.
    /// Keys and values, both new.
    pub fn sort32(
        &self,
        keys: &CudaBuf<u32>,
        values: &CudaBuf<u32>,
        bits: u32,
    ) -> Result<(CudaBuf<u32>, CudaBuf<u32>), DeviceError> {
        let n = keys.len();
        assert_eq!(values.len(), n, "a value a key");
        let sorted = (
            self.uninit("sorted keys", n)?,
            self.uninit("sorted values", n)?,
        );
        if n == 0 {
            return Ok(sorted);
        }
        self.with_scratch(
            "sort",
            // SAFETY: writes the number.
            |bytes| unsafe { cutlink_sort32_scratch(bytes, n as i64) },
            // SAFETY: as many of all as said, scratch as requested.
            |scratch, bytes, stream| unsafe {
                let (from, to) = (keys.address(0), sorted.0.address(0));
                let (values, out) = (values.address(0), sorted.1.address(0));
                cutlink_sort32(
                    scratch,
                    bytes,
                    from,
                    to,
                    values,
                    out,
                    n as i64,
                    bits as c_int,
                    stream,
                )
            },
        )?;
        Ok(sorted)
    }

    /// As [`sort32`](Self::sort32) with keys of 64 bits; returns the values alone.
    pub fn sort64(
        &self,
        keys: &CudaBuf<u64>,
        values: &CudaBuf<u32>,
        bits: u32,
    ) -> Result<CudaBuf<u32>, DeviceError> {
        let n = keys.len();
        assert_eq!(values.len(), n, "a value a key");
        let to = self.uninit::<u64>("sorted keys", n)?;
        let out = self.uninit::<u32>("sorted values", n)?;
        if n == 0 {
            return Ok(out);
        }
        self.with_scratch(
            "sort",
            // SAFETY: writes the number.
            |bytes| unsafe { cutlink_sort64_scratch(bytes, n as i64) },
            // SAFETY: as many of all as said, scratch as requested.
            |scratch, bytes, stream| unsafe {
                let (from, to) = (keys.address(0), to.address(0));
                let (values, out) = (values.address(0), out.address(0));
                cutlink_sort64(
                    scratch,
                    bytes,
                    from,
                    to,
                    values,
                    out,
                    n as i64,
                    bits as c_int,
                    stream,
                )
            },
        )?;
        Ok(out)
    }

    /// Keys sorted by some of their bits; those that are equal there keep their order.
    pub fn sort_keys(
        &self,
        keys: &CudaBuf<u64>,
        bits: Range<u32>,
    ) -> Result<CudaBuf<u64>, DeviceError> {
        let n = keys.len() as i64;
        assert!(
            bits.start < bits.end && bits.end <= u64::BITS,
            "bits of a key should be sorted by, not {bits:?}"
        );
        let sorted = self.uninit("sorted keys", keys.len())?;
        if n == 0 {
            return Ok(sorted);
        }
        self.with_scratch(
            "sort",
            // SAFETY: writes the number.
            |bytes| unsafe { cutlink_sort_keys_scratch(bytes, n) },
            // SAFETY: as many keys as said in both, scratch as requested.
            |scratch, bytes, stream| unsafe {
                let (from, to) = (keys.address(0), sorted.address(0));
                let (first, end) = (bits.start as c_int, bits.end as c_int);
                cutlink_sort_keys(scratch, bytes, from, to, n, first, end, stream)
            },
        )?;
        Ok(sorted)
    }

    /// The first of each run of equal keys. Waits for their number.
    pub fn unique(&self, keys: &CudaBuf<u64>) -> Result<CudaBuf<u64>, DeviceError> {
        let n = keys.len() as i64;
        let mut out = self.uninit("keys without repetition", keys.len())?;
        if n == 0 {
            return Ok(out);
        }
        let count = self.uninit::<u64>("a count", 1)?;
        self.with_scratch(
            "select",
            // SAFETY: writes the number.
            |bytes| unsafe { cutlink_unique_scratch(bytes, n) },
            // SAFETY: as many keys as said in both, one count, scratch as requested.
            |scratch, bytes, stream| unsafe {
                let (from, to) = (keys.address(0), out.address(0));
                cutlink_unique(scratch, bytes, from, to, count.address(0), n, stream)
            },
        )?;
        out.truncate(count.read(0)? as usize);
        Ok(out)
    }
}
