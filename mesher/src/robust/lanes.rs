//! Sums of (solid) angles at several points at once: the operations of [`mod@super::turn`] in lanes, so with the same
//! bits, on the vector units of the CPU.

use super::{
    tree::{Node, Tree},
    turn::{Turn, dot, minus, norm, tangent},
};
use crate::exact::{Exact, Facet};
use std::array::from_fn;

/// Points at once.
pub(super) const LANES: usize = 8;

/// A cap that is near points.
#[derive(Debug, Clone, Copy)]
pub(super) struct NearCap<const D: usize> {
    corners: [[i32; D]; D],
    normal: [i64; D],
}

impl<const D: usize> NearCap<D>
where
    Facet<D>: Exact<D>,
{
    pub(super) fn new(corners: &[[i32; D]; D]) -> Self {
        Self {
            corners: *corners,
            normal: Facet(*corners).normal(),
        }
    }
}

/// The angles of caps at some points, in 3D half of them.
pub(super) fn angles<const D: usize>(
    caps: &[NearCap<D>],
    points: &[[i32; D]; LANES],
) -> [f64; LANES]
where
    Facet<D>: Exact<D>,
{
    pulp::Arch::new().dispatch(Sum { caps, points })
}

/// The work of [`angles`], compiled for the machine's vectors.
struct Sum<'a, const D: usize> {
    caps: &'a [NearCap<D>],
    points: &'a [[i32; D]; LANES],
}

impl<const D: usize> pulp::NullaryFnOnce for Sum<'_, D>
where
    Facet<D>: Exact<D>,
{
    type Output = [f64; LANES];

    #[inline(always)]
    fn call(self) -> [f64; LANES] {
        let mut sums = Turns::new();
        for cap in self.caps {
            sums.add(cap.tangents(self.points));
        }
        sums.angles()
    }
}

/// The angles of nodes at some points, by their moments; in terms of [`sphere`](super::tree::sphere).
pub(super) fn moments<const D: usize>(
    nodes: &[&Node<D>],
    points: &[[i32; D]; LANES],
) -> [f64; LANES] {
    pulp::Arch::new().dispatch(Moments { nodes, points })
}

struct Moments<'a, const D: usize> {
    nodes: &'a [&'a Node<D>],
    points: &'a [[i32; D]; LANES],
}

impl<const D: usize> pulp::NullaryFnOnce for Moments<'_, D> {
    type Output = [f64; LANES];

    #[inline(always)]
    fn call(self) -> [f64; LANES] {
        let mut sums = [0.0; LANES];
        for node in self.nodes {
            for (sum, p) in sums.iter_mut().zip(self.points) {
                *sum += node.far(minus(node.center, p.map(f64::from)));
            }
        }
        sums
    }
}

/// Walks of some points through a tree: see [`CapTree::angle`](super::CapTree::angle), whose operations each has, in
/// their order.
pub(super) struct Walks<'a, const D: usize> {
    pub(super) tree: &'a Tree<D>,
    pub(super) points: &'a [[i32; D]; LANES],
    pub(super) tolerance: f64,
}

/// What they add up.
pub(super) struct Walked {
    /// By moments.
    pub(super) far: [f64; LANES],
    /// Remainders of the moments.
    pub(super) errors: [f64; LANES],
    /// By simplices, in 3D half the angle.
    pub(super) near: [f64; LANES],
}

impl<const D: usize> Walks<'_, D>
where
    Facet<D>: Exact<D>,
{
    pub(super) fn walk(self) -> Walked {
        pulp::Arch::new().dispatch(self)
    }
}

impl<const D: usize> pulp::NullaryFnOnce for Walks<'_, D>
where
    Facet<D>: Exact<D>,
{
    type Output = Walked;

    #[inline(always)]
    fn call(self) -> Walked {
        let Tree { nodes, simplices } = self.tree;
        let [mut far, mut errors] = [[0.0; LANES]; 2];
        let mut near = Turns::new();
        // The node that each point goes on with.
        let (mut next, mut at) = ([0; LANES], 0);
        while let Some(node) = nodes.get(at) {
            let mut remainders = [0.0; LANES];
            for (remainder, p) in remainders.iter_mut().zip(self.points) {
                let length = norm(minus(node.center, p.map(f64::from)));
                [*remainder, _] = node.remainders(length, 0.0);
            }
            let (mut opens, mut ends) = ([false; LANES], [false; LANES]);
            for lane in 0..LANES {
                let (comes, is_far) = (next[lane] <= at as u64, remainders[lane] <= self.tolerance);
                (opens[lane], ends[lane]) = (comes & !is_far, comes & is_far);
            }
            if ends != [false; LANES] {
                for lane in 0..LANES {
                    let moment = node.far(minus(node.center, self.points[lane].map(f64::from)));
                    let (sum, error) = (far[lane] + moment, errors[lane] + remainders[lane]);
                    far[lane] = if ends[lane] { sum } else { far[lane] };
                    errors[lane] = if ends[lane] { error } else { errors[lane] };
                    next[lane] = if ends[lane] { node.skip } else { next[lane] };
                }
            }
            if opens == [false; LANES] {
                at = next.into_iter().fold(u64::MAX, u64::min) as usize;
                continue;
            }
            let [first, end] = node.range;
            for corners in &simplices[first as usize..end as usize] {
                let mut tangents = NearCap::new(corners).tangents(self.points);
                for lane in (0..LANES).filter(|&lane| !opens[lane]) {
                    // No angle: it does not count.
                    (tangents[0][lane], tangents[1][lane]) = (0.0, 0.0);
                }
                near.add(tangents);
            }
            at += 1;
        }
        Walked {
            far,
            errors,
            near: near.angles(),
        }
    }
}

