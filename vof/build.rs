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
    use constants::{
        BOUND, END, FLAT, GRAIN_LANES, LEAST_CLEAR, MARGIN, NEAR, PENALTY, PURE, STEEPEST, THREADS,
        TILE_THREADS, TRACE, WITHIN,
    };
    use cutlink_nvcc::{Constant, KernelBuild};
    let values = [
        ("PURE", Constant::F64(PURE)),
        ("TRACE", Constant::F64(TRACE)),
        ("FLAT", Constant::F64(FLAT)),
        ("END", Constant::F64(END)),
        ("STEEPEST", Constant::F64(STEEPEST)),
        ("BOUND", Constant::F64(BOUND)),
        ("PENALTY", Constant::F64(PENALTY)),
        ("WITHIN", Constant::F64(WITHIN)),
        ("LEAST_CLEAR", Constant::F64(LEAST_CLEAR)),
        ("GRAIN_LANES", Constant::Int(GRAIN_LANES as i32)),
        ("NEAR", Constant::U8(NEAR)),
        ("MARGIN", Constant::Int(MARGIN as i32)),
        ("THREADS", Constant::Int(THREADS as i32)),
        ("TILE_THREADS_2D", Constant::Int(TILE_THREADS[0] as i32)),
        ("TILE_THREADS_3D", Constant::Int(TILE_THREADS[1] as i32)),
    ];
    KernelBuild::of("src/kernels/cuda")?
        .constants("vof_constants", "src/constants.rs", &values)?
        .headers_of("amr")?
        .headers_of("device")?
        .headers_of("elliptic")?
        .exact()
        .compile()
}

#[cfg(not(feature = "cuda"))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
