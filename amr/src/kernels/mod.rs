//! The stages of an adaptation, for a backend to implement.
//!
//! | stage | contract | files in `cpu/` and `cuda/` |
//! |---|---|---|
//! | [`ripple`](ChangeKernels::ripple) | a marked leaf marks the coarser leaves that touch it | `marks` |
//! | [`select_refine`](ChangeKernels::select_refine) | marked leaves of a level, in list order | `marks` |
//! | [`select_coarsen`](ChangeKernels::select_coarsen) | parents whose children may go, in list order | `marks` |
//! | [`insert_children`](ChangeKernels::insert_children) | 2^D contiguous children a parent, gaps first | `children` |
//! | [`remove_children`](ChangeKernels::remove_children) | parents become leaves, groups become gaps | `children` |
//! | [`flag_refined`](RebuildKernels::flag_refined) | which blocks have children if marked leaves get some | `rebuild` |
//! | [`clear_coarsened`](RebuildKernels::clear_coarsened) | and if the children of a level's blocks go | `rebuild` |
//! | [`count_refined`](RebuildKernels::count_refined) | how many these are, by level | `rebuild` |
//! | [`follow_marks`](RebuildKernels::follow_marks), [`follow_children`](RebuildKernels::follow_children) | a level of the new forest | `rebuild` |
//! | [`follow`](RebuildKernels::follow) | values by former id as values by new id | `rebuild` |
//! | [`connect`](ChangeKernels::connect) | the places of a level's families from their parents' | `connect` |
//!
//! All are exact: every backend gives the same arrays, ids and orders included.
//!
//! Stages panic where `marks` has not one entry for each block id, or `level` is not one that they speak of. Those
//! that follow ids given to them are unsafe.

mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
pub mod linear;

use crate::{Forest, ForestError, FormerIds};
use cutlink_device::{Backend, Item};

pub use linear::{BuildKernels, CloseKernels, LinearKernels};

mod sealed {
    pub trait Sealed {}
    impl Sealed for cutlink_device::Host {}
    #[cfg(feature = "cuda")]
    impl Sealed for cutlink_device::cuda::Cuda {}
}

/// The stages of [`Forest::adapt`], in groups; see the module's table. `marks` holds one
/// [`Mark`](crate::Mark) as u8 for each block id. Sealed: the backends are those of `cutlink-device`.
pub trait ForestKernels<const D: usize>: ChangeKernels<D> + RebuildKernels<D> {}

/// Blocks of a forest come and go. Sealed, as all of [`ForestKernels`].
#[expect(
    unsafe_code,
    reason = "some stages follow ids without bounds checks on a device"
)]
pub trait ChangeKernels<const D: usize>: Backend + sealed::Sealed {
    /// For every leaf of `level` (at least 1) that is marked to refine and every direction
    /// without a block of that level, marks the coarser leaf that lies there.
    fn ripple(
        &self,
        forest: &Forest<D, Self>,
        level: usize,
        marks: &mut Self::Buf<u8>,
    ) -> Result<(), ForestError>;

    /// The leaves of `level` that are marked to refine.
    fn select_refine(
        &self,
        forest: &Forest<D, Self>,
        level: usize,
        marks: &Self::Buf<u8>,
    ) -> Result<Self::Buf<u32>, ForestError>;

    /// The blocks of `level` whose children are all leaves marked to coarsen, none of them
    /// beside a refined block of their level.
    fn select_coarsen(
        &self,
        forest: &Forest<D, Self>,
        level: usize,
        marks: &Self::Buf<u8>,
    ) -> Result<Self::Buf<u32>, ForestError>;

    /// Gives every block of `parents` (leaves of `level`) its children. The k-th parent takes the k-th gap counted from
    /// the end, then fresh ids; the level's list grows in the order of the parents. All arrays grow with the ids,
    /// [`ForestArrays::families`](crate::ForestArrays::families) too; what it holds of the children is unspecified
    /// until [`connect`](Self::connect). The marks grow with the arrays, the children's are
    /// [`Mark::Keep`](crate::Mark::Keep).
    ///
    /// # Safety
    /// `parents` holds ids of leaves of that level of this forest, none of them twice.
    unsafe fn insert_children(
        &self,
        forest: &mut Forest<D, Self>,
        level: usize,
        parents: &Self::Buf<u32>,
        marks: &mut Self::Buf<u8>,
    ) -> Result<(), ForestError>;

