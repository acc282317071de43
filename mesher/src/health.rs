//! The health report: is a surface closed, consistently oriented, and what is wrong with it.
//!
//! In: a [`Surface`], welded (the report works on vertex numbers; equal coordinates under two
//! numbers are two vertices). Out: [`Health`], counts and the first offending edges.
//!
//! **Edges.** In 3D the sides of triangles; in 2D the *vertices*, the ends of segments. An edge
//! has a direction in each facet: forward (low to high vertex number; out of the vertex) or
//! backward. A winding number is defined everywhere off the surface when the boundary of the
//! chain of facets is zero: every edge is used forward as often as backward. That is what
//! [`Health::closed`] says; manifoldness is not needed, two cubes may share an edge. The
//! even-odd rule needs only an even number of uses ([`Health::closed_evenodd`]).
//!
//! A facet that repeats a vertex has a zero boundary: it is counted as degenerate and takes no
//! part in the counts of edges and duplicates. A facet of zero area with distinct vertices is
//! degenerate too, but it joins its neighbours and takes part.
//!
//! **Exactness.** All counts are exact. Zero area means that the corners, as f64 numbers, are
//! collinear: the three projections have zero area by an adaptive exact predicate (Shewchuk
//! 1997, crate `robust`; below about 1e-150 it may underflow). Area and volume are sums in f64, the
//! volume taken about the box centre so that a body far from the origin does not cancel.
//!
//! **Determinism.** Same bits for any thread count: sorted keys, sums by fixed chunks.
//! **Cost.** One 8-byte key per use of an edge, sorted in parallel; 5 bytes per vertex.

mod edges;
mod measure;
mod report;

use crate::surface::Surface;
use serde::{Serialize, Serializer};

/// Most edges listed in [`Health::samples`].
pub const MAX_SAMPLES: usize = 10;

/// What is wrong with an edge (in 2D: a vertex).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EdgeKind {
    /// Only one facet uses it.
    Open,
    /// Facets run along it the same way, two or more without a partner the other way.
    Flipped,
    /// More than two facets use it, one of them without a partner the other way.
    Odd,
    /// More than two facets use it, as many each way: closed all the same.
    Nonmanifold,
}

/// An edge that [`EdgeKind`] describes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EdgeSample<const D: usize> {
    /// What is wrong.
    pub kind: EdgeKind,
    /// Its ends; in 2D the vertex alone.
    #[serde(serialize_with = "points")]
    pub at: Vec<[f64; D]>,
    /// Vertex numbers of `at`.
    pub vertices: Vec<u32>,
    /// Facets that use it, from 0, ascending; the first 8.
    pub facets: Vec<u32>,
    /// Uses low to high vertex number (2D: out of the vertex).
    pub forward: u32,
    /// Uses the other way.
    pub backward: u32,
}

/// The report; the module defines its terms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Health<const D: usize> {
    /// Facets of the surface.
    pub facets: u64,
    /// Vertices that a facet uses.
    pub vertices: u64,
    /// Connected components: parts that share no vertex.
    pub components: u64,
    /// Edges with one use.
    pub open_edges: u64,
    /// Edges with more than two uses.
    pub nonmanifold_edges: u64,
    /// Edges whose uses one way exceed those the other way by two or more: with two facets,
    /// both run along it the same way.
    pub flipped_edges: u64,
    /// Edges with unequal uses each way: the boundary of the chain.
    pub unbalanced_edges: u64,
    /// Edges with an odd number of uses.
    pub odd_edges: u64,
    /// Facets with a repeated vertex or exactly zero area (2D: length).
    pub degenerate_facets: u64,
    /// Facets beyond the first on the same set of vertices, whatever their direction.
    pub duplicate_facets: u64,
    /// Box of the used vertices; zeros where there is no facet.
    #[serde(serialize_with = "corners")]
    pub bounds: [[f64; D]; 2],
    /// Area (2D: length).
    pub area: f64,
    /// Signed volume (2D: enclosed area), positive for outward facets. Without meaning
    /// where the surface is not closed.
    pub volume: f64,
    /// Closed, and of negative volume: inside out.
    pub inward: bool,
    /// The first offending edges, by kind, then by vertex numbers; at most [`MAX_SAMPLES`].
    pub samples: Vec<EdgeSample<D>>,
}

fn points<const D: usize, S: Serializer>(points: &[[f64; D]], s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(points.iter().map(<[f64; D]>::as_slice))
}

fn corners<const D: usize, S: Serializer>(bounds: &[[f64; D]; 2], s: S) -> Result<S::Ok, S::Error> {
    points(bounds, s)
}

impl<const D: usize> Health<D> {
    /// Every edge is used as often each way: the winding number is defined. `false` for a
    /// surface of no facets, which encloses nothing.
    pub fn closed(&self) -> bool {
        self.facets > 0 && self.unbalanced_edges == 0
    }

    /// Every edge has an even number of uses: the even-odd rule is defined. `false` for a
    /// surface of no facets.
    pub fn closed_evenodd(&self) -> bool {
        self.facets > 0 && self.odd_edges == 0
    }

    /// No two facets contradict one another in direction; open surfaces may be consistent.
    pub fn consistent(&self) -> bool {
        self.flipped_edges == 0
    }
}

/// Examines a surface. Facets must index into the vertices.
pub fn check<const D: usize>(surface: &Surface<D>) -> Health<D> {
    const { assert!(D == 2 || D == 3, "surfaces are 2D or 3D") };
    let (edges, ((parts, duplicate_facets), (bounds, sums))) = rayon::join(
        || edges::count(surface),
        || {
            let parts = measure::parts(surface);
            let duplicates = measure::duplicates(surface);
            let bounds = measure::bounds(surface);
            (
                (parts, duplicates),
                (bounds, measure::sums(surface, bounds)),
            )
        },
    );
    let samples = edges::samples(surface, &edges);
    Health {
        facets: surface.facets.len() as u64,
        vertices: parts.vertices,
        components: parts.components,
        open_edges: edges.open,
        nonmanifold_edges: edges.nonmanifold,
        flipped_edges: edges.flipped,
        unbalanced_edges: edges.unbalanced,
        odd_edges: edges.odd,
        degenerate_facets: sums.degenerate,
        duplicate_facets,
        bounds,
        area: sums.area,
        volume: sums.volume,
        inward: !surface.facets.is_empty() && edges.unbalanced == 0 && sums.volume < 0.0,
        samples,
    }
}

/// Whether a facet names a vertex twice.
fn repeats<const D: usize>(facet: &[u32; D]) -> bool {
    (0..D).any(|i| facet[i] == facet[(i + 1) % D])
}
