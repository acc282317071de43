//! A running flow, one orchestration for all backends (J25 §4.1): the recursion over levels is in [`level`].

mod adapt;
mod bodies;
mod density;
mod grains;
#[cfg(test)]
mod halo_tests;
mod heat;
mod initial;
mod integrals;
pub(crate) mod kept;
mod level;
mod part;
pub(crate) mod saved;
pub(crate) mod snapshot;
pub(crate) mod strain;
mod validate;
mod vary;

use crate::{
    AdaptationLook, BodyState, DeviceFields, FluidState, ForceSample, HeatSums, Interpolation, Lap,
    LatticeFlow, MotionSample, Plan, RunningMeans, Snapshot, SolverError, StrainRates,
    StrainedState, Work,
    adapt::own_mesh::OwnMesh,
    bodies::{Embedded, Movement},
    fields::Integrals,
    kernels::{ExactSum, FlowKernels, SUMS},
    lattice::Lattice,
    ranks::{Comm, FailureGuard, Halo, Peers, link, make_rooms},
    storage::Storage,
    tables::{Built, Rule},
    variation::OfTime,
};
use bodies::Moving;
use cutlink_amr::dims;
use cutlink_device::Route;
use cutlink_grains::Bed;
use cutlink_voxelizer::Mesh;
use grains::Carried;
pub(crate) use initial::center;
use integrals::Summed;
pub(crate) use level::relaxation;
use level::{Clock, State, Steps, step, timed};

use std::{
    collections::VecDeque,
    io,
    marker::PhantomData,
    sync::{Mutex, OnceLock, PoisonError},
};

/// Samples of forces that are kept until they are taken.
const SAMPLES: usize = crate::MAX_FORCE_SAMPLES as usize;

pub(crate) struct Run<'a, const D: usize, L, S: Storage, B: FlowKernels<D>> {
    plan: Plan<'a, D>,
    backend: B,
    levels: Vec<State<D, S, B>>,
    steps: u64,
    /// See [`LatticeFlow::mass_reset`].
    mass_reset: f64,
    /// [`SUMS`] values a patch and sample, in a ring.
    forces: B::Buf<ExactSum>,
    /// Root steps from one sample to the next.
    sample_every: u64,
    /// Root steps done at the samples that were not taken yet, the last ones that the ring has.
    samples: VecDeque<u64>,
    /// The place in the ring of the next one.
    next_sample: usize,
    clock: Clock<B>,
    /// Root steps as recorded, by which of the root's buffers is the current one.
    graphs: [Option<B::Graph>; 2],
    /// Conditions as they are now, where any varies.
    rules: Vec<Rule>,
    /// The mesh, once it differs from that of the plan.
    own: Option<OwnMesh<D, B>>,
    /// Looks at the flow that were not taken yet.
    looks: Vec<AdaptationLook>,
    /// Changes of the mesh so far.
    epoch: u64,
    /// Bodies that move.
    movement: Option<Box<Movement<D>>>,
    /// Their mesh, once a device has embedded them.
    embedded: Option<Embedded<D, B>>,
    /// Grains.
    grains: Option<Box<Carried<B>>>,
    /// Who adds up what, once integrals were wanted of this mesh.
    summed: OnceLock<Summed<B>>,
    /// The other ranks, if there are any.
    peers: Option<Peers<B>>,
    lattice: PhantomData<L>,
}

/// What a step may change, if it is there.
type Shared<'a, T> = Option<&'a Mutex<T>>;

impl<'a, const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'a, D, L, S, B> {
    pub(crate) fn new(mut plan: Plan<'a, D>, backend: &B) -> Result<Self, SolverError> {
        let mut tables = std::mem::take(&mut plan.tables);
        let orders = plan.keep_moments(B::MEMORY, &mut tables);
        let mut run = Self::of_tables(plan, tables, backend)?;
        for (state, order) in run.levels.iter_mut().zip(orders) {
            state.kept.order = order;
        }
        Ok(run)
    }

    /// A rank of a flow: with its part of the tables, and what it exchanges by level.
    pub(crate) fn of_rank(
        plan: Plan<'a, D>,
        tables: Vec<Built<D>>,
        halos: Vec<Halo<S, B>>,
        comm: Comm,
        backend: &B,
    ) -> Result<Self, SolverError> {
        let mut run = Self::of_tables(plan, tables, backend)?;
        for (state, halo) in run.levels.iter_mut().zip(halos) {
            state.halo = Some(halo);
        }
        let route = Route::Host(None);
        run.peers = Some(Peers { comm, route });
        Ok(run)
    }

