//! The files of `../shared/meshes`. A clone does not have them: tests that read them are
//! ignored there, by `cfg(has_scans)`, and the build of this crate fails in CI.

use cutlink_mesher::{Surface, read::read_surface};
use std::path::PathBuf;

/// The folder; `CUTLINK_SCANS` names another one, for tests that run elsewhere than they were built.
pub fn folder() -> PathBuf {
    match std::env::var_os("CUTLINK_SCANS") {
        Some(folder) => folder.into(),
        None => concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/meshes").into(),
    }
}

/// Reads a file of the folder, or its copy packed by gzip, that must be readable.
///
/// # Panics
/// Where it is not.
pub fn read(name: &str) -> Surface<3> {
    let mut path = folder().join(name);
    if !path.exists() {
        path.set_file_name(format!("{name}.gz"));
    }
    match read_surface(&path) {
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
