//! Buffers that many threads write at once, each element by one thread or with one value.
//! A relaxed atomic store costs what a plain store costs; what it buys is the absence of
//! data races without locks.

use std::sync::atomic::{AtomicU8, AtomicU32};

macro_rules! shared_view {
    ($name:ident, $plain:ty, $atomic:ty) => {
        /// The same memory as a slice of atomics, for the time of the exclusive borrow.
        #[expect(unsafe_code, reason = "the safe conversion is not stable yet")]
        pub fn $name(values: &mut [$plain]) -> &[$atomic] {
            const {
                assert!(size_of::<$atomic>() == size_of::<$plain>());
                assert!(align_of::<$atomic>() == align_of::<$plain>());
            }
            // SAFETY: size and alignment agree as asserted, every bit pattern is valid for
            // both, and the exclusive borrow is given up for the lifetime of the view.
            unsafe { &*(std::ptr::from_mut(values) as *const [$atomic]) }
        }
    };
}

shared_view!(bytes, u8, AtomicU8);
shared_view!(words, u32, AtomicU32);
