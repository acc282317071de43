//! Interface and flow against exact shapes, balances and published values.

#[path = "../../../tests/kit/worst.rs"]
mod worst;

mod adaptation;
mod advection;
mod curvature;
mod flow;
mod mesh;
mod refusals;
mod tension;
