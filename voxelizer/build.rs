//! Compiles the kernels for CUDA, if asked for.

#[cfg(feature = "cuda")]
#[path = "../device/nvcc.rs"]
mod nvcc;

#[cfg(feature = "cuda")]
fn main() -> Result<(), String> {
    let headers = [
        "src/kernels/cuda",
        "../mesher/src/kernels/cuda",
        "../amr/src/kernels/cuda",
        "../device/src/cuda",
    ];
    nvcc::compile("src/kernels/cuda", &headers, nvcc::EXACT)
}

#[cfg(not(feature = "cuda"))]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
}
