//! The angle of the caps in all points of a small box, from one walk through their tree.
//!
//! A node is *far* where both the remainder of its moments' series (see [`mod@super::tree`]) and that of linear
//! interpolation between the corners of the box are small in all of the box: it is summed up in the corners. The
//! simplices of the other nodes are *near*: each point adds their angles. So a point costs an interpolation and the caps
//! within a few edges of the box, where a walk of its own would also visit the nodes around them.
//!
//! **Error.** Within a box of edge h, linear interpolation along each of the D axes is off by at most D h²/8 times a
//! second derivative. Those of the angle of an area A, no part of which is nearer than d, are at most 6 A / d⁴ in 3D and
//! 2 A / d³ in 2D: the terms that, times R²/2, bound the remainder of the series. So R² + D h²/4 in place of R² bounds
//! both together.

use super::{
    lanes::{LANES, NearCap, angles, moments},
    tree::{Angle, CapTree, sphere},
    turn::{minus, norm},
};
use crate::exact::{Exact, Facet};
use std::array::from_fn;

/// The caps seen from a box of lattice points.
#[derive(Debug)]
pub struct CapView<const D: usize> {
    low: [i32; D],
    edge: i32,
    /// Angle of the far nodes in the corners of the box, x fastest.
    far: [f64; 8],
    /// Bounds on its error: in the corners, and interpolated.
    errors: [f64; 2],
    /// Simplices that are near.
    near: Vec<NearCap<D>>,
}

impl<const D: usize> CapTree<D>
where
    Facet<D>: Exact<D>,
{
    /// The caps seen from the points between `low` and `low + edge` on each axis. Far nodes have an error of at most
    /// `tolerance` each. `None` where more than `most` simplices are near. Cost: one walk through the tree.
    pub fn view(
        &self,
        low: [i32; D],
        edge: i32,
        tolerance: f64,
        most: usize,
    ) -> Option<CapView<D>> {
        let length = f64::from(edge);
        let middle = low.map(|c| f64::from(c) + 0.5 * length);
        let reach = 0.5 * length * (D as f64).sqrt();
        let spread = D as f64 * length * length / 4.0;
        let mut view = CapView {
            low,
            edge,
            far: [0.0; 8],
            errors: [0.0; 2],
            near: Vec::new(),
        };
        let (mut far, mut at) = (Vec::new(), 0);
        while let Some(node) = self.caps.nodes.get(at) {
            let distance = norm(minus(node.center, middle)) - reach;
            let [series, both] = node.remainders(distance, spread);
            if both <= tolerance {
                view.errors[0] += series;
                view.errors[1] += both;
                far.push(node);
                at = node.skip as usize;
            } else {
                let [first, end] = node.range;
                let simplices = &self.caps.simplices[first as usize..end as usize];
                if view.near.len() + simplices.len() > most {
                    return None;
                }
                view.near.extend(simplices.iter().map(NearCap::new));
                at += 1;
            }
        }
        view.far = moments(&far, &view.corners());
        Some(view)
    }
}

impl<const D: usize> CapView<D>
where
    Facet<D>: Exact<D>,
{
    fn corner(&self, corner: usize) -> [i32; D] {
        from_fn(|a| self.low[a] + (corner >> a & 1) as i32 * self.edge)
    }

    /// The corners; in 2D each twice.
    fn corners(&self) -> [[i32; D]; LANES] {
        from_fn(|corner| self.corner(corner % (1 << D)))
    }

    /// g at some points, given that of the far nodes there.
    fn with_near(&self, far: [f64; LANES], points: &[[i32; D]; LANES]) -> [f64; LANES] {
        let near = angles(&self.near, points);
        from_fn(|lane| (far[lane] + (D - 1) as f64 * near[lane]) / sphere(D))
    }

    /// g in the corners of the box, x fastest, and a bound on the errors.
    pub fn in_corners(&self) -> ([f64; 8], f64) {
        (self.with_near(self.far, &self.corners()), self.errors[0])
    }

    /// g at eight points of the box.
    pub fn angles(&self, points: &[[i32; D]; LANES]) -> [Angle; LANES] {
        let edge = f64::from(self.edge);
        let far = points.map(|p| {
            let t: [f64; D] = from_fn(|a| f64::from(p[a] - self.low[a]) / edge);
            between(self.far, t)
        });
        let error = self.errors[1];
        self.with_near(far, points)
            .map(|value| Angle { value, error })
    }
}

