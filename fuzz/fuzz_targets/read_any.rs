//! The readers of surfaces, any format: gzip, the choice of the reader, OBJ, OFF, 3MF, glTF, VTK, VTP and polylines.

#![no_main]

mod promises;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| promises::keep(bytes));
