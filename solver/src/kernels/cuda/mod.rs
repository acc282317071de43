//! The stages on an NVIDIA GPU: one source for each, compiled for 2D and 3D, with entry
//! points for each lattice and precision.

#![expect(unsafe_code, reason = "kernels are launched with addresses")]

mod accumulate;
mod by_block;
mod convert;
mod damp;
mod drag;
mod embedded;
mod exchange;
mod forces;
mod halo;
mod heat;
mod hold;
mod indicate;
mod integrate;
mod lift;
mod macroscopic;
mod mass;
mod refill;
mod seed;
mod slip;
mod step;
mod tables;
mod topology;
mod transfer;
mod wish;

use super::{
    Between, ExactSum, FieldKernels, FlowKernels, GrainKernels, HaloKernels, HeatKernels,
    HeatLevel, HeldSphere, HoldNumbers, HoldTables, PopulationKernels, RefillSource, Relaxation,
    StepKernels, Transfer,
};
use crate::{
    Communicator, F16, Indicator, LatticeFlow, Plan, SolverError,
    fields::FluidSums,
    heat::tables::{HeatBetween, HeatTables},
    lattice::Lattice,
    plan::{self, Starts},
    ranks::Listed,
    run::snapshot::RefinedBlocks,
    sponge::Damped,
    storage::Storage,
    tables::Level,
};
use bytemuck::{Pod, Zeroable};
use cutlink_device::{
    Item, Real,
    cuda::{Cuda, CudaBuf, GpuLink, Launch, Module},
};
use std::{ops::Range, sync::Arc};

static ACCUMULATE: [Module; 2] = cutlink_device::cuda_modules!("accumulate");
static SLIP: [Module; 2] = cutlink_device::cuda_modules!("slip");
static STEP: [Module; 2] = cutlink_device::cuda_modules!("step");
static TILES: [Module; 2] = cutlink_device::cuda_modules!("tiles");
static BY_BLOCK: [Module; 2] = cutlink_device::cuda_modules!("by_block");
static CONVERT: [Module; 2] = cutlink_device::cuda_modules!("convert");
static DAMP: [Module; 2] = cutlink_device::cuda_modules!("damp");
static DRAG: [Module; 2] = cutlink_device::cuda_modules!("drag");
static EMBEDDED: [Module; 2] = cutlink_device::cuda_modules!("embedded");
static EXCHANGE: [Module; 2] = cutlink_device::cuda_modules!("exchange");
static HALO: [Module; 2] = cutlink_device::cuda_modules!("halo");
static HEAT: [Module; 2] = cutlink_device::cuda_modules!("heat");
static HOLD: [Module; 2] = cutlink_device::cuda_modules!("hold");
static LIFT: [Module; 2] = cutlink_device::cuda_modules!("lift");
static FORCES: [Module; 2] = cutlink_device::cuda_modules!("forces");
static MACROSCOPIC: [Module; 2] = cutlink_device::cuda_modules!("macroscopic");
static INDICATE: [Module; 2] = cutlink_device::cuda_modules!("indicate");
static INTEGRATE: [Module; 2] = cutlink_device::cuda_modules!("integrate");
static REFILL: [Module; 2] = cutlink_device::cuda_modules!("refill");
static SEED: [Module; 2] = cutlink_device::cuda_modules!("seed");
static TABLES: [Module; 2] = cutlink_device::cuda_modules!("tables");
static WISH: [Module; 2] = cutlink_device::cuda_modules!("wish");
static TRANSFER: [Module; 2] = cutlink_device::cuda_modules!("transfer");
static MASS: [Module; 2] = cutlink_device::cuda_modules!("mass");

