//! The stages on the CPU, with rayon.

mod bins;
mod facets;

use super::{BinKernels, Bins, ChildBoxes, FacetSet};
use crate::{
    exact::{Exact, Facet},
    robust::{self, CapTree, RobustReport},
    snap::Snapped,
};
use cutlink_device::{DeviceError, Host};

impl<const D: usize> BinKernels<D> for Host
where
    Facet<D>: Exact<D>,
{
    fn close(&self, surface: &mut Snapped<D>) -> RobustReport {
        robust::close(surface)
    }

    fn gaps(&self, surface: &Snapped<D>) -> CapTree<D> {
        CapTree::new(surface)
    }

    fn facet_set(&self, surface: &Snapped<D>) -> Result<FacetSet<D>, DeviceError> {
        facets::facet_set(surface)
    }

    fn bin_root(&self, set: &FacetSet<D>, boxes: [u32; D], edge: i32) -> Result<Bins, DeviceError> {
        bins::root(set, boxes, edge)
    }

    fn bin_children(
        &self,
        set: &FacetSet<D>,
        parents: &Bins,
        children: ChildBoxes<'_, D, Self>,
    ) -> Result<Bins, DeviceError> {
        bins::children(set, parents, children)
    }
}
