//! Faces of a block's cells: for each axis 5 layers of 4^(D-1), x fastest; layer 0 is the block's lower side.
//!
//! ```text
//! axis 0 in 2D:  face = c0 + 5 c1, c0 in 0..=4      axis 1:  face = c0 + 4 c1, c1 in 0..=4
//! ```
//!
//! Faces between two blocks of a level are stored in both, with the same value. At a level jump the finer block's faces
//! count; those of the coarser leaf there, and all faces of refined blocks, follow from them by [`restrict`].

use crate::Blocks;
use cutlink_amr::dims;
use rayon::prelude::*;

/// Faces of a block along one axis.
pub const fn per_axis(d: usize) -> usize {
    5 * dims::cells(d) / 4
}

/// Faces of a block.
pub const fn per_block(d: usize) -> usize {
    d * per_axis(d)
}

const fn lower_table() -> [[u16; 64]; 3] {
    let mut table = [[0; 64]; 3];
    let mut i = 0;
    while i < 64 {
        let (x, y, z) = (i % 4, i / 4 % 4, i / 16);
        table[0][i] = (x + 5 * y + 20 * z) as u16;
        table[1][i] = (x + 4 * y + 20 * z) as u16;
        table[2][i] = (x + 4 * y + 16 * z) as u16;
        i += 1;
    }
    table
}

const LOWER: [[u16; 64]; 3] = lower_table();

/// The lower face of a cell along an axis; the upper one is [`stride`] further.
#[inline]
pub const fn lower(d: usize, axis: usize, cell: usize) -> usize {
    axis * per_axis(d) + LOWER[axis][cell] as usize
}

/// From a cell's lower face to its upper one, and from a cell to the next one along an axis.
#[inline]
pub const fn stride(axis: usize) -> usize {
    1 << (2 * axis)
}

/// The face of a cell on one of its sides.
#[inline]
pub const fn of_side(d: usize, side: usize, cell: usize) -> usize {
    lower(d, side / 2, cell) + (side % 2) * stride(side / 2)
}

/// Whether a cell is its block's last one towards a side.
#[inline]
pub(crate) fn is_at<const D: usize>(side: usize, cell: usize) -> bool {
    let edge = if side.is_multiple_of(2) { 0 } else { 3 };
    dims::unravel::<D>(cell, 4)[side / 2] == edge
}

/// The cells of a block along one of its sides, by coordinates.
pub fn layer<const D: usize>(side: usize) -> impl Iterator<Item = usize> {
    (0..dims::cells(D)).filter(move |&cell| is_at::<D>(side, cell))
}

/// Values of faces of refined blocks, and of leaves beside finer ones, from the fine faces: their sum times `factor[0]`, or
/// times `factor[1]` where the fine faces are at a level jump. Levels from fine to coarse.
///
/// # Panics
/// Where `values` has not [`per_block`] values for each block.
pub fn restrict<const D: usize>(blocks: &Blocks<D>, values: &mut [f64], factor: [f64; 2]) {
    let per = per_block(D);
    assert_eq!(values.len(), blocks.len() * per, "faces of each block");
    for level in (0..blocks.finest()).rev() {
        let range = blocks.range(level);
        let (coarse, fine) = values.split_at_mut(range.end * per);
        let (first, offset) = (range.start, range.end * per);
        let of = |block: usize, face: usize| fine[block * per + face - offset];
        (coarse[first * per..].par_chunks_mut(per).enumerate()).for_each(|(i, own)| {
            let block = first + i;
            if blocks.is_leaf(block) {
                for side in 0..2 * D {
                    if let crate::Beside::Same(other) = blocks.beside(block, side)
                        && !blocks.is_leaf(other)
                    {
                        for cell in layer::<D>(side) {
                            let at = dims::unravel::<D>(cell, 4);
                            let cells = blocks.finer_cells(other, side, at);
                            let sum: f64 = cells.map(|(b, c)| of(b, of_side(D, side ^ 1, c))).sum();
                            own[of_side(D, side, cell)] = factor[1] * sum;
                        }
                    }
                }
            } else {
                restrict_block(blocks, block, own, of, factor);
            }
        });
    }
}

fn restrict_block<const D: usize>(
    blocks: &Blocks<D>,
    block: usize,
    own: &mut [f64],
    of: impl Fn(usize, usize) -> f64,
    factor: [f64; 2],
) {
    let first = blocks.first_child(block).expect("a refined block");
    for axis in 0..D {
        let jump = [2 * axis, 2 * axis + 1].map(
            |side| matches!(blocks.beside(block, side), crate::Beside::Same(other) if blocks.is_leaf(other)),
        );
        for cell in 0..dims::cells(D) {
            let at = dims::unravel::<D>(cell, 4);
            for upper in 0..2 {
                if upper == 1 && at[axis] != 3 {
                    continue;
                }
                let mut sum = 0.0;
                for k in 0..dims::children(D) {
                    if k >> axis & 1 == upper {
                        let (child, fine) = dims::below(at, dims::unravel::<D>(k, 2));
                        let fine = dims::ravel(fine, 4);
                        sum += of(first + child, of_side(D, 2 * axis + upper, fine));
                    }
                }
                let edge = if upper == 1 { 3 } else { 0 };
                let at_jump = at[axis] == edge && jump[upper];
                own[of_side(D, 2 * axis + upper, cell)] = factor[usize::from(at_jump)] * sum;
            }
        }
    }
}
