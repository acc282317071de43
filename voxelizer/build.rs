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
        BAND, BEYOND, CERTAIN, DIRECTION_BITS, FAR, FEW, FINE, HALF, KEY_BITS, MOST_NEAR, NEAR,
        REFERENCE, ROUNDING, TALLY_WARPS, UNCERTAIN, UNPROVEN, fill, region,
    };
    use cutlink_nvcc::{Constant, KernelBuild};
    let values = [
        ("DIRECTION_BITS", Constant::U32(DIRECTION_BITS)),
        ("KEY_BITS", Constant::U32(KEY_BITS)),
        ("FILL_NON_ZERO", Constant::U32(fill::NON_ZERO)),
        ("FILL_EVEN_ODD", Constant::U32(fill::EVEN_ODD)),
        ("FILL_ZERO", Constant::U32(fill::ZERO)),
        ("FILL_EVEN", Constant::U32(fill::EVEN)),
        ("FILL_SHEETS", Constant::U32(fill::SHEETS)),
        ("FILL_SHELTERED", Constant::U32(fill::SHELTERED)),
        ("BAND", Constant::F64(BAND)),
        ("HALF", Constant::F64(HALF)),
        ("NEAR", Constant::F64(NEAR)),
        ("FINE", Constant::F64(FINE)),
        ("FAR", Constant::F64(FAR)),
        ("MOST_NEAR", Constant::Size(MOST_NEAR)),
        ("ROUNDING", Constant::F64(ROUNDING)),
        ("CERTAIN", Constant::U8(CERTAIN)),
        ("UNCERTAIN", Constant::U8(UNCERTAIN)),
        ("UNPROVEN", Constant::U8(UNPROVEN)),
        ("REFERENCE_2D", Constant::Size(REFERENCE[2])),
        ("REFERENCE_3D", Constant::Size(REFERENCE[3])),
        ("BEYOND", Constant::F64(BEYOND)),
        ("TALLY_WARPS", Constant::Int(TALLY_WARPS as i32)),
        ("FEW_BLOCKS", Constant::Size(FEW)),
        ("REGION_BOX", Constant::U32(region::BOX)),
        ("REGION_BALL", Constant::U32(region::BALL)),
        ("REGION_CYLINDER", Constant::U32(region::CYLINDER)),
        ("REGION_BYTES", Constant::Size(region::BYTES)),
    ];
    KernelBuild::of("src/kernels/cuda")?
        .constants("voxelizer_constants", "src/constants.rs", &values)?
        .headers_of("mesher")?
        .headers_of("amr")?
        .headers_of("device")?
        .exact()
        .compile()
}

#[cfg(not(feature = "cuda"))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
