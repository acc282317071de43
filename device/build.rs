//! Compiles the parallel primitives for CUDA, if requested, and exports the headers that all kernels share.

#[cfg(feature = "cuda")]
fn main() -> Result<(), String> {
    cutlink_nvcc::export_headers("src/cuda")?;
    cutlink_nvcc::static_library("cutlink_primitives", "src/cuda/primitives.cu")
}

#[cfg(not(feature = "cuda"))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
