//! Bodies that move, in the levels of a running flow.

use super::{
    Run,
    level::{Clock, State, timed},
};
use crate::{
    Adaptation, AdaptationLook, LatticeFlow, SolverError, Work,
    adapt::{
        own_mesh::OwnMesh,
        transfer::{Before, Seeds},
    },
    bodies::{Again, Embedded, Followed, Movement, look},
    kernels::{ExactSum, FlowKernels, RefillSource, SUMS},
    lattice::Lattice,
    storage::Storage,
    tables::Level,
};
use cutlink_amr::{Forest, FormerIds};
use cutlink_device::{Host, Real};
use std::{io, sync::OnceLock, time::Instant};

/// Bodies that move, and their mesh on a device that embeds them.
pub(super) struct Moving<const D: usize, B: FlowKernels<D>> {
    pub(super) bodies: Box<Movement<D>>,
    pub(super) embedded: Option<Embedded<D, B>>,
}

impl<const D: usize, B: FlowKernels<D>> Moving<D, B> {
    /// Embeds the bodies where they are, on the device or on the host.
    fn embed(&mut self, backend: &B) -> Result<(), SolverError> {
        if self.embedded.is_none() {
            self.embedded = Embedded::of(backend, &self.bodies)?;
        }
        match &mut self.embedded {
            Some(embedded) => embedded.embed(backend, &mut self.bodies),
            None => self.bodies.embed(),
        }
    }

    /// The tables of the finest level with the bodies as they were embedded.
    fn tables(
        &mut self,
        backend: &B,
        level: &Level<D, B>,
        blocks: &B::Buf<u32>,
    ) -> Result<Followed<B>, SolverError> {
        match &self.embedded {
            Some(embedded) => embedded.tables(backend, &self.bodies, level, blocks),
            None => self.bodies.tables()?.upload(backend),
        }
    }
}

impl<const D: usize, S: Storage, B: FlowKernels<D>> State<D, S, B> {
    /// After a step of the finest level: where the bodies are now, by the loads before it; if they are due, the tables there and the
    /// cells that they have uncovered; and the loads there. Loads with the tables of the place before would be up to a tenth too
    /// small: cut distances and populations have to be of one time.
    pub(super) fn move_bodies<L: Lattice>(
        &mut self,
        backend: &B,
        clock: &Clock<B>,
        moving: &mut Moving<D, B>,
        moment_center: [f64; D],
    ) -> Result<(), SolverError> {
        let index = self.level.index;
        let time = self.steps as f64 / f64::from(1u32 << index);
        if moving.bodies.advance(time)? {
            timed(backend, clock, Work::Embed, index, || moving.embed(backend))?;
            let mut fresh = Vec::new();
            timed(backend, clock, Work::Tables, index, || {
                let followed = moving.tables(backend, &self.level, &self.blocks)?;
                fresh = self.take_tables(backend, &moving.bodies, followed)?;
                Ok(())
            })?;
            timed(backend, clock, Work::Refill, index, || {
                self.refill::<L>(backend, fresh)
            })?;
        } else {
            self.set_rules(backend, &moving.bodies)?;
        }
        timed(backend, clock, Work::Forces, index, || {
            let loads = self.loads::<L>(backend, &moving.bodies, moment_center)?;
            moving.bodies.take_loads(loads);
            Ok(())
        })
    }

