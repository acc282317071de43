//! Subdivides the facets of a surface: each edge into n equal parts, so each triangle into n² triangles and each
//! segment into n. For measurements: the shape is unchanged to rounding, the number of facets grows.
//!
//! A new point is a sum of the corners with weights that are symmetric in them, so facets beside
//! each other, welded or not, get the same points of their edge, and a closed surface stays
//! closed. Deterministic. Cost: one parallel sort of the edges, and the new facets.

use crate::Surface;
use rayon::prelude::*;

/// More vertices or facets than 32-bit numbers can count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{facets} facets with edges in {parts} parts would be more facets or vertices than the {most} that are possible: use fewer parts",
    most = u32::MAX
)]
pub struct SplitError {
    /// Facets of the surface.
    pub facets: usize,
    /// Parts of an edge.
    pub parts: u32,
}

/// Cuts every edge into `parts` equal parts; 0 and 1 change nothing. The vertices that there
/// were come first, in their order. The facets in place of one follow one another, with its
/// orientation and its patch.
pub fn split<const D: usize>(surface: &Surface<D>, parts: u32) -> Result<Surface<D>, SplitError> {
    if parts <= 1 {
        return Ok(surface.clone());
    }
    let edges = edges(surface);
    let n = u128::from(parts);
    let (inside, each) = match D {
        2 => (0, n),
        _ => ((n - 1) * (n - 2) / 2, n * n),
    };
    let facets = surface.facets.len() as u128;
    let vertices = surface.vertices.len() as u128 + edges.len() as u128 * (n - 1) + facets * inside;
    if vertices.max(facets * each) > u128::from(u32::MAX) {
        return Err(SplitError {
            facets: surface.facets.len(),
            parts,
        });
    }
    let mut made = Split {
        old: surface,
        parts,
        edges: &edges,
        vertices: surface.vertices.clone(),
        facets: Vec::with_capacity((facets * each) as usize),
    };
    made.vertices
        .reserve(vertices as usize - made.vertices.len());
    for &[a, b] in &edges {
        for i in 1..parts {
            made.add_point(&[(a, parts - i), (b, i)]);
        }
    }
    for facet in &surface.facets {
        made.add_facet(facet);
    }
    let of_each = |&patch: &u16| std::iter::repeat_n(patch, each as usize);
    Ok(Surface {
        vertices: made.vertices,
        facets: made.facets,
        facet_patch: surface.facet_patch.iter().flat_map(of_each).collect(),
        patches: surface.patches.clone(),
    })
}

/// Every edge once, the lower vertex first, in ascending order.
fn edges<const D: usize>(surface: &Surface<D>) -> Vec<[u32; 2]> {
    let sides = if D == 2 { 1 } else { D };
    let of_facet = |facet: &[u32; D]| {
        let facet = *facet;
        (0..sides).map(move |i| sorted(facet[i], facet[(i + 1) % D]))
    };
    let mut edges: Vec<[u32; 2]> = surface.facets.iter().flat_map(of_facet).collect();
    edges.par_sort_unstable();
    edges.dedup();
    edges
}

fn sorted(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

struct Split<'a, const D: usize> {
    old: &'a Surface<D>,
    parts: u32,
    edges: &'a [[u32; 2]],
    vertices: Vec<[f64; D]>,
    facets: Vec<[u32; D]>,
}

