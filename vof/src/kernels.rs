//! What runs on a backend.

#[cfg(feature = "cuda")]
pub(crate) mod cuda;
