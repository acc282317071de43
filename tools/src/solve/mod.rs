//! Flows, in the user's units: a case as written ([`case`]), and with nothing left open ([`resolve`], what it
//! writes [`outputs`]); the run (`run`, `begin`), what it will take (`sheet`), what it tells (`notes`, `history`, `means`, `energy`, `bulk`), whether it goes wrong (`watch`,
//! `hints`), what coefficients are of (`reference`), and ready cases (`example`).

mod begin;
mod bulk;
pub mod case;
pub mod checkpoint;
mod conditions;
mod energy;
mod example;
mod hints;
mod history;
mod means;
mod notes;
pub mod outputs;
mod reference;
pub mod resolve;
pub(crate) mod run;
mod sheet;
#[cfg(test)]
mod tests;
pub mod units;
mod watch;
