//! Sound volume meshes of Gmsh and VTK with hostile numbers.

#![no_main]

#[path = "../hostile.rs"]
mod hostile;
mod seeds;

use cutlink_device::limits::LimitError;
use cutlink_hex::MeshFileError;
use cutlink_hex::volume::{PATCH_ANGLE, parse_volume};
use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::LazyLock;

static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| seeds::all(&["volumes"]));

fuzz_target!(|data: &[u8]| {
    let bytes = hostile::mutant(&FILES, data);
    match parse_volume(Path::new("fuzzed"), &bytes, PATCH_ANGLE) {
        Ok(read) => read.mesh.validate().expect("what is read should be a mesh"),
        Err(MeshFileError::Limit {
            source: source @ LimitError::Memory { .. },
            ..
        }) => panic!("asks for memory: {source}"),
        Err(error) => assert!(error.to_string().contains("fuzzed"), "{error}"),
    }
});
