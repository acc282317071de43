//! The surface that walls are snapped to: nearest points, and its sharp edges and corners.

use cutlink_common::Error;
use cutlink_device::UnionFind;
use cutlink_hex::{SnapTarget, TargetEdge, TargetPoint};
use cutlink_mesher::{Surface, nearest::NearestTree};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Angle between the normals of two facets from which on their common edge is sharp, in degrees.
const SHARP_ANGLE: f64 = 30.0;
/// Angle by which a line of sharp edges turns at a corner, in degrees.
const CORNER_ANGLE: f64 = 45.0;
/// Lines of sharp edges that span less than this many finest cells are noise of a scan, not edges.
const SHORTEST: f64 = 4.0;

/// A surface to snap to.
#[derive(Debug)]
pub(super) struct SnapSurface {
    surface: Surface<3>,
    facets: NearestTree<3>,
    /// Side of each facet.
    side: Vec<u32>,
    edges: NearestTree<2>,
    /// Sides that meet at each sharp edge, one a facet.
    at_edge: Vec<Box<[u32]>>,
    corners: NearestTree<1>,
    /// Patch of the mesh, of each patch of the surface.
    patch: Vec<Option<u32>>,
}

/// Bytes a facet, of all at once: a copy of the surface without shared vertices (88), its tree, the sides of the facets and
/// their groups (100), and sides of the surface.
const BYTES_PER_FACET: u64 = 200 + NearestTree::<3>::BYTES;

pub(super) type Point = [f64; 3];

fn sub(a: Point, b: Point) -> Point {
    std::array::from_fn(|i| a[i] - b[i])
}

pub(super) fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn unit(a: Point) -> Point {
    let length = dot(a, a).sqrt();
    a.map(|x| if length > 0.0 { x / length } else { 0.0 })
}

