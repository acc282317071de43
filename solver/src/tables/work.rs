//! How long steps take, as far as it follows from the tables: for shares of ranks, and for forecasts.

use super::Level;
use cutlink_amr::dims;
use cutlink_device::Host;

impl<const D: usize> Level<D, Host> {
    /// The work of each slot in a step of the level, in updates of a plain block's cells. Other blocks cost half a block and the
    /// cells that are stepped in them; cut links one and two thirds of a block; ghost cells and the means of cells half a block.
    /// Fitted to a body of 78 million cells on five levels and two H200: each level on each GPU to 3 %.
    pub(crate) fn work(&self) -> Vec<u64> {
        let block = dims::cells(D) as u64;
        let of_slot = |slot: usize| match slot < self.special {
            true => block / 2 + u64::from(self.stepped[slot].count_ones()),
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
