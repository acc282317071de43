//! Cells as nodes of a graph: one for each cell of a near block, one for each other leaf.

use super::clearance::Clearance;
use crate::{Mesh, VoxelError};
use cutlink_amr::{CellRef, NONE, dims};
use cutlink_device::{Backend, Host};

pub(super) struct Nodes<'a, const D: usize> {
    pub(super) clearance: &'a Clearance<D>,
    /// Node of each far leaf.
    far: Vec<u32>,
    /// The far leaves, in order of their nodes.
    leaves: Vec<u32>,
    /// Nodes of cells in near blocks: the first ones.
    pub(super) near: usize,
}

impl<'a, const D: usize> Nodes<'a, D> {
    pub(super) fn new(mesh: &Mesh<D>, clearance: &'a Clearance<D>) -> Result<Self, VoxelError> {
        let near = clearance.blocks().len() * dims::cells(D);
        let is_far = |&id: &u32| clearance.near(id).is_none();
        let leaves: Vec<u32> = mesh.forest.leaves().filter(is_far).collect();
        if near + leaves.len() > u32::MAX as usize {
            let table = "table of fluid parts";
            return Err(VoxelError::TooLarge { table });
        }
        let mut far = Host.alloc("fluid parts", mesh.forest.capacity(), NONE)?;
        for (i, &id) in leaves.iter().enumerate() {
            far[id as usize] = (near + i) as u32;
        }
        Ok(Self {
            clearance,
            far,
            leaves,
            near,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.near + self.leaves.len()
    }

    pub(super) fn of(&self, at: CellRef) -> u32 {
        match self.clearance.near(at.block) {
            Some(slot) => (slot * dims::cells(D)) as u32 + at.cell,
            None => self.far[at.block as usize],
        }
    }

    /// The cell of a node of a near block.
    pub(super) fn cell(&self, node: u32) -> CellRef {
        let (slot, cell) = (
            node as usize / dims::cells(D),
            node as usize % dims::cells(D),
        );
        CellRef {
            block: self.clearance.blocks()[slot],
            cell: cell as u32,
        }
    }

    /// The block of a node of a far leaf; `None` for others.
    pub(super) fn leaf(&self, node: u32) -> Option<u32> {
        let i = (node as usize).checked_sub(self.near)?;
        Some(self.leaves[i])
    }
}
