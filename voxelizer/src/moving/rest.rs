//! What is at rest of a surface with bodies: facets, their lists on the blocks of a forest, and winding numbers, none of which
//! change while bodies move.

use crate::{
    EmbedParams, Frame, VoxelError,
    embed::{Beyond, bin_level, level_view, prepare, repeats_in},
    kernels::{Images, MeshKernels},
};
use cutlink_amr::Forest;
use cutlink_device::{DeviceError, Host};
use cutlink_mesher::{
    Surface,
    kernels::{BinKernels as _, Bins, FacetSet},
};

/// See the module.
#[derive(Debug)]
pub(super) struct AtRest<const D: usize> {
    /// The facets at rest, and those of the bodies behind them.
    pub(super) set: FacetSet<D>,
    facets: usize,
    extent: i32,
    /// Winding numbers at the first cells of root blocks.
    seeds: Vec<i32>,
    /// Facet lists by level of the forest.
    lists: Vec<Bins>,
    /// In a periodic box the images beyond its faces, and their lists.
    images: Option<(Beyond<D, Host>, Vec<Bins>)>,
}

impl<const D: usize> AtRest<D>
where
    Host: MeshKernels<D>,
{
    /// Cost: facet lists on all blocks, as in an embedding.
    pub(super) fn new(
        surface: &Surface<D>,
        forest: &Forest<D>,
        frame: &Frame<D>,
        params: &EmbedParams,
    ) -> Result<Self, VoxelError> {
        let (snapped, _) = prepare(&Host, surface, frame, params)?;
        let set = Host.facet_set(&snapped, repeats_in(params.periodic_axes::<D>()))?;
        let lists = |set: &FacetSet<D>| -> Result<Vec<Bins>, VoxelError> {
            let mut lists: Vec<Bins> = Vec::new();
            for level in 0..forest.levels.len() {
                let view = |level| level_view(forest, level, params.levels);
                let above = lists.last().map(|lists| (view(level - 1), lists));
                let of_level = bin_level(&Host, forest, set, view(level), above)?;
                lists.push(of_level);
            }
            Ok(lists)
        };
        let images = match Beyond::new(&Host, &snapped, frame, params)? {
            Some(beyond) => {
                let lists = lists(&beyond.set)?;
                Some((beyond, lists))
            }
            None => None,
        };
        let spacing = level_view(forest, 0, params.levels).spacing;
        Ok(Self {
            seeds: Host.seed_roots(&set, forest, spacing)?,
            lists: lists(&set)?,
            facets: set.corners.len(),
            extent: set.extent,
            images,
            set,
        })
    }

    /// Puts the facets of bodies behind those at rest.
    pub(super) fn take_bodies(&mut self, bodies: &FacetSet<D>) {
        self.set.extent = self.extent;
        self.set.replace_from(self.facets, bodies);
    }

    /// Adds the winding numbers at the first cells of root blocks.
    pub(super) fn add_seeds(&self, seeds: &mut [i32]) {
        for (seed, own) in seeds.iter_mut().zip(&self.seeds) {
            *seed += own;
        }
    }

    /// The facet lists of some blocks of a level, by their places in it, followed by those of the bodies.
    pub(super) fn lists_with(
        &self,
        level: usize,
        rows: &[u32],
        bodies: &Bins,
    ) -> Result<Bins, DeviceError> {
        self.lists[level].of_boxes(rows)?.followed_by(bodies)
    }

    /// The lists of images of some blocks of a level.
    pub(super) fn image_lists(
        &self,
        level: usize,
        rows: &[u32],
    ) -> Result<Option<Bins>, DeviceError> {
        let of = |(_, lists): &(_, Vec<Bins>)| lists[level].of_boxes(rows);
        self.images.as_ref().map(of).transpose()
    }

    /// The images with lists of them.
    pub(super) fn images<'a>(&'a self, lists: Option<&'a Bins>) -> Option<Images<'a, D, Host>> {
        let beyond = self.images.as_ref().map(|(beyond, _)| beyond);
        beyond.zip(lists).map(Beyond::with)
    }
}
