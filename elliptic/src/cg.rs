//! Conjugate gradients (Hestenes, Stiefel 1952), preconditioned by the cycle.

use crate::operator::check_length;
use crate::{EllipticError, EllipticOperator};
use cutlink_amr::dims;
use cutlink_device::memory;
use rayon::prelude::*;

/// When a solve ends: where the residual's 2-norm is below `relative` × the right side's, or below `absolute`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Relative to the right side.
    pub relative: f64,
    /// In units of the right side.
    pub absolute: f64,
    /// Iterations at most: more are an error.
    pub most: usize,
}

/// What a solve did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solved {
    /// Iterations.
    pub iterations: usize,
    /// The residual's norm over the right side's, 0 for a right side of 0.
    pub residual: f64,
}

impl<const D: usize> EllipticOperator<D> {
    /// Solves for `x`, which holds the first guess. In closed regions the mean is taken from the right side, and the
    /// solution has the mean 0. Cells without open faces and diagonal are no unknowns: their right side is ignored, and
    /// `x` is 0 there.
    ///
    /// # Errors
    /// Where an array has another length, the right side or the first guess is not finite, memory is short, or
    /// `stop.most` iterations do not do.
    pub fn solve(&self, b: &[f64], x: &mut [f64], stop: Stop) -> Result<Solved, EllipticError> {
        let n = self.blocks.cells();
        check_length("the right side", b, n)?;
        check_length("the first guess", x, n)?;
        let array = || {
            let mut values = Vec::new();
            memory::grow("conjugate gradients", &mut values, n, 0.0).map(|()| values)
        };
        let (mut r, mut z, mut p, mut q) = (array()?, array()?, array()?, array()?);
        let mut work = self.work()?;
        self.on_leaves(&mut r, |r, i| {
            *r = if self.inverse[i] > 0.0 { b[i] } else { 0.0 }
        });
        self.regions.remove_mean(&self.blocks, &mut r, true);
        let scale = self.dot(&r, &r).sqrt();
        if !scale.is_finite() {
            return Err(self.not_finite("right side", &r));
        }
        self.on_leaves(x, |x, i| *x = if self.inverse[i] > 0.0 { *x } else { 0.0 });
        self.apply_all(x, &mut q);
        self.on_leaves(&mut r, |r, i| *r -= q[i]);
        let mut norm = self.dot(&r, &r).sqrt();
        if !norm.is_finite() {
            return Err(self.not_finite("first guess", &r));
        }
        let enough = stop.absolute.max(stop.relative * scale);
        let (mut iterations, mut rz) = (0, 0.0);
        while norm > enough {
            if iterations == stop.most {
                return Err(EllipticError::NotConverged {
                    iterations,
                    residual: norm / scale,
                    wanted: stop.relative.max(stop.absolute / scale),
                });
            }
            self.cycle(&r, &mut z, &mut work);
            let before = rz;
            rz = self.dot(&r, &z);
            let beta = if iterations == 0 { 0.0 } else { rz / before };
            self.on_leaves(&mut p, |p, i| *p = z[i] + beta * *p);
            self.apply_all(&p, &mut q);
            let alpha = rz / self.dot(&p, &q);
            self.on_leaves(x, |x, i| *x += alpha * p[i]);
            self.on_leaves(&mut r, |r, i| *r -= alpha * q[i]);
            norm = self.dot(&r, &r).sqrt();
            if !norm.is_finite() {
                return Err(self.not_finite("residual", &r));
            }
            iterations += 1;
        }
        self.regions.remove_mean(&self.blocks, x, false);
        let residual = if scale > 0.0 { norm / scale } else { 0.0 };
        Ok(Solved {
            iterations,
            residual,
        })
    }

    /// One V-cycle from zero for the right side `r`, on leaves: the preconditioner alone.
    ///
    /// # Errors
    /// Where an array has another length, or memory is short.
    pub fn precondition(&self, r: &[f64], z: &mut [f64]) -> Result<(), EllipticError> {
        check_length("the right side", r, self.blocks.cells())?;
        check_length("the result", z, self.blocks.cells())?;
        self.cycle(r, z, &mut self.work()?);
        Ok(())
    }

    /// The sum over leaves of products, block by block in the order of their ids.
    pub fn dot(&self, a: &[f64], b: &[f64]) -> f64 {
        let cells = dims::cells(D);
        let of_block = |(block, (a, b)): (usize, (&[f64], &[f64]))| -> f64 {
            if self.blocks.is_leaf(block) {
                a.iter().zip(b).map(|(a, b)| a * b).sum()
            } else {
                0.0
            }
        };
        let sums: Vec<f64> = (a.par_chunks(cells).zip(b.par_chunks(cells)).enumerate())
            .with_min_len(16)
            .map(of_block)
            .collect();
        sums.iter().sum()
    }

    fn on_leaves(&self, values: &mut [f64], each: impl Fn(&mut f64, usize) + Sync) {
        let cells = dims::cells(D);
        values
            .par_chunks_mut(cells)
            .enumerate()
            .for_each(|(block, values)| {
                if self.blocks.is_leaf(block) {
                    for (cell, value) in values.iter_mut().enumerate() {
                        each(value, block * cells + cell);
                    }
                }
            });
    }

    fn not_finite(&self, what: &'static str, values: &[f64]) -> EllipticError {
        let mut blocks = values.chunks(dims::cells(D)).enumerate();
        let found =
            blocks.find(|(b, v)| self.blocks.is_leaf(*b) && v.iter().any(|v| !v.is_finite()));
        EllipticError::NotFinite {
            what,
            block: found.map_or(0, |(block, _)| block),
        }
    }
}
