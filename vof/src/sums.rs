//! The sum over a block's cells, in an order that a thread for each can keep.

use cutlink_amr::dims;

/// The upper half is added to the lower one until one value is left: `block_sum` of `sums.cuh`.
pub(crate) fn of_block<const D: usize>(of: impl Fn(usize) -> f64) -> f64 {
    let mut values = [0.0; 64];
    let mut half = dims::cells(D);
    for (cell, value) in values[..half].iter_mut().enumerate() {
        *value = of(cell);
    }
    while half > 1 {
        half /= 2;
        for i in 0..half {
            values[i] += values[i + half];
        }
    }
    values[0]
}
