//! The seeds, as sound files to change.

use std::path::Path;

/// All files of some folders of `seeds`, by name.
///
/// # Panics
/// Where they are not there: `seeds.py` makes them.
pub fn all(folders: &[&str]) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let mut paths = Vec::new();
    for folder in folders {
        let files = std::fs::read_dir(root.join(folder)).expect("seeds should be there");
        paths.extend(files.map(|file| file.expect("a seed should be readable").path()));
    }
    paths.sort();
    let read = |path| std::fs::read(path).expect("a seed should be readable");
    paths.into_iter().map(read).collect()
}
