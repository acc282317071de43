//! The stages on an NVIDIA GPU: the same bits as on the CPU.

#![expect(unsafe_code, reason = "kernels are launched with addresses")]

mod adapt;
mod advance;
mod mortar;
mod penalty;
mod viscous;
mod walls;

use super::{EulerKernels, Fluxes, Kernels, Penalty, StageKernels, Task, sizes, stages::Waves};
use crate::{ElementChanges, EulerFlow, FrError, compiled::FlowFunctions, constants::WARPS};
use cutlink_device::{
    Item,
    cuda::{Cuda, CudaBuf, Module},
};

static ADVANCE: [Module; 2] = cutlink_device::cuda_modules!("advance");
static MORTAR: [Module; 2] = cutlink_device::cuda_modules!("mortar");
static PENALTY: [Module; 2] = cutlink_device::cuda_modules!("penalty");
static SENSOR: [Module; 2] = cutlink_device::cuda_modules!("sensor");
static TRANSFER: [Module; 2] = cutlink_device::cuda_modules!("transfer");
static VISCOUS: [Module; 2] = cutlink_device::cuda_modules!("viscous");
static WALLS: [Module; 2] = cutlink_device::cuda_modules!("walls");

/// Threads of a thread block that works on elements.
const THREADS: u32 = 32 * WARPS;

/// Thread blocks for so many groups, each of which has a thread for each point of a face and lies in one warp: `Shape` of
/// `elements.cuh`.
fn blocks(groups: usize, face: usize) -> usize {
    groups.div_ceil((THREADS / 32) as usize * (32 / face))
}

/// The name of a kernel for a precision and a number of points on an axis.
macro_rules! name_of {
    ($stem:literal, $type:ty, $points:expr) => {{
        const NAMES: [[&str; 4]; 2] = [
            [
                concat!($stem, "_float_2"),
                concat!($stem, "_float_3"),
                concat!($stem, "_float_4"),
                concat!($stem, "_float_5"),
            ],
            [
                concat!($stem, "_double_2"),
                concat!($stem, "_double_3"),
                concat!($stem, "_double_4"),
                concat!($stem, "_double_5"),
            ],
        ];
        NAMES[usize::from(size_of::<$type>() == size_of::<f64>())][$points - 2]
    }};
}
use name_of;

/// Numbers that a kernel has as an argument: `Sixteen` of `elements.cuh`.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
struct Sixteen<T>([T; 16]);

// SAFETY: numbers that may be zero.
unsafe impl<T: Item> bytemuck::Zeroable for Sixteen<T> {}
// SAFETY: numbers of any bits, without padding between them.
unsafe impl<T: Item> bytemuck::Pod for Sixteen<T> {}

impl<T: Item> Sixteen<T> {
    /// Some of the numbers from `first` on; zeros where there are none.
    fn of(all: &[T], first: usize) -> Self {
        let zero = bytemuck::Zeroable::zeroed();
        Self(std::array::from_fn(|i| {
            all.get(first + i).copied().unwrap_or(zero)
        }))
    }
}

/// A number for each axis as an argument: `ByAxis` of `columns.cuh`.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
struct ByAxis<const D: usize, T>([T; D]);

// SAFETY: numbers that may be zero.
unsafe impl<const D: usize, T: Item> bytemuck::Zeroable for ByAxis<D, T> {}
// SAFETY: numbers of any bits, without padding between them.
unsafe impl<const D: usize, T: Item> bytemuck::Pod for ByAxis<D, T> {}

