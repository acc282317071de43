//! Search in sorted keys from a place that is likely to be near.

use crate::linear::{Grid, LEVEL_BITS, level, pack};

/// Keys around the likely place that are searched without branches.
const WINDOW: usize = 64;

/// The first place whose key is not below `key`, or the length. Cost: logarithmic in the distance from `near`.
#[inline]
pub(super) fn first_not_below(keys: &[u64], key: u64, near: usize) -> usize {
    let low = near.saturating_sub(WINDOW / 2);
    if let Some(window) = keys.get(low..low + WINDOW)
        && (low == 0 || keys[low - 1] < key)
        && window[WINDOW - 1] >= key
    {
        // PERF: the outcome of comparisons is random, so branches on it would be mispredicted: half of the time of faces.
        let (mut at, mut half) = (0, WINDOW / 2);
        while half > 0 {
            at += half * usize::from(window[at + half - 1] < key);
            half /= 2;
        }
        return low + at;
    }
    first_not_below_far(keys, key, near.min(keys.len()))
}

/// As [`first_not_below`], by steps that double from `near` on.
fn first_not_below_far(keys: &[u64], key: u64, near: usize) -> usize {
    let mut step = WINDOW / 2;
    // All before `low` are below the key, `high` and what follows it are not.
    let (mut low, mut high);
    if near < keys.len() && keys[near] < key {
        (low, high) = (near + 1, near + step);
        while high < keys.len() && keys[high] < key {
            step *= 2;
            (low, high) = (high + 1, high + step);
        }
        high = high.min(keys.len());
    } else {
        (low, high) = (near.saturating_sub(step), near);
        while low > 0 && keys[low] >= key {
            step *= 2;
            (low, high) = (low.saturating_sub(step), low);
        }
    }
    low + keys[low..high].partition_point(|&k| k < key)
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
