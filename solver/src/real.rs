//! The floating-point types of arithmetic.

use cutlink_device::Item;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// f32 or f64.
pub trait Real:
    Item
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// Rounded from f64.
    fn of(value: f64) -> Self;

    /// As f64, exactly.
    fn wide(self) -> f64;

    /// Its square root.
    fn sqrt(self) -> Self;

    /// Its magnitude.
    fn abs(self) -> Self;
}

macro_rules! real {
    ($type:ty) => {
        impl Real for $type {
            #[inline(always)]
            #[allow(
                clippy::cast_possible_truncation,
                reason = "rounding is what it is for"
            )]
            fn of(value: f64) -> Self {
                value as $type
            }

            #[inline(always)]
            #[allow(
                clippy::unnecessary_cast,
                clippy::cast_lossless,
                reason = "one body for both"
            )]
            fn wide(self) -> f64 {
                self as f64
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }

            #[inline(always)]
            fn abs(self) -> Self {
                self.abs()
            }
        }
    };
}
real!(f32);
real!(f64);
