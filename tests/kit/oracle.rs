//! Winding numbers and cuts of links by brute force over all facets.
//!
//! Nothing is shared with the code under test but the definition: a point P stands for
//! P + (ε, ε², ε³), ε → 0. Every predicate is an affine function g of the point with integer
//! values on the lattice, taken as a naive determinant in i128. At the shifted point it is the
//! tuple (g(P), ∂g/∂x, ∂g/∂y, ∂g/∂z) in lexicographic order, and the derivatives are the
//! differences g(P + e) - g(P): no formula for a gradient, no folding of ties.
//!
//! Winding numbers come from one ray in a direction of the caller's choice, which no axis
//! and no link shares. Coordinates are within ±2^28 and ray components within ±2^10, so
//! determinants stay below 2^100. Cost: facets × centres.

use cutlink_mesher::snap::Snapped;
use std::cmp::Ordering;

/// Corners of a facet.
pub type Corners<const D: usize> = [[i128; D]; D];

/// The determinants of a dimension.
pub trait Determinants<const D: usize> {
    /// Twice (six times) the signed area (volume) of facet and point: positive outside.
    fn side(facet: &Corners<D>, p: [i128; D]) -> i128;

    /// One form an edge (2D: an end): the line through `p` along `d` meets the facet iff all
    /// have one sign.
    fn forms(facet: &Corners<D>, d: [i128; D]) -> Vec<impl Fn([i128; D]) -> i128>;
}

/// The plane (D = 2) or space (D = 3).
#[derive(Debug)]
pub struct Space;

fn minus<const D: usize>(a: [i128; D], b: [i128; D]) -> [i128; D] {
    std::array::from_fn(|i| a[i] - b[i])
}

fn det2(a: [i128; 2], b: [i128; 2]) -> i128 {
    a[0] * b[1] - a[1] * b[0]
}

fn det3(a: [i128; 3], b: [i128; 3], c: [i128; 3]) -> i128 {
    a[0] * det2([b[1], b[2]], [c[1], c[2]]) - a[1] * det2([b[0], b[2]], [c[0], c[2]])
        + a[2] * det2([b[0], b[1]], [c[0], c[1]])
}

impl Determinants<2> for Space {
    fn side(&[a, b]: &Corners<2>, p: [i128; 2]) -> i128 {
        // Outside is to the right of a → b.
        -det2(minus(b, a), minus(p, a))
    }

    fn forms(&[a, b]: &Corners<2>, d: [i128; 2]) -> Vec<impl Fn([i128; 2]) -> i128> {
        let ends = [(a, 1), (b, -1)];
        ends.into_iter()
            .map(|(v, sign)| move |p| sign * det2(d, minus(v, p)))
            .collect()
    }
}

impl Determinants<3> for Space {
    fn side(&[a, b, c]: &Corners<3>, p: [i128; 3]) -> i128 {
        det3(minus(b, a), minus(c, a), minus(p, a))
    }

    fn forms(&[a, b, c]: &Corners<3>, d: [i128; 3]) -> Vec<impl Fn([i128; 3]) -> i128> {
        let edges = [(a, b), (b, c), (c, a)];
        edges
            .into_iter()
            .map(|(v, w)| move |p| det3(d, minus(v, p), minus(w, p)))
            .collect()
    }
}

/// Sign of an affine function at the shifted point.
fn sign<const D: usize>(g: impl Fn([i128; D]) -> i128, p: [i128; D]) -> i128 {
    let value = g(p);
    if value != 0 {
        return value.signum();
    }
    for axis in 0..D {
        let mut beside = p;
        beside[axis] += 1;
        let slope = g(beside);
        if slope != 0 {
            return slope.signum();
        }
    }
    0
}

/// A crossing: its exact distance, a fraction in lowest terms, and the facet's patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Numerator, not negative.
    pub num: i128,
    /// Denominator, positive.
    pub den: i128,
    /// What the winding number changes by.
    pub change: i32,
    /// Patch of the facet.
    pub patch: u16,
}

impl Cut {
    fn new(num: i128, den: i128, change: i32, patch: u16) -> Self {
        let (mut a, mut b) = (den, num);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Self {
            num: num / a,
            den: den / a,
            change,
            patch,
        }
    }

