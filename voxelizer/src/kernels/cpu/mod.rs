//! The stages on the CPU, with rayon.

mod classify;
mod cut_links;
mod local;
mod mark;
mod seed;

use super::{Classified, Kernels, LevelData, Rim, Seeds, SolidRule};
use crate::{LinkTable, VoxelError, refine::LevelMarks};
use cutlink_amr::Forest;
use cutlink_device::Host;
use cutlink_mesher::{
    exact::{Exact, Facet},
    kernels::FacetSet,
};

impl<const D: usize> Kernels<D> for Host
where
    Facet<D>: Exact<D>,
{
    fn seed_roots(
        &self,
        set: &FacetSet<D>,
        forest: &Forest<D>,
        spacing: i32,
    ) -> Result<Vec<i32>, VoxelError> {
        Ok(seed::roots(set, forest.root, spacing))
    }

    fn classify(
        &self,
        data: &LevelData<'_, D, Self>,
        seeds: Seeds<'_, Self>,
        rule: SolidRule<'_, D>,
        solid: &mut Vec<u64>,
    ) -> Result<Classified<Self>, VoxelError> {
        data.check(&[("solid cells", solid.len())]);
        data.check_seeds(&seeds, rule.gaps.is_some());
        classify::classify(data, &seeds, rule, solid)
    }

    fn mark(
        &self,
        data: &LevelData<'_, D, Self>,
        solid: &Vec<u64>,
        uncertain: &Vec<u8>,
        marks: &LevelMarks<D>,
    ) -> Result<Vec<u8>, VoxelError> {
        data.check(&[("solid cells", solid.len())]);
        data.check_marks(uncertain, marks);
        mark::mark(data, solid, uncertain, marks)
    }

    fn interfaces(&self, forest: &Forest<D>) -> Result<Rim<Self>, VoxelError> {
        mark::interfaces(forest)
    }

    fn cut_links(
        &self,
        data: &LevelData<'_, D, Self>,
        solid: &Vec<u64>,
        gap: Option<u16>,
        boundary: &mut Vec<u64>,
        table: &mut LinkTable,
    ) -> Result<(), VoxelError> {
        data.check(&[
            ("solid cells", solid.len()),
            ("boundary cells", boundary.len()),
        ]);
        cut_links::cut_links(data, solid, gap, boundary, table)
    }
}
