//! Compiles the kernels for CUDA, if requested.

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
    use constants::{ISOTHERMAL, KIND_BITS, SLIP, WARPS};
    use cutlink_nvcc::{Constant, KernelBuild};
    let values = [
        ("KIND_BITS", Constant::U32(KIND_BITS)),
        ("SLIP", Constant::U32(SLIP)),
        ("ISOTHERMAL", Constant::U32(ISOTHERMAL)),
        ("WARPS", Constant::Int(WARPS as i32)),
    ];
    KernelBuild::of("src/kernels/cuda")?
        .constants("fr_constants", "src/constants.rs", &values)?
        .headers_of("amr")?
        .headers_of("device")?
        .exact()
        .compile()
}

#[cfg(not(feature = "cuda"))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