    /// The nearest f32, halves away from zero; 0 becomes the smallest normal number.
    /// By long division: no floating-point rounding but the last, exact, conversion.
    pub fn rounded(&self) -> f32 {
        if self.num == 0 {
            return f32::MIN_POSITIVE;
        }
        let mut shift = 0;
        let mut num = self.num;
        while num < self.den << 24 {
            num <<= 1;
            shift += 1;
        }
        // 2^24 <= num / den < 2^25: one bit more than f32 holds.
        let digits = (num / self.den + 1) / 2;
        let scale = 0.5f64.powi(shift - 1);
        (digits as f64 * scale) as f32
    }

    /// Exact comparison of the distances, patches aside.
    pub fn compare(&self, other: &Self) -> Ordering {
        // Continued fractions: no product of two large numbers.
        let (mut a, mut b, mut c, mut d) = (self.num, self.den, other.num, other.den);
        let mut flip = false;
        loop {
            let order = (a / b).cmp(&(c / d));
            let (ra, rc) = (a % b, c % d);
            let order = match order {
                Ordering::Equal if ra == 0 || rc == 0 => ra.cmp(&rc),
                other => other,
            };
            if order != Ordering::Equal || ra == 0 {
                return if flip { order.reverse() } else { order };
            }
            (a, b, c, d) = (b, ra, d, rc);
            flip = !flip;
        }
    }
}

/// All facets of a surface.
#[derive(Debug, Clone)]
pub struct Oracle<const D: usize> {
    facets: Vec<Corners<D>>,
    bounds: Vec<[[i128; D]; 2]>,
    patch: Vec<u16>,
    ray: [i128; D],
}

impl<const D: usize> Oracle<D>
where
    Space: Determinants<D>,
{
    /// The oracle of a snapped surface; `ray` is the direction of its rays.
    pub fn new(surface: &Snapped<D>, ray: [i32; D]) -> Self {
        assert!(
            ray.iter().all(|c| c.abs() <= 1 << 10) && ray != [0; D],
            "ray direction {ray:?} should be small and not zero"
        );
        let corners = |f: &[u32; D]| f.map(|v| surface.vertices[v as usize].map(i128::from));
        let facets: Vec<Corners<D>> = surface.facets.iter().map(corners).collect();
        let bounds = facets
            .iter()
            .map(|f| {
                let over = |pick: fn(i128, i128) -> i128| {
                    std::array::from_fn(|a| f.iter().map(|v| v[a]).reduce(pick).unwrap_or(0))
                };
                [over(i128::min), over(i128::max)]
            })
            .collect();
        Self {
            bounds,
            patch: (0..facets.len())
                .map(|f| surface.facet_patch.get(f).copied().unwrap_or(0))
                .collect(),
            facets,
            ray: ray.map(i128::from),
        }
    }

    /// The winding number at the shifted point: facets left less facets entered along the ray.
    pub fn winding(&self, p: [i32; D]) -> i32 {
        let p = p.map(i128::from);
        let mut sum = 0;
        for facet in &self.facets {
            let along = rise(facet, self.ray);
            // The crossing lies ahead iff the ray runs from the point's side to the other one.
            if along != 0
                && sign(|p| Space::side(facet, p), p) != along.signum()
                && hits(facet, self.ray, p)
            {
                sum += along.signum() as i32;
            }
        }
        sum
    }

    /// The sum of the signs, 1 with the normal and -1 against it, of the cuts just halfway.
    pub fn net_halfway(&self, from: [i32; D], step: [i32; D]) -> i32 {
        let from = from.map(i128::from);
        let step = step.map(i128::from);
        let to: [i128; D] = std::array::from_fn(|a| from[a] + step[a]);
        let mut net = 0;
        for facet in &self.facets {
            let side = |p| Space::side(facet, p);
            if sign(side, from) != sign(side, to)
                && side(from).abs() == side(to).abs()
                && hits(facet, step, from)
            {
                net += rise(facet, step).signum() as i32;
            }
        }
        net
    }

    /// All crossings between the shifted points of `from` and `from + step`.
    pub fn cuts(&self, from: [i32; D], step: [i32; D]) -> Vec<Cut> {
        let from = from.map(i128::from);
        let step = step.map(i128::from);
        let to: [i128; D] = std::array::from_fn(|a| from[a] + step[a]);
        let mut cuts = Vec::new();
        for (f, facet) in self.facets.iter().enumerate() {
            let [low, high] = self.bounds[f];
            let apart = |a: usize| from[a].min(to[a]) > high[a] || from[a].max(to[a]) < low[a];
            if (0..D).any(apart) {
                continue;
            }
            let side = |p| Space::side(facet, p);
            if sign(side, from) != sign(side, to) && hits(facet, step, from) {
                let (near, far) = (side(from), side(to));
                // Outward, the number falls.
                let change = -((far - near).signum() as i32);
                let (num, den) = (near.abs(), (near - far).abs());
                cuts.push(Cut::new(num, den, change, self.patch[f]));
            }
        }
        cuts
    }
}