impl<const D: usize, T: Kernels<D>> Task<'_, D, T, Cuda> {
    /// # Panics
    /// Where a length is not that of the leaves or of their hanging faces.
    fn check(&self, mortars: usize) {
        let q = self.basis.order() + 1;
        let (leaves, slots) = (self.leaves.len(), self.faces.slots.len());
        let found = [
            mortars,
            self.traces.len(),
            self.faces.codes.len(),
            self.faces.hanging.len(),
            self.matrices.len(),
        ];
        let expected = [
            slots * sizes::slot(D, q),
            2 * D * leaves * sizes::trace(D, q),
            2 * D * leaves,
            slots * sizes::parts(D),
            q * (5 * q + 4),
        ];
        assert_eq!(found, expected, "lengths should be those of the leaves");
        let far_field = self.far_field.len();
        assert!(
            [0, sizes::trace(D, q)].contains(&far_field),
            "a far field should have a number for each unknown and point of a face, not {far_field}"
        );
    }

    /// The faces with walls.
    ///
    /// # Panics
    /// Where there is not a kind for each.
    fn check_walls(&self) -> usize {
        let slots = self.walls.faces.len();
        assert_eq!(self.walls.kinds.len(), slots, "of the walls");
        slots
    }

    /// # Panics
    /// Where an array of a viscous flow has another length than that of the leaves; of others they are empty.
    fn check_viscous(&self, traces: usize, rates: usize) {
        let q = self.basis.order() + 1;
        let leaves = self.viscosity.map_or(0, |_| self.leaves.len());
        let expected = [sizes::viscous(D, q), sizes::rates(D, q)].map(|one| leaves * one);
        assert_eq!([traces, rates], expected, "of the leaves");
    }

    /// # Panics
    /// Where two states or new traces have another length than the leaves'.
    fn check_elements(&self, states: [usize; 2], traces: usize) {
        let (q, leaves) = (self.basis.order() + 1, self.leaves.len());
        let expected = [
            leaves * sizes::element(D, q),
            2 * D * leaves * sizes::trace(D, q),
        ];
        assert_eq!([states[0], traces], expected, "of the leaves");
        assert_eq!([states[1], traces], expected, "of the leaves");
    }
}

impl<const D: usize> StageKernels<D> for Cuda {
    fn traces<T: Kernels<D>>(
        &self,
        task: &Task<'_, D, T, Self>,
        u: &CudaBuf<T>,
        traces: &mut CudaBuf<T>,
    ) -> Result<(), FrError> {
        advance::traces(self, task, u, traces)
    }

    fn common_states<T: Kernels<D>>(
        &self,
        task: &Task<'_, D, T, Self>,
        states: &mut CudaBuf<T>,
    ) -> Result<(), FrError> {
        viscous::common_states(self, task, states)
    }

    fn viscous_rates<T: Kernels<D>>(
        &self,
        task: &Task<'_, D, T, Self>,
        states: &CudaBuf<T>,
        u: &CudaBuf<T>,
        out: [&mut CudaBuf<T>; 3],
    ) -> Result<(), FrError> {
        viscous::rates(self, task, states, u, out)
    }

    fn walls<T: Kernels<D>>(
        &self,
        task: &Task<'_, D, T, Self>,
        viscous: &CudaBuf<T>,
        out: &mut CudaBuf<T>,
    ) -> Result<(), FrError> {
        walls::walls(self, task, viscous, out)
    }

    fn mortars<T: Kernels<D>>(
        &self,
        task: &Task<'_, D, T, Self>,
        viscous: &CudaBuf<T>,
        mortars: &mut CudaBuf<T>,
    ) -> Result<(), FrError> {
        mortar::mortars(self, task, viscous, mortars)
    }

    fn advance<T: Kernels<D>>(
        &self,
        task: &Task<'_, D, T, Self>,
        fluxes: &Fluxes<'_, T, Self>,
        u: &mut CudaBuf<T>,
        start: &mut CudaBuf<T>,
        traces: &mut CudaBuf<T>,
    ) -> Result<(), FrError> {
        advance::advance(self, task, fluxes, u, start, traces)
    }

    fn penalize<T: Kernels<D>>(
        &self,
        penalty: &Penalty<'_, T, Self>,
        u: &mut CudaBuf<T>,
        traces: &mut CudaBuf<T>,
        losses: &mut CudaBuf<T>,
    ) -> Result<(), FrError> {
        penalty::penalize(self, penalty, u, traces, losses)
    }

    fn wave_rate<T: Kernels<D>>(
        &self,
        waves: &Waves<'_, D, Self>,
        u: &CudaBuf<T>,
    ) -> Result<f64, FrError> {
        advance::wave_rate(self, waves, u)
    }
}

impl<const D: usize> EulerKernels<D> for Cuda {
    fn adapt<T: Kernels<D>>(flow: &mut EulerFlow<D, T, Self>) -> Result<ElementChanges, FrError> {
        adapt::adapt(flow)
    }

    fn functions<T: Kernels<D>>() -> &'static FlowFunctions<D, T, Self> {
        T::cuda_functions()
    }
}
