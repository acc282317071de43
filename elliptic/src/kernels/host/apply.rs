//! The operator on blocks.

use crate::{Beside, Blocks, EllipticOperator, faces};
use cutlink_amr::dims;
use rayon::prelude::*;

/// A block's values and the ring of cells around it, 6^D, without edges and corners.
pub(crate) type Tile = [f64; 216];

/// Steps of a tile along each axis.
pub(crate) const TILE: [usize; 3] = [1, 6, 36];

/// The place of a cell in a tile.
#[inline]
pub(crate) fn in_tile<const D: usize>(cell: usize) -> usize {
    let at = dims::unravel::<D>(cell, 4);
    (0..D).map(|a| (at[a] as usize + 1) * TILE[a]).sum()
}

/// Fills a tile with a block's values and those beside its faces: of the same level, or the coarser leaf's; zero
/// beyond the box.
#[inline]
pub(crate) fn tile<const D: usize>(blocks: &Blocks<D>, x: &[f64], block: usize, tile: &mut Tile) {
    let cells = dims::cells(D);
    let own = &x[block * cells..(block + 1) * cells];
    for (cell, &value) in own.iter().enumerate() {
        tile[in_tile::<D>(cell)] = value;
    }
    for side in 0..2 * D {
        let (axis, upper) = (side / 2, side % 2);
        let step = TILE[axis];
        let beside = blocks.beside(block, side);
        for cell in faces::layer::<D>(side) {
            let at = in_tile::<D>(cell);
            let there = if upper == 0 { at - step } else { at + step };
            tile[there] = match beside {
                Beside::Outside => 0.0,
                Beside::Same(other) => {
                    let across = 3 * faces::stride(axis);
                    let cell = if upper == 0 {
                        cell + across
                    } else {
                        cell - across
                    };
                    x[other * cells + cell]
                }
                Beside::Coarser(other) => {
                    let at = dims::unravel::<D>(cell, 4);
                    x[other * cells + blocks.coarser_cell(block, side, at)]
                }
            };
        }
    }
}

impl<const D: usize> EllipticOperator<D> {
    /// The operator on the cells of a block, as on a mesh whose finest level is the block's.
    #[inline]
    pub(super) fn apply_on_level(&self, x: &[f64], block: usize, out: &mut [f64]) {
        let mut values = [0.0; 216];
        tile(&self.blocks, x, block, &mut values);
        self.apply_tile(&values, block, out);
    }

    #[inline]
    fn apply_tile(&self, tile: &Tile, block: usize, out: &mut [f64]) {
        let (cells, per) = (dims::cells(D), faces::per_block(D));
        let t = &self.conductance[block * per..(block + 1) * per];
        let diagonal = self.diagonal.get(block * cells..(block + 1) * cells);
        for (cell, out) in out.iter_mut().enumerate() {
            let at = in_tile::<D>(cell);
            let x = tile[at];
            let mut sum = diagonal.map_or(0.0, |d| d[cell] * x);
            for axis in 0..D {
                let face = faces::lower(D, axis, cell);
                sum += t[face] * (x - tile[at - TILE[axis]]);
                sum += t[face + faces::stride(axis)] * (x - tile[at + TILE[axis]]);
            }
            *out = sum;
        }
    }

    /// The operator on the cells of a leaf, with the finer cells beside it.
    pub(super) fn apply_leaf(&self, x: &[f64], block: usize, out: &mut [f64]) {
        let mut values = [0.0; 216];
        tile(&self.blocks, x, block, &mut values);
        let finer = |side: usize| self.blocks.is_finer(block, side);
        for side in (0..2 * D).filter(|&side| finer(side)) {
            let step = TILE[side / 2];
            for cell in faces::layer::<D>(side) {
                // No flux by the coarse face: the fine faces below have it.
                let at = in_tile::<D>(cell);
                let there = if side.is_multiple_of(2) {
                    at - step
                } else {
                    at + step
                };
                values[there] = values[at];
            }
        }
        self.apply_tile(&values, block, out);
        let (cells, per) = (dims::cells(D), faces::per_block(D));
        for side in (0..2 * D).filter(|&side| finer(side)) {
            let Beside::Same(other) = self.blocks.beside(block, side) else {
                continue;
            };
            for cell in faces::layer::<D>(side) {
                let at = dims::unravel::<D>(cell, 4);
                for (b, c) in self.blocks.finer_cells(other, side, at) {
                    let t = self.conductance[b * per + faces::of_side(D, side ^ 1, c)];
                    out[cell] += t * (x[block * cells + cell] - x[b * cells + c]);
                }
            }
        }
    }
}

pub(super) fn apply<const D: usize>(op: &EllipticOperator<D>, x: &[f64], out: &mut [f64]) {
    let cells = dims::cells(D);
    out.par_chunks_mut(cells)
        .enumerate()
        .for_each(|(block, out)| {
            if op.blocks.is_leaf(block) {
                op.apply_leaf(x, block, out);
            } else {
                out.fill(0.0);
            }
        });
}
