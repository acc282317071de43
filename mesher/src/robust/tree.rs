//! The (solid) angle that a set of facets subtends at a point, by a tree of their moments, and how fast it changes,
//! by a tree of their rim.
//!
//! **Angle.** A node is replaced by its first two moments (Barill et al. 2018, §3.3) where the remainder of that
//! series is small: with all facets within R of the centre and the point at r, a facet's n·y/|y|^D differs from its
//! expansion to first order by at most R²/2 times its largest second derivative, which is 6/(r - R)⁴ in 3D and
//! 2/(r - R)³ in 2D (third derivatives of 1/|y| and ln |y|). These bounds add up to that of the sum.
//!
//! **Change.** The winding number less the angle changes continuously off the walls, also through caps. Its gradient
//! is the Biot–Savart integral along the rim: an edge of length L at a distance d adds at most L / 4πd² and at most
//! 1 / 2πd, in 2D an end 1 / 2πd. To the second derivatives it adds at most 2L / 4πd³ and 1 / πd², in 2D 1 / 2πd².

use super::{
    caps::boundary,
    lanes::{LANES, Walks},
    turn::{Turn, dot, minus, norm},
};
use crate::{
    constants::{CAP_FAR, CAP_ROUGH},
    exact::{Exact, Facet},
    snap::Snapped,
};
use std::f64::consts::PI;

/// Simplices in a leaf.
const LEAF: usize = 2;
/// Remainders that nodes may have, in turn, where a rough angle does not decide; at last none.
const FINER: [f64; 2] = [CAP_ROUGH, 0.0];

/// The caps of a surface and their rim; lengths in lattice units.
#[derive(Debug, Clone, PartialEq)]
pub struct CapTree<const D: usize> {
    /// Caps that have an area.
    pub(crate) caps: Tree<D>,
    /// Open edges, the second end given twice; in 2D ends of polylines, given twice.
    pub(crate) rim: Tree<D>,
}

/// A bounding volume hierarchy.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tree<const D: usize> {
    pub(crate) nodes: Vec<Node<D>>,
    pub(crate) simplices: Vec<[[i32; D]; D]>,
}

/// An angle over that of all directions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Angle {
    /// Its value, positive within a body whose facets point outward.
    pub value: f64,
    /// A bound on its error, without that of rounding (below 1e-10).
    pub error: f64,
}

/// A node and, behind it, its two subtrees; laid out for all backends.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub(crate) struct Node<const D: usize> {
    /// Centre of the simplices, by size.
    pub(super) center: [f64; D],
    /// No corner is further from the centre.
    radius: f64,
    /// Sum of the sizes: areas of caps, lengths of edges, numbers of ends.
    size: f64,
    /// Of caps, the sum of A n.
    first: [f64; D],
    /// Of caps, the sum of (c - center) ⊗ A n, c a facet's centre.
    second: [[f64; D]; D],
    /// Simplices, where it is a leaf: the first and the one behind the last; none elsewhere.
    pub(super) range: [u32; 2],
    /// The node to go on with when this one's subtree is done.
    pub(super) skip: u64,
}

/// A simplex' centre and size, and of a cap A n.
struct Moment<const D: usize> {
    center: [f64; D],
    size: f64,
    normal: [f64; D],
    corners: [[i32; D]; D],
}

/// All directions.
pub(super) fn sphere(dimensions: usize) -> f64 {
    if dimensions == 2 { 2.0 * PI } else { 4.0 * PI }
}

impl<const D: usize> CapTree<D> {
    /// Whether there are no caps.
    pub fn is_empty(&self) -> bool {
        self.rim.nodes.is_empty()
    }
}