/// The entry point of a lattice and precision: `entry!("name", L, S)`; with a suffix of its name `entry!("name", "_suffix", L, S)`.
macro_rules! entry {
    ($name:literal, $lattice:ty, $storage:ty) => {
        entry!($name, "", $lattice, $storage)
    };
    ($name:literal, $suffix:expr, $lattice:ty, $storage:ty) => {
        match (
            <$lattice as $crate::lattice::Lattice>::KIND,
            <$storage as $crate::storage::Storage>::PRECISION,
        ) {
            ($crate::LatticeKind::D2Q9, $crate::Precision::F16) => {
                concat!($name, $suffix, "_d2q9_f16")
            }
            ($crate::LatticeKind::D2Q9, $crate::Precision::F32) => {
                concat!($name, $suffix, "_d2q9_f32")
            }
            ($crate::LatticeKind::D2Q9, $crate::Precision::F64) => {
                concat!($name, $suffix, "_d2q9_f64")
            }
            ($crate::LatticeKind::D3Q19, $crate::Precision::F16) => {
                concat!($name, $suffix, "_d3q19_f16")
            }
            ($crate::LatticeKind::D3Q19, $crate::Precision::F32) => {
                concat!($name, $suffix, "_d3q19_f32")
            }
            ($crate::LatticeKind::D3Q19, $crate::Precision::F64) => {
                concat!($name, $suffix, "_d3q19_f64")
            }
            ($crate::LatticeKind::D3Q27, $crate::Precision::F16) => {
                concat!($name, $suffix, "_d3q27_f16")
            }
            ($crate::LatticeKind::D3Q27, $crate::Precision::F32) => {
                concat!($name, $suffix, "_d3q27_f32")
            }
            ($crate::LatticeKind::D3Q27, $crate::Precision::F64) => {
                concat!($name, $suffix, "_d3q27_f64")
            }
        }
    };
}
use entry;

/// The entry point that makes populations as an operator does: `arrival_entry!("name", operator, L, S)`.
macro_rules! arrival_entry {
    ($name:literal, $operator:expr, $lattice:ty, $storage:ty) => {
        match $operator {
            OperatorKind::Cumulant => entry!($name, "_cumulant", $lattice, $storage),
            OperatorKind::Kbc => entry!($name, "_kbc", $lattice, $storage),
            OperatorKind::Trt | OperatorKind::Regularized => entry!($name, $lattice, $storage),
        }
    };
}
use arrival_entry;

/// A vector as a parameter of a kernel.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
struct Vector<T>([T; 3]);

// SAFETY: plain data.
unsafe impl<T: Real> Zeroable for Vector<T> {}
// SAFETY: three values without padding.
unsafe impl<T: Real> Pod for Vector<T> {}

/// `Level` of `level.cuh`: addresses, then numbers.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct DeviceLevel {
    coord: u64,
    neighbors: u64,
    solid: u64,
    boundary: u64,
    cell_start: u64,
    cells: u64,
    q: u64,
    patch: u64,
    rules: u64,
    profile: u64,
    profile_face: u64,
    profile_link: u64,
    slots: u32,
    special: u32,
    index: i32,
    extent: [i32; 3],
}

/// A level as kernels have it, which the launch borrows.
fn give<'a, const D: usize>(launch: Launch<'a>, level: &'a Level<D, Cuda>) -> Launch<'a> {
    launch.val(DeviceLevel {
        coord: level.coord.address(0),
        neighbors: level.neighbors.address(0),
        solid: level.solid.address(0),
        boundary: level.boundary.address(0),
        cell_start: level.cell_start.address(0),
        cells: level.cells.address(0),
        q: level.q.address(0),
        patch: level.patch.address(0),
        rules: level.rules.address(0),
        profile: level.profile.address(0),
        profile_face: level.profile_face.address(0),
        profile_link: level.profile_link.address(0),
        slots: level.slots as u32,
        special: level.special as u32,
        index: level.index as i32,
        extent: std::array::from_fn(|a| level.extent.get(a).copied().unwrap_or(0)),
    })
}

static STARTS_2D: Starts<2, Cuda> = Starts::IN_2D;
static STARTS_3D: Starts<3, Cuda> = Starts::IN_3D;

impl<const D: usize> FlowKernels<D> for Cuda {
    fn start<'a>(
        ranks: &[Self],
        link: Option<Arc<dyn Communicator>>,
        plan: Plan<'a, D>,
    ) -> Result<Option<Box<dyn LatticeFlow<D> + 'a>>, SolverError> {
        plan::start(ranks, link, plan, &STARTS_2D, &STARTS_3D)
    }
}

impl<const D: usize> StepKernels<D> for Cuda {
    fn slip<L: Lattice, S: Storage>(
        &self,
        level: &mut Level<D, Self>,
        from: &CudaBuf<S>,
    ) -> Result<(), SolverError> {
        slip::slip::<D, L, S>(self, level, from)
    }

    fn friction<L: Lattice, S: Storage>(
        &self,
        level: &mut Level<D, Self>,
        from: &CudaBuf<S>,
    ) -> Result<(), SolverError> {
        drag::friction::<D, L, S>(self, level, from)
    }

