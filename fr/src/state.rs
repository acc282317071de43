//! The state of a flow for others: to be saved and restored, and at the centres of cells.

use crate::{
    EulerFlow, EulerParams, FrError, Primitive, TimeStep,
    basis::lagrange,
    kernels::{EulerKernels, Kernels, sizes},
    walls::WallsOf,
};
use cutlink_amr::{dims, linear::Leaves};
use cutlink_device::Host;
use rayon::prelude::*;
use std::ops::Range;

impl<const D: usize, T: Kernels<D>> EulerFlow<D, T> {
    /// Goes on from a saved state: its tree, [`unknowns`](Self::unknowns), time and steps. Steps after it are the same bits
    /// as without the pause.
    ///
    /// # Errors
    /// A tree of another root grid, unknowns of another number, memory that is short; the flow is as it was then.
    pub fn restore(
        &mut self,
        leaves: Leaves<D>,
        unknowns: &[T],
        time: f64,
        steps: u64,
    ) -> Result<(), FrError> {
        (T::host_functions().restore)(self, leaves, unknowns, time, steps)
    }

    pub(crate) fn restore_here(
        &mut self,
        leaves: Leaves<D>,
        unknowns: &[T],
        time: f64,
        steps: u64,
    ) -> Result<(), FrError> {
        let expected = leaves.len() * sizes::element(D, self.params.order + 1);
        let grid = self.leaves.grid();
        let is_same =
            leaves.grid().root() == grid.root() && leaves.grid().periodic() == grid.periodic();
        if !is_same || unknowns.len() != expected {
            return Err(FrError::Saved {
                found: unknowns.len(),
                expected,
            });
        }
        let mut faces = leaves.faces(&Host)?;
        let walls = WallsOf::new(&self.params, &leaves, &mut faces, self.lower, self.edges)?;
        let masks = self.masks_of(&leaves)?;
        let lengths = self.reserve(&leaves, &faces, walls.faces.len())?;
        self.u.clear();
        self.u.extend_from_slice(unknowns);
        self.start.resize(lengths.state, T::ZERO);
        self.resize_rest(&lengths);
        self.take_mesh(leaves, faces, walls, masks);
        T::traces(&self.basis, &self.u, &mut self.traces);
        (self.time, self.steps) = (time, steps);
        Ok(())
    }

    /// Changes how long steps are, from the next one on.
    ///
    /// # Errors
    /// A step that is not positive.
    pub fn set_time_step(&mut self, time_step: TimeStep) -> Result<(), FrError> {
        let params = EulerParams {
            time_step,
            ..self.params.clone()
        };
        params.validate()?;
        self.params = params;
        Ok(())
    }

    /// The state at the centres of the cells of all elements, as [`cells_of`](EulerFlow::cells_of) gives it.
    pub fn cells(&self) -> Vec<Primitive<D>> {
        (T::host_functions().cells)(self)
    }

    pub(crate) fn cells_here(&self) -> Vec<Primitive<D>> {
        let (one, shares) = (
            sizes::element(D, self.basis.points.len()),
            self.cell_shares(),
        );
        let of_element = |u: &[T]| -> Vec<Primitive<D>> {
            shares.iter().map(|share| self.weighted(u, share)).collect()
        };
        self.u.par_chunks(one).flat_map_iter(of_element).collect()
    }

    /// The state at a point: the polynomials of the element there, of the upper one on a face. None outside of the box and in
    /// removed elements.
    pub fn state_at(&self, x: [f64; D]) -> Option<Primitive<D>> {
        (T::host_functions().state_at)(self, x)
    }

    pub(crate) fn state_here(&self, x: [f64; D]) -> Option<Primitive<D>> {
        let finest = self.leaves.finest();
        let blocks = f64::from(1u32 << finest);
        // By axis, the coordinate on the finest level, and whether it is in the box.
        let along = |a: usize| {
            let (at, most) = (
                (x[a] - self.lower[a]) / self.edges[a] * blocks,
                f64::from(self.leaves.grid().root()[a]) * blocks,
            );
            // What is outside by rounding is inside.
            let slack = 1e-9 * most;
            (at >= -slack && at <= most + slack).then(|| at.floor().clamp(0.0, most - 1.0) as i32)
        };
        let coord: [Option<i32>; D] = std::array::from_fn(along);
        if coord.contains(&None) {
            return None;
        }
        let leaf = self
            .leaves
            .find(finest, coord.map(Option::unwrap_or_default))?;
        if self.is_removed(leaf) {
            return None;
        }
        let scale = 1.0 / f64::from(1u32 << self.leaves.level(leaf));
        let own = self.leaves.coord(leaf);
        let rows: [Vec<f64>; D] = std::array::from_fn(|a| {
            let local = (x[a] - self.lower[a]) / (self.edges[a] * scale) - f64::from(own[a]);
            lagrange(&self.basis.points, 2.0 * local - 1.0)
        });
        let shares = shares::<D>(|a| &rows[a]);
        let one = sizes::element(D, self.basis.points.len());
        Some(self.weighted(&self.u[leaf as usize * one..][..one], &shares))
    }

