//! A 2:1-balanced, block-based forest of octrees (3D) and quadtrees (2D).
//!
//! | frame | meaning |
//! |---|---|
//! | block coordinate | i32 per axis at the block's own level; a root grid of `root` blocks covers the box, level ℓ has `root << ℓ` |
//! | cell coordinate | i32 per axis at a level: `4 * block + local`, local in 0..4 |
//! | cell in a block | `x + 4 y + 16 z`, the bit of the block's masks |
//! | child | `x + 2 y + 4 z` of the low bits of its block coordinate |
//! | direction | `(dx+1) + 3 (dy+1) + 9 (dz+1)`, 0..3^D, the middle one the block itself; opposite: `3^D - 1 - i` |
//!
//! [`linear`] has the same leaves as one sorted array of keys, and conversion in both directions.
//!
//! Structure of arrays indexed by block id, id lists by level, recycled ids, siblings
//! contiguous (Jaber et al. 2025 \[J25\], §3). Marks may be anything: [`Forest::adapt`] keeps
//! the forest 2:1 over faces, edges and corners. All results are the same bits for any
//! number of threads. The crate knows nothing of geometry or solvers.

mod adapt;
pub mod checksum;
mod constants;
pub mod dims;
mod error;
mod forest;
pub mod kernels;
pub mod linear;
mod lookup;
mod neighbors;
mod rebuild;
mod validate;

pub use adapt::Adapted;
pub use constants::{FREE, Mark, NONE, OUTSIDE};
pub use error::ForestError;
pub use forest::{Forest, ForestArrays, MAX_LEVELS, bytes_per_block, bytes_per_root_block};
pub use kernels::{BuildKernels, ChangeKernels, CloseKernels};
pub use kernels::{ForestKernels, LinearKernels, RebuildKernels};
pub use lookup::{CellRef, NeighborCell};
pub use rebuild::{FormerIds, Refined};
pub use validate::ForestViolation;
