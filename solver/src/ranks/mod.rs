//! A flow on several ranks: each steps a part of the mesh on a thread of its own, with a backend of its own.
//!
//! | what | where |
//! |---|---|
//! | [`Partition`], who steps which blocks | `partition.rs` |
//! | [`Part`], a rank's tables, and the places in buffers that it exchanges | `part.rs` |
//! | [`Mail`], messages between threads | `mail.rs` |
//! | exchanges within a step | `run/level.rs` |
//!
//! A rank's blocks are of the same class as in the whole flow and its kernels read the same numbers, so that all values are the
//! same bits. Sums over blocks are exact ([`ExactSum`]), so that their order does not matter. Every rank knows the whole mesh; tables
//! and populations it has for its own part and one layer of blocks around it.
//!
//! After each step of a level, the populations that stream into other ranks' blocks are sent, and before ghost cells are
//! interpolated, the moments of blocks beside the coarser level's interface. Means of children are taken where the children are.

mod link;
mod mail;
mod order;
mod part;
mod partition;
mod sheet;

pub use link::ProcessLink;
pub(crate) use mail::{Alarm, Mail};
pub(crate) use part::{Halo, Wires};
pub use sheet::RankSheet;

use crate::{
    AdaptationLook, Flow, ForceSample, InitialState, Lap, Plan, Snapshot, SolverError,
    kernels::{ExactSum, FlowKernels},
    lattice::Lattice,
    run::{
        Run, center, sample,
        saved::{read_level, read_word, write_level},
        snapshot,
    },
    storage::Storage,
    tables::Built,
};
use cutlink_amr::dims;
use cutlink_device::{Backend, DeviceError, Item, Memory};
use cutlink_voxelizer::Mesh;
use link::numbers;
use order::{Order, Served, WORKS, diverged_of_bytes, sums_of_words};
use part::{Outline, halo, outlines, tables_of};
use partition::Partition;
use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};
use std::{io, sync::Arc, thread};

impl<B: Backend> Wires<B> {
    /// Sends what others wait for, and takes what they send.
    pub(crate) fn exchange<const D: usize, T: Item>(
        &self,
        backend: &B,
        mail: &Mail,
        buffer: &mut B::Buf<T>,
    ) -> Result<(), SolverError>
    where
        B: FlowKernels<D>,
    {
        for (rank, places) in &self.send {
            mail.send(*rank, backend.gather(places, buffer)?)?;
        }
        for (rank, places) in &self.receive {
            backend.scatter(places, mail.receive(*rank)?, buffer)?;
        }
        mail.flush()
    }
}

/// A rank of this process, with the threads that it runs on.
struct Rank<'a, const D: usize, L, S: Storage, B: FlowKernels<D>> {
    run: Run<'a, D, L, S, B>,
    pool: ThreadPool,
    /// By level.
    outlines: Vec<Outline>,
}

/// A rank of another process.
struct Remote {
    rank: usize,
    outlines: Vec<Outline>,
}

/// A flow on several ranks; see the module.
pub(crate) struct Ranks<'a, const D: usize, L, S: Storage, B: FlowKernels<D>> {
    plan: Plan<'a, D>,
    here: Vec<Rank<'a, D, L, S, B>>,
    there: Vec<Remote>,
    link: Option<Arc<dyn ProcessLink>>,
    /// Of the whole flow, block ids and coordinates by level and slot, for ranks of other processes; else only ids.
    blocks: Vec<Vec<u32>>,
    coords: Vec<Vec<[i32; D]>>,
}

/// The tables of the whole flow, and how ranks share them.
struct Whole<'a, const D: usize> {
    built: Vec<Built<D>>,
    partition: &'a Partition,
    /// By rank and level.
    outlines: Vec<Vec<Outline>>,
}

impl<'p, const D: usize> Whole<'p, D> {
    /// Takes the tables of a plan.
    fn of(plan: &mut Plan<'_, D>, partition: &'p Partition) -> Self {
        let built = std::mem::take(&mut plan.tables);
        let ranks = 0..partition.ranks();
        let outlines = ranks
            .map(|rank| outlines(&built, partition, rank))
            .collect();
        Self {
            built,
            partition,
            outlines,
        }
    }

    /// A rank's tables by level.
    fn tables(&self, plan: &Plan<'_, D>, rank: usize) -> Result<Vec<Built<D>>, SolverError> {
        tables_of(
            &self.built,
            self.partition,
            &self.outlines[rank],
            &plan.params,
        )
    }

