//! Trees from wanted blocks, and from and to forests.
//!
//! 1. `ancestors`: the blocks that have to be refined so that each wanted block exists.
//! 2. `balance`: from the finest level up, the blocks of the next coarser level that 2:1 needs refined.
//! 3. `leaves`: their children that are not refined.
//!
//! Refined blocks are held by level, each level sorted. The result depends on the set of wanted blocks alone.

use super::{Grid, Leaves};
use crate::{Forest, ForestError, LinearKernels, Mark};

impl<const D: usize, K: LinearKernels<D>> Leaves<D, K> {
    /// The root blocks.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    pub fn new(kernels: &K, grid: Grid<D>) -> Result<Self, ForestError> {
        Self::build(kernels, grid, kernels.upload(Vec::new())?)
    }

    /// The coarsest tree in which each of the wanted blocks is a leaf or refined (W24, Alg. 1 to 4). Their keys may be
    /// in any order, of any levels, in one another, and repeated.
    ///
    /// # Errors
    /// [`ForestError::NoBlocks`] where a word is not the key of a block of the grid; where leaves are too many or memory
    /// is short; where the device fails.
    pub fn build(kernels: &K, grid: Grid<D>, wanted: K::Buf<u64>) -> Result<Self, ForestError> {
        let wanted = kernels.sort_keys(wanted)?;
        let mut refined = kernels.ancestors(&grid, &wanted)?;
        for level in (1..refined.len()).rev() {
            let (coarser, finer) = refined.split_at_mut(level);
            kernels.balance(&grid, level as u32, &finer[0], &mut coarser[level - 1])?;
        }
        let keys = kernels.leaves(&grid, &refined)?;
        Self::checked(grid, refined.len() as u32, keys)
    }

    /// The leaves of a forest.
    ///
    /// # Errors
    /// Where keys cannot name its levels; where memory is short or the device fails.
    pub fn of(kernels: &K, forest: &Forest<D, K>) -> Result<Self, ForestError> {
        let grid = Grid::new(forest.root, forest.periodic)?;
        let finest = forest.finest() as u32;
        grid.check_level(finest)?;
        Self::checked(grid, finest, kernels.leaves_of(&grid, forest)?)
    }
}

impl<const D: usize, K: LinearKernels<D>> Forest<D, K> {
    /// The forest with the leaves of a tree; its ids are those of a forest that is refined once a level, from the root to
    /// the finest.
    ///
    /// # Errors
    /// As [`adapt`](Self::adapt).
    pub fn of(kernels: &K, leaves: &Leaves<D, K>) -> Result<Self, ForestError> {
        let grid = leaves.grid();
        let refined = kernels.ancestors(grid, leaves.keys())?;
        let mut forest = Self::new(kernels, grid.root())?.with_periodic(grid.periodic());
        for (level, refined) in refined.iter().enumerate() {
            let mut marks = kernels.alloc("marks", forest.capacity(), Mark::Keep as u8)?;
            kernels.mark_refined(grid, &forest, level, refined, &mut marks)?;
            forest.refine(kernels, level, &mut marks)?;
        }
        Ok(forest)
    }
}
