//! Adaptation: marks in, a balanced tree out, in the same order.
//!
//! 1. Close the marks under 2:1. From the finest level up, a leaf marked to refine marks the coarser leaves that it
//!    touches; then, again from the finest level up, a group of siblings goes if all are marked to coarsen and no block
//!    beside them that is refined after the adaptation is of their level. Other marks to coarsen are taken back.
//! 2. Count: a leaf becomes itself, its 2^D children, or with its siblings their parent. One exclusive scan.
//! 3. Write. The order of keys is the order of leaves, so nothing is sorted, and the scan is the map from old leaves to
//!    new ones (W24, Alg. 6 and 7, which append, sort and search).
//!
//! The leaves are those of [`Forest::adapt`](crate::Forest::adapt) with the same marks.

use super::{Leaves, leaves::check_count};
use crate::{ForestError, LinearKernels};
use cutlink_device::Backend;

/// What an adaptation did to the leaves.
#[derive(Debug)]
pub struct AdaptedLeaves<B: Backend> {
    /// By old leaf, the first new leaf in its place: itself, its first child, or the parent of its group. One entry more
    /// than old leaves: the number of new ones. With the mark of the old leaf this is the whole map.
    pub first: B::Buf<u32>,
    /// Leaves that were given children.
    pub refined: u64,
    /// Groups of siblings that became their parent.
    pub coarsened: u64,
}

/// What the new leaves are, counted: see [`CloseKernels::count`](crate::CloseKernels::count).
#[derive(Debug)]
pub struct Counted<B: Backend> {
    /// See [`AdaptedLeaves::first`].
    pub first: B::Buf<u32>,
    /// New leaves; where they are too many for 32 bits, `first` is unspecified.
    pub leaves: u64,
    /// See [`AdaptedLeaves::refined`].
    pub refined: u64,
    /// See [`AdaptedLeaves::coarsened`].
    pub coarsened: u64,
    /// The finest level of the new leaves.
    pub finest: u32,
}

#[expect(
    unsafe_code,
    reason = "a stage trusts the places that another one counted"
)]
impl<const D: usize, K: LinearKernels<D>> Leaves<D, K> {
    /// Closes `marks`, one [`Mark`](crate::Mark) as u8 for each leaf, under 2:1: they then say what
    /// [`adapt`](Self::adapt) does. Values that are no mark mean [`Mark::Keep`](crate::Mark::Keep).
    ///
    /// # Errors
    /// Where the device fails.
    ///
    /// # Panics
    /// Where `marks` has another length.
    pub fn close(&self, kernels: &K, marks: &mut K::Buf<u8>) -> Result<(), ForestError> {
        self.check_marks(marks);
        for level in (1..=self.finest).rev() {
            kernels.close_refine(self, level, marks)?;
        }
        let mut going = kernels.alloc("groups that go", self.len(), 0)?;
        for level in (1..=self.finest).rev() {
            kernels.close_coarsen(self, level, marks, &mut going)?;
        }
        kernels.close_rest(self, &going, marks)
    }

    /// Adapts the tree to `marks`, one [`Mark`](crate::Mark) as u8 for each leaf, which are closed in place.
    ///
    /// # Errors
    /// Where a level would be too fine, leaves too many or memory is short, or the device fails. The tree is the old one
    /// then.
    ///
    /// # Panics
    /// Where `marks` has another length.
    pub fn adapt(
        &mut self,
        kernels: &K,
        marks: &mut K::Buf<u8>,
    ) -> Result<AdaptedLeaves<K>, ForestError> {
        self.close(kernels, marks)?;
        let counted = kernels.count(self, marks)?;
        self.grid.check_level(counted.finest)?;
        check_count(counted.leaves)?;
        // SAFETY: the marks are closed, and were counted just now.
        self.keys = unsafe { kernels.emit(self, marks, &counted)? };
        self.finest = counted.finest;
        Ok(AdaptedLeaves {
            first: counted.first,
            refined: counted.refined,
            coarsened: counted.coarsened,
        })
    }
}
