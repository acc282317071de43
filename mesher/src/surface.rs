//! A surface as indexed facets: triangles in 3D, segments in 2D.
//!
//! | item | shape | unit, order |
//! |---|---|---|
//! | `vertices` | n × D f64 | the caller's length unit, any frame |
//! | `facets` | m × D u32 | indices into `vertices`; normal by the right-hand rule (3D), to the right of a→b (2D) |
//! | `facet_patch` | m u16, or empty | index into `patches`; empty: every facet is of patch 0 |
//! | `patches` | at least one name | in order of first appearance |
//!
//! A closed body has its normals outward: counter-clockwise triangles seen from
//! outside, and in 2D a counter-clockwise polygon.

use rayon::prelude::*;

/// Integers in the order of the numbers, -0 and 0 alike.
fn ordered(x: f64) -> i64 {
    let bits = (x + 0.0).to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// An indexed facet set with named patches; see the module's table.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface<const D: usize> {
    /// Vertex coordinates; all finite.
    pub vertices: Vec<[f64; D]>,
    /// Vertex indices of each facet; all in range.
    pub facets: Vec<[u32; D]>,
    /// Patch of each facet; empty where there is only patch 0.
    pub facet_patch: Vec<u16>,
    /// Patch names; never empty.
    pub patches: Vec<String>,
}

impl<const D: usize> Surface<D> {
    /// A surface of one patch.
    pub fn single_patch(
        vertices: Vec<[f64; D]>,
        facets: Vec<[u32; D]>,
        patch: impl Into<String>,
    ) -> Self {
        Self {
            vertices,
            facets,
            facet_patch: Vec::new(),
            patches: vec![patch.into()],
        }
    }

    /// Merges vertices at equal coordinates, and drops those that no facet uses; returns how
    /// many were removed. Coordinates are compared as numbers, exactly (-0 is 0); the order is that
    /// of first appearance. Cost: one parallel sort of the vertices.
    pub fn weld(&mut self) -> usize {
        let key = |v: u32| self.vertices[v as usize].map(ordered);
        let mut order: Vec<u32> = (0..self.vertices.len() as u32).collect();
        order.par_sort_unstable_by_key(|&v| (key(v), v));
        // The first vertex at each place stands for the others.
        let mut first_at: Vec<u32> = vec![0; order.len()];
        for (i, &v) in order.iter().enumerate() {
            let same = i > 0 && key(order[i - 1]) == key(v);
            first_at[v as usize] = if same {
                first_at[order[i - 1] as usize]
            } else {
                v
            };
        }
        let mut used = vec![false; order.len()];
        for corner in self.facets.iter_mut().flatten() {
            *corner = first_at[*corner as usize];
            used[*corner as usize] = true;
        }
        let mut new_id = vec![0; order.len()];
        let mut kept = 0;
        for (v, &used) in used.iter().enumerate() {
            if used {
                new_id[v] = kept as u32;
                self.vertices[kept] = self.vertices[v];
                kept += 1;
            }
        }
        self.vertices.truncate(kept);
        for corner in self.facets.iter_mut().flatten() {
            *corner = new_id[*corner as usize];
        }
        order.len() - kept
    }

    /// The patch of facet `f`.
    pub fn patch_of(&self, f: usize) -> u16 {
        self.facet_patch.get(f).copied().unwrap_or(0)
    }

    /// The corner coordinates of facet `f`.
    pub fn corners(&self, f: usize) -> [[f64; D]; D] {
        self.facets[f].map(|v| self.vertices[v as usize])
    }

    /// Lower and upper corner of the box of all vertices that a facet uses, or
    /// `None` where there is no facet.
    pub fn bounds(&self) -> Option<[[f64; D]; 2]> {
        let mut facets = self.facets.iter().flatten();
        let first = self.vertices[*facets.next()? as usize];
        let mut bounds = [first, first];
        for &v in facets {
            let p = self.vertices[v as usize];
            for a in 0..D {
                bounds[0][a] = bounds[0][a].min(p[a]);
                bounds[1][a] = bounds[1][a].max(p[a]);
            }
        }
        Some(bounds)
    }
}

/// The area vector of a facet, outward by its orientation; in 2D its length is that of the segment.
pub fn area_vector<const D: usize>(p: [[f64; D]; D]) -> [f64; D] {
    let edge = |k: usize| -> [f64; D] { std::array::from_fn(|a| p[k][a] - p[0][a]) };
    if D == 2 {
        let e = edge(1);
        return std::array::from_fn(|a| if a == 0 { e[1] } else { -e[0] });
    }
    let (e, f) = (edge(1), edge(2));
    std::array::from_fn(|a| {
        let (b, c) = ((a + 1) % D, (a + 2) % D);
        0.5 * (e[b] * f[c] - e[c] * f[b])
    })
}

/// The unit normal of a facet, outward by its orientation; `None` for a degenerate facet.
pub fn unit_normal<const D: usize>(p: [[f64; D]; D]) -> Option<[f64; D]> {
    let area = area_vector(p);
    let size = area.iter().map(|x| x * x).sum::<f64>().sqrt();
    (size > 0.0).then(|| area.map(|x| x / size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn welding_keeps_the_first_of_each_place() {
        let mut surface = Surface::single_patch(
            vec![
                [5.0, 5.0],
                [0.0, 1.0],
                [-0.0, 1.0],
                [2.0, -1.0],
                [0.0, 1.0],
                [2.0, -1.0],
            ],
            vec![[1, 3], [5, 4], [2, 5]],
            "p",
        );
        assert_eq!(surface.weld(), 4, "one unused, three doubles");
        assert_eq!(
            surface.vertices,
            [[0.0, 1.0], [2.0, -1.0]],
            "first appearance"
        );
        assert_eq!(surface.facets, [[0, 1], [1, 0], [0, 1]], "same places");
        assert_eq!(surface.weld(), 0, "nothing left to do");
    }

    #[test]
    fn the_integer_order_is_that_of_the_numbers() {
        let numbers = [
            f64::NEG_INFINITY,
            -1e300,
            -2.0,
            -1e-310,
            0.0,
            1e-310,
            1.5,
            f64::MAX,
        ];
        assert!(
            numbers.windows(2).all(|w| ordered(w[0]) < ordered(w[1])),
            "ascending"
        );
        assert_eq!(ordered(-0.0), ordered(0.0), "zeros");
    }
}
