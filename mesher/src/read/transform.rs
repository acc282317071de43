//! Transforms of placed objects, and the range of coordinates.

use std::fmt;

use crate::placement::Affine;

/// Largest magnitude of a coordinate. It is beyond all 32-bit numbers; areas, volumes and their squares stay finite.
pub(super) const MAX_COORDINATE: f64 = 1e40;

/// A transform in a message: its number that is largest, or not finite.
pub(super) struct Transform<'a>(pub(super) &'a Affine<3>);

impl Transform<'_> {
    pub(super) const EXPECTED: &'static str = "a transform of numbers up to 1e40";

    fn numbers(&self) -> impl Iterator<Item = f64> {
        let all = self.0.linear.into_iter().flatten();
        all.chain(self.0.offset)
    }
}

impl fmt::Display for Transform<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let worst = self.numbers().max_by(|a, b| a.abs().total_cmp(&b.abs()));
        write!(
            f,
            "{:e}, with all that it is placed in",
            worst.unwrap_or(0.0)
        )
    }
}

/// Whether all numbers of a transform are finite and below the limit.
pub(super) fn fits(affine: &Affine<3>) -> bool {
    Transform(affine)
        .numbers()
        .all(|x| x.abs() <= MAX_COORDINATE)
}
