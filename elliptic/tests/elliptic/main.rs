//! The operator, the cycle and the solve against oracles of their own: geometry of pairs of cells, dense elimination,
//! exact solutions.

#[path = "../../../tests/kit/worst.rs"]
mod worst;

mod convergence;
mod dense;
mod mesh;
mod refusals;
mod symmetry;
