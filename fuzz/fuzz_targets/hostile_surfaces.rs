//! Sound surfaces with hostile numbers, in every format.

#![no_main]

#[path = "../hostile.rs"]
mod hostile;
mod promises;
mod seeds;

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static FILES: LazyLock<Vec<Vec<u8>>> =
    LazyLock::new(|| seeds::all(&["read_stl", "read_ply", "read_any"]));

fuzz_target!(|data: &[u8]| promises::keep(&hostile::mutant(&FILES, data)));
