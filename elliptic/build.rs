//! Compiles the kernels for CUDA, if requested, and exports their headers.

#[cfg(feature = "cuda")]
fn main() -> Result<(), String> {
    cutlink_nvcc::KernelBuild::of("src/kernels/cuda")?
        .headers_of("amr")?
        .headers_of("device")?
        .export()?
        .exact()
        .compile()
}

#[cfg(not(feature = "cuda"))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
