//! The stages that make what depends on the blocks of a mesh alone, for a backend to implement.
//!
//! | stage | contract | files in `cpu/` and `cuda/` |
//! |---|---|---|
//! | [`slots`](TableKernels::slots) | which blocks of a level have populations, in what order | `tables` |
//! | [`places`](TableKernels::places), [`masks`](TableKernels::masks) | neighbours and masks by slot | `tables` |
//! | [`cuts`](TableKernels::cuts), [`walls`](TableKernels::walls) | cut links of the special slots, and slots with walls | `tables` |
//! | [`embed_bodies`](BodyKernels::embed_bodies), [`uncovered`](BodyKernels::uncovered), [`has_fault`](BodyKernels::has_fault) | bodies that moved, and whether they may be there | `embedded` |
//! | [`limit`](FollowKernels::limit), [`weigh`](FollowKernels::weigh) | how many levels each leaf may have, and how much it needs them | `wish` |
//! | [`want`](FollowKernels::want), [`spread`](FollowKernels::spread), [`mark_wanted`](FollowKernels::mark_wanted) | marks by layers around what is wanted | `wish` |
//! | [`own_slots`](FollowKernels::own_slots), [`sources`](FollowKernels::sources) | where populations come from after a change | `transfer` |
//!
//! All are exact: every backend gives the same arrays.

use crate::{
    LevelLimit, SolverError,
    adapt::{
        transfer::{Before, SlotSource},
        wish::{Weight, Wishes},
    },
    tables::{Cuts, Level, Places, Slots, WallSlots},
};
use cutlink_amr::{Forest, FormerIds};
use cutlink_device::Backend;
use cutlink_mesher::rigid::Pose;
use cutlink_voxelizer::{
    AdaptKernels, EmbedParams, Frame, Mesh, MovingSurface, VoxelError, kernels::MeshKernels,
};

/// How bodies of a dimension are embedded on a backend; see [`of_dimension`](cutlink_device::of_dimension).
pub(crate) struct EmbedsBodies<const D: usize, B: Backend>(pub(crate) Embeds<D, B>);

type Embeds<const D: usize, B> = fn(
    &B,
    &MovingSurface<D>,
    Forest<D, B>,
    Frame<D>,
    &EmbedParams,
    &[Pose<D>],
) -> Result<Mesh<D, B>, VoxelError>;

impl<const D: usize, B: MeshKernels<D>> EmbedsBodies<D, B> {
    pub(crate) const NEW: Self = Self(|backend, surface, forest, frame, params, poses| {
        surface.embed_on(backend, forest, frame, params, poses)
    });
}

/// The stages; see the module's table. Stages follow ids that they are given, without bounds checks on a GPU: it is this crate
/// alone that calls them, with what the others made.
pub trait TopologyKernels<const D: usize>:
    TableKernels<D> + BodyKernels<D> + FollowKernels<D>
{
}

/// Tables of the levels of a mesh.
pub trait TableKernels<const D: usize>: AdaptKernels<D> {
    /// The mesh, if it is on the host.
    fn on_host(mesh: &Mesh<D, Self>) -> Option<&Mesh<D>>;

    /// The blocks of a level that have slots, in their order; writes the slot of each. `children`: the blocks that
    /// `Slots::children` of the coarser level names. `slot_of`: by block id, [`NONE`](cutlink_amr::NONE) on this level before.
    ///
    /// # Errors
    /// On the host, where the flow is periodic and the mesh is not: two faces that are refined differently.
    fn slots(
        &self,
        mesh: &Mesh<D, Self>,
        periodic: [bool; D],
        level: usize,
        children: &Self::Buf<u32>,
        slot_of: &mut Self::Buf<u32>,
    ) -> Result<Slots<Self>, SolverError>;

    /// The tables of some blocks of a level.
    ///
    /// # Errors
    /// As [`slots`](Self::slots).
    fn places(
        &self,
        mesh: &Mesh<D, Self>,
        periodic: [bool; D],
        blocks: &Self::Buf<u32>,
        slot_of: &Self::Buf<u32>,
    ) -> Result<Places<D, Self>, SolverError>;

    /// Cells to step and solid cells of blocks.
    fn masks(
        &self,
        mesh: &Mesh<D, Self>,
        blocks: &Self::Buf<u32>,
    ) -> Result<[Self::Buf<u64>; 2], SolverError>;

