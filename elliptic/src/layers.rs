//! Leaves beside finer blocks.

use crate::{Beside, Blocks, faces};
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
    pub(crate) fn new<const D: usize>(blocks: &Blocks<D>) -> Self {
        let none = || vec![0..0; blocks.finest() + 1];
        let mut layers = Self {
            range: none(),
            touched_range: none(),
            ..Self::default()
        };
        for level in 1..=blocks.finest() {
            let first = layers.block.len();
            let mut touched = Vec::new();
            for block in blocks.range(level - 1).filter(|&b| blocks.is_leaf(b)) {
                let sides = (0..2 * D).filter(|&side| blocks.is_finer(block, side));
                let bits = sides
                    .flat_map(faces::layer::<D>)
                    .fold(0u64, |bits, cell| bits | 1 << cell);
                if bits == 0 {
                    continue;
                }
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
