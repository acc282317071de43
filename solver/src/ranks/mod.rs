//! A flow on several ranks: each steps a part of the mesh on a thread of its own, with a backend of its own.
//!
//! | what | where |
//! |---|---|
//! | [`Partition`], who steps which blocks | `partition.rs`, `regions.rs` |
//! | a rank's tables, and the places in buffers that it exchanges | `part.rs` |
//! | the exchange itself, from device to device or through host memory | `halo.rs` |
//! | [`Comm`], messages between ranks; [`Communicator`], between processes | `comm.rs`, `communicator.rs` |
//! | the ranks of a process, looks at the flow and what follows for the mesh | `local.rs`, `run/part.rs` |
//! | populations that change their rank with the mesh | `moves.rs` |
//! | commands of the first process to the others | `command.rs` |
//! | the flow of all ranks | `flow.rs` |
//! | exchanges within a step | `run/level.rs` |
//!
//! A rank's blocks are of the same class as in the whole flow and its kernels read the same numbers, so that all values are the
//! same bits. Sums over blocks are exact ([`ExactSum`]), so that their order does not matter. Every rank knows the whole mesh; tables
//! and populations it has for its own part and one layer of blocks around it.
//!
//! Levels whose steps end together share their messages: the moments of blocks beside interfaces, before ghost cells are
//! interpolated, and then the populations that stream into other ranks' blocks. Means of children are taken where the children
//! are.

mod comm;
mod command;
mod communicator;
mod flow;
mod halo;
mod local;
mod moves;
mod part;
mod partition;
mod regions;
mod sheet;

pub(crate) use comm::{Comm, FailureGuard};
pub use communicator::Communicator;
#[cfg(feature = "cuda")]
pub(crate) use halo::HaloPlaces;
pub(crate) use halo::{Halo, HaloLists, Listed, Peers, exchange, link, make_rooms, through_host};
pub(crate) use moves::{LevelMoves, RankMoves};
pub use sheet::RankSheet;

use crate::{
    AdaptationLook, Plan, SolverError, kernels::FlowKernels, lattice::Lattice, run::Run,
    storage::Storage, tables::Built,
};
use command::{Command, Worker};
use communicator::{bytes_of, numbers};
use cutlink_device::{Backend, DeviceError, Item, Memory};
use local::LocalRanks;
use partition::Partition;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

/// A rank of this process, with the threads that it runs on.
struct Rank<'a, const D: usize, L, S: Storage, B: FlowKernels<D>> {
    run: Run<'a, D, L, S, B>,
    pool: ThreadPool,
}

/// A rank of another process.
struct Remote {
    rank: usize,
    link: Arc<dyn Communicator>,
}

impl Remote {
    /// Sends numbers.
    fn send<T: Item>(&self, numbers: &[T]) -> Result<(), SolverError> {
        self.link.send(self.rank, bytes_of(numbers))?;
        self.link.flush()
    }

    /// Its reply to a command.
    fn reply<T: Item>(&self) -> Result<Vec<T>, SolverError> {
        Ok(numbers(&self.link.receive(self.rank)?))
    }
}

/// A flow on several ranks; see the module.
pub(crate) struct Ranks<'a, const D: usize, L, S: Storage, B: FlowKernels<D>> {
    local: LocalRanks<'a, D, L, S, B>,
    there: Vec<Remote>,
    /// Looks at the flow that were not taken yet.
    looks: Vec<AdaptationLook>,
}

/// Refuses what several ranks cannot do.
fn check<const D: usize>(plan: &Plan<'_, D>, ranks: usize) -> Result<(), SolverError> {
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
        let costs = plan.step_costs(B::MEMORY);
        let partition = Partition::new(&plan.tables, backends.len(), costs);
        // Ranks submit their work at the same time.
        let of_rank = |(n, backend): (usize, &B)| {
            let is_shared = |other| backend.shares_streams(other);
            match backends[..n].iter().any(is_shared) {
                true => backend.apart(),
                false => Ok(backend.clone()),
            }
        };
        let apart = backends.iter().enumerate().map(of_rank);
        Self::with(plan, apart.collect::<Result<Vec<_>, _>>()?, partition)
    }

    fn with(
        plan: Plan<'a, D>,
        backends: Vec<B>,
        partition: Partition,
    ) -> Result<Self, SolverError> {
        let comm = Comm::of_threads(backends.len());
        let ranks = backends.into_iter().zip(comm).collect();
        let mut local = LocalRanks::new(plan, partition, B::MEMORY, 0, ranks)?;
        local.each(|run| run.set_same(1.0, [0.0; D]))?;
        Ok(Self {
            local,
            there: Vec::new(),
            looks: Vec::new(),
        })
    }

    /// This process's rank of a flow that several processes share: of the first one all of the flow, which the others serve until it
    /// has ended.
    pub(crate) fn linked(
        plan: Plan<'a, D>,
        backend: &B,
        link: Arc<dyn Communicator>,
    ) -> Result<Option<Self>, SolverError> {
        let (rank, ranks) = (link.rank(), link.ranks());
        check(&plan, ranks)?;
        let comm = Comm::Processes(Arc::clone(&link));
        let memory = memory_of_all::<B>(&comm)?;
        let partition = Partition::new(&plan.tables, ranks, plan.step_costs(memory));
        let here = vec![(backend.clone(), comm)];
        let mut local = LocalRanks::new(plan, partition, memory, rank, here)?;
        local.each(|run| run.set_same(1.0, [0.0; D]))?;
        if rank != 0 {
            Worker { local, link }.serve()?;
            return Ok(None);
        }
        let there = (1..ranks).map(|rank| Remote {
            rank,
            link: Arc::clone(&link),
        });
        Ok(Some(Self {
            local,
            there: there.collect(),
            looks: Vec::new(),
        }))
    }

    /// Sends a command to the ranks of other processes.
    fn command(&self, command: Command<D>) -> Result<(), SolverError> {
        let bytes = command.to_bytes();
        self.there.iter().try_for_each(|remote| remote.send(&bytes))
    }
}

