//! The readers of STL, text and binary: what starts as another format is not tried.

#![no_main]

mod promises;

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let other = bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(b"ply");
    if other || bytes.len() < 5 {
        return Corpus::Reject;
    }
    promises::keep(bytes);
    Corpus::Keep
});
