//! The files of `../shared/meshes`. A clone does not have them: tests that read them are
//! ignored there, by `cfg(has_scans)`, and the build of this crate fails in CI.

use cutlink_mesher::{Surface, read::read_surface};
use std::path::PathBuf;

/// The folder.
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/meshes"))
}

/// Reads a file of the folder that must be readable.
///
/// # Panics
/// Where it is not.
pub fn read(name: &str) -> Surface<3> {
    match read_surface(&folder().join(name)) {
        Ok(loaded) => loaded.surface,
        Err(error) => panic!("{name}: {error}"),
    }
}

/// All files of the folder and of `broken/` in it, sorted, that have the name of a mesh.
///
/// # Panics
/// Where the folder cannot be listed.
pub fn meshes() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = [folder(), folder().join("broken")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("the folder should be readable"))
        .map(|entry| entry.expect("its entries should be readable").path())
        .filter(|path| {
            let extension = path.extension().map(|e| e.to_ascii_lowercase());
            extension.is_some_and(|e| e == "stl" || e == "ply")
        })
        .collect();
    files.sort();
    files
}
