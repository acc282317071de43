//! The checksums of checkpoints, by the layout of `flow/src/checkpoint`: magic and length of the header, the header,
//! the state; SHA-256 of each 8 MiB of the state, then of all but the state.

use sha2::{Digest, Sha256};

const PIECE: usize = 8 << 20;
const SUM: usize = 32;

/// Bytes of magic, length and header.
pub(crate) fn head(bytes: &[u8]) -> usize {
    let length = bytes.get(8..16).and_then(|word| word.try_into().ok());
    let length = length.map_or(0, u64::from_le_bytes);
    let rest = bytes.len().saturating_sub(16);
    bytes.len().min(16) + rest.min(usize::try_from(length).unwrap_or(usize::MAX))
}

/// A checkpoint of less than 8 MiB without its checksums.
pub(crate) fn opened(bytes: &[u8]) -> Vec<u8> {
    bytes[..bytes.len() - 2 * SUM].to_vec()
}

/// With the checksums of what is there.
pub(crate) fn sealed(bytes: &[u8]) -> Vec<u8> {
    let (head, state) = bytes.split_at(head(bytes));
    let sums: Vec<u8> = state.chunks(PIECE).flat_map(Sha256::digest).collect();
    let all = Sha256::new_with_prefix(head).chain_update(&sums).finalize();
    [bytes, &sums, &all[..]].concat()
}
