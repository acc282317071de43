//! The mean density of closed boxes with moving walls (decision 014).

use super::Run;
use crate::{
    SolverError,
    kernels::{ExactSum, FlowKernels},
    lattice::Lattice,
    storage::Storage,
};

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    /// Brings the mean density back to 1, everywhere by the same factor, so that neither velocities nor pressure
    /// gradients feel it.
    pub(super) fn hold_density(&mut self) -> Result<(), SolverError> {
        let mut sums: Vec<ExactSum> = Vec::new();
        for state in &self.levels {
            let mass = self.backend.mass::<L, S>(&state.level, &state.now)?;
            sums.push(self.backend.download(&mass)?.into_iter().collect());
        }
        if let Some(peers) = &self.peers {
            sums = peers.comm.sums(sums)?;
        }
        let of_level =
            |(level, sum): (usize, &ExactSum)| sum.value() * (0.5f64).powi((level * D) as i32);
        let excess: f64 = sums.iter().enumerate().map(of_level).sum();
        let share = excess / self.plan.census.volume;
        self.mass_reset += share;
        let factor = 1.0 / (1.0 + share);
        for state in &mut self.levels {
            self.backend
                .rescale::<L, S>(&state.level, factor, &mut state.now)?;
        }
        Ok(())
    }
}