impl<const D: usize> CapTree<D>
where
    Facet<D>: Exact<D>,
{
    /// The trees of a surface's caps and of their rim.
    pub fn new(surface: &Snapped<D>) -> Self {
        let caps = &surface.facets[surface.facets.len() - surface.caps..];
        let at = |v: u32| surface.vertices[v as usize];
        // Caps of collinear corners subtend nothing.
        let facets = caps.iter().map(|f| facet(f.map(at)));
        let facets = facets.filter(|m| m.size > 0.0).collect();
        let rim = boundary(caps);
        let edges = rim.iter().flat_map(|&([a, b], times)| {
            let mut corners = [at(b); D];
            corners[0] = at(a);
            (0..times.unsigned_abs()).map(move |_| edge(corners))
        });
        Self {
            caps: Tree::new(facets),
            rim: Tree::new(edges.collect()),
        }
    }

    /// A bound on |g| within `reach` of a point, or `enough` where it is at least that.
    pub fn bound(&self, p: [f64; D], reach: f64, enough: f64) -> f64 {
        // Beside a facet it takes up no more than half of all directions.
        let of = |&corners: &[[i32; D]; D]| {
            let m = facet(corners);
            let free = norm(minus(p, m.center)) - reach - m.radius(m.center);
            if free > 0.0 {
                share::<D>(m.size, free, D - 1).min(0.5)
            } else {
                0.5
            }
        };
        self.caps.sum_of(p, reach, enough, D - 1, of)
    }

    /// A bound on the gradient of W - g within `reach` of a point where no wall is, or `enough`
    /// where it is at least that.
    pub fn gradient(&self, p: [f64; D], reach: f64, enough: f64) -> f64 {
        self.of_rim(p, reach, enough, D - 1)
    }

    /// The same on its second derivatives along any direction.
    pub fn curvature(&self, p: [f64; D], reach: f64, enough: f64) -> f64 {
        let by = (D - 1) as f64;
        by * self.of_rim(p, reach, enough / by, D)
    }

    fn of_rim(&self, p: [f64; D], reach: f64, enough: f64, power: usize) -> f64 {
        let of = |corners: &[[i32; D]; D]| {
            let free = distance(corners, p) - reach;
            if free <= 0.0 {
                return f64::INFINITY;
            }
            let short = share::<D>(edge(*corners).size, free, power);
            if D == 2 {
                return short;
            }
            // Of a straight line without ends, or half of it: 2 / S r^(power - 1).
            short.min(share::<D>(2.0, free, power - 1))
        };
        self.rim.sum_of(p, reach, enough, power, of)
    }

    /// g at a point of the lattice: the caps' angle over that of all directions. Nodes whose
    /// series has a remainder of at most `tolerance` are replaced by it; with 0, none is. Ties go as in
    /// [`crate::exact`].
    pub fn angle(&self, p: [i32; D], tolerance: f64) -> Angle {
        let Tree { nodes, simplices } = &self.caps;
        let point = p.map(f64::from);
        let (mut far, mut error, mut near, mut at) = (0.0, 0.0, Turn::default(), 0);
        while let Some(node) = nodes.get(at) {
            let r = minus(node.center, point);
            let [remainder, _] = node.remainders(norm(r), 0.0);
            if remainder <= tolerance {
                far += node.far(r);
                error += remainder;
                at = node.skip as usize;
            } else {
                let [first, end] = node.range;
                for facet in &simplices[first as usize..end as usize] {
                    near.add_facet(facet, p);
                }
                at += 1;
            }
        }
        // In 3D the tangents are of half the angle.
        Angle {
            value: (far + (D - 1) as f64 * near.angle()) / sphere(D),
            error,
        }
    }

    /// The same at eight points, with the same bits. It pays off where they are near each other.
    pub fn angles(&self, points: &[[i32; D]; LANES], tolerance: f64) -> [Angle; LANES] {
        let walks = Walks {
            tree: &self.caps,
            points,
            tolerance,
        };
        let sums = walks.walk();
        std::array::from_fn(|lane| Angle {
            value: (sums.far[lane] + (D - 1) as f64 * sums.near[lane]) / sphere(D),
            error: sums.errors[lane],
        })
    }

    /// Whether a point of the lattice with winding number W is inside: |W - g| is at least a `half`, which is below
    /// 1/2 by more than rounding. `g` may be rough: where it does not decide, the angle is computed again.
    pub fn is_inside(&self, p: [i32; D], winding: i32, half: f64, mut g: Angle) -> bool {
        for tolerance in FINER {
            if let Some(inside) = g.decides(winding, half) {
                return inside;
            }
            g = self.angle(p, tolerance);
        }
        (f64::from(winding) - g.value).abs() >= half
    }
}

