//! Exact predicates on the integer lattice: triangles in space, segments in the plane.
//!
//! **One tie rule.** Every query point P stands for P + (ε, ε², ε³) with ε ≫ ε² ≫ ε³ > 0
//! (simulation of simplicity, Edelsbrunner & Mücke 1990, applied to the query points only).
//! A predicate that vanishes at P takes the sign of its first non-zero derivative in the
//! order x, y, z, so no predicate is ever zero unless its facet is degenerate, a shared
//! edge or vertex counts exactly once, and points, rays and links of all directions agree.
//!
//! **Linear forms.** A line through P along `d` meets a facet iff D linear forms of P have
//! one sign: in space the signed volumes `(d × e)·(P - v)` of the edges e, in the plane the
//! cross products of `d` with the two ends. That sign is the sign of N·d, N the normal.
//!
//! Coordinates are within ±2^28 (see [`crate::snap::COORDINATE_LIMIT`]), differences within
//! 2^29: forms and 2D values fit i64 with directions of components -1, 0, 1; 3D values need
//! 90 bits and are computed in i64 where the facet is small, else in i128.

/// The corners of a facet, on the lattice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facet<const D: usize>(pub [[i32; D]; D]);

/// The predicates whose formula depends on the dimension.
pub trait Exact<const D: usize> {
    /// The normal, not normalized: outward for a facet of a closed body; zero iff degenerate.
    fn normal(&self) -> [i64; D];

    /// The forms of lines along `d` (components -1, 0, 1); meaningful where N·d is not 0.
    fn line_forms(&self, d: [i32; D]) -> LineForms<D>;

    /// Whether the facet and the closed box `center ± half` have a common point.
    fn overlaps(&self, center: [i32; D], half: i32) -> bool;
}

/// Linear forms `w·p + c`, the tie rule folded into `c`: negative or not tells the sign.
#[derive(Debug, Clone, Copy)]
pub struct LineForms<const D: usize> {
    w: [[i64; D]; D],
    c: [i64; D],
}

impl<const D: usize> LineForms<D> {
    /// Folds the tie rule in: a form that is 0 at p has the sign of its first non-zero
    /// coefficient.
    fn new(w: [[i64; D]; D], mut c: [i64; D]) -> Self {
        for k in 0..D {
            if first_sign(&w[k]) < 0 {
                c[k] -= 1;
            }
        }
        Self { w, c }
    }

    /// Whether the line through `p` meets the facet: all signs alike.
    #[inline]
    pub fn hit(&self, p: [i32; D]) -> bool {
        self.at(p, 0).hit()
    }
}

#[inline]
fn first_sign(w: &[i64]) -> i64 {
    w.iter().copied().find(|&c| c != 0).map_or(0, i64::signum)
}

impl<const D: usize> LineForms<D> {
    /// The values at `p`, and their increments for steps of `spacing` along each axis: for
    /// going over many lines with additions only.
    #[inline]
    pub fn at(&self, p: [i32; D], spacing: i32) -> LineCursor<D> {
        let mut value = self.c;
        for k in 0..D {
            for a in 0..D {
                value[k] += self.w[k][a] * i64::from(p[a]);
            }
        }
        LineCursor {
            value,
            step: self.w.map(|w| w.map(|c| c * i64::from(spacing))),
        }
    }
}

/// The forms at one of a grid of points; see [`LineForms::at`].
#[derive(Debug, Clone, Copy)]
pub struct LineCursor<const D: usize> {
    value: [i64; D],
    step: [[i64; D]; D],
}

impl<const D: usize> LineCursor<D> {
    /// Whether the line through the point meets the facet.
    #[inline]
    pub fn hit(&self) -> bool {
        let (mut and, mut or) = (-1i64, 0i64);
        for value in self.value {
            and &= value;
            or |= value;
        }
        and < 0 || or >= 0
    }

    /// Goes one step up along `axis`.
    #[inline]
    pub fn advance(&mut self, axis: usize) {
        for k in 0..D {
            self.value[k] += self.step[k][axis];
        }
    }
}

/// The plane of a facet: which side of it a point is on, and how far.
#[derive(Debug, Clone, Copy)]
pub struct Plane<const D: usize> {
    /// The normal.
    pub normal: [i64; D],
    corner: [i32; D],
    tie: bool,
    narrow: bool,
}

