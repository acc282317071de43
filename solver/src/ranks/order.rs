//! What the first of several processes has the others do.

use super::{
    link::{ProcessLink, bytes_of, numbers},
    part::Outline,
};
use crate::{
    Flow, SolverError, Work,
    kernels::{ExactSum, FlowKernels, SUMS},
    lattice::Lattice,
    run::Run,
    storage::Storage,
};
use cutlink_amr::dims;
use cutlink_device::Item;
use std::sync::Arc;

/// An order, and what follows it or is answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Order<const D: usize> {
    /// Advance so many root steps.
    Advance(u64),
    /// Sum forces at multiples of so many root steps.
    Every(u64),
    /// Answer the sums of forces: step and sums of each sample.
    Sums,
    /// Answer the first level and slot that have diverged, or nothing.
    FirstDiverged,
    /// Answer what has diverged in a slot of a level.
    Diverged(u64, u64),
    /// Answer density and velocity of a level's own slots.
    Fields(u64),
    /// Answer a level's own populations.
    Populations(u64),
    /// Take the populations of all levels that follow, after so many root steps.
    Restore(u64),
    /// Take the density and velocity of all cells that follow, by level.
    Set,
    /// Take this density and velocity everywhere.
    SetSame(f64, [f64; D]),
    /// Answer the laps of so many root steps.
    Laps(u64),
    /// Answer when all is done.
    Wait,
    /// Compare the tables with those of the mesh.
    Validate,
    /// The flow has ended.
    End,
}

impl<const D: usize> Order<D> {
    /// As bytes.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut words = match self {
            Self::Advance(steps) => vec![0, steps],
            Self::Every(steps) => vec![1, steps],
            Self::Sums => vec![2],
            Self::FirstDiverged => vec![3],
            Self::Fields(level) => vec![4, level],
            Self::Populations(level) => vec![5, level],
            Self::Restore(steps) => vec![6, steps],
            Self::Set => vec![7],
            Self::SetSame(density, _) => vec![8, density.to_bits()],
            Self::Laps(steps) => vec![9, steps],
            Self::Wait => vec![10],
            Self::Validate => vec![11],
            Self::End => vec![12],
            Self::Diverged(level, slot) => vec![13, level, slot],
        };
        if let Self::SetSame(_, u) = self {
            words.extend(u.map(f64::to_bits));
        }
        bytes_of(&words)
    }

    /// The order of some bytes.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let words: Vec<u64> = numbers(bytes);
        Some(match *words.as_slice() {
            [0, steps] => Self::Advance(steps),
            [1, steps] => Self::Every(steps),
            [2] => Self::Sums,
            [3] => Self::FirstDiverged,
            [4, level] => Self::Fields(level),
            [5, level] => Self::Populations(level),
            [6, steps] => Self::Restore(steps),
            [7] => Self::Set,
            [8, density, ref u @ ..] if u.len() == D => {
                let u = std::array::from_fn(|a| f64::from_bits(u[a]));
                Self::SetSame(f64::from_bits(density), u)
            }
            [9, steps] => Self::Laps(steps),
            [10] => Self::Wait,
            [11] => Self::Validate,
            [12] => Self::End,
            [13, level, slot] => Self::Diverged(level, slot),
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
pub(crate) const WORKS: [Work; 4] = [Work::Step, Work::Interpolate, Work::Average, Work::Forces];

/// A rank other than the first of several processes.
pub(crate) struct Served<'a, const D: usize, L, S: Storage, B: FlowKernels<D>> {
    pub(crate) run: Run<'a, D, L, S, B>,
    pub(crate) outlines: Vec<Outline>,
    pub(crate) link: Arc<dyn ProcessLink>,
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Served<'_, D, L, S, B> {
    /// Does what the first rank orders, until that ends the flow. `validate` compares the tables with those of the mesh.
    pub(crate) fn serve(
        &mut self,
        validate: impl Fn(&Run<'_, D, L, S, B>) -> Result<(), SolverError>,
    ) -> Result<(), SolverError> {
        loop {
            let bytes = self.link.receive(0)?;
            let unknown = || SolverError::Link {
                reason: format!(
                    "an order of {} bytes is unknown: the processes run different versions",
                    bytes.len()
                ),
            };
            let answer = match Order::<D>::of_bytes(&bytes).ok_or_else(unknown)? {
                Order::End => return Ok(()),
                Order::Validate => {
                    validate(&self.run)?;
                    Some(Vec::new())
                }
                order => self.obey(order)?,
            };
            if let Some(answer) = answer {
                self.link.send(0, answer)?;
                self.link.flush()?;
            }
        }
    }

    /// Does what is ordered; what is to be answered.
    fn obey(&mut self, order: Order<D>) -> Result<Option<Vec<u8>>, SolverError> {
        let run = &mut self.run;
        let answer = match order {
            Order::Advance(steps) => return run.advance(steps).map(|()| None),
            Order::SetSame(density, u) => return run.set_same(density, u).map(|()| None),
            Order::Set => return self.set().map(|()| None),
            Order::Every(steps) => {
                run.sample_forces_every(steps);
                return Ok(None);
            }
            Order::Restore(steps) => {
                let levels = self.outlines.iter().map(|_| self.receive());
                let levels = levels.collect::<Result<_, _>>()?;
                return self.run.set_populations(steps, levels).map(|()| None);
            }
            Order::Wait => run.wait().map(|()| Vec::new())?,
            Order::Sums => bytes_of(&words_of_sums(&run.take_sums()?)),
            Order::FirstDiverged => match run.first_diverged()? {
                Some((level, slot)) => bytes_of(&[level as u64, slot as u64]),
                None => Vec::new(),
            },
            Order::Diverged(level, slot) => {
                bytes_of_diverged::<D>(&run.diverged(level as usize, slot as usize)?)
            }
            Order::Fields(level) => bytes_of(&run.own_fields(level as usize)?),
            Order::Populations(level) => self.own_populations(level as usize)?,
            Order::Laps(steps) => {
                let laps = run.laps(steps)?;
                let words = laps.iter().flat_map(|lap| {
                    let work = WORKS.iter().position(|&work| work == lap.work);
                    let work = work.unwrap_or(0) as u64;
                    [work, lap.level as u64, lap.seconds.to_bits()]
                });
                bytes_of(&words.collect::<Vec<u64>>())
            }
            Order::Validate | Order::End => Vec::new(),
        };
        Ok(Some(answer))
    }

    fn receive<T: Item>(&self) -> Result<Vec<T>, SolverError> {
        Ok(numbers(&self.link.receive(0)?))
    }

    fn set(&mut self) -> Result<(), SolverError> {
        let levels = self.outlines.iter().map(|_| self.receive::<f64>());
        let levels: Vec<Vec<f64>> = levels.collect::<Result<_, _>>()?;
        self.run.set_cells(&|level, slot, cell| {
            let at = (1 + D) * (slot * dims::cells(D) + cell);
            let values = &levels[level][at..at + 1 + D];
            (values[0], std::array::from_fn(|a| values[1 + a]))
        })
    }

    fn own_populations(&self, level: usize) -> Result<Vec<u8>, SolverError> {
        let row = L::Q * dims::cells(D);
        let all = self.run.populations(level)?;
        let own = self.outlines[level].own();
        let rows = own.flat_map(|(slot, _)| &all[slot * row..][..row]);
        Ok(bytes_of(&rows.copied().collect::<Vec<S>>()))
    }
}
