//! Vectors of conjugate gradients, and sums.

use crate::EllipticOperator;
use crate::cg::{Arrays, scalar};
use crate::constants::SUM_LANES;
use crate::regions::{NONE, size};
use cutlink_amr::dims;
use cutlink_device::Host;
use rayon::prelude::*;

/// A sum in an order that suits a GPU: lane `l` of 1024 adds every 1024th value from the `l`-th on, and a tree adds the
/// lanes: the upper half to the lower one, and so on.
pub fn ordered_sum(values: &[f64]) -> f64 {
    let mut lanes = [0.0; SUM_LANES];
    for row in values.chunks(SUM_LANES) {
        for (lane, value) in lanes.iter_mut().zip(row) {
            *lane += value;
        }
    }
    tree(&mut lanes)
}

/// The sum over a block's cells, by a tree: the upper half is added to the lower one, and so on.
#[inline]
pub fn block_sum<const D: usize>(of: impl Fn(usize) -> f64) -> f64 {
    let mut terms = [0.0; 64];
    let terms = &mut terms[..dims::cells(D)];
    for (cell, term) in terms.iter_mut().enumerate() {
        *term = of(cell);
    }
    tree(terms)
}

/// The sum of a power of 2 of values: the upper half is added to the lower one, and so on.
fn tree(values: &mut [f64]) -> f64 {
    let mut half = values.len() / 2;
    while half > 0 {
        let (low, high) = values.split_at_mut(half);
        for (low, high) in low.iter_mut().zip(high) {
            *low += *high;
        }
        half /= 2;
    }
    values[0]
}

fn on_leaves<const D: usize>(
    op: &EllipticOperator<D>,
    values: &mut [f64],
    each: impl Fn(&mut f64, usize) + Sync,
) {
    let cells = dims::cells(D);
    values
        .par_chunks_mut(cells)
        .enumerate()
        .for_each(|(block, values)| {
            if op.blocks.is_leaf(block) {
                for (cell, value) in values.iter_mut().enumerate() {
                    each(value, block * cells + cell);
                }
            }
        });
}

pub(super) fn start<const D: usize>(
    op: &EllipticOperator<D>,
    b: &[f64],
    x: &[f64],
    w: &mut Arrays<Host>,
) {
    let known = |i: usize| op.inverse[i] > 0.0;
    on_leaves(op, &mut w.r, |r, i| *r = if known(i) { b[i] } else { 0.0 });
    on_leaves(op, &mut w.x, |to, i| {
        *to = if known(i) { x[i] } else { 0.0 }
    });
    // The first direction is the first correction.
    w.scalars[scalar::BEFORE] = f64::INFINITY;
}

pub(super) fn subtract<const D: usize>(op: &EllipticOperator<D>, w: &mut Arrays<Host>) {
    let Arrays { r, q, .. } = w;
    on_leaves(op, r, |r, i| *r -= q[i]);
}

pub(super) fn over_diagonal<const D: usize>(op: &EllipticOperator<D>, w: &mut Arrays<Host>) {
    let Arrays { r, z, .. } = w;
    on_leaves(op, z, |z, i| *z = op.inverse[i] * r[i]);
}

pub(super) fn turn<const D: usize>(op: &EllipticOperator<D>, w: &mut Arrays<Host>) {
    let Arrays { z, p, scalars, .. } = w;
    let beta = scalars[scalar::RZ] / scalars[scalar::BEFORE];
    on_leaves(op, p, |p, i| *p = z[i] + beta * *p);
}

pub(super) fn advance<const D: usize>(op: &EllipticOperator<D>, w: &mut Arrays<Host>) {
    let Arrays {
        r,
        p,
        q,
        x,
        scalars,
        ..
    } = w;
    let alpha = scalars[scalar::RZ] / scalars[scalar::PQ];
    on_leaves(op, x, |x, i| *x += alpha * p[i]);
    on_leaves(op, r, |r, i| *r -= alpha * q[i]);
    scalars[scalar::BEFORE] = scalars[scalar::RZ];
}

pub(super) fn dot<const D: usize>(
    op: &EllipticOperator<D>,
    a: &[f64],
    b: &[f64],
    sums: &mut [f64],
) -> f64 {
    let cells = dims::cells(D);
    let sums = &mut sums[..op.blocks.len()];
    let of_block = |(block, sum): (usize, &mut f64)| {
        *sum = 0.0;
        if op.blocks.is_leaf(block) {
            let of = block * cells..(block + 1) * cells;
            let (a, b) = (&a[of.clone()], &b[of]);
            *sum = block_sum::<D>(|cell| a[cell] * b[cell]);
        }
    };
    (sums.par_iter_mut().enumerate())
        .with_min_len(16)
        .for_each(of_block);
    ordered_sum(sums)
}

pub(super) fn remove_mean<const D: usize>(
    op: &EllipticOperator<D>,
    values: &mut [f64],
    sums: &mut [f64],
    integrated: bool,
) {
    let (regions, blocks, cells) = (&op.regions, &op.blocks, dims::cells(D));
    if regions.count() == 0 {
        return;
    }
    let (of_shares, of_regions) = sums.split_at_mut(regions.shares());
    let each = |(share, sum): (usize, &mut f64)| {
        let block = regions.share_block[share] as usize;
        let size = if integrated { 1.0 } else { size(blocks, block) };
        *sum = block_sum::<D>(|cell| {
            let own = block * cells + cell;
            let is_in = regions.of[own] == regions.share_region[share];
            if is_in { values[own] * size } else { 0.0 }
        });
    };
    of_shares.par_iter_mut().enumerate().for_each(each);
    for (region, sum) in of_regions[..regions.count()].iter_mut().enumerate() {
        let [from, to] = [0, 1].map(|k| regions.first_share[region + k] as usize);
        *sum = ordered_sum(&of_shares[from..to]);
    }
    let each = |(block, values): (usize, &mut [f64])| {
        let size = if integrated { size(blocks, block) } else { 1.0 };
        for (cell, value) in values.iter_mut().enumerate() {
            let region = regions.of[block * cells + cell];
            if region != NONE {
                let mean = of_regions[region as usize] / regions.volume[region as usize];
                *value -= mean * size;
            }
        }
    };
    values.par_chunks_mut(cells).enumerate().for_each(each);
}