impl<const D: usize> NearCap<D>
where
    Facet<D>: Exact<D>,
{
    /// As [`tangent`]: numerators, then denominators.
    #[inline(always)]
    fn tangents(&self, points: &[[i32; D]; LANES]) -> [[f64; LANES]; 2] {
        let [mut det, mut along] = [[0.0; LANES]; 2];
        let mut exact = true;
        for lane in 0..LANES {
            let p = points[lane];
            // In 128 bits it may be larger, or a tie.
            let mut value = 0i64;
            let mut size = 0i32;
            for a in 0..D {
                let step = p[a].wrapping_sub(self.corners[0][a]);
                value = value.wrapping_add(self.normal[a].wrapping_mul(i64::from(step)));
                for corner in &self.corners {
                    size |= corner[a].wrapping_sub(p[a]).wrapping_abs();
                }
            }
            exact &= (value != 0) & (size as u32 <= NARROW);
            det[lane] = -(value as f64);
            let v = self
                .corners
                .map(|c| minus(c.map(f64::from), p.map(f64::from)));
            along[lane] = if D == 2 {
                dot(v[0], v[1])
            } else {
                let [a, b, c] = [v[0], v[1], v[2 % D]];
                let (la, lb, lc) = (norm(a), norm(b), norm(c));
                la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
            };
        }
        if !exact {
            for lane in 0..LANES {
                [det[lane], along[lane]] = tangent(&self.corners, points[lane]);
            }
        }
        [det, along]
    }
}

/// Largest coordinate, as a mask of bits, up to which values of planes fit 64 bits: see [`crate::exact::Plane::is_narrow`].
const NARROW: u32 = (1 << 19) - 1;

/// A [`Turn`] in each lane.
struct Turns {
    turns: [i64; LANES],
    re: [f64; LANES],
    im: [f64; LANES],
}

impl Turns {
    #[inline(always)]
    fn new() -> Self {
        Self {
            turns: [0; LANES],
            re: [1.0; LANES],
            im: [0.0; LANES],
        }
    }

    /// As [`Turn::add`], without branches.
    #[inline(always)]
    fn add(&mut self, [det, along]: [[f64; LANES]; 2]) {
        for lane in 0..LANES {
            let (y, x) = (det[lane], along[lane]);
            let size = larger(x.abs(), y.abs());
            let (x, y) = (x / size, y / size);
            let (was_re, was_im) = (self.re[lane], self.im[lane]);
            let re = was_re * x - was_im * y;
            let sum = was_re * y + was_im * x;
            let side = if was_im == 0.0 { y } else { was_im };
            let straight = (was_re < 0.0) & (x < 0.0) & (was_im == 0.0) & (y == 0.0);
            let im = if (sum == 0.0) & !straight {
                sum.copysign(side)
            } else {
                sum
            };
            let [before, added, now] = [was_im, y, im].map(|x| (x.to_bits() >> 63) as i64);
            let passes = i64::from(before == added) & i64::from(now != before);
            let scale = if larger(re.abs(), im.abs()) < 1e-100 {
                1e100
            } else {
                1.0
            };
            let counts = size != 0.0;
            self.turns[lane] += if counts { passes * (1 - 2 * before) } else { 0 };
            self.re[lane] = if counts { re * scale } else { was_re };
            self.im[lane] = if counts { im * scale } else { was_im };
        }
    }

    #[inline(always)]
    fn angles(&self) -> [f64; LANES] {
        from_fn(|lane| Turn::new(self.turns[lane] as i32, self.re[lane], self.im[lane]).angle())
    }
}

#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
