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
    use constants::{COARSER, COARSEST_SWEEPS, OF_CELLS, OF_FACES, SUM_LANES};
    use cutlink_nvcc::{Constant, KernelBuild};
    let values = [
        ("LANES", Constant::Int(SUM_LANES as i32)),
        ("COARSEST_SWEEPS", Constant::Int(COARSEST_SWEEPS as i32)),
        ("OF_FACES", Constant::Int(OF_FACES as i32)),
        ("OF_CELLS", Constant::Int(OF_CELLS as i32)),
        ("COARSER", Constant::U32(COARSER)),
    ];
    KernelBuild::of("src/kernels/cuda")?
        .constants("elliptic_constants", "src/constants.rs", &values)?
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
