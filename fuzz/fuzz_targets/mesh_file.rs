//! The reader of mesh files: any bytes end in an error, or in a mesh that passes every check.
//!
//! The checksum at the end of the file would stop nearly all mutants at the door, so it is put
//! right first, by `docs/mesh-file.md`; what stands behind it has to hold on its own.

#![no_main]

use std::path::Path;

use cutlink_voxelizer::mesh_file::{FileError, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    if let Some(end) = bytes.len().checked_sub(8) {
        let sum = checksum(&bytes[..end]);
        bytes[end..].copy_from_slice(&sum.to_le_bytes());
    }
    match parse(Path::new("fuzzed"), &bytes) {
        Ok(_) => {}
        Err(FileError::Memory { source, .. }) => panic!("asks for memory: {source}"),
        Err(error) => assert!(error.to_string().contains("fuzzed"), "{error}"),
    }
});

fn checksum(bytes: &[u8]) -> u64 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut sum = 0u64;
    for (i, word) in bytes.chunks(8).enumerate() {
        let mut filled = [0; 8];
        filled[..word.len()].copy_from_slice(word);
        let mut z = u64::from_le_bytes(filled)
            .wrapping_add(K.wrapping_mul(i as u64))
            .wrapping_add(K);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        sum = sum.wrapping_add(z ^ z >> 31);
    }
    sum
}