    /// What a rank exchanges by level.
    fn halos<L: Lattice, B: FlowKernels<D>>(
        &self,
        rank: usize,
        backend: &B,
    ) -> Result<Vec<Halo<B>>, SolverError> {
        let of_level = |level: usize| {
            let outlines: Vec<&Outline> = self.outlines.iter().map(|of| &of[level]).collect();
            halo::<D, L, B>(&outlines, self.partition.owners(level), rank, backend)
        };
        (0..self.built.len()).map(of_level).collect()
    }

    fn blocks(&self) -> Vec<Vec<u32>> {
        self.built
            .iter()
            .map(|built| built.blocks.clone())
            .collect()
    }

    fn coords(&self) -> Vec<Vec<[i32; D]>> {
        self.built
            .iter()
            .map(|built| built.level.coord.clone())
            .collect()
    }
}

/// Refuses what several ranks cannot do.
fn check<const D: usize>(plan: &Plan<'_, D>, ranks: usize) -> Result<(), SolverError> {
    if plan.params.adaptation.is_some() {
        let reason = "it follows the flow, which several ranks cannot do yet: run it on one rank";
        return Err(SolverError::Mesh {
            reason: reason.into(),
        });
    }
    let blocks: usize = plan.levels.iter().map(|level| level.blocks).sum();
    if ranks == 0 || ranks > blocks {
        return Err(SolverError::Parameter {
            name: "the number of ranks".into(),
            value: ranks as f64,
            expected: format!("1 to {blocks}, the blocks of the mesh"),
        });
    }
    Ok(())
}

/// Threads for a rank of so many.
fn pool(ranks: usize) -> Result<ThreadPool, SolverError> {
    let threads = (rayon::current_num_threads() / ranks).max(1);
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| SolverError::Io(io::Error::other(error)))
}

impl<'a, const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Ranks<'a, D, L, S, B> {
    pub(crate) fn new(plan: Plan<'a, D>, backends: &[B]) -> Result<Self, SolverError> {
        check(&plan, backends.len())?;
        let partition = Partition::new(&plan.tables, backends.len());
        Self::with(plan, backends, &partition)
    }

    fn with(
        mut plan: Plan<'a, D>,
        backends: &[B],
        partition: &Partition,
    ) -> Result<Self, SolverError> {
        let whole = Whole::of(&mut plan, partition);
        let tables = (0..backends.len()).map(|rank| whole.tables(&plan, rank));
        let tables = tables.collect::<Result<Vec<_>, _>>()?;
        reserve::<D, S, B>(&plan, &tables, backends)?;
        let mut here = Vec::new();
        let mail = Mail::of_threads(backends.len());
        for (rank, ((tables, mail), backend)) in
            tables.into_iter().zip(mail).zip(backends).enumerate()
        {
            let halos = whole.halos::<L, B>(rank, backend)?;
            let run = Run::of_rank(plan.without_tables(), tables, halos, mail, backend)?;
            here.push(Rank {
                run,
                pool: pool(backends.len())?,
                outlines: whole.outlines[rank].clone(),
            });
        }
        let (blocks, coords) = (whole.blocks(), Vec::new());
        let mut all = Self {
            plan,
            here,
            there: Vec::new(),
            link: None,
            blocks,
            coords,
        };
        all.set_uniform(1.0, [0.0; D])?;
        Ok(all)
    }