pub(super) fn cross(a: Point, b: Point) -> Point {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn distance2(a: Point, b: Point) -> f64 {
    let d = sub(a, b);
    dot(d, d)
}

type Bounds = [Point; 2];

fn bounds(points: &[Point]) -> Bounds {
    points[1..].iter().fold([points[0]; 2], |[low, high], p| {
        [
            std::array::from_fn(|a| low[a].min(p[a])),
            std::array::from_fn(|a| high[a].max(p[a])),
        ]
    })
}

impl SnapSurface {
    /// Prepares a surface; `finest` is the length of the finest cells, `patch` says which patch of the mesh each of its patches
    /// is. Cost: sorts the facets and their edges.
    ///
    /// # Errors
    /// Memory that is not there.
    pub(super) fn new(
        surface: &Surface<3>,
        finest: f64,
        patch: Vec<Option<u32>>,
    ) -> Result<Self, Error> {
        let bytes = BYTES_PER_FACET * surface.facets.len() as u64;
        super::reserve("the surface to snap to", bytes)?;
        let mut surface = surface.clone();
        surface.weld();
        let sharp = Sharp::of(&surface, finest)?;
        let at = |v: u32| surface.vertices[v as usize];
        Ok(Self {
            facets: NearestTree::new(
                (0..surface.facets.len()).map(|facet| surface.corners(facet)),
            )?,
            side: sharp.side,
            edges: NearestTree::new(sharp.edges.iter().map(|edge| edge.map(at)))?,
            at_edge: sharp.at_edge,
            patch,
            corners: NearestTree::new(sharp.corners.iter().map(|&v| [at(v)]))?,
            surface,
        })
    }
}

impl SnapSurface {
    fn nearest_of(
        &self,
        at: Point,
        within: f64,
        counts: impl Fn(usize) -> bool,
    ) -> Option<TargetPoint> {
        let found = self
            .facets
            .nearest_of(at, within, |facet| counts(facet as usize))?;
        let [a, b, c] = self.surface.corners(found.element as usize);
        Some(TargetPoint {
            point: found.point,
            normal: unit(cross(sub(b, a), sub(c, a))),
            side: self.side[found.element as usize],
        })
    }
}

impl SnapTarget for SnapSurface {
    fn nearest(&self, at: Point, within: f64) -> Option<TargetPoint> {
        self.nearest_of(at, within, |_| true)
    }

    fn nearest_on(&self, side: u32, at: Point, within: f64) -> Option<TargetPoint> {
        self.nearest_of(at, within, |facet| self.side[facet] == side)
    }

    fn nearest_edge(&self, at: Point, within: f64, between: Option<&[u32]>) -> Option<TargetEdge> {
        let counts = |edge: u32| {
            between.is_none_or(|between| {
                let sides = self.at_edge[edge as usize].iter();
                sides.filter(|side| between.contains(side)).count() > 1
            })
        };
        let point = self.edges.nearest_of(at, within, counts)?.point;
        Some(TargetEdge { point })
    }

    fn nearest_corner(&self, at: Point, within: f64) -> Option<(u32, Point)> {
        let found = self.corners.nearest(at, within)?;
        Some((found.element, found.point))
    }

    fn patch(&self, side: u32) -> Option<u32> {
        let patch = self.surface.patch_of(side as usize);
        *self.patch.get(patch as usize)?
    }
}

/// Sharp edges of a surface, corners where they meet, and the sides between them. A side has the number of one of its
/// facets.
struct Sharp {
    edges: Vec<[u32; 2]>,
    corners: Vec<u32>,
    side: Vec<u32>,
    at_edge: Vec<Box<[u32]>>,
}

/// A facet beside an edge: lower and upper vertex, facet, and whether the facet passes the edge upwards.
type Beside = (u32, u32, u32, bool);

impl Sharp {
    fn of(surface: &Surface<3>, finest: f64) -> Result<Self, Error> {
        let normals: Vec<Point> = (0..surface.facets.len())
            .into_par_iter()
            .map(|f| {
                let [a, b, c] = surface.corners(f);
                unit(cross(sub(b, a), sub(c, a)))
            })
            .collect();
        let mut sides: Vec<Beside> = surface
            .facets
            .par_iter()
            .enumerate()
            .flat_map_iter(|(f, &[a, b, c])| {
                [(a, b), (b, c), (c, a)].map(|(p, q)| (p.min(q), p.max(q), f as u32, p < q))
            })
            .filter(|side| side.0 != side.1)
            .collect();
        sides.par_sort_unstable();
        let groups: Vec<&[Beside]> = sides.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).collect();
        let least = SHARP_ANGLE.to_radians().cos();
        let is_sharp = |group: &&[Beside]| {
            let first = group[0];
            let meets = |other: &Beside| {
                let cosine = dot(normals[first.2 as usize], normals[other.2 as usize]);
                let cosine = if first.3 == other.3 { -cosine } else { cosine };
                let flat =
                    normals[first.2 as usize] == [0.0; 3] || normals[other.2 as usize] == [0.0; 3];
                let patches =
                    surface.patch_of(first.2 as usize) == surface.patch_of(other.2 as usize);
                patches && (flat || cosine >= least)
            };
            group.len() == 1 || !group[1..].iter().all(meets)
        };
        let borders = |group: &&[Beside]| {
            let patch = |side: &Beside| surface.patch_of(side.2 as usize);
            group[1..]
                .iter()
                .any(|side| patch(side) != patch(&group[0]))
        };
        let ends = |group: &[Beside]| [group[0].0, group[0].1];
        let edges: Vec<[u32; 2]> = groups
            .par_iter()
            .filter(|group| is_sharp(group))
            .map(|group| ends(group))
            .collect();
        let mut edges = without_noise(surface, edges, SHORTEST * finest)?;
        edges.par_extend(groups.par_iter().filter(|g| borders(g)).map(|g| ends(g)));
        edges.par_sort_unstable();
        edges.dedup();
        let is_edge = |group: &[Beside]| edges.binary_search(&ends(group)).is_ok();
        let mut sides = UnionFind::try_new("sides of the surface", surface.facets.len())?;
        for group in groups.iter().filter(|group| !is_edge(group)) {
            group[1..].iter().for_each(|side| {
                sides.join(group[0].2, side.2);
            });
        }
        let side: Vec<u32> = (0..surface.facets.len() as u32)
            .map(|f| sides.root(f))
            .collect();
        let at_edge = groups
            .par_iter()
            .filter(|group| is_edge(group))
            .map(|group| group.iter().map(|beside| side[beside.2 as usize]).collect())
            .collect();
        Ok(Self {
            corners: corners(surface, &edges),
            edges,
            side,
            at_edge,
        })
    }
}

/// Leaves out lines of edges that span less than a length.
fn without_noise(
    surface: &Surface<3>,
    edges: Vec<[u32; 2]>,
    shortest: f64,
) -> Result<Vec<[u32; 2]>, Error> {
    let mut lines = UnionFind::try_new("sharp edges", surface.vertices.len())?;
    for &[a, b] in &edges {
        lines.join(a, b);
    }
    let mut spans: BTreeMap<u32, Bounds> = BTreeMap::new();
    for &[a, b] in &edges {
        let ends = bounds(&[a, b].map(|v| surface.vertices[v as usize]));
        let span = spans.entry(lines.root(a)).or_insert(ends);
        *span = bounds(&[span[0], span[1], ends[0], ends[1]]);
    }
    let is_long = |edge: &[u32; 2]| {
        let [low, high] = spans[&lines.root(edge[0])];
        distance2(low, high) >= shortest * shortest
    };
    Ok(edges.into_iter().filter(is_long).collect())
}

