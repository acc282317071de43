//! Finding leaves and cells: from a coordinate down the tree, and across levels.

use crate::{Forest, NONE, OUTSIDE, dims};

/// A cell: a block and the cell's place in it (`x + 4 y + 16 z`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CellRef {
    /// Block id.
    pub block: u32,
    /// Cell in the block, 0..4^D.
    pub cell: u32,
}

/// What lies one cell step away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeighborCell {
    /// A cell of the same level in a leaf.
    Same(CellRef),
    /// A cell of the same level in a refined block: its 2^D finer cells fill its place.
    Refined(CellRef),
    /// The coarser leaf cell that covers the place.
    Coarser(CellRef),
    /// Beyond a face of the box that is not periodic.
    Outside,
}

impl<const D: usize> Forest<D> {
    /// The deepest block at or above `level` whose region holds the block coordinate `at`
    /// of that level, or `None` outside the box. Cost: one step a level.
    pub fn find(&self, level: usize, at: [i32; D]) -> Option<u32> {
        let mut id = 0u64;
        for a in (0..D).rev() {
            let c = at[a] >> level;
            if at[a] < 0 || c >= self.root[a] as i32 {
                return None;
            }
            id = id * u64::from(self.root[a]) + c as u64;
        }
        let mut id = id as u32;
        for below in (0..level).rev() {
            let first = self.first_child[id as usize];
            if first == NONE {
                break;
            }
            id = first + dims::ravel(at.map(|c| c >> below & 1), 2) as u32;
        }
        Some(id)
    }

    /// Wraps a block coordinate of a level around the periodic axes; other coordinates are
    /// unchanged.
    pub fn wrap(&self, level: usize, at: [i32; D]) -> [i32; D] {
        std::array::from_fn(|a| {
            let count = (self.root[a] << level) as i32;
            if self.periodic[a] {
                at[a].rem_euclid(count)
            } else {
                at[a]
            }
        })
    }

    /// The leaf cell that holds a point, in units of root cells from the lower corner of
    /// the box; a point on a face between cells belongs to the upper one. `None` outside
    /// (the upper faces included) and for NaN.
    pub fn leaf_at(&self, point: [f64; D]) -> Option<CellRef> {
        let inside = |a: usize| point[a] >= 0.0 && point[a] < f64::from(self.root[a] * 4);
        if !(0..D).all(inside) {
            return None;
        }
        let finest = self.finest();
        let fine = point.map(|x| (x * f64::from(1u32 << finest)) as i32);
        let block = self.find(finest, fine.map(|c| c >> 2))?;
        let up = finest - usize::from(self.level[block as usize]);
        let cell = dims::ravel(fine.map(|c| c >> up & 3), 4) as u32;
        Some(CellRef { block, cell })
    }

    /// Cell coordinates of a cell at its block's level.
    pub fn cell_coord(&self, at: CellRef) -> [i32; D] {
        let local = dims::unravel::<D>(at.cell as usize, 4);
        let block = self.coord[at.block as usize];
        std::array::from_fn(|a| 4 * block[a] + local[a])
    }

    /// What lies one cell away from a cell in `direction`, across levels.
    pub fn neighbor_cell(&self, at: CellRef, direction: usize) -> NeighborCell {
        let step = dims::step::<D>(direction);
        let local = dims::unravel::<D>(at.cell as usize, 4);
        let to: [i32; D] = std::array::from_fn(|a| local[a] + step[a]);
        let toward = dims::direction(to.map(|c| c.div_euclid(4)));
        let cell = dims::ravel(to.map(|c| c.rem_euclid(4)), 4) as u32;
        match self.neighbor(at.block, toward) {
            OUTSIDE => NeighborCell::Outside,
            NONE => NeighborCell::Coarser(self.coarse_cover(at, step)),
            block if self.is_leaf(block) => NeighborCell::Same(CellRef { block, cell }),
            block => NeighborCell::Refined(CellRef { block, cell }),
        }
    }

    fn coarse_cover(&self, at: CellRef, step: [i32; D]) -> CellRef {
        let level = usize::from(self.level[at.block as usize]);
        let from = self.cell_coord(at);
        let up: [i32; D] = std::array::from_fn(|a| (from[a] + step[a]) >> 1);
        let block = self
            .find(level - 1, self.wrap(level - 1, up.map(|c| c >> 2)))
            .expect("a missing neighbour should lie in the box");
        let cell = dims::ravel(up.map(|c| c & 3), 4) as u32;
        CellRef { block, cell }
    }
}
