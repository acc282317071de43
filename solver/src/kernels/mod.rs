//! The stages of a step, for a backend to implement.
//!
//! | stage | contract | files in `cpu/` and `cuda/` |
//! |---|---|---|
//! | [`slip`](StepKernels::slip) | slip velocities of modelled walls | `slip` |
//! | [`friction`](StepKernels::friction), [`drag`](StepKernels::drag) | friction of modelled walls; added to the cells near them, after the step | `drag` |
//! | [`step`](StepKernels::step) | streaming (pull) and collision of a level, walls and faces included | `step` |
//! | [`damp`](StepKernels::damp) | cells of a sponge relaxed towards its target, after the step | `damp` |
//! | [`interpolate`](StepKernels::interpolate) | ghost cells of a level from the coarser one | `exchange` |
//! | [`average`](StepKernels::average) | cells of refined blocks from their children | `exchange` |
//! | [`momentum`](HeatKernels::momentum), [`lift`](HeatKernels::lift) | momentum of cells; the weight of their temperatures | `lift` |
//! | [`carry`](HeatKernels::carry) | a step of a level's temperatures | `heat` |
//! | [`restrict`](HeatKernels::restrict), [`prolong`](HeatKernels::prolong) | temperatures between levels | `heat` |
//! | [`hold_cells`](GrainKernels::hold_cells), [`sum_given`](GrainKernels::sum_given) | cells in and beside grains drawn to their motion, before the step; what grains gave | `hold` |
//! | [`forces`](StepKernels::forces) | force, torque and mass by patch, added to a sample | `forces` |
//! | [`macroscopic`](FieldKernels::macroscopic), [`macroscopic_of`](FieldKernels::macroscopic_of) | density and velocity of a level's cells | `macroscopic` |
//! | [`put_by_block`](FieldKernels::put_by_block), [`fill_refined`](FieldKernels::fill_refined) | density and velocity by block id and cell | `by_block` |
//! | [`accumulate`](FieldKernels::accumulate) | running means of density and velocity | `accumulate` |
//! | [`indicate`](FieldKernels::indicate) | largest value of an indicator over each slot's cells | `indicate` |
//! | [`integrate`](FieldKernels::integrate) | sums and extremes over blocks with nothing but fluid in them and beside them | `integrate` |
//! | [`seed`](PopulationKernels::seed) | populations of a level whose blocks have changed | `seed` |
//! | [`refill`](PopulationKernels::refill) | populations of cells that a body has uncovered | `refill` |
//! | those of [`TopologyKernels`] | tables, marks and transfers of a mesh that changes | [`topology`](TopologyKernels) |
//! | [`narrow`](PopulationKernels::narrow), [`widen`](PopulationKernels::widen) | values to 16-bit populations and back, as the other stages do | `convert` |
//! | [`mass`](PopulationKernels::mass), [`rescale`](PopulationKernels::rescale) | mass of a level's cells, all densities times a factor | `mass` |
//! | [`exchange`](HaloKernels::exchange) | messages between ranks, from device to device | `halo` |
//! | [`gather`](HaloKernels::gather), [`scatter`](HaloKernels::scatter) | numbers at some places, to another buffer and back: what ranks exchange | `halo` |
//!
//! Populations are stored after collision, less their weights: `f[slot * Q * 4^D + place(q, cell)]`, where
//! [`place`](PopulationKernels::place) is each backend's.
//! On a GPU, a level may have them for its first slots only, and behind these 9 values of each cell of all slots, of which
//! regularized collision makes populations (`Level::keeps_moments`, decision 059).
//! Backends agree to rounding; each gives the same bits every time, for any number of threads.

pub(crate) mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod exact;
mod heat;
mod hold;
mod topology;

pub use exact::ExactSum;
pub use heat::{HeatKernels, HeatLevel};
pub(crate) use hold::nearest_image;
pub use hold::{GrainKernels, HeldSphere, HoldNumbers, HoldTables};
pub use topology::{BodyKernels, FollowKernels, TableKernels, TopologyKernels};

use crate::{
    Communicator, F16, Indicator, LatticeFlow, Plan, SolverError, adapt::transfer::SlotSource,
    constants::OperatorKind, fields::FluidSums, lattice::Lattice, ranks::Listed,
    run::snapshot::RefinedBlocks, sponge::Damped, storage::Storage, tables::Level,
};
use bytemuck::{Pod, Zeroable};
use cutlink_amr::dims;
use cutlink_device::{Backend, Item, Real};
use std::{ops::Range, sync::Arc};

