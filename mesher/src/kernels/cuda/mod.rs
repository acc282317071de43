//! The stages on an NVIDIA GPU.

#![expect(unsafe_code, reason = "kernels are launched with addresses")]

mod bins;
mod caps;
mod facets;

pub use caps::Caps;

use super::{BinKernels, Bins, ChildBoxes, FacetSet, Repeats};
use crate::{
    exact::{Exact, Facet},
    robust::{self, CapTree, RobustReport},
    snap::Snapped,
};
use cutlink_device::{
    DeviceError,
    cuda::{Cuda, Module},
};

/// Threads of a block where nothing asks for another number.
const THREADS: u32 = 256;

static FACETS: [Module; 2] = cutlink_device::cuda_modules!("facets");
static BINS: [Module; 2] = cutlink_device::cuda_modules!("bins");

impl<const D: usize> BinKernels<D> for Cuda
where
    Facet<D>: Exact<D>,
{
    fn close(&self, surface: &mut Snapped<D>) -> RobustReport {
        robust::close(surface)
    }

    fn gaps(&self, surface: &Snapped<D>) -> CapTree<D> {
        CapTree::new(surface)
    }

    fn facet_set(
        &self,
        surface: &Snapped<D>,
        repeats: Repeats,
    ) -> Result<FacetSet<D, Self>, DeviceError> {
        facets::facet_set(self, surface, repeats)
    }

    fn bin_root(
        &self,
        set: &FacetSet<D, Self>,
        boxes: [u32; D],
        edge: i32,
    ) -> Result<Bins<Self>, DeviceError> {
        bins::root(self, set, boxes, edge)
    }

    fn bin_children(
        &self,
        set: &FacetSet<D, Self>,
        parents: &Bins<Self>,
        children: ChildBoxes<'_, D, Self>,
    ) -> Result<Bins<Self>, DeviceError> {
        bins::children(self, set, parents, children)
    }
}
