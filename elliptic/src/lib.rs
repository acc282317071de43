//! Elliptic equations on a forest: the sum over a cell's faces of `T (x - x_beside)`, plus `diagonal · x`, equals `b`.
//!
//! | quantity | layout |
//! |---|---|
//! | values of cells | `[block][4^D]`, block ids of a contiguous [`Forest`](cutlink_amr::Forest), cells x fastest |
//! | values of faces | `[block][axis][5 · 4^(D-1)]`: each block has all faces of its cells, see [`faces`] |
//! | `T`, conductance of a face | coefficient × area / distance of the centres; 0 closes the face |
//! | `b` | integrated over the cell |
//!
//! Unknowns are the cells of leaves. Blocks with children hold the coarser grids of the multigrid; what a caller has
//! there is ignored. At a level jump a fine face's distance is 3/4 of the coarse cell, and both cells see the same flux,
//! so the operator is symmetric (two-point flux; Losasso, Gibou, Fedkiw 2004, §3), and of first order there;
//! [`solve_corrected`](EllipticOperator::solve_corrected) is of second order. A face of the box is closed (`T` = 0)
//! or has a value: `T` to the wall, zero there, its part of `b` added by the caller.
//!
//! [`EllipticOperator::solve`] is conjugate gradients in f64, preconditioned by one symmetric V-cycle: Chebyshev
//! smoothing of a level's cells and one layer of coarser cells around, sums of residuals downwards, constant transfer
//! upwards, coefficients of coarse faces the mean of their fine faces'. Below the root level the root grid is halved.
//!
//! Results are the same bits for any number of threads and on an NVIDIA GPU (feature `cuda`): sums have a fixed order, see
//! [`ordered_sum`]. The crate knows no fluid.

mod blocks;
mod box_grid;
mod cg;
mod constants;
mod cycle;
mod error;
pub mod faces;
mod jumps;
mod kernels;
mod layers;
mod operator;
mod regions;

pub use blocks::{Beside, Blocks};
pub use cg::{SolveWork, Solved, Stop};
pub use constants::SUM_LANES;
pub use error::EllipticError;
#[cfg(feature = "cuda")]
pub use kernels::cuda::{BlockAddresses, DeviceBlocks};
pub use kernels::{CycleKernels, EllipticKernels, EllipticTables, PrepareKernels, VectorKernels};
pub use kernels::{block_sum, ordered_sum};
pub use operator::EllipticOperator;