impl Angle {
    /// Whether |W - g| is at least a `half`, where the error leaves no doubt.
    pub fn decides(self, winding: i32, half: f64) -> Option<bool> {
        let size = (f64::from(winding) - self.value).abs();
        ((size - half).abs() > self.error).then_some(size >= half)
    }
}

impl<const D: usize> Tree<D> {
    fn new(mut moments: Vec<Moment<D>>) -> Self {
        let mut tree = Self {
            nodes: Vec::new(),
            simplices: Vec::new(),
        };
        if !moments.is_empty() {
            tree.build(&mut moments);
        }
        tree
    }

    fn build(&mut self, moments: &mut [Moment<D>]) {
        let at = self.nodes.len();
        let own = node(moments);
        let radius = own.radius;
        self.nodes.push(own);
        if moments.len() <= LEAF {
            let first = self.simplices.len();
            self.nodes[at].range = [first as u32, (first + moments.len()) as u32];
            self.simplices.extend(moments.iter().map(|m| m.corners));
        } else {
            let first = split(moments, radius);
            self.build(&mut moments[..first]);
            self.build(&mut moments[first..]);
        }
        self.nodes[at].skip = self.nodes.len() as u64;
    }

    /// A sum of bounds, `of` that of a simplex, or `enough` where it is at least that. Nodes further from the
    /// ball than [`CAP_FAR`] radii count as [`share`] of their size.
    fn sum_of(
        &self,
        p: [f64; D],
        reach: f64,
        enough: f64,
        power: usize,
        of: impl Fn(&[[i32; D]; D]) -> f64,
    ) -> f64 {
        let (mut sum, mut at) = (0.0, 0);
        while let Some(node) = self.nodes.get(at) {
            let free = norm(minus(p, node.center)) - reach - node.radius;
            if free > CAP_FAR * node.radius {
                sum += share::<D>(node.size, free, power);
                at = node.skip as usize;
            } else {
                let [first, end] = node.range;
                for simplex in &self.simplices[first as usize..end as usize] {
                    sum += of(simplex);
                }
                at += 1;
            }
            if sum >= enough {
                return enough;
            }
        }
        sum
    }
}

/// size / (S r^power), S all directions. With D - 1, what an area at a distance r subtends at most, and the gradient
/// due to a length, in 2D due to a number of ends; with D, the latter's derivative over D - 1.
fn share<const D: usize>(size: f64, r: f64, power: usize) -> f64 {
    // Products from the left: `powi` leaves their order, and so the last digit, open.
    let raised = (1..power).fold(r, |product, _| product * r);
    size / (sphere(D) * raised)
}

