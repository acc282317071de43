//! Sums in an order that many threads can keep.

use cutlink_amr::dims;

/// Places that a long sum is divided over.
const LANES: usize = 1024;

/// Halves are added until one value is left. `values` is a power of 2 long.
fn tree(values: &mut [f64]) -> f64 {
    let mut half = values.len() / 2;
    while half > 0 {
        for i in 0..half {
            values[i] += values[i + half];
        }
        half /= 2;
    }
    values[0]
}

/// The sum over a block's cells.
pub(crate) fn of_block<const D: usize>(of: impl Fn(usize) -> f64) -> f64 {
    let mut values: [f64; 64] = [0.0; 64];
    let values = &mut values[..dims::cells(D)];
    for (cell, value) in values.iter_mut().enumerate() {
        *value = of(cell);
    }
    tree(values)
}

/// Each lane adds its values in their order, then lanes are added.
pub(crate) fn ordered(values: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    for row in values.chunks(LANES) {
        for (lane, value) in lanes.iter_mut().zip(row) {
            *lane += value;
        }
    }
    tree(&mut lanes)
}
