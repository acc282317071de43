//! Adaptation: marks in, a balanced forest out (J25 §3.3).
//!
//! 1. Close the marks: from the finest level to the root, a leaf marked to refine marks
//!    every coarser leaf it touches. One pass a level suffices, for a mark only ever
//!    travels to the next coarser level.
//! 2. Refine from the root level to the finest, so that neighbours exist when they are looked up.
//! 3. Coarsen from the finest level to the root: a sibling group is removed when all of it is
//!    marked and no refined block of its level touches it. Refinement wins over coarsening.
//!
//! The result depends on the forest and the marks alone. Cost: one sweep over the blocks
//! of each level that changes.

use crate::{
    ChangeKernels, Forest, ForestError, ForestKernels, FormerIds, MAX_LEVELS, Mark, dims, forest,
};
use cutlink_device::{Backend, Host};

/// What an adaptation did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Adapted {
    /// Leaves that were given children.
    pub refined: usize,
    /// Blocks whose children were taken.
    pub coarsened: usize,
}

#[expect(
    unsafe_code,
    reason = "stages trust the ids that another stage selected"
)]
impl<const D: usize, K: ForestKernels<D>> Forest<D, K> {
    /// Adapts the forest to `marks`: one [`Mark`](crate::Mark) as u8 for each block id, free ids included
    /// ([`capacity`](Self::capacity) in all). The marks are closed in place, and grow to the new ids.
    ///
    /// # Errors
    /// Where a level would be too fine, ids or memory run out (which is checked before memory is taken), or the device
    /// fails. The forest is valid then, with some of the coarser levels refined.
    ///
    /// # Panics
    /// Where `marks` has another length.
    pub fn adapt(&mut self, kernels: &K, marks: &mut K::Buf<u8>) -> Result<Adapted, ForestError> {
        self.check_marks(marks);
        let mut done = Adapted::default();
        for level in (1..self.levels.len()).rev() {
            kernels.ripple(self, level, marks)?;
        }
        let old_levels = self.levels.len();
        for level in 0..old_levels {
            done.refined += self.refine(kernels, level, marks)?;
        }
        for level in (0..old_levels.saturating_sub(1)).rev() {
            let parents = kernels.select_coarsen(self, level, marks)?;
            let count = K::len(&parents);
            if count > 0 {
                self.contiguous = false;
                // SAFETY: the parents were just selected from this level of this forest.
                unsafe { kernels.remove_children(self, level, &parents)? };
                if self.levels.len() > level + 1 {
                    kernels.connect(self, level + 1)?;
                }
                done.coarsened += count;
            }
        }
        Ok(done)
    }

    /// Gives children to the leaves of one level that are marked to refine, and returns how many
    /// they were. The second step of [`adapt`](Self::adapt), for marks that are known to be
    /// closed: it looks at no coarser level, so it keeps 2:1 only if they are.
    ///
    /// # Errors
    /// As [`adapt`](Self::adapt).
    ///
    /// # Panics
    /// Where `marks` has not one entry for each block id, or there is no such level.
    pub fn refine(
        &mut self,
        kernels: &K,
        level: usize,
        marks: &mut K::Buf<u8>,
    ) -> Result<usize, ForestError> {
        self.check_marks(marks);
        let parents = &kernels.select_refine(self, level, marks)?;
        let count = K::len(parents);
        if count == 0 {
            return Ok(0);
        }
        self.check_level(level + 1)?;
        let fresh = count.saturating_sub(self.gaps.len()) * dims::children(D);
        let blocks = (self.capacity() + fresh) as u64;
        if blocks > u64::from(u32::MAX) - 2 {
            return Err(ForestError::TooManyBlocks { blocks });
        }
        kernels.reserve("the next level", fresh as u64 * forest::bytes_per_block(D))?;
        self.contiguous &= self.gaps.is_empty() && self.levels.len() <= level + 2;
        // SAFETY: the parents were just selected from this level of this forest.
        unsafe { kernels.insert_children(self, level, parents, marks)? };
        kernels.connect(self, level + 1)?;
        Ok(count)
    }
}

impl<const D: usize> Forest<D> {
    /// A forest between this one and `target`, of the same root grid and also 2:1 balanced: each block has come nearer by one level
    /// where balance lets it. Repeated, this gives the target, with canonical ids ([`rebuilt`](Self::rebuilt)), within twice as many
    /// steps as there are levels; where the forest has the target's blocks, the result has them too. Also returns what the blocks were.
    ///
    /// Cost: as [`adapt`](Self::adapt), and a search down the target for each block.
    ///
    /// # Errors
    /// As [`adapt`](Self::adapt).
    pub fn toward(&self, target: &Self) -> Result<(Self, FormerIds<Host>), ForestError> {
        self.nearer(target, Mark::Coarsen)
    }

    /// As [`toward`](Self::toward), to a forest that has the blocks of both: nothing goes. Repeated, this ends where the forest
    /// [covers](Self::covers) the target.
    ///
    /// # Errors
    /// As [`adapt`](Self::adapt).
    pub fn toward_both(&self, target: &Self) -> Result<(Self, FormerIds<Host>), ForestError> {
        self.nearer(target, Mark::Keep)
    }

    /// Whether this forest, of the same root grid, is nowhere coarser than another.
    pub fn covers(&self, other: &Self) -> bool {
        let refined = other
            .levels
            .iter()
            .flatten()
            .filter(|&&id| !other.is_leaf(id));
        let mut places = refined.map(|&id| (other.level[id as usize], other.coord[id as usize]));
        places.all(|(level, coord)| self.refines(level, coord))
    }

    /// Whether there is a block of this level and place that is refined.
    pub fn refines(&self, level: u8, coord: [i32; D]) -> bool {
        let found = self.find(usize::from(level), coord);
        found.is_some_and(|id| self.level[id as usize] == level && !self.is_leaf(id))
    }

    /// A step toward a target; blocks that it does not have get `beyond`.
    fn nearer(&self, target: &Self, beyond: Mark) -> Result<(Self, FormerIds<Host>), ForestError> {
        let wish = |id: usize| {
            let level = self.level[id];
            let is_there = |found: u32| target.level[found as usize] == level;
            let found = target.find(usize::from(level), self.coord[id]);
            match found.filter(|&found| is_there(found)) {
                // The target has a coarser leaf here.
                None => beyond,
                Some(found) if self.is_leaf(id as u32) && !target.is_leaf(found) => Mark::Refine,
                Some(_) => Mark::Keep,
            }
        };
        let mut marks: Vec<u8> = (0..self.capacity()).map(|id| wish(id) as u8).collect();
        for level in (1..self.levels.len()).rev() {
            Host.ripple(self, level, &mut marks)?;
        }
        let refined = self.refined_after(&Host, &marks)?;
        self.rebuilt(&Host, &refined)
    }
}

impl<const D: usize, B: Backend> Forest<D, B> {
    /// Whether a level of this number can exist: cell coordinates stay below 2^30.
    pub fn check_level(&self, level: usize) -> Result<(), ForestError> {
        let blocks = *self.root.iter().max().expect("D should be positive");
        if level >= MAX_LEVELS || (u64::from(blocks) << level) > 1 << 28 {
            return Err(ForestError::TooFine { level, blocks });
        }
        Ok(())
    }
}
