//! The affine map.

use super::PlacementError;
use crate::surface::Surface;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;

/// y = linear · x + offset; `linear` by rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Rows", into = "Rows")]
pub struct Affine<const D: usize> {
    /// Matrix rows.
    pub linear: [[f64; D]; D],
    /// Shift.
    pub offset: [f64; D],
}

/// [`Affine`] as it is stored: arrays of a generic length have no serde form.
#[derive(Serialize, Deserialize)]
struct Rows {
    linear: Vec<Vec<f64>>,
    offset: Vec<f64>,
}

impl<const D: usize> From<Affine<D>> for Rows {
    fn from(map: Affine<D>) -> Self {
        Self {
            linear: map.linear.iter().map(|r| r.to_vec()).collect(),
            offset: map.offset.to_vec(),
        }
    }
}

impl<const D: usize> TryFrom<Rows> for Affine<D> {
    type Error = PlacementError;

    fn try_from(rows: Rows) -> Result<Self, PlacementError> {
        let shape = PlacementError::Shape { dimensions: D };
        let mut map = Self::identity();
        if rows.linear.len() != D || rows.offset.len() != D {
            return Err(shape);
        }
        for (to, row) in map.linear.iter_mut().zip(rows.linear) {
            *to = row.try_into().map_err(|_| shape.clone())?;
        }
        map.offset.copy_from_slice(&rows.offset);
        Ok(map)
    }
}

impl<const D: usize> Default for Affine<D> {
    fn default() -> Self {
        Self::identity()
    }
}

impl<const D: usize> Affine<D> {
    /// The map that changes nothing.
    pub fn identity() -> Self {
        Self {
            linear: std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j)))),
            offset: [0.0; D],
        }
    }

    /// Whether it changes nothing.
    pub fn is_identity(&self) -> bool {
        *self == Self::identity()
    }

    /// `self` after `first`.
    pub fn compose(&self, first: &Self) -> Self {
        let column = |j: usize| std::array::from_fn(|k| first.linear[k][j]);
        let mut out = Self {
            linear: [[0.0; D]; D],
            offset: self.apply(first.offset),
        };
        for i in 0..D {
            for j in 0..D {
                out.linear[i][j] = dot(self.linear[i], column(j));
            }
        }
        out
    }

    /// The image of a point.
    pub fn apply(&self, x: [f64; D]) -> [f64; D] {
        std::array::from_fn(|i| dot(self.linear[i], x) + self.offset[i])
    }

    /// The determinant of the linear part: the factor on volumes, negative for a mirror.
    pub fn determinant(&self) -> f64 {
        let m = |i: usize, j: usize| self.linear[i][j];
        match D {
            2 => m(0, 0) * m(1, 1) - m(0, 1) * m(1, 0),
            3 => (0..3)
                .map(|j| {
                    let (k, l) = ((j + 1) % 3, (j + 2) % 3);
                    m(0, j) * (m(1, k) * m(2, l) - m(1, l) * m(2, k))
                })
                .sum(),
            _ => unreachable!("surfaces are 2D or 3D"),
        }
    }

    /// The map back, by elimination with pivots; `None` where there is none.
    pub fn inverse(&self) -> Option<Self> {
        let (mut left, mut right) = (self.linear, Self::identity().linear);
        for k in 0..D {
            let size = |i: &usize| left[*i][k].abs();
            let pivot = (k..D).max_by(|i, j| size(i).total_cmp(&size(j)))?;
            left.swap(k, pivot);
            right.swap(k, pivot);
            let scale = left[k][k];
            if !(scale.abs() > 0.0 && scale.is_finite()) {
                return None;
            }
            for j in 0..D {
                left[k][j] /= scale;
                right[k][j] /= scale;
            }
            for i in (0..D).filter(|&i| i != k) {
                let part = left[i][k];
                for j in 0..D {
                    left[i][j] -= part * left[k][j];
                    right[i][j] -= part * right[k][j];
                }
            }
        }
        let mut back = Self {
            linear: right,
            offset: [0.0; D],
        };
        back.offset = back.apply(self.offset).map(|x| -x);
        Some(back)
    }

    /// Moves every vertex; a mirror also reverses every facet. A map from
    /// [`resolve`](super::Placement::resolve) keeps the surface it was made for finite.
    pub fn apply_surface(&self, surface: &mut Surface<D>) {
        if self.is_identity() {
            return;
        }
        surface
            .vertices
            .par_iter_mut()
            .for_each(|v| *v = self.apply(*v));
        if self.determinant() < 0.0 {
            surface
                .facets
                .par_iter_mut()
                .for_each(|f| f.swap(D - 2, D - 1));
        }
    }

    /// Largest sums that [`Affine::apply`] can meet within the bounds are finite.
    pub(super) fn check_range(&self, bounds: [[f64; D]; 2]) -> Result<(), PlacementError> {
        let largest: [f64; D] = std::array::from_fn(|a| bounds[0][a].abs().max(bounds[1][a].abs()));
        let fine = (0..D).all(|i| {
            let row = self.linear[i].map(f64::abs);
            (dot(row, largest) + self.offset[i].abs()).is_finite()
        });
        if fine {
            Ok(())
        } else {
            Err(PlacementError::Overflow(
                largest.into_iter().fold(0.0, f64::max),
            ))
        }
    }
}

fn dot<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
    // From +0, so that no sum is −0.
    (0..D).fold(0.0, |sum, k| sum + a[k] * b[k])
}

impl<const D: usize> fmt::Display for Affine<D> {
    /// One line an axis: `x' = 0 x - 1 y + 0 z + 0.5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [char; 3] = ['x', 'y', 'z'];
        for i in 0..D {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{}' =", NAMES[i])?;
            let terms = (0..D).map(|j| (self.linear[i][j], Some(NAMES[j])));
            for (n, (value, name)) in terms.chain([(self.offset[i], None)]).enumerate() {
                let sign = match (n, value < 0.0) {
                    (0, true) => " -",
                    (0, false) => " ",
                    (_, true) => " - ",
                    (_, false) => " + ",
                };
                write!(f, "{sign}{}", value.abs())?;
                if let Some(name) = name {
                    write!(f, " {name}")?;
                }
            }
        }
        Ok(())
    }
}
