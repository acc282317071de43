//! Holes as patches: their names in order of size, and the hole that a point is nearest to.

use super::{GAP, MOST_GAPS};
use crate::snap::Snapped;
use std::collections::BTreeMap;

/// Gives each cap the patch of its hole; `hole_of` has a vertex of the hole of each cap.
pub(super) fn name<const D: usize>(surface: &mut Snapped<D>, hole_of: &[u32]) {
    if surface.caps == 0 {
        return;
    }
    let walls = surface.facets.len() - surface.caps;
    // Of each hole: its area vector, and its lowest vertex.
    let mut holes: BTreeMap<u32, ([f64; 3], u32)> = BTreeMap::new();
    for (cap, &hole) in surface.facets[walls..].iter().zip(hole_of) {
        let (sum, lowest) = holes.entry(hole).or_insert(([0.0; 3], u32::MAX));
        let area = area(&cap.map(|v| surface.vertices[v as usize]));
        for (sum, part) in sum.iter_mut().zip(area) {
            *sum += part;
        }
        *lowest = cap.iter().copied().fold(*lowest, u32::min);
    }
    let mut sizes: Vec<(f64, u32, u32)> = holes
        .into_iter()
        .map(|(hole, (sum, lowest))| (sum.iter().map(|x| x * x).sum(), lowest, hole))
        .collect();
    sizes.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let first = surface.patches.len();
    let names = gap_names(&surface.patches, sizes.len());
    let last = names.len().saturating_sub(1);
    let patch_of: BTreeMap<u32, u16> = sizes
        .iter()
        .enumerate()
        .map(|(k, &(.., hole))| (hole, (first + k.min(last)) as u16))
        .collect();
    surface.patches.extend(names);
    surface.facet_patch.resize(walls, 0);
    let caps = hole_of.iter().map(|hole| patch_of[hole]);
    surface.facet_patch.extend(caps);
}

/// Names of the patches of so many holes behind other patches: `gap-1` and on, or `gap_-1` where a name begins with
/// `gap-`. Beyond [`MOST_GAPS`], all others share the last, `gap-rest`.
pub fn gap_names(patches: &[String], holes: usize) -> Vec<String> {
    // Numbers of patches have 16 bits, and one is for the rest.
    let most = MOST_GAPS.min((1 << 16) - 1 - patches.len());
    let mut prefix = GAP.to_owned();
    while patches
        .iter()
        .any(|name| name.starts_with(&format!("{prefix}-")))
    {
        prefix.push('_');
    }
    let named = holes.min(most);
    let mut names: Vec<String> = (1..=named).map(|k| format!("{prefix}-{k}")).collect();
    if holes > named {
        names.push(format!("{prefix}-rest"));
    }
    names
}

/// Twice the area vector of a triangle; in 2D the vector of a segment. Exact up to rounding of f64.
fn area<const D: usize>(corners: &[[i32; D]; D]) -> [f64; 3] {
    let edge = |k: usize| -> [f64; 3] {
        let (p, q) = (corners[0], corners[k]);
        std::array::from_fn(|a| match (p.get(a), q.get(a)) {
            (Some(&p), Some(&q)) => f64::from(q) - f64::from(p),
            _ => 0.0,
        })
    };
    let u = edge(1);
    if D == 2 {
        return u;
    }
    let v = edge(2 % D);
    std::array::from_fn(|a| {
        let (b, c) = ((a + 1) % 3, (a + 2) % 3);
        u[b] * v[c] - u[c] * v[b]
    })
}

/// The caps of a surface by hole, to tell which hole a point belongs to.
#[derive(Debug, Clone)]
pub struct Holes<const D: usize> {
    holes: Vec<Hole<D>>,
}

#[derive(Debug, Clone)]
struct Hole<const D: usize> {
    patch: u16,
    bounds: [[f64; D]; 2],
    caps: Vec<[[f64; D]; D]>,
}