    /// The cells of an element that are in bodies, a bit each: all of one in a box of elements, and those with their centre
    /// in an embedded body.
    pub fn solid_cells(&self, leaf: u32) -> u64 {
        (T::host_functions().solid_cells)(self, leaf)
    }

    pub(crate) fn solid_cells_here(&self, leaf: u32) -> u64 {
        let cells = dims::cells(D);
        if self.is_removed(leaf) {
            return u64::MAX >> (64 - cells);
        }
        let Some(bodies) = &self.params.walls.embedded else {
            return 0;
        };
        let (level, coord) = (self.levels[leaf as usize], self.coords[leaf as usize]);
        if !bodies.geometry.is_near(u32::from(level), coord) {
            return 0;
        }
        let edge = dims::EDGE as usize;
        let scale = 1.0 / f64::from(1u32 << level);
        let is_solid = |cell: &usize| {
            let centre = std::array::from_fn(|a| {
                let local = ((cell / edge.pow(a as u32) % edge) as f64 + 0.5) / edge as f64;
                self.lower[a] + self.edges[a] * scale * (f64::from(coord[a]) + local)
            });
            bodies.geometry.body_at(centre).is_some()
        };
        (0..cells).filter(is_solid).map(|cell| 1 << cell).sum()
    }

    /// By embedded body, the points of elements in it.
    pub fn points_in_bodies(&self) -> Vec<usize> {
        let bodies = self.params.walls.embedded.as_ref();
        let mut points = vec![0; bodies.map_or(0, |of| of.temperatures.len())];
        for &body in self.masks.table.bodies.iter().filter(|&&body| body > 0) {
            points[usize::from(body) - 1] += 1;
        }
        points
    }
}

impl<const D: usize, T: Kernels<D>, B: EulerKernels<D>> EulerFlow<D, T, B> {
    /// The state at the centres of the 4^D cells that some elements are divided into: by element, then cell with x first. The
    /// polynomials of the unknowns are evaluated there. Of a flow on a device the unknowns of these elements are copied.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    ///
    /// # Panics
    /// On elements that are none.
    pub fn cells_of(&self, elements: Range<usize>) -> Result<Vec<Primitive<D>>, FrError> {
        (B::functions::<T>().cells_of)(self, elements)
    }

    pub(crate) fn cells_of_here(
        &self,
        elements: Range<usize>,
    ) -> Result<Vec<Primitive<D>>, FrError> {
        let (one, shares) = (
            sizes::element(D, self.basis.points.len()),
            self.cell_shares(),
        );
        let unknowns = elements.start * one..elements.end * one;
        let u = self.backend.download_part(&self.u, unknowns)?;
        let of_element = |u: &[T]| -> Vec<Primitive<D>> {
            shares.iter().map(|share| self.weighted(u, share)).collect()
        };
        Ok(u.par_chunks(one).flat_map_iter(of_element).collect())
    }

    /// By cell of an element, the share of each point.
    fn cell_shares(&self) -> Vec<Vec<f64>> {
        let edge = dims::EDGE as usize;
        let rows: Vec<Vec<f64>> = (0..edge)
            .map(|i| lagrange(&self.basis.points, (2 * i + 1) as f64 / edge as f64 - 1.0))
            .collect();
        (0..dims::cells(D))
            .map(|cell| shares::<D>(|a| &rows[cell / edge.pow(a as u32) % edge]))
            .collect()
    }

    /// The state of an element with its unknowns summed up by a share of each point.
    fn weighted(&self, u: &[T], shares: &[f64]) -> Primitive<D> {
        let nodes = self.nodes();
        let value = |v: usize| -> f64 {
            let own = u[v * nodes..][..nodes].iter();
            own.zip(shares).map(|(u, share)| u.wide() * share).sum()
        };
        let density = value(0);
        let velocity: [f64; D] = std::array::from_fn(|a| value(1 + a) / density);
        let kinetic = 0.5 * density * velocity.iter().map(|v| v * v).sum::<f64>();
        Primitive {
            density,
            velocity,
            pressure: (self.params.gamma - 1.0) * (value(1 + D) - kinetic),
        }
    }
}

/// The share of each point of an element in the value at a place, by those along each axis.
fn shares<'a, const D: usize>(along: impl Fn(usize) -> &'a [f64]) -> Vec<f64> {
    let along: [&[f64]; D] = std::array::from_fn(along);
    let q = along[0].len();
    let share = |node: usize| -> f64 {
        let of = |a: usize| along[a][node / q.pow(a as u32) % q];
        (0..D).map(of).product()
    };
    (0..sizes::nodes(D, q)).map(share).collect()
}
