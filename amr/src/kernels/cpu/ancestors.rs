//! All proper ancestors of sorted keys. Each key gives those that the key before it does not have.

use crate::{
    ForestError,
    linear::{Grid, level, morton, pack},
};
use rayon::prelude::*;

const CHUNK: usize = 1 << 14;

pub(super) fn sort(mut keys: Vec<u64>) -> Vec<u64> {
    keys.par_sort_unstable();
    keys
}

pub(super) fn ancestors<const D: usize>(
    grid: &Grid<D>,
    keys: &[u64],
) -> Result<Vec<Vec<u64>>, ForestError> {
    let strangers = keys.par_iter().filter(|&&key| !grid.is_key(key)).count();
    if strangers > 0 {
        let count = strangers as u64;
        return Err(ForestError::NoBlocks { count });
    }
    let parts: Vec<Vec<Vec<u64>>> = (0..keys.len().div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let from = chunk * CHUNK;
            of_part(grid, keys, from..keys.len().min(from + CHUNK))
        })
        .collect();
    let levels = parts.iter().map(Vec::len).max().unwrap_or(0);
    let of_level = |level: usize| {
        let parts = parts.iter().filter_map(|part| part.get(level));
        parts.flatten().copied().collect()
    };
    Ok((0..levels).into_par_iter().map(of_level).collect())
}

fn of_part<const D: usize>(
    grid: &Grid<D>,
    keys: &[u64],
    part: std::ops::Range<usize>,
) -> Vec<Vec<u64>> {
    let mut by_level: Vec<Vec<u64>> = Vec::new();
    for i in part {
        let key = keys[i];
        let first = if i == 0 {
            0
        } else {
            grid.first_new_ancestor(keys[i - 1], key)
        };
        for above in first..level(key) {
            let above_len = above as usize + 1;
            if by_level.len() < above_len {
                by_level.resize(above_len, Vec::new());
            }
            by_level[above as usize].push(pack(grid.cover(morton(key), above), above));
        }
    }
    by_level
}
