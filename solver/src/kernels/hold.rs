//! The stages of grains (decision 073): the fluid of cells in and beside them is drawn to their motion.

use crate::{SolverError, grains::Reach, lattice::Lattice, storage::Storage, tables::Level};
use bytemuck::{Pod, Zeroable};
use cutlink_device::Backend;

/// A grain, in cells and steps of the finest level.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct HeldSphere {
    /// Centre, from the lower corner of the box.
    pub center: [f64; 3],
    /// Radius.
    pub radius: f64,
    /// Velocity.
    pub velocity: [f64; 3],
    /// Angular velocity.
    pub spin: [f64; 3],
}

/// Numbers of a level with grains.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct HoldNumbers {
    /// Kinematic viscosity, cells squared a step.
    pub viscosity: f64,
    /// Cells by which grains are smaller for the fluid than they are.
    pub inset: f64,
    /// Cells after which the box repeats along each axis; 0 where it does not.
    pub period: [f64; 3],
}

/// The nearest image of a distance along an axis on which the box repeats after so many cells; 0 where it does not.
pub(crate) fn nearest_image(x: f64, period: f64) -> f64 {
    if period > 0.0 {
        x - period * (x / period).round()
    } else {
        x
    }
}

/// Lists of blocks and grains where a backend has them.
#[derive(Debug)]
pub struct HoldTables<B: Backend> {
    /// Slots that grains reach into, ascending.
    pub slots: B::Buf<u32>,
    /// By such a slot the first of its pairs; one more.
    pub starts: B::Buf<u32>,
    /// By pair the grain.
    pub grains: B::Buf<u32>,
    /// By grain the first of its pairs in `pairs`; one more.
    pub firsts: B::Buf<u32>,
    /// By grain its pairs, ascending.
    pub pairs: B::Buf<u32>,
}

impl<B: Backend> HoldTables<B> {
    pub(crate) fn upload(backend: &B, of: &Reach) -> Result<Self, SolverError> {
        let up = |of: &Vec<u32>| backend.upload(of.clone());
        Ok(Self {
            slots: up(&of.slots)?,
            starts: up(&of.starts)?,
            grains: up(&of.grains)?,
            firsts: up(&of.firsts)?,
            pairs: up(&of.pairs)?,
        })
    }
}

/// The stages of grains. Sealed, as all of [`FlowKernels`](super::FlowKernels).
pub trait GrainKernels<const D: usize>: Backend + super::sealed::Sealed {
    /// Draws the fluid of cells in and beside grains to their motion: the difference of two equilibria. `given` gets by pair of slot
    /// and grain the momentum that the fluid got, and its moment about the centre: six numbers.
    #[expect(clippy::too_many_arguments, reason = "what a step has of them")]
    fn hold_cells<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        tables: &HoldTables<Self>,
        spheres: &Self::Buf<HeldSphere>,
        numbers: HoldNumbers,
        half_step: [S::Real; 3],
        populations: &mut Self::Buf<S>,
        given: &mut Self::Buf<f64>,
    ) -> Result<(), SolverError>;

    /// Sums of these by grain, in the order of its pairs: six numbers each.
    fn sum_given(
        &self,
        tables: &HoldTables<Self>,
        given: &Self::Buf<f64>,
        sums: &mut Self::Buf<f64>,
    ) -> Result<(), SolverError>;
}
