//! A running flow, one orchestration for all backends (J25 §4.1): the recursion over levels is in [`level`].

mod adapt;
mod density;
mod initial;
mod level;
mod saved;
mod validate;
mod vary;

use crate::{
    AdaptationLook, Flow, ForceSample, InitialState, Interpolation, Lap, Plan, Snapshot,
    SolverError, Work,
    kernels::{ExactSum, FlowKernels, SUMS},
    lattice::Lattice,
    storage::Storage,
    tables::Rule,
};
use adapt::OwnMesh;
use cutlink_amr::{NONE, dims};
use cutlink_voxelizer::Mesh;
use level::{Clock, State, step, timed};
use rayon::prelude::*;

use std::{cell::RefCell, collections::VecDeque, io, marker::PhantomData, ops::Range};

/// Samples of forces that are kept until they are taken.
const SAMPLES: usize = crate::MAX_FORCE_SAMPLES as usize;
/// Slots whose density and velocity a snapshot copies at once: 64 MiB in 3D.
pub(crate) const SLOTS_AT_ONCE: usize = 1 << 16;

pub(crate) struct Run<'a, const D: usize, L, S: Storage, B: FlowKernels<D>> {
    plan: Plan<'a, D>,
    backend: B,
    levels: Vec<State<D, S, B>>,
    steps: u64,
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
    lattice: PhantomData<L>,
}

impl<'a, const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'a, D, L, S, B> {
    pub(crate) fn new(mut plan: Plan<'a, D>, backend: &B) -> Result<Self, SolverError> {
        let mut levels = Vec::new();
        for built in std::mem::take(&mut plan.tables) {
            let mut state = State::bare(&plan, built.upload(backend)?, backend)?;
            state.now = state.allocate::<L>(backend)?;
            state.next = state.allocate::<L>(backend)?;
            levels.push(state);
        }
        let ring = SUMS * plan.params.patches.len() * SAMPLES;
        let forces = backend.alloc("forces", ring, ExactSum::default())?;
        Ok(Self {
            plan,
            backend: backend.clone(),
            levels,
            steps: 0,
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
            lattice: PhantomData,
        })
    }

