//! Exact volume fractions of closed surfaces in cells.
//!
//! By the divergence theorem with the field along the last axis: the volume of a cell that is inside is the integral of
//! `-n_z f` over the facets whose projection along that axis meets the cell, clipped to it; `f` is the height of the cell
//! above the facet, at least none and at most the cell's. Facets below the cell count whole, facets above it not at all, so
//! the integrand is continuous, and facets in faces of cells need no rule. Cells add up to the surface's volume to rounding.
//! Cost: O(log n) for a search in a tree of boxes, and the clipping of the facets in the column up to the cell.

use cutlink_device::{DeviceError, memory};

/// Facets in a leaf of the tree.
const LEAF: usize = 4;

/// Corners of a clipped facet: a triangle cut by planes gains at most one a plane.
type Piece<const D: usize> = Vec<[f64; D]>;

/// A closed surface of triangles, in 2D of segments, in metres.
#[derive(Debug, PartialEq)]
pub struct ClosedSurface<const D: usize> {
    /// Outward by their orientation.
    facets: Vec<[[f64; D]; D]>,
    /// Bounds of the nodes of a tree whose leaves have equal depth: the root, its two children, and so on.
    nodes: Vec<[[f64; D]; 2]>,
    depth: u32,
    volume: f64,
}

/// Bounds of no point.
const fn nothing<const D: usize>() -> [[f64; D]; 2] {
    [[f64::INFINITY; D], [f64::NEG_INFINITY; D]]
}

fn join<const D: usize>(a: [[f64; D]; 2], b: [[f64; D]; 2]) -> [[f64; D]; 2] {
    [
        std::array::from_fn(|k| a[0][k].min(b[0][k])),
        std::array::from_fn(|k| a[1][k].max(b[1][k])),
    ]
}

fn bounds<const D: usize>(points: &[[f64; D]]) -> [[f64; D]; 2] {
    points.iter().fold(nothing(), |all, &p| join(all, [p; 2]))
}

impl<const D: usize> ClosedSurface<D> {
    /// A surface by its facets, which must be finite and closed: each edge is used as often each way. All of them may face
    /// inward.
    ///
    /// # Errors
    /// Too little memory.
    pub fn new(mut facets: Vec<[[f64; D]; D]>) -> Result<Self, DeviceError> {
        let low = bounds(facets.as_flattened())[0];
        let local = |facet: &[[f64; D]; D]| facet.map(|p| std::array::from_fn(|a| p[a] - low[a]));
        let mut volume: f64 = facets
            .iter()
            .map(|f| below::<D>(&local(f), 0.0))
            .sum::<f64>();
        if volume < 0.0 {
            volume = -volume;
            facets.iter_mut().for_each(|facet| facet.swap(0, 1));
        }
        let depth = facets
            .len()
            .div_ceil(LEAF)
            .next_power_of_two()
            .trailing_zeros();
        sort(&mut facets, depth);
        let count = (2usize << depth) - 1;
        let mut nodes = memory::with_capacity("boxes to search", count)?;
        nodes.resize(count, nothing());
        let first = (1 << depth) - 1;
        fill(&facets, &mut nodes[first..]);
        for node in (0..first).rev() {
            nodes[node] = join(nodes[2 * node + 1], nodes[2 * node + 2]);
        }
        Ok(Self {
            facets,
            nodes,
            depth,
            volume,
        })
    }

    /// The volume inside, m^D.
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// The corners of the smallest box around it.
    pub fn corners(&self) -> [[f64; D]; 2] {
        self.nodes[0]
    }

    /// The part of a cell that is inside, by its lower corner and width: 0 to 1 to rounding where the surface does not
    /// overlap itself.
    pub fn part(&self, low: [f64; D], width: f64) -> f64 {
        let high = low.map(|x| x + width);
        let mut reach = [low, high];
        reach[0][D - 1] = f64::NEG_INFINITY;
        let mut sum = 0.0;
        self.each_near(reach, |facet| {
            // In units of the cell, from its corner.
            let mut piece: Piece<D> = facet
                .map(|p| std::array::from_fn(|a| (p[a] - low[a]) / width))
                .into();
            for axis in 0..D - 1 {
                piece = clip(&piece, axis, 0.0, 1.0);
                piece = clip(&piece, axis, 1.0, -1.0);
            }
            // A piece that lies in the cell's lower face counts once.
            if piece.iter().any(|p| p[D - 1] < 0.0) {
                sum += flat(&clip(&piece, D - 1, 0.0, -1.0));
            }
            let within = clip(&clip(&piece, D - 1, 0.0, 1.0), D - 1, 1.0, -1.0);
            sum += below(&within, 1.0);
        });
        sum
    }

