//! The cut-link table: for every boundary cell, which of its lattice links the surface cuts,
//! where, and which patch it is.
//!
//! | array | length | entry |
//! |---|---|---|
//! | `blocks` | rows | id of a block that has boundary cells, in level order |
//! | `row_of` | block ids | the block's row, or [`NONE`] |
//! | `cell_start` | rows + 1 | first entry of the row in `cells` |
//! | `cells` | boundary cells, in cell order | bits 0..27: directions that are cut; bits 27..64: position of its first link |
//! | `q` | links, in direction order | distance from the cell's centre to the surface along the link, as a fraction of the link, in (0, 1] |
//! | `patch` | links, or none | index of the patch that is cut; no entries where the surface has one patch |
//!
//! Directions are the forest's: `(dx+1) + 3 (dy+1) + 9 (dz+1)`. A centre that lies on the
//! surface has q = [`f32::MIN_POSITIVE`]. 8 bytes a boundary cell and 4 (or 6) a link, where
//! the dense table of Jaber et al. 2026, §3.4.5 takes 6,656 a block.

use cutlink_amr::NONE;
use cutlink_device::{Backend, DeviceError, Host};

/// Bits of the direction mask in an entry of `cells`.
pub const DIRECTION_BITS: u32 = 27;
const DIRECTIONS: u64 = (1 << DIRECTION_BITS) - 1;

/// The table; see the module's description.
#[derive(Debug)]
pub struct LinkTable<B: Backend = Host> {
    /// Block of each row.
    pub blocks: B::Buf<u32>,
    /// Row of each block.
    pub row_of: B::Buf<u32>,
    /// First boundary cell of each row, and their number.
    pub cell_start: B::Buf<u32>,
    /// Direction mask and first link of each boundary cell.
    pub cells: B::Buf<u64>,
    /// Cut distance of each link.
    pub q: B::Buf<f32>,
    /// Patch of each link, or empty.
    pub patch: B::Buf<u16>,
}

/// One cut link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Fraction of the link from the cell's centre to the surface, in (0, 1].
    pub q: f32,
    /// Index of the patch.
    pub patch: u16,
}

/// Packs an entry of `cells`.
pub const fn pack_cell(directions: u32, first_link: u64) -> u64 {
    directions as u64 | first_link << DIRECTION_BITS
}

/// The direction mask and the first link of an entry of `cells`.
pub const fn unpack_cell(entry: u64) -> (u32, u64) {
    ((entry & DIRECTIONS) as u32, entry >> DIRECTION_BITS)
}

impl<B: Backend> LinkTable<B> {
    /// Links in the table.
    pub fn len(&self) -> usize {
        B::len(&self.q)
    }

    /// Whether nothing is cut.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A copy on the host.
    pub fn download(&self, backend: &B) -> Result<LinkTable, DeviceError> {
        Ok(LinkTable {
            blocks: backend.download(&self.blocks)?,
            row_of: backend.download(&self.row_of)?,
            cell_start: backend.download(&self.cell_start)?,
            cells: backend.download(&self.cells)?,
            q: backend.download(&self.q)?,
            patch: backend.download(&self.patch)?,
        })
    }
}

impl LinkTable {
    /// The links of a boundary cell: its direction mask and the position of its first link.
    /// `boundary` is the boundary mask of the block; `None` where the cell has no link.
    /// Cost: one population count.
    pub fn cell(&self, block: u32, boundary: u64, cell: u32) -> Option<(u32, u64)> {
        let row = self.row_of[block as usize];
        if row == NONE || boundary >> cell & 1 == 0 {
            return None;
        }
        let rank = (boundary & ((1 << cell) - 1)).count_ones();
        let entry = self.cells[(self.cell_start[row as usize] + rank) as usize];
        Some(unpack_cell(entry))
    }

    /// The cut of one link of a cell; `None` where the surface does not cut it.
    pub fn link(&self, block: u32, boundary: u64, cell: u32, direction: usize) -> Option<Link> {
        let (directions, first) = self.cell(block, boundary, cell)?;
        if directions >> direction & 1 == 0 {
            return None;
        }
        let rank = (directions & ((1 << direction) - 1)).count_ones();
        let at = first as usize + rank as usize;
        Some(Link {
            q: self.q[at],
            patch: self.patch.get(at).copied().unwrap_or(0),
        })
    }
}