    /// Does a root step without forces, or gives it to be replayed.
    fn step_levels(&mut self) -> Result<(), SolverError> {
        let cubic = self.plan.params.interpolation == Interpolation::Cubic;
        let pull = self.pull();
        // The acceleration is a parameter of the launches, so a recorded graph holds for one value alone.
        if self.clock.is_some() || pull.is_some() {
            let (backend, clock) = (&self.backend, &self.clock);
            return step::<D, L, S, B>(backend, clock, cubic, pull.as_ref(), &mut self.levels);
        }
        let parity = (self.steps % 2) as usize;
        if let Some(graph) = &self.graphs[parity] {
            // SAFETY: the levels' buffers are those it was recorded with, or the graphs would have been
            // dropped (`forget_graphs`).
            #[expect(unsafe_code, reason = "a graph holds addresses")]
            unsafe { self.backend.replay(graph) }?;
            self.levels[0].swap();
            return Ok(());
        }
        let (backend, clock, levels) = (&self.backend, &self.clock, &mut self.levels);
        let graph = backend.record(|| step::<D, L, S, B>(backend, clock, cubic, None, levels))?;
        if let Some(graph) = graph {
            // SAFETY: as above.
            #[expect(unsafe_code, reason = "a graph holds addresses")]
            unsafe { self.backend.replay(&graph) }?;
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
        for state in self
            .levels
            .iter_mut()
            .filter(|state| B::len(&state.level.linked) > 0)
        {
            state.slip::<L>(&self.backend)?;
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
        self.step_levels()?;
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
        self.adapt_if_due()
    }

    /// Density and velocity of some slots of a level, on the host.
    fn macroscopic(&self, level: usize, slots: Range<usize>) -> Result<Vec<f32>, SolverError> {
        let state = &self.levels[level];
        let values =
            self.backend
                .macroscopic::<L, S>(&state.level, slots, state.half_step, &state.now)?;
        Ok(self.backend.download(&values)?)
    }

    /// Means of the children that are fluid, finest level first.
    fn fill_refined(mesh: &Mesh<D>, level: usize, values: &mut [f32], empty: f32) {
        let (cells, family) = (dims::cells(D), dims::children(D));
        for &id in &mesh.forest.levels[level] {
            let first = mesh.forest.first_child[id as usize];
            if first == NONE {
                continue;
            }
            for cell in 0..cells {
                let local = dims::unravel::<D>(cell, 4);
                let (mut sum, mut count) = (0.0f64, 0u32);
                for corner in 0..family {
                    let (child, below) = dims::below(local, dims::unravel::<D>(corner, 2));
                    let (child, below) = (first as usize + child, dims::ravel::<D>(below, 4));
                    // A refined child's own solid mask says nothing of what it holds.
                    if mesh.classes.solid[child] >> below & 1 == 0 {
                        sum += f64::from(values[child * cells + below]);
                        count += 1;
                    }
                }
                #[allow(clippy::cast_possible_truncation, reason = "a mean of f32")]
                let mean = if count > 0 {
                    (sum / f64::from(count)) as f32
                } else {
                    empty
                };
                values[id as usize * cells + cell] = mean;
            }
        }
    }
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Flow<D> for Run<'_, D, L, S, B> {
    fn steps(&self) -> u64 {
        self.steps
    }

    fn advance(&mut self, steps: u64) -> Result<(), SolverError> {
        (1..=steps).try_for_each(|step| self.root_step(step == steps))
    }

    fn wait(&self) -> Result<(), SolverError> {
        let stamp = self.backend.stamp()?;
        self.backend.seconds(&stamp, &stamp)?;
        Ok(())
    }

    fn take_forces(&mut self) -> Result<Vec<ForceSample>, SolverError> {
        if !self.plan.params.forces {
            return Ok(Vec::new());
        }
        let row = SUMS * self.plan.params.patches.len();
        let ring = self.backend.download(&self.forces)?;
        let first = self.next_sample + SAMPLES - self.samples.len();
        let of_sample = |(n, step): (usize, u64)| {
            let at = (first + n) % SAMPLES * row;
            let patches = ring[at..at + row].chunks_exact(SUMS);
            ForceSample {
                step,
                patches: patches
                    .clone()
                    .map(|sums| std::array::from_fn(|n| sums[n].value()))
                    .collect(),
                inflow: patches.map(|sums| sums[6].value()).collect(),
            }
        };
        Ok(self.samples.drain(..).enumerate().map(of_sample).collect())
    }

    fn sample_forces_every(&mut self, every: u64) {
        self.sample_every = every.max(1);
    }

    fn check(&self) -> Result<(), SolverError> {
        for (index, state) in self.levels.iter().enumerate() {
            let fastest = self.backend.fastest::<L, S>(&state.level, &state.now)?;
            let fastest = self.backend.download(&fastest)?;
            let Some(slot) = fastest
                .iter()
                .position(|&square| !is_subsonic(f64::from(square)))
            else {
                continue;
            };
            return Err(self.diverged(index, slot)?);
        }
        Ok(())
    }

    fn snapshot(&self) -> Result<Snapshot<D>, SolverError> {
        let (mesh, cells) = (self.mesh()?, dims::cells(D));
        let len = mesh.forest.capacity() * cells;
        let mut density = vec![1.0f32; len];
        let mut velocity: [Vec<f32>; D] = std::array::from_fn(|_| vec![0.0; len]);
        let mut rows: Vec<&mut Vec<f32>> = std::iter::once(&mut density).collect();
        rows.extend(&mut velocity);
        for level in (0..self.levels.len()).rev() {
            let state = &self.levels[level];
            let blocks = self.backend.download(&state.blocks)?;
            for first in (0..state.level.slots).step_by(SLOTS_AT_ONCE) {
                let slots = first..state.level.slots.min(first + SLOTS_AT_ONCE);
                let ids = &blocks[slots.clone()];
                let values = self.macroscopic(level, slots)?;
                rows.par_iter_mut().enumerate().for_each(|(n, row)| {
                    for (values, &id) in values.chunks_exact((1 + D) * cells).zip(ids) {
                        row[id as usize * cells..][..cells]
                            .copy_from_slice(&values[n * cells..][..cells]);
                    }
                });
            }
            rows.par_iter_mut().enumerate().for_each(|(n, row)| {
                Self::fill_refined(mesh, level, row, if n == 0 { 1.0 } else { 0.0 });
            });
        }
        Ok(Snapshot {
            step: self.steps,
            density,
            velocity,
        })
    }

    fn set(&mut self, at: &InitialState<'_, D>) -> Result<(), SolverError> {
        self.forget_mesh()?;
        self.set_fields(at)?;
        self.adapt_to_initial(at)
    }

    fn set_uniform(&mut self, density: f64, velocity: [f64; D]) -> Result<(), SolverError> {
        self.forget_mesh()?;
        self.set_same(density, velocity)?;
        self.adapt_to_initial(&|_| (density, velocity))
    }

    fn mesh(&self) -> Result<&Mesh<D>, SolverError> {
        match &self.own {
            None => Ok(self.plan.mesh),
            Some(own) => own.on_host(&self.backend),
        }
    }

    fn validate(&self) -> Result<(), SolverError> {
        self.check_tables()
    }

    fn epoch(&self) -> u64 {
        self.epoch
    }

    fn take_looks(&mut self) -> Vec<AdaptationLook> {
        std::mem::take(&mut self.looks)
    }

    fn updates(&self) -> u64 {
        let Some(own) = &self.own else {
            return self.plan.updates();
        };
        let of_level = |(level, leaves): (usize, &u64)| (leaves * dims::cells(D) as u64) << level;
        own.leaves.iter().enumerate().map(of_level).sum()
    }

    fn save(&self, out: &mut dyn io::Write) -> Result<(), SolverError> {
        self.write_state(out)
    }

    fn restore(&mut self, from: &mut dyn io::Read) -> Result<(), SolverError> {
        self.read_state(from)
    }

    fn laps(&mut self, steps: u64) -> Result<Vec<Lap>, SolverError> {
        self.clock = Some(RefCell::default());
        let done = self.advance(steps);
        let stamps = self.clock.take().unwrap_or_default().into_inner();
        done?;
        let mut laps: Vec<Lap> = Vec::new();
        for (work, level, begin, end) in stamps {
            let seconds = self.backend.seconds(&begin, &end)?;
            match laps
                .iter_mut()
                .find(|lap| (lap.work, lap.level) == (work, level))
            {
                Some(lap) => lap.seconds += seconds,
                None => laps.push(Lap {
                    work,
                    level,
                    seconds,
                }),
            }
        }
        Ok(laps)
    }
}

/// Whether a squared speed is finite and below that of sound.
fn is_subsonic(square: f64) -> bool {
    square < 1.0 / 3.0
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    fn clear_forces(&mut self) -> Result<(), SolverError> {
        self.samples.clear();
        self.next_sample = 0;
        self.forces = self
            .backend
            .alloc("forces", B::len(&self.forces), ExactSum::default())?;
        Ok(())
    }

    /// Where in a slot values are not finite, or faster than sound.
    fn diverged(&self, level: usize, slot: usize) -> Result<SolverError, SolverError> {
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
