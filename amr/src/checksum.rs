//! Checksums that do not depend on ids, on order, or on how a forest was reached: each item
//! is mixed to 64 bits and the items are added modulo 2^64. For telling results apart by
//! accident, not against an adversary.

use crate::Forest;
use rayon::prelude::*;

/// Mixes one 64-bit word so that every input bit reaches every output bit; the finalizer
/// of Steele, Lea & Flood (2014), §5 (SplitMix).
pub const fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Mixes a sequence of words, order included.
pub fn mix_all(words: impl IntoIterator<Item = u64>) -> u64 {
    words.into_iter().fold(0, |acc, w| mix_with(acc, mix(w)))
}

/// A sequence's mixture, 0 for an empty one, with one more word behind it, which is mixed already.
#[inline]
pub fn mix_with(sequence: u64, mixed: u64) -> u64 {
    mix(sequence ^ mixed)
}

/// The key of a block: its level and coordinates, mixed.
pub fn block_key<const D: usize>(level: u8, coord: [i32; D]) -> u64 {
    let coord = coord.into_iter().map(|c| u64::from(c as u32));
    mix_all([u64::from(level)].into_iter().chain(coord))
}

impl<const D: usize> Forest<D> {
    /// The checksum of the leaves and the root grid.
    pub fn checksum(&self) -> u64 {
        let leaves = self
            .levels
            .par_iter()
            .flatten()
            .filter(|&&id| self.is_leaf(id));
        let sum = leaves
            .map(|&id| block_key(self.level[id as usize], self.coord[id as usize]))
            .reduce(|| 0, u64::wrapping_add);
        sum.wrapping_add(mix_all(self.root.map(u64::from)))
    }
}
