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
use cutlink_device::{Host, of_dimension};
use cutlink_mesher::rigid::Pose;
use cutlink_voxelizer::{EmbedParams, Frame, Mesh, MovingSurface, VoxelError};

static EMBEDS_2D: EmbedsBodies<2, Host> = EmbedsBodies::NEW;
static EMBEDS_3D: EmbedsBodies<3, Host> = EmbedsBodies::NEW;

impl<const D: usize> TopologyKernels<D> for Host {}

impl<const D: usize> TableKernels<D> for Host {
    fn on_host(mesh: &Mesh<D>) -> Option<&Mesh<D>> {
        Some(mesh)
    }

    fn slots(
        &self,
        mesh: &Mesh<D>,
        periodic: [bool; D],
        level: usize,
        children: &Vec<u32>,
        slot_of: &mut Vec<u32>,
    ) -> Result<Slots<Self>, SolverError> {
        tables::slots(mesh, periodic, level, children, slot_of)
    }

    fn places(
        &self,
        mesh: &Mesh<D>,
        periodic: [bool; D],
        blocks: &Vec<u32>,
        slot_of: &Vec<u32>,
    ) -> Result<Places<D, Self>, SolverError> {
        Ok(tables::places(mesh, periodic, blocks, slot_of))
    }

    fn masks(&self, mesh: &Mesh<D, Self>, blocks: &Vec<u32>) -> Result<[Vec<u64>; 2], SolverError> {
        Ok(tables::masks(mesh, blocks))
    }

    fn cuts(
        &self,
        mesh: &Mesh<D>,
        blocks: &Vec<u32>,
        special: usize,
    ) -> Result<Cuts<Self>, SolverError> {
        Ok(tables::cuts(mesh, &blocks[..special]))
    }

    fn walls(
        &self,
        boundary: &Vec<u64>,
        neighbors: &Vec<u32>,
        solid: &Vec<u64>,
        exchanging: usize,
    ) -> Result<WallSlots<Self>, SolverError> {
        Ok(tables::walls::<D>(boundary, neighbors, solid, exchanging))
    }
}

impl<const D: usize> BodyKernels<D> for Host {
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

    fn uncovered(&self, before: &Vec<u64>, now: &Vec<u64>) -> Result<Vec<u32>, SolverError> {
        Ok(embedded::uncovered::<D>(before, now))
    }

    fn has_fault(
        &self,
        mesh: &Mesh<D, Self>,
        cuts: &Cuts<Self>,
        exchanging: usize,
        owner: &Vec<u32>,
        bodies: u32,
    ) -> Result<bool, SolverError> {
        let moves: Vec<bool> = owner.iter().map(|&body| body < bodies).collect();
        let is_coarse = mesh.coarse_link_of(&moves).is_some();
        Ok(is_coarse || embedded::fault::<D>(cuts, exchanging, owner, bodies).is_some())
    }
}

impl<const D: usize> FollowKernels<D> for Host {
    fn limit(
        &self,
        forest: &Forest<D>,
        limits: &[LevelLimit<D>],
        levels: usize,
    ) -> Result<Vec<u8>, SolverError> {
        Ok(wish::limit(forest, limits, levels))
    }

    fn weigh(
        &self,
        forest: &Forest<D>,
        level: &Level<D, Self>,
        blocks: &Vec<u32>,
        values: &Vec<f32>,
        weight: &Weight<D>,
        wishes: &mut Wishes<Self>,
    ) -> Result<(), SolverError> {
        wish::weigh(forest, level, blocks, values, weight, wishes);
        Ok(())
    }

    fn want(
        &self,
        forest: &Forest<D>,
        level: usize,
        wishes: &Wishes<Self>,
        raised: f32,
        wanted: &mut Vec<u8>,
    ) -> Result<(), SolverError> {
        wish::want(forest, level, wishes, raised, wanted);
        Ok(())
    }

    fn spread(
        &self,
        forest: &Forest<D>,
        level: usize,
        layer: u8,
        wanted: &mut Vec<u8>,
    ) -> Result<(), SolverError> {
        wish::spread(forest, level, layer, wanted);
        Ok(())
    }

    fn mark_wanted(
        &self,
        forest: &Forest<D>,
        wishes: &Wishes<Self>,
        raised: f32,
        wanted: &Vec<u8>,
    ) -> Result<Vec<u8>, SolverError> {
        Ok(wish::mark_wanted(forest, wishes, raised, wanted))
    }

    fn own_slots(
        &self,
        forest: &Forest<D>,
        level: &Level<D, Self>,
        blocks: &Vec<u32>,
        slot_of: &mut Vec<u32>,
    ) -> Result<(), SolverError> {
        transfer::own_slots(forest, level, blocks, slot_of);
        Ok(())
    }

    fn sources(
        &self,
        forest: &Forest<D>,
        blocks: &Vec<u32>,
        former: &FormerIds<Self>,
        before: &Before<Self>,
    ) -> Result<Vec<SlotSource>, SolverError> {
        Ok(transfer::sources(forest, blocks, former, before))
    }
}