    fn drag<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        populations: &mut CudaBuf<S>,
        moments: &mut CudaBuf<S::Real>,
    ) -> Result<(), SolverError> {
        drag::drag::<D, L, S>(self, level, populations, moments)
    }

    fn step<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        relax: Relaxation<S::Real>,
        from: &CudaBuf<S>,
        to: &mut CudaBuf<S>,
        moments: &mut CudaBuf<S::Real>,
    ) -> Result<(), SolverError> {
        step::step::<D, L, S>(self, level, relax, from, to, moments)
    }

    fn damp<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        damped: &Damped<Self>,
        half_step: [S::Real; 3],
        populations: &mut CudaBuf<S>,
        moments: &mut CudaBuf<S::Real>,
    ) -> Result<(), SolverError> {
        damp::damp::<D, L, S>(self, level, damped, half_step, populations, moments)
    }

    fn interpolate<L: Lattice, S: Storage>(
        &self,
        between: &Between<'_, D, S::Real, Self>,
        moments: &CudaBuf<S::Real>,
        to: &mut CudaBuf<S>,
    ) -> Result<(), SolverError> {
        exchange::interpolate::<D, L, S>(self, between, moments, to)
    }

    fn average<L: Lattice, S: Storage>(
        &self,
        between: &Between<'_, D, S::Real, Self>,
        fine_moments: &CudaBuf<S::Real>,
        to: &mut CudaBuf<S>,
        moments: &mut CudaBuf<S::Real>,
    ) -> Result<(), SolverError> {
        exchange::average::<D, L, S>(self, between, fine_moments, to, moments)
    }

    fn forces<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        from: &CudaBuf<S>,
        parts: &mut CudaBuf<f64>,
        at: usize,
        fresh: bool,
        sums: &mut CudaBuf<ExactSum>,
    ) -> Result<(), SolverError> {
        forces::forces::<D, L, S>(self, level, from, parts, at, fresh, sums)
    }
}

impl<const D: usize> PopulationKernels<D> for Cuda {
    fn narrow(&self, values: &CudaBuf<f32>) -> Result<CudaBuf<F16>, SolverError> {
        convert::narrow(self, values)
    }

    fn widen(&self, populations: &CudaBuf<F16>) -> Result<CudaBuf<f32>, SolverError> {
        convert::widen(self, populations)
    }

    fn seed<L: Lattice, S: Storage>(
        &self,
        transfer: &Transfer<'_, D, S, Self>,
        to: &mut CudaBuf<S>,
    ) -> Result<(), SolverError> {
        seed::seed::<D, L, S>(self, transfer, to)
    }

    fn refill<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        half_step: [f64; 3],
        waiting: &[u32],
        source: RefillSource,
        populations: &mut CudaBuf<S>,
    ) -> Result<Vec<u32>, SolverError> {
        refill::refill::<D, L, S>(self, level, half_step, waiting, source, populations)
    }

    fn mass<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        from: &CudaBuf<S>,
    ) -> Result<CudaBuf<f64>, SolverError> {
        mass::mass::<D, L, S>(self, level, from)
    }

    fn rescale<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        factor: f64,
        populations: &mut CudaBuf<S>,
    ) -> Result<(), SolverError> {
        mass::rescale::<D, L, S>(self, level, factor, populations)
    }
}

impl<const D: usize> FieldKernels<D> for Cuda {
    fn macroscopic<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        slots: Range<usize>,
        half_step: [S::Real; 3],
        from: &CudaBuf<S>,
    ) -> Result<CudaBuf<f32>, SolverError> {
        macroscopic::macroscopic::<D, L, S>(self, level, slots, half_step, from)
    }

    fn macroscopic_of<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        slots: &CudaBuf<u32>,
        half_step: [S::Real; 3],
        from: &CudaBuf<S>,
    ) -> Result<CudaBuf<f32>, SolverError> {
        macroscopic::macroscopic_of::<D, L, S>(self, level, slots, half_step, from)
    }

    fn put_by_block(
        &self,
        values: &CudaBuf<f32>,
        blocks: &CudaBuf<u32>,
        slots: Range<usize>,
        density: &mut CudaBuf<f32>,
        velocity: &mut CudaBuf<f32>,
    ) -> Result<(), SolverError> {
        by_block::put_by_block::<D>(self, values, blocks, slots, density, velocity)
    }

    fn fill_refined(
        &self,
        refined: &RefinedBlocks<Self>,
        density: &mut CudaBuf<f32>,
        velocity: &mut CudaBuf<f32>,
    ) -> Result<(), SolverError> {
        by_block::fill_refined::<D>(self, refined, density, velocity)
    }

    fn accumulate(
        &self,
        density: &CudaBuf<f32>,
        velocity: &CudaBuf<f32>,
        share: f64,
        values: &mut CudaBuf<[f64; 2]>,
    ) -> Result<(), SolverError> {
        accumulate::accumulate::<D>(self, density, velocity, share, values)
    }

    fn fastest<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        from: &CudaBuf<S>,
    ) -> Result<CudaBuf<f32>, SolverError> {
        macroscopic::fastest::<D, L, S>(self, level, from)
    }

    fn indicate(
        &self,
        level: &Level<D, Self>,
        what: Indicator,
        fields: &CudaBuf<f32>,
    ) -> Result<CudaBuf<f32>, SolverError> {
        indicate::indicate(self, level, what, fields)
    }

    fn integrate<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        slots: &CudaBuf<u32>,
        half_step: [S::Real; 3],
        from: &CudaBuf<S>,
    ) -> Result<FluidSums, SolverError> {
        integrate::integrate::<D, L, S>(self, level, slots, half_step, from)
    }
}

