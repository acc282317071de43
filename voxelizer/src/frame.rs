//! The box, its cells, and the integer lattice of the exact geometry.
//!
//! | frame | unit | origin |
//! |---|---|---|
//! | length | the user's (metres after placement) | the user's |
//! | cell of level ℓ | Δx / 2^ℓ, Δx the root cell | lower corner of the box |
//! | lattice | Δx / 2^(levels - 1) / 2^s, s = 8 | lower corner of the box |
//!
//! A centre of level ℓ lies at odd multiples of half that level's spacing, a power of two
//! in lattice units: all centres of all levels are lattice points.

use crate::VoxelError;
use cutlink_mesher::snap::SnapLattice;

/// Bits below the finest cell: vertices are snapped to 1/256 of it.
pub const SUBCELL_BITS: u32 = 8;

/// The box and its root grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame<const D: usize> {
    /// Lower corner of the box.
    pub origin: [f64; D],
    /// Spacing of the root cells.
    pub dx: f64,
    /// Root cells on each axis, multiples of 4.
    pub root_cells: [u32; D],
}

impl<const D: usize> Frame<D> {
    /// A frame of given cells, checked: finite, positive, multiples of 4.
    pub fn new(origin: [f64; D], dx: f64, root_cells: [u32; D]) -> Result<Self, VoxelError> {
        let frame = Self {
            origin,
            dx,
            root_cells,
        };
        if !(dx.is_finite() && dx > 0.0 && origin.iter().all(|x| x.is_finite())) {
            return Err(VoxelError::Box {
                reason: format!(
                    "lower corner {origin:?} and spacing {dx} must be finite, the spacing positive"
                ),
            });
        }
        if root_cells.iter().any(|&n| n == 0 || n % 4 != 0) {
            return Err(VoxelError::Box {
                reason: format!(
                    "root cells {root_cells:?} must be positive multiples of 4 on each axis"
                ),
            });
        }
        Ok(frame)
    }

    /// Spacing of the cells of a level.
    pub fn dx_at(&self, level: usize) -> f64 {
        self.dx / (1u64 << level) as f64
    }

    /// Upper corner of the box.
    pub fn upper(&self) -> [f64; D] {
        std::array::from_fn(|a| self.origin[a] + self.dx * f64::from(self.root_cells[a]))
    }

    /// Root blocks on each axis.
    pub fn root_blocks(&self) -> [u32; D] {
        self.root_cells.map(|n| n / 4)
    }

    /// The snapping lattice of a mesh of `levels` levels.
    pub fn lattice(&self, levels: usize) -> SnapLattice<D> {
        SnapLattice {
            origin: self.origin,
            unit: self.dx_at(levels - 1) / f64::from(1u32 << SUBCELL_BITS),
        }
    }

    /// The box in units of that lattice.
    pub fn extent(&self, levels: usize) -> [i32; D] {
        self.root_cells
            .map(|n| (n as i32) << (levels - 1 + SUBCELL_BITS as usize))
    }

    /// Centre of a cell of a level, in lengths.
    pub fn center(&self, level: usize, cell: [i32; D]) -> [f64; D] {
        let dx = self.dx_at(level);
        std::array::from_fn(|a| self.origin[a] + (f64::from(cell[a]) + 0.5) * dx)
    }
}
