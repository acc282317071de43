//! Commands of the first process to the others, which are its workers.

use super::{
    communicator::{Communicator, bytes_of, numbers},
    local::LocalRanks,
    part::Outline,
};
use crate::{
    FluidState, LatticeFlow, SolverError, Work,
    adapt::own_mesh::{OwnMesh, Topology},
    kernels::{ExactSum, FlowKernels, SUMS, exchanged, pairs},
    lattice::Lattice,
    run::{Run, kept::Numbers, saved::pieces},
    storage::Storage,
};
use cutlink_amr::dims;
use cutlink_device::Item;
use std::{ops::Range, sync::Arc};

/// A command to a worker, and what follows it or is its reply.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Command<const D: usize> {
    /// Advance so many root steps; whether forces are summed at the last one in any case.
    Advance(u64, bool),
    /// Sum forces at multiples of so many root steps.
    Every(u64),
    /// Reply with the sums of forces: step and sums of each sample.
    Sums,
    /// Reply with the first level and slot that have diverged, or nothing.
    FirstDiverged,
    /// Reply with what has diverged in a slot of a level.
    Diverged(u64, u64),
    /// Reply with density and velocity of a level's own slots.
    Fields(u64),
    /// Reply with the own populations among some slots of a level of the whole flow: the first one, and the one behind the last.
    Populations(u64, u64, u64),
    /// The same of what cells keep.
    Kept(u64, u64, u64),
    /// Take the own populations of all levels that follow, some slots at a time, after so many root steps: of each level first
    /// how many slots have them, then of how many slots what cells keep follows, then both.
    Restore(u64),
    /// Take the fluid of all cells that follow, by level, some slots at a time.
    Set,
    /// Take this density and velocity everywhere.
    SetSame(f64, [f64; D]),
    /// Go on as after so many root steps.
    Begin(u64),
    /// Reply with the laps of so many root steps; as `Advance`.
    Laps(u64, bool),
    /// Look at the flow and adapt the mesh, with at most so many leaf cells; whether populations follow.
    Look(bool, u64),
    /// Go back to the mesh of the plan.
    ForgetMesh,
    /// Take the mesh of the topology that follows.
    Mesh,
    /// Reply when all is done.
    Wait,
    /// Compare the tables with those of the mesh.
    Validate,
    /// The flow has ended.
    End,
}

impl<const D: usize> Command<D> {
    /// As bytes.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut words = match self {
            Self::Advance(steps, is_last) => vec![0, steps, is_last.into()],
            Self::Every(steps) => vec![1, steps],
            Self::Sums => vec![2],
            Self::FirstDiverged => vec![3],
            Self::Fields(level) => vec![4, level],
            Self::Populations(level, first, end) => vec![5, level, first, end],
            Self::Restore(steps) => vec![6, steps],
            Self::Set => vec![7],
            Self::SetSame(density, _) => vec![8, density.to_bits()],
            Self::Laps(steps, is_last) => vec![9, steps, is_last.into()],
            Self::Wait => vec![10],
            Self::Validate => vec![11],
            Self::End => vec![12],
            Self::Diverged(level, slot) => vec![13, level, slot],
            Self::Look(keeps_flow, max_cells) => vec![14, keeps_flow.into(), max_cells],
            Self::ForgetMesh => vec![15],
            Self::Mesh => vec![16],
            Self::Kept(level, first, end) => vec![17, level, first, end],
            Self::Begin(steps) => vec![18, steps],
        };
        if let Self::SetSame(_, u) = self {
            words.extend(u.map(f64::to_bits));
        }
        bytes_of(&words)
    }

    /// The command of some bytes.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let words: Vec<u64> = numbers(bytes);
        Some(match *words.as_slice() {
            [0, steps, is_last] => Self::Advance(steps, is_last != 0),
            [1, steps] => Self::Every(steps),
            [2] => Self::Sums,
            [3] => Self::FirstDiverged,
            [4, level] => Self::Fields(level),
            [5, level, first, end] => Self::Populations(level, first, end),
            [6, steps] => Self::Restore(steps),
            [7] => Self::Set,
            [8, density, ref u @ ..] if u.len() == D => {
                let u = std::array::from_fn(|a| f64::from_bits(u[a]));
                Self::SetSame(f64::from_bits(density), u)
            }
            [9, steps, is_last] => Self::Laps(steps, is_last != 0),
            [10] => Self::Wait,
            [11] => Self::Validate,
            [12] => Self::End,
            [13, level, slot] => Self::Diverged(level, slot),
            [14, keeps_flow, max_cells] => Self::Look(keeps_flow != 0, max_cells),
            [15] => Self::ForgetMesh,
            [16] => Self::Mesh,
            [17, level, first, end] => Self::Kept(level, first, end),
            [18, steps] => Self::Begin(steps),
            _ => return None,
        })
    }
}

