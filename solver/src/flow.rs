//! A running flow of any lattice, precision and backend.

use crate::{
    AdaptationLook, BodyState, HeatSums, MotionSample, RunningMeans, SolverError, fields::Integrals,
};
use cutlink_device::{Exported, Route};
use cutlink_grains::Bed;
use cutlink_voxelizer::Mesh;
use std::io;

/// What passes between the fluid and each patch, at one root step.
///
/// Units of the root lattice (density 1, Δx = Δt = 1; in 2D a force a unit of depth), by
/// momentum exchange; the reference pressure (density 1) is not in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ForceSample {
    /// Root steps done.
    pub step: u64,
    /// By patch: force x, y, z and torque x, y, z about the moment centre, of the fluid on the patch.
    pub patches: Vec<[f64; 6]>,
    /// By patch: mass that enters the fluid, a root step. Walls at rest exchange a little too where the scheme interpolates.
    pub inflow: Vec<f64>,
}

/// Density and velocity of every cell.
#[derive(Debug, Clone)]
pub struct Snapshot<const D: usize> {
    /// Root steps done.
    pub step: u64,
    /// By block id and cell, 4^D a block; refined blocks hold the means of their fluid children,
    /// solid cells 1.
    pub density: Vec<f32>,
    /// By axis, likewise, in Δx / Δt (the same number on each level); solid cells 0.
    pub velocity: [Vec<f32>; D],
}

/// Of no cell: what [`LatticeFlow::update`] begins with.
impl<const D: usize> Default for Snapshot<D> {
    fn default() -> Self {
        Self {
            step: 0,
            density: Vec::new(),
            velocity: [const { Vec::new() }; D],
        }
    }
}

/// Density and velocity of every cell, in the memory of a device: as [`Snapshot`], for other libraries.
#[derive(Debug)]
pub struct DeviceFields {
    /// Root steps done.
    pub step: u64,
    /// By block id and cell.
    pub density: Exported<f32>,
    /// By axis, block id and cell.
    pub velocity: Exported<f32>,
}

/// Parts of a step whose time is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Work {
    /// Collision and streaming.
    Step,
    /// Ghost cells from the coarser level.
    Interpolate,
    /// Interface cells to the coarser level.
    Average,
    /// Forces.
    Forces,
    /// Messages between ranks, their packing included.
    Exchange,
    /// Bodies that move: where they are, and the masks and cut links there.
    Embed,
    /// The tables of the finest level with bodies at other places.
    Tables,
    /// Populations of cells that bodies have uncovered.
    Refill,
    /// Grains: cells in and beside them, and their own steps.
    Grains,
}

/// Timing of one kind of work on one level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lap {
    /// The work.
    pub work: Work,
    /// The level; of the exchange between two, the finer one.
    pub level: usize,
    /// Seconds in all of the measured steps; of several ranks those of the one that takes longest.
    pub seconds: f64,
    /// The mean over ranks.
    pub mean: f64,
}

/// The fluid at a place, in units of the root lattice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FluidState<const D: usize> {
    /// Density.
    pub density: f64,
    /// Velocity.
    pub velocity: [f64; D],
    /// Rate of strain (∂u_a/∂x_b + ∂u_b/∂x_a) / 2, symmetric, in 1 / Δt.
    pub strain: [[f64; D]; D],
}

impl<const D: usize> FluidState<D> {
    /// Fluid that is not strained: its populations are those of the equilibrium.
    pub fn unstrained((density, velocity): (f64, [f64; D])) -> Self {
        Self {
            density,
            velocity,
            strain: [[0.0; D]; D],
        }
    }
}

/// Rates of strain of every cell.
#[derive(Debug, Clone, PartialEq)]
pub struct StrainRates<const D: usize> {
    /// xx, xy, yy; in 3D xx, xy, xz, yy, yz, zz: each by block id and cell, 4^D a block, in 1 / Δt of the root level. Refined
    /// blocks have the means of their children; solid cells 0.
    pub pairs: Vec<Vec<f32>>,
}

/// The fluid at a position.
pub type StrainedState<'a, const D: usize> = dyn Fn([f64; D]) -> FluidState<D> + Sync + 'a;

/// Density and velocity at a position.
pub type InitialState<'a, const D: usize> = dyn Fn([f64; D]) -> (f64, [f64; D]) + Sync + 'a;

/// A running flow. Steps are root steps: level ℓ does 2^ℓ in each.
pub trait LatticeFlow<const D: usize>: Send {
    /// Root steps done.
    fn steps(&self) -> u64;

