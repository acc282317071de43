//! Compiles the kernels for CUDA, if asked for, and tells the tests whether the scans of `../../shared/meshes` are there.
//!
//! A clone without them shows the tests that need them as ignored; a CI run
//! without them fails here, so that an empty run never counts as a pass.

use std::path::Path;

#[cfg(feature = "cuda")]
#[path = "../device/nvcc.rs"]
mod nvcc;

pub(crate) fn main() -> Result<(), String> {
    const SCANS: &str = "../../shared/meshes";
    println!("cargo:rustc-check-cfg=cfg(has_scans)");
    println!("cargo:rerun-if-changed={SCANS}");
    println!("cargo:rerun-if-env-changed=CI");
    if Path::new(SCANS).is_dir() {
        println!("cargo:rustc-cfg=has_scans");
    } else if std::env::var_os("CI").is_some() {
        return Err(
            "CI is set but ../../shared/meshes is missing: tests on scans would not run".into(),
        );
    }
    // The crate of tests runs this script too, and has no kernels.
    #[cfg(feature = "cuda")]
    if Path::new("src/kernels/cuda").is_dir() {
        nvcc::compile(
            "src/kernels/cuda",
            &["src/kernels/cuda", "../device/src/cuda"],
            nvcc::EXACT,
        )?;
    }
    Ok(())
}
