//! Values in a forest's arrays that kernels share; the build script writes them out for CUDA.

/// No such block.
pub const NONE: u32 = u32::MAX;
/// Beyond a face of the box that is not periodic.
pub const OUTSIDE: u32 = u32::MAX - 1;
/// The level of an id that names no block now.
pub const FREE: u8 = u8::MAX;

/// Numbers that the kernel `count_refined` writes: one a level, then [`COUNT_NEW`] and [`COUNT_GONE`].
pub(crate) const REFINED_COUNTS: u32 = 31;
/// The place of the number of leaves that are given children.
pub(crate) const COUNT_NEW: u32 = 29;
/// The place of the number of blocks whose children are taken.
pub(crate) const COUNT_GONE: u32 = 30;

/// Bits of the level, the lowest ones of a block's key in a linear tree.
pub const LEVEL_BITS: u32 = 5;
/// Bits of a leaf or a slot in the code of a face; what it is stands in the bits above.
pub(crate) const FACE_ID_BITS: u32 = 29;
/// The code's upper bits: finer leaves, which a slot lists. 0 is a leaf of the same level.
pub(crate) const FACE_FINER: u32 = 1;
/// The code's upper bits: beyond a face of the box.
pub(crate) const FACE_OUTSIDE: u32 = 2;
/// The code's upper bits: a coarser leaf; a sub-face is added.
pub(crate) const FACE_COARSER: u32 = 4;

/// What is wanted of a leaf; marks on refined blocks are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Mark {
    /// Leave it, unless a neighbour needs it finer.
    Keep = 0,
    /// Give it children.
    Refine = 1,
    /// Take it and its siblings away, if all agree and 2:1 allows.
    Coarsen = 2,
}
