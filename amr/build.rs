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
    use constants::{
        COUNT_GONE, COUNT_NEW, FACE_COARSER, FACE_FINER, FACE_ID_BITS, FACE_OUTSIDE, FREE,
        LEVEL_BITS, Mark, NONE, OUTSIDE, REFINED_COUNTS,
    };
    use cutlink_nvcc::{Constant, KernelBuild};
    let values = [
        ("NONE", Constant::U32(NONE)),
        ("OUTSIDE", Constant::U32(OUTSIDE)),
        ("FREE", Constant::U8(FREE)),
        ("REFINED_COUNTS", Constant::U32(REFINED_COUNTS)),
        ("COUNT_NEW", Constant::U32(COUNT_NEW)),
        ("COUNT_GONE", Constant::U32(COUNT_GONE)),
        ("LEVEL_BITS", Constant::U32(LEVEL_BITS)),
        ("FACE_ID_BITS", Constant::U32(FACE_ID_BITS)),
        ("FACE_FINER", Constant::U32(FACE_FINER)),
        ("FACE_OUTSIDE", Constant::U32(FACE_OUTSIDE)),
        ("FACE_COARSER", Constant::U32(FACE_COARSER)),
        ("KEEP", Constant::U8(Mark::Keep as u8)),
        ("REFINE", Constant::U8(Mark::Refine as u8)),
        ("COARSEN", Constant::U8(Mark::Coarsen as u8)),
    ];
    KernelBuild::of("src/kernels/cuda")?
        .constants("forest_constants", "src/constants.rs", &values)?
        .headers_of("device")?
        .export()?
        .exact()
        .compile()
}

#[cfg(not(feature = "cuda"))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
