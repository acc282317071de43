//! NVIDIA GPUs, by the driver's interface: one device, one stream, memory from the device's
//! stream-ordered pool.
//!
//! | what | where |
//! |---|---|
//! | [`Cuda`], the backend | `context.rs` |
//! | [`CudaBuf`], memory with its owner | `buffer.rs` |
//! | [`Module`], [`Launch`]: kernels | `launch.rs` |
//! | lanes side by side, [`Graph`] of recorded work | `graph.rs` |
//! | scan, select, sort | `primitives.rs`, `primitives.cu` (CUB) |
//! | host memory in and out | `staging.rs` |
//!
//! libcuda is loaded when the first device is asked for: the same program starts without a
//! driver, where [`Cuda::new`] is an error. All work goes to one stream in the order it is
//! given (what [`Backend::both`](crate::Backend::both) puts beside it is joined again before it returns), so a buffer may be freed, and its memory taken again, while kernels still use it.
//! Errors of kernels show at the next call that waits; [`Cuda::checked`] waits after each.

#![expect(
    unsafe_code,
    reason = "the driver is a C library, and kernels get addresses"
)]

mod buffer;
mod context;
mod graph;
mod launch;
mod primitives;
mod staging;

pub use buffer::CudaBuf;
pub use context::{Cuda, Event, count};
pub use graph::Graph;
pub use launch::{Grid, Launch, Module};
pub use primitives::Sums;
