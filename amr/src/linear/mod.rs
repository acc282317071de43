//! A linear tree: the leaf blocks of a 2:1-balanced forest as one sorted array of keys.
//!
//! | type | what |
//! |---|---|
//! | [`Grid`] | root blocks, and the keys of blocks: Morton number and level in 64 bits |
//! | [`Leaves`] | the leaves: their keys, sorted; 8 bytes a leaf |
//! | [`Faces`] | what lies beyond each face of each leaf: a code of 32 bits, and a table of hanging faces |
//! | [`AdaptedLeaves`] | what an adaptation did, and the map from old leaves to new ones |
//!
//! A leaf here is a leaf block of [`Forest`](crate::Forest): same levels, root grid and 2:1 rule over faces, edges and
//! corners, and the same [checksum](Leaves::checksum). Refined blocks are not stored, ids are places in the array, and
//! an adaptation keeps the order, so that nothing is sorted. For what needs leaves in order and their faces, and changes
//! them often; the forest is for what needs stable ids, refined blocks or all 3^D neighbours.
//!
//! The algorithms are those of Wang, Witherden & Jameson, *J. Comput. Phys.* 502 (2024) 112823 \[W24\], with other
//! stages in the same places; see the table of [`kernels::linear`](crate::kernels::linear). All results are the same bits on
//! every backend and for any number of threads.

mod adapt;
mod build;
mod faces;
mod key;
mod leaves;
mod validate;

pub use crate::constants::LEVEL_BITS;
pub use adapt::{AdaptedLeaves, Counted};
pub(crate) use faces::sub_face;
pub use faces::{Face, Faces};
pub use key::{Grid, coordinate_bits, level};
pub(crate) use key::{morton, pack};
pub use leaves::Leaves;
#[cfg(feature = "cuda")]
pub(crate) use leaves::check_count;
pub use validate::LeavesViolation;
