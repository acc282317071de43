//! Conditions and accelerations that vary in time.

use super::Run;
use crate::{
    Place, SolverError, kernels::FlowKernels, lattice::Lattice, profile, storage::Storage, tables,
    variation::OfTime,
};

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    /// The acceleration, where it varies.
    pub(super) fn pull(&self) -> Option<OfTime<D>> {
        let variations = &self.plan.params.variations;
        let found = variations.iter().find(|v| v.place == Place::Acceleration)?;
        found.time.clone()
    }

    /// Brings the conditions to the middle of the next root step. Buffers stay where they are, for the sake of graphs.
    pub(super) fn vary(&mut self) -> Result<(), SolverError> {
        let params = &self.plan.params;
        if params.variations.is_empty() {
            return Ok(());
        }
        let time = self.steps as f64 + 0.5;
        let mut rules = tables::rules(params, Some(time))?;
        if let Some(movement) = &mut self.movement {
            movement.set_base(rules);
            rules = movement.rules();
        }
        if rules != self.rules {
            let fresh = self.backend.upload(rules.clone())?;
            for state in &mut self.levels {
                self.backend.copy(&fresh, &mut state.level.rules)?;
            }
            self.rules = rules;
        }
        for state in self
            .levels
            .iter_mut()
            .filter(|state| !state.moving.is_empty())
        {
            let fresh = profile::values(&params.variations, &state.moving, time)?;
            for (point, fresh) in state.moving.iter().zip(fresh.chunks_exact(D)) {
                state.profile[D * point.place..][..D].copy_from_slice(fresh);
            }
            let fresh = self.backend.upload(state.profile.clone())?;
            self.backend.copy(&fresh, &mut state.level.profile)?;
        }
        Ok(())
    }

    /// Sets the clocks of the levels by the root steps done.
    pub(super) fn set_clocks(&mut self) -> Result<(), SolverError> {
        let pull = self.pull();
        for state in &mut self.levels {
            state.steps = self.steps << state.level.index;
            if let Some(pull) = &pull {
                state.accelerate(pull, state.steps)?;
            }
        }
        Ok(())
    }
}
