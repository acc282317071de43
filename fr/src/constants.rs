//! Numbers that the backends share; the build script writes them out for CUDA.

/// Bits of the kind of a wall below its patch.
pub(crate) const KIND_BITS: u32 = 2;
/// Kinds of walls in kernels.
pub(crate) const SLIP: u32 = 0;
pub(crate) const ADIABATIC: u32 = 1;
pub(crate) const ISOTHERMAL: u32 = 2;

/// Warps of a thread block that works on elements.
#[cfg(feature = "cuda")]
pub(crate) const WARPS: u32 = 2;