    /// Connects the rank's device to those of the others, which all do this at the same time, if they can be.
    pub(crate) fn link(&mut self) -> Result<(), SolverError> {
        if let Some(peers) = &mut self.peers {
            link(&self.backend, peers)?;
        }
        self.make_rooms()
    }

    /// Makes room for the messages of the halos as they are, which all ranks do at the same time.
    fn make_rooms(&mut self) -> Result<(), SolverError> {
        let states = self.levels.iter_mut();
        let halos = states.filter_map(|state| state.halo.as_mut());
        match &self.peers {
            Some(peers) => make_rooms(&self.backend, peers, halos),
            None => Ok(()),
        }
    }

    fn of_tables(
        mut plan: Plan<'a, D>,
        tables: Vec<Built<D>>,
        backend: &B,
    ) -> Result<Self, SolverError> {
        let mut levels = Vec::new();
        let heat = Self::heat_tables(&plan, &tables)?;
        for built in tables {
            let mut state = State::bare(&plan, built.upload(backend)?, backend)?;
            state.now = state.allocate::<L>(backend)?;
            state.next = state.allocate::<L>(backend)?;
            levels.push(state);
        }
        let movement = plan.movement.take();
        let grains = plan.grains.take();
        let ring = SUMS * plan.params.patches.len() * SAMPLES;
        let forces = backend.alloc("forces", ring, ExactSum::default())?;
        let mut run = Self {
            plan,
            backend: backend.clone(),
            levels,
            steps: 0,
            mass_reset: 0.0,
            forces,
            sample_every: 1,
            samples: VecDeque::new(),
            next_sample: 0,
            clock: None,
            graphs: [None, None],
            rules: Vec::new(),
            own: None,
            looks: Vec::new(),
            epoch: 0,
            movement,
            embedded: None,
            grains: None,
            summed: OnceLock::new(),
            peers: None,
            lattice: PhantomData,
        };
        run.begin_bodies()?;
        run.begin_heat(heat)?;
        run.begin_grains(grains);
        Ok(run)
    }

    /// Does a root step without forces, or gives it to be replayed.
    fn step_levels(&mut self) -> Result<(), SolverError> {
        let pull = self.pull();
        let embedded = self.embedded.take();
        let moving = self.movement.take();
        let moving = moving.map(|bodies| Mutex::new(Moving { bodies, embedded }));
        let grains = self.grains.take().map(Mutex::new);
        let done = self.step_with((moving.as_ref(), grains.as_ref()), pull.as_ref());
        let grains = grains.map(Mutex::into_inner);
        self.grains = grains.map(|of| of.unwrap_or_else(PoisonError::into_inner));
        if let Some(moving) = moving {
            let Moving { bodies, embedded } =
                moving.into_inner().unwrap_or_else(PoisonError::into_inner);
            (self.movement, self.embedded) = (Some(bodies), embedded);
        }
        done
    }

    fn step_with(
        &mut self,
        (moving, grains): (Shared<'_, Moving<D, B>>, Shared<'_, Box<Carried<B>>>),
        pull: Option<&OfTime<D>>,
    ) -> Result<(), SolverError> {
        let cubic = self.plan.params.interpolation == Interpolation::Cubic;
        let steps = Steps {
            clock: &self.clock,
            cubic,
            pull,
            peers: self.peers.as_ref(),
            moving,
            grains,
            moment_center: self.plan.params.moment_center,
        };
        let (backend, levels) = (&self.backend, &mut self.levels);
        let all_levels = |levels: &mut [State<D, S, B>]| {
            step::<D, L, S, B>(backend, &steps, levels)?;
            steps.meet::<L, S>(backend, levels)
        };
        // The acceleration is a parameter of the launches, so a recorded graph holds for one value alone; messages through host
        // memory and what bodies do on the host are no launches.
        let is_recorded = steps.peers.is_none_or(Peers::are_linked);
        if self.clock.is_some()
            || pull.is_some()
            || moving.is_some()
            || grains.is_some()
            || !is_recorded
        {
            return all_levels(levels);
        }
        let parity = (self.steps % 2) as usize;
        if let Some(graph) = &self.graphs[parity] {
            // SAFETY: the levels' buffers are those it was recorded with, or the graphs would have been
            // dropped (`forget_graphs`).
            #[expect(unsafe_code, reason = "a graph holds addresses")]
            unsafe { backend.replay(graph) }?;
            levels[0].swap();
            levels[0].swap_heat();
            return Ok(());
        }
        let graph = backend.record(|| all_levels(levels))?;
        if let Some(graph) = graph {
            // SAFETY: as above.
            #[expect(unsafe_code, reason = "a graph holds addresses")]
            unsafe { backend.replay(&graph) }?;
            self.graphs[parity] = Some(graph);
        }
        Ok(())
    }

