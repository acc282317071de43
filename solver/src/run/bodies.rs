//! Bodies that move, in the levels of a running flow.

use super::{Run, level::State};
use crate::{
    SolverError,
    bodies::{Followed, Movement},
    kernels::{ExactSum, FlowKernels, SUMS},
    lattice::Lattice,
    storage::Storage,
};
use cutlink_device::Real;
use std::{io, sync::OnceLock};

impl<const D: usize, S: Storage, B: FlowKernels<D>> State<D, S, B> {
    /// After a step of the finest level: what the fluid did to the bodies, where they are now, and, if they are due, the tables
    /// there and the cells that they have uncovered.
    pub(super) fn move_bodies<L: Lattice>(
        &mut self,
        backend: &B,
        movement: &mut Movement<D>,
        moment_center: [f64; D],
    ) -> Result<(), SolverError> {
        let loads = self.loads::<L>(backend, movement, moment_center)?;
        let time = self.steps as f64 / f64::from(1u32 << self.level.index);
        let is_due = movement.advance(time, Some(&loads))?;
        if !is_due {
            return self.set_rules(backend, movement);
        }
        let followed = movement.follow()?;
        let fresh = self.take_tables(backend, movement, followed)?;
        let half_step = self.half_step.map(|g| g.wide());
        backend.refill::<L, S>(&self.level, half_step, &fresh, &mut self.now)
    }

    /// Forces and torques of the fluid on the bodies.
    fn loads<L: Lattice>(
        &mut self,
        backend: &B,
        movement: &Movement<D>,
        moment_center: [f64; D],
    ) -> Result<Vec<[f64; 6]>, SolverError> {
        let count = SUMS * self.level.patches;
        let mut sums = backend.alloc("forces of bodies", count, ExactSum::default())?;
        backend.forces::<L, S>(&self.level, &self.now, &mut self.parts, 0, true, &mut sums)?;
        let sums = backend.download(&sums)?;
        let patches = sums.chunks_exact(SUMS);
        let patches: Vec<[f64; 6]> = patches
            .map(|sums| std::array::from_fn(|n| sums[n].value()))
            .collect();
        Ok(movement.loads(&patches, moment_center))
    }

    fn set_rules(&mut self, backend: &B, movement: &Movement<D>) -> Result<(), SolverError> {
        let rules = backend.upload(movement.rules())?;
        Ok(backend.copy(&rules, &mut self.level.rules)?)
    }

    /// Takes the tables of bodies at other places; the cells that are fluid now and were not.
    pub(super) fn take_tables(
        &mut self,
        backend: &B,
        movement: &Movement<D>,
        followed: Followed,
    ) -> Result<Vec<u32>, SolverError> {
        let Followed {
            stepped,
            solid,
            cuts,
            walls,
            fresh,
        } = followed;
        let level = &mut self.level;
        level.stepped = backend.upload(stepped)?;
        level.solid = backend.upload(solid)?;
        level.boundary = backend.upload(cuts.boundary)?;
        level.cell_start = backend.upload(cuts.cell_start)?;
        level.cells = backend.upload(cuts.cells)?;
        level.q = backend.upload(cuts.q)?;
        level.patch = backend.upload(cuts.patch)?;
        let parts = SUMS * level.patches * walls.linked.len();
        level.linked = backend.upload(walls.linked)?;
        level.walled = backend.upload(walls.walled)?;
        level.faced = backend.upload(walls.faced)?;
        level.bounded = backend.upload(walls.bounded)?;
        level.open = backend.upload(walls.open)?;
        self.parts = backend.alloc("forces by block", parts, 0.0)?;
        self.set_rules(backend, movement)?;
        Ok(fresh)
    }
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    /// Keeps where the bodies are after a root step, and forgets what was derived from the mesh before.
    pub(super) fn sample_bodies(&mut self) {
        if let Some(movement) = &mut self.movement {
            movement.sample(self.steps + 1);
            self.summed = OnceLock::new();
        }
    }

    /// Gives the walls of bodies their first velocities.
    pub(super) fn begin_bodies(&mut self) -> Result<(), SolverError> {
        match &self.movement {
            Some(movement) => self.levels[movement.level()].set_rules(&self.backend, movement),
            None => Ok(()),
        }
    }

    /// Brings the bodies back to their first poses.
    pub(super) fn restart_bodies(&mut self) -> Result<(), SolverError> {
        let Some(movement) = &mut self.movement else {
            return Ok(());
        };
        let followed = movement.restart()?;
        self.take_bodies(followed)
    }

    /// Takes the place of bodies that were saved, if there are any.
    pub(super) fn restore_bodies(&mut self, from: &mut dyn io::Read) -> Result<(), SolverError> {
        let Some(movement) = &mut self.movement else {
            return Ok(());
        };
        let followed = movement.restore(from)?;
        self.take_bodies(followed)
    }

    fn take_bodies(&mut self, followed: Followed) -> Result<(), SolverError> {
        self.summed = OnceLock::new();
        let movement = self.movement.as_ref().expect("there are bodies");
        let finest = &mut self.levels[movement.level()];
        finest.take_tables(&self.backend, movement, followed)?;
        Ok(())
    }
}
