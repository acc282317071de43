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
