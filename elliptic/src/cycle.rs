//! One symmetric V-cycle: from the finest level down to the coarsest grid and back.
//!
//! A level's grid is the mesh of all blocks up to this level. Smoothed are its own cells and the coarser leaves' cells
//! that touch them; what lies further is zero on the way down. The residual of those leaves and their neighbours is
//! made anew before the next coarser level begins.

use crate::operator::{EllipticOperator, sum_children};
use cutlink_amr::dims;
use cutlink_device::memory;
use rayon::prelude::*;

/// Chebyshev iteration on the upper three quarters of the spectrum of the operator over its diagonal, which ends at 2
/// (Gershgorin): Saad, *Iterative Methods for Sparse Linear Systems*, 2nd ed., algorithm 12.1.
#[derive(Debug)]
pub(crate) struct Chebyshev;

impl Chebyshev {
    const DEGREE: usize = 3;
    const HIGH: f64 = 2.0;
    const LOW: f64 = 0.5;

    /// For each step: what the former correction is multiplied by, and the residual over the diagonal.
    pub(crate) fn steps() -> impl Iterator<Item = [f64; 2]> {
        let (mid, half) = (
            0.5 * (Self::HIGH + Self::LOW),
            0.5 * (Self::HIGH - Self::LOW),
        );
        let sigma = mid / half;
        let mut rho = 1.0 / sigma;
        (0..Self::DEGREE).map(move |step| {
            if step == 0 {
                return [0.0, 1.0 / mid];
            }
            let next = 1.0 / (2.0 * sigma - rho);
            let factors = [next * rho, 2.0 * next / half];
            rho = next;
            factors
        })
    }
}

/// Arrays of a cycle.
#[derive(Debug, Default)]
pub(crate) struct CycleWork {
    b: Vec<f64>,
    d: Vec<f64>,
    /// Of coarse layers: right side, solution, correction.
    layer: [Vec<f64>; 3],
    coarse: Vec<crate::box_grid::BoxWork>,
}

impl<const D: usize> EllipticOperator<D> {
    pub(crate) fn work(&self) -> Result<CycleWork, crate::EllipticError> {
        let mut work = CycleWork::default();
        memory::grow("the multigrid", &mut work.b, self.blocks.cells(), 0.0)?;
        memory::grow("the multigrid", &mut work.d, self.blocks.cells(), 0.0)?;
        for values in &mut work.layer {
            memory::grow("the multigrid", values, self.layer_inverse.len(), 0.0)?;
        }
        work.coarse = self.coarse.work();
        Ok(work)
    }

    /// One cycle for the right side `r` from zero: `z` is the correction, on leaves.
    pub(crate) fn cycle(&self, r: &[f64], z: &mut [f64], w: &mut CycleWork) {
        let cells = dims::cells(D);
        z.fill(0.0);
        let leaf = |block: usize| self.blocks.is_leaf(block);
        (w.b.par_chunks_mut(cells)
            .zip(r.par_chunks(cells))
            .enumerate())
        .for_each(|(block, (b, r))| {
            if leaf(block) {
                b.copy_from_slice(r);
            }
        });
        let finest = self.blocks.finest();
        for level in (1..=finest).rev() {
            self.save_layers(level, &w.b, &mut w.layer[0]);
            self.smooth(level, z, w, true);
            self.go_down(level, z, w);
        }
        self.smooth(0, z, w, true);
        self.root_correction(z, w);
        self.smooth(0, z, w, false);
        for level in 1..=finest {
            self.go_up(level, z, w);
            self.smooth(level, z, w, false);
        }
    }

    fn save_layers(&self, level: usize, from: &[f64], to: &mut [f64]) {
        let cells = dims::cells(D);
        let range = self.layers.range[level].clone();
        (to[range.start * cells..range.end * cells]
            .par_chunks_mut(cells)
            .enumerate())
        .for_each(|(i, to)| {
            let block = self.layers.block[range.start + i] as usize;
            to.copy_from_slice(&from[block * cells..(block + 1) * cells]);
        });
    }

    fn smooth(&self, level: usize, x: &mut [f64], w: &mut CycleWork, from_zero: bool) {
        let cells = dims::cells(D);
        let range = self.blocks.range(level);
        let (layers, inverse) = (&self.layers, &self.inverse);
        let places = layers.range[level].clone();
        let of_places = places.start * cells..places.end * cells;
        let CycleWork { b, d, layer, .. } = w;
        let [layer_b, _, layer_d] = layer;
        let of_level = range.start * cells..range.end * cells;
        for (step, [keep, add]) in Chebyshev::steps().enumerate() {
            let zero = from_zero && step == 0;
            let now = &*x;
            let each = |(i, d): (usize, &mut [f64])| {
                let block = range.start + i;
                let mut ax = [0.0; 64];
                if !zero {
                    self.apply_on_level(now, block, &mut ax[..cells]);
                }
                for cell in 0..cells {
                    let own = block * cells + cell;
                    d[cell] = keep * d[cell] + add * inverse[own] * (b[own] - ax[cell]);
                }
            };
            d[of_level.clone()]
                .par_chunks_mut(cells)
                .enumerate()
                .for_each(each);
            let each = |(i, d): (usize, &mut [f64])| {
                let place = places.start + i;
                let mut ax = [0.0; 64];
                if !zero {
                    self.apply_leaf(now, layers.block[place] as usize, &mut ax[..cells]);
                }
                for cell in 0..cells {
                    let own = place * cells + cell;
                    let r = self.layer_inverse[own] * (layer_b[own] - ax[cell]);
                    let bit = layers.cells[place] >> cell & 1;
                    d[cell] = if bit == 1 {
                        keep * d[cell] + add * r
                    } else {
                        0.0
                    };
                }
            };
            layer_d[of_places.clone()]
                .par_chunks_mut(cells)
                .enumerate()
                .for_each(each);
            let of_level = of_level.clone();
            (x[of_level.clone()]
                .par_iter_mut()
                .zip(&d[of_level])
                .with_min_len(1024))
            .for_each(|(x, d)| *x += d);
            self.add_to_layers(level, layer_d, x);
        }
    }