/// The kind of memory that the populations of all ranks are in; the host's if they differ.
fn memory_of_all<B: Backend>(comm: &Comm) -> Result<Memory, SolverError> {
    let of_all = comm.gather(vec![u8::from(B::MEMORY == Memory::Device)])?;
    Ok(
        match of_all.iter().flatten().all(|&on_device| on_device == 1) {
            true => Memory::Device,
            false => Memory::Host,
        },
    )
}

/// Does the same on some ranks of a process at once. Of several errors the first one that is a rank's own.
fn each<'a, const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>, T: Send>(
    ranks: &mut [Rank<'a, D, L, S, B>],
    work: impl Fn(&mut Run<'a, D, L, S, B>) -> Result<T, SolverError> + Sync,
) -> Result<Vec<T>, SolverError> {
    let values: Vec<Mutex<Option<T>>> = ranks.iter().map(|_| Mutex::new(None)).collect();
    on_threads(ranks, &|which, run| {
        let value = work(run)?;
        *values[which].lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        Ok(())
    })?;
    let value =
        |value: Mutex<Option<T>>| value.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(values.into_iter().filter_map(value).collect())
}

/// What a rank does, by its place among those of the process.
type Work<'w, 'a, const D: usize, L, S, B> =
    &'w (dyn Fn(usize, &mut Run<'a, D, L, S, B>) -> Result<(), SolverError> + Sync);

/// The threads of [`each`], compiled once for all work.
fn on_threads<'a, const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>>(
    ranks: &mut [Rank<'a, D, L, S, B>],
    work: Work<'_, 'a, D, L, S, B>,
) -> Result<(), SolverError> {
    let done: Vec<Result<(), SolverError>> = thread::scope(|scope| {
        let start = |which: usize, rank: &mut Rank<'a, D, L, S, B>| {
            let alarm = rank.run.alarm();
            let done = rank.pool.install(|| work(which, &mut rank.run));
            if done.is_ok() {
                alarm.into_iter().for_each(FailureGuard::turn_off);
            }
            done
        };
        let threads: Vec<_> = (ranks.iter_mut().enumerate())
            .map(|(which, rank)| scope.spawn(move || start(which, rank)))
            .collect();
        let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
        joined
            .map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut lost = Ok(());
    for done in done {
        match done {
            Ok(()) => {}
            Err(SolverError::Rank { .. }) => lost = done,
            Err(_) => return done,
        }
    }
    lost
}

/// Refuses ranks that do not fit into memory.
fn reserve<'b, const D: usize, S: Storage, B: FlowKernels<D>>(
    plan: &Plan<'_, D>,
    tables: &[Vec<Built<D>>],
    mut backends: impl Iterator<Item = &'b B>,
) -> Result<(), DeviceError> {
    let q = plan.params.lattice.velocities();
    let of_rank = |tables: &Vec<Built<D>>| -> u64 {
        tables.iter().map(|built| built.level.bytes::<S>(q)).sum()
    };
    let snapshot = plan.snapshot_bytes();
    if B::MEMORY == Memory::Host {
        let all: u64 = tables.iter().map(of_rank).sum();
        let what = "the ranks of the flow and its snapshots";
        return backends.try_for_each(|backend| backend.reserve(what, all + snapshot));
    }
    let mut all = tables.iter().zip(backends);
    all.try_for_each(|(tables, backend)| {
        let needed = of_rank(tables) + snapshot;
        backend.reserve("a rank of the flow and its snapshots", needed)
    })
}

#[cfg(test)]
mod adapt_tests;
#[cfg(test)]
mod tests;