    /// To be called where buffers are replaced.
    fn forget_graphs(&mut self) {
        self.graphs = [None, None];
    }

    /// Forces of the state after the step that has just been done.
    fn sum_forces(&mut self) -> Result<(), SolverError> {
        let row = SUMS * self.plan.params.patches.len();
        let at = self.next_sample * row;
        let mut fresh = true;
        // A rank without walls writes zeros, for it may have had some.
        let has_walls = self.levels.iter().any(|state| B::len(&state.parts) > 0);
        let is_zero = !has_walls && self.peers.is_some();
        let sums = |(level, state): &(usize, &mut State<D, S, B>)| {
            B::len(&state.parts) > 0 || is_zero && *level == 0
        };
        let states = self.levels.iter_mut().enumerate().filter(sums);
        for (_, state) in states {
            state.model_walls::<L>(&self.backend)?;
            self.backend.forces::<L, S>(
                &state.level,
                &state.now,
                &mut state.parts,
                at,
                fresh,
                &mut self.forces,
            )?;
            fresh = false;
        }
        if self.samples.len() == SAMPLES {
            self.samples.pop_front();
        }
        self.samples.push_back(self.steps + 1);
        self.next_sample = (self.next_sample + 1) % SAMPLES;
        Ok(())
    }

    fn root_step(&mut self, is_last: bool) -> Result<(), SolverError> {
        self.vary()?;
        self.load_bodies()?;
        self.step_levels()?;
        self.sample_bodies();
        let is_due = is_last || (self.steps + 1).is_multiple_of(self.sample_every);
        if self.plan.params.forces && is_due {
            let clock = self.clock.take();
            let backend = self.backend.clone();
            let done = timed(&backend, &clock, Work::Forces, 0, || self.sum_forces());
            self.clock = clock;
            done?;
        }
        self.steps += 1;
        if self.plan.holds_density() && self.steps.is_multiple_of(crate::HOLD_EVERY) {
            self.hold_density()?;
        }
        match self.peers {
            // All ranks are looked at together.
            Some(_) => Ok(()),
            None => {
                self.follow_bodies()?;
                self.adapt_if_due()
            }
        }
    }
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> LatticeFlow<D>
    for Run<'_, D, L, S, B>
{
    fn steps(&self) -> u64 {
        self.steps
    }

    fn advance(&mut self, steps: u64) -> Result<(), SolverError> {
        self.advance_by(steps, true)
    }

    fn wait(&self) -> Result<(), SolverError> {
        self.finish()
    }

    fn take_forces(&mut self) -> Result<Vec<ForceSample>, SolverError> {
        let sums = self.take_sums()?;
        Ok(sums
            .iter()
            .map(|(step, sums)| sample(*step, sums))
            .collect())
    }

    fn sample_forces_every(&mut self, every: u64) {
        self.sample_every = every.max(1);
    }

    fn check(&self) -> Result<(), SolverError> {
        match self.first_diverged()? {
            Some((level, slot)) => Err(self.diverged(level, slot)?),
            None => self.check_heat(),
        }
    }

    fn update(
        &self,
        blocks: Option<&[u32]>,
        snapshot: &mut Snapshot<D>,
    ) -> Result<(), SolverError> {
        self.update_fields(blocks, snapshot)
    }

    fn integrals(
        &self,
        blocks: &[u32],
        snapshot: &mut Snapshot<D>,
    ) -> Result<Integrals, SolverError> {
        self.sum_fluid(blocks, snapshot)
    }

    fn device_fields(&self) -> Result<DeviceFields, SolverError> {
        self.fields_of_device()
    }

    fn sample(&self, means: &mut RunningMeans<D>) -> Result<(), SolverError> {
        let len = self.mesh()?.forest.capacity() * dims::cells(D);
        means.add_fields(&self.backend, len, |density, velocity| {
            self.put_fields(density, velocity)
        })
    }

    fn set_strained(&mut self, at: &StrainedState<'_, D>) -> Result<(), SolverError> {
        self.forget_mesh()?;
        self.forget_exchange();
        self.set_fields(at)?;
        self.adapt_to_initial(at)
    }

    fn set_steps(&mut self, steps: u64) -> Result<(), SolverError> {
        self.begin_at(steps, self.mass_reset)
    }

    fn set_uniform(&mut self, density: f64, velocity: [f64; D]) -> Result<(), SolverError> {
        self.forget_mesh()?;
        self.forget_exchange();
        self.set_same(density, velocity)?;
        self.adapt_to_initial(&|_| FluidState::unstrained((density, velocity)))
    }

    fn strain_rates(&self, now: &Snapshot<D>) -> Result<StrainRates<D>, SolverError> {
        strain::rates::<D, L, S>(self.mesh()?, now, &self.departures()?, |level, slots| {
            self.populations(level, slots)
        })
    }

    fn mesh(&self) -> Result<&Mesh<D>, SolverError> {
        match (&self.embedded, &self.movement, &self.own) {
            (Some(embedded), ..) => embedded.on_host(&self.backend),
            (None, Some(movement), _) => movement.mesh(),
            (None, None, Some(own)) => own.on_host(&self.backend),
            (None, None, None) => Ok(self.plan.mesh),
        }
    }

    fn messages(&self) -> Option<Route<String>> {
        Some(match &self.peers.as_ref()?.route {
            Route::Direct(link) => Route::Direct(B::describe(link)),
            Route::Host(why) => Route::Host(why.clone()),
        })
    }

    fn validate(&self) -> Result<(), SolverError> {
        self.check_tables()
    }

    fn epoch(&self) -> u64 {
        self.epoch + self.movement.as_ref().map_or(0, |of| of.epoch())
    }

    fn bodies(&self) -> &[BodyState<D>] {
        self.movement.as_ref().map_or(&[], |of| of.states())
    }

    fn bed(&self) -> Option<&Bed> {
        self.grains.as_ref().map(|of| of.bed())
    }

    fn grain_loads(&self) -> Vec<[[f64; 3]; 2]> {
        self.grains.as_ref().map_or_else(Vec::new, |of| of.loads())
    }

    fn take_motion(&mut self) -> Vec<MotionSample<D>> {
        let movement = self.movement.as_mut();
        movement.map_or_else(Vec::new, |of| of.take_samples())
    }

    fn take_looks(&mut self) -> Vec<AdaptationLook> {
        std::mem::take(&mut self.looks)
    }

    fn updates(&self) -> u64 {
        match (&self.own, &self.movement) {
            (Some(own), _) => own.updates(),
            (None, Some(movement)) => movement.updates(),
            (None, None) => self.plan.updates(),
        }
    }

    fn mass_reset(&self) -> f64 {
        self.mass_reset
    }

    fn save(&self, out: &mut dyn io::Write) -> Result<(), SolverError> {
        self.write_state(out)
    }

    fn restore(&mut self, from: &mut dyn io::Read) -> Result<(), SolverError> {
        self.read_state(from)
    }

    fn laps(&mut self, steps: u64) -> Result<Vec<Lap>, SolverError> {
        self.laps_of(steps, true)
    }

    fn set_temperature(
        &mut self,
        at: &(dyn Fn([f64; D]) -> f64 + Sync),
    ) -> Result<(), SolverError> {
        self.set_heat(at)
    }

    fn temperature(&self, to: &mut Vec<f32>) -> Result<(), SolverError> {
        self.temperatures(to)
    }

    fn heat(&self) -> Result<Option<HeatSums>, SolverError> {
        self.heat_sums()
    }
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    /// Advances by so many root steps; whether forces are summed at the last one in any case.
    pub(crate) fn advance_by(&mut self, steps: u64, is_last: bool) -> Result<(), SolverError> {
        (1..=steps).try_for_each(|step| self.root_step(is_last && step == steps))
    }

    /// The same, with the time of each piece of work.
    pub(crate) fn laps_of(&mut self, steps: u64, is_last: bool) -> Result<Vec<Lap>, SolverError> {
        self.clock = Some(Mutex::default());
        let done = self.advance_by(steps, is_last);
        let stamps = self.clock.take().unwrap_or_default().into_inner();
        let stamps = stamps.unwrap_or_else(PoisonError::into_inner);
        done?;
        let mut laps: Vec<Lap> = Vec::new();
        for (work, level, begin, end) in stamps {
            let seconds = self.backend.seconds(&begin, &end)?;
            match laps
                .iter_mut()
                .find(|lap| (lap.work, lap.level) == (work, level))
            {
                Some(lap) => {
                    lap.seconds += seconds;
                    lap.mean += seconds;
                }
                None => laps.push(Lap {
                    work,
                    level,
                    seconds,
                    mean: seconds,
                }),
            }
        }
        Ok(laps)
    }
}

impl<const D: usize, L, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    /// Waits until all work is done.
    pub(crate) fn finish(&self) -> Result<(), SolverError> {
        let stamp = self.backend.stamp()?;
        self.backend.seconds(&stamp, &stamp)?;
        Ok(())
    }
}

