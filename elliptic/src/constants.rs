//! Numbers that the backends share; the build script writes them out for CUDA.

/// Lanes of an ordered sum, and threads of a GPU that take it.
pub const SUM_LANES: usize = 1024;

/// Forward and backward sweeps over the coarsest grid.
pub(crate) const COARSEST_SWEEPS: usize = 20;

/// Words of a block's open faces, and of its cells that a diagonal holds.
pub(crate) const OF_FACES: usize = 8;
pub(crate) const OF_CELLS: usize = 2;

/// Set where the block beyond a side is of the next coarser level.
#[cfg(feature = "cuda")]
pub(crate) const COARSER: u32 = 1 << 31;
