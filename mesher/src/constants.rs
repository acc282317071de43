//! Numbers that the backends share; the build script writes them out for CUDA.

/// Bounds of nodes of caps further away than this many radii are at most (4/3)^D times those of their simplices.
pub(crate) const CAP_FAR: f64 = 3.0;
/// Remainder that a node may have at first; where a rough angle does not decide, none.
pub(crate) const CAP_ROUGH: f64 = 1e-5;
