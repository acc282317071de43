//! Stages that depend on the blocks of a mesh alone.

use super::{embedded, tables, transfer, wish};
use crate::{
    LevelLimit, SolverError,
    adapt::{
        transfer::{Before, SlotSource},
        wish::{Weight, Wishes},
    },
    kernels::topology::{BodyKernels, EmbedsBodies, FollowKernels, TableKernels, TopologyKernels},
    tables::{Cuts, Level, Places, Slots, WallSlots},
};
use cutlink_amr::{Forest, FormerIds};
use cutlink_device::{
    cuda::{Cuda, CudaBuf},
    of_dimension,
};
use cutlink_mesher::rigid::Pose;
use cutlink_voxelizer::{EmbedParams, Frame, Mesh, MovingSurface, VoxelError};

static EMBEDS_2D: EmbedsBodies<2, Cuda> = EmbedsBodies::NEW;
static EMBEDS_3D: EmbedsBodies<3, Cuda> = EmbedsBodies::NEW;

impl<const D: usize> TopologyKernels<D> for Cuda {}

impl<const D: usize> TableKernels<D> for Cuda {
    fn on_host(_: &Mesh<D, Self>) -> Option<&Mesh<D>> {
        None
    }

    fn slots(
        &self,
        mesh: &Mesh<D, Self>,
        periodic: [bool; D],
        level: usize,
        children: &CudaBuf<u32>,
        slot_of: &mut CudaBuf<u32>,
    ) -> Result<Slots<Self>, SolverError> {
        check_periodic(mesh, periodic);
        tables::slots(self, mesh, level, children, slot_of)
    }

    fn places(
        &self,
        mesh: &Mesh<D, Self>,
        periodic: [bool; D],
        blocks: &CudaBuf<u32>,
        slot_of: &CudaBuf<u32>,
    ) -> Result<Places<D, Self>, SolverError> {
        check_periodic(mesh, periodic);
        tables::places(self, mesh, blocks, slot_of)
    }

    fn masks(
        &self,
        mesh: &Mesh<D, Self>,
        blocks: &CudaBuf<u32>,
    ) -> Result<[CudaBuf<u64>; 2], SolverError> {
        let (_, [stepped, solid, _]) = tables::masks(self, mesh, blocks)?;
        Ok([stepped, solid])
    }

    fn cuts(
        &self,
        mesh: &Mesh<D, Self>,
        blocks: &CudaBuf<u32>,
        special: usize,
    ) -> Result<Cuts<Self>, SolverError> {
        tables::cuts(self, mesh, blocks, special)
    }

    fn walls(
        &self,
        boundary: &CudaBuf<u64>,
        neighbors: &CudaBuf<u32>,
        solid: &CudaBuf<u64>,
        exchanging: usize,
    ) -> Result<WallSlots<Self>, SolverError> {
        tables::walls::<D>(self, boundary, neighbors, solid, exchanging)
    }
}

impl<const D: usize> BodyKernels<D> for Cuda {
    fn embed_bodies(
        &self,
        surface: &MovingSurface<D>,
        forest: Forest<D, Self>,
        frame: Frame<D>,
        params: &EmbedParams,
        poses: &[Pose<D>],
    ) -> Result<Mesh<D, Self>, VoxelError> {
        let embeds = of_dimension::<D, EmbedsBodies<D, Self>>(&EMBEDS_2D, &EMBEDS_3D);
        (embeds.0)(self, surface, forest, frame, params, poses)
    }

    fn uncovered(
        &self,
        before: &CudaBuf<u64>,
        now: &CudaBuf<u64>,
    ) -> Result<Vec<u32>, SolverError> {
        embedded::uncovered::<D>(self, before, now)
    }

    fn has_fault(
        &self,
        mesh: &Mesh<D, Self>,
        cuts: &Cuts<Self>,
        exchanging: usize,
        owner: &CudaBuf<u32>,
        bodies: u32,
    ) -> Result<bool, SolverError> {
        embedded::has_fault(self, mesh, cuts, exchanging, owner, bodies)
    }
}

impl<const D: usize> FollowKernels<D> for Cuda {
    fn limit(
        &self,
        forest: &Forest<D, Self>,
        limits: &[LevelLimit<D>],
        levels: usize,
    ) -> Result<CudaBuf<u8>, SolverError> {
        wish::limit(self, forest, limits, levels)
    }

    fn weigh(
        &self,
        forest: &Forest<D, Self>,
        level: &Level<D, Self>,
        blocks: &CudaBuf<u32>,
        values: &CudaBuf<f32>,
        weight: &Weight<D>,
        wishes: &mut Wishes<Self>,
    ) -> Result<(), SolverError> {
        wish::weigh(self, forest, level, blocks, values, weight, wishes)
    }

    fn want(
        &self,
        forest: &Forest<D, Self>,
        level: usize,
        wishes: &Wishes<Self>,
        raised: f32,
        wanted: &mut CudaBuf<u8>,
    ) -> Result<(), SolverError> {
        wish::want(self, forest, level, wishes, raised, wanted)
    }

    fn spread(
        &self,
        forest: &Forest<D, Self>,
        level: usize,
        layer: u8,
        wanted: &mut CudaBuf<u8>,
    ) -> Result<(), SolverError> {
        wish::spread(self, forest, level, layer, wanted)
    }

    fn mark_wanted(
        &self,
        forest: &Forest<D, Self>,
        wishes: &Wishes<Self>,
        raised: f32,
        wanted: &CudaBuf<u8>,
    ) -> Result<CudaBuf<u8>, SolverError> {
        wish::mark_wanted(self, forest, wishes, raised, wanted)
    }

    fn own_slots(
        &self,
        forest: &Forest<D, Self>,
        level: &Level<D, Self>,
        blocks: &CudaBuf<u32>,
        slot_of: &mut CudaBuf<u32>,
    ) -> Result<(), SolverError> {
        transfer::own_slots(self, forest, level, blocks, slot_of)
    }

    fn sources(
        &self,
        forest: &Forest<D, Self>,
        blocks: &CudaBuf<u32>,
        former: &FormerIds<Self>,
        before: &Before<Self>,
    ) -> Result<CudaBuf<SlotSource>, SolverError> {
        transfer::sources(self, forest, blocks, former, before)
    }
}

/// # Panics
/// Where the flow is periodic and the mesh is not: its tables are made on the host.
fn check_periodic<const D: usize>(mesh: &Mesh<D, Cuda>, periodic: [bool; D]) {
    assert_eq!(
        mesh.forest.periodic, periodic,
        "periodic axes of mesh and flow"
    );
}
