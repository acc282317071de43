//! The leaves' array, and what can be asked of it on the host.

use super::{Grid, LeavesViolation, level, morton, pack};
use crate::{
    ForestError,
    checksum::{block_key, mix_all},
    constants::FACE_ID_BITS,
};
use cutlink_device::{Backend, Host};
use rayon::prelude::*;

/// The leaf blocks of a 2:1-balanced forest, sorted by key. The id of a leaf is its place.
///
/// Kernels on a device follow the order of the keys without bounds checks, so a tree there is always one that a stage
/// made or that [`upload`](Self::upload) has checked. On the host the keys may be changed ([`keys_mut`](Self::keys_mut)), and
/// [`validate`](Self::validate) tells whether they are still a tree.
#[derive(Debug)]
pub struct Leaves<const D: usize, B: Backend = Host> {
    pub(super) grid: Grid<D>,
    pub(super) finest: u32,
    pub(super) keys: B::Buf<u64>,
}

impl<const D: usize, B: Backend> Leaves<D, B> {
    /// # Errors
    /// Where there are more than codes of faces can name.
    pub(super) fn checked(
        grid: Grid<D>,
        finest: u32,
        keys: B::Buf<u64>,
    ) -> Result<Self, ForestError> {
        check_count(B::len(&keys) as u64)?;
        Ok(Self { grid, finest, keys })
    }

    /// The root grid, and how blocks are numbered.
    pub fn grid(&self) -> &Grid<D> {
        &self.grid
    }

    /// The finest level that has leaves.
    pub fn finest(&self) -> u32 {
        self.finest
    }

    /// The keys, sorted.
    pub fn keys(&self) -> &B::Buf<u64> {
        &self.keys
    }

    /// Leaves.
    #[expect(clippy::len_without_is_empty, reason = "a tree always has leaves")]
    pub fn len(&self) -> usize {
        B::len(&self.keys)
    }

    /// A copy on the host.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    pub fn download(&self, backend: &B) -> Result<Leaves<D>, ForestError> {
        Ok(Leaves {
            grid: self.grid,
            finest: self.finest,
            keys: backend.download(&self.keys)?,
        })
    }

    /// A copy in the same memory.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    pub fn copied(&self, backend: &B) -> Result<Self, ForestError> {
        let mut keys = backend.alloc("leaves", self.len(), 0)?;
        backend.copy(&self.keys, &mut keys)?;
        Ok(Self { keys, ..*self })
    }

    /// # Panics
    /// Where there is not one mark for each leaf.
    pub(crate) fn check_marks(&self, marks: &B::Buf<u8>) {
        let (len, leaves) = (B::len(marks), self.len());
        assert!(
            len == leaves,
            "marks should have one entry for each of the {leaves} leaves, not {len}"
        );
    }
}

/// # Errors
/// Where there are more leaves than codes of faces can name.
pub(crate) fn check_count(leaves: u64) -> Result<(), ForestError> {
    if leaves > 1 << FACE_ID_BITS {
        return Err(ForestError::TooManyLeaves { leaves });
    }
    Ok(())
}

impl<const D: usize> Clone for Leaves<D> {
    fn clone(&self) -> Self {
        Self {
            keys: self.keys.clone(),
            ..*self
        }
    }
}

impl<const D: usize> Leaves<D> {
    /// A tree of these keys, which are those of all its leaves, sorted: of a saved state.
    ///
    /// # Errors
    /// What is wrong with them; see [`validate`](Self::validate).
    pub fn from_keys(grid: Grid<D>, keys: Vec<u64>) -> Result<Self, LeavesViolation> {
        let finest = keys.par_iter().map(|&key| level(key)).max().unwrap_or(0);
        let leaves = Self { grid, finest, keys };
        leaves.validate()?;
        Ok(leaves)
    }

    /// The keys, to be changed.
    pub fn keys_mut(&mut self) -> &mut Vec<u64> {
        &mut self.keys
    }

    /// A copy in a backend's memory.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    ///
    /// # Panics
    /// Where the keys were changed so that they are no tree: kernels would read beyond them.
    pub fn upload<B: Backend>(&self, backend: &B) -> Result<Leaves<D, B>, ForestError> {
        if let Err(violation) = self.validate() {
            panic!("the keys of leaves should be a tree: {violation}");
        }
        Leaves::checked(self.grid, self.finest, backend.upload(self.keys.clone())?)
    }

    /// The level of a leaf.
    pub fn level(&self, leaf: u32) -> u32 {
        level(self.keys[leaf as usize])
    }

    /// The coordinate of a leaf at its level.
    pub fn coord(&self, leaf: u32) -> [i32; D] {
        self.grid.coord(self.keys[leaf as usize])
    }

    /// The leaf that a block is or lies in, or the first of the leaves in it; `None` outside of the box.
    pub fn find(&self, level: u32, coord: [i32; D]) -> Option<u32> {
        let key = self.grid.key(level, coord)?;
        let last = pack(morton(key), u32::MAX >> (u32::BITS - super::LEVEL_BITS));
        let after = self.keys.partition_point(|&leaf| leaf <= last);
        Some(after as u32 - 1)
    }

    /// The checksum of the leaves and the root grid: that of [`Forest::checksum`](crate::Forest::checksum) for the same
    /// leaves.
    pub fn checksum(&self) -> u64 {
        let block = |&key: &u64| block_key(level(key) as u8, self.grid.coord(key));
        let sum = self
            .keys
            .par_iter()
            .map(block)
            .reduce(|| 0, u64::wrapping_add);
        sum.wrapping_add(mix_all(self.grid.root().map(u64::from)))
    }
}
