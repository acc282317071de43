//! States of a flow as they are saved: the same for all backends and any number of ranks.

use super::Run;
use crate::{
    Flow, SolverError, adapt::own_mesh::topology, kernels::FlowKernels, lattice::Lattice,
    storage::Storage,
};
use cutlink_amr::dims;
use cutlink_device::memory;
use rayon::prelude::*;
use std::io;

/// Writes a level's populations.
pub(crate) fn write_level<S: Storage>(
    out: &mut dyn io::Write,
    populations: &[S],
) -> Result<(), SolverError> {
    out.write_all(&(populations.len() as u64).to_le_bytes())?;
    Ok(out.write_all(bytemuck::cast_slice(populations))?)
}

/// Reads a level's populations, of which there should be so many.
pub(crate) fn read_level<S: Storage>(
    from: &mut dyn io::Read,
    level: usize,
    len: usize,
) -> Result<Vec<S>, SolverError> {
    let found = read_word(from)?;
    if found != len as u64 {
        let reason = format!(
            "level {level} has {len} numbers here and {found} there: mesh or parameters differ"
        );
        return Err(SolverError::State { reason });
    }
    let mut data = memory::with_capacity("populations", len)?;
    data.resize(len, S::zeroed());
    from.read_exact(bytemuck::cast_slice_mut(&mut data))?;
    Ok(data)
}

pub(crate) fn read_word(from: &mut dyn io::Read) -> Result<u64, SolverError> {
    let mut word = [0; 8];
    from.read_exact(&mut word)?;
    Ok(u64::from_le_bytes(word))
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    /// Writes steps, the blocks of a mesh that changes, and the current populations by velocity and cell. What levels
    /// exchange and the second buffer hold nothing at the end of a root step that is read again.
    pub(super) fn write_state(&self, out: &mut dyn io::Write) -> Result<(), SolverError> {
        out.write_all(&self.steps.to_le_bytes())?;
        if self.plan.params.adaptation.is_some() {
            out.write_all(&topology(self.mesh()?))?;
        }
        (0..self.levels.len()).try_for_each(|level| write_level(out, &self.populations(level)?))
    }

    /// Takes the place of what was written.
    pub(super) fn read_state(&mut self, from: &mut dyn io::Read) -> Result<(), SolverError> {
        let steps = read_word(from)?;
        if self.plan.params.adaptation.is_some() {
            self.read_topology(from)?;
        }
        let levels = self.levels.iter().enumerate();
        let fresh: Vec<Vec<S>> = levels
            .map(|(level, state)| read_level(from, level, B::len(&state.now)))
            .collect::<Result<_, _>>()?;
        self.set_populations(steps, fresh)
    }

    /// A level's populations, by slot, velocity and cell.
    pub(crate) fn populations(&self, level: usize) -> Result<Vec<S>, SolverError> {
        let cells = dims::cells(D);
        let mut data = self.backend.download(&self.levels[level].now)?;
        each_block::<D, L, S>(&mut data, |block, of, q, cell| {
            block[q * cells + cell] = of[B::place::<L>(q, cell)];
        });
        Ok(data)
    }

    /// The same of a level's own slots.
    pub(crate) fn own_populations(&self, level: usize) -> Result<Vec<S>, SolverError> {
        let (all, row) = (self.populations(level)?, L::Q * dims::cells(D));
        let own = self.levels[level].level.halo.own().into_iter();
        let rows = own.flat_map(|slots| &all[slots.start * row..slots.end * row]);
        Ok(rows.copied().collect())
    }

    /// Sets the populations of all levels, as [`populations`](Self::populations) gives them, after so many root steps.
    pub(crate) fn set_populations(
        &mut self,
        steps: u64,
        levels: Vec<Vec<S>>,
    ) -> Result<(), SolverError> {
        let cells = dims::cells(D);
        for (state, mut data) in self.levels.iter_mut().zip(levels) {
            each_block::<D, L, S>(&mut data, |block, of, q, cell| {
                block[B::place::<L>(q, cell)] = of[q * cells + cell];
            });
            // The old buffer is freed before the new one is taken.
            state.now = self.backend.upload(Vec::new())?;
            state.now = self.backend.upload(data)?;
        }
        self.forget_graphs();
        self.steps = steps;
        self.set_clocks()?;
        self.clear_forces()
    }
}

/// Makes each block's populations anew from what they were: by velocity and cell.
fn each_block<const D: usize, L: Lattice, S: Storage>(
    populations: &mut [S],
    set: impl Fn(&mut [S], &[S], usize, usize) + Sync,
) {
    let size = L::Q * dims::cells(D);
    populations.par_chunks_mut(size).for_each(|block| {
        let old = block.to_vec();
        for q in 0..L::Q {
            (0..dims::cells(D)).for_each(|cell| set(block, &old, q, cell));
        }
    });
}
