//! The names of public types are unique in the workspace, so that a search or a backtrace names one type.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const CRATES: [&str; 13] = [
    "nvcc",
    "mpi",
    "device",
    "vtkxml",
    "amr",
    "fr",
    "hex",
    "mesher",
    "voxelizer",
    "solver",
    "meshes",
    "pipeline",
    "tools",
];
const KINDS: [&str; 5] = ["struct", "enum", "trait", "union", "type"];

/// All Rust files below a folder.
fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

/// The public types that a file defines at its top level.
fn types(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (kind, rest) = line.strip_prefix("pub ")?.split_once(' ')?;
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        KINDS
            .contains(&kind)
            .then(|| &rest[..end.unwrap_or(rest.len())])
    })
}

#[test]
fn public_types_have_names_of_their_own() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut seen: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for name in CRATES {
        let mut files = Vec::new();
        sources(&root.join(name).join("src"), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).expect("a source");
            for found in types(&text) {
                seen.entry(found.to_owned()).or_default().push(file.clone());
            }
        }
    }
    assert!(seen.len() > 200, "{} types", seen.len());
    let twice: Vec<_> = seen.iter().filter(|(_, files)| files.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:#?}");
}

#[test]
fn types_are_found_by_their_definition() {
    let text = "pub struct A<T>(T);\npub(crate) struct B;\n    pub enum C {}\npub type D = u8;\npub fn e() {}";
    assert_eq!(types(text).collect::<Vec<_>>(), ["A", "D"]);
}
