//! The mesh file: everything a solver needs of a [`Mesh`], in a `safetensors` container.
//!
//! In: a mesh on the host. Out: little-endian arrays behind a JSON header, in a fixed order
//! and 8-byte aligned, so that numpy opens the file in one line and any language can map it.
//! `docs/mesh-file.md` describes every array and key. Blocks are renumbered level by level
//! in the order of the level lists, so a file does not depend on recycled ids; neighbours,
//! parents, levels and rows are derived on load.
//!
//! Determinism: the same mesh and `extra` give the same bytes. Cost: one pass and a buffer
//! of 1 MiB; [`write_file`] writes from the arrays themselves, by several threads. Reading also pays for the
//! neighbours and for [`Forest::validate`](cutlink_amr::Forest::validate).
//!
//! Reading trusts nothing: sizes are held against the size of the file before memory is
//! taken, the whole structure is checked, and two checksums are compared: the last eight
//! bytes cover every byte before them, and `checksum` is [`Mesh::checksum`]. They tell
//! accidents, not an adversary; a made-up file that passes all checks is a valid mesh.

mod check;
mod error;
mod header;
mod read;
mod stream;
mod write;
mod writer;

pub use error::FileError;
pub use read::{Contents, parse, read};
pub use write::{size, write};
pub use writer::write_file;

#[cfg(doc)]
use crate::Mesh;

/// The versions of the format: of meshes that are periodic along no axis, and of those that are. Both are
/// read; they differ in the key `periodic` alone, which a reader of the first would not heed.
pub const FORMAT_VERSIONS: [&str; 2] = ["1", "2"];

const _: () = assert!(
    cfg!(target_endian = "little"),
    "arrays are written as they lie in memory, which should be little-endian"
);
