//! Execution on CPU and GPU: the [`Backend`] that kernels are written for, its buffers, the
//! choice of a device, the memory budget, the limits of readers, and the parallel primitives of the CPU.
//!
//! Every algorithm of the crates above is written once, generic over a backend; only kernel
//! bodies exist for each backend. This is the one crate that names a GPU interface.

mod backend;
mod cgroup;
mod choice;
#[cfg(feature = "cuda")]
pub mod cuda;
mod dimension;
mod error;
mod exported;
mod failure;
mod file_map;
pub mod limits;
pub mod memory;
mod named;
#[cfg(any(feature = "cuda", test))]
mod pieces;
mod real;
pub mod scan;
pub mod shared;
mod union_find;

pub use backend::{Backend, Host, Item, Route, Share};
pub use choice::{Device, DeviceChoice, LinkChoice, Selected, select};
pub use dimension::of_dimension;
pub use error::{DeviceError, Memory};
pub use exported::Exported;
pub use failure::{ErrorKind, Failure};
pub use file_map::FileMap;
pub use named::Named;
pub use real::{Real, larger_or_nan};
pub use union_find::UnionFind;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, ignoring poisoning: for what is sound after a panic elsewhere.
pub fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
