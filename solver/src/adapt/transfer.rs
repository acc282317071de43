//! Where the populations of a level come from after the mesh has changed.
//!
//! Populations are those after collision, and all that a flow needs at the end of a root step. A block that was a leaf or an
//! overlap block before keeps its own. A new leaf, whose parent was a leaf, is made from the cells around it on the
//! coarser level; a block that was refined and without populations from those of its children. Blocks change by one level in a look,
//! so one of the three always holds.

use crate::{SolverError, kernels::FlowKernels, tables::Built};
use bytemuck::{Pod, Zeroable};
use cutlink_amr::{Forest, FormerIds};
use cutlink_device::Backend;

/// What the populations of a slot are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
pub struct SlotSource {
    /// One of [`source`](crate::constants::source); of [`PARENT`](crate::constants::source::PARENT) plus the number of the child.
    pub kind: u32,
    /// Old slot of the same level, old id of the first of 2^D children, or old slot of the coarser level.
    pub at: u32,
}

/// The old slots of blocks, and their children, before a mesh changes.
#[derive(Debug)]
pub struct Before<B: Backend> {
    /// By old block id its slot where that has populations of its own, or [`NONE`](cutlink_amr::NONE).
    pub slot_of: B::Buf<u32>,
    /// By old block id its first child.
    pub first_child: B::Buf<u32>,
}

/// What the populations of all slots are made of after a mesh has changed.
#[derive(Debug)]
pub(crate) struct Seeds<B: Backend> {
    /// By level and slot.
    pub(crate) sources: Vec<B::Buf<SlotSource>>,
    /// Old slots, which sources of blocks that were refined name by their first one.
    pub(crate) slot_of: B::Buf<u32>,
}

impl<B: Backend> Seeds<B> {
    /// For the tables of a mesh whose blocks have changed.
    pub(crate) fn of<const D: usize>(
        backend: &B,
        forest: &Forest<D, B>,
        built: &[Built<D, B>],
        former: &FormerIds<B>,
        before: Before<B>,
    ) -> Result<Self, SolverError>
    where
        B: FlowKernels<D>,
    {
        let of_level =
            |built: &Built<D, B>| backend.sources(forest, &built.blocks, former, &before);
        Ok(Self {
            sources: built.iter().map(of_level).collect::<Result<_, _>>()?,
            slot_of: before.slot_of,
        })
    }
}
