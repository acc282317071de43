//! Tells the tests what is there: the scans of `../../shared/meshes`, and a CUDA device; and whether slow tests are wanted:
//! with `CUTLINK_SLOW_TESTS` set.
//!
//! A clone without the scans shows the tests that need them as ignored; a CI run without them
//! fails here, so that an empty run never counts as a pass.
//!
//! Only paths that exist are watched: cargo takes a watched path that is missing for changed, and
//! would compile this crate again at every command. So scans or a device that appear later are seen once
//! this script has been touched.

use std::path::Path;

fn main() -> Result<(), String> {
    const SCANS: &str = "../../shared/meshes";
    const DEVICE: &str = "/dev/nvidia0";
    println!("cargo:rustc-check-cfg=cfg(has_scans, has_cuda, slow_tests)");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CI");
    println!("cargo:rerun-if-env-changed=CUTLINK_SLOW_TESTS");
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if is_set("CUTLINK_SLOW_TESTS") {
        println!("cargo:rustc-cfg=slow_tests");
    }
    if Path::new(DEVICE).exists() {
        println!("cargo:rerun-if-changed={DEVICE}");
        println!("cargo:rustc-cfg=has_cuda");
    }
    if Path::new(SCANS).is_dir() {
        println!("cargo:rerun-if-changed={SCANS}");
        println!("cargo:rustc-cfg=has_scans");
    } else if std::env::var_os("CI").is_some() {
        return Err(format!(
            "CI is set but {SCANS} is missing: tests on scans would not run"
        ));
    }
    Ok(())
}
