//! The stages on the CPU, with rayon.

mod adapt;
mod classify;
mod cut_links;
mod local;
mod mark;
mod pass;
mod seed;
pub(crate) mod tally;

use super::{
    AdaptKernels, Classified, LevelData, LevelView, LinkRule, MeshKernels, Rim, Seeds, SolidRule,
    Tally, WindowPlaces, check_len,
};
use crate::{LinkTable, Mesh, VoxelError, refine::LevelMarks};
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
    restrict: fn(&Forest<D>, LevelView, &WindowPlaces<D, Host>, &mut [u8]),
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
    &LinkRule<'_, Host>,
    &mut [u64],
    &mut LinkTable,
) -> Result<u64, VoxelError>;

impl<const D: usize> Stages<D>
where
    Facet<D>: Exact<D>,
{
    const NEW: Self = Self {
        seed_roots: seed::roots,
        classify: classify::classify,
        mark: mark::mark,
        restrict: mark::restrict,
        cut_links: cut_links::cut_links,
    };
}

static IN_2D: Stages<2> = Stages::NEW;
static IN_3D: Stages<3> = Stages::NEW;

fn stages<const D: usize>() -> &'static Stages<D> {
    of_dimension::<D, _>(&IN_2D, &IN_3D)
}

/// The stages that need no facets, of a dimension; see [`of_dimension`].
struct AdaptStages<const D: usize> {
    interfaces: fn(&Forest<D>) -> Result<Rim<Host>, VoxelError>,
    hold: fn(&Forest<D>, &[u8], &mut [u8]),
    withdraw: fn(&Mesh<D>, usize, &mut [u8], &mut u32),
    tally: fn(&Mesh<D>) -> Tally<D>,
}

impl<const D: usize> AdaptStages<D> {
    const NEW: Self = Self {
        interfaces: mark::interfaces,
        hold: adapt::hold,
        withdraw: adapt::withdraw,
        tally: tally::tally,
    };
}

static ADAPT_2D: AdaptStages<2> = AdaptStages::NEW;
static ADAPT_3D: AdaptStages<3> = AdaptStages::NEW;

fn adapt_stages<const D: usize>() -> &'static AdaptStages<D> {
    of_dimension::<D, _>(&ADAPT_2D, &ADAPT_3D)
}

impl<const D: usize> AdaptKernels<D> for Host {
    fn interfaces(&self, forest: &Forest<D>) -> Result<Rim<Self>, VoxelError> {
        (adapt_stages().interfaces)(forest)
    }

    fn hold(
        &self,
        forest: &Forest<D>,
        held: &Vec<u8>,
        marks: &mut Vec<u8>,
    ) -> Result<(), VoxelError> {
        check_len(forest.capacity(), [held.len(), marks.len()]);
        (adapt_stages().hold)(forest, held, marks);
        Ok(())
    }

    fn withdraw(
        &self,
        mesh: &Mesh<D>,
        level: usize,
        marks: &mut Vec<u8>,
        withheld: &mut Vec<u32>,
    ) -> Result<(), VoxelError> {
        check_len(mesh.forest.capacity(), [marks.len()]);
        (adapt_stages().withdraw)(mesh, level, marks, &mut withheld[0]);
        Ok(())
    }

    fn name_rows(&self, row_of: &Vec<u32>, blocks: &mut Vec<u32>) -> Result<(), VoxelError> {
        adapt::name_rows(row_of, blocks);
        Ok(())
    }

    fn tally(&self, mesh: &Mesh<D>) -> Result<Tally<D>, VoxelError> {
        Ok((adapt_stages().tally)(mesh))
    }
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

    fn restrict(
        &self,
        forest: &Forest<D>,
        view: LevelView,
        places: &WindowPlaces<D, Self>,
        marks: &mut Vec<u8>,
    ) -> Result<(), VoxelError> {
        places.check(forest, view, marks.len());
        (stages().restrict)(forest, view, places, marks);
        Ok(())
    }

    fn cut_links(
        &self,
        data: &LevelData<'_, D, Self>,
        solid: &Vec<u64>,
        rule: LinkRule<'_, Self>,
        boundary: &mut Vec<u64>,
        table: &mut LinkTable,
    ) -> Result<u64, VoxelError> {
        data.check(&[
            ("solid cells", solid.len()),
            ("boundary cells", boundary.len()),
        ]);
        data.check_rule(&rule);
        (stages().cut_links)(data, solid, &rule, boundary, table)
    }
}
