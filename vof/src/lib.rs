//! Two-phase flow of incompressible fluids with a sharp interface, on the leaves of a forest.
//!
//! | quantity | layout | unit |
//! |---|---|---|
//! | volume fraction of the liquid, velocity, pressure | `[block][4^D]`, cells x fastest | 1, m/s, Pa |
//! | velocity through faces | [`faces`](cutlink_elliptic::faces): each block has all faces of its cells | m/s |
//! | pressure | less the weight `ρ g·x` of the cell's own fluid | Pa |
//!
//! A step: volume and momentum move by split geometric fluxes (`sweep`), viscosity is implicit, surface tension and
//! weight act on faces ([`balance of forces`](TwoPhaseFlow::step)), and a projection makes the face velocities free of
//! divergence. Interfaces are on the finest level, which is checked in each step; a mesh may
//! [follow](TwoPhaseFlow::follow) them. Bodies are solid cells.
//!
//! Results are the same bits for any number of threads, and with the steps on an NVIDIA GPU (`TwoPhaseFlow::on`, feature
//! `cuda`). Start, adaptation, integrals and loads are the CPU's.

#[cfg(test)]
#[path = "../../tests/kit/worst.rs"]
mod worst;

mod adapt;
mod advance;
#[cfg(feature = "cuda")]
mod apart;
mod coarseness;
mod compiled;
mod constants;
mod contact;
mod curvature;
mod equations;
mod error;
mod flow;
mod forces;
mod grain_cells;
mod grains;
mod heat;
mod heat_flow;
mod heat_host;
mod heat_params;
mod heat_step;
mod heights;
mod integrals;
mod interface;
mod kernels;
mod lines;
mod loads;
mod mesh;
mod normal;
mod overlap;
mod params;
mod penalty;
pub mod plane;
mod project;
mod restrict;
mod running;
pub mod shape;
mod surface;
mod survey;
mod sweep;
mod transfer;
mod turning;
mod vector;
mod velocity;
mod viscous;

pub use adapt::{InterfaceAdaptation, InterfaceLook, LookParts};
pub use advance::{Advanced, BoxWeight};
pub use coarseness::Coarseness;
pub use error::TwoPhaseError;
pub use flow::{StepDone, TwoPhaseFlow, TwoPhaseState};
pub use grains::{GrainCoupling, GrainMotion, step_of_bed};
pub use heat_params::{HeatAccount, HeatParams, WallHeat};
pub use integrals::PhaseIntegrals;
pub use loads::FluidLoad;
pub use mesh::FlowMesh;
pub use params::{BoxFace, FlowParams, Phases};
pub use shape::LiquidShape;
pub use surface::ClosedSurface;
pub use turning::Turning;

/// # Errors
/// A parameter that is not sound, or NaN.
pub(crate) fn check(
    what: &'static str,
    value: f64,
    is_sound: bool,
    expected: &'static str,
) -> Result<(), TwoPhaseError> {
    if is_sound {
        return Ok(());
    }
    Err(TwoPhaseError::Parameter {
        what,
        value,
        expected,
    })
}
