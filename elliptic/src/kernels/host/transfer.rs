//! Between levels.

use super::smooth::add_to_layers;
use crate::cg::Arrays;
use crate::{Blocks, EllipticOperator};
use cutlink_amr::dims;
use cutlink_device::Host;
use rayon::prelude::*;

pub(super) fn restrict_cells<const D: usize>(blocks: &Blocks<D>, values: &mut [f64], share: f64) {
    let cells = dims::cells(D);
    for level in (0..blocks.finest()).rev() {
        let range = blocks.range(level);
        let (coarse, fine) = values.split_at_mut(range.end * cells);
        let (first, offset) = (range.start, range.end * cells);
        (coarse[first * cells..].par_chunks_mut(cells).enumerate()).for_each(|(i, out)| {
            if let Some(child) = blocks.first_child(first + i) {
                sum_children::<D>(&fine[child * cells - offset..], share, out);
            }
        });
    }
}

/// The sums of a share of the cells of 2^D blocks, as cells of their parent.
#[inline]
pub(crate) fn sum_children<const D: usize>(children: &[f64], share: f64, out: &mut [f64]) {
    let cells = dims::cells(D);
    out.fill(0.0);
    for child in 0..dims::children(D) {
        let half = dims::unravel::<D>(child, 2);
        for cell in 0..cells {
            let up = dims::above(half, dims::unravel::<D>(cell, 4));
            out[dims::ravel(up, 4)] += share * children[child * cells + cell];
        }
    }
}

pub(super) fn begin_cycle<const D: usize>(op: &EllipticOperator<D>, w: &mut Arrays<Host>) {
    let cells = dims::cells(D);
    let Arrays { r, z, b, .. } = w;
    z.fill(0.0);
    (b.par_chunks_mut(cells).zip(r.par_chunks(cells)).enumerate()).for_each(|(block, (b, r))| {
        if op.blocks.is_leaf(block) {
            b.copy_from_slice(r);
        }
    });
}

pub(super) fn save_layers<const D: usize>(
    op: &EllipticOperator<D>,
    level: usize,
    from: &[f64],
    to: &mut [f64],
) {
    let cells = dims::cells(D);
    let range = op.layers.range[level].clone();
    (to[range.start * cells..range.end * cells]
        .par_chunks_mut(cells)
        .enumerate())
    .for_each(|(i, to)| {
        let block = op.layers.block[range.start + i] as usize;
        to.copy_from_slice(&from[block * cells..(block + 1) * cells]);
    });
}

/// Residuals of a level's blocks.
pub(super) fn residuals<const D: usize>(
    op: &EllipticOperator<D>,
    level: usize,
    w: &mut Arrays<Host>,
) {
    let cells = dims::cells(D);
    let range = op.blocks.range(level);
    let Arrays { z, b, d, .. } = w;
    let (z, b) = (&*z, &*b);
    let each = |(i, r): (usize, &mut [f64])| {
        let block = range.start + i;
        op.apply_on_level(z, block, r);
        for (r, b) in r.iter_mut().zip(&b[block * cells..]) {
            *r = b - *r;
        }
    };
    (d[range.start * cells..range.end * cells]
        .par_chunks_mut(cells)
        .enumerate())
    .for_each(each);
}

pub(super) fn go_down<const D: usize>(
    op: &EllipticOperator<D>,
    level: usize,
    w: &mut Arrays<Host>,
) {
    let cells = dims::cells(D);
    residuals(op, level, w);
    let Arrays { z, b, d, layer, .. } = w;
    let now = &*z;
    let each = |&block: &u32| {
        let mut ax = [0.0; 64];
        op.apply_leaf(now, block as usize, &mut ax[..cells]);
        ax
    };
    let touched = &op.layers.touched[op.layers.touched_range[level].clone()];
    let changes: Vec<[f64; 64]> = touched.par_iter().map(each).collect();
    for (&block, ax) in touched.iter().zip(&changes) {
        for (b, ax) in b[block as usize * cells..][..cells].iter_mut().zip(ax) {
            *b -= ax;
        }
    }
    save_layers(op, level, z, &mut layer[1]);
    for place in op.layers.range[level].clone() {
        let block = op.layers.block[place] as usize;
        z[block * cells..(block + 1) * cells].fill(0.0);
    }
    let up = op.blocks.range(level - 1);
    let each = |(i, out): (usize, &mut [f64])| {
        if let Some(child) = op.blocks.first_child(up.start + i) {
            sum_children::<D>(&d[child * cells..], 1.0, out);
        }
    };
    (b[up.start * cells..up.end * cells]
        .par_chunks_mut(cells)
        .enumerate())
    .for_each(each);
}

pub(super) fn go_up<const D: usize>(op: &EllipticOperator<D>, level: usize, w: &mut Arrays<Host>) {
    let cells = dims::cells(D);
    let range = op.blocks.range(level);
    let (coarse, fine) = w.z.split_at_mut(range.start * cells);
    let fine = &mut fine[..range.len() * cells];
    fine.par_chunks_mut(cells).enumerate().for_each(|(i, x)| {
        let block = range.start + i;
        let Some(parent) = op.blocks.parent(block) else {
            return;
        };
        let half = op.blocks.coord(block).map(|c| c & 1);
        for (cell, x) in x.iter_mut().enumerate() {
            // Cells without open faces are no unknowns.
            if op.inverse[block * cells + cell] > 0.0 {
                let up = dims::above(half, dims::unravel::<D>(cell, 4));
                *x += coarse[parent * cells + dims::ravel(up, 4)];
            }
        }
    });
    add_to_layers(op, level, &w.layer[1], &mut w.z);
}