/// Samples of forces as numbers: the step, and two words a sum.
pub(crate) fn words_of_sums(samples: &[(u64, Vec<ExactSum>)]) -> Vec<u64> {
    let of_sample = |(step, sums): &(u64, Vec<ExactSum>)| {
        let mut words = vec![*step];
        words.extend_from_slice(bytemuck::cast_slice(sums));
        words
    };
    samples.iter().flat_map(of_sample).collect()
}

/// The inverse, with so many patches.
pub(crate) fn sums_of_words(words: &[u64], patches: usize) -> Vec<(u64, Vec<ExactSum>)> {
    let samples = words.chunks_exact(1 + 2 * SUMS * patches);
    samples
        .map(|words| (words[0], bytemuck::cast_slice(&words[1..]).to_vec()))
        .collect()
}

/// The fluid of a cell as [`exchanged`] numbers.
pub(crate) fn numbers_of<const D: usize>(fluid: FluidState<D>) -> impl Iterator<Item = f64> {
    let FluidState {
        density,
        velocity,
        strain,
    } = fluid;
    let strains = pairs::<D>().map(move |(_, a, b)| strain[a][b]);
    std::iter::once(density).chain(velocity).chain(strains)
}

/// The inverse.
fn fluid_of<const D: usize>(numbers: &[f64]) -> FluidState<D> {
    let mut strain = [[0.0; D]; D];
    for (n, a, b) in pairs::<D>() {
        (strain[a][b], strain[b][a]) = (numbers[n], numbers[n]);
    }
    FluidState {
        density: numbers[0],
        velocity: std::array::from_fn(|a| numbers[1 + a]),
        strain,
    }
}

/// A divergence as bytes: step, level, cell, position, and the text.
fn bytes_of_diverged<const D: usize>(error: &SolverError) -> Vec<u8> {
    let SolverError::Diverged {
        step,
        level,
        cell,
        position,
        what,
    } = error
    else {
        unreachable!("a divergence is expected: {error}");
    };
    let mut words = vec![*step, *level as u64];
    words.extend(cell.iter().map(|&c| c as u64));
    words.extend(position.iter().map(|x| x.to_bits()));
    let mut bytes = bytes_of(&words);
    bytes.extend_from_slice(what.as_bytes());
    bytes
}

/// The inverse.
pub(crate) fn diverged_of_bytes<const D: usize>(bytes: &[u8]) -> SolverError {
    let (head, text) = bytes.split_at((2 + 2 * D) * size_of::<u64>());
    let words: Vec<u64> = numbers(head);
    SolverError::Diverged {
        step: words[0],
        level: words[1] as usize,
        cell: words[2..2 + D].iter().map(|&c| c as i32).collect(),
        position: words[2 + D..].iter().map(|&x| f64::from_bits(x)).collect(),
        what: String::from_utf8_lossy(text).into_owned(),
    }
}

/// Kinds of work by number.
pub(crate) const WORKS: [Work; 9] = [
    Work::Step,
    Work::Interpolate,
    Work::Average,
    Work::Forces,
    Work::Exchange,
    Work::Embed,
    Work::Tables,
    Work::Refill,
    Work::Grains,
];