/// Change of the side along `d`.
fn rise<const D: usize>(facet: &Corners<D>, d: [i128; D]) -> i128
where
    Space: Determinants<D>,
{
    let ahead = std::array::from_fn(|a| facet[0][a] + d[a]);
    Space::side(facet, ahead)
}

fn hits<const D: usize>(facet: &Corners<D>, d: [i128; D], p: [i128; D]) -> bool
where
    Space: Determinants<D>,
{
    let signs: Vec<i128> = Space::forms(facet, d)
        .into_iter()
        .map(|g| sign(g, p))
        .collect();
    signs[0] != 0 && signs.iter().all(|&s| s == signs[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_round_to_the_nearest_f32_and_compare_exactly() {
        for (num, den) in [
            (1, 3),
            (2, 3),
            (1, 1),
            (1, 1 << 60),
            (16777215, 16777217),
            (5, 8),
        ] {
            let cut = Cut::new(num, den, 1, 0);
            let nearest = (num as f64 / den as f64) as f32;
            assert_eq!(cut.rounded(), nearest, "{num}/{den}");
        }
        assert_eq!(
            Cut::new(0, 7, 1, 0).rounded(),
            f32::MIN_POSITIVE,
            "on the surface"
        );
        let close = [Cut::new(1 << 90, (1 << 91) + 1, 1, 0), Cut::new(1, 2, 1, 0)];
        assert_eq!(
            close[0].compare(&close[1]),
            Ordering::Less,
            "just below a half"
        );
        assert_eq!(
            close[1].compare(&close[0]),
            Ordering::Greater,
            "the other way"
        );
        assert_eq!(
            Cut::new(2, 4, 1, 0).compare(&close[1]),
            Ordering::Equal,
            "lowest terms"
        );
        assert_eq!(
            Cut::new(0, 4, 1, 0).compare(&close[1]),
            Ordering::Less,
            "zero"
        );
    }

    #[test]
    fn winding_of_a_square_and_its_shifted_boundary() {
        let square = Snapped {
            lattice: cutlink_mesher::snap::SnapLattice {
                origin: [0.0; 2],
                unit: 1.0,
            },
            vertices: vec![[0, 0], [0, 4], [4, 0], [4, 4]],
            facets: vec![[0, 2], [2, 3], [3, 1], [1, 0]],
            facet_patch: Vec::new(),
            patches: vec!["p".into()],
            caps: 0,
            report: Default::default(),
        };
        for ray in [[7, 3], [-5, 2], [-1, -9], [0, 1]] {
            let oracle = Oracle::new(&square, ray);
            // The shift is up and right: lower and left edges belong to the inside.
            for (p, inside) in [
                ([2, 2], 1),
                ([0, 0], 1),
                ([0, 3], 1),
                ([3, 0], 1),
                ([4, 1], 0),
                ([1, 4], 0),
                ([4, 4], 0),
                ([-1, 2], 0),
                ([5, 5], 0),
            ] {
                assert_eq!(oracle.winding(p), inside, "{p:?} along {ray:?}");
            }
            let cuts = oracle.cuts([6, 2], [-4, 0]);
            assert_eq!(cuts, [Cut::new(1, 2, 1, 0)], "half way into the square");
        }
    }
}
