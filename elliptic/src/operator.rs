//! The operator.

use crate::kernels::{EllipticKernels, EllipticTables};
use crate::layers::CoarseLayers;
use crate::regions::Regions;
use crate::{Blocks, EllipticError, box_grid::BoxGrid, faces};
use cutlink_amr::dims;
use cutlink_device::{Backend, Host};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A symmetric operator on the leaves of a forest, with the grids of its multigrid, in a backend's memory.
///
/// Memory in bytes a cell: 8 · 1.25 D for faces, 16 for the diagonal and its inverse; a
/// [`SolveWork`](crate::SolveWork) takes 56 more.
#[derive(Debug)]
pub struct EllipticOperator<const D: usize, B: EllipticTables<D> = Host> {
    pub(crate) backend: B,
    /// No other operator of the process has it.
    pub(crate) id: u64,
    pub(crate) blocks: Arc<Blocks<D>>,
    pub(crate) tables: B::Tables,
    pub(crate) conductance: B::Buf<f64>,
    /// Empty where there is none.
    pub(crate) diagonal: B::Buf<f64>,
    /// One over the sum of all that multiplies a cell's value, on its own level; 0 for cells that are no unknowns.
    pub(crate) inverse: B::Buf<f64>,
    pub(crate) layers: Arc<CoarseLayers>,
    #[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "for GPUs"))]
    pub(crate) lists: B::Lists,
    /// As `inverse`, of layers, with the finer faces.
    pub(crate) layer_inverse: B::Buf<f64>,
    pub(crate) boxes: BoxGrid<D, B>,
    pub(crate) regions: Regions<B>,
    /// Whether the diagonal is so large that it preconditions better than a cycle.
    pub(crate) is_dominant: bool,
}

/// The least share of [the diagonal](EllipticOperator::new) in what multiplies a cell's value from which on it alone is
/// the preconditioner. The condition of the operator over its diagonal is then at most (2 − s)/s = 1.9, and 12 iterations gain ten
/// digits, each at a fifth of the cost of one with a cycle, of which three are needed.
const DOMINANT: f64 = 0.7;

