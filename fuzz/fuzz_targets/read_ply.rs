//! The readers of PLY: the first line is put there, all else is the fuzzer's.

#![no_main]

mod promises;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let rest = bytes.strip_prefix(b"ply\n").unwrap_or(bytes);
    promises::keep(&[b"ply\n", rest].concat());
});
