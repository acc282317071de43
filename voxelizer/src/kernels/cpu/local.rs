//! A facet seen from a block: corners relative to the centre of the block's first cell, and
//! the range of cell centres its bounds reach. Its plane is worked out only where a line may
//! meet it: facets smaller than a cell mostly lie between the lines.

use cutlink_mesher::exact::{Exact, Facet, Plane};

/// Centres around a block that a kernel may ask about: one cell beyond it on every side.
const REACH: i32 = 5;

/// A facet in block coordinates; lengths in lattice units, cells in units of the spacing.
pub(super) struct Local<const D: usize> {
    pub(super) facet: Facet<D>,
    /// First cell index whose centre is not below the bounds.
    pub(super) low: [i32; D],
    /// Last cell index whose centre is not above the bounds.
    pub(super) high: [i32; D],
}

impl<const D: usize> Local<D>
where
    Facet<D>: Exact<D>,
{
    #[inline]
    pub(super) fn new(facet: &Facet<D>, first_center: [i32; D], spacing: i32) -> Self {
        let shift = spacing.trailing_zeros();
        let facet = facet.relative_to(first_center);
        let [low, high] = facet.bounds();
        Self {
            facet,
            low: low.map(|c| (c + (spacing - 1)) >> shift),
            high: high.map(|c| c >> shift),
        }
    }

    #[inline]
    pub(super) fn plane(&self, spacing: i32) -> Plane<D> {
        Plane::new(&self.facet, REACH * spacing)
    }
}

/// Centre of the first cell of a block.
#[inline]
pub(super) fn first_center<const D: usize>(coord: [i32; D], spacing: i32) -> [i32; D] {
    coord.map(|c| 4 * c * spacing + spacing / 2)
}