impl<const D: usize> Holes<D> {
    /// The holes of a surface that [`close`](super::close) has closed, in order of their patches.
    pub fn new(surface: &Snapped<D>) -> Self {
        let walls = surface.facets.len() - surface.caps;
        let mut holes: BTreeMap<u16, Hole<D>> = BTreeMap::new();
        for f in walls..surface.facets.len() {
            let corners = surface.facets[f].map(|v| surface.vertices[v as usize].map(f64::from));
            let patch = surface.facet_patch[f];
            let hole = holes.entry(patch).or_insert_with(|| Hole {
                patch,
                bounds: [corners[0], corners[0]],
                caps: Vec::new(),
            });
            for p in corners {
                for a in 0..D {
                    hole.bounds[0][a] = hole.bounds[0][a].min(p[a]);
                    hole.bounds[1][a] = hole.bounds[1][a].max(p[a]);
                }
            }
            hole.caps.push(corners);
        }
        Self {
            holes: holes.into_values().collect(),
        }
    }

    /// Number of holes; those that share a patch count once.
    pub fn len(&self) -> usize {
        self.holes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.holes.is_empty()
    }

    /// The patch of the hole whose caps are nearest to a point of the lattice frame, the first of equal ones; `None`
    /// where there is no hole. Cost: the caps of the holes whose boxes are nearer than the nearest cap.
    pub fn nearest(&self, point: [f64; D]) -> Option<u16> {
        let mut order: Vec<(f64, &Hole<D>)> = self
            .holes
            .iter()
            .map(|hole| (to_box(point, &hole.bounds), hole))
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.patch.cmp(&b.1.patch)));
        let mut best: Option<(f64, u16)> = None;
        for (bound, hole) in order {
            if best.is_some_and(|(nearest, _)| bound > nearest) {
                break;
            }
            let distances = hole.caps.iter().map(|cap| to_simplex(point, cap));
            let distance = distances.fold(f64::INFINITY, f64::min);
            let found = (distance, hole.patch);
            if best.is_none_or(|best| found < best) {
                best = Some(found);
            }
        }
        best.map(|(_, patch)| patch)
    }
}

fn dot<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
    (0..D).map(|k| a[k] * b[k]).sum()
}

fn minus<const D: usize>(a: [f64; D], b: [f64; D]) -> [f64; D] {
    std::array::from_fn(|k| a[k] - b[k])
}

/// Squared distance from a point to a box.
fn to_box<const D: usize>(p: [f64; D], [lower, upper]: &[[f64; D]; 2]) -> f64 {
    (0..D)
        .map(|a| (lower[a] - p[a]).max(p[a] - upper[a]).max(0.0).powi(2))
        .sum()
}

