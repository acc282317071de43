//! Compiles the kernels for CUDA, if asked for, and exports their headers.

#[cfg(feature = "cuda")]
fn main() -> Result<(), String> {
    const FOLDER: &str = "src/kernels/cuda";
    cutlink_nvcc::export_headers(FOLDER)?;
    cutlink_nvcc::Kernels::of(FOLDER)
        .headers_of("device")?
        .exact()
        .compile()
}

#[cfg(not(feature = "cuda"))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
