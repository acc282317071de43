//! The stages of binning, for a backend to implement.
//!
//! | stage | contract | cpu file |
//! |---|---|---|
//! | [`bin_root`](BinKernels::bin_root) | facets of every box of a uniform grid | `cpu/bins.rs` |
//! | [`bin_children`](BinKernels::bin_children) | facets of child boxes, from their parents' | `cpu/bins.rs` |
//!
//! Both are exact: a facet is listed iff it meets the closed box grown on every side by an
//! eighth of its edge (half a cell of a block of four), lists in ascending facet order.

mod cpu;

use crate::{
    exact::Facet,
    robust::{CapTree, RobustReport},
    snap::Snapped,
};
use cutlink_device::{Backend, DeviceError, Host};

/// A snapped surface in a backend's memory.
#[derive(Debug)]
pub struct FacetSet<const D: usize, B: Backend = Host> {
    /// Lattice points.
    pub vertices: B::Buf<[i32; D]>,
    /// Corner indices.
    pub facets: B::Buf<[u32; D]>,
    /// Patches, or empty.
    pub patch: B::Buf<u16>,
    /// Facets that are walls; those behind them are caps, for winding numbers only.
    pub walls: u32,
}

impl<const D: usize, B: Backend> FacetSet<D, B> {
    /// Copies a surface into the backend's memory.
    pub fn upload(backend: &B, surface: &Snapped<D>) -> Result<Self, DeviceError> {
        let bytes = surface.vertices.len() * 4 * D + surface.facets.len() * (4 * D + 2);
        backend.reserve("the surface", bytes as u64)?;
        let patch = match surface.patches.len() {
            1 => Vec::new(),
            _ => surface.facet_patch.clone(),
        };
        Ok(Self {
            vertices: backend.upload(surface.vertices.clone())?,
            facets: backend.upload(surface.facets.clone())?,
            patch: backend.upload(patch)?,
            walls: (surface.facets.len() - surface.caps) as u32,
        })
    }
}

impl<const D: usize> FacetSet<D> {
    /// The corners of facet `f`.
    #[inline]
    pub fn facet(&self, f: u32) -> Facet<D> {
        Facet(self.facets[f as usize].map(|v| self.vertices[v as usize]))
    }
}

/// Facet lists of consecutive boxes, compressed by rows.
#[derive(Debug)]
pub struct Bins<B: Backend = Host> {
    /// First entry of each box, and the number of entries.
    pub starts: B::Buf<u32>,
    /// Facet indices.
    pub facets: B::Buf<u32>,
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
