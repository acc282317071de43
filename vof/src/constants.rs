//! Numbers that the backends share; the build script writes them out for CUDA.

/// Fractions closer than this to 0 and 1 are pure: no plane.
pub(crate) const PURE: f64 = 1e-12;

/// Fractions closer than this to 0 and 1 do not make an interface of a coarse cell, and have no curvature.
pub(crate) const TRACE: f64 = 1e-9;

/// Components of a normal below this part of their sum are none: the volume changes by less than 1e-9.
pub(crate) const FLAT: f64 = 1e-7;

/// Fractions closer than this to 0 and 1 end a column.
pub(crate) const END: f64 = 1e-9;

/// Positions are taken from columns whose component of the normal is at least this part of the largest one.
pub(crate) const STEEPEST: f64 = 0.7;

/// How far fractions may leave 0 to 1.
pub(crate) const BOUND: f64 = 1e-3;

/// How much stronger cells of grains are held than the faces around them pull.
pub(crate) const PENALTY: f64 = 1e3;

/// How much less viscous a fluid counts between cells without fluid: their faces stay open to the solver.
pub(crate) const WITHIN: f64 = 1e6;

/// Least part of a cell whose fluid has a velocity of its own. It bounds the conductances between cells of grains.
pub(crate) const LEAST_CLEAR: f64 = 1e-3;

/// Lanes of sums over a grain's cells, and threads of a GPU that take them.
pub(crate) const GRAIN_LANES: usize = 256;

/// Set where both fluids are in a block, or near it.
pub(crate) const NEAR: u8 = 4;

/// Cells around a block that a tile has on each side.
pub(crate) const MARGIN: usize = 4;

/// Threads of a thread block of kernels that have a thread a cell.
#[cfg(feature = "cuda")]
pub(crate) const THREADS: u32 = 256;

/// Threads of a thread block that works on a block of cells, in 2D and in 3D: one a cell, and whole warps.
#[cfg(feature = "cuda")]
pub(crate) const TILE_THREADS: [u32; 2] = [32, 64];
