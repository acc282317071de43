//! What a run of the solver is made of, in the user's units: a case as written ([`case`]), and with
//! nothing left open ([`resolve`]).

pub mod case;
pub mod checkpoint;
mod conditions;
mod energy;
mod example;
mod history;
pub mod outputs;
pub mod resolve;
pub(crate) mod run;
mod sheet;
#[cfg(test)]
mod tests;
pub mod units;