impl<const D: usize> Split<'_, D> {
    /// The point with these shares, in parts, of old vertices.
    fn add_point(&mut self, shares: &[(u32, u32)]) {
        let mut point = [0.0; D];
        for &(vertex, share) in shares {
            let weight = f64::from(share) / f64::from(self.parts);
            for (x, corner) in point.iter_mut().zip(self.old.vertices[vertex as usize]) {
                *x += weight * corner;
            }
        }
        self.vertices.push(point);
    }

    /// The vertex `i` parts from `a` on the way to `b`, `i` from 0 to all parts.
    fn on_edge(&self, a: u32, b: u32, i: u32) -> u32 {
        if i == 0 {
            return a;
        }
        if i == self.parts {
            return b;
        }
        let edge = self.edges.binary_search(&sorted(a, b));
        let edge = edge.expect("every edge should be listed") as u32;
        let from_lower = if a <= b { i } else { self.parts - i };
        self.old.vertices.len() as u32 + edge * (self.parts - 1) + from_lower - 1
    }

    fn add_facet(&mut self, facet: &[u32; D]) {
        let n = self.parts;
        if D == 2 {
            for i in 0..n {
                let ends = [i, i + 1].map(|i| self.on_edge(facet[0], facet[1], i));
                self.facets.push(std::array::from_fn(|a| ends[a]));
            }
            return;
        }
        let (a, b, c) = (facet[0], facet[1], facet[D - 1]);
        let first = self.vertices.len() as u32;
        for j in 1..n {
            for i in 1..n - j {
                self.add_point(&[(a, n - i - j), (b, i), (c, j)]);
            }
        }
        // The vertex i parts of the way to b and j of the way to c; rows inside have n-2, n-3, …
        let at = |i: u32, j: u32| match (i, j) {
            (i, 0) => self.on_edge(a, b, i),
            (0, j) => self.on_edge(a, c, j),
            (i, j) if i + j == n => self.on_edge(b, c, j),
            (i, j) => first + (j - 1) * (n - 1) - j * (j - 1) / 2 + i - 1,
        };
        let mut made = Vec::with_capacity((n * n) as usize);
        for j in 0..n {
            for i in 0..n - j {
                made.push([at(i, j), at(i + 1, j), at(i, j + 1)]);
                if i + j + 1 < n {
                    made.push([at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
                }
            }
        }
        let facets = made.iter().map(|f| std::array::from_fn(|a| f[a]));
        self.facets.extend(facets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::check;
    use crate::primitives::{Shape2, Shape3};

    #[test]
    fn a_closed_surface_stays_closed_and_keeps_area_volume_and_patches() {
        let shape = Shape3::Torus {
            major: 0.3,
            minor: 0.1,
        };
        let mut torus = shape.surface(0.01).expect("a torus");
        torus.patches.push("half".into());
        torus.facet_patch = (0..torus.facets.len()).map(|f| (f % 2) as u16).collect();
        let whole = check(&torus);
        for parts in 1..=5 {
            let made = split(&torus, parts).expect("few facets");
            let each = (parts * parts) as usize;
            assert_eq!(made.facets.len(), each * torus.facets.len(), "{parts}");
            let health = check(&made);
            assert!(health.closed(), "{parts} parts: {health}");
            assert_eq!(health.degenerate_facets, 0, "{parts} parts");
            assert_eq!(health.components, whole.components, "{parts} parts");
            // V - E + F does not change.
            let genus = |vertices: u64, facets: u64| vertices as i64 - facets as i64 / 2;
            let before = genus(whole.vertices, whole.facets);
            assert_eq!(genus(health.vertices, health.facets), before, "{parts}");
            assert!((health.area / whole.area - 1.0).abs() < 1e-12, "{parts}");
            assert!(
                (health.volume / whole.volume - 1.0).abs() < 1e-12,
                "{parts}"
            );
            for (f, &patch) in made.facet_patch.iter().enumerate() {
                assert_eq!(patch, torus.facet_patch[f / each], "{parts} parts");
            }
        }
    }

    #[test]
    fn all_facets_of_one_are_alike() {
        let corners = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]];
        let one = Surface::single_patch(corners, vec![[0, 1, 2]], "p");
        for parts in 2..7 {
            let made = split(&one, parts).expect("few facets");
            for f in 0..made.facets.len() {
                let [a, b, c] = made.corners(f);
                let twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
                let want = 2.0 / f64::from(parts * parts);
                assert!(
                    (twice - want).abs() < 1e-12,
                    "facet {f} of {parts}: {twice}"
                );
            }
        }
    }

    #[test]
    fn loose_facets_meet_in_the_same_points() {
        let ball = Shape3::Sphere { radius: 0.7 }
            .surface(0.01)
            .expect("a ball");
        let mut loose = ball.clone();
        loose.vertices = (0..ball.facets.len())
            .flat_map(|f| ball.corners(f))
            .collect();
        loose.facets = (0..ball.facets.len() as u32)
            .map(|f| [3 * f, 3 * f + 1, 3 * f + 2])
            .collect();
        let mut made = split(&loose, 3).expect("few facets");
        assert!(!check(&made).closed(), "loose as before");
        made.weld();
        assert!(check(&made).closed(), "to the last bit");
    }

    #[test]
    fn segments_are_split_too() {
        let circle = Shape2::Circle { radius: 0.5 };
        let circle = circle.surface(0.01).expect("a circle");
        let made = split(&circle, 4).expect("few facets");
        assert_eq!(made.facets.len(), 4 * circle.facets.len());
        let (before, after) = (check(&circle), check(&made));
        assert!(after.closed(), "{after}");
        assert!((after.area / before.area - 1.0).abs() < 1e-12, "length");
        assert!((after.volume / before.volume - 1.0).abs() < 1e-12, "area");
    }

    #[test]
    fn too_many_facets_are_refused() {
        let corners = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]];
        let one = Surface::single_patch(corners, vec![[0, 1, 2]], "p");
        for parts in [1 << 16, u32::MAX] {
            let error = split(&one, parts).expect_err("too many");
            assert_eq!(error, SplitError { facets: 1, parts });
        }
    }
}
