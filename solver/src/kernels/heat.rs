//! The stages of heat (decision 071): what moves a temperature, what levels share of it, and its weight.
//!
//! Temperatures are beyond the reference, `t[4^D slot + cell]`; all arithmetic is in f64, whatever the populations are.

use crate::{
    SolverError,
    heat::tables::{HeatBetween, HeatTables},
    lattice::Lattice,
    storage::Storage,
    tables::Level,
};
use cutlink_device::Backend;

/// What a step of a level's heat reads.
#[derive(Debug)]
pub struct HeatLevel<'a, const D: usize, B: Backend> {
    /// The level.
    pub level: &'a Level<D, B>,
    /// Tables of its heat.
    pub tables: &'a HeatTables<B>,
    /// Its diffusivity, in cells squared a step.
    pub diffusivity: f64,
    /// Momentum, D rows of 4^D a slot.
    pub momentum: &'a B::Buf<f64>,
}

/// The stages of heat. Sealed, as all of [`FlowKernels`](super::FlowKernels).
pub trait HeatKernels<const D: usize>: Backend + super::sealed::Sealed {
    /// Momentum of all cells with a temperature, D rows of 4^D a slot.
    fn momentum<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        half_step: [S::Real; 3],
        from: &Self::Buf<S>,
        to: &mut Self::Buf<f64>,
    ) -> Result<(), SolverError>;

    /// One step of the temperatures of a level: `to` from `from`, with what is not stepped. Adds to `given`, by face of
    /// the tables, what has come through it, in temperatures of the cell.
    fn carry(
        &self,
        heat: &HeatLevel<'_, D, Self>,
        from: &Self::Buf<f64>,
        to: &mut Self::Buf<f64>,
        given: &mut Self::Buf<f64>,
    ) -> Result<(), SolverError>;

    /// Adds the temperatures' weight to populations: the difference of two equilibria, whose velocities differ by `lift` times
    /// the temperature.
    fn lift<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        tables: &HeatTables<Self>,
        lift: [f64; 3],
        temperature: &Self::Buf<f64>,
        populations: &mut Self::Buf<S>,
    ) -> Result<(), SolverError>;

    /// Ends the step of a coarser level: means of the finer cells, and what has passed from these, `given`, which is 0 then.
    fn restrict(
        &self,
        shared: &HeatBetween<Self>,
        fine: &Self::Buf<f64>,
        given: &mut Self::Buf<f64>,
        coarse: &mut Self::Buf<f64>,
    ) -> Result<(), SolverError>;

    /// Ghost cells of a finer level, by parabolas whose mean is the coarser cell's.
    fn prolong(
        &self,
        shared: &HeatBetween<Self>,
        coarse: &Self::Buf<f64>,
        fine: &mut Self::Buf<f64>,
    ) -> Result<(), SolverError>;
}
