//! Numbers at some places, out of a buffer and into it.

use cutlink_device::Item;
use rayon::prelude::*;

/// Numbers that a thread takes at a time.
const CHUNK: usize = 1 << 14;

pub(super) fn gather<T: Item>(places: &[u64], from: &[T], to: &mut [T]) {
    assert_eq!(places.len(), to.len(), "a number a place");
    let pairs = places.par_iter().zip(to).with_min_len(CHUNK);
    pairs.for_each(|(&place, to)| *to = from[place as usize]);
}

pub(super) fn scatter<T: Item>(places: &[u64], numbers: &[T], to: &mut [T]) {
    assert_eq!(numbers.len(), places.len(), "a number a place");
    for (&place, &number) in places.iter().zip(numbers) {
        to[place as usize] = number;
    }
}
