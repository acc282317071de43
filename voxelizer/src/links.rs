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

use crate::DIRECTION_BITS;
use cutlink_amr::{NONE, dims};
use cutlink_device::{Backend, DeviceError, Host};
use rayon::prelude::*;

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

/// The first invariant of a table found broken: see [`LinkTable::check`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkViolation {
    /// Arrays of lengths that do not fit one another.
    #[error("{array} has {len} elements, {expected} expected")]
    Length {
        /// The array, a field of [`LinkTable`].
        array: &'static str,
        /// Its length.
        len: usize,
        /// The length that fits.
        expected: usize,
    },
    /// A row of a block that does not exist, or that refers to another row.
    #[error("row {row} has block {block}, {}", found.map_or("which does not exist".into(), |row| format!("whose row is {row}")))]
    Block {
        /// The row.
        row: usize,
        /// Its block.
        block: u32,
        /// The row that the block names; `None` where there is no such block.
        found: Option<u32>,
    },
    /// A row without one entry for each boundary cell of its block.
    #[error("row {row} should hold the {cells} boundary cells of block {block}")]
    Cells {
        /// The row.
        row: usize,
        /// Its block.
        block: u32,
        /// Boundary cells of the block.
        cells: u32,
    },
    /// An entry without a direction, with an invalid one, or whose links do not follow those before.
    #[error(
        "entry {entry} has directions {directions:x} and first link {first}, {expected} expected"
    )]
    Entry {
        /// Position in `cells`.
        entry: usize,
        /// Its directions, a bit each.
        directions: u32,
        /// Position of its first link.
        first: u64,
        /// Links of the entries before.
        expected: u64,
    },
    /// A cut distance outside (0, 1].
    #[error("link {link} is cut at {q}, outside (0, 1]")]
    Distance {
        /// Position in the table.
        link: usize,
        /// The distance.
        q: f32,
    },
    /// A patch that does not exist.
    #[error("link {link} is of patch {patch} of {patches}")]
    Patch {
        /// Position in the table.
        link: usize,
        /// The patch.
        patch: u16,
        /// Number of patches.
        patches: usize,
    },
}

impl LinkViolation {
    /// The array that is wrong, a field of [`LinkTable`].
    pub fn array(&self) -> &'static str {
        match self {
            Self::Length { array, .. } => array,
            Self::Block { .. } => "blocks",
            Self::Cells { .. } => "cell_start",
            Self::Entry { .. } => "cells",
            Self::Distance { .. } => "q",
            Self::Patch { .. } => "patch",
        }
    }
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

    /// Checks the table as such and names the first violation: rows and blocks name each other, each row has an entry
    /// for each boundary cell, links follow one another, distances are in (0, 1] and patches below `patches`. Follows
    /// no index before it is checked. `boundary`: the boundary mask of each block id. Cost: one pass over the table.
    ///
    /// # Errors
    /// The first violation, by rows first, then entries, then links.
    pub fn check<const D: usize>(
        &self,
        boundary: &[u64],
        patches: usize,
    ) -> Result<(), LinkViolation> {
        self.check_lengths(boundary.len())?;
        for (row, &block) in self.blocks.iter().enumerate() {
            let found = self.row_of.get(block as usize).copied();
            if found != Some(row as u32) {
                return Err(LinkViolation::Block { row, block, found });
            }
            let cells = boundary[block as usize].count_ones();
            let [from, to] = [row, row + 1].map(|row| self.cell_start[row]);
            let is_start = row > 0 || from == 0;
            if !is_start || to.checked_sub(from) != Some(cells) {
                return Err(LinkViolation::Cells { row, block, cells });
            }
        }
        self.check_entries::<D>()?;
        let outside = |q: &f32| !(*q > 0.0 && *q <= 1.0);
        if let Some(link) = self.q.par_iter().position_first(outside) {
            let q = self.q[link];
            return Err(LinkViolation::Distance { link, q });
        }
        let is_none = |&patch: &u16| usize::from(patch) >= patches;
        let none = match self.patch.is_empty() {
            // All links are of patch 0.
            true => (patches == 0 && !self.is_empty()).then_some(0),
            false => self.patch.par_iter().position_first(is_none),
        };
        match none {
            None => Ok(()),
            Some(link) => Err(LinkViolation::Patch {
                link,
                patch: self.patch.get(link).copied().unwrap_or(0),
                patches,
            }),
        }
    }

    fn check_lengths(&self, blocks: usize) -> Result<(), LinkViolation> {
        let cells = self.cell_start.last().map_or(0, |&end| end as usize);
        let patch = if self.patch.is_empty() {
            0
        } else {
            self.q.len()
        };
        let lengths = [
            ("row_of", self.row_of.len(), blocks),
            ("cell_start", self.cell_start.len(), self.blocks.len() + 1),
            ("cells", self.cells.len(), cells),
            ("patch", self.patch.len(), patch),
        ];
        for (array, len, expected) in lengths {
            if len != expected {
                return Err(LinkViolation::Length {
                    array,
                    len,
                    expected,
                });
            }
        }
        Ok(())
    }

    fn check_entries<const D: usize>(&self) -> Result<(), LinkViolation> {
        let allowed = ((1u32 << dims::directions(D)) - 1) & !(1 << dims::center(D));
        let mut expected = 0;
        for (entry, &cell) in self.cells.iter().enumerate() {
            let (directions, first) = unpack_cell(cell);
            if directions == 0 || directions & !allowed != 0 || first != expected {
                return Err(LinkViolation::Entry {
                    entry,
                    directions,
                    first,
                    expected,
                });
            }
            expected += u64::from(directions.count_ones());
        }
        if expected != self.q.len() as u64 {
            return Err(LinkViolation::Length {
                array: "q",
                len: self.q.len(),
                expected: expected as usize,
            });
        }
        Ok(())
    }
}
