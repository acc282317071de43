//! Conjugate gradients (Hestenes, Stiefel 1952), preconditioned by the cycle, or by a diagonal that is dominant.
//!
//! Products stay where the arrays are: the host reads a norm once an iteration, and a device replays an iteration as one
//! recorded sequence.

use crate::kernels::EllipticKernels;
use crate::operator::check_length;
use crate::{EllipticError, EllipticOperator};
use cutlink_amr::dims;
use cutlink_device::Backend;
use std::collections::{HashMap, hash_map::Entry};

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

/// Places of products in `scalars`.
pub(crate) mod scalar {
    /// r·z of this iteration, and of the one before.
    pub(crate) const RZ: usize = 0;
    pub(crate) const BEFORE: usize = 1;
    /// p·A p.
    pub(crate) const PQ: usize = 2;
    /// Squares of the norms of the residual and of the right side.
    pub(crate) const NORM: usize = 3;
    pub(crate) const SCALE: usize = 4;
    pub(crate) const COUNT: usize = 5;
}

/// Arrays of solves, for any number of operators on the same blocks. They are allocated at the first one.
#[derive(Debug)]
pub struct SolveWork<B: Backend> {
    arrays: Option<Arrays<B>>,
    /// Iterations by operator, and whether its diagonal is dominant.
    recorded: HashMap<(u64, bool), B::Graph>,
}

/// What a solve uses.
#[derive(Debug)]
pub struct Arrays<B: Backend> {
    /// Residual, correction, direction, its image, solution.
    pub(crate) r: B::Buf<f64>,
    pub(crate) z: B::Buf<f64>,
    pub(crate) p: B::Buf<f64>,
    pub(crate) q: B::Buf<f64>,
    pub(crate) x: B::Buf<f64>,
    /// Of the cycle: right side, and the smoother's last correction.
    pub(crate) b: B::Buf<f64>,
    pub(crate) d: B::Buf<f64>,
    /// Of coarse layers: right side, solution, correction.
    pub(crate) layer: [B::Buf<f64>; 3],
    /// Of the grids below the root level: right side, solution, correction, residual.
    pub(crate) boxes: [B::Buf<f64>; 4],
    /// Sums of blocks or regions.
    pub(crate) sums: B::Buf<f64>,
    pub(crate) scalars: B::Buf<f64>,
}

impl<B: Backend> Default for SolveWork<B> {
    fn default() -> Self {
        Self {
            arrays: None,
            recorded: HashMap::new(),
        }
    }
}

impl<const D: usize, B: EllipticKernels<D>> EllipticOperator<D, B> {
    /// Solves for `x`, which holds the first guess. In closed regions the mean is taken from the right side, and the
    /// solution has the mean 0. Cells without open faces and diagonal are no unknowns: their right side is ignored, and
    /// `x` is 0 there.
    ///
    /// # Errors
    /// Where an array has another length, the right side or the first guess is not finite, memory is short,
    /// `stop.most` iterations do not do, or a device fails.
    pub fn solve(
        &self,
        b: &B::Buf<f64>,
        x: &mut B::Buf<f64>,
        stop: Stop,
        work: &mut SolveWork<B>,
    ) -> Result<Solved, EllipticError> {
        let backend = &self.backend;
        check_length::<B>("the right side", b, self.blocks.cells())?;
        check_length::<B>("the first guess", x, self.blocks.cells())?;
        let (w, recorded) = self.arrays(work)?;
        self.begin(b, x, w)?;
        backend.dot(
            self,
            [&w.r, &w.r],
            &mut w.sums,
            (&mut w.scalars, scalar::SCALE),
        )?;
        backend.apply(self, &w.x, &mut w.q)?;
        backend.subtract(self, w)?;
        backend.dot(
            self,
            [&w.r, &w.r],
            &mut w.sums,
            (&mut w.scalars, scalar::NORM),
        )?;
        let norms = backend.download_part(&w.scalars, scalar::NORM..scalar::COUNT)?;
        let (mut norm, scale) = (norms[0].sqrt(), norms[1].sqrt());
        if !scale.is_finite() {
            self.begin(b, x, w)?;
            return Err(self.not_finite("right side", w));
        }
        if !norm.is_finite() {
            return Err(self.not_finite("first guess", w));
        }
        let enough = stop.absolute.max(stop.relative * scale);
        let mut iterations = 0;
        while norm > enough {
            if iterations == stop.most {
                return Err(EllipticError::NotConverged {
                    iterations,
                    residual: norm / scale,
                    wanted: stop.relative.max(stop.absolute / scale),
                });
            }
            self.iterate(w, recorded)?;
            let place = scalar::NORM..scalar::NORM + 1;
            norm = backend.download_part(&w.scalars, place)?[0].sqrt();
            if !norm.is_finite() {
                return Err(self.not_finite("residual", w));
            }
            iterations += 1;
        }
        backend.remove_mean(self, &mut w.x, &mut w.sums, false)?;
        backend.copy(&w.x, x)?;
        let residual = if scale > 0.0 { norm / scale } else { 0.0 };
        Ok(Solved {
            iterations,
            residual,
        })
    }

    /// The residual of a solution of zero, and the first guess.
    fn begin(
        &self,
        b: &B::Buf<f64>,
        x: &B::Buf<f64>,
        w: &mut Arrays<B>,
    ) -> Result<(), EllipticError> {
        self.backend.start(self, b, x, w)?;
        self.backend.remove_mean(self, &mut w.r, &mut w.sums, true)
    }

