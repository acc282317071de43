//! The stages on the CPU, with rayon.

mod classify;
mod cut_links;
mod local;
mod mark;
mod seed;

use super::{Classified, LevelData, MeshKernels, Rim, Seeds, SolidRule};
use crate::{LinkTable, VoxelError, refine::LevelMarks};
use cutlink_amr::Forest;
use cutlink_device::{Host, of_dimension};
use cutlink_mesher::{
    exact::{Exact, Facet},
    kernels::FacetSet,
};

/// The stages of a dimension; see [`of_dimension`].
struct Stages<const D: usize> {
    seed_roots: fn(&FacetSet<D>, [u32; D], i32) -> Vec<i32>,
    classify: Classify<D>,
    mark: Mark<D>,
    interfaces: fn(&Forest<D>) -> Result<Rim<Host>, VoxelError>,
    cut_links: CutLinks<D>,
}

type Mark<const D: usize> =
    fn(&LevelData<'_, D, Host>, &[u64], &[u8], &LevelMarks<D>) -> Result<Vec<u8>, VoxelError>;

type Classify<const D: usize> = fn(
    &LevelData<'_, D, Host>,
    &Seeds<'_, Host>,
    SolidRule<'_, D>,
    &mut [u64],
) -> Result<Classified<Host>, VoxelError>;

type CutLinks<const D: usize> = fn(
    &LevelData<'_, D, Host>,
    &[u64],
    Option<u16>,
    &mut [u64],
    &mut LinkTable,
) -> Result<(), VoxelError>;

impl<const D: usize> Stages<D>
where
    Facet<D>: Exact<D>,
{
    const NEW: Self = Self {
        seed_roots: seed::roots,
        classify: classify::classify,
        mark: mark::mark,
        interfaces: mark::interfaces,
        cut_links: cut_links::cut_links,
    };
}

static IN_2D: Stages<2> = Stages::NEW;
static IN_3D: Stages<3> = Stages::NEW;

fn stages<const D: usize>() -> &'static Stages<D> {
    of_dimension::<D, _>(&IN_2D, &IN_3D)
}

/// [`MeshKernels::interfaces`], for those who have no facets.
pub(crate) fn interfaces<const D: usize>(forest: &Forest<D>) -> Result<Rim<Host>, VoxelError> {
    (stages().interfaces)(forest)
}

impl<const D: usize> MeshKernels<D> for Host
where
    Facet<D>: Exact<D>,
{
    fn seed_roots(
        &self,
        set: &FacetSet<D>,
        forest: &Forest<D>,
        spacing: i32,
    ) -> Result<Vec<i32>, VoxelError> {
        Ok((stages().seed_roots)(set, forest.root, spacing))
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
        (stages().classify)(data, &seeds, rule, solid)
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
        (stages().mark)(data, solid, uncertain, marks)
    }

    fn interfaces(&self, forest: &Forest<D>) -> Result<Rim<Self>, VoxelError> {
        interfaces(forest)
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
        (stages().cut_links)(data, solid, gap, boundary, table)
    }
}
