//! Values that a case prescribes by place and time, and how they are evaluated. Lengths are in metres, times in seconds.
//!
//! | module | what | cost of a value |
//! |---|---|---|
//! | [`expression`] | arithmetic in x, y, z, t and named constants | a walk over the tree |
//! | [`profile`] | tables of velocities on a grid; shapes of inlets as expressions | a binary search by axis |
//! | [`waves`] | synthetic turbulence as Fourier modes | [`waves::MODES`] modes |
//!
//! The crate stands by itself because these are evaluated at each cell of a face in each step: it is optimised, while the
//! crate of cases above it need not be.

pub mod expression;
pub mod profile;
pub mod waves;

#[cfg(test)]
#[path = "../../tests/kit/worst.rs"]
mod worst;
