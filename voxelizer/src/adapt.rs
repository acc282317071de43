//! A mesh whose forest changes, away from the surface.
//!
//! Blocks that the surface meets, solid blocks, and blocks that are refined around them stay as they were embedded: the
//! classes and links of a body are exact, and a change of the mesh must not touch them. What changes is fluid without
//! cut links.

use crate::{AdaptKernels, Mesh, VoxelError};
use cutlink_amr::{Forest, FormerIds, NONE, Refined};
use cutlink_device::{Backend, Host};

/// The blocks that a mesh would have after an adaptation: see [`Mesh::adapted`].
#[derive(Debug)]
pub struct AdaptedBlocks<B: Backend = Host> {
    blocks: Refined<B>,
    /// Leaves by level.
    pub leaves: Vec<u64>,
    /// Leaves that are given children.
    pub refined: u64,
    /// Blocks whose children are taken.
    pub coarsened: u64,
    /// Leaves that were to be refined, directly or for balance, and may not be.
    pub withheld: u64,
}

impl<B: Backend> AdaptedBlocks<B> {
    /// Whether they differ from the mesh's blocks.
    pub fn is_change(&self) -> bool {
        self.refined + self.coarsened > 0
    }

    /// These blocks as a forest, made of the one that they were found for, and what they were.
    ///
    /// # Errors
    /// As [`Forest::rebuilt`].
    ///
    /// # Panics
    /// Where they were found for a forest of another size.
    pub fn rebuilt<const D: usize>(
        &self,
        kernels: &B,
        of: &Forest<D, B>,
    ) -> Result<(Forest<D, B>, FormerIds<B>), VoxelError>
    where
        B: AdaptKernels<D>,
    {
        Ok(of.rebuilt(kernels, &self.blocks)?)
    }
}

/// What the blocks of a mesh were before it [took](Mesh::take) others.
#[derive(Debug)]
pub struct Former<B: Backend = Host> {
    /// Ids.
    pub ids: FormerIds<B>,
    /// By former id, the first child.
    pub first_child: B::Buf<u32>,
}

impl<const D: usize, K: AdaptKernels<D>> Mesh<D, K> {
    /// What an adaptation to marks would make of the mesh; one [`Mark`](cutlink_amr::Mark) as u8 a block id, closed in place. As
    /// [`Forest::adapt`], except that leaves with solid cells or cut links stay, with the marks that would need them
    /// refined for balance, and that the children of blocks in `held` (by block id, 1 for those) stay. The mesh is not changed.
    ///
    /// Cost: some sweeps over the blocks.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    ///
    /// # Panics
    /// Where `marks` or `held` has not one entry for each block id.
    pub fn adapted(
        &self,
        kernels: &K,
        marks: &mut K::Buf<u8>,
        held: &K::Buf<u8>,
    ) -> Result<AdaptedBlocks<K>, VoxelError> {
        let forest = &self.forest;
        assert_eq!(K::len(held), forest.capacity(), "a flag for each block id");
        assert_eq!(K::len(marks), forest.capacity(), "a mark for each block id");
        kernels.hold(forest, held, marks)?;
        for level in (1..forest.levels.len()).rev() {
            kernels.ripple(forest, level, marks)?;
        }
        let mut withheld = kernels.alloc("a count", 1, 0u32)?;
        // From coarse to fine: whether a mark can be met depends on coarser ones alone.
        for level in 0..forest.levels.len() {
            kernels.withdraw(self, level, marks, &mut withheld)?;
        }
        let blocks = forest.refined_after(kernels, marks)?;
        Ok(AdaptedBlocks {
            leaves: blocks.leaves(D, forest.roots()),
            refined: blocks.refined,
            coarsened: blocks.coarsened,
            withheld: u64::from(kernels.download(&withheld)?[0]),
            blocks,
        })
    }

    /// Takes the adapted blocks, with canonical ids ([`Forest::rebuilt`]), and returns what they were. Links do not change; new
    /// blocks are fluid.
    ///
    /// Cost: as building a forest, and a sweep over all blocks.
    ///
    /// # Errors
    /// Too fine a level, too many blocks, memory that is short, or a device that fails: the mesh is unchanged then.
    ///
    /// # Panics
    /// Where they were made for a mesh of another size.
    pub fn take(
        &mut self,
        kernels: &K,
        adapted: &AdaptedBlocks<K>,
    ) -> Result<Former<K>, VoxelError> {
        let (forest, former) = adapted.rebuilt(kernels, &self.forest)?;
        let rim = kernels.interfaces(&forest)?;
        let solid = kernels.follow(&self.classes.solid, &former, 0)?;
        let boundary = kernels.follow(&self.classes.boundary, &former, 0)?;
        let row_of = kernels.follow(&self.links.row_of, &former, NONE)?;
        // The blocks that have rows keep their order.
        kernels.name_rows(&row_of, &mut self.links.blocks)?;
        self.links.row_of = row_of;
        (self.classes.solid, self.classes.boundary) = (solid, boundary);
        (self.classes.ghost, self.classes.interface) = (rim.ghost, rim.interface);
        let former_forest = std::mem::replace(&mut self.forest, forest);
        Ok(Former {
            ids: former,
            first_child: former_forest.into_first_child(),
        })
    }
}

impl<const D: usize> Mesh<D> {
    /// Whether a leaf may be refined: it has fluid cells only, none with a cut link. Its children have neither then, so that no
    /// geometry is needed.
    pub fn is_refinable(&self, id: u32) -> bool {
        let at = id as usize;
        self.forest.is_leaf(id) && self.classes.solid[at] == 0 && self.classes.boundary[at] == 0
    }
}

/// By block id, 1 for blocks that have children: what [`Mesh::adapted`] holds, so that a mesh never gets coarser than a forest.
///
/// # Errors
/// Where memory is short or the device fails.
pub fn held_by<const D: usize, K: AdaptKernels<D>>(
    kernels: &K,
    forest: &Forest<D, K>,
) -> Result<K::Buf<u8>, VoxelError> {
    let keep = kernels.alloc("marks", forest.capacity(), 0)?;
    Ok(kernels.flag_refined(forest, &keep)?)
}