/// Linear along each axis between values in the corners of a box, x fastest; `t` in lengths of its edges.
pub fn between<const D: usize>(mut values: [f64; 8], t: [f64; D]) -> f64 {
    for axis in (0..D).rev() {
        for i in 0..1 << axis {
            values[i] += t[axis] * (values[i + (1 << axis)] - values[i]);
        }
    }
    values[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snap::{SnapLattice, SnapReport, Snapped};

    /// Numbers from -most to most, the same every time.
    struct Random(u64);

    impl Random {
        fn next(&mut self, most: i32) -> i32 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((self.0 >> 33) as i64 % i64::from(2 * most + 1)) as i32 - most
        }

        fn tree(&mut self, caps: u32, reach: i32, size: i32) -> CapTree<3> {
            let mut vertices = Vec::new();
            for _ in 0..caps {
                let at: [i32; 3] = from_fn(|_| self.next(reach));
                vertices.extend((0..3).map(|_| at.map(|c| c + self.next(size))));
            }
            CapTree::new(&Snapped {
                lattice: SnapLattice {
                    origin: [0.0; 3],
                    unit: 1.0,
                },
                vertices,
                caps: caps as usize,
                facets: (0..caps).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
                facet_patch: Vec::new(),
                patches: vec!["p".into()],
                report: SnapReport::default(),
            })
        }
    }

    fn points(low: [i32; 3], edge: i32) -> [[i32; 3]; LANES] {
        from_fn(|i| from_fn(|a| low[a] + edge * ((i >> a & 1) as i32 + (i % 3 == a) as i32) / 2))
    }

    /// The bound holds for caps of any shape and boxes near and far, and is no idle one: a fiftieth of it does not hold,
    /// though the errors of forty caps mostly cancel.
    #[test]
    fn views_are_as_accurate_as_they_say() {
        let mut random = Random(7);
        let mut worst: f64 = 0.0;
        for _ in 0..400 {
            let tree = random.tree(40, 20_000, 2_000);
            let low = from_fn(|_| random.next(30_000));
            let edge = 3 * (random.next(700).abs() + 1);
            let view = tree.view(low, edge, 1e-3, usize::MAX).expect("any number");
            let points = points(low, edge);
            for (p, rough) in points.into_iter().zip(view.angles(&points)) {
                let exact = tree.angle(p, 0.0);
                let off = (rough.value - exact.value).abs();
                assert!(off <= rough.error + 1e-12, "{p:?}: {rough:?} for {exact:?}");
                if rough.error > 0.0 {
                    worst = worst.max(off / rough.error);
                }
            }
            let (corners, error) = view.in_corners();
            for (corner, value) in corners.into_iter().enumerate() {
                let exact = tree.angle(view.corner(corner), 0.0).value;
                assert!(
                    (value - exact).abs() <= error + 1e-12,
                    "{value} for {exact}"
                );
            }
        }
        assert!(worst > 0.02, "at most {worst} of the bound");
    }

    /// Walks of eight points have the bits of one, whatever part of the tree is far.
    #[test]
    fn walks_together_have_the_bits_of_each() {
        let mut random = Random(13);
        let mut rough = 0;
        for i in 0..300 {
            let tree = random.tree(60, 20_000, 2_000);
            let low = from_fn(|_| random.next(30_000));
            let points = points(low, 3 * (random.next(3_000).abs() + 1));
            let tolerance = [0.0, 1e-5, 1e-4, 1e-3][i % 4];
            for (p, lane) in points.into_iter().zip(tree.angles(&points, tolerance)) {
                let single = tree.angle(p, tolerance);
                let bits = |g: Angle| [g.value, g.error].map(f64::to_bits);
                assert_eq!(bits(lane), bits(single), "{p:?}: {lane:?} {single:?}");
                rough += u32::from(single.error > 0.0);
            }
        }
        assert!(rough > 500, "{rough} with far nodes");
    }

    /// Where all caps are near, lanes have the bits of the walk: with ties, and beyond 64 bits.
    #[test]
    fn lanes_have_the_bits_of_single_points() {
        let mut random = Random(11);
        for (reach, size) in [(4, 4), (3_000, 2_000), (100_000_000, 60_000_000)] {
            let mut turned = 0;
            for _ in 0..300 {
                let tree = random.tree(25, reach, size);
                let low = from_fn(|_| random.next(reach));
                let view = tree.view(low, reach / 2, 0.0, usize::MAX).expect("any");
                let points = points(low, reach / 2);
                for (p, lane) in points.into_iter().zip(view.angles(&points)) {
                    let single = tree.angle(p, 0.0);
                    assert_eq!(lane.value.to_bits(), single.value.to_bits(), "{p:?}");
                    turned += u32::from(single.value.abs() > 0.5);
                }
            }
            assert!(turned > 0 || reach > 4, "angles beyond a half turn");
        }
        let tree = random.tree(25, 4, 4);
        assert!(tree.view([0; 3], 2, 0.0, 5).is_none(), "too many near");
    }
}
