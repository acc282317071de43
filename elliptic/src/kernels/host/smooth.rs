//! The smoother.

use crate::EllipticOperator;
use crate::cg::Arrays;
use crate::cycle::Chebyshev;
use cutlink_amr::dims;
use cutlink_device::Host;
use rayon::prelude::*;

pub(super) fn smooth<const D: usize>(
    op: &EllipticOperator<D>,
    level: usize,
    w: &mut Arrays<Host>,
    from_zero: bool,
) {
    for (n, factors) in Chebyshev::steps().into_iter().enumerate() {
        step(op, level, w, factors, from_zero && n == 0);
    }
}

fn step<const D: usize>(
    op: &EllipticOperator<D>,
    level: usize,
    w: &mut Arrays<Host>,
    [keep, add]: [f64; 2],
    from_zero: bool,
) {
    let cells = dims::cells(D);
    let range = op.blocks.range(level);
    let (layers, inverse) = (&op.layers, &op.inverse);
    let places = layers.range[level].clone();
    let of_places = places.start * cells..places.end * cells;
    let Arrays { z, b, d, layer, .. } = w;
    let [layer_b, _, layer_d] = layer;
    let of_level = range.start * cells..range.end * cells;
    let now = &*z;
    let each = |(i, d): (usize, &mut [f64])| {
        let block = range.start + i;
        let mut ax = [0.0; 64];
        if !from_zero {
            op.apply_on_level(now, block, &mut ax[..cells]);
        }
        for cell in 0..cells {
            let own = block * cells + cell;
            d[cell] = keep * d[cell] + add * inverse[own] * (b[own] - ax[cell]);
        }
    };
    d[of_level.clone()]
        .par_chunks_mut(cells)
        .enumerate()
        .for_each(each);
    let each = |(i, d): (usize, &mut [f64])| {
        let place = places.start + i;
        let mut ax = [0.0; 64];
        if !from_zero {
            op.apply_leaf(now, layers.block[place] as usize, &mut ax[..cells]);
        }
        for cell in 0..cells {
            let own = place * cells + cell;
            let r = op.layer_inverse[own] * (layer_b[own] - ax[cell]);
            let bit = layers.cells[place] >> cell & 1;
            d[cell] = if bit == 1 {
                keep * d[cell] + add * r
            } else {
                0.0
            };
        }
    };
    layer_d[of_places]
        .par_chunks_mut(cells)
        .enumerate()
        .for_each(each);
    (z[of_level.clone()]
        .par_iter_mut()
        .zip(&d[of_level])
        .with_min_len(1024))
    .for_each(|(z, d)| *z += d);
    add_to_layers(op, level, layer_d, z);
}

/// Adds values of coarse layers, which are zero in other cells, to their leaves.
pub(super) fn add_to_layers<const D: usize>(
    op: &EllipticOperator<D>,
    level: usize,
    from: &[f64],
    x: &mut [f64],
) {
    let cells = dims::cells(D);
    for place in op.layers.range[level].clone() {
        let block = op.layers.block[place] as usize;
        let own = &mut x[block * cells..(block + 1) * cells];
        for (x, d) in own
            .iter_mut()
            .zip(&from[place * cells..(place + 1) * cells])
        {
            *x += d;
        }
    }
}
