//! How long steps take, as far as it follows from the tables: for shares of ranks, and for forecasts.

use super::Level;
use cutlink_amr::dims;
use cutlink_device::{Host, Memory};

/// Bytes of populations that a GPU reads and writes in the least time of a level's step: some 4 µs on an H200.
const LEAST_BYTES: u64 = 15_000_000;

/// What steps cost with populations in one kind of memory, in updates of plain blocks' cells.
///
/// A plain block costs its cells. Another one costs some halves of a block and the cells that are stepped in it; cut links cost one and two
/// thirds of a block more, ghost cells and the means of cells half a block. Fitted on two H200 to a body of 78 million cells on five levels,
/// each level on each GPU to 3 %; on two cores of a CPU to a sphere and a body of one million cells, within 12 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StepCosts {
    halves: u64,
    /// Of a level's step, however small the level is.
    pub(crate) least: u64,
}

impl StepCosts {
    /// `update`: bytes that a plain cell's update reads and writes.
    pub(crate) fn new(memory: Memory, update: u64) -> Self {
        match memory {
            Memory::Host => Self {
                halves: 3,
                least: 0,
            },
            Memory::Device => Self {
                halves: 1,
                least: LEAST_BYTES / update,
            },
        }
    }
}

impl<const D: usize> Level<D, Host> {
    /// What each slot costs in a step of the level.
    pub(crate) fn work(&self, costs: StepCosts) -> Vec<u64> {
        let block = dims::cells(D) as u64;
        let of_slot = |slot: usize| match slot < self.special {
            true => costs.halves * block / 2 + u64::from(self.stepped[slot].count_ones()),
            false => block,
        };
        let mut work: Vec<u64> = (0..self.slots).map(of_slot).collect();
        for &slot in &self.linked {
            work[slot as usize] += 5 * block / 3;
        }
        for (slot, _) in self
            .ghost
            .iter()
            .enumerate()
            .filter(|&(_, &ghost)| ghost != 0)
        {
            work[slot] += block / 2;
        }
        work
    }
}
