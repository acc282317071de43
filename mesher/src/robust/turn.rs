//! Sums of (solid) angles of facets at a point.

use crate::exact::{Exact, Facet, Plane};
use std::f64::consts::{FRAC_PI_4, PI};

/// The tie rule: a point in the plane of a cap is moved by this vector, off the plane and the edges of caps. The vector
/// points as in [`crate::exact`] and is shorter than any distance that matters. It is the same for all caps that meet at
/// the point, so their angles add up, also on an edge between two caps.
const ASIDE: [f64; 3] = [1.0 / 4096.0, 1.0 / 524_288.0, 1.0 / 67_108_864.0];

/// A sum of angles, as whole turns and a complex number that has the rest as its argument.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    turns: i32,
    re: f64,
    im: f64,
}

impl Default for Turn {
    fn default() -> Self {
        Self {
            turns: 0,
            re: 1.0,
            im: 0.0,
        }
    }
}

#[inline(always)]
pub(super) fn norm<const D: usize>(v: [f64; D]) -> f64 {
    v.iter().fold(0.0, |sum, c| sum + c * c).sqrt()
}

#[inline(always)]
pub(super) fn minus<const D: usize>(a: [f64; D], b: [f64; D]) -> [f64; D] {
    std::array::from_fn(|i| a[i] - b[i])
}

#[inline(always)]
pub(super) fn dot<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
    (0..D).fold(0.0, |sum, i| sum + a[i] * b[i])
}

impl Turn {
    pub(super) fn new(turns: i32, re: f64, im: f64) -> Self {
        Self { turns, re, im }
    }

    /// Adds the angle of a facet seen from p, in 3D half of it.
    pub(super) fn add_facet<const D: usize>(&mut self, facet: &[[i32; D]; D], p: [i32; D])
    where
        Facet<D>: Exact<D>,
    {
        self.add(tangent(facet, p));
    }

    /// Adds the angle of y over x, from -π to π; the sign of zero counts.
    fn add(&mut self, [y, x]: [f64; 2]) {
        let size = x.abs().max(y.abs());
        if size == 0.0 {
            return;
        }
        let (x, y) = (x / size, y / size);
        let below = self.im.is_sign_negative();
        let re = self.re * x - self.im * y;
        let mut im = self.re * y + self.im * x;
        // Two straight angles make a whole turn; by sign, they are on its far side or cancel.
        let straight = self.re < 0.0 && x < 0.0 && self.im == 0.0 && y == 0.0;
        if im == 0.0 && !straight {
            // Of a straight angle, the side is that of the larger part.
            im = im.copysign(if self.im == 0.0 { y } else { self.im });
        }
        (self.re, self.im) = (re, im);
        // Two angles of one sign that add up to more than a half turn.
        if below == y.is_sign_negative() && im.is_sign_negative() != below {
            self.turns += if below { -1 } else { 1 };
        }
        if self.re.abs().max(self.im.abs()) < 1e-100 {
            self.re *= 1e100;
            self.im *= 1e100;
        }
    }

    pub(super) fn angle(&self) -> f64 {
        2.0 * PI * f64::from(self.turns) + angle(self.im, self.re)
    }
}

/// The tangent of the angle of one facet, in 3D of half of it (Van Oosterom & Strackee
/// 1983, eq. 8), as numerator and denominator; the side of the facet's plane is exact.
pub(super) fn tangent<const D: usize>(corners: &[[i32; D]; D], p: [i32; D]) -> [f64; 2]
where
    Facet<D>: Exact<D>,
{
    // Seen from p: narrow where the facet is near.
    let facet = Facet(*corners).relative_to(p);
    let plane = Plane::new(&facet, 0);
    let value = plane.value([0; D]);
    // det(a, b, c) = -N·(p - a); a tie keeps the sign of the perturbed point.
    let size = if value == 0 {
        let off = (0..D).fold(0.0, |sum, a| sum + plane.normal[a] as f64 * ASIDE[a]);
        off.abs()
    } else {
        value.unsigned_abs() as f64
    };
    let det = if plane.outer(value) { -size } else { size };
    let aside = std::array::from_fn(|a| if value == 0 { ASIDE[a] } else { 0.0 });
    let v = facet.0.map(|c| minus(c.map(f64::from), aside));
    if D == 2 {
        return [det, dot(v[0], v[1])];
    }
    let [a, b, c] = [v[0], v[1], v[2 % D]];
    let (la, lb, lc) = (norm(a), norm(b), norm(c));
    let along = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
    [det, along]
}

/// atan2 by its series after two reductions, to about 1e-13: not the machine's, whose last
/// digits differ from one library to another.
fn angle(y: f64, x: f64) -> f64 {
    const TAN_PI_8: f64 = 0.414_213_562_373_095_03;
    let (large, small) = (x.abs().max(y.abs()), x.abs().min(y.abs()));
    if large == 0.0 {
        return 0.0;
    }
    let mut t = small / large;
    let mut base = 0.0;
    if t > TAN_PI_8 {
        t = (t - 1.0) / (t + 1.0);
        base = FRAC_PI_4;
    }
    let square = t * t;
    let series = (0..17)
        .rev()
        .fold(0.0, |sum, k| 1.0 / f64::from(2 * k + 1) - square * sum);
    let mut angle = base + t * series;
    if y.abs() > x.abs() {
        angle = 2.0 * FRAC_PI_4 - angle;
    }
    if x < 0.0 {
        angle = PI - angle;
    }
    angle.copysign(y)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point in several overlapping caps at once.
    #[test]
    fn straight_angles_add_up() {
        for (y, sign) in [(0.0, 1.0), (-0.0, -1.0)] {
            let mut sum = Turn::default();
            for n in 1..8 {
                sum.add([y, -3.0]);
                let want = sign * f64::from(n) * PI;
                assert!((sum.angle() - want).abs() < 1e-12, "{n}: {}", sum.angle());
            }
            for n in (0..7).rev() {
                sum.add([-y, -3.0]);
                let want = sign * f64::from(n) * PI;
                assert!((sum.angle() - want).abs() < 1e-12, "{n}: {}", sum.angle());
            }
        }
    }

    #[test]
    fn the_angle_is_that_of_the_library() {
        for i in -40..=40 {
            for j in -40..=40 {
                let (y, x) = (f64::from(i) * 0.37, f64::from(j).powi(3) * 0.011);
                let error = (angle(y, x) - y.atan2(x)).abs();
                assert!(error < 1e-12 || (y, x) == (0.0, 0.0), "{y} {x}: {error}");
            }
        }
        assert_eq!(angle(-0.0, -1.0), -PI, "the sign of zero counts");
    }
}
