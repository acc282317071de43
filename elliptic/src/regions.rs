//! Closed regions: cells joined by open faces, where only differences of the solution are determined.

use crate::{Beside, Blocks, EllipticError, faces};
use cutlink_amr::dims;
use cutlink_device::{UnionFind, memory};
use rayon::prelude::*;

const NONE: u32 = u32::MAX;

/// A cell's volume, in cells of the finest level.
fn size<const D: usize>(blocks: &Blocks<D>, block: usize) -> f64 {
    2f64.powi((D * (blocks.finest() - blocks.level(block))) as i32)
}

#[derive(Debug)]
pub(crate) struct Regions {
    /// By cell: its closed region. Empty where no region is closed.
    of: Vec<u32>,
    /// Volume of each, in cells of the finest level.
    volume: Vec<f64>,
}

impl Regions {
    /// Cost: one pass in order over the faces.
    pub(crate) fn new<const D: usize>(
        blocks: &Blocks<D>,
        conductance: &[f64],
        diagonal: &[f64],
    ) -> Result<Self, EllipticError> {
        let (cells, per) = (dims::cells(D), faces::per_block(D));
        let mut sets = UnionFind::try_new("regions of cells", blocks.cells())?;
        let is_open = |block: usize, face: usize| conductance[block * per + face] > 0.0;
        let mut held = vec![false; blocks.cells()];
        for block in (0..blocks.len()).filter(|&b| blocks.is_leaf(b)) {
            for cell in 0..cells {
                let at = dims::unravel::<D>(cell, 4);
                let own = block * cells + cell;
                held[own] |= diagonal.get(own).is_some_and(|&d| d > 0.0);
                for side in 0..2 * D {
                    if !is_open(block, faces::of_side(D, side, cell)) {
                        continue;
                    }
                    let (axis, upper) = (side / 2, side % 2);
                    let inside = if upper == 0 {
                        at[axis] > 0
                    } else {
                        at[axis] < 3
                    };
                    let step = faces::stride(axis);
                    let other = if inside {
                        Some(if upper == 0 { own - step } else { own + step })
                    } else {
                        let across = 3 * step;
                        let over = if upper == 0 {
                            cell + across
                        } else {
                            cell - across
                        };
                        match blocks.beside(block, side) {
                            Beside::Same(b) if blocks.is_leaf(b) => Some(b * cells + over),
                            // The finer cells join this one.
                            Beside::Same(_) => None,
                            Beside::Coarser(b) => {
                                Some(b * cells + blocks.coarser_cell(block, side, at))
                            }
                            Beside::Outside => {
                                held[own] = true;
                                None
                            }
                        }
                    };
                    if let Some(other) = other {
                        sets.join(own as u32, other as u32);
                    }
                }
            }
        }
        Self::closed(blocks, &mut sets, &held, |block, cell| {
            (0..2 * D).any(|side| match blocks.beside(block, side) {
                Beside::Same(b) if !blocks.is_leaf(b) => {
                    let at = dims::unravel::<D>(cell, 4);
                    let edge = if side.is_multiple_of(2) { 0 } else { 3 };
                    let mut fine = blocks.finer_cells(b, side, at);
                    (at[side / 2] == edge
                        && fine.any(|(b, c)| is_open(b, faces::of_side(D, side ^ 1, c))))
                        || (at[side / 2] != edge && is_open(block, faces::of_side(D, side, cell)))
                }
                _ => is_open(block, faces::of_side(D, side, cell)),
            })
        })
    }

    fn closed<const D: usize>(
        blocks: &Blocks<D>,
        sets: &mut UnionFind,
        held: &[bool],
        is_unknown: impl Fn(usize, usize) -> bool,
    ) -> Result<Self, EllipticError> {
        let cells = dims::cells(D);
        let mut is_held = vec![false; blocks.cells()];
        for own in 0..blocks.cells() {
            if held[own] {
                is_held[sets.root(own as u32) as usize] = true;
            }
        }
        let mut of = Vec::new();
        memory::grow("closed regions", &mut of, blocks.cells(), NONE)?;
        let (mut number, mut volume) = (vec![NONE; blocks.cells()], Vec::new());
        for block in (0..blocks.len()).filter(|&b| blocks.is_leaf(b)) {
            let size = size(blocks, block);
            for cell in 0..cells {
                let own = block * cells + cell;
                let root = sets.root(own as u32) as usize;
                if is_held[root] || !is_unknown(block, cell) {
                    continue;
                }
                if number[root] == NONE {
                    number[root] = volume.len() as u32;
                    volume.push(0.0);
                }
                of[own] = number[root];
                volume[number[root] as usize] += size;
            }
        }
        if volume.is_empty() {
            of = Vec::new();
        }
        Ok(Self { of, volume })
    }

    pub(crate) fn count(&self) -> usize {
        self.volume.len()
    }

    /// Sums over each region, in the order of blocks; of values times the cell's size in cells of the finest level where
    /// `by_volume`.
    fn sums<const D: usize>(
        &self,
        blocks: &Blocks<D>,
        values: &[f64],
        by_volume: bool,
    ) -> Vec<f64> {
        let cells = dims::cells(D);
        let term = |block: usize, own: usize| {
            values[own] * if by_volume { size(blocks, block) } else { 1.0 }
        };
        if self.count() == 1 {
            let block_sum = |block: usize| -> f64 {
                let range = block * cells..(block + 1) * cells;
                range
                    .filter(|&own| self.of[own] == 0)
                    .map(|own| term(block, own))
                    .sum()
            };
            let sums: Vec<f64> = (0..blocks.len()).into_par_iter().map(block_sum).collect();
            return vec![sums.iter().sum()];
        }
        let mut sums = vec![0.0; self.count()];
        for own in 0..blocks.cells() {
            if self.of[own] != NONE {
                sums[self.of[own] as usize] += term(own / cells, own);
            }
        }
        sums
    }

    /// Takes the mean from a right side that is integrated over cells, or from a solution.
    pub(crate) fn remove_mean<const D: usize>(
        &self,
        blocks: &Blocks<D>,
        values: &mut [f64],
        integrated: bool,
    ) {
        if self.count() == 0 {
            return;
        }
        let cells = dims::cells(D);
        let sums = self.sums(blocks, values, !integrated);
        values
            .par_chunks_mut(cells)
            .enumerate()
            .for_each(|(block, values)| {
                let size = size(blocks, block);
                for (cell, value) in values.iter_mut().enumerate() {
                    let region = self.of[block * cells + cell];
                    if region != NONE {
                        let mean = sums[region as usize] / self.volume[region as usize];
                        *value -= if integrated { mean * size } else { mean };
                    }
                }
            });
    }
}
