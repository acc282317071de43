//! The host's memory budget: what is free now, and allocation that fails with an error.
//!
//! Free is the least of: the system's available memory, what the control groups of the process leave (`cgroup.rs`), and
//! what the address-space limit leaves (`ulimit -v`). Where none can be read (not Linux), nothing is refused up front.

use crate::{DeviceError, Item, Memory, cgroup};
use std::cell::Cell;
use std::fs;

fn kib_field(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find(|l| l.starts_with(key))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok()
}

fn system_available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    Some(kib_field(&text, "MemAvailable:")? * 1024)
}

fn address_space_left() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits
        .lines()
        .find(|l| l.starts_with("Max address space"))?;
    let limit = line.split_whitespace().nth(3)?.parse::<u64>().ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    Some(limit.saturating_sub(kib_field(&status, "VmSize:")? * 1024))
}

/// Bytes of host memory that may be allocated now; `u64::MAX` where unknown. Cost: reads a few files of `/proc` and
/// `/sys`, some tens of microseconds.
pub fn available() -> u64 {
    [
        system_available(),
        cgroup::memory_left(),
        address_space_left(),
    ]
    .into_iter()
    .flatten()
    .min()
    .unwrap_or(u64::MAX)
}

/// Largest resident set of this process so far, or since [`reset_peak`], in bytes; 0 where it
/// cannot be read.
pub fn peak_resident() -> u64 {
    fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|text| kib_field(&text, "VmHWM:"))
        .map_or(0, |kib| kib * 1024)
}

/// Makes the largest resident set the present one. Linux only: elsewhere, and where the system
/// does not let a process do so, nothing changes.
pub fn reset_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

thread_local! {
    static REFUSABLE: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is in [`grow`] or [`with_capacity`], which handle a failed allocation. For an
/// allocator that ends the program on all others.
pub fn is_refusable() -> bool {
    REFUSABLE.get()
}

fn reserve<T>(what: &'static str, buf: &mut Vec<T>, more: usize) -> Result<(), DeviceError> {
    REFUSABLE.set(true);
    let reserved = buf.try_reserve_exact(more);
    REFUSABLE.set(false);
    reserved.map_err(|_| DeviceError::OutOfMemory {
        memory: Memory::Host,
        what,
        requested: (more as u64).saturating_mul(size_of::<T>() as u64),
        free: available(),
    })
}

/// Requests huge pages (2 MiB) for a large new buffer: the first write to fresh memory costs more time in
/// page faults than in writing, and these are 512 times fewer. A refusal changes nothing. Not
/// for buffers that grow: moving such pages slowed refinement by half.
#[cfg(target_os = "linux")]
fn advise_huge_pages<T>(buf: &mut Vec<T>) {
    const PAGE: usize = 2 << 20;
    let room = buf.spare_capacity_mut();
    let range = room.as_mut_ptr_range();
    let from = range.start.addr().next_multiple_of(PAGE);
    let len = range.end.addr().saturating_sub(from) / PAGE * PAGE;
    if len < 2 * PAGE {
        return;
    }
    let start = range.start.cast::<u8>().with_addr(from);
    #[expect(unsafe_code, reason = "advice on memory is a system call")]
    // SAFETY: whole pages inside the spare room of a vector that is borrowed here; the advice
    // changes how they are backed, not what they hold.
    unsafe {
        libc::madvise(start.cast(), len, libc::MADV_HUGEPAGE);
    }
}

/// An empty vector with the given capacity; an error instead of an abort where the
/// memory is not there.
pub fn with_capacity<T>(what: &'static str, capacity: usize) -> Result<Vec<T>, DeviceError> {
    let mut buf = Vec::new();
    reserve(what, &mut buf, capacity)?;
    #[cfg(target_os = "linux")]
    advise_huge_pages(&mut buf);
    Ok(buf)
}

/// Grows `buf` to `len` elements, the new ones `value`; an error instead of an abort where
/// the memory is not there.
pub fn grow<T: Item>(
    what: &'static str,
    buf: &mut Vec<T>,
    len: usize,
    value: T,
) -> Result<(), DeviceError> {
    let more = len.saturating_sub(buf.len());
    reserve(what, buf, more)?;
    buf.resize(len, value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_growth_is_an_error() {
        let mut buf: Vec<u64> = vec![1];
        let error = grow("a test", &mut buf, usize::MAX / 8, 0).expect_err("no such memory");
        assert!(
            matches!(error, DeviceError::OutOfMemory { what: "a test", .. }),
            "{error}"
        );
        assert_eq!(buf, [1], "left as it was");
    }

    #[test]
    fn some_memory_is_available_and_some_is_used() {
        assert!(available() > 1 << 20, "a megabyte at least");
        if cfg!(target_os = "linux") {
            assert!(peak_resident() > 1 << 16, "this process is resident");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_peak_falls_back_when_it_is_reset() {
        const SIZE: usize = 256 << 20;
        drop(std::hint::black_box(vec![1u8; SIZE]));
        let before = peak_resident();
        assert!(before > SIZE as u64, "{before} with the buffer");
        reset_peak();
        let after = peak_resident();
        assert!(after + SIZE as u64 / 2 < before, "{after} without it");
    }
}
