//! A mesh whose forest changes, away from the surface.
//!
//! Blocks that the surface meets, solid blocks, and blocks that are refined around them stay as they were embedded: the
//! classes and links of a body are exact, and a change of the mesh must not touch them. What changes is fluid without
//! cut links.

use crate::{Mesh, VoxelError, kernels::cpu};
use cutlink_amr::{Forest, ForestKernels, Mark, NONE};
use cutlink_device::Host;
use rayon::prelude::*;

/// The forest that a mesh would have after an adaptation: see [`Mesh::adapted`].
#[derive(Debug)]
pub struct AdaptedForest<const D: usize> {
    forest: Forest<D>,
    /// Ids of the mesh it was made for.
    blocks: usize,
    /// Leaves that were given children.
    pub refined: usize,
    /// Blocks whose children were taken.
    pub coarsened: usize,
    /// Leaves that were to be refined, directly or for balance, and may not be.
    pub withheld: usize,
}

impl<const D: usize> AdaptedForest<D> {
    /// Whether it differs from the mesh's forest.
    pub fn is_change(&self) -> bool {
        self.refined + self.coarsened > 0
    }

    /// Its leaves by level.
    pub fn leaves(&self) -> Vec<u64> {
        let is_leaf = |id: &&u32| self.forest.is_leaf(**id);
        let of_level = |ids: &Vec<u32>| ids.par_iter().filter(is_leaf).count() as u64;
        self.forest.levels.iter().map(of_level).collect()
    }
}

impl<const D: usize> Mesh<D> {
    /// Whether a leaf may be refined: it has fluid cells only, none with a cut link. Its children have neither then, so that no
    /// geometry is needed.
    pub fn is_refinable(&self, id: u32) -> bool {
        let at = id as usize;
        self.forest.is_leaf(id) && self.classes.solid[at] == 0 && self.classes.boundary[at] == 0
    }

    /// The forest adapted to marks, one [`Mark`] as u8 a block id: as [`cutlink_amr::Forest::adapt`], except that leaves
    /// that are not [`is_refinable`](Self::is_refinable) stay, with the marks that would need them refined for balance, and
    /// that the children of blocks in `held` (by block id, 1 for those) stay.
    ///
    /// Cost: a copy of the forest, and some sweeps over the blocks of levels that change.
    ///
    /// # Errors
    /// Too fine a level, or memory that is short.
    ///
    /// # Panics
    /// Where `marks` or `held` has not one entry for each block id.
    pub fn adapted(&self, mut marks: Vec<u8>, held: &[u8]) -> Result<AdaptedForest<D>, VoxelError> {
        let blocks = self.forest.capacity();
        assert_eq!(held.len(), blocks, "a flag for each block id");
        let withheld = self.close(&mut marks, held)?;
        let mut forest = self.forest.download(&Host)?;
        let done = forest.adapt(&Host, &mut marks)?;
        Ok(AdaptedForest {
            forest,
            blocks,
            refined: done.refined,
            coarsened: done.coarsened,
            withheld,
        })
    }

    /// Takes the adapted forest, with canonical ids ([`cutlink_amr::Forest::renumbered`]), and returns by new block id the old
    /// one, or [`NONE`] for a block that is new. Links do not change; new blocks are fluid.
    ///
    /// Cost: as building a forest, and a sweep over all blocks.
    ///
    /// # Errors
    /// Where memory is short: the mesh is unchanged then.
    ///
    /// # Panics
    /// Where it was made for a mesh of another size.
    pub fn take(&mut self, adapted: AdaptedForest<D>) -> Result<Vec<u32>, VoxelError> {
        let blocks = adapted.blocks;
        assert_eq!(
            blocks,
            self.forest.capacity(),
            "a forest made for this mesh"
        );
        let (forest, mut old_of) = adapted.forest.renumbered()?;
        drop(adapted.forest);
        let rim = cpu::interfaces(&forest)?;
        // Ids beyond the old ones are those of blocks that were inserted.
        for old in &mut old_of {
            if *old as usize >= blocks {
                *old = NONE;
            }
        }
        self.renumber(&old_of);
        (self.classes.ghost, self.classes.interface) = (rim.ghost, rim.interface);
        self.forest = forest;
        Ok(old_of)
    }

    /// Closes marks under 2:1 and withdraws those that cannot be met; returns how many these were.
    fn close(&self, marks: &mut Vec<u8>, held: &[u8]) -> Result<usize, VoxelError> {
        let forest = &self.forest;
        let refine = Mark::Refine as u8;
        for (id, mark) in marks.iter_mut().enumerate() {
            let parent = forest.parent[id];
            if *mark == Mark::Coarsen as u8 && (parent == NONE || held[parent as usize] != 0) {
                *mark = Mark::Keep as u8;
            }
        }
        for level in (1..forest.levels.len()).rev() {
            Host.ripple(forest, level, marks)?;
        }
        let mut withheld = 0;
        // From coarse to fine: whether a mark can be met depends on coarser ones alone.
        for ids in &forest.levels {
            for &id in ids {
                if marks[id as usize] != refine || !forest.is_leaf(id) {
                    continue;
                }
                if !self.is_refinable(id) || !self.is_balanced(id, marks) {
                    marks[id as usize] = Mark::Keep as u8;
                    withheld += 1;
                }
            }
        }
        Ok(withheld)
    }

    /// Whether all coarser leaves that touch a leaf are marked to be refined.
    fn is_balanced(&self, id: u32, marks: &[u8]) -> bool {
        let forest = &self.forest;
        let is_met = |(direction, near): (usize, u32)| {
            near != NONE
                || marks[forest.coarser_neighbor(id, direction) as usize] == Mark::Refine as u8
        };
        forest.neighbors_of(id).enumerate().all(is_met)
    }

    /// Moves masks and rows of links to new ids. The blocks that have rows keep their order.
    fn renumber(&mut self, old_of: &[u32]) {
        self.classes.solid = follow(&self.classes.solid, old_of, 0);
        self.classes.boundary = follow(&self.classes.boundary, old_of, 0);
        self.links.row_of = follow(&self.links.row_of, old_of, NONE);
        for (id, &row) in self.links.row_of.iter().enumerate() {
            if row != NONE {
                self.links.blocks[row as usize] = id as u32;
            }
        }
    }
}

/// Values by old block id as values by new id; `none` for new blocks. For what is kept beside a mesh that
/// [takes](Mesh::take) another forest.
pub fn follow<T: Copy>(values: &[T], old_of: &[u32], none: T) -> Vec<T> {
    let value = |&old: &u32| values.get(old as usize).copied().unwrap_or(none);
    old_of.iter().map(value).collect()
}