    /// One iteration: as a recorded sequence where the backend has some.
    #[expect(unsafe_code, reason = "a graph holds addresses, not buffers")]
    fn iterate(
        &self,
        w: &mut Arrays<B>,
        recorded: &mut HashMap<(u64, bool), B::Graph>,
    ) -> Result<(), EllipticError> {
        let graph = match recorded.entry((self.id, self.is_dominant)) {
            Entry::Occupied(found) => found.into_mut(),
            Entry::Vacant(free) => match self.backend.record(|| self.iteration(w))? {
                Some(graph) => free.insert(graph),
                None => return Ok(()),
            },
        };
        // SAFETY: the graph is of this operator's buffers, which it keeps, and of these arrays: where they are made anew, no
        // graph is left. Nobody else has either.
        unsafe { self.backend.replay(graph)? };
        Ok(())
    }

    fn iteration(&self, w: &mut Arrays<B>) -> Result<(), EllipticError> {
        let backend = &self.backend;
        if self.is_dominant {
            backend.over_diagonal(self, w)?;
        } else {
            self.cycle(w)?;
        }
        backend.dot(
            self,
            [&w.r, &w.z],
            &mut w.sums,
            (&mut w.scalars, scalar::RZ),
        )?;
        backend.turn(self, w)?;
        backend.apply(self, &w.p, &mut w.q)?;
        backend.dot(
            self,
            [&w.p, &w.q],
            &mut w.sums,
            (&mut w.scalars, scalar::PQ),
        )?;
        backend.advance(self, w)?;
        backend.dot(
            self,
            [&w.r, &w.r],
            &mut w.sums,
            (&mut w.scalars, scalar::NORM),
        )
    }

    /// The preconditioner alone, on leaves: one V-cycle from zero for the right side `r`.
    ///
    /// # Errors
    /// Where an array has another length, memory is short, or a device fails.
    pub fn precondition(
        &self,
        r: &B::Buf<f64>,
        z: &mut B::Buf<f64>,
        work: &mut SolveWork<B>,
    ) -> Result<(), EllipticError> {
        check_length::<B>("the right side", r, self.blocks.cells())?;
        check_length::<B>("the result", z, self.blocks.cells())?;
        let (w, _) = self.arrays(work)?;
        self.backend.copy(r, &mut w.r)?;
        if self.is_dominant {
            self.backend.over_diagonal(self, w)?;
        } else {
            self.cycle(w)?;
        }
        Ok(self.backend.copy(&w.z, z)?)
    }

    /// The sum over leaves of products: within blocks by a tree, then as [`ordered_sum`](crate::ordered_sum).
    ///
    /// # Errors
    /// Where memory is short, or a device fails.
    pub fn dot(&self, a: &B::Buf<f64>, b: &B::Buf<f64>) -> Result<f64, EllipticError> {
        let backend = &self.backend;
        let mut sums = backend.alloc("sums of blocks", self.blocks.len(), 0.0)?;
        let mut sum = backend.alloc("a sum", 1, 0.0)?;
        backend.dot(self, [a, b], &mut sums, (&mut sum, 0))?;
        Ok(backend.download(&sum)?[0])
    }

    /// The arrays, and what was recorded with them.
    #[expect(clippy::type_complexity, reason = "two fields")]
    fn arrays<'a>(
        &self,
        work: &'a mut SolveWork<B>,
    ) -> Result<(&'a mut Arrays<B>, &'a mut HashMap<(u64, bool), B::Graph>), EllipticError> {
        let (backend, n) = (&self.backend, self.blocks.cells());
        let layers = self.layers.block.len() * dims::cells(D);
        let sums = self.blocks.len().max(self.regions.sums());
        let fits = |w: &Arrays<B>| {
            B::len(&w.r) == n && B::len(&w.layer[0]) == layers && B::len(&w.sums) >= sums
        };
        if !work.arrays.as_ref().is_some_and(fits) {
            work.recorded.clear();
            work.arrays = None;
            let of_cells = || backend.alloc("conjugate gradients", n, 0.0);
            let of_layers = || backend.alloc("the multigrid", layers, 0.0);
            let of_boxes = || backend.alloc("the multigrid", self.boxes.cells(), 0.0);
            work.arrays = Some(Arrays {
                r: of_cells()?,
                z: of_cells()?,
                p: of_cells()?,
                q: of_cells()?,
                x: of_cells()?,
                b: of_cells()?,
                d: of_cells()?,
                layer: [of_layers()?, of_layers()?, of_layers()?],
                boxes: [of_boxes()?, of_boxes()?, of_boxes()?, of_boxes()?],
                sums: backend.alloc("sums of blocks", sums, 0.0)?,
                scalars: backend.alloc("products", scalar::COUNT, 0.0)?,
            });
        }
        let arrays = work.arrays.as_mut().expect("made above");
        Ok((arrays, &mut work.recorded))
    }

    /// Names the first block whose residual is not finite; a failure of the device instead, if there is one.
    fn not_finite(&self, what: &'static str, w: &Arrays<B>) -> EllipticError {
        let values = match self.backend.download(&w.r) {
            Ok(values) => values,
            Err(error) => return error.into(),
        };
        let mut blocks = values.chunks(dims::cells(D)).enumerate();
        let found =
            blocks.find(|(b, v)| self.blocks.is_leaf(*b) && v.iter().any(|v| !v.is_finite()));
        EllipticError::NotFinite {
            what,
            block: found.map_or(0, |(block, _)| block),
        }
    }
}
