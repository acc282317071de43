//! Grids below the root level: the root grid's cells, joined by two on each axis again and again.

use crate::{Blocks, EllipticError, cycle::Chebyshev, faces};
use cutlink_amr::dims;
use rayon::prelude::*;

/// Forward and backward sweeps over the coarsest grid.
const COARSEST_SWEEPS: usize = 20;

/// Cells that a task takes at least.
const TASK: usize = 1024;

/// A box of cells with conductances of their faces; where an axis has an odd number of cells, its last one is narrower.
#[derive(Debug, Clone)]
pub(crate) struct BoxLevel<const D: usize> {
    pub(crate) n: [usize; D],
    periodic: [bool; D],
    /// By axis: widths in cells of the root level.
    width: [Vec<f64>; D],
    /// By axis: the lower faces of cells, and after them those at the upper end of the box.
    t: [Vec<f64>; D],
    diagonal: Vec<f64>,
    inverse: Vec<f64>,
}

/// Values of a solve on a [`BoxLevel`].
#[derive(Debug, Clone, Default)]
pub(crate) struct BoxWork {
    pub(crate) b: Vec<f64>,
    pub(crate) x: Vec<f64>,
    d: Vec<f64>,
    r: Vec<f64>,
}

/// All grids below the root level, from fine to coarse.
#[derive(Debug)]
pub(crate) struct BoxGrid<const D: usize> {
    pub(crate) levels: Vec<BoxLevel<D>>,
}

impl<const D: usize> BoxLevel<D> {
    pub(crate) fn cells(&self) -> usize {
        self.n.iter().product()
    }

    fn new(width: [Vec<f64>; D], periodic: [bool; D]) -> Self {
        let n: [usize; D] = std::array::from_fn(|a| width[a].len());
        let cells: usize = n.iter().product();
        let t = std::array::from_fn(|a| vec![0.0; cells + cells / n[a]]);
        Self {
            n,
            periodic,
            width,
            t,
            diagonal: vec![0.0; cells],
            inverse: vec![0.0; cells],
        }
    }

    fn at(&self, mut cell: usize) -> [usize; D] {
        self.n.map(|n| {
            let c = cell % n;
            cell /= n;
            c
        })
    }

    fn cell(&self, at: [usize; D]) -> usize {
        (0..D).rev().fold(0, |i, a| i * self.n[a] + at[a])
    }

    /// The place of a cell's face in `t`.
    fn face(&self, axis: usize, at: [usize; D], upper: usize) -> usize {
        if at[axis] + upper < self.n[axis] {
            let mut at = at;
            at[axis] += upper;
            return self.cell(at);
        }
        let others = (0..D).rev().filter(|&a| a != axis);
        self.cells() + others.fold(0, |i, a| i * self.n[a] + at[a])
    }

    /// The cell beyond a face, if there is one.
    fn beside(&self, axis: usize, at: [usize; D], upper: usize) -> Option<usize> {
        let mut to = at;
        let n = self.n[axis];
        let (end, start) = if upper == 1 { (n - 1, 0) } else { (0, n - 1) };
        if at[axis] == end {
            if !self.periodic[axis] {
                return None;
            }
            to[axis] = start;
        } else if upper == 1 {
            to[axis] += 1;
        } else {
            to[axis] -= 1;
        }
        Some(self.cell(to))
    }

    /// The distance between the centres on both sides of a face; from centre to wall at the end of the box.
    fn distance(&self, axis: usize, at: usize, upper: usize) -> f64 {
        let w = &self.width[axis];
        let n = w.len();
        let other = match (at, upper) {
            (0, 0) if self.periodic[axis] => w[n - 1],
            (0, 0) => 0.0,
            (at, 0) => w[at - 1],
            (at, _) if at + 1 < n => w[at + 1],
            _ if self.periodic[axis] => w[0],
            _ => 0.0,
        };
        0.5 * (w[at] + other)
    }

