//! The ranks of a process, and what it knows of all of them. Where a mesh follows the flow, every process makes the same mesh from
//! the same values; so only these, populations that change their rank, and halos are sent.

use super::{
    Rank, each,
    halo::HaloLists,
    moves::Moves,
    part::{Outline, Whole, count},
    partition::Partition,
    pool, reserve,
};
use crate::{
    Adaptation, AdaptationLook, Plan, SolverError,
    adapt::{
        own_mesh::OwnMesh,
        transfer::{Before, Seeds},
        wish::Wishes,
    },
    kernels::{FlowKernels, FollowKernels},
    lattice::Lattice,
    ranks::Comm,
    run::{
        Run,
        kept::{KeptSlots, Numbers},
    },
    storage::Storage,
    tables::{self, Built},
};
use cutlink_amr::NONE;
use cutlink_device::{Host, Item, Memory, memory};
use cutlink_voxelizer::{AdaptedBlocks, Mesh};
use std::{ops::Range, time::Instant};

/// See the module.
pub(crate) struct LocalRanks<'a, const D: usize, L, S: Storage, B: FlowKernels<D>> {
    pub(crate) plan: Plan<'a, D>,
    pub(crate) ranks: Vec<Rank<'a, D, L, S, B>>,
    pub(crate) whole: Whole<D>,
    /// Of the whole flow, block ids and coordinates by level and slot; in the process that leads.
    pub(crate) blocks: Vec<Vec<u32>>,
    pub(crate) coords: Vec<Vec<[i32; D]>>,
    /// Of the whole flow, by level: which cells keep moments.
    pub(crate) kept: Vec<KeptSlots>,
    /// The mesh, once it differs from that of the plan.
    own: Option<OwnMesh<D, Host>>,
    /// Changes of the mesh so far.
    pub(crate) epoch: u64,
    /// What a test has go wrong.
    #[cfg(test)]
    pub(crate) spoiled: Option<Spoiled>,
}

/// See [`LocalRanks::spoiled`].
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Spoiled {
    /// Two blocks that a rank receives go to one another's places.
    Blocks,
    /// Density and velocity beside a rank's own cells are not received.
    Fields,
}

impl<'a, const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> LocalRanks<'a, D, L, S, B> {
    /// With so many ranks from `first` on, each with a backend and what connects it to all; the flow is stored as in this kind of
    /// memory.
    pub(crate) fn new(
        mut plan: Plan<'a, D>,
        mut partition: Partition,
        memory: Memory,
        first: usize,
        ranks: Vec<(B, Comm)>,
    ) -> Result<Self, SolverError> {
        let mut tables = std::mem::take(&mut plan.tables);
        let orders = plan.keep_moments(memory, &mut tables);
        partition.reorder(&orders);
        let kept = tables.iter().zip(orders);
        let kept = kept.map(|(built, order)| KeptSlots {
            populated: built.level.populated,
            order,
        });
        let kept = kept.collect();
        let whole = Whole::new(tables, partition);
        let tables = (first..first + ranks.len()).map(|rank| whole.tables(&plan.params, rank));
        let tables = tables.collect::<Result<Vec<_>, _>>()?;
        reserve::<D, S, B>(&plan, &tables, ranks.iter().map(|(backend, _)| backend))?;
        let (count, mut here) = (ranks.len(), Vec::new());
        for (rank, (tables, (backend, comm))) in (first..).zip(tables.into_iter().zip(ranks)) {
            let halos = whole.halos::<L, S, B>(rank, &backend)?;
            here.push(Rank {
                run: Run::of_rank(plan.without_tables(), tables, halos, comm, &backend)?,
                pool: pool(count)?,
            });
        }
        let mut local = Self {
            blocks: whole.blocks(),
            coords: whole.coords(),
            kept,
            plan,
            ranks: here,
            whole,
            own: None,
            epoch: 0,
            #[cfg(test)]
            spoiled: None,
        };
        local.each(Run::link)?;
        local.keep_what_is_read();
        Ok(local)
    }

