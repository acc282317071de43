//! What runs on a backend: the stages of a solve. The orchestration is in `operator.rs`, `cycle.rs` and `cg.rs`.

#[cfg(feature = "cuda")]
pub(crate) mod cuda;
mod host;

pub(crate) use host::{TILE, Tile, in_tile, sum_children, tile};
pub use host::{block_sum, ordered_sum};

use crate::cg::Arrays;
use crate::layers::CoarseLayers;
use crate::regions::OpenFaces;
use crate::{Blocks, EllipticError, EllipticOperator};
use cutlink_device::Backend;
use std::fmt::Debug;

mod sealed {
    pub trait Sealed {}

    impl Sealed for cutlink_device::Host {}
    #[cfg(feature = "cuda")]
    impl Sealed for cutlink_device::cuda::Cuda {}
}

/// Kernels of elliptic equations, in groups; arrays are those of [the crate](crate). Each backend gives the same bits. Sealed:
/// kernels on a GPU trust the tables, which this crate alone makes.
///
/// # Errors
/// All methods of all groups: what the backend's device reports.
pub trait EllipticKernels<const D: usize>:
    PrepareKernels<D> + CycleKernels<D> + VectorKernels<D>
{
}

/// What a backend keeps of blocks.
pub trait EllipticTables<const D: usize>: Backend + sealed::Sealed {
    /// What kernels read of blocks.
    type Tables: Debug + Send + Sync;

    /// What kernels read of leaves beside finer ones.
    type Lists: Debug + Send + Sync;

    /// Makes the tables of blocks.
    fn tables(&self, blocks: &Blocks<D>) -> Result<Self::Tables, EllipticError>;

    #[doc(hidden)]
    fn lists(&self, layers: &CoarseLayers) -> Result<Self::Lists, EllipticError>;
}

/// What comes before a solve: values of refined blocks, checks, and what is made of the coefficients.
pub trait PrepareKernels<const D: usize>: EllipticTables<D> {
    /// Values of faces of refined blocks, and of leaves beside finer ones, from the fine faces: their sum times `factor[0]`, or
    /// times `factor[1]` where the fine faces are at a level jump. Levels from fine to coarse.
    fn restrict_faces(
        &self,
        blocks: &Blocks<D>,
        tables: &Self::Tables,
        values: &mut Self::Buf<f64>,
        factor: [f64; 2],
    ) -> Result<(), EllipticError>;

    /// Values of cells of refined blocks from their children's: the sum of each times a share. Levels from fine to
    /// coarse.
    fn restrict_cells(
        &self,
        blocks: &Blocks<D>,
        tables: &Self::Tables,
        values: &mut Self::Buf<f64>,
        share: f64,
    ) -> Result<(), EllipticError>;

    /// By block, bits of the faces that are open, and behind them of the cells that a diagonal holds.
    #[doc(hidden)]
    fn open_faces(
        &self,
        blocks: &Blocks<D>,
        conductance: &Self::Buf<f64>,
        diagonal: &Self::Buf<f64>,
    ) -> Result<Vec<OpenFaces>, EllipticError>;

    /// The first leaf that has a negative, infinite or NaN value; `per` values a block.
    fn first_bad(
        &self,
        blocks: &Blocks<D>,
        tables: &Self::Tables,
        values: &Self::Buf<f64>,
        per: usize,
    ) -> Result<Option<usize>, EllipticError>;

    /// The first leaf of which a face would be opened or closed by other conductances. Faces beside finer blocks follow from
    /// those.
    fn first_opened(
        &self,
        op: &EllipticOperator<D, Self>,
        conductance: &Self::Buf<f64>,
    ) -> Result<Option<usize>, EllipticError>;

    /// One over the diagonal of all cells on their own level, and of coarse layers with the finer faces.
    fn inverses(&self, op: &mut EllipticOperator<D, Self>) -> Result<(), EllipticError>;

    /// The least share of the diagonal in what multiplies a cell's value, of leaves' cells that are unknowns; 1 where there are none.
    fn least_share(&self, op: &EllipticOperator<D, Self>) -> Result<f64, EllipticError>;

    /// Conductances of the grids below the root level, and the matrix of the coarsest one.
    fn fill_boxes(&self, op: &mut EllipticOperator<D, Self>) -> Result<(), EllipticError>;
}