    fn finish(&mut self) {
        let inverse: Vec<f64> = (0..self.cells())
            .map(|cell| {
                let at = self.at(cell);
                let t = (0..2 * D).map(|s| self.t[s / 2][self.face(s / 2, at, s % 2)]);
                let sum = t.sum::<f64>() + self.diagonal[cell];
                if sum > 0.0 { 1.0 / sum } else { 0.0 }
            })
            .collect();
        self.inverse = inverse;
    }

    /// Sums of conductances of a finer level's faces, scaled to this one's distances, and of its diagonal.
    fn fill_from(&mut self, fine: &Self) {
        self.diagonal.fill(0.0);
        for t in &mut self.t {
            t.fill(0.0);
        }
        for cell in 0..fine.cells() {
            let at = fine.at(cell);
            let up = at.map(|c| c / 2);
            let parent = self.cell(up);
            self.diagonal[parent] += fine.diagonal[cell];
            for side in 0..2 * D {
                let (axis, upper) = (side / 2, side % 2);
                let last = at[axis] + 1 == fine.n[axis];
                // Each face once: lower ones, and the upper ones of the last cells.
                if (upper == 1 && !last) || (upper == 0 && at[axis] % 2 == 1) {
                    continue;
                }
                let ratio =
                    fine.distance(axis, at[axis], upper) / self.distance(axis, up[axis], upper);
                let to = self.face(axis, up, upper);
                self.t[axis][to] += ratio * fine.t[axis][fine.face(axis, at, upper)];
            }
        }
        self.finish();
    }

    #[inline]
    fn residual(&self, b: &[f64], x: &[f64], cell: usize) -> f64 {
        let at = self.at(cell);
        let mut r = b[cell] - self.diagonal[cell] * x[cell];
        for side in 0..2 * D {
            let (axis, upper) = (side / 2, side % 2);
            let beyond = self.beside(axis, at, upper).map_or(0.0, |c| x[c]);
            r -= self.t[axis][self.face(axis, at, upper)] * (x[cell] - beyond);
        }
        r
    }

    fn smooth(&self, w: &mut BoxWork, from_zero: bool) {
        let BoxWork { b, x, d, .. } = w;
        for (step, [keep, add]) in Chebyshev::steps().enumerate() {
            let (b, x_now) = (&*b, &*x);
            let each = |(cell, d): (usize, &mut f64)| {
                let zero = from_zero && step == 0;
                let r = if zero {
                    b[cell]
                } else {
                    self.residual(b, x_now, cell)
                };
                *d = keep * *d + add * self.inverse[cell] * r;
            };
            d.par_iter_mut()
                .enumerate()
                .with_min_len(TASK)
                .for_each(each);
            x.par_iter_mut()
                .zip(&*d)
                .with_min_len(TASK)
                .for_each(|(x, d)| *x += d);
        }
    }

    fn solve_coarsest(&self, w: &mut BoxWork) {
        let BoxWork { b, x, .. } = w;
        for _ in 0..COARSEST_SWEEPS {
            for cell in (0..b.len()).chain((0..b.len()).rev()) {
                x[cell] += self.inverse[cell] * self.residual(b, x, cell);
            }
        }
    }
}

impl<const D: usize> BoxGrid<D> {
    pub(crate) fn new(blocks: &Blocks<D>) -> Result<Self, EllipticError> {
        let mut width: [Vec<f64>; D] = blocks.root().map(|n| vec![2.0; 2 * n as usize]);
        let mut levels = Vec::new();
        loop {
            let level = BoxLevel::new(width.clone(), blocks.periodic());
            let done = level.n.iter().all(|&n| n <= 2);
            levels.push(level);
            if done {
                return Ok(Self { levels });
            }
            width = width.map(|w| w.chunks(2).map(|pair| pair.iter().sum()).collect());
        }
    }