    /// Whether a facet meets a box, by its corners.
    pub fn touches(&self, low: [f64; D], high: [f64; D]) -> bool {
        let mut found = false;
        self.each_near([low, high], |facet| {
            if found {
                return;
            }
            let mut piece: Piece<D> = (*facet).into();
            for axis in 0..D {
                piece = clip(&piece, axis, low[axis], 1.0);
                piece = clip(&piece, axis, high[axis], -1.0);
            }
            found = !piece.is_empty();
        });
        found
    }

    /// Calls with each facet whose bounds meet a box, in the order of the tree.
    fn each_near(&self, [low, high]: [[f64; D]; 2], mut with: impl FnMut(&[[f64; D]; D])) {
        let first = (1usize << self.depth) - 1;
        let meets = |of: &[[f64; D]; 2]| (0..D).all(|a| of[0][a] <= high[a] && of[1][a] >= low[a]);
        let mut stack = vec![(0, 0, self.facets.len())];
        while let Some((node, from, to)) = stack.pop() {
            if !meets(&self.nodes[node]) {
                continue;
            }
            if node >= first {
                let facets = self.facets[from..to].iter();
                facets
                    .filter(|f| meets(&bounds(&f[..])))
                    .for_each(&mut with);
                continue;
            }
            let middle = from + (to - from) / 2;
            stack.push((2 * node + 2, middle, to));
            stack.push((2 * node + 1, from, middle));
        }
    }
}

/// Puts facets in the order of the leaves of a tree: halves along the widest axis of their middles.
fn sort<const D: usize>(facets: &mut [[[f64; D]; D]], depth: u32) {
    if depth == 0 || facets.len() < 2 {
        return;
    }
    let middle = |facet: &[[f64; D]; D], a: usize| -> f64 { facet.iter().map(|p| p[a]).sum() };
    let around = facets.iter().fold(nothing::<D>(), |all, facet| {
        join(all, [std::array::from_fn(|a| middle(facet, a)); 2])
    });
    let wide = |a: usize| around[1][a] - around[0][a];
    let axis = (1..D).fold(
        0,
        |widest, a| if wide(a) > wide(widest) { a } else { widest },
    );
    // Stable, so that the order of equal places is that of the file.
    facets.sort_by(|a, b| middle(a, axis).total_cmp(&middle(b, axis)));
    let (left, right) = facets.split_at_mut(facets.len() / 2);
    rayon::join(|| sort(left, depth - 1), || sort(right, depth - 1));
}

/// The bounds of the leaves of a tree.
fn fill<const D: usize>(facets: &[[[f64; D]; D]], leaves: &mut [[[f64; D]; 2]]) {
    if let [leaf] = leaves {
        *leaf = bounds(facets.as_flattened());
        return;
    }
    let (left, right) = facets.split_at(facets.len() / 2);
    let (first, second) = leaves.split_at_mut(leaves.len() / 2);
    fill(left, first);
    fill(right, second);
}

/// What of a convex piece is above a coordinate (`side` 1) or below it (-1), with its edge. In 2D a piece is a segment.
fn clip<const D: usize>(piece: &Piece<D>, axis: usize, at: f64, side: f64) -> Piece<D> {
    let mut kept = Vec::with_capacity(piece.len() + 1);
    let inside = |p: &[f64; D]| side * (p[axis] - at) >= 0.0;
    let edges = if D == 2 {
        piece.len().saturating_sub(1)
    } else {
        piece.len()
    };
    for (k, &p) in piece.iter().enumerate() {
        if inside(&p) {
            kept.push(p);
        }
        if k >= edges {
            continue;
        }
        let q = piece[(k + 1) % piece.len()];
        if inside(&p) != inside(&q) {
            // From the lower end, so that facets on both sides of an edge have the same point.
            let [a, b] = if p[axis] < q[axis] { [p, q] } else { [q, p] };
            let t = (at - a[axis]) / (b[axis] - a[axis]);
            let mut cut: [f64; D] = std::array::from_fn(|k| a[k] + t * (b[k] - a[k]));
            cut[axis] = at;
            kept.push(cut);
        }
    }
    kept
}