    /// This process's rank of a flow that several processes share: of the first one all of the flow, which the others serve until it
    /// has ended.
    pub(crate) fn linked(
        mut plan: Plan<'a, D>,
        backend: &B,
        link: Arc<dyn ProcessLink>,
    ) -> Result<Option<Self>, SolverError> {
        let (rank, ranks) = (link.rank(), link.ranks());
        check(&plan, ranks)?;
        let partition = Partition::new(&plan.tables, ranks);
        let mut whole = Whole::of(&mut plan, &partition);
        let tables = whole.tables(&plan, rank)?;
        reserve::<D, S, B>(
            &plan,
            std::slice::from_ref(&tables),
            std::slice::from_ref(backend),
        )?;
        let halos = whole.halos::<L, B>(rank, backend)?;
        let mail = Mail::Processes(Arc::clone(&link));
        let run = Run::of_rank(plan.without_tables(), tables, halos, mail, backend)?;
        let (blocks, coords) = (whole.blocks(), whole.coords());
        let outlines = std::mem::take(&mut whole.outlines[rank]);
        if rank != 0 {
            drop(whole.built);
            let mut served = Served {
                run,
                outlines,
                link,
            };
            let validate = |run: &Run<'_, D, L, S, B>| {
                let mut plan = Plan::new(plan.mesh, plan.params.clone())?;
                let whole = Whole::of(&mut plan, &partition);
                run.compare_tables(&whole.tables(&plan, rank)?.iter().collect::<Vec<_>>())
            };
            // A pool of its own: what a thread does while it waits must be the rank's own work.
            pool(1)?.install(|| served.serve(validate))?;
            return Ok(None);
        }
        let others = whole.outlines.into_iter().enumerate().skip(1);
        let mut all = Self {
            plan,
            here: vec![Rank {
                run,
                pool: pool(1)?,
                outlines,
            }],
            there: others
                .map(|(rank, outlines)| Remote { rank, outlines })
                .collect(),
            link: Some(link),
            blocks,
            coords,
        };
        all.set_uniform(1.0, [0.0; D])?;
        Ok(Some(all))
    }

    /// Has ranks of other processes do something.
    fn order(&self, order: Order<D>) -> Result<(), SolverError> {
        let Some(link) = &self.link else {
            return Ok(());
        };
        let mut there = self.there.iter();
        there.try_for_each(|remote| link.send(remote.rank, order.to_bytes()))?;
        link.flush()
    }

    /// What a rank of another process answers.
    fn answer<T: Item>(&self, remote: &Remote) -> Result<Vec<T>, SolverError> {
        match &self.link {
            Some(link) => Ok(numbers(&link.receive(remote.rank)?)),
            None => Ok(Vec::new()),
        }
    }

    /// Sends numbers to a rank of another process, after an order.
    fn follow<T: Item>(&self, remote: &Remote, numbers: &[T]) -> Result<(), SolverError> {
        match &self.link {
            Some(link) => {
                link.send(remote.rank, bytemuck::cast_slice(numbers).to_vec())?;
                link.flush()
            }
            None => Ok(()),
        }
    }

    /// Does the same on all ranks of this process at once. Of several errors the first one that is a rank's own.
    fn each<T: Send>(
        &mut self,
        work: impl Fn(&mut Run<'a, D, L, S, B>) -> Result<T, SolverError> + Sync,
    ) -> Result<Vec<T>, SolverError> {
        let work = &work;
        let done: Vec<Result<T, SolverError>> = thread::scope(|scope| {
            let start = |rank: &mut Rank<'a, D, L, S, B>| {
                let alarm = rank.run.alarm();
                let done = rank.pool.install(|| work(&mut rank.run));
                if done.is_ok() {
                    alarm.into_iter().for_each(Alarm::turn_off);
                }
                done
            };
            let threads: Vec<_> = (self.here.iter_mut())
                .map(|rank| scope.spawn(move || start(rank)))
                .collect();
            let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
            joined
                .map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        let (mut values, mut lost) = (Vec::new(), None);
        for done in done {
            match done {
                Ok(value) => values.push(value),
                Err(error @ SolverError::Rank { .. }) => lost = Some(error),
                Err(error) => return Err(error),
            }
        }
        lost.map_or(Ok(values), Err)
    }
}

/// Refuses ranks that do not fit into memory.
fn reserve<const D: usize, S: Storage, B: FlowKernels<D>>(
    plan: &Plan<'_, D>,
    tables: &[Vec<Built<D>>],
    backends: &[B],
) -> Result<(), DeviceError> {
    let q = plan.params.lattice.velocities();
    let of_rank = |tables: &Vec<Built<D>>| -> u64 {
        tables.iter().map(|built| built.level.bytes::<S>(q)).sum()
    };
    let snapshot = plan.snapshot_bytes();
    if B::MEMORY == Memory::Host {
        let all: u64 = tables.iter().map(of_rank).sum();
        return backends[0].reserve("the ranks of the flow and its snapshots", all + snapshot);
    }
    let mut all = tables.iter().zip(backends);
    all.try_for_each(|(tables, backend)| {
        let needed = of_rank(tables) + snapshot;
        backend.reserve("a rank of the flow and its snapshots", needed)
    })
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Flow<D> for Ranks<'_, D, L, S, B> {
    fn steps(&self) -> u64 {
        self.here[0].run.steps()
    }

    fn advance(&mut self, steps: u64) -> Result<(), SolverError> {
        self.order(Order::Advance(steps))?;
        self.each(|run| run.advance(steps)).map(drop)
    }

    fn wait(&self) -> Result<(), SolverError> {
        self.order(Order::Wait)?;
        self.here.iter().try_for_each(|rank| rank.run.wait())?;
        self.there
            .iter()
            .try_for_each(|remote| self.answer::<u8>(remote).map(drop))
    }

    fn sample_forces_every(&mut self, every: u64) {
        for rank in &mut self.here {
            rank.run.sample_forces_every(every);
        }
        // A failure shows at the next step.
        let _ = self.order(Order::Every(every));
    }

    fn take_forces(&mut self) -> Result<Vec<ForceSample>, SolverError> {
        self.order(Order::Sums)?;
        let mut all = self.each(Run::take_sums)?;
        for remote in &self.there {
            all.push(sums_of_words(
                &self.answer::<u64>(remote)?,
                self.plan.params.patches.len(),
            ));
        }
        let mut all = all.into_iter();
        let mut sums = all.next().unwrap_or_default();
        for of_rank in all {
            for ((_, sums), (_, more)) in sums.iter_mut().zip(of_rank) {
                let both = sums.iter_mut().zip(more);
                both.for_each(|(sum, more): (&mut ExactSum, _)| *sum += more);
            }
        }
        let sample = |(step, sums): &(u64, Vec<ExactSum>)| sample(*step, sums);
        Ok(sums.iter().map(sample).collect())
    }

    fn check(&self) -> Result<(), SolverError> {
        self.order(Order::FirstDiverged)?;
        // Level and slot of the whole flow, then who has it, and where.
        let mut found = Vec::new();
        for (n, rank) in self.here.iter().enumerate() {
            if let Some((level, slot)) = rank.run.first_diverged()? {
                found.push((level, rank.outlines[level].slots[slot], n, slot));
            }
        }
        for (n, remote) in self.there.iter().enumerate() {
            if let [level, slot] = self.answer::<u64>(remote)?[..] {
                let (level, slot) = (level as usize, slot as usize);
                let n = self.here.len() + n;
                found.push((level, remote.outlines[level].slots[slot], n, slot));
            }
        }
        let Some(&(level, _, n, slot)) = found.iter().min() else {
            return Ok(());
        };
        if let Some(rank) = self.here.get(n) {
            return Err(rank.run.diverged(level, slot)?);
        }
        let remote = &self.there[n - self.here.len()];
        let order = Order::<D>::Diverged(level as u64, slot as u64);
        self.follow(remote, &order.to_bytes())?;
        Err(diverged_of_bytes::<D>(&self.answer::<u8>(remote)?))
    }

    fn snapshot(&self) -> Result<Snapshot<D>, SolverError> {
        let write = |level: usize, rows: &mut [&mut Vec<f32>]| {
            self.order(Order::Fields(level as u64))?;
            for rank in &self.here {
                rank.run.write_fields(level, rows)?;
            }
            for remote in &self.there {
                let values = self.answer::<f32>(remote)?;
                let ids = remote.outlines[level]
                    .own()
                    .map(|(_, slot)| self.blocks[level][slot]);
                snapshot::write_rows::<D>(&values, &ids.collect::<Vec<_>>(), rows);
            }
            Ok(())
        };
        snapshot::of_levels(self.plan.mesh, self.steps(), self.blocks.len(), write)
    }

    fn set(&mut self, at: &InitialState<'_, D>) -> Result<(), SolverError> {
        self.order(Order::Set)?;
        for remote in &self.there {
            for (level, outline) in remote.outlines.iter().enumerate() {
                let coords = &self.coords[level];
                let of_slot = |&slot: &u32| -> Vec<f64> {
                    let of_cell = |cell: usize| {
                        let (density, u) = at(center(level, coords[slot as usize], cell));
                        std::iter::once(density).chain(u)
                    };
                    (0..dims::cells(D)).flat_map(of_cell).collect()
                };
                let values: Vec<f64> = outline.slots.par_iter().flat_map_iter(of_slot).collect();
                self.follow(remote, &values)?;
            }
        }
        self.each(|run| run.set_fields(at)).map(drop)
    }

    fn set_uniform(&mut self, density: f64, velocity: [f64; D]) -> Result<(), SolverError> {
        self.order(Order::SetSame(density, velocity))?;
        self.each(|run| run.set_same(density, velocity)).map(drop)
    }

    fn mesh(&self) -> Result<&Mesh<D>, SolverError> {
        Ok(self.plan.mesh)
    }

    fn validate(&self) -> Result<(), SolverError> {
        self.order(Order::Validate)?;
        let mut plan = Plan::new(self.plan.mesh, self.plan.params.clone())?;
        let partition = Partition::new(&plan.tables, self.here.len() + self.there.len());
        let whole = Whole::of(&mut plan, &partition);
        for (n, rank) in self.here.iter().enumerate() {
            let tables = whole.tables(&plan, n)?;
            rank.run
                .compare_tables(&tables.iter().collect::<Vec<_>>())?;
        }
        self.there
            .iter()
            .try_for_each(|remote| self.answer::<u8>(remote).map(drop))
    }

    fn epoch(&self) -> u64 {
        0
    }

    fn take_looks(&mut self) -> Vec<AdaptationLook> {
        Vec::new()
    }

    fn updates(&self) -> u64 {
        self.plan.updates()
    }

    fn save(&self, out: &mut dyn io::Write) -> Result<(), SolverError> {
        let row = L::Q * dims::cells(D);
        out.write_all(&self.steps().to_le_bytes())?;
        for (level, blocks) in self.blocks.iter().enumerate() {
            self.order(Order::Populations(level as u64))?;
            let mut all = vec![S::zeroed(); blocks.len() * row];
            for rank in &self.here {
                let found = rank.run.populations(level)?;
                for (slot, to) in rank.outlines[level].own() {
                    all[to * row..][..row].copy_from_slice(&found[slot * row..][..row]);
                }
            }
            for remote in &self.there {
                let found = self.answer::<S>(remote)?;
                let own = remote.outlines[level].own();
                for ((_, to), found) in own.zip(found.chunks_exact(row)) {
                    all[to * row..][..row].copy_from_slice(found);
                }
            }
            write_level(out, &all)?;
        }
        Ok(())
    }

    fn restore(&mut self, from: &mut dyn io::Read) -> Result<(), SolverError> {
        let row = L::Q * dims::cells(D);
        let steps = read_word(from)?;
        let levels = self.blocks.iter().enumerate();
        let levels: Vec<Vec<S>> = levels
            .map(|(level, blocks)| read_level(from, level, blocks.len() * row))
            .collect::<Result<_, _>>()?;
        let of_rank = |level: usize, outline: &Outline| -> Vec<S> {
            let of_slot = |&slot: &u32| levels[level][slot as usize * row..][..row].iter().copied();
            outline.slots.iter().flat_map(of_slot).collect()
        };
        self.order(Order::Restore(steps))?;
        for remote in &self.there {
            for (level, outline) in remote.outlines.iter().enumerate() {
                self.follow(remote, &of_rank(level, outline))?;
            }
        }
        for rank in &mut self.here {
            let outlines = rank.outlines.iter().enumerate();
            let own = outlines
                .map(|(level, outline)| of_rank(level, outline))
                .collect();
            rank.run.set_populations(steps, own)?;
        }
        Ok(())
    }

    fn laps(&mut self, steps: u64) -> Result<Vec<Lap>, SolverError> {
        self.order(Order::Laps(steps))?;
        let mut all = self.each(|run| run.laps(steps))?;
        for remote in &self.there {
            let words = self.answer::<u64>(remote)?;
            let of_lap = |words: &[u64]| Lap {
                work: WORKS[words[0] as usize],
                level: words[1] as usize,
                seconds: f64::from_bits(words[2]),
            };
            all.push(words.chunks_exact(3).map(of_lap).collect());
        }
        let mut laps: Vec<Lap> = Vec::new();
        for lap in all.into_iter().flatten() {
            let same = |other: &&mut Lap| (other.work, other.level) == (lap.work, lap.level);
            match laps.iter_mut().find(same) {
                Some(longest) => longest.seconds = longest.seconds.max(lap.seconds),
                None => laps.push(lap),
            }
        }
        Ok(laps)
    }
}

impl<const D: usize, L, S: Storage, B: FlowKernels<D>> Drop for Ranks<'_, D, L, S, B> {
    fn drop(&mut self) {
        if let Some(link) = &self.link {
            for remote in &self.there {
                // Where this fails, whoever has started the processes ends them.
                let _ = link.send(remote.rank, Order::<D>::End.to_bytes());
            }
            let _ = link.flush();
            link.ended();
        }
    }
}

#[cfg(test)]
mod tests;
