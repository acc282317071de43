//! On an NVIDIA GPU: the same bits as on the CPU.

#![expect(unsafe_code, reason = "kernels are launched with addresses")]

mod adapt;
pub(crate) mod curvature;
pub(crate) mod forces;
mod grain_cells;
mod heat;
pub(crate) mod interface;
pub(crate) mod mesh;
pub(crate) mod params;
mod penalty;
mod project;
mod survey;
mod sweep;
mod transfer;
mod turning;
mod viscous;

pub(crate) use grain_cells::DeviceGrains;
pub(crate) use interface::InterfaceWork;
pub(crate) use mesh::DeviceMesh;
pub(crate) use params::DeviceParams;

use crate::constants::{THREADS, TILE_THREADS};
use crate::kernels::{Scene, TwoPhaseKernels};
use cutlink_device::cuda::{Cuda, CudaBuf, Module};
use grain_cells::GrainAddresses;

static ADAPT: [Module; 2] = cutlink_device::cuda_modules!("adapt");
static CURVATURE: [Module; 2] = cutlink_device::cuda_modules!("curvature");
static FORCES: [Module; 2] = cutlink_device::cuda_modules!("forces");
static GRAIN_CELLS: [Module; 2] = cutlink_device::cuda_modules!("grain_cells");
static HEAT: [Module; 2] = cutlink_device::cuda_modules!("heat");
static INTERFACE: [Module; 2] = cutlink_device::cuda_modules!("interface");
static PENALTY: [Module; 2] = cutlink_device::cuda_modules!("penalty");
static PROJECT: [Module; 2] = cutlink_device::cuda_modules!("project");
static SURVEY: [Module; 2] = cutlink_device::cuda_modules!("survey");
static SWEEP: [Module; 2] = cutlink_device::cuda_modules!("sweep");
static TRANSFER: [Module; 2] = cutlink_device::cuda_modules!("transfer");
static TURNING: [Module; 2] = cutlink_device::cuda_modules!("turning");
static VISCOUS: [Module; 2] = cutlink_device::cuda_modules!("viscous");

/// Threads of a thread block that adds up.
const LANES: u32 = cutlink_elliptic::SUM_LANES as u32;

/// Threads of a thread block that works on a block of cells.
pub(crate) const fn tile_threads(d: usize) -> u32 {
    TILE_THREADS[d - 2]
}

/// The addresses of an array for each axis.
fn addresses<const D: usize>(of: [&CudaBuf<f64>; D]) -> [u64; D] {
    of.map(|values| values.address(0))
}

impl<const D: usize> TwoPhaseKernels<D> for Cuda {}

/// Parameters of a flow, as kernels read them.
fn values<const D: usize>(at: &Scene<'_, D, Cuda>) -> DeviceParams<D> {
    DeviceParams::new(at.params)
}

/// Cells of grains, as kernels read them.
fn grains_of<const D: usize>(at: &Scene<'_, D, Cuda>) -> GrainAddresses {
    GrainAddresses::of(at.grains)
}
