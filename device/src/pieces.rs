//! A long copy to host memory through a few pages, by several threads.
//!
//! Fresh host memory is filled at 1 to 2 GB/s by one thread, since each page is found, cleared and mapped at its first
//! write; a device delivers 25 GB/s and more. So each thread has pages of its own, asks for pieces ahead, and copies
//! them to their places while the device fills its other pages and those of the other threads.

use crate::{DeviceError, lock};
use std::{collections::VecDeque, mem::MaybeUninit, sync::Mutex, thread};

/// What fills pages: the copy engine of a device.
pub(crate) trait Pages: Sync {
    /// Makes a thread ready to call the other functions.
    fn enter(&self) -> Result<(), DeviceError>;

    /// Begins to fill a page with `len` bytes from byte `from` on. Does not wait.
    fn request(&self, page: usize, from: usize, len: usize) -> Result<(), DeviceError>;

    /// Waits until a page is filled, and copies as many bytes as were requested.
    fn read(&self, page: usize, to: &mut [MaybeUninit<u8>]) -> Result<(), DeviceError>;
}

/// Bytes from which more threads than the caller's are worth their start.
const MANY: usize = 8 << 20;

/// Fills `to` through `count` pages of `size` bytes by at most `threads` threads. On success, all of `to` is
/// initialized.
///
/// # Errors
/// The first error of a page. Pages may still be filled then.
pub(crate) fn copy(
    pages: &impl Pages,
    (count, size): (usize, usize),
    threads: usize,
    to: &mut [MaybeUninit<u8>],
) -> Result<(), DeviceError> {
    let threads = match to.len() {
        0..MANY => 1,
        _ => threads.clamp(1, count),
    };
    let next = Mutex::new(to.chunks_mut(size).enumerate());
    let own = count / threads;
    let work = |thread: usize| {
        pages.enter()?;
        let mut ahead = VecDeque::with_capacity(own);
        for turn in 0.. {
            let piece = lock(&next).next();
            let is_last = piece.is_none();
            if let Some((i, to)) = piece {
                let page = thread * own + turn % own;
                pages.request(page, i * size, to.len())?;
                ahead.push_back((page, to));
            }
            if is_last || ahead.len() == own {
                let Some((page, to)) = ahead.pop_front() else {
                    break;
                };
                pages.read(page, to)?;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let work = &work;
        let others = (1..threads).filter_map(|thread| {
            let named = thread::Builder::new().name("copy to the host".into());
            // Those that start do the work of one that does not.
            named.spawn_scoped(scope, move || work(thread)).ok()
        });
        let others: Vec<_> = others.collect();
        let mut result = work(0);
        for other in others {
            let joined = other.join();
            result = result.and(joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    /// Pages in host memory, filled with bytes that tell their place when they are read.
    struct Fake {
        pages: Vec<Mutex<Option<(usize, usize)>>>,
        entered: AtomicUsize,
        failing: Option<usize>,
    }

    fn fake(count: usize, failing: Option<usize>) -> Fake {
        Fake {
            pages: (0..count).map(|_| Mutex::default()).collect(),
            entered: AtomicUsize::new(0),
            failing,
        }
    }

    fn byte(at: usize) -> u8 {
        (at ^ at >> 8 ^ at >> 16) as u8
    }

    impl Pages for Fake {
        fn enter(&self) -> Result<(), DeviceError> {
            self.entered.fetch_add(1, SeqCst);
            Ok(())
        }

        fn request(&self, page: usize, from: usize, len: usize) -> Result<(), DeviceError> {
            let before = lock(&self.pages[page]).replace((from, len));
            assert_eq!(before, None, "page {page} should have been read");
            match self.failing {
                Some(at) if (from..from + len).contains(&at) => Err(DeviceError::NoDriver),
                _ => Ok(()),
            }
        }

        fn read(&self, page: usize, to: &mut [MaybeUninit<u8>]) -> Result<(), DeviceError> {
            let (from, filled) = lock(&self.pages[page]).take().expect("it was requested");
            assert_eq!(to.len(), filled, "as requested");
            for (at, to) in (from..).zip(to) {
                to.write(byte(at));
            }
            Ok(())
        }
    }

    /// The bytes of a copy; those that were not written are 0xee.
    fn copied(
        pages: &Fake,
        size: usize,
        threads: usize,
        len: usize,
    ) -> Result<Vec<u8>, DeviceError> {
        let mut to = vec![MaybeUninit::new(0xee); len];
        copy(pages, (pages.pages.len(), size), threads, &mut to)?;
        #[expect(unsafe_code, reason = "a test of initialization")]
        // SAFETY: initialized above, whatever was written since.
        Ok(to
            .into_iter()
            .map(|byte| unsafe { byte.assume_init() })
            .collect())
    }

    #[test]
    fn every_byte_arrives_at_its_place() {
        for (threads, count, size, len) in [
            (1, 2, 1 << 12, 100_000),
            (1, 1, 1 << 12, 1 << 12),
            (8, 8, 1 << 18, MANY + 1),
            (3, 8, 1 << 18, MANY + (1 << 18)),
            (20, 8, 1 << 20, MANY + 12_345),
            (4, 8, 1 << 20, 0),
        ] {
            let pages = fake(count, None);
            let bytes = copied(&pages, size, threads, len).expect("no failure");
            let wrong = (0..len).find(|&at| bytes[at] != byte(at));
            assert_eq!(wrong, None, "{threads} threads, {len} bytes");
            let expected = if len < MANY { 1 } else { threads.min(count) };
            assert_eq!(pages.entered.load(SeqCst), expected, "threads");
        }
    }

    #[test]
    fn a_failure_of_any_thread_is_that_of_the_copy() {
        for at in [0, MANY / 2, MANY] {
            let pages = fake(8, Some(at));
            let error = copied(&pages, 1 << 18, 4, MANY + 1).expect_err("a page fails");
            assert_eq!(error, DeviceError::NoDriver);
        }
    }
}