/// Values summed over a patch: force, torque, and mass into the fluid.
pub use crate::constants::SUMS;

/// Transferred moments of a cell, before collision: density less 1, momentum, and the symmetric
/// non-equilibrium stress Σ c c f - ρ u u - ρ/3 (2D: xx, xy, yy; 3D: xx, xy, xz, yy, yz, zz).
pub const fn exchanged(d: usize) -> usize {
    1 + d + d * (d + 1) / 2
}

/// What cells that a body has uncovered are filled from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefillSource {
    /// The fluid beside, and the walls that the cells' links meet.
    Neighbors,
    /// Nothing: fluid at rest with density 1.
    Rest,
}

/// The places of the stress xx, xy, xz, yy, yz, zz (2D: xx, xy, yy) among them, and its two axes.
pub(crate) fn pairs<const D: usize>() -> impl Iterator<Item = (usize, usize, usize)> {
    let all = (0..D).flat_map(|a| (a..D).map(move |b| (a, b)));
    all.enumerate().map(|(n, (a, b))| (1 + D + n, a, b))
}

/// Relaxation rates of a level.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Relaxation<T> {
    /// Rate of even parts: 1/τ of the viscosity.
    pub even: T,
    /// Rate of odd parts. Of cumulants and KBC 1 if parts of higher order relax with a rate of 1, else 0.
    pub odd: T,
    /// Acceleration, a step of the level.
    pub acceleration: [T; 3],
    /// Relaxation time of the viscosity.
    pub tau: T,
    /// Factor of the eddy viscosity: √2 C² of Smagorinsky's, C of QR.
    pub eddy: T,
    /// The magic parameter of TRT, the limiter of cumulants.
    pub parameter: T,
    /// The number of a collision operator: see [`kind`](Self::kind).
    pub(crate) operator: u32,
    /// One of `constants::closure`.
    pub closure: u32,
    /// One of `constants::odd`.
    pub odd_by: u32,
    /// 1 where the trace of the non-equilibrium stress relaxes with a time of 1 (decision 016), which all operators but BGK and TRT
    /// always have.
    pub bulk: u32,
    /// One of `constants::balance`.
    pub conserves: u32,
    /// 1 where populations are rounded up or down at random, so that slow changes are right on average (decision 025); only 16 bits
    /// differ by it.
    pub dithers: u32,
}

impl<T: Real> Relaxation<T> {
    /// The collision operator.
    ///
    /// # Panics
    /// Where there is none of that number.
    pub(crate) fn kind(&self) -> OperatorKind {
        OperatorKind::ALL[self.operator as usize]
    }

    /// The rates of slots that exchange. Only even moments are transferred between levels: odd ones relax with a rate of 1.
    pub(crate) fn between_levels(self) -> Self {
        Self {
            odd: T::of(1.0),
            odd_by: crate::constants::odd::FIXED,
            ..self
        }
    }
}

#[expect(unsafe_code, reason = "plain data without padding")]
// SAFETY: plain data.
unsafe impl<T: Real> Zeroable for Relaxation<T> {}
#[expect(unsafe_code, reason = "plain data without padding")]
// SAFETY: eight T and six u32 leave no padding: 56 or 88 bytes.
unsafe impl<T: Real> Pod for Relaxation<T> {}

/// Two neighbouring levels, and how moments are transferred between them.
#[derive(Debug)]
pub struct Between<'a, const D: usize, T, B: Backend> {
    /// The coarser.
    pub coarse: &'a Level<D, B>,
    /// The finer.
    pub fine: &'a Level<D, B>,
    /// Whether to interpolate by four cells an axis, or by two.
    pub cubic: bool,
    /// How the receiving level makes populations of the moments.
    pub to: Arrival<T>,
}

/// How a level makes populations of moments transferred from another one.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Arrival<T> {
    /// Factor from the stress before collision there to that before collision here: both are τ times the change of a step.
    pub scale: T,
    /// Share of it that collision leaves here, without an eddy viscosity.
    pub keep: T,
    /// Collision here.
    pub relax: Relaxation<T>,
}

