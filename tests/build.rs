//! Tells the tests what is there: the scans, as `mesher` does, and a CUDA device.

use std::path::Path;

#[path = "../mesher/build.rs"]
mod scans;

fn main() -> Result<(), String> {
    const DEVICE: &str = "/dev/nvidia0";
    println!("cargo:rustc-check-cfg=cfg(has_cuda)");
    println!("cargo:rerun-if-changed=build.rs");
    if Path::new(DEVICE).exists() {
        // Not where it is missing: cargo would build these tests again every time.
        println!("cargo:rerun-if-changed={DEVICE}");
        println!("cargo:rustc-cfg=has_cuda");
    }
    scans::main()
}
