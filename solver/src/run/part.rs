//! What a rank does while the mesh of all of them is adapted: see [`crate::ranks`].

use super::{Run, saved::BLOCKS_AT_ONCE};
use crate::{
    Adaptation, SolverError,
    adapt::transfer::Seeds,
    kernels::FlowKernels,
    lattice::Lattice,
    ranks::{Comm, Halo, HaloLists, LevelMoves, Peers, RankMoves, exchange, through_host},
    storage::Storage,
    tables::Built,
};
use cutlink_amr::dims;

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    /// Values of the rank's own slots by the criteria that are due: by level, criterion and slot.
    pub(crate) fn indicators(
        &self,
        adaptation: &Adaptation<D>,
        lists: &mut [HaloLists<f32, B>],
    ) -> Result<Vec<f32>, SolverError> {
        let (backend, mut all) = (&self.backend, Vec::new());
        for (state, lists) in self.levels.iter().zip(lists) {
            let (slots, now) = (0..state.level.slots, &state.now);
            let mut fields =
                backend.macroscopic::<L, S>(&state.level, slots, state.half_step, now)?;
            through_host(backend, self.comm(), &mut [(lists, &mut fields)])?;
            for criterion in adaptation.due(self.steps) {
                let values = backend.indicate(&state.level, criterion.indicator, &fields)?;
                let values = backend.unload(values)?;
                for own in state.level.halo.own() {
                    all.extend_from_slice(&values[own]);
                }
            }
        }
        Ok(all)
    }

    /// Takes the rank's part of another mesh, which all ranks do at the same time; with its populations, if what these are made of is
    /// given.
    pub(crate) fn take_part(
        &mut self,
        built: Vec<Built<D>>,
        halos: Vec<Halo<S, B>>,
        moves: Option<RankMoves<D>>,
    ) -> Result<(), SolverError> {
        // What is sent below is of steps that are done.
        self.finish()?;
        let built = built.into_iter().map(|level| level.upload(&self.backend));
        let built = built.collect::<Result<_, _>>()?;
        let seeds = match moves {
            Some(moves) => Some(self.take_blocks(moves)?),
            None => None,
        };
        self.change_levels(built, seeds.as_ref())?;
        for (state, halo) in self.levels.iter_mut().zip(halos) {
            state.halo = Some(halo);
        }
        self.make_rooms()?;
        match seeds {
            Some(_) => self.exchange_populations(),
            None => Ok(()),
        }
    }

    /// Sends the populations that others need, and appends those that it needs to its own. Returns what the new ones are made of.
    fn take_blocks(&mut self, moves: RankMoves<D>) -> Result<Seeds<B>, SolverError> {
        for (level, of_level) in moves.levels.iter().enumerate() {
            for (rank, slots) in &of_level.send {
                for slots in slots.chunks(BLOCKS_AT_ONCE) {
                    let numbers = self.gather_blocks(level, slots)?;
                    self.comm().send(*rank, numbers)?;
                }
            }
        }
        for (level, LevelMoves { receive, built, .. }) in moves.levels.into_iter().enumerate() {
            let state = &mut self.levels[level];
            if built.level.slots > state.level.slots {
                // Not read any more; so that there is room.
                state.next = self.backend.upload(Vec::new())?;
                let size = built.level.slots * L::Q * dims::cells(D);
                let now = &mut state.now;
                self.backend
                    .resize("populations of other ranks", now, size, S::zeroed())?;
            }
            state.level = built.upload(&self.backend)?.level;
            for (rank, slots) in &receive {
                for slots in slots.chunks(BLOCKS_AT_ONCE) {
                    let numbers = self.comm().receive(*rank)?;
                    self.scatter_blocks(level, slots, numbers)?;
                }
            }
        }
        self.comm().flush()?;
        let sources = moves.seeds.sources.into_iter();
        let sources = sources.map(|sources| self.backend.upload(sources));
        Ok(Seeds {
            sources: sources.collect::<Result<_, _>>()?,
            slot_of: self.backend.upload(moves.seeds.slot_of)?,
        })
    }

    /// The places of slots' populations, by velocity and cell.
    fn places(slots: &[u32]) -> Vec<u64> {
        let cells = dims::cells(D);
        let of_slot = |&slot: &u32| {
            let first = slot as usize * L::Q * cells;
            let all = (0..L::Q).flat_map(move |q| (0..cells).map(move |cell| (q, cell)));
            all.map(move |(q, cell)| (first + B::place::<L>(q, cell)) as u64)
        };
        slots.iter().flat_map(of_slot).collect()
    }

    fn gather_blocks(&self, level: usize, slots: &[u32]) -> Result<Vec<S>, SolverError> {
        let (backend, places) = (&self.backend, Self::places(slots));
        let len = places.len();
        let mut numbers = backend.alloc("a message to a rank", len, S::zeroed())?;
        let places = backend.upload(places)?;
        backend.gather(&places, 0..len, &self.levels[level].now, &mut numbers)?;
        Ok(backend.unload(numbers)?)
    }

    fn scatter_blocks(
        &mut self,
        level: usize,
        slots: &[u32],
        numbers: Vec<S>,
    ) -> Result<(), SolverError> {
        let (backend, places) = (&self.backend, Self::places(slots));
        let len = places.len();
        let (places, numbers) = (backend.upload(places)?, backend.upload(numbers)?);
        backend.scatter(&places, 0..len, &numbers, &mut self.levels[level].now)
    }

    /// Brings the halos of all levels to what the other ranks have.
    pub(crate) fn exchange_populations(&mut self) -> Result<(), SolverError> {
        let Some(peers) = &self.peers else {
            return Ok(());
        };
        let populations = self.levels.iter_mut().filter_map(|state| {
            let lists = state.halo.as_mut()?.populations.as_mut()?;
            Some((lists, &mut state.now))
        });
        exchange(&self.backend, peers, &mut populations.collect::<Vec<_>>())
    }

    pub(crate) fn backend(&self) -> &B {
        &self.backend
    }

    /// Root steps done.
    pub(crate) fn step_count(&self) -> u64 {
        self.steps
    }

    pub(crate) fn rank(&self) -> usize {
        self.comm().ranks().0
    }

    /// Messages between the ranks.
    pub(crate) fn comm(&self) -> &Comm {
        let peers: Option<&Peers<B>> = self.peers.as_ref();
        &peers.expect("a rank should have others").comm
    }
}