    /// Advances by so many root steps. On a GPU this returns before they are done.
    fn advance(&mut self, steps: u64) -> Result<(), SolverError>;

    /// Waits until all steps are done.
    fn wait(&self) -> Result<(), SolverError>;

    /// Forces are summed at root steps that are multiples of `every` (at least 1, which is the default) and at the last one of each
    /// [`advance`](Self::advance).
    fn sample_forces_every(&mut self, every: u64);

    /// Forces of the root steps since the last call at which they were summed, oldest first; waits for them. Call it at
    /// least every [`MAX_FORCE_SAMPLES`](crate::MAX_FORCE_SAMPLES) of these: older ones are lost.
    fn take_forces(&mut self) -> Result<Vec<ForceSample>, SolverError>;

    /// Whether all values are finite and no speed is beyond that of sound: else
    /// [`SolverError::Diverged`], with the place.
    fn check(&self) -> Result<(), SolverError>;

    /// Density and velocity now.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    fn snapshot(&self) -> Result<Snapshot<D>, SolverError> {
        let mut snapshot = Snapshot::default();
        self.update(None, &mut snapshot)?;
        Ok(snapshot)
    }

    /// Brings a snapshot up to date, in its own memory, from an empty one on: new memory often takes longer than what is put there.
    /// All of it, or some blocks by id, the descendants of refined ones among them; others keep what they have. Costs what these
    /// blocks cost; with several ranks, as much as all.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    ///
    /// # Panics
    /// On ids that [`mesh`](Self::mesh) does not have.
    fn update(&self, blocks: Option<&[u32]>, snapshot: &mut Snapshot<D>)
    -> Result<(), SolverError>;

    /// Means and extremes of the fluid: as [`fields::integrals`](crate::fields::integrals()) of a [`snapshot`](Self::snapshot), to
    /// the bit. Brings blocks of a snapshot up to date as [`update`](Self::update) does: those requested, and what is needed. Blocks
    /// with nothing but fluid in them and beside them are added up where the flow is stepped, and not copied; with several ranks,
    /// all blocks are.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    ///
    /// # Panics
    /// On ids that [`mesh`](Self::mesh) does not have.
    fn integrals(
        &self,
        blocks: &[u32],
        snapshot: &mut Snapshot<D>,
    ) -> Result<Integrals, SolverError>;

    /// As [`snapshot`](Self::snapshot), in the memory of the device that steps the flow; of the host, where several ranks do. Takes
    /// 4 (1 + D) bytes a cell of it.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    fn device_fields(&self) -> Result<DeviceFields, SolverError>;

    /// Adds density and velocity now, as [`snapshot`](Self::snapshot) has them, to running means. These move into the memory of the
    /// device that steps the flow, and stay there: a sample costs no copy to the host, and on a GPU no wait. Several ranks have their
    /// means on the host, where a sample costs as much as a snapshot; the bits are the same. Takes
    /// [`RunningMeans::BYTES`] a cell.
    ///
    /// # Errors
    /// Where memory is short or the device fails; [`SolverError::State`] where the means are of another number of cells.
    fn sample(&self, means: &mut RunningMeans<D>) -> Result<(), SolverError>;

    /// Sets density and velocity (in units of the root lattice) at the position of each cell (in
    /// root cells from the lower corner), populations to their equilibrium, and the time to zero. With an adaptation, the
    /// mesh is fitted to this state, by as many looks as there are levels.
    fn set(&mut self, at: &InitialState<'_, D>) -> Result<(), SolverError> {
        self.set_strained(&|x| FluidState::unstrained(at(x)))
    }

    /// As [`set`](Self::set), with the viscous stress of the rate of strain in the populations: -2 ρ τ S / 3 before collision, with
    /// the relaxation time of each level. A flow that goes on from another one starts without the loss of kinetic energy, and without
    /// the sound, of a start from equilibrium.
    fn set_strained(&mut self, at: &StrainedState<'_, D>) -> Result<(), SolverError>;

    /// Counts the state as that after so many root steps: conditions that change in time are those of that time from here on. For a flow
    /// that goes on from another one with another time step.
    ///
    /// # Errors
    /// Where the device fails.
    fn set_steps(&mut self, steps: u64) -> Result<(), SolverError>;

    /// Rates of strain now, with the snapshot of this step: from the stress of the populations; on levels where collision leaves less than
    /// an eighth of it (τ near 1), and with an eddy viscosity, from the gradient of the velocity ([`gradient`](crate::fields::gradient())),
    /// which is of first order beside walls.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    ///
    /// # Panics
    /// Where the snapshot is of another mesh.
    fn strain_rates(&self, now: &Snapshot<D>) -> Result<StrainRates<D>, SolverError>;

    /// As [`set`](Self::set), for a state that is the same everywhere: faster, since nothing is computed by cell.
    fn set_uniform(&mut self, density: f64, velocity: [f64; D]) -> Result<(), SolverError>;

    /// The mesh as it is now: that of the plan, until it is adapted. Block ids are those of its forest, which are other ones after
    /// each change. Copied from a device where it was changed there and this is the first call since.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    fn mesh(&self) -> Result<&Mesh<D>, SolverError>;

    /// How messages reach other ranks, if there are any: by what, from device to device; or through host memory, and for devices
    /// why.
    fn messages(&self) -> Option<Route<String>>;

    /// Compares the tables of all levels, bit for bit, with those that the host makes of [`mesh`](Self::mesh). Does not look at
    /// populations ([`check`](Self::check)). Cost: as the set-up of a flow, and a copy of the tables.
    ///
    /// # Errors
    /// [`SolverError::Tables`] with the first difference; as [`mesh`](Self::mesh).
    fn validate(&self) -> Result<(), SolverError>;

    /// Changes of the mesh so far, embeddings of bodies among them: what was derived from [`mesh`](Self::mesh) holds for one number.
    fn epoch(&self) -> u64;

    /// What [`Adaptation`](crate::Adaptation) has found and done since the last call, oldest first.
    fn take_looks(&mut self) -> Vec<AdaptationLook>;

    /// The bodies that move, as they are now; none without [`Plan::with_bodies`](crate::Plan::with_bodies).
    fn bodies(&self) -> &[BodyState<D>] {
        &[]
    }

    /// Where the bodies were at the root steps since the last call, with the means of their forces, oldest first. Call it at least every
    /// [`MAX_FORCE_SAMPLES`](crate::MAX_FORCE_SAMPLES) root steps: older ones are lost.
    fn take_motion(&mut self) -> Vec<MotionSample<D>> {
        Vec::new()
    }

    /// The grains, as they are now; none without [`Plan::with_grains`](crate::Plan::with_grains).
    fn bed(&self) -> Option<&Bed> {
        None
    }

    /// Force and torque about the centre of the fluid on each grain in the last step of the finest level, N and N m: without weight and
    /// buoyancy. Where the flow has an acceleration, that of the displaced fluid is in the force, as of a gradient of the pressure.
    fn grain_loads(&self) -> Vec<[[f64; 3]; 2]> {
        Vec::new()
    }

    /// Updates of leaf cells in a root step on the mesh as it is now (J25 eq. 25).
    fn updates(&self) -> u64;

    /// What bringing the mean density back to 1 ([`Plan::holds_density`](crate::Plan::holds_density)) has taken away so far, as a
    /// share of the fluid's mass: below 0 where the walls have lost mass, 0 where nothing is held. A flow that goes on from a saved
    /// state goes on with its sum.
    fn mass_reset(&self) -> f64;

    /// Writes all that [`restore`](Self::restore) needs to go on bit for bit: steps, populations, and with an adaptation the
    /// blocks. Says nothing of the plan's mesh and parameters, which have to be the same.
    fn save(&self, out: &mut dyn io::Write) -> Result<(), SolverError>;

    /// Takes the place of a flow that was saved.
    fn restore(&mut self, from: &mut dyn io::Read) -> Result<(), SolverError>;

    /// Sets the temperature of each cell, by its position in root cells from the lower corner of the box, and what has come through
    /// faces and patches to 0. Until then it is the reference.
    ///
    /// # Errors
    /// [`SolverError::State`] in a flow without heat; where memory is short or the device fails.
    fn set_temperature(
        &mut self,
        _at: &(dyn Fn([f64; D]) -> f64 + Sync),
    ) -> Result<(), SolverError> {
        Err(crate::heat::without())
    }

    /// Temperatures now, by block id and cell; refined blocks have the means of their fluid children, solid cells the reference.
    ///
    /// # Errors
    /// [`SolverError::State`] in a flow without heat; where memory is short or the device fails.
    fn temperature(&self, _to: &mut Vec<f32>) -> Result<(), SolverError> {
        Err(crate::heat::without())
    }

    /// Sums over the temperature now; none in a flow without heat. Costs a copy of all temperatures.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    fn heat(&self) -> Result<Option<HeatSums>, SolverError> {
        Ok(None)
    }

    /// Does so many root steps and times each piece of work, which takes time itself.
    fn laps(&mut self, steps: u64) -> Result<Vec<Lap>, SolverError>;
}