    /// Does the same on all ranks of this process at once.
    pub(crate) fn each<T: Send>(
        &mut self,
        work: impl Fn(&mut Run<'a, D, L, S, B>) -> Result<T, SolverError> + Sync,
    ) -> Result<Vec<T>, SolverError> {
        each(&mut self.ranks, work)
    }

    /// What each of all ranks gives, of what those of this process do.
    fn gather<T: Item>(&self, mut own: Vec<Vec<T>>) -> Result<Vec<Vec<T>>, SolverError> {
        match own.len() == self.whole.partition.ranks() {
            true => Ok(own),
            false => (self.ranks[0].run.comm()).gather(own.pop().unwrap_or_default()),
        }
    }

    /// The mesh as it is.
    pub(crate) fn mesh(&self) -> Result<&Mesh<D>, SolverError> {
        match &self.own {
            None => Ok(self.plan.mesh),
            Some(own) => own.on_host(&Host),
        }
    }

    /// Updates of leaf cells in a root step.
    pub(crate) fn updates(&self) -> u64 {
        match &self.own {
            None => self.plan.updates(),
            Some(own) => own.updates(),
        }
    }

    /// A rank's numbers among some slots of a level of the whole flow, in their order.
    pub(crate) fn numbers(
        &self,
        rank: &Rank<'a, D, L, S, B>,
        (level, what): (usize, Numbers),
        slots: &Range<usize>,
    ) -> Result<Vec<S>, SolverError> {
        let own = self.whole.outlines[rank.run.rank()][level].own_in(slots);
        if let [own] = &own[..] {
            return rank.run.numbers(level, what, own.clone());
        }
        let mut all = memory::with_capacity("populations", count(&own) * what.row::<D, L>())?;
        for own in own {
            all.extend_from_slice(&rank.run.numbers(level, what, own)?);
        }
        Ok(all)
    }

    /// Sets what [`numbers`](Self::numbers) gives, of all ranks of this process: `of` gives the rows of a range of a
    /// rank's slots, one range after the other, so that no more than these are copied.
    pub(crate) fn set_numbers(
        &mut self,
        (level, what): (usize, Numbers),
        slots: &Range<usize>,
        of: impl Fn(&Outline, Range<usize>) -> Result<Vec<S>, SolverError> + Sync,
    ) -> Result<(), SolverError> {
        let (outlines, row) = (&self.whole.outlines, what.row::<D, L>());
        let set = |run: &mut Run<'a, D, L, S, B>| {
            let outline = &outlines[run.rank()][level];
            for own in outline.own_in(slots) {
                let (data, expected) = (of(outline, own.clone())?, own.len() * row);
                if data.len() != expected {
                    return Err(SolverError::Communication {
                        reason: format!(
                            "a message has {} numbers instead of {expected}: the processes run different versions",
                            data.len()
                        ),
                    });
                }
                run.set_numbers(level, what, own.start, data)?;
            }
            Ok(())
        };
        each(&mut self.ranks, set).map(drop)
    }

    /// Goes on from populations that were set, after so many root steps; all processes do this at the same time.
    pub(crate) fn begin_at(&mut self, steps: u64, mass_reset: f64) -> Result<(), SolverError> {
        let begun = self.each(|run| {
            run.begin_at(steps, mass_reset)?;
            run.exchange_populations()
        });
        begun.map(drop)
    }

    /// Compares the tables of this process's ranks with those of the mesh.
    pub(crate) fn validate(&self) -> Result<(), SolverError> {
        let params = &self.plan.params;
        let mut built = tables::build_checked(self.mesh()?, params)?;
        let mut partition = self.whole.partition.again(&built);
        for (built, kept) in built.iter_mut().zip(&self.kept) {
            if kept.is_any() {
                built.keep_moments(L::Q);
            }
        }
        let orders: Vec<_> = self.kept.iter().map(|kept| kept.order.clone()).collect();
        partition.reorder(&orders);
        let whole = Whole::new(built, partition);
        self.ranks.iter().try_for_each(|rank| {
            let tables = whole.tables(params, rank.run.rank())?;
            rank.run.compare_tables(&tables.iter().collect::<Vec<_>>())
        })
    }

    /// Goes back to the mesh of the plan, for another initial state.
    pub(crate) fn forget_mesh(&mut self) -> Result<(), SolverError> {
        if self.own.take().is_none() {
            return Ok(());
        }
        self.epoch += 1;
        let built = tables::build_checked(self.plan.mesh, &self.plan.params)?;
        self.share(built, None)
    }

    /// Takes another mesh; populations are unspecified then.
    pub(crate) fn take_mesh(&mut self, own: OwnMesh<D, Host>) -> Result<(), SolverError> {
        let built = tables::build(&Host, &own.mesh, &self.plan.params)?;
        self.own = Some(own);
        self.epoch += 1;
        self.share(built, None)
    }

