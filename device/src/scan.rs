//! Parallel primitives of the CPU: exclusive scan and stable selection. Same result for
//! any number of threads.

use rayon::prelude::*;

const CHUNK: usize = 1 << 14;

/// Replaces `values` by their exclusive prefix sums and returns the total, or `None`
/// where the total does not fit (the values are then unspecified). Two passes over the data.
pub fn exclusive_scan(values: &mut [u32]) -> Option<u32> {
    let sums: Vec<u64> = values
        .par_chunks(CHUNK)
        .map(|chunk| chunk.iter().map(|&v| u64::from(v)).sum())
        .collect();
    let total = u32::try_from(sums.iter().sum::<u64>()).ok()?;
    let mut starts = Vec::with_capacity(sums.len());
    let mut start = 0u32;
    for sum in sums {
        starts.push(start);
        start = start.wrapping_add(sum as u32);
    }
    values
        .par_chunks_mut(CHUNK)
        .zip(starts)
        .for_each(|(chunk, mut start)| {
            for value in chunk {
                let next = start.wrapping_add(*value);
                *value = start;
                start = next;
            }
        });
    Some(total)
}

/// The elements of `items` that `keep` accepts, in their order.
pub fn select(items: &[u32], keep: impl Fn(u32) -> bool + Sync) -> Vec<u32> {
    by_chunk(items, &|chunk| {
        chunk.iter().copied().filter(|&i| keep(i)).collect()
    })
}

/// The loop over chunks, compiled once for all that is selected.
fn by_chunk(items: &[u32], of: &(dyn Fn(&[u32]) -> Vec<u32> + Sync)) -> Vec<u32> {
    let parts: Vec<Vec<u32>> = items.par_chunks(CHUNK).map(of).collect();
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scan_and_select_match_the_sequential_definition() {
        for len in [0usize, 1, 5, CHUNK - 1, CHUNK, 3 * CHUNK + 17] {
            let values: Vec<u32> = (0..len as u32).map(|i| i.wrapping_mul(7919) % 13).collect();
            let mut scanned = values.clone();
            let total = exclusive_scan(&mut scanned);
            let mut sum = 0;
            for (i, v) in values.iter().enumerate() {
                assert_eq!(scanned[i], sum, "prefix {i} of {len}");
                sum += v;
            }
            assert_eq!(total, Some(sum), "total of {len}");
            let odd = select(&values, |v| v % 2 == 1);
            let expected: Vec<u32> = values.iter().copied().filter(|v| v % 2 == 1).collect();
            assert_eq!(odd, expected, "selection of {len}");
        }
    }

    #[test]
    fn an_overflowing_total_is_reported() {
        assert_eq!(exclusive_scan(&mut [u32::MAX, 1]), None, "2^32");
        assert_eq!(
            exclusive_scan(&mut [u32::MAX, 0]),
            Some(u32::MAX),
            "2^32 - 1"
        );
    }
}