/// A plane passed by evenly spaced points on a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// Index of the first point beyond; ends of the range stand for anything further.
    pub first: i32,
    /// Distance of the plane from the point before it, in units of the spacing: each of two
    /// exact integers rounded to f64, divided in f64, rounded to f32; 0 to 1.
    pub from_before: f32,
    /// The same from the first point beyond.
    pub from_after: f32,
}

impl<const D: usize> Plane<D>
where
    Facet<D>: Exact<D>,
{
    /// The plane of `facet`; all points asked about lie within ±`reach`.
    #[inline]
    pub fn new(facet: &Facet<D>, reach: i32) -> Self {
        const NARROW: i32 = 1 << 19;
        let normal = facet.normal();
        let small = |c: &i32| c.abs() <= NARROW;
        Self {
            normal,
            corner: facet.0[0],
            tie: first_sign(&normal) > 0,
            // Differences within 2^20, normals within 2^41, sums of three within 2^63.
            narrow: reach <= NARROW && facet.0.as_flattened().iter().all(small),
        }
    }

    /// N·(p - corner): positive outside, unperturbed.
    #[inline]
    pub fn value(&self, p: [i32; D]) -> i128 {
        if self.narrow {
            i128::from(self.value_narrow(p))
        } else {
            let mut sum = 0i128;
            for a in 0..D {
                let step = i64::from(p[a]) - i64::from(self.corner[a]);
                sum += i128::from(self.normal[a]) * i128::from(step);
            }
            sum
        }
    }

    /// Whether a point of this value is on the outer side, ties broken.
    #[inline]
    pub fn outer(&self, value: i128) -> bool {
        value > 0 || (value == 0 && self.tie)
    }

    /// Where the points p, p + h d, p + 2 h d, … pass the plane; `along` is N·d, not zero.
    #[inline]
    pub fn crossing(&self, p: [i32; D], along: i64, h: i32) -> Crossing {
        // The first point beyond has G >= 0, or G > 0 where a tie counts as before, with
        // G = G0 + i |rise| and G0 the value at p, both times the sign of N·d.
        let tie_beyond = self.tie == (along > 0);
        macro_rules! in_integers {
            ($int:ty, $value:expr) => {{
                let rise = <$int>::from(along.abs()) * <$int>::from(h);
                let value: $int = if along > 0 { $value } else { -$value };
                let first = if tie_beyond {
                    -(value.div_euclid(rise))
                } else {
                    (-value).div_euclid(rise) + 1
                };
                let after = value + first * rise;
                Crossing {
                    first: first.clamp(-FAR, FAR) as i32,
                    from_before: ((rise - after) as f64 / rise as f64) as f32,
                    from_after: (after as f64 / rise as f64) as f32,
                }
            }};
        }
        if self.narrow {
            const FAR: i64 = i32::MAX as i64;
            in_integers!(i64, self.value_narrow(p))
        } else {
            const FAR: i128 = i32::MAX as i128;
            in_integers!(i128, self.value(p))
        }
    }

    #[inline]
    fn value_narrow(&self, p: [i32; D]) -> i64 {
        (0..D)
            .map(|a| self.normal[a] * i64::from(p[a] - self.corner[a]))
            .sum()
    }

    /// N·d.
    #[inline]
    pub fn along(&self, d: [i32; D]) -> i64 {
        (0..D).map(|a| self.normal[a] * i64::from(d[a])).sum()
    }
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

fn sub<const D: usize>(a: [i32; D], b: [i32; D]) -> [i64; D] {
    std::array::from_fn(|i| i64::from(a[i]) - i64::from(b[i]))
}

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
    fn line_forms(&self, d: [i32; 2]) -> LineForms<2> {
        let [dx, dy] = d.map(i64::from);
        let [a, b] = self.0.map(|v| dx * i64::from(v[1]) - dy * i64::from(v[0]));
        LineForms::new([[dy, -dx], [-dy, dx]], [b, -a])
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
    fn line_forms(&self, d: [i32; 3]) -> LineForms<3> {
        let d = d.map(i64::from);
        let v = self.0;
        let w: [[i64; 3]; 3] = std::array::from_fn(|k| cross(d, sub(v[(k + 1) % 3], v[k])));
        let c = std::array::from_fn(|k| -(0..3).map(|a| w[k][a] * i64::from(v[k][a])).sum::<i64>());
        LineForms::new(w, c)
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
