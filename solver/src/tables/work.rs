//! How long steps take, as far as it follows from the tables: for shares of ranks, and for forecasts.

use super::{Built, tiles};
use cutlink_amr::dims;
use cutlink_device::Memory;

/// Bytes of populations that a GPU reads and writes in the least time of a level's step: some 4 µs on an H200.
const LEAST_BYTES: u64 = 15_000_000;

/// What steps cost in one kind of memory, in updates of plain blocks' cells as the flow stores them. An update of a cell with
/// moments takes two thirds of the time of one with populations (D3Q19, H200: 0.75, H100: 0.57; D3Q27: 0.67, 0.52), so all else
/// costs three halves of what it does there.
///
/// A plain block costs its cells. Another one costs some halves of a block and the cells that are stepped in it; cut links cost one and two
/// thirds of a block more, ghost cells and the means of cells half a block. Fitted on two H200 to a body of 78 million cells on five levels,
/// each level on each GPU to 3 %; on two cores of a CPU to a sphere and a body of one million cells, within 12 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StepCosts {
    halves: u64,
    /// Of a level's step, however small the level is.
    pub(crate) least: u64,
    /// Velocities of the lattice, where levels keep moments if that takes less memory.
    moments: Option<usize>,
}

impl StepCosts {
    /// `update`: bytes that a plain cell's update reads and writes.
    pub(crate) fn new(memory: Memory, update: u64) -> Self {
        match memory {
            Memory::Host => Self {
                halves: 3,
                least: 0,
                moments: None,
            },
            Memory::Device => Self {
                halves: 1,
                least: LEAST_BYTES / update,
                moments: None,
            },
        }
    }

    /// The same in updates of plain blocks' cells with moments, which levels of this lattice keep if that takes less memory.
    pub(crate) fn with_moments(self, velocities: usize) -> Self {
        Self {
            least: self.least * 3 / 2,
            moments: Some(velocities),
            ..self
        }
    }
}

impl<const D: usize> Built<D> {
    /// What each slot costs in a step of the level.
    pub(crate) fn work(&self, costs: StepCosts) -> Vec<u64> {
        let level = &self.level;
        let block = dims::cells(D) as u64;
        let keeps = |q: usize| tiles::pays(level.slots, self.populated(), q);
        let plain = match costs.moments.map(keeps) {
            None | Some(true) => block,
            Some(false) => block * 3 / 2,
        };
        let of_slot = |slot: usize| match slot < level.special {
            true => costs.halves * block / 2 + u64::from(level.stepped[slot].count_ones()),
            false => plain,
        };
        let mut work: Vec<u64> = (0..level.slots).map(of_slot).collect();
        for &slot in &level.linked {
            work[slot as usize] += 5 * block / 3;
        }
        for (slot, _) in level
            .ghost
            .iter()
            .enumerate()
            .filter(|&(_, &ghost)| ghost != 0)
        {
            work[slot] += block / 2;
        }
        if costs.moments.is_some() {
            work[..level.special]
                .iter_mut()
                .for_each(|of| *of += *of / 2);
        }
        work
    }
}
