//! States of a flow as they are saved: the same for all backends.

use super::Run;
use crate::{SolverError, kernels::FlowKernels, lattice::Lattice, storage::Storage};
use cutlink_amr::dims;
use cutlink_device::memory;
use rayon::prelude::*;
use std::io;

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    /// Writes steps, the blocks of a mesh that changes, and the current populations by velocity and cell. What levels
    /// exchange and the second buffer hold nothing at the end of a root step that is read again.
    pub(super) fn write_state(&self, out: &mut dyn io::Write) -> Result<(), SolverError> {
        let cells = dims::cells(D);
        out.write_all(&self.steps.to_le_bytes())?;
        if self.plan.params.adaptation.is_some() {
            out.write_all(&self.topology()?)?;
        }
        for state in &self.levels {
            let mut data = self.backend.download(&state.now)?;
            each_block::<D, L, S>(&mut data, |block, of, q, cell| {
                block[q * cells + cell] = of[B::place::<L>(q, cell)];
            });
            out.write_all(&(data.len() as u64).to_le_bytes())?;
            out.write_all(bytemuck::cast_slice(&data))?;
        }
        Ok(())
    }

    /// Takes the place of what was written.
    pub(super) fn read_state(&mut self, from: &mut dyn io::Read) -> Result<(), SolverError> {
        let (cells, mut word) = (dims::cells(D), [0; 8]);
        from.read_exact(&mut word)?;
        let steps = u64::from_le_bytes(word);
        if self.plan.params.adaptation.is_some() {
            self.read_topology(from)?;
        }
        let mut fresh = Vec::new();
        for (index, state) in self.levels.iter().enumerate() {
            from.read_exact(&mut word)?;
            let (found, len) = (u64::from_le_bytes(word), B::len(&state.now));
            if found != len as u64 {
                let reason = format!(
                    "level {index} has {len} numbers here and {found} there: mesh or parameters differ"
                );
                return Err(SolverError::State { reason });
            }
            let mut data = memory::with_capacity("populations", len)?;
            data.resize(len, S::zeroed());
            from.read_exact(bytemuck::cast_slice_mut(&mut data))?;
            each_block::<D, L, S>(&mut data, |block, of, q, cell| {
                block[B::place::<L>(q, cell)] = of[q * cells + cell];
            });
            fresh.push(self.backend.upload(data)?);
        }
        for (state, now) in self.levels.iter_mut().zip(fresh) {
            state.now = now;
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
