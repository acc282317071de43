//! Numbers that the backends share; the build script writes them out for CUDA.

/// Bits of the direction mask in an entry of [`LinkTable::cells`](crate::LinkTable::cells).
pub const DIRECTION_BITS: u32 = 27;

/// Bits of a coordinate in the key of a cell or a block. Finest cells have 20: their lattice has 28, with 8 below the cell.
pub(crate) const KEY_BITS: u32 = 21;

/// Numbers of the fill rules, [`Fill`](crate::Fill).
pub(crate) mod fill {
    pub(crate) const NON_ZERO: u32 = 0;
    pub(crate) const EVEN_ODD: u32 = 1;
    pub(crate) const ZERO: u32 = 2;
    pub(crate) const EVEN: u32 = 3;
    pub(crate) const SHEETS: u32 = 4;
    pub(crate) const SHELTERED: u32 = 5;
}

/// How near |W - g| must come to a half to make a block uncertain.
pub(crate) const BAND: f64 = 0.2;
/// Marks of blocks: see [`Classified::uncertain`](crate::kernels::Classified).
pub(crate) const CERTAIN: u8 = 0;
pub(crate) const UNCERTAIN: u8 = 1;
pub(crate) const UNPROVEN: u8 = 2;
/// At a half, rounding does not decide.
pub(crate) const HALF: f64 = 0.5 - 1e-9;
/// Remainder of a node's series that is accepted where |W - g| is compared with bounds of its own.
pub(crate) const NEAR: f64 = 1e-3;
/// Error of a far node in the view of a block; cells whose class it leaves open compute their angle anew.
pub(crate) const FAR: f64 = 3e-4;
/// Most caps near a block in its view; beyond them, cells walk through the tree each.
pub(crate) const MOST_NEAR: usize = 128;
/// As `FAR`, of a second view for the cells that the first leaves open.
pub(crate) const SURE: f64 = 1e-5;
/// The same where W - g is interpolated, so that few cells are left undecided.
pub(crate) const FINE: f64 = 1e-4;
/// More than g is rounded by.
pub(crate) const ROUNDING: f64 = 1e-7;
/// By dimension, the cell of a block of which g stands for all: (1, 1) or (1, 1, 1).
pub(crate) const REFERENCE: [usize; 4] = [0, 1, 5, 21];

/// Sum of the weights of linear extrapolation by a sixth of the length: 7/6 and -1/6.
pub(crate) const BEYOND: f64 = 4.0 / 3.0;

/// Warps of a thread block that sums over leaves, one warp a leaf.
#[cfg(feature = "cuda")]
pub(crate) const TALLY_WARPS: u32 = 8;

/// Blocks with short facet lists that a warp classifies together.
#[cfg(feature = "cuda")]
pub(crate) const FEW: usize = 4;

/// Numbers of the shapes of regions, for kernels.
#[cfg(feature = "cuda")]
pub(crate) mod region {
    pub(crate) const BOX: u32 = 0;
    pub(crate) const BALL: u32 = 1;
    pub(crate) const CYLINDER: u32 = 2;
    /// Bytes of a region's numbers.
    pub(crate) const BYTES: usize = 56;
}
