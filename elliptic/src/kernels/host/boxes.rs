//! The grids below the root level.

use super::transfer::residuals;
use crate::box_grid::{BoxGrid, BoxShape};
use crate::cg::Arrays;
use crate::constants::COARSEST_SWEEPS;
use crate::cycle::Chebyshev;
use crate::{EllipticOperator, faces};
use cutlink_amr::dims;
use cutlink_device::Host;
use rayon::prelude::*;

/// Cells that a task takes at least.
const TASK: usize = 1024;

pub(super) fn fill<const D: usize>(op: &mut EllipticOperator<D>) {
    fill_first(op);
    let boxes = &mut op.boxes;
    finish(boxes, 0);
    for level in 1..boxes.levels.len() {
        fill_from_finer(boxes, level);
        finish(boxes, level);
    }
    boxes.matrix = coarsest_matrix(boxes);
}

/// The first grid takes the root level's conductances and diagonal: half of the sums of faces, since distances double.
fn fill_first<const D: usize>(op: &mut EllipticOperator<D>) {
    let (cells, per) = (dims::cells(D), faces::per_block(D));
    let first = op.boxes.levels[0];
    op.boxes.diagonal[..first.cells()].fill(0.0);
    for (t, axis) in op.boxes.t.iter_mut().zip(0..) {
        t[..first.faces(axis)].fill(0.0);
    }
    for block in op.blocks.range(0) {
        let coord = op.blocks.coord(block);
        for cell in 0..cells {
            let at = dims::unravel::<D>(cell, 4);
            let up: [usize; D] = std::array::from_fn(|a| (2 * coord[a] + (at[a] >> 1)) as usize);
            let own = op.diagonal.get(block * cells + cell).copied();
            op.boxes.diagonal[first.cell(up)] += own.unwrap_or(0.0);
            for axis in 0..D {
                let last = at[axis] == 3 && coord[axis] + 1 == op.blocks.root()[axis] as i32;
                for upper in 0..2 {
                    if (upper == 0 && at[axis] % 2 == 0) || (upper == 1 && last) {
                        let face = faces::of_side(D, 2 * axis + upper, cell);
                        let t = op.conductance[block * per + face];
                        op.boxes.t[axis][first.face(axis, up, upper)] += 0.5 * t;
                    }
                }
            }
        }
    }
}

/// Sums of conductances of a finer grid's faces, scaled to this one's distances, and of its diagonal.
fn fill_from_finer<const D: usize>(boxes: &mut BoxGrid<D, Host>, level: usize) {
    let (fine, coarse) = (boxes.levels[level - 1], boxes.levels[level]);
    boxes.diagonal[coarse.first..][..coarse.cells()].fill(0.0);
    for (axis, t) in boxes.t.iter_mut().enumerate() {
        t[coarse.first_face[axis]..][..coarse.faces(axis)].fill(0.0);
    }
    for cell in 0..fine.cells() {
        let at = fine.at(cell);
        let up = at.map(|c| c / 2);
        boxes.diagonal[coarse.first + coarse.cell(up)] += boxes.diagonal[fine.first + cell];
        for axis in 0..D {
            let t = &mut boxes.t[axis];
            let last = at[axis] + 1 == fine.n[axis];
            for upper in 0..2 {
                // Each face once: lower ones, and the upper ones of the last cells.
                if (upper == 1 && !last) || (upper == 0 && at[axis] % 2 == 1) {
                    continue;
                }
                let ratio = boxes.ratio[axis][coarse.first_ratio[axis] + up[axis] + upper];
                let from = t[fine.first_face[axis] + fine.face(axis, at, upper)];
                t[coarse.first_face[axis] + coarse.face(axis, up, upper)] += ratio * from;
            }
        }
    }
}

fn finish<const D: usize>(boxes: &mut BoxGrid<D, Host>, level: usize) {
    let shape = boxes.levels[level];
    for cell in 0..shape.cells() {
        let at = shape.at(cell);
        let t = |s: usize| {
            let (axis, upper) = (s / 2, s % 2);
            boxes.t[axis][shape.first_face[axis] + shape.face(axis, at, upper)]
        };
        let sum = (0..2 * D).map(t).sum::<f64>() + boxes.diagonal[shape.first + cell];
        boxes.inverse[shape.first + cell] = if sum > 0.0 { 1.0 / sum } else { 0.0 };
    }
}