/// The parts of a piece as simplices: their area projected along the last axis, negative where the outward normal points up
/// that axis, and the mean of their last coordinate.
fn parts<const D: usize>(piece: &[[f64; D]]) -> impl Iterator<Item = [f64; 2]> + '_ {
    let count = (piece.len() + 1).saturating_sub(D);
    (0..count).map(move |k| {
        if D == 2 {
            let [p, q] = [piece[k], piece[k + 1]];
            return [q[0] - p[0], 0.5 * (p[1] + q[1])];
        }
        let [o, p, q] = [piece[0], piece[k + 1], piece[k + 2]];
        let cross = (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0]);
        [-0.5 * cross, (o[2] + p[2] + q[2]) / 3.0]
    })
}

/// The integral of `-n_z` over a piece.
fn flat<const D: usize>(piece: &[[f64; D]]) -> f64 {
    parts(piece).map(|[area, _]| area).sum()
}

/// The integral of `-n_z (top - z)` over a piece.
fn below<const D: usize>(piece: &[[f64; D]], top: f64) -> f64 {
    parts(piece).map(|[area, z]| area * (top - z)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::LiquidShape;
    use crate::worst::worst;
    use cutlink_amr::dims;
    use std::f64::consts::PI;

    /// Parts of all cells of a unit box.
    fn parts_of<const D: usize>(surface: &ClosedSurface<D>, n: usize) -> Vec<([f64; D], f64)> {
        let width = 1.0 / n as f64;
        let of = |i: usize| {
            let low = dims::unravel::<D>(i, n).map(|c| f64::from(c) * width);
            (low, surface.part(low, width))
        };
        (0..n.pow(D as u32)).map(of).collect()
    }

    fn hull(points: &[[f64; 3]], facets: &[[usize; 3]]) -> ClosedSurface<3> {
        let corners = facets.iter().map(|f| f.map(|i| points[i]));
        ClosedSurface::new(corners.collect()).expect("memory")
    }

    /// A box of twelve triangles.
    fn cuboid([low, high]: [[f64; 3]; 2]) -> ClosedSurface<3> {
        let corner =
            |i: usize| std::array::from_fn(|a| if i >> a & 1 == 1 { high[a] } else { low[a] });
        let points: Vec<[f64; 3]> = (0..8).map(corner).collect();
        let sides = [
            [0, 4, 6, 2],
            [1, 3, 7, 5],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 2, 3, 1],
            [4, 5, 7, 6],
        ];
        let halves = |[a, b, c, d]: [usize; 4]| [[a, b, c], [a, c, d]];
        hull(&points, &sides.map(halves).concat())
    }

    /// A ball with bumps, of triangles, and the sum of its tetrahedra from the middle.
    fn bumpy(n: usize) -> (ClosedSurface<3>, f64) {
        let point = |i: usize, j: usize| -> [f64; 3] {
            let (lat, lon) = (
                PI * i as f64 / n as f64,
                PI * (j % (2 * n)) as f64 / n as f64,
            );
            let r = 0.33 * (1.0 + 0.2 * (5.0 * lon).cos() * lat.sin() + 0.1 * (3.0 * lat).sin());
            let unit = match i {
                0 => [0.0, 0.0, 1.0],
                i if i == n => [0.0, 0.0, -1.0],
                _ => [lat.sin() * lon.cos(), lat.sin() * lon.sin(), lat.cos()],
            };
            unit.map(|x| r * x)
        };
        let (mut facets, mut volume) = (Vec::new(), 0.0);
        for i in 0..n {
            for j in 0..2 * n {
                let [a, b, c, d] = [
                    point(i, j),
                    point(i + 1, j),
                    point(i + 1, j + 1),
                    point(i, j + 1),
                ];
                for facet in [[a, b, c], [a, c, d]] {
                    let [p, q, r] = facet;
                    if p == q || q == r || r == p {
                        continue;
                    }
                    let cross = |u: [f64; 3], v: [f64; 3]| {
                        [
                            u[1] * v[2] - u[2] * v[1],
                            u[2] * v[0] - u[0] * v[2],
                            u[0] * v[1] - u[1] * v[0],
                        ]
                    };
                    let across = cross(q, r);
                    volume += (0..3).map(|a| p[a] * across[a]).sum::<f64>() / 6.0;
                    facets.push(facet.map(|p| [p[0] + 0.511, p[1] + 0.487, p[2] + 0.502]));
                }
            }
        }
        (ClosedSurface::new(facets).expect("memory"), volume)
    }

    #[test]
    fn a_box_of_triangles_is_the_box() {
        // The second has faces in faces of cells.
        for corners in [
            [[0.11, 0.2, 0.33], [0.47, 0.93, 0.61]],
            [[0.25, 0.125, 0.0], [0.75, 0.5, 0.875]],
        ] {
            let (surface, shape) = (cuboid(corners), LiquidShape::Box(corners));
            let parts = parts_of(&surface, 8);
            let off = parts
                .iter()
                .map(|(low, part)| (part - shape.fraction(*low, 0.125)).abs());
            assert!(worst(off) < 1e-13);
            let inside = parts.iter().filter(|of| of.1 > 0.5).count();
            assert!(inside > 20, "{inside}");
            // Facets cross cells of both sides of a face, and of none else.
            let touches = |low: [f64; 3]| surface.touches(low, low.map(|x| x + 0.125));
            let mixed = |part: f64| part > 1e-9 && part < 1.0 - 1e-9;
            assert!(
                parts
                    .iter()
                    .all(|&(low, part)| touches(low) || !mixed(part))
            );
            assert!(!touches([0.876; 3]) && !touches([0.3, 0.3, 0.4]));
        }
    }

    #[test]
    fn a_slanted_facet_cuts_cells_as_a_half_space() {
        // A tetrahedron that holds all of the box below x + 2 y + 3 z = 2.5.
        let points = [
            [-9.0, -9.0, -9.0],
            [47.5, -9.0, -9.0],
            [-9.0, 19.25, -9.0],
            [-9.0, -9.0, 29.5 / 3.0],
        ];
        let surface = hull(&points, &[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]);
        let half = LiquidShape::HalfSpace {
            normal: [1.0, 2.0, 3.0],
            offset: 2.5,
        };
        let parts = parts_of(&surface, 6);
        let off = parts
            .iter()
            .map(|(low, part)| (part - half.fraction(*low, 1.0 / 6.0)).abs());
        assert!(worst(off) < 1e-13);
        let volume = 56.5 * 28.25 * (29.5 / 3.0 + 9.0) / 6.0;
        assert!((surface.volume() / volume - 1.0).abs() < 1e-14);
    }

    #[test]
    fn cells_add_up_to_the_volume_of_the_surface() {
        let (surface, volume) = bumpy(40);
        assert!((surface.volume() / volume - 1.0).abs() < 1e-13);
        for n in [5, 16] {
            let parts = parts_of(&surface, n);
            let sum = parts.iter().map(|of| of.1).sum::<f64>() / n.pow(3) as f64;
            assert!((sum / volume - 1.0).abs() < 1e-12, "{n}: {sum} {volume}");
            assert!(parts.iter().all(|of| of.1 > -1e-13 && of.1 < 1.0 + 1e-13));
        }
        // Inside out, it is the same.
        let turned = surface.facets.iter().map(|f| [f[0], f[2], f[1]]).collect();
        let turned = ClosedSurface::new(turned).expect("memory");
        assert!((turned.volume() / volume - 1.0).abs() < 1e-13);
        assert!(turned.part([0.45; 3], 0.1) > 1.0 - 1e-13);
    }

    #[test]
    fn a_polygon_in_2d() {
        let n = 360;
        let at = |i: usize| {
            let angle = 2.0 * PI * i as f64 / n as f64;
            [0.5 + 0.4 * angle.cos(), 0.5 + 0.4 * angle.sin()]
        };
        let surface =
            ClosedSurface::new((0..n).map(|i| [at(i), at(i + 1)]).collect()).expect("memory");
        let area = 0.5 * n as f64 * 0.16 * (2.0 * PI / n as f64).sin();
        assert!((surface.volume() / area - 1.0).abs() < 1e-13);
        let sum = parts_of(&surface, 9).iter().map(|of| of.1).sum::<f64>() / 81.0;
        assert!((sum / area - 1.0).abs() < 1e-12);
        // Of the circle, the polygon lacks at most the height of a segment.
        let circle = LiquidShape::Ball {
            centre: [0.5; 2],
            radius: 0.4,
        };
        let parts = parts_of(&surface, 9);
        let off = parts
            .iter()
            .map(|(low, part)| (part - circle.fraction(*low, 1.0 / 9.0)).abs());
        assert!(worst(off) < 4e-4);
    }
}
