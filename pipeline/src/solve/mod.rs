//! Flows, in the user's units: from a case to forces, fields, checkpoints and a summary.
//!
//! - A case as written: [`case`], with values that may be expressions ([`value`]; evaluated by [`cutlink_prescribed`]) and examples
//!   (`example`). Surfaces that tables name: `placed`.
//! - Resolved: [`resolve`]; faces and patches in `conditions`, velocities over them in `inflow`,
//!   turbulence at inlets in `turbulence`, their fluxes in `delivery`, sponge layers in `sponge`; lattice and collision in `numerics`; the initial state in
//!   `initial` and `earlier`; reference values in `reference`; outputs in [`outputs`].
//! - A mesh that follows the flow: `adapt`. Bodies that move: `motion`.
//! - The flow of a case, behind the door of every physics ([`cutlink_flow`], which has the run loop): `lattice`. One run at
//!   a time in a folder (`lock`), without results of an earlier one (`leftovers`); its forecast in `sheet`, and before there
//!   is a mesh in `estimate`, with the wall units of `wall_units`; its notes in `notes`.
//! - Its results: `history`, `means`, `energy`, `integrals`, `bulk`, `parts`, `recirculation`.
//! - Compressible flows, with tables and a run of their own: [`flux`]; a liquid and a gas: [`two_phase`];
//!   grains: [`grains`], with spheres by `particles`.
//! - The error to expect, and the numerics that keep it small: `laws`.
//! - Detection of divergence: `watch`, with remedies in `hints`; whether the result can be trusted: `verdict`.

pub(crate) mod adapt;
mod blocks;
pub mod case;
mod conditions;
mod delivery;
mod earlier;
mod energy;
mod estimate;
pub mod example;
pub mod flux;
pub mod grains;
mod heat;
mod hints;
mod inflow;
mod initial;
mod integrals;
mod lattice;
mod laws;
mod motion;
mod notes;
mod numerics;
mod outcome;
pub mod outputs;
mod particles;
mod placed;
mod recirculation;
pub(crate) mod reference;
pub mod resolve;
pub mod schema;
mod shares;
mod sheet;
mod sponge;
mod turbulence;
pub mod two_phase;
pub mod units;
pub mod value;
pub(crate) mod verdict;
mod wall_units;

pub use case::Case;
pub use estimate::{EstimateOptions, FlowEstimate};
pub use flux::{AnyCase, FluxCase, SolverKind, SolverTable};
pub use grains::GrainsCase;
pub use heat::{GravityTable, HeatTable};
pub use particles::ParticlesTable;
pub use two_phase::TwoPhaseCase;