/// What sweeps over the coarsest grid, forward and backward, make of each unit vector.
fn coarsest_matrix<const D: usize>(boxes: &BoxGrid<D, Host>) -> Vec<f64> {
    let shape = boxes.levels[boxes.levels.len() - 1];
    let n = shape.cells();
    let mut a = vec![0.0; n * n];
    for cell in 0..n {
        let at = shape.at(cell);
        a[cell * n + cell] += boxes.diagonal[shape.first + cell];
        for side in 0..2 * D {
            let (axis, upper) = (side / 2, side % 2);
            let beyond = shape.beside(axis, at, upper);
            if beyond == Some(cell) {
                continue;
            }
            let t = boxes.t[axis][shape.first_face[axis] + shape.face(axis, at, upper)];
            a[cell * n + cell] += t;
            if let Some(beyond) = beyond {
                a[cell * n + beyond] -= t;
            }
        }
    }
    let mut matrix = vec![0.0; n * n];
    for column in 0..n {
        let mut x = vec![0.0; n];
        for _ in 0..COARSEST_SWEEPS {
            for cell in (0..n).chain((0..n).rev()) {
                let mut r = f64::from(u8::from(cell == column));
                for other in 0..n {
                    r -= a[cell * n + other] * x[other];
                }
                x[cell] += boxes.inverse[shape.first + cell] * r;
            }
        }
        for row in 0..n {
            matrix[row * n + column] = x[row];
        }
    }
    matrix
}

impl<const D: usize> BoxGrid<D, Host> {
    #[inline]
    fn residual(&self, shape: &BoxShape<D>, b: &[f64], x: &[f64], cell: usize) -> f64 {
        let at = shape.at(cell);
        let mut r = b[cell] - self.diagonal[shape.first + cell] * x[cell];
        for side in 0..2 * D {
            let (axis, upper) = (side / 2, side % 2);
            let beyond = shape.beside(axis, at, upper).map_or(0.0, |c| x[c]);
            let t = self.t[axis][shape.first_face[axis] + shape.face(axis, at, upper)];
            r -= t * (x[cell] - beyond);
        }
        r
    }

    fn smooth(&self, level: usize, w: &mut [Vec<f64>; 4], from_zero: bool) {
        let shape = &self.levels[level];
        let range = shape.first..shape.first + shape.cells();
        let [b, x, d, _] = w.each_mut().map(|values| &mut values[range.clone()]);
        for (step, [keep, add]) in Chebyshev::steps().into_iter().enumerate() {
            let (b, x_now) = (&*b, &*x);
            let each = |(cell, d): (usize, &mut f64)| {
                let zero = from_zero && step == 0;
                let r = if zero {
                    b[cell]
                } else {
                    self.residual(shape, b, x_now, cell)
                };
                *d = keep * *d + add * self.inverse[shape.first + cell] * r;
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

    /// A V-cycle from the first grid on: `b` is set, `x` is the result.
    fn cycle(&self, w: &mut [Vec<f64>; 4]) {
        let last = self.levels.len() - 1;
        for level in 0..last {
            let (fine, coarse) = (&self.levels[level], &self.levels[level + 1]);
            let range = fine.first..fine.first + fine.cells();
            w[1][range.clone()].fill(0.0);
            self.smooth(level, w, true);
            let [b, x, _, r] = w;
            let (of_b, of_x) = (&b[range.clone()], &x[range.clone()]);
            let each = |(cell, r): (usize, &mut f64)| *r = self.residual(fine, of_b, of_x, cell);
            (r[range.clone()].par_iter_mut().enumerate())
                .with_min_len(TASK)
                .for_each(each);
            b[coarse.first..][..coarse.cells()].fill(0.0);
            for (cell, r) in r[range].iter().enumerate() {
                b[coarse.first + coarse.cell(fine.at(cell).map(|c| c / 2))] += r;
            }
        }
        self.solve_coarsest(w);
        for level in (0..last).rev() {
            let (fine, coarse) = (&self.levels[level], &self.levels[level + 1]);
            for cell in 0..fine.cells() {
                let up = coarse.cell(fine.at(cell).map(|c| c / 2));
                w[1][fine.first + cell] += w[1][coarse.first + up];
            }
            self.smooth(level, w, false);
        }
    }

    fn solve_coarsest(&self, [b, x, ..]: &mut [Vec<f64>; 4]) {
        let shape = &self.levels[self.levels.len() - 1];
        let n = shape.cells();
        for row in 0..n {
            let mut sum = 0.0;
            for column in 0..n {
                sum += self.matrix[row * n + column] * b[shape.first + column];
            }
            x[shape.first + row] = sum;
        }
    }
}

pub(super) fn correct_root<const D: usize>(op: &EllipticOperator<D>, w: &mut Arrays<Host>) {
    let cells = dims::cells(D);
    residuals(op, 0, w);
    let Arrays { z, d, boxes, .. } = w;
    let of = |block: usize, cell: usize| {
        let at = dims::unravel::<D>(cell, 4);
        op.boxes.of_root(op.blocks.coord(block), at)
    };
    boxes[0][..op.boxes.levels[0].cells()].fill(0.0);
    for block in op.blocks.range(0) {
        for cell in 0..cells {
            boxes[0][of(block, cell)] += d[block * cells + cell];
        }
    }
    op.boxes.cycle(boxes);
    for block in op.blocks.range(0) {
        for cell in 0..cells {
            if op.inverse[block * cells + cell] > 0.0 {
                z[block * cells + cell] += boxes[1][of(block, cell)];
            }
        }
    }
}
