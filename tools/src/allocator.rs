//! The last line of defence against too little memory: an allocation that the system refuses
//! and that nobody is prepared to miss ends the program with exit code 4 and a message, not
//! with an abort.
//!
//! Large buffers are asked for politely (`cutlink_device::memory::grow`) and their refusal is
//! an ordinary error; this is for the thousand small ones and for those of other crates. What
//! the report itself allocates comes from a small static reserve. Temporary files are removed.

use crate::{console, exit};
use cutlink::output;
use cutlink::{Error, ErrorKind};
use cutlink_device::memory;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Whether the failure is to be printed as JSON too.
pub(crate) static JSON: AtomicBool = AtomicBool::new(false);

/// Set by the thread that ends the program.
static ENDING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether this is that thread.
    static ENDS_HERE: Cell<bool> = const { Cell::new(false) };
}

/// Memory for the last words.
struct Reserve {
    bytes: UnsafeCell<[u8; Self::SIZE]>,
    used: AtomicUsize,
}

#[expect(unsafe_code, reason = "a static buffer that one thread hands out")]
// SAFETY: `take` gives every byte away at most once, by an atomic count, and nobody reads the
// buffer as a whole.
unsafe impl Sync for Reserve {}

static RESERVE: Reserve = Reserve {
    bytes: UnsafeCell::new([0; Reserve::SIZE]),
    used: AtomicUsize::new(0),
};

impl Reserve {
    const SIZE: usize = 1 << 18;

    fn take(&self, layout: Layout) -> *mut u8 {
        // The padding for the worst start is taken in any case.
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

/// The system's allocator, with the end that the module describes.
#[derive(Debug)]
pub struct EndingAllocator;

#[expect(unsafe_code, reason = "the trait of allocators is unsafe")]
// SAFETY: every call goes to `System` with what it was given, or to `Reserve`, which gives
// each byte away once, aligned as asked, and takes nothing back; a block is returned to whom
// it came from, by its address. Zeros: the reserve's bytes are zero until they are given away.
unsafe impl GlobalAlloc for EndingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is that of `System`.
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
            // SAFETY: not of the reserve, so of `System`, with the caller's promise.
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
            // SAFETY: both hold as many bytes and do not overlap; the old block lives on, as
            // the program is about to end.
            unsafe { block.copy_to_nonoverlapping(moved, layout.size().min(size)) }
        }
        moved
    }
}

/// What becomes of an allocation that `System` refused: null where the caller is prepared for
/// it, the reserve where the program is ending, else the end.
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