/// From a point to the segment between the first two corners.
fn distance<const D: usize>(corners: &[[i32; D]; D], p: [f64; D]) -> f64 {
    let [a, b] = [0, 1].map(|i| corners[i].map(f64::from));
    let (along, arm) = (minus(b, a), minus(p, a));
    let square = dot(along, along);
    let t = if square > 0.0 {
        (dot(along, arm) / square).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let mut off = arm;
    for i in 0..D {
        off[i] -= t * along[i];
    }
    norm(off)
}

impl<const D: usize> Moment<D> {
    fn radius(&self, center: [f64; D]) -> f64 {
        let corner = |c: &[i32; D]| norm(minus(c.map(f64::from), center));
        self.corners.iter().map(corner).fold(0.0, f64::max)
    }
}

fn center<const D: usize>(corners: &[[i32; D]; D], of: usize) -> [f64; D] {
    std::array::from_fn(|a| {
        let sum = corners[..of]
            .iter()
            .fold(0.0, |sum, c| sum + f64::from(c[a]));
        sum / of as f64
    })
}

fn facet<const D: usize>(corners: [[i32; D]; D]) -> Moment<D>
where
    Facet<D>: Exact<D>,
{
    let double = if D == 2 { 1.0 } else { 0.5 };
    let normal = Facet(corners).normal().map(|c| double * c as f64);
    Moment {
        center: center(&corners, D),
        size: norm(normal),
        normal,
        corners,
    }
}

/// An open edge, or in 2D an end.
fn edge<const D: usize>(corners: [[i32; D]; D]) -> Moment<D> {
    let ends = [0, 1].map(|i| corners[i].map(f64::from));
    Moment {
        center: center(&corners, 2),
        size: if D == 2 {
            1.0
        } else {
            norm(minus(ends[1], ends[0]))
        },
        normal: [0.0; D],
        corners,
    }
}

/// Sorts the simplices of a node of some radius in two parts, and returns the length of the first: large ones and
/// small ones, or halves along the axis on which they extend furthest.
fn split<const D: usize>(moments: &mut [Moment<D>], radius: f64) -> usize {
    let small = |m: &Moment<D>| m.radius(m.center) < 0.25 * radius;
    moments.sort_by_key(small);
    let large = moments.partition_point(|m| !small(m));
    if 0 < large && large < moments.len() {
        return large;
    }
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
    moments.len() / 2
}

fn node<const D: usize>(moments: &[Moment<D>]) -> Node<D> {
    let size: f64 = moments.iter().map(|m| m.size).sum();
    let mut center = [0.0; D];
    for m in moments {
        for a in 0..D {
            center[a] += m.size / size * m.center[a];
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
        size,
        first,
        second,
        range: [0; 2],
        skip: 0,
    }
}

impl<const D: usize> Node<D> {
    /// Bounds over all directions, seen from `length` away: on the remainder of [`Node::far`], and on its sum with that of
    /// a linear interpolation, of which `spread` is the part of a length squared (see [`super::view`]).
    #[inline(always)]
    pub(super) fn remainders(&self, length: f64, spread: f64) -> [f64; 2] {
        let free = length - self.radius;
        let (square, by) = (self.radius * self.radius, free * free);
        let scale = if D == 2 {
            self.size / (by * free * sphere(D))
        } else {
            3.0 * self.size / (by * by * sphere(D))
        };
        // Without a branch, for several points at once.
        let scale = if free <= self.radius {
            f64::INFINITY
        } else {
            scale
        };
        [scale * square, scale * (square + spread)]
    }

    /// The angle by the first two moments, `r` away: A n · r / r^D, and its gradient along the arms.
    #[inline(always)]
    pub(super) fn far(&self, r: [f64; D]) -> f64 {
        let square = dot(r, r);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_hold_all_facets_and_skips_go_forward() {
        let CapTree { caps: tree, rim } = disc(100);
        assert_eq!(rim.simplices.len(), 100, "the spokes are no part of it");
        let mut next = 0;
        for (at, node) in tree.nodes.iter().enumerate() {
            let [first, end] = node.range;
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
        CapTree::new(&snapped(vertices, facets))
    }

    #[test]
    fn a_disc_has_the_solid_angle_of_a_cone() {
        let tree = disc(1000);
        for height in [1, 1000, 300_000, 1_000_000, 5_000_000, 90_000_000] {
            let z = f64::from(height) / 1e6;
            // The cone's solid angle over 4π; the facets are seen from their outer side.
            let want = -0.5 * (1.0 - z / (1.0 + z * z).sqrt());
            for tolerance in [1e-2, 1e-3, 1e-6, 0.0] {
                let got = tree.angle([0, 0, height], tolerance);
                let error = got.error + 2e-5;
                assert!(
                    (got.value - want).abs() <= error,
                    "{height}: {got:?} for {want}"
                );
                assert!(got.error <= 100.0 * tolerance, "{height}: {got:?}");
            }
            let got = tree.angle([0, 0, height], 0.0).value;
            let bound = tree.bound([0.0, 0.0, f64::from(height)], 0.0, 1e9);
            assert!(bound >= got.abs(), "{height}: {bound} bounds {got}");
        }
        let on_it = tree.angle([100, 100, 0], 0.0).value;
        assert!((on_it.abs() - 0.5).abs() < 1e-9, "{on_it}");
    }

    /// Caps that are a cube by themselves: a whole turn within, none outside, and on faces, edges and corners either, by the
    /// tie rule.
    #[test]
    fn ties_on_the_edges_and_corners_of_a_cube_are_whole_turns() {
        let corner = |i: i32| [i & 1, i >> 1 & 1, i >> 2].map(|c| 100 * c);
        let quads = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let halves = quads.map(|[a, b, c, d]: [u32; 4]| [[a, b, c], [a, c, d]]);
        let cube = CapTree::new(&snapped((0..8).map(corner).collect(), halves.concat()));
        for i in 0..5 * 5 * 5 {
            let p = [i % 5, i / 5 % 5, i / 25].map(|c| 50 * c - 50);
            let inside = p.iter().all(|c| (0..100).contains(c));
            let got = cube.angle(p, 0.0).value;
            assert!((got - f64::from(inside)).abs() < 1e-4, "{p:?}: {got}");
        }
    }

    /// On the axis of a loop of radius a the field is a² / 2 (a² + z²)^(3/2) times that of the angle over 4π.
    #[test]
    fn the_gradient_is_bounded_by_that_of_a_loop_of_current() {
        let tree = disc(1000);
        for z in [0, 100_000, 700_000, 3_000_000] {
            let h = f64::from(z) / 1e6;
            let want = 0.5 / (1.0 + h * h).powf(1.5) / 1e6;
            let got = tree.gradient([0.0, 0.0, f64::from(z)], 0.0, 1e9);
            // The bound leaves out that the parts point in different directions: 1 / cos.
            let slack = got / want * (1.0 + h * h).powf(-0.5);
            assert!((0.999..1.8).contains(&slack), "{z}: {got} bounds {want}");
        }
    }

    /// The remainder's bound holds for nodes of any shape, and is no idle one.
    #[test]
    fn replaced_nodes_are_as_accurate_as_they_say() {
        let mut state = 7u64;
        let mut random = |most: i32| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((state >> 33) as i64 % i64::from(2 * most + 1)) as i32 - most
        };
        let mut worst: f64 = 0.0;
        for _ in 0..300 {
            let vertices: Vec<[i32; 3]> = (0..24)
                .map(|_| [random(10_000), random(10_000), random(3_000)])
                .collect();
            let facets: Vec<[u32; 3]> = (0..8).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
            let tree = CapTree::new(&snapped(vertices, facets));
            let p = [random(60_000), random(60_000), random(60_000)];
            let (rough, exact) = (tree.angle(p, 1.0), tree.angle(p, 0.0));
            assert_eq!(exact.error, 0.0);
            let off = (rough.value - exact.value).abs();
            assert!(off <= rough.error + 1e-12, "{p:?}: {rough:?} for {exact:?}");
            if rough.error > 0.0 {
                worst = worst.max(off / rough.error);
            }
        }
        assert!(worst > 0.01, "at most {worst} of the bound");
    }

    fn snapped(vertices: Vec<[i32; 3]>, facets: Vec<[u32; 3]>) -> Snapped<3> {
        Snapped {
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
        }
    }
}
