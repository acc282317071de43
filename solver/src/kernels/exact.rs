//! Sums of f64 that are the same in any order.

use bytemuck::{Pod, Zeroable};
use std::{
    iter::Sum,
    ops::{Add, AddAssign},
};

/// A sum of numbers, each cut off below 2^-80, in fixed point: without rounding, so that neither order nor grouping
/// matters. It is no number once a term or the sum is none, a term reaches 2^44 or the sum 2^47.
///
/// As kernels see it: 128 bits, two's complement, the low 64 first (`exact.cuh`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Zeroable, Pod)]
#[repr(C)]
pub struct ExactSum([u64; 2]);

/// Bits behind the point.
const FRACTION: i32 = 80;
/// What terms have to stay below.
const LIMIT: f64 = (1u64 << 44) as f64;
/// A sum that is no number.
const NOT_A_NUMBER: i128 = i128::MIN;

impl ExactSum {
    /// Of no numbers.
    pub const ZERO: Self = Self([0; 2]);

    fn of_bits(bits: i128) -> Self {
        let bits = bits as u128;
        Self([bits as u64, (bits >> 64) as u64])
    }

    fn bits(self) -> i128 {
        (u128::from(self.0[1]) << 64 | u128::from(self.0[0])) as i128
    }

    /// The sum, rounded once; NaN where it is no number.
    pub fn value(self) -> f64 {
        match self.bits() {
            NOT_A_NUMBER => f64::NAN,
            bits => bits as f64 * 0.5f64.powi(FRACTION),
        }
    }
}

impl From<f64> for ExactSum {
    fn from(value: f64) -> Self {
        if value.is_nan() || value.abs() >= LIMIT {
            return Self::of_bits(NOT_A_NUMBER);
        }
        #[allow(clippy::cast_possible_truncation, reason = "what is below 2^-80")]
        Self::of_bits((value * 2f64.powi(FRACTION)) as i128)
    }
}

impl Add for ExactSum {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (a, b) = (self.bits(), other.bits());
        if a == NOT_A_NUMBER || b == NOT_A_NUMBER {
            return Self::of_bits(NOT_A_NUMBER);
        }
        Self::of_bits(a.checked_add(b).unwrap_or(NOT_A_NUMBER))
    }
}

impl AddAssign for ExactSum {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for ExactSum {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

impl FromIterator<f64> for ExactSum {
    fn from_iter<I: IntoIterator<Item = f64>>(all: I) -> Self {
        all.into_iter().map(Self::from).sum()
    }
}

#[cfg(test)]
mod tests;
