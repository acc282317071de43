//! The stages of an adaptation, for a backend to implement.
//!
//! | stage | contract | files in `cpu/` and `cuda/` |
//! |---|---|---|
//! | [`ripple`](ForestKernels::ripple) | a marked leaf marks the coarser leaves that touch it | `marks` |
//! | [`select_refine`](ForestKernels::select_refine) | marked leaves of a level, in list order | `marks` |
//! | [`select_coarsen`](ForestKernels::select_coarsen) | parents whose children may go, in list order | `marks` |
//! | [`insert_children`](ForestKernels::insert_children) | 2^D contiguous children a parent, gaps first | `children` |
//! | [`remove_children`](ForestKernels::remove_children) | parents become leaves, groups become gaps | `children` |
//! | [`connect`](ForestKernels::connect) | the places of a level's families from their parents' | `connect` |
//!
//! All are exact: every backend gives the same arrays, ids and orders included.
//!
//! Stages panic where `marks` has not one entry for each block id, or `level` is not one that they speak of. The two
//! that follow ids given to them are unsafe.

mod cpu;
#[cfg(feature = "cuda")]
mod cuda;

use crate::{Forest, ForestError};
use cutlink_device::Backend;

mod sealed {
    pub trait Sealed {}
    impl Sealed for cutlink_device::Host {}
    #[cfg(feature = "cuda")]
    impl Sealed for cutlink_device::cuda::Cuda {}
}

/// The stages of [`Forest::adapt`]; see the module's table. `marks` holds one
/// [`Mark`](crate::Mark) as u8 for each block id. Sealed: the backends are those of `cutlink-device`.
#[expect(
    unsafe_code,
    reason = "two stages follow ids without bounds checks on a device"
)]
pub trait ForestKernels<const D: usize>: Backend + sealed::Sealed {
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