    pub(crate) fn work(&self) -> Vec<BoxWork> {
        let each = |level: &BoxLevel<D>| {
            let zeros = || vec![0.0; level.cells()];
            BoxWork {
                b: zeros(),
                x: zeros(),
                d: zeros(),
                r: zeros(),
            }
        };
        self.levels.iter().map(each).collect()
    }

    /// The cell of the first grid that a root block's cell is in.
    #[inline]
    pub(crate) fn of_root(&self, coord: [i32; D], cell: usize) -> usize {
        let at = dims::unravel::<D>(cell, 4);
        let up = std::array::from_fn(|a| (2 * coord[a] + (at[a] >> 1)) as usize);
        self.levels[0].cell(up)
    }

    /// Takes the root level's conductances and diagonal.
    pub(crate) fn fill(&mut self, blocks: &Blocks<D>, conductance: &[f64], diagonal: &[f64]) {
        let (cells, per) = (dims::cells(D), faces::per_block(D));
        let first = &mut self.levels[0];
        first.diagonal.fill(0.0);
        for t in &mut first.t {
            t.fill(0.0);
        }
        for block in blocks.range(0) {
            let coord = blocks.coord(block);
            for cell in 0..cells {
                let at = dims::unravel::<D>(cell, 4);
                let up: [usize; D] =
                    std::array::from_fn(|a| (2 * coord[a] + (at[a] >> 1)) as usize);
                let to = first.cell(up);
                first.diagonal[to] += diagonal.get(block * cells + cell).copied().unwrap_or(0.0);
                for axis in 0..D {
                    let last = at[axis] == 3 && coord[axis] + 1 == blocks.root()[axis] as i32;
                    if at[axis] % 2 == 0 {
                        let t = conductance[block * per + faces::of_side(D, 2 * axis, cell)];
                        let to = first.face(axis, up, 0);
                        first.t[axis][to] += 0.5 * t;
                    }
                    if last {
                        let t = conductance[block * per + faces::of_side(D, 2 * axis + 1, cell)];
                        let to = first.face(axis, up, 1);
                        first.t[axis][to] += 0.5 * t;
                    }
                }
            }
        }
        first.finish();
        for i in 1..self.levels.len() {
            let (fine, coarse) = self.levels.split_at_mut(i);
            coarse[0].fill_from(&fine[i - 1]);
        }
    }

    /// A V-cycle from the first grid on: `b` is set, `x` is the result.
    pub(crate) fn cycle(&self, work: &mut [BoxWork]) {
        let last = self.levels.len() - 1;
        for i in 0..last {
            let (fine, coarse) = work.split_at_mut(i + 1);
            let (level, w) = (&self.levels[i], &mut fine[i]);
            w.x.fill(0.0);
            level.smooth(w, true);
            let BoxWork { b, x, r, .. } = w;
            let (b, x) = (&*b, &*x);
            let each = |(cell, r): (usize, &mut f64)| *r = level.residual(b, x, cell);
            r.par_iter_mut()
                .enumerate()
                .with_min_len(TASK)
                .for_each(each);
            coarse[0].b.fill(0.0);
            for cell in 0..level.cells() {
                coarse[0].b[self.parent(i, cell)] += r[cell];
            }
        }
        work[last].x.fill(0.0);
        self.levels[last].solve_coarsest(&mut work[last]);
        for i in (0..last).rev() {
            let (fine, coarse) = work.split_at_mut(i + 1);
            let (level, w) = (&self.levels[i], &mut fine[i]);
            for cell in 0..level.cells() {
                w.x[cell] += coarse[0].x[self.parent(i, cell)];
            }
            level.smooth(w, false);
        }
    }

    fn parent(&self, i: usize, cell: usize) -> usize {
        let (fine, coarse) = (&self.levels[i], &self.levels[i + 1]);
        let at = fine.at(cell);
        coarse.cell(at.map(|c| c / 2))
    }
}