    /// Populations of cells that were uncovered, in rounds from the fluid inwards; cells that no fluid is beside are at rest.
    fn refill<L: Lattice>(&mut self, backend: &B, fresh: Vec<u32>) -> Result<(), SolverError> {
        let half_step = self.half_step.map(|g| g.wide());
        let (mut waiting, mut source) = (fresh, RefillSource::Neighbors);
        while !waiting.is_empty() {
            let now = &mut self.now;
            let left = backend.refill::<L, S>(&self.level, half_step, &waiting, source, now)?;
            if left.len() == waiting.len() {
                source = RefillSource::Rest;
            }
            waiting = left;
        }
        Ok(())
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
        followed: Followed<B>,
    ) -> Result<Vec<u32>, SolverError> {
        let Followed {
            stepped,
            solid,
            cuts,
            walls,
            fresh,
        } = followed;
        let level = &mut self.level;
        (level.stepped, level.solid) = (stepped, solid);
        (level.boundary, level.cell_start) = (cuts.boundary, cuts.cell_start);
        (level.cells, level.q, level.patch) = (cuts.cells, cuts.q, cuts.patch);
        let parts = SUMS * level.patches * B::len(&walls.linked);
        (level.linked, level.walled) = (walls.linked, walls.walled);
        (level.faced, level.bounded) = (walls.faced, walls.bounded);
        (level.cut, level.open) = (walls.cut, walls.open);
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

    /// Loads before the first step: those of fluid that a body is started in are its largest ones.
    pub(super) fn load_bodies(&mut self) -> Result<(), SolverError> {
        let Some(movement) = self.movement.as_mut().filter(|of| !of.has_loads()) else {
            return Ok(());
        };
        let finest = &mut self.levels[movement.level()];
        let center = self.plan.params.moment_center;
        let loads = finest.loads::<L>(&self.backend, movement, center)?;
        movement.take_loads(loads);
        Ok(())
    }

    /// Gives the flow the blocks around the bodies, if the mesh follows one that has used up its margin.
    pub(super) fn follow_bodies(&mut self) -> Result<(), SolverError> {
        let Some(movement) = self.movement.as_ref().filter(|of| of.is_off()) else {
            return Ok(());
        };
        let begin = Instant::now();
        let target = movement.needed()?;
        let changes = self.go_to(&target, true)?;
        let mesh = self.mesh()?;
        let mut look = look(mesh, &changes, begin.elapsed().as_secs_f64());
        look.step = self.steps;
        self.looks.push(look);
        Ok(())
    }

    /// Changes blocks to those of a forest; beside a mesh that follows the flow, adds them to those that there are: what the flow no longer
    /// wants goes at the next look at it. Where nothing is to be changed the tables are made again, for the poses now.
    fn go_to(
        &mut self,
        target: &Forest<D>,
        keeps_flow: bool,
    ) -> Result<Vec<FormerIds<Host>>, SolverError> {
        let adds = self.plan.params.adaptation.is_some();
        let mut changes = Vec::new();
        loop {
            let forest = self.forest_of_bodies()?;
            let (forest, former) = match adds {
                true => forest.toward_both(target)?,
                false => forest.toward(target)?,
            };
            let is_there = match adds {
                true => forest.covers(target),
                false => forest.first_child == target.first_child,
            };
            self.change_blocks(forest, &former, keeps_flow)?;
            changes.push(former);
            if is_there {
                return Ok(changes);
            }
        }
    }

    /// The forest that the levels are of.
    fn forest_of_bodies(&self) -> Result<&Forest<D>, SolverError> {
        let movement = self.movement.as_ref().expect("there are bodies");
        Ok(&movement.mesh()?.forest)
    }

    /// Looks at the flow beside bodies, whose blocks are the coarsest ones that the mesh may have.
    pub(super) fn look_beside_bodies(
        &mut self,
        adaptation: &Adaptation<D>,
        keeps_flow: bool,
    ) -> Result<(AdaptationLook, bool), SolverError> {
        let movement = self.movement.as_ref().expect("there are bodies");
        let needed = movement.needed()?;
        let mut changes = Vec::new();
        if !self.forest_of_bodies()?.covers(&needed) {
            changes = self.go_to(&needed, keeps_flow)?;
        }
        let backend = self.backend.clone();
        let own = OwnMesh::above(self.mesh()?, &needed, &backend)?;
        let forest = &own.mesh.forest;
        let wishes = self.wishes(forest, adaptation)?;
        let (adapted, mut of_flow) = own.decide(&backend, &wishes, adaptation)?;
        if adapted.is_change() {
            let (forest, former) = adapted
                .rebuilt(&backend, forest)
                .map_err(SolverError::from)?;
            let former = former.moved(&backend, &Host)?;
            self.change_blocks(forest.download(&backend)?, &former, keeps_flow)?;
            changes.push(former);
        }
        let of_both = look(self.mesh()?, &changes, 0.0);
        (of_flow.refined, of_flow.coarsened) = (of_both.refined, of_both.coarsened);
        Ok((of_flow, !changes.is_empty()))
    }

    /// Takes blocks that differ by one level at most, with the populations of those before if they are to be kept.
    fn change_blocks(
        &mut self,
        forest: Forest<D>,
        former: &FormerIds<Host>,
        keeps_flow: bool,
    ) -> Result<(), SolverError> {
        let backend = self.backend.clone();
        let old = self.mesh()?.forest.upload(&backend)?;
        let before = Before {
            slot_of: self.slots_of(&old)?,
            first_child: old.into_first_child(),
        };
        let movement = self.movement.as_mut().expect("there are bodies");
        let built = movement.take_blocks(forest, &self.plan.params)?;
        self.embedded = None;
        let forest = movement.mesh()?.forest.upload(&backend)?;
        let built = self.upload(built)?;
        let former = former.moved(&Host, &backend)?;
        let seeds = match keeps_flow {
            true => Some(Seeds::of(&backend, &forest, &built, &former, before)?),
            false => None,
        };
        self.change_levels(built, seeds.as_ref())?;
        self.begin_bodies()
    }

    /// Brings the bodies back to their first poses.
    pub(super) fn restart_bodies(&mut self) -> Result<(), SolverError> {
        let Some(movement) = &mut self.movement else {
            return Ok(());
        };
        let again = movement.restart(&self.plan.params)?;
        self.take_bodies(again)
    }

    /// Takes the place of bodies that were saved, if there are any.
    pub(super) fn restore_bodies(
        &mut self,
        from: &mut dyn io::Read,
        forest: Option<Forest<D>>,
    ) -> Result<(), SolverError> {
        let Some(movement) = &mut self.movement else {
            return Ok(());
        };
        let again = movement.restore(from, forest, &self.plan.params)?;
        self.take_bodies(again)
    }

    fn take_bodies(&mut self, (built, followed): Again<D>) -> Result<(), SolverError> {
        if let Some(built) = built {
            let built = self.upload(built)?;
            self.change_levels(built, None)?;
        }
        self.summed = OnceLock::new();
        self.embedded = None;
        let followed = followed.upload(&self.backend)?;
        let movement = self.movement.as_ref().expect("there are bodies");
        let finest = &mut self.levels[movement.level()];
        finest.take_tables(&self.backend, movement, followed)?;
        Ok(())
    }
}
