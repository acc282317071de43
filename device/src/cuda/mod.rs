//! NVIDIA GPUs, by the driver's interface: one device, one stream, memory from the device's
//! stream-ordered pool.
//!
//! | what | where |
//! |---|---|
//! | [`Cuda`], the backend | `context.rs` |
//! | [`CudaBuf`], memory with its owner | `buffer.rs` |
//! | memory that was given back | `cache.rs` |
//! | [`Module`], [`Launch`]: kernels | `launch.rs` |
//! | lanes side by side, [`Graph`] of recorded work | `graph.rs` |
//! | [`GpuLink`]: GPUs of ranks; by their memory, by NCCL | `link.rs`, `peer.rs`, `nccl.rs` |
//! | scan, select, sort | `primitives.rs`, `primitives.cu` (CUB) |
//! | host memory in and out | `staging.rs` |
//!
//! libcuda is loaded when the first device is opened: the same program starts without a driver, where [`Cuda::new`] is
//! an error. All work goes to one stream, in program order; concurrent lanes of [`Backend::both`](crate::Backend::both)
//! are joined before it returns. So a buffer may be freed, and its memory reused, while kernels still use it. Errors of
//! kernels are reported by the next call that synchronizes; [`Cuda::checked`] synchronizes after each launch.

#![expect(
    unsafe_code,
    reason = "the driver is a C library, and kernels get addresses"
)]

mod buffer;
mod cache;
mod context;
mod graph;
mod launch;
mod link;
mod nccl;
mod peer;
mod primitives;
mod staging;

pub use buffer::CudaBuf;
pub use context::{Cuda, Event, count};
pub use graph::Graph;
pub use launch::{Launch, LaunchGrid, Module};
pub use link::GpuLink;
pub use peer::RankGroup;
pub use primitives::Sums;
