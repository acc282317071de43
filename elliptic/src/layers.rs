//! Leaves beside finer blocks.

use crate::{Beside, Blocks, faces};
use rayon::prelude::*;
use std::ops::Range;

/// Leaves beside finer ones, by level of the finer blocks: their cells there are smoothed with the finer level.
#[derive(Debug, Default)]
pub struct CoarseLayers {
    /// The leaves.
    pub(crate) block: Vec<u32>,
    /// Bits of the cells.
    pub(crate) cells: Vec<u64>,
    /// By level of the finer blocks: places in these lists.
    pub(crate) range: Vec<Range<usize>>,
    /// Leaves whose residual such cells change.
    pub(crate) touched: Vec<u32>,
    /// By level of the finer blocks: places in that list.
    pub(crate) touched_range: Vec<Range<usize>>,
}

impl CoarseLayers {
    /// Those of [`Blocks::layers`].
    pub(crate) fn new<const D: usize>(blocks: &Blocks<D>) -> Self {
        let none = || vec![0..0; blocks.finest() + 1];
        let mut layers = Self {
            range: none(),
            touched_range: none(),
            ..Self::default()
        };
        let bits = |side| faces::layer::<D>(side).fold(0u64, |bits, cell| bits | 1 << cell);
        let of_side: Vec<u64> = (0..2 * D).map(bits).collect();
        for level in 1..=blocks.finest() {
            let first = layers.block.len();
            let mut touched = Vec::new();
            let bits_of = |block: usize| {
                let sides = (0..2 * D).filter(|&side| blocks.is_finer(block, side));
                (block, sides.fold(0, |bits, side| bits | of_side[side]))
            };
            let leaves = blocks.range(level - 1).into_par_iter();
            let leaves = leaves.filter(|&b| blocks.is_leaf(b)).map(bits_of);
            let found: Vec<(usize, u64)> = leaves.filter(|of| of.1 != 0).collect();
            for (block, bits) in found {
                layers.block.push(block as u32);
                layers.cells.push(bits);
                touched.push(block as u32);
                for side in 0..2 * D {
                    if let Beside::Same(other) = blocks.beside(block, side)
                        && blocks.is_leaf(other)
                    {
                        touched.push(other as u32);
                    }
                }
            }
            touched.sort_unstable();
            touched.dedup();
            layers.range[level] = first..layers.block.len();
            let first = layers.touched.len();
            layers.touched.extend(touched);
            layers.touched_range[level] = first..layers.touched.len();
        }
        layers
    }
}
