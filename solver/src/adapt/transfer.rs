//! Where the populations of a level come from after the mesh has changed.
//!
//! Populations are those after collision, and all that a flow needs at the end of a root step. A block that was a leaf or an
//! overlap block before keeps its own. A new leaf, whose parent was a leaf, is made from the cells around it on the
//! coarser level; a block that was refined and without populations from those of its children. Blocks change by one level in a look,
//! so one of the three always holds.

use crate::tables::HostLevel;
use bytemuck::{Pod, Zeroable};
use cutlink_amr::{Forest, NONE, dims};

/// What the populations of a slot are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
pub struct SlotSource {
    /// One of [`kind`]; of [`kind::PARENT`] plus the number of the child.
    pub kind: u32,
    /// Old slot of the same level, first of 2^D old slots of the finer level in the list of groups, or old slot of the coarser level.
    pub at: u32,
}

/// Kinds of a [`SlotSource`].
pub(crate) mod kind {
    /// The same block.
    pub(crate) const SAME: u32 = 0;
    /// Its children.
    pub(crate) const CHILDREN: u32 = 1;
    /// Its parent and the blocks around that.
    pub(crate) const PARENT: u32 = 2;
}

/// The old slots of blocks, and their children, before a mesh changes.
#[derive(Debug)]
pub(crate) struct Before {
    /// By old block id its slot where that has populations of its own, or [`NONE`].
    slot_of: Vec<u32>,
    first_child: Vec<u32>,
}

impl Before {
    pub(crate) fn new<const D: usize>(forest: &Forest<D>, tables: &[HostLevel<D>]) -> Self {
        let mut slot_of = vec![NONE; forest.capacity()];
        for table in tables {
            let overlap_of = &table.level.overlap_of;
            for (slot, &id) in table.blocks.iter().enumerate() {
                // Children of overlap blocks have slots always; those that are refined and beside no leaf hold nothing.
                let is_overlap = overlap_of.get(slot).is_some_and(|&at| at != NONE);
                if is_overlap || forest.is_leaf(id) {
                    slot_of[id as usize] = slot as u32;
                }
            }
        }
        Self {
            slot_of,
            first_child: forest.first_child.clone(),
        }
    }

    /// The sources of a level's slots, and the list of groups of 2^D children that they name. `old_of` is by new block id.
    pub(crate) fn sources<const D: usize>(
        &self,
        forest: &Forest<D>,
        blocks: &[u32],
        old_of: &[u32],
    ) -> (Vec<SlotSource>, Vec<u32>) {
        let mut groups = Vec::new();
        let source = |&id: &u32| {
            let old = old_of[id as usize];
            if old == NONE {
                let parent = forest.parent[id as usize];
                let first = forest.first_child[parent as usize];
                return SlotSource {
                    kind: kind::PARENT + (id - first),
                    at: self.slot_of[old_of[parent as usize] as usize],
                };
            }
            let slot = self.slot_of[old as usize];
            if slot != NONE {
                return SlotSource {
                    kind: kind::SAME,
                    at: slot,
                };
            }
            let first = self.first_child[old as usize] as usize;
            let at = groups.len() as u32;
            groups.extend_from_slice(&self.slot_of[first..first + dims::children(D)]);
            SlotSource {
                kind: kind::CHILDREN,
                at,
            }
        };
        let sources = blocks.iter().map(source).collect();
        (sources, groups)
    }
}
