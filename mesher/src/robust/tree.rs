//! The (solid) angle that a set of facets subtends at a point, by a tree of their moments.

use crate::{
    exact::{Exact, Facet, Plane},
    snap::Snapped,
};
use std::f64::consts::{FRAC_PI_4, PI};

/// Facets in a leaf.
const LEAF: usize = 8;
/// A node further than this many radii is replaced by its moments (Barill et al. 2018, §3.3,
/// with 2: an error of 0.01 for a disc; with 3 of 0.002).
const FAR: f64 = 3.0;

/// Where a point is taken to be, as a tie: off the edges of caps, in the directions of
/// [`crate::exact`], by less than any distance that counts.
const ASIDE: [f64; 3] = [1.0 / 64.0, 1.0 / 8192.0, 1.0 / 1_048_576.0];

/// A bounding volume hierarchy over the caps of a surface; lengths in lattice units.
#[derive(Debug, Clone, PartialEq)]
pub struct CapTree<const D: usize> {
    pub(crate) nodes: Vec<Node<D>>,
    pub(crate) facets: Vec<[[i32; D]; D]>,
}

/// A node and, behind it, its two subtrees; laid out for all backends.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub(crate) struct Node<const D: usize> {
    /// Centre of the facets, by area.
    center: [f64; D],
    /// No corner is further from the centre.
    radius: f64,
    /// Sum of the areas.
    area: f64,
    /// Sum of A n.
    first: [f64; D],
    /// Sum of (c - center) ⊗ A n, c a facet's centre.
    second: [[f64; D]; D],
    /// Facets, where it is a leaf: the first and the one behind the last; none elsewhere.
    facets: [u32; 2],
    /// The node to go on with when this one's subtree is done.
    skip: u64,
}

/// A facet's centre and A n.
struct Moment<const D: usize> {
    center: [f64; D],
    normal: [f64; D],
    corners: [[i32; D]; D],
}

fn norm<const D: usize>(v: [f64; D]) -> f64 {
    v.iter().fold(0.0, |sum, c| sum + c * c).sqrt()
}

fn minus<const D: usize>(a: [f64; D], b: [f64; D]) -> [f64; D] {
    std::array::from_fn(|i| a[i] - b[i])
}

fn dot<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
    (0..D).fold(0.0, |sum, i| sum + a[i] * b[i])
}

/// x^power by products from the left: `powi` leaves their order, and so the last digit, open.
fn raised(x: f64, power: usize) -> f64 {
    (1..power).fold(x, |product, _| product * x)
}

