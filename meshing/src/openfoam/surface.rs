//! How far points are from the facets of a surface file.

use cutlink_common::Error;
use cutlink_mesher::{nearest::NearestTree, read::read_surface};
use std::path::Path;

/// The facets of a surface in a tree.
pub(super) struct Facets(NearestTree<3>);

impl Facets {
    /// Reads a surface file of any format, closed or open, in metres.
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let surface = read_surface(path)?.surface;
        if surface.facets.is_empty() {
            return Err(Error::input(format!("{} has no facets", path.display())));
        }
        let facets = (0..surface.facets.len()).map(|facet| surface.corners(facet));
        Ok(Self(NearestTree::new(facets)?))
    }

    /// Whether a facet is within a distance of a point.
    pub(super) fn are_within(&self, point: [f64; 3], distance: f64) -> bool {
        self.0.nearest(point, distance).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Point = [f64; 3];

    fn minus(a: Point, b: Point) -> Point {
        std::array::from_fn(|i| a[i] - b[i])
    }

    fn dot(a: Point, b: Point) -> f64 {
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    }

    fn to_segment(p: Point, a: Point, b: Point) -> f64 {
        let (along, arm) = (minus(b, a), minus(p, a));
        let square = dot(along, along);
        let t = if square > 0.0 {
            dot(along, arm) / square
        } else {
            0.0
        };
        let off: Point = std::array::from_fn(|i| arm[i] - t.clamp(0.0, 1.0) * along[i]);
        dot(off, off).sqrt()
    }

    /// The nearest of the three edges, and of the plane where the foot is inside, by barycentric coordinates.
    fn to_triangle(p: Point, [a, b, c]: [Point; 3]) -> f64 {
        let edges = to_segment(p, a, b)
            .min(to_segment(p, b, c))
            .min(to_segment(p, c, a));
        let (u, v, w) = (minus(b, a), minus(c, a), minus(p, a));
        let (uu, uv, vv, wu, wv) = (dot(u, u), dot(u, v), dot(v, v), dot(w, u), dot(w, v));
        let det = uu * vv - uv * uv;
        let (s, t) = ((vv * wu - uv * wv) / det, (uu * wv - uv * wu) / det);
        if det <= 0.0 || s < 0.0 || t < 0.0 || s + t > 1.0 {
            return edges;
        }
        let off: Point = std::array::from_fn(|i| w[i] - s * u[i] - t * v[i]);
        edges.min(dot(off, off).sqrt())
    }

    /// Facets of all sizes, needles, facets without area; points near and far.
    #[test]
    fn distances_are_those_to_each_facet() {
        let mut state = 1u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for case in 0..40 {
            let mut corners: Vec<Point> = Vec::new();
            for facet in 0..30 {
                let size = [1.0, 0.1, 1e-3][facet % 3];
                let a: Point = std::array::from_fn(|_| random());
                let b: Point = std::array::from_fn(|i| a[i] + size * random());
                let c: Point = match facet % 5 {
                    0 => std::array::from_fn(|i| 0.5 * (a[i] + b[i])),
                    1 => std::array::from_fn(|i| b[i] + 1e-6 * random()),
                    _ => std::array::from_fn(|i| a[i] + size * random()),
                };
                corners.extend([a, b, c]);
            }
            let each = corners.chunks_exact(3).map(|t| [t[0], t[1], t[2]]);
            let facets = Facets(NearestTree::new(each).expect("memory"));
            for _ in 0..50 {
                let far = [0.6, 3.0][case % 2];
                let p: Point = std::array::from_fn(|_| far * random());
                let each = corners
                    .chunks(3)
                    .map(|t| to_triangle(p, [t[0], t[1], t[2]]));
                let nearest = each.fold(f64::INFINITY, f64::min);
                let of = |by: f64| facets.are_within(p, nearest * by);
                assert!(of(1.0 + 1e-7) && !of(1.0 - 1e-7), "{p:?}: {nearest}");
            }
        }
    }
}