/// A sample of forces, of [`SUMS`] sums a patch.
pub(crate) fn sample(step: u64, sums: &[ExactSum]) -> ForceSample {
    let patches = sums.chunks_exact(SUMS);
    ForceSample {
        step,
        patches: patches
            .clone()
            .map(|sums| std::array::from_fn(|n| sums[n].value()))
            .collect(),
        inflow: patches.map(|sums| sums[6].value()).collect(),
    }
}

/// Whether a squared speed is finite and below that of sound.
fn is_subsonic(square: f64) -> bool {
    square < 1.0 / 3.0
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    /// An alarm for the other ranks.
    pub(crate) fn alarm(&self) -> Option<FailureGuard> {
        self.peers.as_ref().and_then(Peers::alarm)
    }

    /// Has the rank wait before it sends and receives: see [`Comm::delay`].
    #[cfg(test)]
    pub(crate) fn delay_messages(&self, seed: u64) {
        self.peers.iter().for_each(|peers| peers.comm.delay(seed));
    }

    /// What patches exchange with the fluid, by root step, [`SUMS`] a patch.
    pub(crate) fn take_sums(&mut self) -> Result<Vec<(u64, Vec<ExactSum>)>, SolverError> {
        if !self.plan.params.forces {
            return Ok(Vec::new());
        }
        let row = SUMS * self.plan.params.patches.len();
        let ring = self.backend.download(&self.forces)?;
        let first = self.next_sample + SAMPLES - self.samples.len();
        let of_sample = |(n, step): (usize, u64)| {
            let at = (first + n) % SAMPLES * row;
            (step, ring[at..at + row].to_vec())
        };
        Ok(self.samples.drain(..).enumerate().map(of_sample).collect())
    }

    /// The first level, and its first slot, with values that are not finite or faster than sound.
    pub(crate) fn first_diverged(&self) -> Result<Option<(usize, usize)>, SolverError> {
        for (index, state) in self.levels.iter().enumerate() {
            let fastest = self.backend.fastest::<L, S>(&state.level, &state.now)?;
            let fastest = self.backend.download(&fastest)?;
            let is_bad = |&square: &f32| !is_subsonic(f64::from(square));
            if let Some(slot) = fastest.iter().position(is_bad) {
                return Ok(Some((index, slot)));
            }
        }
        Ok(None)
    }

    fn clear_forces(&mut self) -> Result<(), SolverError> {
        self.samples.clear();
        self.next_sample = 0;
        self.forces = self
            .backend
            .alloc("forces", B::len(&self.forces), ExactSum::default())?;
        Ok(())
    }

    /// Where in a slot values are not finite, or faster than sound.
    pub(crate) fn diverged(&self, level: usize, slot: usize) -> Result<SolverError, SolverError> {
        let cells = dims::cells(D);
        let values = self.macroscopic(level, slot..slot + 1)?;
        let tables = &self.levels[level].level;
        let stepped = self.backend.download(&tables.stepped)?[slot];
        let block = self.backend.download(&tables.coord)?[slot];
        let square = |cell: usize| {
            (1..=D)
                .map(|a| values[a * cells + cell].powi(2))
                .sum::<f32>()
        };
        let is_bad = |&cell: &usize| {
            stepped >> cell & 1 == 1
                && !(is_subsonic(f64::from(square(cell)))
                    && values[cell].is_finite()
                    && values[cell] > 0.0)
        };
        let cell = (0..cells).find(is_bad).unwrap_or(0);
        let local = dims::unravel::<D>(cell, 4);
        let coord: [i32; D] = std::array::from_fn(|a| 4 * block[a] + local[a]);
        let dx = 1.0 / f64::from(1u32 << level);
        Ok(SolverError::Diverged {
            step: self.steps,
            level,
            cell: coord.to_vec(),
            position: coord.iter().map(|&c| dx * (f64::from(c) + 0.5)).collect(),
            what: format!("density {} and speed {}", values[cell], square(cell).sqrt()),
        })
    }
}
