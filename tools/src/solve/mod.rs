//! Flows, in the user's units: a case as written ([`case`]; values that may be expressions: [`value`], `expression`), and with nothing left
//! open ([`resolve`]; faces and patches: `conditions`, velocities over them: `inflow`, `profile`; the start: `initial`; what it
//! writes: [`outputs`]); the run (`run`), what it will take (`sheet`), what it tells (`notes`, `history`, `energy`), and ready cases
//! (`example`).

pub mod case;
pub mod checkpoint;
mod conditions;
mod energy;
mod example;
mod expression;
mod history;
mod inflow;
mod initial;
mod notes;
pub mod outputs;
mod profile;
pub mod resolve;
pub(crate) mod run;
mod sheet;
#[cfg(test)]
mod tests;
pub mod units;
pub mod value;