    /// The cut links of the first `special` of some blocks of a level.
    fn cuts(
        &self,
        mesh: &Mesh<D, Self>,
        blocks: &Self::Buf<u32>,
        special: usize,
    ) -> Result<Cuts<Self>, SolverError>;

    /// The special slots by what is around them, the first `exchanging` of which exchange. `boundary`: by special slot; neighbours and
    /// solid cells of all slots.
    fn walls(
        &self,
        boundary: &Self::Buf<u64>,
        neighbors: &Self::Buf<u32>,
        solid: &Self::Buf<u64>,
        exchanging: usize,
    ) -> Result<WallSlots<Self>, SolverError>;
}

/// Bodies that have moved.
pub trait BodyKernels<const D: usize>: AdaptKernels<D> {
    /// The mesh with the bodies of a surface at poses, in lengths: [`MovingSurface::embed_on`], compiled in this crate.
    ///
    /// # Errors
    /// As that.
    fn embed_bodies(
        &self,
        surface: &MovingSurface<D>,
        forest: Forest<D, Self>,
        frame: Frame<D>,
        params: &EmbedParams,
        poses: &[Pose<D>],
    ) -> Result<Mesh<D, Self>, VoxelError>;

    /// Cells that were solid and are not: 4^D times the slot plus the cell, ascending. Both: solid cells by slot.
    fn uncovered(
        &self,
        before: &Self::Buf<u64>,
        now: &Self::Buf<u64>,
    ) -> Result<Vec<u32>, SolverError>;

    /// Whether a link of a body is in one of the first `exchanging` slots or above the finest level, or a body meets another one or
    /// what is at rest. `owner`: by patch its body, or the number of bodies.
    fn has_fault(
        &self,
        mesh: &Mesh<D, Self>,
        cuts: &Cuts<Self>,
        exchanging: usize,
        owner: &Self::Buf<u32>,
        bodies: u32,
    ) -> Result<bool, SolverError>;
}

/// A mesh that follows the flow.
pub trait FollowKernels<const D: usize>: AdaptKernels<D> {
    /// By block id, the most levels at its centre: `levels`, or less within the limits.
    fn limit(
        &self,
        forest: &Forest<D, Self>,
        limits: &[LevelLimit<D>],
        levels: usize,
    ) -> Result<Self::Buf<u8>, SolverError>;

    /// Counts the values of a level's slots for the leaves among its blocks.
    fn weigh(
        &self,
        forest: &Forest<D, Self>,
        level: &Level<D, Self>,
        blocks: &Self::Buf<u32>,
        values: &Self::Buf<f32>,
        weight: &Weight<D>,
        wishes: &mut Wishes<Self>,
    ) -> Result<(), SolverError>;

    /// Writes 1 for the blocks of a level that are wanted refined for their own sake or for that of a child.
    fn want(
        &self,
        forest: &Forest<D, Self>,
        level: usize,
        wishes: &Wishes<Self>,
        raised: f32,
        wanted: &mut Self::Buf<u8>,
    ) -> Result<(), SolverError>;

    /// Writes `layer + 1` for the blocks with 0 beside those of a level with `layer`.
    fn spread(
        &self,
        forest: &Forest<D, Self>,
        level: usize,
        layer: u8,
        wanted: &mut Self::Buf<u8>,
    ) -> Result<(), SolverError>;

    /// The marks: leaves that are wanted are refined where they may, those whose parents are not and that are cold coarsened.
    fn mark_wanted(
        &self,
        forest: &Forest<D, Self>,
        wishes: &Wishes<Self>,
        raised: f32,
        wanted: &Self::Buf<u8>,
    ) -> Result<Self::Buf<u8>, SolverError>;

    /// Writes by block id the slots of a level's blocks that have populations of their own.
    fn own_slots(
        &self,
        forest: &Forest<D, Self>,
        level: &Level<D, Self>,
        blocks: &Self::Buf<u32>,
        slot_of: &mut Self::Buf<u32>,
    ) -> Result<(), SolverError>;

    /// By slot of a new level, what its populations are made of. The forest is the new one.
    fn sources(
        &self,
        forest: &Forest<D, Self>,
        blocks: &Self::Buf<u32>,
        former: &FormerIds<Self>,
        before: &Before<Self>,
    ) -> Result<Self::Buf<SlotSource>, SolverError>;
}