impl<const D: usize> CapTree<D> {
    /// Whether there are no caps.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

impl<const D: usize> CapTree<D>
where
    Facet<D>: Exact<D>,
{
    /// The tree of a surface's caps.
    pub fn new(surface: &Snapped<D>) -> Self {
        let first = surface.facets.len() - surface.caps;
        let mut moments: Vec<Moment<D>> = surface.facets[first..]
            .iter()
            .map(|f| moment(f.map(|v| surface.vertices[v as usize])))
            .collect();
        let mut tree = Self {
            nodes: Vec::new(),
            facets: Vec::new(),
        };
        if !moments.is_empty() {
            tree.build(&mut moments);
        }
        tree
    }

    fn build(&mut self, moments: &mut [Moment<D>]) {
        let at = self.nodes.len();
        self.nodes.push(node(moments));
        if moments.len() <= LEAF {
            let first = self.facets.len();
            self.nodes[at].facets = [first as u32, (first + moments.len()) as u32];
            self.facets.extend(moments.iter().map(|m| m.corners));
        } else {
            let extent = |a: usize| {
                let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
                for m in moments.iter() {
                    low = low.min(m.center[a]);
                    high = high.max(m.center[a]);
                }
                high - low
            };
            let axis = (0..D).fold(0, |best, a| if extent(a) > extent(best) { a } else { best });
            moments.sort_by(|a, b| a.center[axis].total_cmp(&b.center[axis]));
            let (low, high) = moments.split_at_mut(moments.len() / 2);
            self.build(low);
            self.build(high);
        }
        self.nodes[at].skip = self.nodes.len() as u64;
    }

    fn of(&self, node: &Node<D>) -> &[[[i32; D]; D]] {
        let [first, end] = node.facets;
        &self.facets[first as usize..end as usize]
    }

    /// A bound on |g| within `reach` of a point, or `enough` where it is at least that.
    pub fn bound(&self, p: [f64; D], reach: f64, enough: f64) -> f64 {
        // Beside a facet it takes up no more than half of all directions.
        self.sum_of(p, reach, enough, 1.0, D - 1, 0.5)
    }

    /// A bound on |g(x) - g(p)| for x within `reach` of p, or `enough` where it is at least that:
    /// the gradient of n·r / r^D is at most (D - 1) / r^D.
    pub fn variation(&self, p: [f64; D], reach: f64, enough: f64) -> f64 {
        let steepest = (D - 1) as f64 * reach;
        self.sum_of(p, reach, enough, steepest, D, f64::INFINITY)
    }

    /// Sum of `factor` A / (S r^power) over the facets, S all directions, r the least distance
    /// from a ball; of a facet it is no more than `most`, and that where it meets the ball.
    fn sum_of(
        &self,
        p: [f64; D],
        reach: f64,
        enough: f64,
        factor: f64,
        power: usize,
        most: f64,
    ) -> f64 {
        let sphere = if D == 2 { 2.0 * PI } else { 4.0 * PI };
        let of = |area: f64, free: f64| factor * area / (sphere * raised(free, power));
        let (mut sum, mut at) = (0.0, 0);
        while let Some(node) = self.nodes.get(at) {
            let free = norm(minus(p, node.center)) - reach - node.radius;
            if free > node.radius {
                sum += of(node.area, free);
                at = node.skip as usize;
            } else {
                let near = |&facet: &[[i32; D]; D]| {
                    let m = moment(facet);
                    let free = norm(minus(p, m.center)) - reach - m.radius(m.center);
                    if free > 0.0 {
                        of(norm(m.normal), free).min(most)
                    } else {
                        most
                    }
                };
                sum += self.of(node).iter().map(near).sum::<f64>();
                at += 1;
            }
            if sum >= enough {
                return enough;
            }
        }
        sum
    }

    /// g at a point of the lattice: the caps' angle over that of all directions, positive
    /// within a body whose facets point outward. Ties go as in [`crate::exact`].
    pub fn angle(&self, p: [i32; D]) -> f64 {
        let point = p.map(f64::from);
        let (mut far, mut near, mut at) = (0.0, Turn::default(), 0);
        while let Some(node) = self.nodes.get(at) {
            let r = minus(node.center, point);
            let square = dot(r, r);
            if square > FAR * FAR * node.radius * node.radius {
                far += node.far(r, square);
                at = node.skip as usize;
            } else {
                for facet in self.of(node) {
                    near.add(tangent(facet, p));
                }
                at += 1;
            }
        }
        // In 3D the tangents are of half the angle.
        let all = if D == 2 { 2.0 * PI } else { 4.0 * PI };
        (far + (D - 1) as f64 * near.angle()) / all
    }
}

impl<const D: usize> Moment<D> {
    fn radius(&self, center: [f64; D]) -> f64 {
        let corner = |c: &[i32; D]| norm(minus(c.map(f64::from), center));
        self.corners.iter().map(corner).fold(0.0, f64::max)
    }
}

fn moment<const D: usize>(corners: [[i32; D]; D]) -> Moment<D>
where
    Facet<D>: Exact<D>,
{
    let double = if D == 2 { 1.0 } else { 0.5 };
    let sum = |a: usize| corners.iter().map(|c| f64::from(c[a])).sum::<f64>();
    Moment {
        center: std::array::from_fn(|a| sum(a) / D as f64),
        normal: Facet(corners).normal().map(|c| double * c as f64),
        corners,
    }
}

fn node<const D: usize>(moments: &[Moment<D>]) -> Node<D> {
    let areas: Vec<f64> = moments.iter().map(|m| norm(m.normal)).collect();
    let area: f64 = areas.iter().sum();
    let mut center = [0.0; D];
    for (m, &own) in moments.iter().zip(&areas) {
        let share = if area > 0.0 {
            own / area
        } else {
            1.0 / moments.len() as f64
        };
        for a in 0..D {
            center[a] += share * m.center[a];
        }
    }
    let (mut first, mut second) = ([0.0; D], [[0.0; D]; D]);
    for m in moments {
        let arm = minus(m.center, center);
        for a in 0..D {
            first[a] += m.normal[a];
            for b in 0..D {
                second[a][b] += arm[a] * m.normal[b];
            }
        }
    }
    Node {
        center,
        radius: moments.iter().map(|m| m.radius(center)).fold(0.0, f64::max),
        area,
        first,
        second,
        facets: [0; 2],
        skip: 0,
    }
}

impl<const D: usize> Node<D> {
    /// The angle by the first two moments: A n · r / r^D, and its gradient along the arms.
    fn far(&self, r: [f64; D], square: f64) -> f64 {
        let power = if D == 2 {
            square
        } else {
            square * square.sqrt()
        };
        let mut trace = 0.0;
        let mut stretch = 0.0;
        for a in 0..D {
            trace += self.second[a][a];
            for b in 0..D {
                stretch += r[a] * self.second[a][b] * r[b];
            }
        }
        (dot(self.first, r) + trace - D as f64 * stretch / square) / power
    }
}

/// A sum of angles, as whole turns and a complex number that has the rest as its argument.
#[derive(Clone, Copy)]
struct Turn {
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

impl Turn {
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
        if im == 0.0 {
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

    fn angle(&self) -> f64 {
        2.0 * PI * f64::from(self.turns) + angle(self.im, self.re)
    }
}

/// The tangent of the angle of one facet, in 3D of half of it (Van Oosterom & Strackee
/// 1983, eq. 8), as numerator and denominator; the side of the facet's plane is exact.
fn tangent<const D: usize>(corners: &[[i32; D]; D], p: [i32; D]) -> [f64; 2]
where
    Facet<D>: Exact<D>,
{
    // Seen from p: narrow where the facet is near.
    let facet = Facet(*corners).relative_to(p);
    let plane = Plane::new(&facet, 0);
    let value = plane.value([0; D]);
    // det(a, b, c) = -N·(p - a); a tie keeps the sign of the perturbed point.
    let size = value.unsigned_abs() as f64;
    let det = if plane.outer(value) { -size } else { size };
    let v = facet
        .0
        .map(|c| minus(c.map(f64::from), std::array::from_fn(|a| ASIDE[a])));
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

    #[test]
    fn powers_are_products() {
        let x = 1.1;
        assert_eq!(raised(x, 1).to_bits(), x.to_bits());
        assert_eq!(raised(x, 2).to_bits(), (x * x).to_bits());
        assert_eq!(raised(x, 3).to_bits(), (x * x * x).to_bits());
    }

    #[test]
    fn leaves_hold_all_facets_and_skips_go_forward() {
        let tree = disc(100);
        let mut next = 0;
        for (at, node) in tree.nodes.iter().enumerate() {
            let [first, end] = node.facets;
            assert!(node.skip > at as u64 && node.skip <= tree.nodes.len() as u64);
            let is_leaf = first < end;
            assert_eq!(is_leaf, node.skip == at as u64 + 1, "a leaf has no subtree");
            if is_leaf {
                assert_eq!(first, next, "in order");
                next = end;
            }
        }
        assert_eq!(next, 100, "each in one leaf");
    }

    /// A fan over a circle in the plane z = 0 of a sphere's boundary, as caps.
    fn disc(corners: i32) -> CapTree<3> {
        let at = |i: i32| {
            let turn = 2.0 * PI * f64::from(i) / f64::from(corners);
            [(1e6 * turn.cos()) as i32, (1e6 * turn.sin()) as i32, 0]
        };
        let mut vertices: Vec<[i32; 3]> = (0..corners).map(at).collect();
        vertices.push([0, 0, 0]);
        let facets: Vec<[u32; 3]> = (0..corners as u32)
            .map(|i| [i, (i + 1) % corners as u32, corners as u32])
            .collect();
        CapTree::new(&Snapped {
            lattice: crate::snap::SnapLattice {
                origin: [0.0; 3],
                unit: 1.0,
            },
            vertices,
            caps: facets.len(),
            facets,
            facet_patch: Vec::new(),
            patches: vec!["p".into()],
            report: crate::snap::SnapReport::default(),
        })
    }

    #[test]
    fn a_disc_has_the_solid_angle_of_a_cone() {
        let tree = disc(1000);
        for height in [1, 1000, 300_000, 1_000_000, 5_000_000, 90_000_000] {
            let z = f64::from(height) / 1e6;
            // The cone's solid angle over 4π; the facets are seen from their outer side.
            let want = -0.5 * (1.0 - z / (1.0 + z * z).sqrt());
            let got = tree.angle([0, 0, height]);
            let error = if height < 10_000 { 2e-5 } else { 1e-3 };
            assert!((got - want).abs() < error, "{height}: {got} for {want}");
            let bound = tree.bound([0.0, 0.0, f64::from(height)], 0.0, 1e9);
            assert!(bound >= got.abs(), "{height}: {bound} bounds {got}");
        }
        assert!(
            (tree.angle([100, 100, 0]).abs() - 0.5).abs() < 1e-9,
            "on it"
        );
    }
}