/// A rank other than the first of several processes.
pub(crate) struct Worker<'a, const D: usize, L, S: Storage, B: FlowKernels<D>> {
    pub(crate) local: LocalRanks<'a, D, L, S, B>,
    pub(crate) link: Arc<dyn Communicator>,
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Worker<'_, D, L, S, B> {
    /// Executes the commands of the first rank until the flow ends.
    pub(crate) fn serve(&mut self) -> Result<(), SolverError> {
        loop {
            let bytes = self.link.receive(0)?;
            let unknown = || SolverError::Communication {
                reason: format!(
                    "a command of {} bytes is unknown: the processes run different versions",
                    bytes.len()
                ),
            };
            let reply = match Command::<D>::of_bytes(&bytes).ok_or_else(unknown)? {
                Command::End => return Ok(()),
                command => self.execute(command)?,
            };
            if let Some(reply) = reply {
                self.link.send(0, reply)?;
                self.link.flush()?;
            }
        }
    }

    /// Executes a command; returns the reply, if the command has one.
    fn execute(&mut self, command: Command<D>) -> Result<Option<Vec<u8>>, SolverError> {
        match command {
            Command::Look(keeps_flow, max_cells) => {
                self.local.look(keeps_flow, max_cells)?;
                return Ok(None);
            }
            Command::ForgetMesh => return self.local.forget_mesh().map(|()| None),
            Command::Mesh => {
                let sent = Topology::read(&mut self.link.receive(0)?.as_slice())?;
                let own = OwnMesh::of_topology(self.local.plan.mesh, &sent)?;
                return self.local.take_mesh(own).map(|()| None);
            }
            Command::Validate => return self.local.validate().map(|()| Some(Vec::new())),
            Command::Populations(level, first, end) => {
                return self.numbers((level, Numbers::Populations), first..end);
            }
            Command::Kept(level, first, end) => {
                return self.numbers((level, Numbers::Kept), first..end);
            }
            Command::Restore(steps) => return self.restore(steps).map(|()| None),
            Command::Set => return self.set().map(|()| None),
            Command::Begin(steps) => return self.local.begin_at(steps, 0.0).map(|()| None),
            _ => {}
        }
        let mut done = self.local.each(|run| execute(run, command))?;
        Ok(done.pop().flatten())
    }

    fn numbers(
        &self,
        (level, what): (u64, Numbers),
        slots: Range<u64>,
    ) -> Result<Option<Vec<u8>>, SolverError> {
        let slots = slots.start as usize..slots.end as usize;
        let local = &self.local;
        let found = local.numbers(&local.ranks[0], (level as usize, what), &slots)?;
        Ok(Some(bytes_of(&found)))
    }

    fn receive<T: Item>(&self) -> Result<Vec<T>, SolverError> {
        Ok(numbers(&self.link.receive(0)?))
    }

    /// Takes populations as they come.
    fn restore(&mut self, steps: u64) -> Result<(), SolverError> {
        for level in 0..self.local.whole.levels() {
            let follow = self.receive::<u64>()?;
            for (what, slots) in Numbers::ALL.into_iter().zip(follow) {
                for slots in pieces(0..slots as usize) {
                    let link = &self.link;
                    let next = |_: &Outline, _: Range<usize>| Ok(numbers(&link.receive(0)?));
                    self.local.set_numbers((level, what), &slots, next)?;
                }
            }
        }
        self.local.begin_at(steps, 0.0)
    }

    /// Takes the fluid of cells as it comes.
    fn set(&mut self) -> Result<(), SolverError> {
        self.local.each(|run| run.begin_at(0, 0.0))?;
        for level in 0..self.local.whole.levels() {
            let slots = self.local.whole.outlines[self.link.rank()][level]
                .slots
                .len();
            for slots in pieces(0..slots) {
                let (first, len) = (slots.start, slots.len() * dims::cells(D) * exchanged(D));
                let values = self.receive::<f64>()?;
                if values.len() != len {
                    return Err(SolverError::Communication {
                        reason: format!("a message has {} numbers instead of {len}", values.len()),
                    });
                }
                self.local.each(|run| {
                    run.set_slots(level, slots.clone(), &|slot, cell| {
                        let at = exchanged(D) * ((slot - first) * dims::cells(D) + cell);
                        fluid_of(&values[at..at + exchanged(D)])
                    })
                })?;
            }
        }
        self.local.each(Run::copy_to_second).map(drop)
    }
}

/// Executes a command that only concerns a rank.
fn execute<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>>(
    run: &mut Run<'_, D, L, S, B>,
    command: Command<D>,
) -> Result<Option<Vec<u8>>, SolverError> {
    let reply = match command {
        Command::Advance(steps, is_last) => {
            return run.advance_by(steps, is_last).map(|()| None);
        }
        Command::SetSame(density, u) => return run.set_same(density, u).map(|()| None),
        Command::Every(steps) => {
            run.sample_forces_every(steps);
            return Ok(None);
        }
        Command::Wait => run.finish().map(|()| Vec::new())?,
        Command::Sums => bytes_of(&words_of_sums(&run.take_sums()?)),
        Command::FirstDiverged => match run.first_diverged()? {
            Some((level, slot)) => bytes_of(&[level as u64, slot as u64]),
            None => Vec::new(),
        },
        Command::Diverged(level, slot) => {
            bytes_of_diverged::<D>(&run.diverged(level as usize, slot as usize)?)
        }
        Command::Fields(level) => bytes_of(&run.own_fields(level as usize)?),
        Command::Laps(steps, is_last) => {
            let laps = run.laps_of(steps, is_last)?;
            let words = laps.iter().flat_map(|lap| {
                let work = WORKS.iter().position(|&work| work == lap.work);
                let work = work.unwrap_or(0) as u64;
                [work, lap.level as u64, lap.seconds.to_bits()]
            });
            bytes_of(&words.collect::<Vec<u64>>())
        }
        // For all ranks of the process, or followed by numbers.
        _ => Vec::new(),
    };
    Ok(Some(reply))
}
