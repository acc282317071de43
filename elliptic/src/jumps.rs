//! Fluxes through faces at level jumps to second order.
//!
//! The two-point flux compares the finer cell with the coarser one's centre, which lies aside by half a fine cell: its
//! error is a third of the derivative along the face, of both signs in turn, and the solution's error falls with the
//! first power of the cells' width. Corrected, the coarser cell's value is continued along the face by its slope (as
//! Popinet 2003, §3.3, does by parabolas). The operator with this is not symmetric, so the correction is deferred.

use crate::cg::{SolveWork, Solved, Stop};
use crate::kernels::{TILE, Tile, in_tile, sum_children, tile};
use crate::operator::{EllipticOperator, check_length};
use crate::{Beside, EllipticError, faces};
use cutlink_amr::dims;
use cutlink_device::{Host, memory};
use rayon::prelude::*;

/// Corrections of the right side at most.
const PASSES: usize = 20;

impl<const D: usize> EllipticOperator<D> {
    /// As [`solve`](Self::solve), with fluxes at level jumps to second order: solves again with a corrected right side
    /// until the correction changes by less than `stop` allows. Iterations are those of all passes.
    ///
    /// # Errors
    /// As [`solve`](Self::solve); [`EllipticError::NotConverged`] also where 20 passes do not do.
    pub fn solve_corrected(
        &self,
        b: &Vec<f64>,
        x: &mut Vec<f64>,
        stop: Stop,
        work: &mut SolveWork<Host>,
    ) -> Result<Solved, EllipticError> {
        let mut solved = self.solve(b, x, stop, work)?;
        if self.layers.block.is_empty() {
            return Ok(solved);
        }
        let scale = self.dot(b, b)?.sqrt();
        let (mut last, mut change) = (vec![0.0; b.len()], f64::INFINITY);
        for _ in 0..PASSES {
            let mut correction = self.jump_correction(x)?;
            last.iter_mut().zip(&correction).for_each(|(l, c)| *l -= c);
            change = self.dot(&last, &last)?.sqrt();
            if change <= stop.absolute.max(stop.relative * scale) {
                return Ok(solved);
            }
            last.copy_from_slice(&correction);
            correction.iter_mut().zip(b).for_each(|(c, b)| *c += b);
            let pass = self.solve(&correction, x, stop, work)?;
            solved.iterations += pass.iterations;
            solved.residual = pass.residual;
        }
        Err(EllipticError::NotConverged {
            iterations: solved.iterations,
            residual: change / scale,
            wanted: stop.relative,
        })
    }

    /// What the right side lacks at level jumps for second order, for values of cells: opposite in the cells on both
    /// sides of a face.
    ///
    /// # Errors
    /// Where the array has another length or memory is short.
    pub fn jump_correction(&self, x: &Vec<f64>) -> Result<Vec<f64>, EllipticError> {
        check_length::<Host>("the values", x, self.blocks.cells())?;
        let mut whole = memory::with_capacity("values at level jumps", x.len())?;
        whole.extend_from_slice(x);
        self.mean_children(&mut whole);
        let mut out = Vec::new();
        memory::grow("corrections at level jumps", &mut out, x.len(), 0.0)?;
        let each = |&block: &u32| self.of_leaf(&whole, block as usize);
        let found: Vec<Vec<(usize, f64)>> = self.layers.block.par_iter().map(each).collect();
        for (at, flux) in found.into_iter().flatten() {
            out[at] += flux;
        }
        Ok(out)
    }

    /// Refined blocks that touch coarse layers take the means of their children.
    fn mean_children(&self, values: &mut [f64]) {
        let cells = dims::cells(D);
        for level in (0..self.blocks.finest()).rev() {
            let range = self.blocks.range(level);
            let (coarse, fine) = values.split_at_mut(range.end * cells);
            let (first, offset) = (range.start, range.end * cells);
            (coarse[first * cells..].par_chunks_mut(cells).enumerate()).for_each(|(i, out)| {
                if let Some(child) = self.blocks.first_child(first + i) {
                    let share = 1.0 / dims::children(D) as f64;
                    sum_children::<D>(&fine[child * cells - offset..], share, out);
                }
            });
        }
    }

    /// Places and values of a leaf's corrections, and of those in the finer cells beside it.
    fn of_leaf(&self, x: &[f64], block: usize) -> Vec<(usize, f64)> {
        let (cells, per) = (dims::cells(D), faces::per_block(D));
        let mut values: Tile = [0.0; 216];
        tile(&self.blocks, x, block, &mut values);
        let mut found = Vec::new();
        for side in 0..2 * D {
            let Beside::Same(other) = self.blocks.beside(block, side) else {
                continue;
            };
            if self.blocks.is_leaf(other) {
                continue;
            }
            for cell in faces::layer::<D>(side) {
                let at = dims::unravel::<D>(cell, 4);
                let slopes: [f64; D] = std::array::from_fn(|axis| {
                    if axis == side / 2 {
                        0.0
                    } else {
                        self.slope(&values, block, axis, cell)
                    }
                });
                for (b, c) in self.blocks.finer_cells(other, side, at) {
                    let fine = dims::unravel::<D>(c, 4);
                    let aside =
                        (0..D).map(|a| slopes[a] * if fine[a] & 1 == 0 { -0.25 } else { 0.25 });
                    let flux = self.conductance[b * per + faces::of_side(D, side ^ 1, c)]
                        * aside.sum::<f64>();
                    found.push((b * cells + c, flux));
                    found.push((block * cells + cell, -flux));
                }
            }
        }
        found
    }

    /// The difference along an axis from a cell to the next, from both neighbours that an open face joins.
    fn slope(&self, tile: &Tile, block: usize, axis: usize, cell: usize) -> f64 {
        let t = &self.conductance[block * faces::per_block(D)..];
        let (at, face) = (in_tile::<D>(cell), faces::lower(D, axis, cell));
        let coordinate = dims::unravel::<D>(cell, 4)[axis];
        let is_out = |side: usize| matches!(self.blocks.beside(block, side), Beside::Outside);
        let lower = t[face] > 0.0 && !(coordinate == 0 && is_out(2 * axis));
        let upper =
            t[face + faces::stride(axis)] > 0.0 && !(coordinate == 3 && is_out(2 * axis + 1));
        let below = tile[at] - tile[at - TILE[axis]];
        let above = tile[at + TILE[axis]] - tile[at];
        match (lower, upper) {
            (true, true) => 0.5 * (below + above),
            (true, false) => below,
            (false, true) => above,
            (false, false) => 0.0,
        }
    }
}