impl<const D: usize> HaloKernels<D> for Cuda {
    fn gather<T: Item>(
        &self,
        places: &CudaBuf<u64>,
        range: Range<usize>,
        from: &CudaBuf<T>,
        to: &mut CudaBuf<T>,
    ) -> Result<(), SolverError> {
        halo::gather(self, (places, range), from, to)
    }

    fn scatter<T: Item>(
        &self,
        places: &CudaBuf<u64>,
        range: Range<usize>,
        from: &CudaBuf<T>,
        to: &mut CudaBuf<T>,
    ) -> Result<(), SolverError> {
        halo::scatter(self, (places, range), from, to)
    }

    fn exchange<T: Item>(
        &self,
        link: &GpuLink,
        levels: &mut [Listed<'_, T, Self>],
    ) -> Result<(), SolverError> {
        halo::exchange::<D, T>(self, link, levels)
    }
}

impl<const D: usize> HeatKernels<D> for Cuda {
    fn momentum<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        half_step: [S::Real; 3],
        from: &CudaBuf<S>,
        to: &mut CudaBuf<f64>,
    ) -> Result<(), SolverError> {
        lift::momentum::<D, L, S>(self, level, half_step, from, to)
    }

    fn carry(
        &self,
        heat: &HeatLevel<'_, D, Self>,
        from: &CudaBuf<f64>,
        to: &mut CudaBuf<f64>,
        given: &mut CudaBuf<f64>,
    ) -> Result<(), SolverError> {
        heat::carry(self, heat, from, to, given)
    }

    fn lift<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        tables: &HeatTables<Self>,
        lift: [f64; 3],
        temperature: &CudaBuf<f64>,
        populations: &mut CudaBuf<S>,
    ) -> Result<(), SolverError> {
        lift::lift::<D, L, S>(self, level, tables, lift, temperature, populations)
    }

    fn restrict(
        &self,
        shared: &HeatBetween<Self>,
        fine: &CudaBuf<f64>,
        given: &mut CudaBuf<f64>,
        coarse: &mut CudaBuf<f64>,
    ) -> Result<(), SolverError> {
        heat::restrict::<D>(self, shared, fine, given, coarse)
    }

    fn prolong(
        &self,
        shared: &HeatBetween<Self>,
        coarse: &CudaBuf<f64>,
        fine: &mut CudaBuf<f64>,
    ) -> Result<(), SolverError> {
        heat::prolong::<D>(self, shared, coarse, fine)
    }
}

impl<const D: usize> GrainKernels<D> for Cuda {
    fn hold_cells<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        tables: &HoldTables<Self>,
        spheres: &CudaBuf<HeldSphere>,
        numbers: HoldNumbers,
        half_step: [S::Real; 3],
        populations: &mut CudaBuf<S>,
        given: &mut CudaBuf<f64>,
    ) -> Result<(), SolverError> {
        let of = (spheres, numbers);
        hold::hold_cells::<D, L, S>(self, level, tables, of, half_step, populations, given)
    }

    fn sum_given(
        &self,
        tables: &HoldTables<Self>,
        given: &CudaBuf<f64>,
        sums: &mut CudaBuf<f64>,
    ) -> Result<(), SolverError> {
        hold::sum_given(self, D, tables, given, sums)
    }
}
