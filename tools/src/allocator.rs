//! The last resort when memory runs out: a failed allocation that no caller can handle ends the program with exit code
//! 4 and a message instead of an abort.
//!
//! Large buffers are allocated with `cutlink_device::memory::grow`, whose failure is an ordinary error; this module
//! covers the many small allocations and those of other crates. The message itself allocates from a small static
//! reserve. Temporary files are removed.

use crate::{console, exit};
use cutlink::output;
use cutlink::{Error, ErrorKind};
use cutlink_device::memory;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Whether the error is also printed as JSON.
pub(crate) static JSON: AtomicBool = AtomicBool::new(false);

/// Set by the thread that ends the program.
static ENDING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether this is the thread that ends the program.
    static ENDS_HERE: Cell<bool> = const { Cell::new(false) };
}

/// Memory for the final message.
struct Reserve {
    bytes: UnsafeCell<[u8; Self::SIZE]>,
    used: AtomicUsize,
}

#[expect(unsafe_code, reason = "a static buffer that one thread hands out")]
// SAFETY: `take` hands out every byte at most once, by an atomic counter, and the buffer is never read as a whole.
unsafe impl Sync for Reserve {}

static RESERVE: Reserve = Reserve {
    bytes: UnsafeCell::new([0; Reserve::SIZE]),
    used: AtomicUsize::new(0),
};

impl Reserve {
    const SIZE: usize = 1 << 18;

    fn take(&self, layout: Layout) -> *mut u8 {
        // Always includes the padding for the worst alignment.
        let Some(size) = layout.size().checked_add(layout.align()) else {
            return std::ptr::null_mut();
        };
        let from = self.used.fetch_add(size, Ordering::Relaxed);
        if from.saturating_add(size) > Self::SIZE {
            return std::ptr::null_mut();
        }
        let start = self.bytes.get().cast::<u8>().wrapping_add(from);
        start.wrapping_add(start.align_offset(layout.align()))
    }

    fn holds(&self, at: *mut u8) -> bool {
        let start = self.bytes.get().addr();
        (start..start + Self::SIZE).contains(&at.addr())
    }
}

/// The system allocator with the behaviour described in the module.
#[derive(Debug)]
pub struct EndingAllocator;

#[expect(unsafe_code, reason = "the trait of allocators is unsafe")]
// SAFETY: every call is passed unchanged to `System`, or goes to `Reserve`, which hands out each byte once with the
// requested alignment and takes nothing back; a block is freed where it was allocated, by its address. Zeros: the bytes
// of the reserve are zero until they are handed out.
unsafe impl GlobalAlloc for EndingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of `System`.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() {
            refused(layout)
        } else {
            block
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let block = unsafe { System.alloc_zeroed(layout) };
        if block.is_null() {
            refused(layout)
        } else {
            block
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !RESERVE.holds(block) {
            // SAFETY: the block is not from the reserve, so it is from `System`, and the caller upholds its contract.
            unsafe { System.dealloc(block, layout) }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !RESERVE.holds(block) {
            // SAFETY: as in `dealloc`.
            let moved = unsafe { System.realloc(block, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        let Ok(new) = Layout::from_size_align(size, layout.align()) else {
            return std::ptr::null_mut();
        };
        let moved = refused(new);
        if !moved.is_null() {
            // SAFETY: both are valid for this number of bytes and do not overlap; the old block is not freed, as the
            // program is about to end.
            unsafe { block.copy_to_nonoverlapping(moved, layout.size().min(size)) }
        }
        moved
    }
}

/// Handles a failed allocation of `System`: null if the caller can handle it, the reserve if the program is ending,
/// otherwise ends the program.
#[cold]
fn refused(layout: Layout) -> *mut u8 {
    if ENDS_HERE.get() {
        return RESERVE.take(layout);
    }
    if memory::is_refusable() {
        return std::ptr::null_mut();
    }
    if ENDING.swap(true, Ordering::Relaxed) {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    ENDS_HERE.set(true);
    let size = layout.size() as u64;
    let free = memory::available();
    let failure = Error::new(
        ErrorKind::Memory,
        format!("not enough memory: {size} bytes more were needed, {free} bytes free"),
    )
    .hint("use fewer levels or a coarser --root, fewer --threads, or a machine with more memory");
    output::discard_pending();
    console::last_words(&failure, JSON.load(Ordering::Relaxed));
    std::process::exit(exit::code(failure.kind).into())
}
