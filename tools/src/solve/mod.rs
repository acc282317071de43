//! What a run of the solver is made of, in the user's units.

pub mod checkpoint;
pub mod units;
