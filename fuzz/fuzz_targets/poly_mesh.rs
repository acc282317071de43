//! A sound `polyMesh`, one file of which has hostile numbers; zones and fields likewise.

#![no_main]

#[path = "../hostile.rs"]
mod hostile;

use cutlink_device::limits::LimitError;
use cutlink_hex::polymesh::{FoamField, read_zones};
use cutlink_hex::{MeshFileError, PolyMesh};
use hostile::Choices;
use libfuzzer_sys::fuzz_target;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

const NAMES: [&str; 7] = [
    "points",
    "faces",
    "owner",
    "neighbour",
    "boundary",
    "cellZones",
    "field",
];

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("cutlink-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder should be made");
    folder
});

fn seed(format: &str, name: &str) -> Vec<u8> {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds/poly_mesh");
    let own = fs::read(seeds.join(format!("{format}.{name}")));
    own.unwrap_or_else(|_| {
        fs::read(seeds.join(format!("ascii.{name}"))).expect("a seed should be there")
    })
}

fn tried<T>(read: Result<T, MeshFileError>) -> Option<T> {
    match read {
        Ok(value) => Some(value),
        Err(MeshFileError::Limit {
            source: source @ LimitError::Memory { .. },
            ..
        }) => panic!("asks for memory: {source}"),
        Err(_) => None,
    }
}

fuzz_target!(|data: &[u8]| {
    let mut choices = Choices(data);
    let format = ["ascii", "binary"][choices.below(2)];
    let changed = choices.below(NAMES.len());
    for (i, name) in NAMES.iter().enumerate() {
        let mut bytes = seed(format, name);
        if i == changed {
            bytes = hostile::mutant(&[bytes], choices.0);
        }
        fs::write(FOLDER.join(name), bytes).expect("a file should be written");
    }
    if let Some(mesh) = tried(PolyMesh::read(&FOLDER)) {
        let _ = mesh.validate();
    }
    tried(read_zones(&FOLDER.join("cellZones"), 2));
    tried(FoamField::read(&FOLDER.join("field")));
});
