//! Flows, in the user's units: a case as written ([`case`]; values that may be expressions: [`value`], `expression`), and with
//! nothing left open ([`resolve`]; faces and patches: `conditions`, velocities over them: `inflow`, `profile`, what these deliver: `delivery`, layers before them: `sponge`; lattice and collision: `numerics`; the start:
//! `initial`, `earlier`; what it writes: [`outputs`]); the run (`run`, `begin`), what it will take (`sheet`), what it tells (`notes`,
//! `history`, `means`, `energy`, `integrals`, `bulk`, `parts`, `recirculation`), whether it goes wrong (`watch`, `hints`), what coefficients are of (`reference`), and
//! ready cases (`example`).

mod begin;
mod bulk;
pub mod case;
pub mod checkpoint;
mod conditions;
mod delivery;
mod earlier;
mod energy;
mod example;
mod expression;
mod hints;
mod history;
mod inflow;
mod initial;
mod integrals;
mod means;
mod notes;
mod numerics;
pub mod outputs;
mod parts;
mod profile;
mod recirculation;
mod reference;
pub mod resolve;
pub(crate) mod run;
mod sheet;
mod sponge;
#[cfg(test)]
mod tests;
pub mod units;
pub mod value;
mod watch;