    /// Takes their children (leaves) from `parents` of `level`; the groups are appended to
    /// the gaps in the order of the parents, the level's list keeps its order.
    ///
    /// # Safety
    /// `parents` holds ids of blocks of that level of this forest that have children, none of them twice.
    unsafe fn remove_children(
        &self,
        forest: &mut Forest<D, Self>,
        level: usize,
        parents: &Self::Buf<u32>,
    ) -> Result<(), ForestError>;

    /// Writes the 4^D places of [`ForestArrays::families`](crate::ForestArrays::families) of every group of siblings of
    /// `level` (at least 1) from the neighbours and first children of its parent: a place is the child there of the
    /// parent's neighbour there, or [`NONE`](crate::NONE) where that has no children or does not exist, or
    /// [`OUTSIDE`](crate::OUTSIDE) where it is that. The places of other groups stay as they are.
    fn connect(&self, forest: &mut Forest<D, Self>, level: usize) -> Result<(), ForestError>;
}

/// The forest that marks ask for, and values that follow. Sealed, as all of [`ForestKernels`].
#[expect(
    unsafe_code,
    reason = "some stages follow ids without bounds checks on a device"
)]
pub trait RebuildKernels<const D: usize>: Backend + sealed::Sealed {
    /// By block id, 1 where a block has children or is a leaf that is marked to refine, else 0.
    fn flag_refined(
        &self,
        forest: &Forest<D, Self>,
        marks: &Self::Buf<u8>,
    ) -> Result<Self::Buf<u8>, ForestError>;

    /// Clears the flags of the blocks of `level` whose children have flag 0 and are all marked to coarsen, none of them beside
    /// a block with flag 1. Children of flagged leaves do not exist yet, and are not marked.
    fn clear_coarsened(
        &self,
        forest: &Forest<D, Self>,
        level: usize,
        marks: &Self::Buf<u8>,
        flags: &mut Self::Buf<u8>,
    ) -> Result<(), ForestError>;

    /// Flagged blocks by level, for 29 levels; then flagged leaves, and blocks with children that are not flagged.
    fn count_refined(
        &self,
        forest: &Forest<D, Self>,
        flags: &Self::Buf<u8>,
    ) -> Result<Vec<u64>, ForestError>;

    /// Marks the blocks of a level of a new forest to be refined where their former block is flagged, else
    /// [`Mark::Keep`](crate::Mark::Keep).
    ///
    /// # Safety
    /// `old_of` has an entry for each id of the forest, [`NONE`](crate::NONE) or a place in `flags`.
    unsafe fn follow_marks(
        &self,
        fresh: &Forest<D, Self>,
        level: usize,
        old_of: &Self::Buf<u32>,
        flags: &Self::Buf<u8>,
        marks: &mut Self::Buf<u8>,
    ) -> Result<(), ForestError>;

    /// Writes the former ids of the children of a level's blocks: those of the former block, or [`NONE`](crate::NONE) where
    /// that had none.
    ///
    /// # Safety
    /// `old_of` has an entry for each id of the new forest; those of blocks of the level that have children are ids of the
    /// old one.
    unsafe fn follow_children(
        &self,
        old: &Forest<D, Self>,
        fresh: &Forest<D, Self>,
        level: usize,
        old_of: &mut Self::Buf<u32>,
    ) -> Result<(), ForestError>;

    /// Values by former id as values by new id, of 1, 4 or 8 bytes; `none` for new blocks.
    ///
    /// # Panics
    /// Where there is not one value for each former id, or values have another size.
    fn follow<T: Item>(
        &self,
        values: &Self::Buf<T>,
        former: &FormerIds<Self>,
        none: T,
    ) -> Result<Self::Buf<T>, ForestError>;
}
