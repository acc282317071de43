//! Reading from the file system: what is no file, and what is not there.

use cutlink_mesher::read::{ReadError, read_any};

#[test]
fn a_folder_and_a_missing_file_are_named() {
    let folder = tempfile::tempdir().expect("a temporary folder should be had");
    let error = read_any(folder.path()).expect_err("a folder is no file");
    assert!(matches!(error, ReadError::NotAFile { .. }), "{error}");
    let missing = folder.path().join("missing.stl");
    let error = read_any(&missing)
        .expect_err("the file is missing")
        .to_string();
    assert!(error.contains("missing.stl"), "{error}");
}