#[expect(unsafe_code, reason = "plain data without padding")]
// SAFETY: plain data.
unsafe impl<T: Real> Zeroable for Arrival<T> {}
#[expect(unsafe_code, reason = "plain data without padding")]
// SAFETY: ten T and six u32 leave no padding: 64 or 104 bytes.
unsafe impl<T: Real> Pod for Arrival<T> {}

/// What populations after collision are as values that pass between levels, before collision.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Departure<T> {
    /// Relaxation time of the viscosity.
    pub tau: T,
    /// Share of the stress that collision has left; 0 where this is too little to divide by: then the stress is that of the
    /// gradient of the velocity.
    pub keep: T,
    /// Half a step of the acceleration.
    pub half_step: [T; 3],
}

#[expect(unsafe_code, reason = "plain data without padding")]
// SAFETY: plain data.
unsafe impl<T: Real> Zeroable for Departure<T> {}
#[expect(unsafe_code, reason = "plain data without padding")]
// SAFETY: five T leave no padding.
unsafe impl<T: Real> Pod for Departure<T> {}

/// A level, as it was before the mesh changed, that another level's populations are made from.
#[derive(Debug)]
pub struct Origin<'a, const D: usize, S: Storage, B: Backend> {
    /// Its tables.
    pub level: &'a Level<D, B>,
    /// Its populations.
    pub populations: &'a B::Buf<S>,
    /// How values leave it.
    pub departure: Departure<S::Real>,
    /// How they arrive.
    pub arrival: Arrival<S::Real>,
}

/// What the populations of a level are made of after the mesh has changed.
#[derive(Debug)]
pub struct Transfer<'a, const D: usize, S: Storage, B: Backend> {
    /// By slot.
    pub sources: &'a B::Buf<SlotSource>,
    /// By old block id its slot; [`NONE`](cutlink_amr::NONE) for blocks without populations of their own.
    pub slot_of: &'a B::Buf<u32>,
    /// The same level, if there was one.
    pub same: Option<&'a B::Buf<S>>,
    /// The coarser level; none for the root.
    pub coarser: Option<Origin<'a, D, S, B>>,
    /// The finer level, if there was one.
    pub finer: Option<Origin<'a, D, S, B>>,
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for cutlink_device::Host {}
    #[cfg(feature = "cuda")]
    impl Sealed for cutlink_device::cuda::Cuda {}
}

/// All stages; see the module's table. Sealed: kernels trust the tables of a level, which the crate alone makes, for
/// kernels on a GPU do not check their indices.
pub trait FlowKernels<const D: usize>:
    TopologyKernels<D>
    + StepKernels<D>
    + PopulationKernels<D>
    + FieldKernels<D>
    + HaloKernels<D>
    + HeatKernels<D>
    + GrainKernels<D>
    + sealed::Sealed
{
    /// Starts the flow of a plan on one rank a backend, or on one of several processes: what [`Plan::start`],
    /// [`Plan::start_ranks`] and [`Plan::start_linked`] call. Compiled once for a backend, in this crate.
    ///
    /// # Errors
    /// As those.
    fn start<'a>(
        ranks: &[Self],
        link: Option<Arc<dyn Communicator>>,
        plan: Plan<'a, D>,
    ) -> Result<Option<Box<dyn LatticeFlow<D> + 'a>>, SolverError>;
}

/// The stages of a time step. Sealed, as all of [`FlowKernels`].
pub trait StepKernels<const D: usize>: Backend + sealed::Sealed {
    /// Slip velocities of the level's modelled walls, for the step from these populations; see `wall_model.rs`.
    fn slip<L: Lattice, S: Storage>(
        &self,
        level: &mut Level<D, Self>,
        from: &Self::Buf<S>,
    ) -> Result<(), SolverError>;

    /// The force on each cell that friction of modelled walls acts on in the step from these populations; see `wall_model.rs`.
    fn friction<L: Lattice, S: Storage>(
        &self,
        level: &mut Level<D, Self>,
        from: &Self::Buf<S>,
    ) -> Result<(), SolverError>;