/// Vertices where sharp edges end, meet, or turn.
fn corners(surface: &Surface<3>, edges: &[[u32; 2]]) -> Vec<u32> {
    let mut ends: Vec<[u32; 2]> = edges.iter().flat_map(|&[a, b]| [[a, b], [b, a]]).collect();
    ends.par_sort_unstable();
    let least = CORNER_ANGLE.to_radians().cos();
    let away = |from: u32, to: u32| {
        unit(sub(
            surface.vertices[to as usize],
            surface.vertices[from as usize],
        ))
    };
    ends.chunk_by(|a, b| a[0] == b[0])
        .filter(|same| match same {
            [[v, a], [_, b]] => -dot(away(*v, *a), away(*v, *b)) < least,
            _ => true,
        })
        .map(|same| same[0][0])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worst::worst;
    use cutlink_mesher::primitives::{AnyShape, parse_shape};

    fn surface(shape: &str) -> Surface<3> {
        let Ok(AnyShape::D3(shape)) = parse_shape(shape) else {
            panic!("a solid shape is needed");
        };
        shape.surface(0.001).expect("a surface")
    }

    fn prepared(shape: &str, finest: f64) -> SnapSurface {
        SnapSurface::new(&surface(shape), finest, vec![Some(0)]).expect("memory")
    }

    /// The same of one patch.
    fn of_one_patch(shape: &str, finest: f64) -> SnapSurface {
        let mut surface = surface(shape);
        surface.facet_patch.clear();
        SnapSurface::new(&surface, finest, vec![Some(0)]).expect("memory")
    }

    /// Sharp edges and corners.
    fn sharp(made: &SnapSurface, finest: f64) -> [usize; 2] {
        let sharp = Sharp::of(&made.surface, finest).expect("memory");
        [sharp.edges.len(), sharp.corners.len()]
    }

    /// Points in a cube of edge 2 around the origin.
    fn points() -> impl Iterator<Item = Point> {
        let mut state = 1u64;
        let mut next = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        (0..1000).map(move |_| std::array::from_fn(|_| next()))
    }

    /// Distance of a point from the nearest face (1), edge (2) or corner (3) of a box, by its half edges.
    fn from_box(at: Point, half: Point, fixed: u32) -> f64 {
        let masks = (0..8u32).filter(|mask| mask.count_ones() == fixed);
        let to = |mask: u32| {
            let along = |a: usize| match mask >> a & 1 {
                1 => at[a].abs() - half[a],
                _ => (at[a].abs() - half[a]).max(0.0),
            };
            let off: Point = std::array::from_fn(along);
            dot(off, off).sqrt()
        };
        -worst(masks.map(|mask| -to(mask)))
    }

    #[test]
    fn faces_edges_and_corners_of_a_box_are_where_they_are() {
        let half = [0.5, 0.3, 0.2];
        let made = prepared("box:size=1x0.6x0.4", 0.05);
        assert_eq!(sharp(&made, 0.05), [12, 8], "sharp ones");
        let parts: std::collections::BTreeSet<u32> = made.side.iter().copied().collect();
        assert_eq!(parts.len(), 6, "a part a face");
        for at in points() {
            let near = made.nearest(at, 4.0).expect("a point");
            let edge = made.nearest_edge(at, 4.0, None).expect("an edge").point;
            let corner = made.nearest_corner(at, 4.0).expect("a corner").1;
            for (fixed, found) in [(1, near.point), (2, edge), (3, corner)] {
                let (far, least) = (distance2(at, found).sqrt(), from_box(at, half, fixed));
                assert!(
                    (far - least).abs() < 1e-12,
                    "{fixed} of {at:?}: {far} {least}"
                );
                assert!(from_box(found, half, fixed) < 1e-12, "{found:?} is on it");
            }
            let face = (0..3)
                .find(|&a| near.normal[a].abs() > 0.999)
                .expect("an axis");
            assert!(
                (near.point[face].abs() - half[face]).abs() < 1e-12,
                "the normal of its face"
            );
            let least = from_box(at, half, 1);
            assert!(made.nearest(at, 0.999 * least).is_none(), "out of reach");
        }
    }

    #[test]
    fn rims_of_a_cylinder_are_edges_without_corners() {
        let made = prepared("cylinder:r=0.5,h=1", 0.05);
        let [edges, corners] = sharp(&made, 0.05);
        assert!(edges > 100 && corners == 0, "two circles");
        let parts: std::collections::BTreeSet<u32> = made.side.iter().copied().collect();
        assert_eq!(parts.len(), 3, "two lids and the wall");
        for at in points() {
            let rim = made.nearest_edge(at, 4.0, None).expect("an edge").point;
            let radius = rim[0].hypot(rim[1]);
            assert!(
                (rim[2].abs() - 0.5).abs() < 1e-12 && (radius - 0.5).abs() < 2e-3,
                "{rim:?}"
            );
        }
    }

    #[test]
    fn smooth_bodies_and_small_bumps_have_no_sharp_edges() {
        for (shape, finest) in [("sphere:r=0.5", 0.05), ("box:size=0.1x0.1x0.1", 0.05)] {
            let made = of_one_patch(shape, finest);
            assert_eq!(sharp(&made, finest), [0, 0], "{shape}");
            assert!(
                made.side.iter().all(|&p| p == made.side[0]),
                "{shape} is one part"
            );
            assert_eq!(made.nearest_edge([0.0; 3], 9.0, None), None);
            assert_eq!(made.nearest_corner([0.0; 3], 9.0), None);
        }
    }

    #[test]
    fn borders_of_patches_are_edges_whatever_their_length() {
        let made = prepared("box:size=0.1x0.1x0.1", 0.05);
        assert_eq!(sharp(&made, 0.05), [12, 8], "a patch a side");
    }
}