impl<const D: usize, B: EllipticKernels<D>> EllipticOperator<D, B> {
    /// An operator of conductances of faces, and what multiplies each cell's own value beside them (an empty array:
    /// nothing). Values of refined blocks are ignored.
    ///
    /// # Errors
    /// Where an array has another length, a value is negative, infinite or NaN, memory is short, or a device fails.
    pub fn new(
        backend: &B,
        blocks: Arc<Blocks<D>>,
        conductance: B::Buf<f64>,
        diagonal: B::Buf<f64>,
    ) -> Result<Self, EllipticError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let faces = blocks.len() * faces::per_block(D);
        check_length::<B>("the conductances", &conductance, faces)?;
        if B::len(&diagonal) > 0 {
            check_length::<B>("the diagonal", &diagonal, blocks.cells())?;
        }
        let layers = Arc::clone(blocks.layers());
        let of_layers = layers.block.len() * dims::cells(D);
        let open = backend.open_faces(&blocks, &conductance, &diagonal)?;
        let regions = Regions::new(backend, &blocks, &open)?;
        let mut operator = Self {
            backend: backend.clone(),
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            tables: backend.tables(&blocks)?,
            inverse: backend.alloc("the inverse diagonal", blocks.cells(), 0.0)?,
            layer_inverse: backend.alloc("the inverse diagonal at jumps", of_layers, 0.0)?,
            lists: backend.lists(&layers)?,
            boxes: BoxGrid::new(backend, &blocks)?,
            blocks,
            conductance,
            diagonal,
            layers,
            regions,
            is_dominant: false,
        };
        operator.prepare()?;
        Ok(operator)
    }

    /// Takes other conductances, of the same open faces, and another diagonal.
    ///
    /// # Errors
    /// As [`new`](Self::new), and where a face was opened or closed, or a diagonal became zero.
    pub fn update(
        &mut self,
        conductance: &B::Buf<f64>,
        diagonal: &B::Buf<f64>,
    ) -> Result<(), EllipticError> {
        check_length::<B>("the conductances", conductance, B::len(&self.conductance))?;
        check_length::<B>("the diagonal", diagonal, B::len(&self.diagonal))?;
        if let Some(block) = self.backend.first_opened(self, conductance)? {
            return Err(EllipticError::Opened { block });
        }
        self.backend.copy(conductance, &mut self.conductance)?;
        self.backend.copy(diagonal, &mut self.diagonal)?;
        self.prepare()
    }

    /// Takes another diagonal, with the conductances that it has.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn update_diagonal(&mut self, diagonal: &B::Buf<f64>) -> Result<(), EllipticError> {
        check_length::<B>("the diagonal", diagonal, B::len(&self.diagonal))?;
        self.backend.copy(diagonal, &mut self.diagonal)?;
        self.prepare_diagonal()
    }

    /// The blocks it is for.
    pub fn blocks(&self) -> &Arc<Blocks<D>> {
        &self.blocks
    }

    /// Regions of cells that are joined by open faces, without a value on the box or a diagonal: their solution is
    /// known but for a constant, and has the mean 0.
    pub fn closed_regions(&self) -> usize {
        self.regions.count()
    }

    fn prepare(&mut self) -> Result<(), EllipticError> {
        let backend = self.backend.clone();
        let per = faces::per_block(D);
        self.check_values("a conductance", &self.conductance, per)?;
        let blocks = Arc::clone(&self.blocks);
        backend.restrict_faces(&blocks, &self.tables, &mut self.conductance, [0.5, 0.75])?;
        self.prepare_diagonal()
    }

    /// What depends on the diagonal.
    fn prepare_diagonal(&mut self) -> Result<(), EllipticError> {
        let backend = self.backend.clone();
        let blocks = Arc::clone(&self.blocks);
        if B::len(&self.diagonal) > 0 {
            self.check_values("the diagonal", &self.diagonal, dims::cells(D))?;
            backend.restrict_cells(&blocks, &self.tables, &mut self.diagonal, 1.0)?;
        }
        backend.inverses(self)?;
        self.is_dominant = B::len(&self.diagonal) > 0 && backend.least_share(self)? >= DOMINANT;
        if self.is_dominant {
            return Ok(());
        }
        backend.fill_boxes(self)
    }

    fn check_values(
        &self,
        what: &'static str,
        values: &B::Buf<f64>,
        per: usize,
    ) -> Result<(), EllipticError> {
        let backend = &self.backend;
        let found = backend.first_bad(&self.blocks, &self.tables, values, per)?;
        let Some(block) = found else {
            return Ok(());
        };
        let of = backend.download_part(values, block * per..(block + 1) * per)?;
        let value = of.into_iter().find(is_bad).unwrap_or(f64::NAN);
        Err(EllipticError::Coefficient { what, block, value })
    }

    /// The operator applied to values of cells: `out` on leaves, zero on refined blocks.
    ///
    /// # Errors
    /// Where an array has another length, or a device fails.
    pub fn apply(&self, x: &B::Buf<f64>, out: &mut B::Buf<f64>) -> Result<(), EllipticError> {
        check_length::<B>("the values", x, self.blocks.cells())?;
        check_length::<B>("the result", out, self.blocks.cells())?;
        self.backend.apply(self, x, out)
    }
}

/// Whether a value cannot be a coefficient.
pub(crate) fn is_bad(value: &f64) -> bool {
    !(value.is_finite() && *value >= 0.0)
}

pub(crate) fn check_length<B: Backend>(
    what: &'static str,
    values: &B::Buf<f64>,
    expected: usize,
) -> Result<(), EllipticError> {
    let found = B::len(values);
    if found == expected {
        return Ok(());
    }
    Err(EllipticError::Length {
        what,
        expected,
        found,
    })
}
