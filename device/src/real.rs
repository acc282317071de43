//! The floating-point types of arithmetic.

use crate::Item;
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
    /// Zero.
    const ZERO: Self;

    /// Rounded from f64.
    fn of(value: f64) -> Self;

    /// As f64, exactly.
    fn wide(self) -> f64;

    /// Its square root.
    fn sqrt(self) -> Self;

    /// Its magnitude.
    fn abs(self) -> Self;

    /// `self * a + b`, rounded once.
    fn mul_add(self, a: Self, b: Self) -> Self;

    /// The larger of two; `other` where one is no number.
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
}

/// The larger of two, or NaN where either is: for largest values that are to show what is no number.
#[inline(always)]
pub fn larger_or_nan(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

macro_rules! real {
    ($type:ty) => {
        impl Real for $type {
            const ZERO: Self = 0.0;

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

            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                self.mul_add(a, b)
            }
        }
    };
}
real!(f32);
real!(f64);
