//! Compiles the kernels for CUDA, if requested, and exports their headers.

#[cfg(feature = "cuda")]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the module of the crate, of which the numbers are wanted here"
)]
#[path = "src/constants.rs"]
mod constants;

#[cfg(feature = "cuda")]
fn main() -> Result<(), String> {
    use constants::{CAP_FAR, CAP_ROUGH};
    use cutlink_nvcc::{Constant, KernelBuild};
    let values = [
        ("CAP_FAR", Constant::F64(CAP_FAR)),
        ("CAP_ROUGH", Constant::F64(CAP_ROUGH)),
    ];
    KernelBuild::of("src/kernels/cuda")?
        .constants("mesher_constants", "src/constants.rs", &values)?
        .headers_of("device")?
        .export()?
        .exact()
        .compile()
}

#[cfg(not(feature = "cuda"))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