    /// Adds these forces after the step, to transferred moments too.
    fn drag<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        populations: &mut Self::Buf<S>,
        moments: &mut Self::Buf<S::Real>,
    ) -> Result<(), SolverError>;

    /// One step of a level: `to` from `from`, and the transferred `moments`. In exchanging slots
    /// odd moments relax with rate 1, elsewhere with [`Relaxation::odd`].
    fn step<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        relax: Relaxation<S::Real>,
        from: &Self::Buf<S>,
        to: &mut Self::Buf<S>,
        moments: &mut Self::Buf<S::Real>,
    ) -> Result<(), SolverError>;

    /// Relaxes the cells of one of the level's sponges towards its target after the step, transferred moments included.
    fn damp<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        damped: &Damped<Self>,
        half_step: [S::Real; 3],
        populations: &mut Self::Buf<S>,
        moments: &mut Self::Buf<S::Real>,
    ) -> Result<(), SolverError>;

    /// Ghost cells of the finer level's current populations, `to`, from the moments of the coarser one.
    fn interpolate<L: Lattice, S: Storage>(
        &self,
        between: &Between<'_, D, S::Real, Self>,
        moments: &Self::Buf<S::Real>,
        to: &mut Self::Buf<S>,
    ) -> Result<(), SolverError>;

    /// Cells of the coarser level's refined blocks that are not ghosts' parents: their populations after
    /// collision, `to`, and their `moments`, from the moments of the finer level.
    fn average<L: Lattice, S: Storage>(
        &self,
        between: &Between<'_, D, S::Real, Self>,
        fine_moments: &Self::Buf<S::Real>,
        to: &mut Self::Buf<S>,
        moments: &mut Self::Buf<S::Real>,
    ) -> Result<(), SolverError>;

    /// Adds the forces on a level's links, in units of the root lattice, to the [`SUMS`] values of each
    /// patch from `at` on; `fresh` sets them to 0 first. Slots are added up exactly, so that their order does not matter. `parts`
    /// has a capacity of as many for each slot of `Level::linked`.
    fn forces<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        from: &Self::Buf<S>,
        parts: &mut Self::Buf<f64>,
        at: usize,
        fresh: bool,
        sums: &mut Self::Buf<ExactSum>,
    ) -> Result<(), SolverError>;
}

/// Populations apart from steps: where they are, what they are after a change, their mass. Sealed, as all of [`FlowKernels`].
pub trait PopulationKernels<const D: usize>: Backend + sealed::Sealed {
    /// Where in its slot a population of a cell is.
    fn place<L: Lattice>(q: usize, cell: usize) -> usize {
        q * dims::cells(D) + cell
    }

    /// Values as 16-bit populations, as the other stages store them.
    fn narrow(&self, values: &Self::Buf<f32>) -> Result<Self::Buf<F16>, SolverError>;

    /// What 16-bit populations are, as the other stages load them.
    fn widen(&self, populations: &Self::Buf<F16>) -> Result<Self::Buf<f32>, SolverError>;

    /// All populations `to` of a level whose blocks have changed: copied, interpolated by parabolas that keep the mean of
    /// the coarser cell, or averaged, so that mass and momentum are kept. Cells of which nothing is known are at rest
    /// with density 1: nothing reads them. What another rank sends stays as it is.
    fn seed<L: Lattice, S: Storage>(
        &self,
        transfer: &Transfer<'_, D, S, Self>,
        to: &mut Self::Buf<S>,
    ) -> Result<(), SolverError>;

    /// Populations of cells that a body has uncovered, 4^D times the slot plus the cell, in ascending order: see `cpu/refill.rs`. Returns
    /// those that still wait, in order, which are all that no other cell's fluid is beside.
    fn refill<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        half_step: [f64; 3],
        waiting: &[u32],
        source: RefillSource,
        populations: &mut Self::Buf<S>,
    ) -> Result<Vec<u32>, SolverError>;

    /// By slot, the sum of density less 1 over the cells that are stepped and no ghosts.
    fn mass<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        from: &Self::Buf<S>,
    ) -> Result<Self::Buf<f64>, SolverError>;

    /// Multiplies all populations, their weights included, by a factor: densities change, velocities do not.
    fn rescale<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        factor: f64,
        populations: &mut Self::Buf<S>,
    ) -> Result<(), SolverError>;
}

