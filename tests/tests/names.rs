//! Rules of the sources that no compiler checks: the names of public types are unique in the workspace, so that a search or
//! a backtrace names one type; tests do not judge by maxima that drop NaN.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const CRATES: [&str; 23] = [
    "nvcc",
    "mpi",
    "device",
    "vtkxml",
    "report",
    "amr",
    "fr",
    "elliptic",
    "vof",
    "hex",
    "mesher",
    "voxelizer",
    "common",
    "signal",
    "prescribed",
    "pictures",
    "meshing",
    "solver",
    "flow",
    "grains",
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
            if !path.ends_with("target") {
                sources(&path, into);
            }
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

/// What of a source is test code: all of it in the folders and files of tests, the modules at its end elsewhere.
fn test_code<'a>(path: &Path, text: &'a str) -> &'a str {
    let is_in_tests = path.iter().any(|part| part == "tests" || part == "benches");
    let name = path.file_name().and_then(|name| name.to_str());
    if is_in_tests || name.is_some_and(|name| name.ends_with("tests.rs")) {
        return text;
    }
    let attributes = text.match_indices("#[cfg(test)]\nmod ");
    let mut rests = attributes.map(|(at, _)| &text[at..]);
    let module = rests.find(|rest| rest.lines().nth(1).is_some_and(|line| line.ends_with('{')));
    module.unwrap_or("")
}

/// From the name of a function to the end of its arguments.
fn call(text: &str) -> &str {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return &text[..=at],
            ')' => depth -= 1,
            _ => {}
        }
    }
    text
}

/// Maxima that drop NaN: the function passed on, or folds from 0 with the method.
fn lossy_maxima(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    let code = lines.filter(|line| !line.starts_with("//"));
    let code: String = code.flat_map(str::split_whitespace).collect();
    let mut found = Vec::new();
    for start in ["fold(", "reduce(", "reduce_with("] {
        for (at, _) in code.match_indices(start) {
            let call = call(&code[at..]);
            let is_passed = ["f64", "f32"]
                .iter()
                .any(|float| call.contains(&format!("{float}::max)")));
            let from = &call[start.len()..];
            let is_from_zero = ["0.0", "0f"].iter().any(|zero| from.starts_with(zero));
            if is_passed || is_from_zero && call.contains(".max(") {
                found.push(call.to_owned());
            }
        }
    }
    found
}

/// The largest of differences that are all NaN would be 0: `worst` of the test kit is NaN then.
#[test]
fn tests_do_not_drop_nan() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut seen, mut lossy) = (0, Vec::new());
    for name in CRATES.into_iter().chain(["tests"]) {
        let mut files = Vec::new();
        sources(&root.join(name), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).expect("a source");
            let file = file.strip_prefix(&root).expect("a path below the root");
            let code = test_code(file, &text);
            seen += usize::from(!code.is_empty());
            lossy.extend(
                lossy_maxima(code)
                    .into_iter()
                    .map(|fold| format!("{}: {fold}", file.display())),
            );
        }
    }
    assert!(seen > 150, "{seen} files with tests");
    assert!(lossy.is_empty(), "use `worst` of tests/kit: {lossy:#?}");
}

#[test]
fn maxima_that_drop_nan_are_found() {
    // Not spelled out, as this file is read too.
    let sample = |what: &str| format!("let a = x.iter().map(|x| (x - 1.0).abs())\n    .{what};\n");
    for float in ["f64", "f32"] {
        for lossy in [
            format!("fold(0.0, {float}::max)"),
            format!("fold(\n        0.0{float},\n        {float}::max)"),
            format!("fold({float}::NEG_INFINITY, {float}::max)"),
            format!("fold(0.0, |a: {float}, b| a.{}(b))", "max"),
            format!("reduce({float}::max)"),
            format!("reduce(|| 0.0, {float}::max)"),
        ] {
            assert_eq!(lossy_maxima(&sample(&lossy)).len(), 1, "{lossy}");
        }
        let fine = format!("fold({float}::INFINITY, {float}::min) + {float}::max(a, b)");
        assert!(lossy_maxima(&sample(&fine)).is_empty());
        assert!(lossy_maxima(&format!("    // fold(0.0, {float}::max)\n")).is_empty());
    }
    assert!(
        lossy_maxima(&sample("fold(0, |a, b| b.max(a))")).is_empty(),
        "integers"
    );
    let source = "fn f() {}\n#[cfg(test)]\nmod fixture;\n\n#[cfg(test)]\nmod tests {\n}\n";
    let tests = "#[cfg(test)]\nmod tests {\n}\n";
    assert_eq!(test_code(Path::new("a/src/b.rs"), source), tests);
    assert_eq!(test_code(Path::new("a/src/b/tests.rs"), source), source);
    assert_eq!(test_code(Path::new("a/tests/b.rs"), source), source);
    assert_eq!(test_code(Path::new("a/src/b.rs"), "fn f() {}\n"), "");
}
