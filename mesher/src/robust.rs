//! Surfaces with holes: generalized winding numbers (Jacobson et al. 2013; hierarchical
//! after Barill et al. 2018, "Fast winding numbers for soups and clouds", §3).
//!
//! In: any [`Snapped`] surface. Out: the same with caps, and a [`CapTree`] of them. The generalized
//! winding number of a point p is `W(p) - g(p)`. W is the exact integer winding number of the surface
//! *with caps*: the chain's boundary, which is a set of closed loops, filled with triangles loop by loop.
//! g is the solid angle of the caps at p over 4π (in 2D the angle over 2π). The
//! difference does not depend on the choice of the caps. So the winding number of a
//! closed surface is exact, and elsewhere the cost is proportional to the number of
//! open edges, not of facets: Barill et al. sum over all facets.
//!
//! Before that, facets are oriented: pieces whose facets meet at edges of two uses get one
//! orientation, that of the larger area; a closed piece that is inside out and does not
//! lie in the box of another is turned. Pieces that are open and meet
//! no other are taken as they are.
//!
//! **Determinism.** g is computed with +, -, ×, ÷, √ in one order: the same bits on every
//! machine and backend. **Cost.** Sorting the edges; a tree over the caps and one over the open edges. Of an angle:
//! the caps near the point, and the logarithm of the others.

mod caps;
mod holes;
mod lanes;
mod orient;
mod tree;
mod turn;
mod view;

pub use holes::{Holes, gap_names};
pub use tree::{Angle, CapTree};
#[cfg(feature = "cuda")]
pub(crate) use tree::{Node, Tree};
pub use view::{CapView, between};

use crate::{
    exact::{Exact, Facet},
    snap::Snapped,
};

/// Start of the names of the patches that caps belong to: `gap-1`, `gap-2`, ...
pub const GAP: &str = "gap";

/// Most holes with a patch of their own; smaller ones share the patch `gap-rest`.
pub const MOST_GAPS: usize = 64;

/// What closing a surface changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RobustReport {
    /// Facets whose orientation was reversed, to agree with their neighbours or to face outward.
    pub turned_facets: usize,
    /// Edges (2D: ends) at which the surface is not closed, after that, with multiplicity.
    pub open_edges: usize,
    /// Closed loops of such edges that share no vertex (2D: open polylines).
    pub loops: usize,
}

/// Orients a surface and closes it: puts caps behind its facets. A surface that is closed gets none.
///
/// Each hole (a connected set of open edges; in 2D an open polyline) is a patch behind the others, [`GAP`]`-1` and on,
/// in descending order of size: the length of the area vector of its rim, in 2D of its cap. Of equal ones, that with
/// the vertex that comes first in the lexicographic order is first. Beyond [`MOST_GAPS`] holes, the smallest share
/// `gap-rest`. Where the surface has a patch whose name begins with `gap-`, it is `gap_-1` instead.
pub fn close<const D: usize>(surface: &mut Snapped<D>) -> RobustReport
where
    Facet<D>: Exact<D>,
{
    let turned_facets = orient::orient(surface);
    let made = caps::add(surface);
    holes::name(surface, &made.hole_of);
    RobustReport {
        turned_facets,
        open_edges: made.open_edges,
        loops: made.loops,
    }
}

/// The first patch of the caps of a surface, if it has any.
pub fn first_gap<const D: usize>(surface: &Snapped<D>) -> Option<u16> {
    let walls = surface.facets.len() - surface.caps;
    surface.facet_patch.get(walls..)?.iter().copied().min()
}

/// A use of an edge (2D: of a vertex): its key, whether it runs from the lower to the higher
/// vertex (2D: out of the vertex), and the facet.
type Use = (u64, bool, u32);

/// All uses of edges, sorted.
fn uses<const D: usize>(facets: &[[u32; D]]) -> Vec<Use> {
    use rayon::prelude::*;
    let of = |(f, facet): (usize, &[u32; D])| -> Vec<Use> {
        let f = f as u32;
        if D == 2 {
            return vec![
                (u64::from(facet[0]), true, f),
                (u64::from(facet[1]), false, f),
            ];
        }
        let edge = |i: usize| {
            let (a, b) = (u64::from(facet[i]), u64::from(facet[(i + 1) % D]));
            (a.min(b) << 32 | a.max(b), a < b, f)
        };
        (0..D).map(edge).collect()
    };
    let mut uses: Vec<Use> = facets.par_iter().enumerate().flat_map_iter(of).collect();
    uses.par_sort_unstable();
    uses
}
