//! The numbers that flows are computed in.

use cutlink_device::Item;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// f64 or f32.
pub trait Scalar:
    Item
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
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

macro_rules! scalar {
    ($type:ty) => {
        impl Scalar for $type {
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
            fn wide(self) -> f64 {
                self.into()
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

scalar!(f32);
scalar!(f64);
