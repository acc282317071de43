//! On an NVIDIA GPU: the same bits as on the CPU.

#![expect(unsafe_code, reason = "kernels are launched with addresses")]

pub(crate) mod mesh;
pub(crate) mod params;

pub(crate) use mesh::DeviceMesh;
pub(crate) use params::DeviceParams;

/// Threads of a thread block that works on a block of cells: `TILE_THREADS` of `tile.cuh`.
pub(crate) const fn tile_threads(d: usize) -> u32 {
    if d == 2 { 32 } else { 64 }
}
