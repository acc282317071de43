//! Flows, in the user's units: a case as written ([`case`]), and with nothing left open ([`resolve`], what it
//! writes [`outputs`]); the run (`run`), what it will take (`sheet`), what it tells (`notes`, `history`, `energy`), and ready cases
//! (`example`).

pub mod case;
pub mod checkpoint;
mod conditions;
mod energy;
mod example;
mod history;
mod notes;
pub mod outputs;
pub mod resolve;
pub(crate) mod run;
mod sheet;
#[cfg(test)]
mod tests;
pub mod units;