/// The multigrid cycle.
pub trait CycleKernels<const D: usize>: EllipticTables<D> {
    /// The cycle's right side from the residual, on leaves; a correction of zero.
    fn begin_cycle(
        &self,
        op: &EllipticOperator<D, Self>,
        w: &mut Arrays<Self>,
    ) -> Result<(), EllipticError>;

    /// Puts the right side of a level's coarse layers aside.
    fn save_layers(
        &self,
        op: &EllipticOperator<D, Self>,
        level: usize,
        w: &mut Arrays<Self>,
    ) -> Result<(), EllipticError>;

    /// The smoother on a level and its coarse layers; whether the solution is zero. On the way up it comes after `go_up` or
    /// `correct_root`, which may have left the level's values where it reads them.
    fn smooth(
        &self,
        op: &EllipticOperator<D, Self>,
        level: usize,
        w: &mut Arrays<Self>,
        from_zero: bool,
    ) -> Result<(), EllipticError>;

    /// Residuals of a level as the next coarser one's right side; what its coarse layers have is put aside.
    fn go_down(
        &self,
        op: &EllipticOperator<D, Self>,
        level: usize,
        w: &mut Arrays<Self>,
    ) -> Result<(), EllipticError>;

    /// The coarser level's correction, and what the coarse layers had before.
    fn go_up(
        &self,
        op: &EllipticOperator<D, Self>,
        level: usize,
        w: &mut Arrays<Self>,
    ) -> Result<(), EllipticError>;

    /// The correction of the root level by a cycle over the grids below.
    fn correct_root(
        &self,
        op: &EllipticOperator<D, Self>,
        w: &mut Arrays<Self>,
    ) -> Result<(), EllipticError>;
}

/// The operator and the vectors of conjugate gradients.
pub trait VectorKernels<const D: usize>: EllipticTables<D> {
    /// The operator applied to values: `out` on leaves, zero on refined blocks.
    fn apply(
        &self,
        op: &EllipticOperator<D, Self>,
        x: &Self::Buf<f64>,
        out: &mut Self::Buf<f64>,
    ) -> Result<(), EllipticError>;

    /// The correction where the diagonal is dominant: the residual over what multiplies the cell's value.
    fn over_diagonal(
        &self,
        op: &EllipticOperator<D, Self>,
        w: &mut Arrays<Self>,
    ) -> Result<(), EllipticError>;

    /// The residual and the solution from right side and first guess: 0 in cells that are no unknowns.
    fn start(
        &self,
        op: &EllipticOperator<D, Self>,
        b: &Self::Buf<f64>,
        x: &Self::Buf<f64>,
        w: &mut Arrays<Self>,
    ) -> Result<(), EllipticError>;

    /// Takes `A x`, which is in `q`, from the residual.
    fn subtract(
        &self,
        op: &EllipticOperator<D, Self>,
        w: &mut Arrays<Self>,
    ) -> Result<(), EllipticError>;

    /// The next direction: `p = z + rz / before · p`.
    fn turn(
        &self,
        op: &EllipticOperator<D, Self>,
        w: &mut Arrays<Self>,
    ) -> Result<(), EllipticError>;

    /// Goes along the direction: `x += rz / pq · p`, `r -= rz / pq · q`; `rz` becomes that of before.
    fn advance(
        &self,
        op: &EllipticOperator<D, Self>,
        w: &mut Arrays<Self>,
    ) -> Result<(), EllipticError>;

    /// The sum of products over leaves into a place of an array: within blocks by a tree, then as [`ordered_sum`].
    fn dot(
        &self,
        op: &EllipticOperator<D, Self>,
        of: [&Self::Buf<f64>; 2],
        sums: &mut Self::Buf<f64>,
        to: (&mut Self::Buf<f64>, usize),
    ) -> Result<(), EllipticError>;

    /// Takes the means of closed regions from values: of a right side that is integrated over cells, or of a solution.
    fn remove_mean(
        &self,
        op: &EllipticOperator<D, Self>,
        values: &mut Self::Buf<f64>,
        sums: &mut Self::Buf<f64>,
        integrated: bool,
    ) -> Result<(), EllipticError>;
}