    /// Adds values of coarse layers, which are zero in other cells, to their leaves.
    fn add_to_layers(&self, level: usize, from: &[f64], x: &mut [f64]) {
        let cells = dims::cells(D);
        for place in self.layers.range[level].clone() {
            let block = self.layers.block[place] as usize;
            let own = &mut x[block * cells..(block + 1) * cells];
            for (x, d) in own
                .iter_mut()
                .zip(&from[place * cells..(place + 1) * cells])
            {
                *x += d;
            }
        }
    }

    /// Residuals of a level as the next coarser one's right side; what its coarse layers have is put aside.
    fn go_down(&self, level: usize, x: &mut [f64], w: &mut CycleWork) {
        let cells = dims::cells(D);
        let range = self.blocks.range(level);
        let CycleWork { b, d, layer, .. } = w;
        let (now, rhs) = (&*x, &*b);
        let each = |(i, r): (usize, &mut [f64])| {
            let block = range.start + i;
            self.apply_on_level(now, block, r);
            for (r, b) in r.iter_mut().zip(&rhs[block * cells..]) {
                *r = b - *r;
            }
        };
        (d[range.start * cells..range.end * cells]
            .par_chunks_mut(cells)
            .enumerate())
        .for_each(each);
        let each = |&block: &u32| {
            let mut ax = [0.0; 64];
            self.apply_leaf(now, block as usize, &mut ax[..cells]);
            ax
        };
        let touched = &self.layers.touched[level];
        let changes: Vec<[f64; 64]> = touched.par_iter().map(each).collect();
        for (&block, ax) in touched.iter().zip(&changes) {
            for (b, ax) in b[block as usize * cells..][..cells].iter_mut().zip(ax) {
                *b -= ax;
            }
        }
        self.save_layers(level, x, &mut layer[1]);
        for place in self.layers.range[level].clone() {
            let block = self.layers.block[place] as usize;
            x[block * cells..(block + 1) * cells].fill(0.0);
        }
        let up = self.blocks.range(level - 1);
        let each = |(i, out): (usize, &mut [f64])| {
            if let Some(child) = self.blocks.first_child(up.start + i) {
                sum_children::<D>(&d[child * cells..], out);
            }
        };
        (b[up.start * cells..up.end * cells]
            .par_chunks_mut(cells)
            .enumerate())
        .for_each(each);
    }

    /// The coarser level's correction, and what the coarse layers had before.
    fn go_up(&self, level: usize, x: &mut [f64], w: &mut CycleWork) {
        let cells = dims::cells(D);
        let range = self.blocks.range(level);
        let (coarse, fine) = x.split_at_mut(range.start * cells);
        let fine = &mut fine[..range.len() * cells];
        fine.par_chunks_mut(cells).enumerate().for_each(|(i, x)| {
            let block = range.start + i;
            let Some(parent) = self.blocks.parent(block) else {
                return;
            };
            let half = self.blocks.coord(block).map(|c| c & 1);
            for (cell, x) in x.iter_mut().enumerate() {
                // Cells without open faces are no unknowns.
                if self.inverse[block * cells + cell] > 0.0 {
                    let up = dims::above(half, dims::unravel::<D>(cell, 4));
                    *x += coarse[parent * cells + dims::ravel(up, 4)];
                }
            }
        });
        self.add_to_layers(level, &w.layer[1], x);
    }

    fn root_correction(&self, x: &mut [f64], w: &mut CycleWork) {
        let cells = dims::cells(D);
        let range = self.blocks.range(0);
        let CycleWork { b, d, coarse, .. } = w;
        let (now, rhs) = (&*x, &*b);
        let each = |(block, r): (usize, &mut [f64])| {
            self.apply_on_level(now, block, r);
            for (r, b) in r.iter_mut().zip(&rhs[block * cells..]) {
                *r = b - *r;
            }
        };
        d[..range.len() * cells]
            .par_chunks_mut(cells)
            .enumerate()
            .for_each(each);
        coarse[0].b.fill(0.0);
        for block in range.clone() {
            for cell in 0..cells {
                coarse[0].b[self.coarse.of_root(self.blocks.coord(block), cell)] +=
                    d[block * cells + cell];
            }
        }
        self.coarse.cycle(coarse);
        for block in range {
            for cell in 0..cells {
                if self.inverse[block * cells + cell] == 0.0 {
                    continue;
                }
                x[block * cells + cell] +=
                    coarse[0].x[self.coarse.of_root(self.blocks.coord(block), cell)];
            }
        }
    }
}
