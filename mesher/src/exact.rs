//! Exact predicates on the integer lattice: triangles in 3D, segments in 2D.
//!
//! **One tie rule.** Every query point P stands for P + (ε, ε², ε³) with ε ≫ ε² ≫ ε³ > 0
//! (simulation of simplicity, Edelsbrunner & Mücke 1990, applied to the query points only).
//! A predicate that vanishes at P takes the sign of its first non-zero derivative in the
//! order x, y, z, so no predicate is ever zero unless its facet is degenerate, a shared
//! edge or vertex counts exactly once, and points, rays and links of all directions agree.
//!
//! **Linear forms.** A line through P along `d` meets a facet iff D linear forms of P have
//! one sign: in 3D the signed volumes `(d × e)·(P - v)` of the edges e, in 2D the
//! cross products of `d` with the two ends. That sign is the sign of N·d, N the normal.
//!
//! Coordinates are within ±2^28 (see [`crate::snap::COORDINATE_LIMIT`]), differences within
//! 2^29: forms and 2D values fit i64 with directions of components -1, 0, 1; 3D values need
//! 90 bits and are computed in i64 where the facet is small, else in i128.

mod lines;
mod plane;

pub use lines::{AxisForms, LineCursor, LineForms};
pub use plane::{Int, Passes, Plane};

/// The corners of a facet, on the lattice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facet<const D: usize>(pub [[i32; D]; D]);

/// The predicates whose formula depends on the dimension.
pub trait Exact<const D: usize> {
    /// The normal, not normalized: outward for a facet of a closed body; zero iff degenerate.
    fn normal(&self) -> [i64; D];

    /// The forms of lines along `d` (components -1, 0, 1) without the tie rule; linear in
    /// `d`, and meaningful where N·d is not 0.
    fn untied_forms(&self, d: [i32; D]) -> LineForms<D>;

    /// The forms of lines along `d`, ties broken.
    #[inline]
    fn line_forms(&self, d: [i32; D]) -> LineForms<D> {
        self.untied_forms(d).tied()
    }

    /// Whether the facet and the closed box `center ± half` have a common point.
    fn overlaps(&self, center: [i32; D], half: i32) -> bool;
}

#[inline]
fn first_sign(w: &[i64]) -> i64 {
    w.iter().copied().find(|&c| c != 0).map_or(0, i64::signum)
}

impl<const D: usize> Facet<D> {
    /// The same facet seen from `origin`; exact within the coordinate limit.
    #[inline]
    pub fn relative_to(&self, origin: [i32; D]) -> Self {
        Self(self.0.map(|v| std::array::from_fn(|a| v[a] - origin[a])))
    }

    /// Lower and upper corner.
    #[inline]
    pub fn bounds(&self) -> [[i32; D]; 2] {
        let mut bounds = [self.0[0]; 2];
        for v in &self.0[1..] {
            for a in 0..D {
                bounds[0][a] = bounds[0][a].min(v[a]);
                bounds[1][a] = bounds[1][a].max(v[a]);
            }
        }
        bounds
    }
}

#[inline]
fn sub<const D: usize>(a: [i32; D], b: [i32; D]) -> [i64; D] {
    std::array::from_fn(|i| i64::from(a[i]) - i64::from(b[i]))
}

#[inline]
fn cross(a: [i64; 3], b: [i64; 3]) -> [i64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

impl Exact<2> for Facet<2> {
    #[inline]
    fn normal(&self) -> [i64; 2] {
        let e = sub(self.0[1], self.0[0]);
        [e[1], -e[0]]
    }

    #[inline]
    fn untied_forms(&self, d: [i32; 2]) -> LineForms<2> {
        let [dx, dy] = d.map(i64::from);
        let [a, b] = self.0.map(|v| dx * i64::from(v[1]) - dy * i64::from(v[0]));
        LineForms::untied([[dy, -dx], [-dy, dx]], [b, -a])
    }

    fn overlaps(&self, center: [i32; 2], half: i32) -> bool {
        let [a, b] = self.0.map(|v| sub(v, center));
        let half = i64::from(half);
        let apart = |axis: usize| a[axis].min(b[axis]) > half || a[axis].max(b[axis]) < -half;
        if apart(0) || apart(1) {
            return false;
        }
        let n = self.normal();
        let value = n[0] * a[0] + n[1] * a[1];
        value.abs() <= half * (n[0].abs() + n[1].abs())
    }
}

impl Exact<3> for Facet<3> {
    #[inline]
    fn normal(&self) -> [i64; 3] {
        let [a, b, c] = self.0;
        cross(sub(b, a), sub(c, a))
    }

    #[inline]
    fn untied_forms(&self, d: [i32; 3]) -> LineForms<3> {
        let d = d.map(i64::from);
        let v = self.0;
        let w: [[i64; 3]; 3] = std::array::from_fn(|k| cross(d, sub(v[(k + 1) % 3], v[k])));
        let c = std::array::from_fn(|k| -(0..3).map(|a| w[k][a] * i64::from(v[k][a])).sum::<i64>());
        LineForms::untied(w, c)
    }

    /// The separating axis test of Akenine-Möller 2001 in integers: three box axes, the
    /// normal, nine cross products of edges and axes.
    fn overlaps(&self, center: [i32; 3], half: i32) -> bool {
        let v = self.0.map(|p| sub(p, center));
        let half = i64::from(half);
        let inside = |p: &[i64; 3]| p.iter().all(|c| c.abs() <= half);
        if v.iter().any(inside) {
            return true;
        }
        let apart = |a: usize| {
            let [p, q, r] = [v[0][a], v[1][a], v[2][a]];
            p.min(q).min(r) > half || p.max(q).max(r) < -half
        };
        if (0..3).any(apart) {
            return false;
        }
        for k in 0..3 {
            let e: [i64; 3] = std::array::from_fn(|a| v[(k + 1) % 3][a] - v[k][a]);
            for axis in 0..3 {
                let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
                // Two of the three corners share this projection: the ends of the edge.
                let p = e[i] * v[k][j] - e[j] * v[k][i];
                let q = e[i] * v[(k + 2) % 3][j] - e[j] * v[(k + 2) % 3][i];
                let radius = half * (e[i].abs() + e[j].abs());
                if p.min(q) > radius || p.max(q) < -radius {
                    return false;
                }
            }
        }
        let n = self.normal().map(i128::from);
        let value: i128 = (0..3).map(|a| n[a] * i128::from(v[0][a])).sum();
        let radius = i128::from(half) * n.iter().map(|c| c.abs()).sum::<i128>();
        value.abs() <= radius
    }
}
