//! The stages on an NVIDIA GPU.

#![expect(unsafe_code, reason = "kernels are launched with addresses")]

mod adapt;
mod classify;
mod cut_links;
mod gaps;
mod mark;
mod seed;
mod tally;

use super::{
    AdaptKernels, Classified, LevelData, LevelView, LinkRule, MeshKernels, Rim, Seeds, SolidRule,
    Tally, WindowPlaces, check_len, small::small_extent,
};
use crate::{LinkTable, Mesh, VoxelError, refine::LevelMarks};
use cutlink_amr::Forest;
use cutlink_device::{
    Item,
    cuda::{Cuda, CudaBuf, Module},
};
use cutlink_mesher::{
    exact::{Exact, Facet},
    kernels::FacetSet,
};

/// Threads of a block where nothing asks for another number.
const THREADS: u32 = 256;

static SEED: [Module; 2] = cutlink_device::cuda_modules!("seed");
static CLASSIFY: [Module; 2] = cutlink_device::cuda_modules!("classify");
static GAPS: [Module; 2] = cutlink_device::cuda_modules!("gaps");
static MARK: [Module; 2] = cutlink_device::cuda_modules!("mark");
static ADAPT: [Module; 2] = cutlink_device::cuda_modules!("adapt");
static CUT_LINKS: [Module; 2] = cutlink_device::cuda_modules!("cut_links");
static TALLY: [Module; 2] = cutlink_device::cuda_modules!("tally");

/// The address of an array; none for an empty one.
fn address_or_none<T: Item>(buf: &CudaBuf<T>) -> u64 {
    if buf.is_empty() { 0 } else { buf.address(0) }
}

impl<const D: usize> AdaptKernels<D> for Cuda {
    fn interfaces(&self, forest: &Forest<D, Self>) -> Result<Rim<Self>, VoxelError> {
        mark::interfaces(self, forest)
    }

    fn hold(
        &self,
        forest: &Forest<D, Self>,
        held: &CudaBuf<u8>,
        marks: &mut CudaBuf<u8>,
    ) -> Result<(), VoxelError> {
        check_len(forest.capacity(), [held.len(), marks.len()]);
        adapt::hold(self, forest, held, marks)
    }

    fn withdraw(
        &self,
        mesh: &Mesh<D, Self>,
        level: usize,
        marks: &mut CudaBuf<u8>,
        withheld: &mut CudaBuf<u32>,
    ) -> Result<(), VoxelError> {
        let masks = [&mesh.classes.solid, &mesh.classes.boundary].map(CudaBuf::len);
        check_len(mesh.forest.capacity(), masks);
        check_len(mesh.forest.capacity(), [marks.len()]);
        assert!(!withheld.is_empty(), "a place for a number");
        adapt::withdraw(self, mesh, level, marks, withheld)
    }

    fn name_rows(
        &self,
        row_of: &CudaBuf<u32>,
        blocks: &mut CudaBuf<u32>,
    ) -> Result<(), VoxelError> {
        adapt::name_rows::<D>(self, row_of, blocks)
    }

    fn tally(&self, mesh: &Mesh<D, Self>) -> Result<Tally<D>, VoxelError> {
        let classes = &mesh.classes;
        let masks = [
            &classes.solid,
            &classes.boundary,
            &classes.ghost,
            &classes.interface,
        ];
        check_len(mesh.forest.capacity(), masks.map(CudaBuf::len));
        tally::tally(self, mesh)
    }
}

impl<const D: usize> MeshKernels<D> for Cuda
where
    Facet<D>: Exact<D>,
{
    fn seed_roots(
        &self,
        set: &FacetSet<D, Self>,
        forest: &Forest<D, Self>,
        spacing: i32,
    ) -> Result<CudaBuf<i32>, VoxelError> {
        seed::roots(self, set, forest.grid(), spacing)
    }

    fn classify(
        &self,
        data: &LevelData<'_, D, Self>,
        seeds: Seeds<'_, Self>,
        rule: SolidRule<'_, D>,
        solid: &mut CudaBuf<u64>,
    ) -> Result<Classified<Self>, VoxelError> {
        data.check(&[("solid cells", solid.len())]);
        data.check_seeds(&seeds, rule.gaps.is_some());
        classify::classify(self, data, &seeds, rule, solid)
    }

    fn mark(
        &self,
        data: &LevelData<'_, D, Self>,
        solid: &CudaBuf<u64>,
        uncertain: &CudaBuf<u8>,
        marks: &LevelMarks<D>,
    ) -> Result<CudaBuf<u8>, VoxelError> {
        data.check(&[("solid cells", solid.len())]);
        data.check_marks(uncertain, marks);
        mark::mark(self, data, solid, uncertain, marks)
    }

    fn restrict(
        &self,
        forest: &Forest<D, Self>,
        view: LevelView,
        places: &WindowPlaces<D, Self>,
        marks: &mut CudaBuf<u8>,
    ) -> Result<(), VoxelError> {
        places.check(forest, view, marks.len());
        mark::restrict(self, forest, view, places, marks)
    }

    fn cut_links(
        &self,
        data: &LevelData<'_, D, Self>,
        solid: &CudaBuf<u64>,
        rule: LinkRule<'_, Self>,
        boundary: &mut CudaBuf<u64>,
        table: &mut LinkTable<Self>,
    ) -> Result<u64, VoxelError> {
        data.check(&[
            ("solid cells", solid.len()),
            ("boundary cells", boundary.len()),
        ]);
        data.check_rule(&rule);
        cut_links::cut_links(self, data, solid, &rule, boundary, table)
    }
}

/// Whether kernels for small facets alone do.
fn all_small<const D: usize>(data: &LevelData<'_, D, Cuda>) -> bool {
    let most = small_extent(data.view.spacing);
    let images = data.images.as_ref();
    data.set.extent <= most && images.is_none_or(|images| images.set.extent <= most)
}