/// Squared distance from a point to a segment.
fn to_segment<const D: usize>(p: [f64; D], a: [f64; D], b: [f64; D]) -> f64 {
    let (u, w) = (minus(b, a), minus(p, a));
    let length = dot(u, u);
    let t = if length > 0.0 {
        (dot(w, u) / length).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let rest: [f64; D] = std::array::from_fn(|k| w[k] - t * u[k]);
    dot(rest, rest)
}

/// Squared distance from a point to a triangle, or in 2D to a segment.
fn to_simplex<const D: usize>(p: [f64; D], corners: &[[f64; D]; D]) -> f64 {
    let (a, b, c) = (corners[0], corners[1], corners[2 % D]);
    let edges = [(a, b), (b, c), (c, a)].map(|(from, to)| to_segment(p, from, to));
    let rim = edges.into_iter().fold(f64::INFINITY, f64::min);
    if D == 2 {
        return rim;
    }
    let (u, v, w) = (minus(b, a), minus(c, a), minus(p, a));
    // Barycentric coordinates of the point, projected onto the plane of the triangle.
    let (uu, uv, vv) = (dot(u, u), dot(u, v), dot(v, v));
    let (wu, wv) = (dot(w, u), dot(w, v));
    let det = uu * vv - uv * uv;
    if det <= 0.0 {
        return rim;
    }
    let (s, t) = ((vv * wu - uv * wv) / det, (uu * wv - uv * wu) / det);
    if s < 0.0 || t < 0.0 || s + t > 1.0 {
        return rim;
    }
    let rest: [f64; D] = std::array::from_fn(|k| w[k] - s * u[k] - t * v[k]);
    dot(rest, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Surface,
        robust::{close, first_gap},
        snap::{SnapLattice, snap},
    };

    /// The mantle of a duct of 4 x 2 x 10 whose upper end narrows to 2 x 2, open at both ends.
    fn duct() -> Snapped<3> {
        let ring = |z: f64, x: f64| [[0.0, 0.0, z], [x, 0.0, z], [x, 2.0, z], [0.0, 2.0, z]];
        let vertices = [ring(0.0, 4.0), ring(10.0, 2.0)].concat();
        let facets = (0..4).flat_map(|k| {
            let (a, b) = (k, (k + 1) % 4);
            [[a, b, b + 4], [a, b + 4, a + 4]]
        });
        let surface = Surface::single_patch(vertices, facets.collect(), "wall");
        let lattice = SnapLattice {
            origin: [0.0; 3],
            unit: 1e-3,
        };
        snap(&surface, lattice).expect("near")
    }

    #[test]
    fn the_holes_of_a_duct_are_patches_by_size() {
        let mut closed = duct();
        let report = close(&mut closed);
        assert_eq!((report.open_edges, report.loops, closed.caps), (8, 2, 4));
        assert_eq!(closed.patches, ["wall", "gap-1", "gap-2"]);
        assert_eq!(first_gap(&closed), Some(1));
        let walls = closed.facets.len() - closed.caps;
        for f in walls..closed.facets.len() {
            let low = closed.facets[f]
                .iter()
                .all(|&v| closed.vertices[v as usize][2] == 0);
            assert_eq!(
                closed.facet_patch[f],
                if low { 1 } else { 2 },
                "8 against 4 in area"
            );
        }
        let holes = Holes::new(&closed);
        assert_eq!(holes.len(), 2);
        for (z, patch) in [(-100.0, 1), (4900.0, 1), (5100.0, 2), (2e4, 2)] {
            assert_eq!(holes.nearest([1000.0, 1000.0, z]), Some(patch), "z = {z}");
        }
        let mut taken = duct();
        taken.patches = vec!["gap-1".into()];
        close(&mut taken);
        assert_eq!(taken.patches, ["gap-1", "gap_-1", "gap_-2"]);
    }

    #[test]
    fn many_holes_share_the_last_patch() {
        // Triangles by themselves: a hole each, in descending order of size.
        let count = MOST_GAPS + 3;
        let mut vertices = Vec::new();
        for k in 0..count {
            let (x, side) = (10.0 * k as f64, 1.0 + 0.1 * (count - k) as f64);
            vertices.extend([[x, 0.0, 0.0], [x + side, 0.0, 0.0], [x, side, 0.0]]);
        }
        let facets = (0..count as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]);
        let surface = Surface::single_patch(vertices, facets.collect(), "wall");
        let lattice = SnapLattice {
            origin: [0.0; 3],
            unit: 1e-3,
        };
        let mut closed = snap(&surface, lattice).expect("near");
        close(&mut closed);
        assert_eq!(closed.patches.len(), 1 + MOST_GAPS + 1);
        assert_eq!(closed.patches.last().map(String::as_str), Some("gap-rest"));
        let of = |patch: usize| {
            closed
                .facet_patch
                .iter()
                .filter(|&&p| usize::from(p) == patch)
                .count()
        };
        assert_eq!((of(1), of(MOST_GAPS), of(MOST_GAPS + 1)), (1, 1, 3));
    }

    #[test]
    fn distances_to_a_triangle() {
        let corners = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
        for (point, squared) in [
            ([1.0, 1.0, 3.0], 9.0),
            ([-3.0, -4.0, 0.0], 25.0),
            ([2.0, -2.0, 1.0], 5.0),
            ([4.0, 4.0, 0.0], 8.0),
        ] {
            assert!(
                (to_simplex(point, &corners) - squared).abs() < 1e-12,
                "{point:?}"
            );
        }
        assert_eq!(
            to_simplex([3.0, 4.0], &[[0.0, 0.0], [0.0, 0.0]]),
            25.0,
            "a point"
        );
    }
}