    /// Looks at the flow and adapts the mesh, with at most so many leaf cells; whether it changed. Populations follow if they are
    /// to be kept. All processes do this at the same time.
    pub(crate) fn look(
        &mut self,
        keeps_flow: bool,
        max_cells: u64,
    ) -> Result<(bool, AdaptationLook), SolverError> {
        let refuse = || SolverError::Communication {
            reason:
                "a flow on a mesh that stays is to be adapted: the processes run different cases"
                    .into(),
        };
        let mut adaptation = self.plan.params.adaptation.clone().ok_or_else(refuse)?;
        adaptation.max_cells = max_cells;
        self.each(|run| run.finish())?;
        let (begin, step) = (Instant::now(), self.ranks[0].run.step_count());
        if self.own.is_none() {
            self.own = Some(OwnMesh::of(self.plan.mesh, &Host)?);
        }
        let whole = &self.whole;
        #[cfg(test)]
        let spoiled = self.spoiled;
        let values = each(&mut self.ranks, |run| {
            let mut lists: Vec<HaloLists<f32, B>> = whole.fields(run.rank(), run.backend())?;
            #[cfg(test)]
            if spoiled == Some(Spoiled::Fields) {
                for lists in &mut lists {
                    lists.send.shares.clear();
                    lists.receive.shares.clear();
                }
            }
            run.indicators(&adaptation, &mut lists)
        })?;
        let values = self.gather(values)?;
        let own = self.own.as_ref().expect("the mesh was put there above");
        let wishes = self.wishes(own, &adaptation, step, &values)?;
        let (adapted, mut look) = own.decide(&Host, &wishes, &adaptation)?;
        let is_change = adapted.is_change();
        if is_change {
            self.change(&adapted, keeps_flow)?;
            self.epoch += 1;
        }
        self.each(|run| run.finish())?;
        (look.step, look.seconds) = (step, begin.elapsed().as_secs_f64());
        Ok((is_change, look))
    }

    /// Wishes by the values that all ranks have found, each by level, criterion and own slot.
    fn wishes(
        &self,
        own: &OwnMesh<D, Host>,
        adaptation: &Adaptation<D>,
        step: u64,
        values: &[Vec<f32>],
    ) -> Result<Wishes<Host>, SolverError> {
        let forest = &own.mesh.forest;
        let mut wishes = Wishes {
            hot: vec![0.0; forest.capacity()],
            cold: vec![0.0; forest.capacity()],
            levels: Host.limit(forest, &adaptation.limits, adaptation.levels)?,
        };
        let mut values: Vec<_> = values.iter().map(|of_rank| of_rank.iter()).collect();
        for (level, built) in self.whole.built.iter().enumerate() {
            for criterion in adaptation.due(step) {
                let mut of_slots = vec![0.0; built.level.slots];
                for (values, outlines) in values.iter_mut().zip(&self.whole.outlines) {
                    for ((_, slot), &value) in outlines[level].own().zip(values) {
                        of_slots[slot] = value;
                    }
                }
                let (blocks, weight) = (&built.blocks, criterion.weight());
                Host.weigh(
                    forest,
                    &built.level,
                    blocks,
                    &of_slots,
                    &weight,
                    &mut wishes,
                )?;
            }
        }
        Ok(wishes)
    }

    /// Gives the flow the adapted mesh.
    fn change(&mut self, adapted: &AdaptedBlocks, keeps_flow: bool) -> Result<(), SolverError> {
        let own = self.own.as_mut().expect("a mesh that may change");
        let forest = &own.mesh.forest;
        let mut slot_of = vec![NONE; forest.capacity()];
        for built in &self.whole.built {
            Host.own_slots(forest, &built.level, &built.blocks, &mut slot_of)?;
        }
        let former = own.take(&Host, adapted)?;
        let before = Before {
            slot_of,
            first_child: former.first_child,
        };
        let built = tables::build(&Host, &own.mesh, &self.plan.params)?;
        let seeds = match keeps_flow {
            true => Some(Seeds::of(
                &Host,
                &own.mesh.forest,
                &built,
                &former.ids,
                before,
            )?),
            false => None,
        };
        self.share(built, seeds)
    }

    /// Shares tables of the whole flow anew among the ranks, with populations from those before if it is given how.
    fn share(
        &mut self,
        built: Vec<Built<D>>,
        seeds: Option<Seeds<Host>>,
    ) -> Result<(), SolverError> {
        let partition = self.whole.partition.again(&built);
        let fresh = Whole::new(built, partition);
        let moves = seeds.map(|seeds| Moves::new(&self.whole, &fresh, seeds));
        let params = &self.plan.params;
        #[cfg(test)]
        let spoiled = self.spoiled;
        each(&mut self.ranks, |run| {
            let rank = run.rank();
            let tables = fresh.tables(params, rank)?;
            let halos = fresh.halos::<L, S, B>(rank, run.backend())?;
            let moves = moves.as_ref().map(|moves| moves.of_rank(rank));
            #[cfg_attr(not(test), expect(unused_mut, reason = "tests spoil them"))]
            let mut moves = moves.transpose()?;
            #[cfg(test)]
            if let (Some(moves), Some(Spoiled::Blocks)) = (&mut moves, spoiled) {
                moves.swap_received();
            }
            run.take_part(tables, halos, moves)
        })?;
        drop(moves);
        (self.blocks, self.coords) = (fresh.blocks(), fresh.coords());
        self.whole = fresh;
        self.keep_what_is_read();
        Ok(())
    }

    /// Frees what this process does not read again: tables of the whole flow, unless the mesh changes.
    fn keep_what_is_read(&mut self) {
        if self.plan.params.adaptation.is_none() {
            self.whole.built = Vec::new();
        }
        if self.ranks[0].run.rank() != 0 {
            (self.blocks, self.coords) = (Vec::new(), Vec::new());
        }
    }
}
