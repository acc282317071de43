//! The state of a flow for others: to be saved and restored, and at the centres of cells.

use crate::{
    EulerFlow, EulerParams, FrError, Primitive, TimeStep,
    basis::lagrange,
    kernels::{Kernels, sizes},
    walls::WallsOf,
};
use cutlink_amr::{dims, linear::Leaves};
use cutlink_device::Host;
use rayon::prelude::*;

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
        let lengths = self.reserve(&leaves, &faces, walls.faces.len())?;
        self.u.clear();
        self.u.extend_from_slice(unknowns);
        self.start.resize(lengths.state, T::ZERO);
        self.resize_rest(&lengths);
        self.take_mesh(leaves, faces, walls);
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

    /// The state at the centres of the 4^D cells that an element is divided into: by leaf, then cell with x first. The
    /// polynomials of the unknowns are evaluated there.
    pub fn cells(&self) -> Vec<Primitive<D>> {
        let q = self.basis.points.len();
        let edge = dims::EDGE as usize;
        let rows: Vec<Vec<f64>> = (0..edge)
            .map(|i| lagrange(&self.basis.points, (2 * i + 1) as f64 / edge as f64 - 1.0))
            .collect();
        // By cell, the share of each point.
        let shares: Vec<Vec<f64>> = (0..dims::cells(D))
            .map(|cell| {
                let share = |node: usize| {
                    let of = |a: u32| rows[cell / edge.pow(a) % edge][node / q.pow(a) % q];
                    (0..D as u32).map(of).product()
                };
                (0..self.nodes()).map(share).collect()
            })
            .collect();
        let (nodes, gamma) = (self.nodes(), self.params.gamma);
        let of_element = |u: &[T]| -> Vec<Primitive<D>> {
            let at = |share: &Vec<f64>| {
                let value = |v: usize| -> f64 {
                    let own = u[v * nodes..][..nodes].iter();
                    own.zip(share).map(|(u, share)| u.wide() * share).sum()
                };
                let density = value(0);
                let velocity: [f64; D] = std::array::from_fn(|a| value(1 + a) / density);
                let kinetic = 0.5 * density * velocity.iter().map(|v| v * v).sum::<f64>();
                Primitive {
                    density,
                    velocity,
                    pressure: (gamma - 1.0) * (value(1 + D) - kinetic),
                }
            };
            shares.iter().map(at).collect()
        };
        let one = sizes::element(D, q);
        self.u.par_chunks(one).flat_map_iter(of_element).collect()
    }
}
