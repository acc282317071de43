//! Search in sorted keys from a place that is likely to be near.

use crate::linear::{Grid, LEVEL_BITS, level, pack};

/// The first place whose key is not below `key`, or the length. Cost: logarithmic in the distance from `near`.
#[inline]
pub(super) fn first_not_below(keys: &[u64], key: u64, near: usize) -> usize {
    let near = near.min(keys.len());
    let mut step = 1;
    // All before `low` are below the key, `high` and what follows it are not.
    let (mut low, mut high);
    if near < keys.len() && keys[near] < key {
        low = near + 1;
        loop {
            high = low + step - 1;
            if high >= keys.len() {
                high = keys.len();
                break;
            }
            if keys[high] >= key {
                break;
            }
            low = high + 1;
            step *= 2;
        }
    } else {
        high = near;
        loop {
            if step > high {
                low = 0;
                break;
            }
            if keys[high - step] < key {
                low = high - step + 1;
                break;
            }
            high -= step;
            step *= 2;
        }
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if keys[middle] < key {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// The leaf that holds the corner of a block: the block itself, a coarser leaf around it, or the first leaf in it (W24, eq.
/// 8, has these three cases).
#[inline]
pub(super) fn holder(keys: &[u64], at: u64, near: usize) -> usize {
    // The first key of the next corner.
    first_not_below(keys, pack(at + 1, 0), near).saturating_sub(1)
}

/// Whether the leaf at a place and those behind it are the children of one block, all of them; `key` is its key.
#[inline]
pub(super) fn is_group<const D: usize>(grid: &Grid<D>, keys: &[u64], at: usize) -> bool {
    let last = crate::dims::children(D) - 1;
    let (morton, level) = (keys[at] >> LEVEL_BITS, level(keys[at]));
    level > 0
        && grid.child_number(morton, level) == 0
        && keys.get(at + last) == Some(&pack(morton | (last as u64) << grid.shift(level), level))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_does_not_depend_on_where_the_search_starts() {
        for len in [0u64, 1, 2, 3, 7, 64, 100] {
            let keys: Vec<u64> = (0..len).map(|i| 3 * i + 5).collect();
            for key in 0..3 * len + 10 {
                let expected = keys.partition_point(|&k| k < key);
                for near in 0..=keys.len() + 2 {
                    let found = first_not_below(&keys, key, near);
                    assert_eq!(found, expected, "{key} of {len} from {near}");
                }
            }
        }
    }
}
