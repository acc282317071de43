//! A look at the flow, and the change of the mesh that follows from it: see [`crate::adapt`].

use super::{Run, level::State};
use crate::{
    Adaptation, AdaptationLook, LatticeFlow, SolverError, StrainedState,
    adapt::{
        own_mesh::{OwnMesh, Topology},
        transfer::{Before, Seeds},
        wish::Wishes,
    },
    kernels::{FlowKernels, Transfer},
    lattice::Lattice,
    storage::Storage,
    tables::{self, Built},
};
use cutlink_amr::{Forest, NONE};
use cutlink_voxelizer::AdaptedBlocks;
use std::{io, sync::OnceLock, time::Instant};

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    pub(super) fn adapt_if_due(&mut self) -> Result<(), SolverError> {
        let Some(adaptation) = &self.plan.params.adaptation else {
            return Ok(());
        };
        if !self.steps.is_multiple_of(adaptation.every) {
            return Ok(());
        }
        let clock = self.clock.take();
        let done = self.look(true);
        self.clock = clock;
        done.map(|_| ())
    }

    /// Goes back to the mesh of the plan, for another initial state.
    pub(super) fn forget_mesh(&mut self) -> Result<(), SolverError> {
        self.looks.clear();
        self.restart_bodies()?;
        if self.own.take().is_none() {
            return Ok(());
        }
        self.epoch += 1;
        let built = tables::build_checked(self.plan.mesh, &self.plan.params)?;
        self.change_levels(self.upload(built)?, None)
    }

    /// Fits the mesh to the initial state, which is set again on each mesh.
    pub(super) fn adapt_to_initial(
        &mut self,
        at: &StrainedState<'_, D>,
    ) -> Result<(), SolverError> {
        let levels = self.plan.params.adaptation.as_ref().map_or(0, |a| a.levels);
        for _ in 0..levels {
            if !self.look(false)? {
                break;
            }
            self.set_fields(at)?;
        }
        Ok(())
    }

    /// Looks at the flow and adapts the mesh; whether it changed. Populations follow if they are to be kept.
    fn look(&mut self, keeps_flow: bool) -> Result<bool, SolverError> {
        let Some(adaptation) = self.plan.params.adaptation.clone() else {
            return Ok(false);
        };
        // Steps that a device has not done yet are no part of the look.
        self.wait()?;
        let begin = Instant::now();
        let (mut look, is_change) = match self.movement.is_some() {
            true => self.look_beside_bodies(&adaptation, keeps_flow)?,
            false => self.look_at_flow(&adaptation, keeps_flow)?,
        };
        look.step = self.steps;
        self.wait()?;
        look.seconds = begin.elapsed().as_secs_f64();
        self.looks.push(look);
        Ok(is_change)
    }

    fn look_at_flow(
        &mut self,
        adaptation: &Adaptation<D>,
        keeps_flow: bool,
    ) -> Result<(AdaptationLook, bool), SolverError> {
        if self.own.is_none() {
            self.own = Some(OwnMesh::of(self.plan.mesh, &self.backend)?);
        }
        let own = self.own.as_ref().expect("the mesh was copied above");
        let wishes = self.wishes(&own.mesh.forest, adaptation)?;
        let (adapted, look) = own.decide(&self.backend, &wishes, adaptation)?;
        let is_change = adapted.is_change();
        if is_change {
            self.change(&adapted, keeps_flow)?;
            self.epoch += 1;
        }
        Ok((look, is_change))
    }

    /// Values of the leaves of a forest, of which the levels are, by the criteria.
    pub(super) fn wishes(
        &self,
        forest: &Forest<D, B>,
        adaptation: &Adaptation<D>,
    ) -> Result<Wishes<B>, SolverError> {
        let backend = &self.backend;
        let mut wishes = Wishes {
            hot: backend.alloc("values of leaves", forest.capacity(), 0.0)?,
            cold: backend.alloc("values of leaves", forest.capacity(), 0.0)?,
            levels: backend.limit(forest, &adaptation.limits, adaptation.levels)?,
        };
        for state in &self.levels {
            let (all, now) = (0..state.level.slots, &state.now);
            let fields = backend.macroscopic::<L, S>(&state.level, all, state.half_step, now)?;
            for criterion in adaptation.due(self.steps) {
                let values = backend.indicate(&state.level, criterion.indicator, &fields)?;
                let (blocks, weight) = (&state.blocks, criterion.weight());
                backend.weigh(forest, &state.level, blocks, &values, &weight, &mut wishes)?;
            }
        }
        Ok(wishes)
    }

    /// Gives the flow the adapted mesh.
    fn change(&mut self, adapted: &AdaptedBlocks<B>, keeps_flow: bool) -> Result<(), SolverError> {
        let own = self.own.as_ref().expect("a mesh that may change");
        let slot_of = self.slots_of(&own.mesh.forest)?;
        let backend = &self.backend;
        let own = self.own.as_mut().expect("a mesh that may change");
        let former = own.take(backend, adapted)?;
        let before = Before {
            slot_of,
            first_child: former.first_child,
        };
        let built = tables::build(backend, &own.mesh, &self.plan.params)?;
        let seeds = match keeps_flow {
            true => Some(Seeds::of(
                backend,
                &own.mesh.forest,
                &built,
                &former.ids,
                before,
            )?),
            false => None,
        };
        self.change_levels(built, seeds.as_ref())
    }

    /// By block id of the forest that the levels are of, its slot with populations of its own.
    pub(super) fn slots_of(&self, forest: &Forest<D, B>) -> Result<B::Buf<u32>, SolverError> {
        let mut slot_of = self.backend.alloc("slots", forest.capacity(), NONE)?;
        for state in &self.levels {
            let (level, blocks) = (&state.level, &state.blocks);
            self.backend
                .own_slots(forest, level, blocks, &mut slot_of)?;
        }
        Ok(slot_of)
    }

    /// Tables in the backend's memory.
    pub(super) fn upload(&self, built: Vec<Built<D>>) -> Result<Vec<Built<D, B>>, SolverError> {
        let levels = built.into_iter().map(|level| level.upload(&self.backend));
        levels.collect()
    }

    /// Takes the levels of the mesh as it is, with populations from those of the old ones if these are given.
    pub(super) fn change_levels(
        &mut self,
        built: Vec<Built<D, B>>,
        from: Option<&Seeds<B>>,
    ) -> Result<(), SolverError> {
        self.forget_graphs();
        self.summed = OnceLock::new();
        // Between root steps the second buffers hold nothing that is read again: the new populations take their memory, and
        // then the old populations' memory is that of the new second buffers.
        let mut spare = Vec::new();
        for state in &mut self.levels {
            state.moments = self.backend.upload(Vec::new())?;
            let empty = self.backend.upload(Vec::new())?;
            spare.push(std::mem::replace(&mut state.next, empty));
        }
        let mut spare = spare.into_iter();
        let mut fresh = Vec::new();
        for (level, built) in built.into_iter().enumerate() {
            let mut state = State::<D, S, B>::bare(&self.plan, built, &self.backend)?;
            // What varies in time is as it was.
            if let Some(old) = self.levels.get(level) {
                (state.relax, state.half_step) = (old.relax, old.half_step);
            }
            state.now = state.reuse::<L>(&self.backend, spare.next())?;
            fresh.push(state);
        }
        if let Some(seeds) = from {
            self.seed(seeds, &mut fresh)?;
        }
        let mut spare = std::mem::replace(&mut self.levels, fresh).into_iter();
        for state in &mut self.levels {
            let now = spare.next().map(|old| old.now);
            state.next = state.reuse::<L>(&self.backend, now)?;
        }
        self.rules.clear();
        self.set_clocks()
    }

    /// Populations of the new levels, from those of the old ones.
    fn seed(&self, seeds: &Seeds<B>, fresh: &mut [State<D, S, B>]) -> Result<(), SolverError> {
        for (level, sources) in seeds.sources.iter().enumerate() {
            let target = &fresh[level];
            let coarser = level
                .checked_sub(1)
                .and_then(|above| self.levels.get(above));
            let transfer = Transfer {
                sources,
                slot_of: &seeds.slot_of,
                same: self.levels.get(level).map(|old| &old.now),
                coarser: coarser.map(|old| target.origin(old, 0.5)),
                finer: self
                    .levels
                    .get(level + 1)
                    .map(|old| target.origin(old, 2.0)),
            };
            let mut to = self.backend.upload(Vec::new())?;
            std::mem::swap(&mut to, &mut fresh[level].now);
            self.backend.seed::<L, S>(&transfer, &mut to)?;
            fresh[level].now = to;
        }
        Ok(())
    }

    /// Gives the flow the mesh of a topology that was written; populations are unspecified then. Where bodies move, returns its forest for
    /// them.
    pub(super) fn read_topology(
        &mut self,
        from: &mut dyn io::Read,
    ) -> Result<Option<Forest<D>>, SolverError> {
        let of = Topology::read(from)?;
        if let Some(movement) = &self.movement {
            let forest = &movement.mesh()?.forest;
            return of.forest(forest.root, forest.periodic).map(Some);
        }
        let own = OwnMesh::of_topology(self.plan.mesh, &of)?.upload(&self.backend)?;
        let built = tables::build(&self.backend, &own.mesh, &self.plan.params)?;
        self.own = Some(own);
        self.epoch += 1;
        self.change_levels(built, None)?;
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
