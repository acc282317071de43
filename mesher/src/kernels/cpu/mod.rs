//! The stages on the CPU, with rayon.

mod bins;
mod facets;

use super::{BinKernels, Bins, ChildBoxes, FacetSet, Repeats};
use crate::{
    exact::{Exact, Facet},
    robust::{self, CapTree, RobustReport},
    snap::Snapped,
};
use cutlink_device::{DeviceError, Host, of_dimension};

/// The stages of a dimension; see [`of_dimension`].
struct Stages<const D: usize> {
    close: fn(&mut Snapped<D>) -> RobustReport,
    gaps: fn(&Snapped<D>) -> CapTree<D>,
    facet_set: fn(&Snapped<D>, Repeats) -> Result<FacetSet<D>, DeviceError>,
    bin_root: fn(&FacetSet<D>, [u32; D], i32) -> Result<Bins, DeviceError>,
    bin_children: fn(&FacetSet<D>, &Bins, ChildBoxes<'_, D, Host>) -> Result<Bins, DeviceError>,
}

impl<const D: usize> Stages<D>
where
    Facet<D>: Exact<D>,
{
    const NEW: Self = Self {
        close: robust::close,
        gaps: CapTree::new,
        facet_set: facets::facet_set,
        bin_root: bins::root,
        bin_children: bins::children,
    };
}

static IN_2D: Stages<2> = Stages::NEW;
static IN_3D: Stages<3> = Stages::NEW;

fn stages<const D: usize>() -> &'static Stages<D> {
    of_dimension::<D, _>(&IN_2D, &IN_3D)
}

impl<const D: usize> BinKernels<D> for Host
where
    Facet<D>: Exact<D>,
{
    fn close(&self, surface: &mut Snapped<D>) -> RobustReport {
        (stages().close)(surface)
    }

    fn gaps(&self, surface: &Snapped<D>) -> CapTree<D> {
        (stages().gaps)(surface)
    }

    fn facet_set(
        &self,
        surface: &Snapped<D>,
        repeats: Repeats,
    ) -> Result<FacetSet<D>, DeviceError> {
        (stages().facet_set)(surface, repeats)
    }

    fn bin_root(&self, set: &FacetSet<D>, boxes: [u32; D], edge: i32) -> Result<Bins, DeviceError> {
        (stages().bin_root)(set, boxes, edge)
    }

    fn bin_children(
        &self,
        set: &FacetSet<D>,
        parents: &Bins,
        children: ChildBoxes<'_, D, Self>,
    ) -> Result<Bins, DeviceError> {
        (stages().bin_children)(set, parents, children)
    }
}