/// Density and velocity of cells, and what is found of them. Sealed, as all of [`FlowKernels`].
pub trait FieldKernels<const D: usize>: Backend + sealed::Sealed {
    /// Density and velocity of some slots, 1 + D rows of 4^D a slot.
    fn macroscopic<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        slots: Range<usize>,
        half_step: [S::Real; 3],
        from: &Self::Buf<S>,
    ) -> Result<Self::Buf<f32>, SolverError>;

    /// The same of a list of slots, in its order.
    fn macroscopic_of<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        slots: &Self::Buf<u32>,
        half_step: [S::Real; 3],
        from: &Self::Buf<S>,
    ) -> Result<Self::Buf<f32>, SolverError>;

    /// Writes what [`macroscopic`](Self::macroscopic) gives for some slots, whose block ids are `blocks[slots]`, to densities by
    /// block id and cell, and to D rows of velocities.
    fn put_by_block(
        &self,
        values: &Self::Buf<f32>,
        blocks: &Self::Buf<u32>,
        slots: Range<usize>,
        density: &mut Self::Buf<f32>,
        velocity: &mut Self::Buf<f32>,
    ) -> Result<(), SolverError>;

    /// Gives refined blocks of a level the means of the children's cells that are fluid; where there are none, density 1 and
    /// velocity 0.
    fn fill_refined(
        &self,
        refined: &RefinedBlocks<Self>,
        density: &mut Self::Buf<f32>,
        velocity: &mut Self::Buf<f32>,
    ) -> Result<(), SolverError>;

    /// Adds a sample of density and velocity by block id and cell to `values`, which have the mean and the sum of squared
    /// deviations of density, then of each velocity, by block id and cell (Welford, Technometrics 4 (1962) 419). `share`: 1 over the
    /// number of samples with this one. Every backend gives the same bits.
    ///
    /// # Panics
    /// Where the lengths differ.
    fn accumulate(
        &self,
        density: &Self::Buf<f32>,
        velocity: &Self::Buf<f32>,
        share: f64,
        values: &mut Self::Buf<[f64; 2]>,
    ) -> Result<(), SolverError>;

    /// By slot, the largest squared speed of its cells; infinite where a value is not finite.
    fn fastest<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        from: &Self::Buf<S>,
    ) -> Result<Self::Buf<f32>, SolverError>;

    /// By slot, the largest value of an indicator over its cells that are stepped and no ghosts, of what
    /// [`macroscopic`](Self::macroscopic) gives for all slots.
    fn indicate(
        &self,
        level: &Level<D, Self>,
        what: Indicator,
        fields: &Self::Buf<f32>,
    ) -> Result<Self::Buf<f32>, SolverError>;

    /// Sums and extremes over the cells of some slots, of the values that [`macroscopic`](Self::macroscopic) gives; vorticity is of
    /// central differences. All cells of these slots are fluid, and so are those of the slots of this level beside each of their
    /// faces. The sums of a slot are in the order of its cells, those of slots exact.
    fn integrate<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        slots: &Self::Buf<u32>,
        half_step: [S::Real; 3],
        from: &Self::Buf<S>,
    ) -> Result<FluidSums, SolverError>;
}

/// What ranks exchange. Sealed, as all of [`FlowKernels`].
pub trait HaloKernels<const D: usize>: Backend + sealed::Sealed {
    /// Copies the numbers at some places of a buffer to another one, in the order of `places[range]`.
    ///
    /// # Errors
    /// As methods of [`Backend`].
    ///
    /// # Panics
    /// Where `to` has not as many numbers as the range.
    fn gather<T: Item>(
        &self,
        places: &Self::Buf<u64>,
        range: Range<usize>,
        from: &Self::Buf<T>,
        to: &mut Self::Buf<T>,
    ) -> Result<(), SolverError>;

    /// Copies numbers to some places of a buffer, each of them there once: the inverse.
    ///
    /// # Errors
    /// As methods of [`Backend`].
    ///
    /// # Panics
    /// Where `from` has not as many numbers as the range.
    fn scatter<T: Item>(
        &self,
        places: &Self::Buf<u64>,
        range: Range<usize>,
        from: &Self::Buf<T>,
        to: &mut Self::Buf<T>,
    ) -> Result<(), SolverError>;

    /// Sends what other ranks wait for on some levels and takes what they send, from device to device. Every rank does this at the
    /// same place of its work. May be recorded.
    ///
    /// # Errors
    /// As methods of [`Backend`].
    fn exchange<T: Item>(
        &self,
        link: &Self::Link,
        levels: &mut [Listed<'_, T, Self>],
    ) -> Result<(), SolverError>;
}
