//! What kernels read of a forest: levels as ranges, and what lies beside each block's faces.

use crate::EllipticError;
use crate::layers::CoarseLayers;
use cutlink_amr::{Forest, NONE, OUTSIDE, dims};
use cutlink_device::memory;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// What lies beyond a face of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// A block of the same level, leaf or refined.
    Same(usize),
    /// A leaf of the next coarser level.
    Coarser(usize),
    /// Beyond the box.
    Outside,
}

/// Blocks of a contiguous forest, and their neighbours over faces. Sides are numbered `2 · axis`, plus 1 for the upper
/// one. Memory: 13 + 4 D + 8 D bytes a block.
#[derive(Debug, Clone)]
pub struct Blocks<const D: usize> {
    root: [u32; D],
    periodic: [bool; D],
    level: Vec<u8>,
    coord: Vec<[i32; D]>,
    parent: Vec<u32>,
    first_child: Vec<u32>,
    beside: Vec<u32>,
    ranges: Vec<Range<usize>>,
    layers: OnceLock<Arc<CoarseLayers>>,
}

impl<const D: usize> Blocks<D> {
    /// The blocks of a forest.
    ///
    /// # Errors
    /// Where ids are not contiguous, or memory is short.
    pub fn new(forest: &Forest<D>) -> Result<Self, EllipticError> {
        let mut ranges = Vec::with_capacity(forest.levels.len());
        let mut first = 0;
        for ids in &forest.levels {
            let in_order = (ids.iter().enumerate()).all(|(i, &id)| id as usize == first + i);
            if !in_order {
                return Err(EllipticError::NotContiguous);
            }
            ranges.push(first..first + ids.len());
            first += ids.len();
        }
        if first != forest.capacity() {
            return Err(EllipticError::NotContiguous);
        }
        let mut beside = Vec::new();
        memory::grow("neighbours over faces", &mut beside, first * 2 * D, NONE)?;
        let sides: Vec<usize> = (0..2 * D)
            .map(|side| {
                let mut step = [0; D];
                step[side / 2] = if side.is_multiple_of(2) { -1 } else { 1 };
                dims::direction(step)
            })
            .collect();
        let of_block = |(id, beside): (usize, &mut [u32])| {
            for (beside, &direction) in beside.iter_mut().zip(&sides) {
                *beside = match forest.neighbor(id as u32, direction) {
                    NONE => forest.coarser_neighbor(id as u32, direction),
                    other => other,
                };
            }
        };
        beside.par_chunks_mut(2 * D).enumerate().for_each(of_block);
        Ok(Self {
            root: forest.root,
            periodic: forest.periodic,
            level: forest.level.clone(),
            coord: forest.coord.clone(),
            parent: forest.parent.clone(),
            first_child: forest.first_child.clone(),
            beside,
            ranges,
            layers: OnceLock::new(),
        })
    }

    /// How many blocks there are, refined ones included.
    pub fn len(&self) -> usize {
        self.level.len()
    }

    /// Levels, coordinates, parents and first children, by block.
    #[cfg(feature = "cuda")]
    #[expect(clippy::type_complexity, reason = "four arrays")]
    pub(crate) fn arrays(&self) -> (&[u8], &[[i32; D]], &[u32], &[u32]) {
        (&self.level, &self.coord, &self.parent, &self.first_child)
    }

    /// Leaves beside finer ones, which all operators on these blocks share.
    pub(crate) fn layers(&self) -> &Arc<CoarseLayers> {
        self.layers
            .get_or_init(|| Arc::new(CoarseLayers::new(self)))
    }

    /// Never: a forest has root blocks.
    pub fn is_empty(&self) -> bool {
        self.level.is_empty()
    }

    /// Values of an array of cells: blocks × 4^D.
    pub fn cells(&self) -> usize {
        self.len() * dims::cells(D)
    }

    /// Root blocks on each axis.
    pub fn root(&self) -> [u32; D] {
        self.root
    }

    /// Periodic axes.
    pub fn periodic(&self) -> [bool; D] {
        self.periodic
    }

    /// The finest level.
    pub fn finest(&self) -> usize {
        self.ranges.len() - 1
    }

    /// The blocks of a level.
    pub fn range(&self, level: usize) -> Range<usize> {
        self.ranges[level].clone()
    }

    /// The level of a block.
    pub fn level(&self, block: usize) -> usize {
        usize::from(self.level[block])
    }

    /// The block's coordinate at its level.
    pub fn coord(&self, block: usize) -> [i32; D] {
        self.coord[block]
    }

    /// The block that a block is a child of.
    pub fn parent(&self, block: usize) -> Option<usize> {
        Some(self.parent[block])
            .filter(|&p| p != NONE)
            .map(|p| p as usize)
    }

    /// First of the 2^D contiguous children of a refined block.
    pub fn first_child(&self, block: usize) -> Option<usize> {
        Some(self.first_child[block])
            .filter(|&c| c != NONE)
            .map(|c| c as usize)
    }

    /// Whether a block has no children.
    pub fn is_leaf(&self, block: usize) -> bool {
        self.first_child[block] == NONE
    }

    /// What lies beyond a side of a block.
    pub fn beside(&self, block: usize, side: usize) -> Beside {
        match self.beside[block * 2 * D + side] {
            OUTSIDE => Beside::Outside,
            other if self.level[other as usize] < self.level[block] => {
                Beside::Coarser(other as usize)
            }
            other => Beside::Same(other as usize),
        }
    }

    /// Whether a refined block lies beyond a side of a block.
    pub fn is_finer(&self, block: usize, side: usize) -> bool {
        matches!(self.beside(block, side), Beside::Same(other) if !self.is_leaf(other))
    }

    /// The cell of the coarser leaf beyond a side of a block, beside one of the block's cells there.
    pub fn coarser_cell(&self, block: usize, side: usize, cell: [i32; D]) -> usize {
        let at = self.coord[block];
        let mut up: [i32; D] = std::array::from_fn(|a| 2 * (at[a] & 1) + (cell[a] >> 1));
        up[side / 2] = if side.is_multiple_of(2) { 3 } else { 0 };
        dims::ravel(up, 4)
    }

    /// The cells of the finer blocks beyond a side of a leaf, beside one of its cells there: block and cell of each.
    pub fn finer_cells(
        &self,
        other: usize,
        side: usize,
        cell: [i32; D],
    ) -> impl Iterator<Item = (usize, usize)> {
        let (axis, upper) = (side / 2, side % 2);
        let mut at = cell;
        at[axis] = if upper == 0 { 3 } else { 0 };
        let first = self.first_child[other] as usize;
        (0..dims::children(D) / 2).map(move |k| {
            let mut corner = [0; D];
            let mut bit = 0;
            for (a, c) in corner.iter_mut().enumerate() {
                if a == axis {
                    *c = 1 - upper as i32;
                } else {
                    *c = (k >> bit & 1) as i32;
                    bit += 1;
                }
            }
            let (child, fine) = dims::below(at, corner);
            (first + child, dims::ravel(fine, 4))
        })
    }
}
