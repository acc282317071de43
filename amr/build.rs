//! Compiles the kernels for CUDA, if asked for.

#[cfg(feature = "cuda")]
#[path = "../device/nvcc.rs"]
mod nvcc;

#[cfg(feature = "cuda")]
fn main() -> Result<(), String> {
    nvcc::compile(
        "src/kernels/cuda",
        &["src/kernels/cuda", "../device/src/cuda"],
        nvcc::EXACT,
    )
}

#[cfg(not(feature = "cuda"))]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
}
