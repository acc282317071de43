//! The stages of binning, for a backend to implement.
//!
//! | stage | contract | files in `cpu/` and `cuda/` |
//! |---|---|---|
//! | [`facet_set`](BinKernels::facet_set) | the surface's facets, in Morton order | `facets` |
//! | [`bin_root`](BinKernels::bin_root) | facets of every box of a uniform grid | `bins` |
//! | [`bin_children`](BinKernels::bin_children) | facets of child boxes, from their parents' | `bins` |
//!
//! All are exact, and the bins so: a facet is listed iff it meets the closed box grown on every side by an
//! eighth of its edge (half a cell of a block of four), lists in ascending facet order.

mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
#[cfg(feature = "cuda")]
pub use cuda::Caps;

use crate::{
    exact::Facet,
    robust::{CapTree, RobustReport},
    snap::Snapped,
};
use cutlink_device::{Backend, DeviceError, Host};

/// A snapped surface in a backend's memory: its corners facet by facet, in an order in which
/// neighbours in space are neighbours in memory (Morton 1966, by the lowest corner). So a list of
/// facets, which is always ascending, is read nearly in sequence, at every level. No
/// result depends on the order.
#[derive(Debug)]
pub struct FacetSet<const D: usize, B: Backend = Host> {
    /// Corners of each facet; walls first, then caps.
    pub corners: B::Buf<[[i32; D]; D]>,
    /// Patches, or empty.
    pub patch: B::Buf<u16>,
    /// Facets that are walls; those behind them are caps, for winding numbers only.
    pub walls: u32,
    /// Largest extent of a facet along an axis.
    pub extent: i32,
}

impl<const D: usize> FacetSet<D> {
    /// The corners of facet `f`.
    #[inline]
    pub fn facet(&self, f: u32) -> Facet<D> {
        Facet(self.corners[f as usize])
    }
}

/// Facet lists of consecutive boxes, compressed by rows.
#[derive(Debug)]
pub struct Bins<B: Backend = Host> {
    /// First entry of each box, and the number of entries.
    pub starts: B::Buf<u32>,
    /// Facet indices.
    pub facets: B::Buf<u32>,
    /// The boxes that have entries, ascending.
    pub rows: B::Buf<u32>,
}

impl Bins {
    /// The facets of box `i`.
    #[inline]
    pub fn of(&self, i: usize) -> &[u32] {
        &self.facets[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}

/// Consecutive boxes of a level and where their parents are.
#[derive(Debug, Clone, Copy)]
pub struct ChildBoxes<'a, const D: usize, B: Backend> {
    /// Coordinates by box id, in box edges of the box's own level.
    pub coord: &'a B::Buf<[i32; D]>,
    /// Parent id by box id.
    pub parent: &'a B::Buf<u32>,
    /// First child by id, of the parents.
    pub first_child: &'a B::Buf<u32>,
    /// Id of the first box.
    pub first: usize,
    /// Number of boxes: whole groups of 2^D siblings.
    pub count: usize,
    /// Id of the box that row 0 of the parents' bins belongs to.
    pub first_parent: usize,
    /// Edge of a child box in lattice units.
    pub edge: i32,
}

/// The stages of binning; see the module's table.
pub trait BinKernels<const D: usize>: Backend {
    /// Orients and closes a surface, on the host: see [`crate::robust::close`].
    fn close(&self, surface: &mut Snapped<D>) -> RobustReport;

    /// The angle of a surface's caps.
    fn gaps(&self, surface: &Snapped<D>) -> CapTree<D>;

    /// Copies a surface into the backend's memory. Walls are sorted by the Morton number of
    /// their lowest corner (the upper 21 bits of a coordinate in space, 30 in the plane), and by
    /// their number where that is the same; caps keep their order. Patches are dropped where the
    /// surface has only one. Cost: a sort of the facets.
    fn facet_set(&self, surface: &Snapped<D>) -> Result<FacetSet<D, Self>, DeviceError>;

    /// Bins of a grid of `boxes` boxes an axis with the given edge, x fastest, lower corner
    /// at lattice point 0.
    fn bin_root(
        &self,
        set: &FacetSet<D, Self>,
        boxes: [u32; D],
        edge: i32,
    ) -> Result<Bins<Self>, DeviceError>;

    /// Bins of child boxes; the parents' bins hold every facet that a child can meet.
    fn bin_children(
        &self,
        set: &FacetSet<D, Self>,
        parents: &Bins<Self>,
        children: ChildBoxes<'_, D, Self>,
    ) -> Result<Bins<Self>, DeviceError>;
}
