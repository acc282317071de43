//! Checks of coefficients, and inverse diagonals.

use crate::operator::is_bad;
use crate::{Beside, Blocks, EllipticError, EllipticOperator, faces};
use crate::{constants::OF_FACES, regions::OpenFaces};
use cutlink_amr::dims;
use cutlink_device::memory;
use rayon::prelude::*;

pub(super) fn open_faces<const D: usize>(
    blocks: &Blocks<D>,
    conductance: &[f64],
    diagonal: &[f64],
) -> Result<Vec<OpenFaces>, EllipticError> {
    let mut open = Vec::new();
    memory::grow("open faces", &mut open, blocks.len(), OpenFaces::default())?;
    let of_block = |(block, out): (usize, &mut OpenFaces)| {
        let mut add = |first: usize, values: &[f64], per: usize| {
            let own = values.iter().skip(block * per).take(per);
            for (i, _) in own.enumerate().filter(|(_, v)| **v > 0.0) {
                out[first + i / 32] |= 1 << (i % 32);
            }
        };
        add(0, conductance, faces::per_block(D));
        add(OF_FACES, diagonal, dims::cells(D));
    };
    open.par_iter_mut().enumerate().for_each(of_block);
    Ok(open)
}

pub(super) fn first_bad<const D: usize>(
    blocks: &Blocks<D>,
    values: &[f64],
    per: usize,
) -> Option<usize> {
    let of = |block: usize| &values[block * per..(block + 1) * per];
    (0..blocks.len())
        .into_par_iter()
        .filter(|&block| blocks.is_leaf(block))
        .find_first(|&block| of(block).iter().any(is_bad))
}

pub(super) fn first_opened<const D: usize>(
    op: &EllipticOperator<D>,
    conductance: &[f64],
) -> Option<usize> {
    let per = faces::per_block(D);
    let blocks = &op.blocks;
    let is_open = |values: &[f64], block: usize, face: usize| values[block * per + face] > 0.0;
    (0..blocks.len()).into_par_iter().find_first(|&b| {
        let finer: [bool; 6] = std::array::from_fn(|side| side < 2 * D && blocks.is_finer(b, side));
        let other = |cell: usize, side: usize| {
            let face = faces::of_side(D, side, cell);
            let same = is_open(&op.conductance, b, face) == is_open(conductance, b, face);
            !(same || faces::is_at::<D>(side, cell) && finer[side])
        };
        blocks.is_leaf(b)
            && (0..dims::cells(D)).any(|cell| (0..2 * D).any(|side| other(cell, side)))
    })
}

pub(super) fn inverses<const D: usize>(op: &mut EllipticOperator<D>) {
    let (cells, per) = (dims::cells(D), faces::per_block(D));
    let (conductance, diagonal) = (&op.conductance, &op.diagonal);
    let over = |sum: f64| if sum > 0.0 { 1.0 / sum } else { 0.0 };
    let of_block = |(block, out): (usize, &mut [f64])| {
        let t = &conductance[block * per..(block + 1) * per];
        for (cell, out) in out.iter_mut().enumerate() {
            let sides = (0..2 * D).map(|side| t[faces::of_side(D, side, cell)]);
            let own = diagonal.get(block * cells + cell).copied().unwrap_or(0.0);
            *out = over(sides.sum::<f64>() + own);
        }
    };
    op.inverse
        .par_chunks_mut(cells)
        .enumerate()
        .for_each(of_block);
    let (layers, blocks) = (&op.layers, &op.blocks);
    let of_layer = |(i, out): (usize, &mut [f64])| {
        let block = layers.block[i] as usize;
        for (cell, out) in out.iter_mut().enumerate() {
            let mut sum = diagonal.get(block * cells + cell).copied().unwrap_or(0.0);
            for side in 0..2 * D {
                sum += side_conductance(blocks, conductance, block, side, cell);
            }
            *out = over(sum);
        }
    };
    op.layer_inverse
        .par_chunks_mut(cells)
        .enumerate()
        .for_each(of_layer);
}

pub(super) fn least_share<const D: usize>(op: &EllipticOperator<D>) -> f64 {
    let cells = dims::cells(D);
    let of = |own: usize| match op.inverse[own] > 0.0 {
        true => op.diagonal[own] * op.inverse[own],
        false => 1.0,
    };
    (0..op.blocks.len())
        .into_par_iter()
        .filter(|&block| op.blocks.is_leaf(block))
        .map(|block| {
            (block * cells..(block + 1) * cells)
                .map(of)
                .fold(1.0, f64::min)
        })
        .reduce(|| 1.0, f64::min)
}

/// The conductance from a leaf's cell through a side: of its face, or the sum of the finer ones.
fn side_conductance<const D: usize>(
    blocks: &Blocks<D>,
    conductance: &[f64],
    block: usize,
    side: usize,
    cell: usize,
) -> f64 {
    let per = faces::per_block(D);
    if faces::is_at::<D>(side, cell)
        && let Beside::Same(other) = blocks.beside(block, side)
        && !blocks.is_leaf(other)
    {
        let fine = blocks.finer_cells(other, side, dims::unravel(cell, 4));
        return fine
            .map(|(b, c)| conductance[b * per + faces::of_side(D, side ^ 1, c)])
            .sum();
    }
    conductance[block * per + faces::of_side(D, side, cell)]
}
