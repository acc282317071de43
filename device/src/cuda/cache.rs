//! Memory that was given back and is kept for the next buffer of about its size.
//!
//! The driver's pool takes some microseconds a buffer, and milliseconds to a third of a second where a large one fits into
//! no free range and memory has to be mapped anew. All work goes to one stream, so memory may be used again at once.

use cudarc::driver::sys::CUdeviceptr;
use std::collections::BTreeMap;

/// Sizes up to which memory is rounded up, so that buffers of about the same size share it.
const ROUNDED: usize = 64 << 20;
/// Smallest size.
const LEAST: usize = 512;

/// Free memory by size.
#[derive(Debug, Default)]
pub(super) struct Cache {
    free: BTreeMap<usize, Vec<CUdeviceptr>>,
}

/// The size to be asked of the driver for `bytes` bytes: steps of a quarter to an eighth.
pub(super) const fn rounded(bytes: usize) -> usize {
    if bytes > ROUNDED {
        return bytes;
    }
    let bytes = if bytes < LEAST { LEAST } else { bytes };
    let step = (1 << bytes.ilog2()) / 8;
    bytes.div_ceil(step) * step
}

impl Cache {
    /// Memory of at least `bytes` bytes and little more, and its size.
    pub(super) fn take(&mut self, bytes: usize) -> Option<(CUdeviceptr, usize)> {
        let most = bytes + bytes / 4;
        let (&size, all) = self.free.range_mut(bytes..=most.max(LEAST)).next()?;
        let at = all.pop();
        if all.is_empty() {
            self.free.remove(&size);
        }
        at.map(|at| (at, size))
    }

    pub(super) fn keep(&mut self, at: CUdeviceptr, size: usize) {
        self.free.entry(size).or_default().push(at);
    }

    /// All that is kept, which is forgotten.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = CUdeviceptr> + use<> {
        std::mem::take(&mut self.free).into_values().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_reused_for_about_its_size() {
        let mut cache = Cache::default();
        assert_eq!(cache.take(1000), None);
        cache.keep(1, rounded(1000));
        assert_eq!(rounded(1000), 1024);
        assert_eq!(cache.take(1100), None, "too small");
        assert_eq!(cache.take(700), None, "too large");
        assert_eq!(cache.take(950), Some((1, 1024)));
        assert_eq!(cache.take(950), None, "taken");
        cache.keep(2, 3 << 30);
        cache.keep(3, 4 << 30);
        assert_eq!(
            cache.take(3 << 30),
            Some((2, 3 << 30)),
            "the smallest that does"
        );
        cache.keep(4, 512);
        let mut all: Vec<CUdeviceptr> = cache.drain().collect();
        all.sort_unstable();
        assert_eq!(all, [3, 4]);
        assert_eq!(cache.drain().count(), 0);
    }

    #[test]
    fn sizes_grow_by_an_eighth_at_most() {
        for bytes in (1..5000).chain((1 << 20)..(1 << 20) + 100).chain([ROUNDED]) {
            let size = rounded(bytes);
            assert!(
                size >= bytes && size <= (bytes + bytes / 8).max(LEAST),
                "{bytes} {size}"
            );
            assert_eq!(rounded(size), size);
        }
        assert_eq!(rounded(ROUNDED + 1), ROUNDED + 1);
    }
}
