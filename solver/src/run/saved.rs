//! States of a flow as they are saved: the same for all backends and any number of ranks, but for levels whose cells
//! keep moments ([`kept`](super::kept)), which any flow reads as well.

use super::Run;
use crate::{
    LatticeFlow, SolverError, adapt::own_mesh::topology, kernels::FlowKernels, lattice::Lattice,
    storage::Storage,
};
use cutlink_amr::dims;
use cutlink_device::memory;
use rayon::prelude::*;
use std::{io, ops::Range};

/// Blocks whose populations are on the host at once, or in one message: 80 MB of D3Q19 in f64. Few in tests, so that levels have
/// several pieces.
pub(super) const BLOCKS_AT_ONCE: usize = if cfg!(test) { 50 } else { 1 << 13 };

/// Slots, some at a time.
pub(crate) fn pieces(slots: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = slots.end;
    let pieces = slots.step_by(BLOCKS_AT_ONCE);
    pieces.map(move |first| first..end.min(first + BLOCKS_AT_ONCE))
}

/// Writes how many populations of a level follow.
pub(crate) fn write_count(out: &mut dyn io::Write, count: usize) -> Result<(), SolverError> {
    Ok(out.write_all(&(count as u64).to_le_bytes())?)
}

/// Checks how many populations of a level follow, which should be so many.
pub(crate) fn check_count(level: usize, found: u64, count: usize) -> Result<(), SolverError> {
    if found != count as u64 {
        let reason = format!(
            "level {level} has {count} numbers here and {found} there: mesh or parameters differ"
        );
        return Err(SolverError::State { reason });
    }
    Ok(())
}

/// Reads so many populations.
pub(crate) fn read_populations<S: Storage>(
    from: &mut dyn io::Read,
    count: usize,
) -> Result<Vec<S>, SolverError> {
    let mut data = memory::with_capacity("populations", count)?;
    data.resize(count, S::zeroed());
    from.read_exact(bytemuck::cast_slice_mut(&mut data))?;
    Ok(data)
}

/// Does two pieces of work side by side: one on this thread, one in its pool.
pub(crate) fn side_by_side<A, B: Send>(
    here: impl FnOnce() -> A,
    there: impl FnOnce() -> B + Send,
) -> (A, B) {
    let mut done = None;
    let here = rayon::in_place_scope(|scope| {
        scope.spawn(|_| done = Some(there()));
        here()
    });
    (here, done.expect("a scope should end after its work"))
}

/// Calls `write` with what `make` gives for each piece, which it makes while the one before is written.
pub(crate) fn write_pieces<T: Send>(
    pieces: impl Iterator<Item = Range<usize>>,
    make: impl Fn(Range<usize>) -> Result<T, SolverError> + Sync,
    mut write: impl FnMut(T) -> Result<(), SolverError>,
) -> Result<(), SolverError> {
    let mut made = None;
    for slots in pieces.map(Some).chain([None]) {
        let before = made.take();
        let (written, next) = side_by_side(
            || before.map_or(Ok(()), &mut write),
            || slots.map(&make).transpose(),
        );
        written?;
        made = next?;
    }
    Ok(())
}

/// Calls `take` with what `read` gives for each piece, while the next one is read.
pub(crate) fn read_pieces<T: Send>(
    pieces: impl Iterator<Item = Range<usize>>,
    mut read: impl FnMut(&Range<usize>) -> Result<T, SolverError>,
    mut take: impl FnMut(Range<usize>, T) -> Result<(), SolverError> + Send,
) -> Result<(), SolverError> {
    let mut found = None;
    for slots in pieces.map(Some).chain([None]) {
        let before = found.take();
        let (next, taken) = side_by_side(
            || -> Result<_, SolverError> {
                let found = slots.map(|slots| Ok((read(&slots)?, slots)));
                found.transpose()
            },
            || before.map_or(Ok(()), |(data, slots)| take(slots, data)),
        );
        taken?;
        found = next?;
    }
    Ok(())
}

/// Steps, and what was taken away from a mean density that is held.
pub(crate) fn write_begin(
    out: &mut dyn io::Write,
    steps: u64,
    mass_reset: Option<f64>,
) -> Result<(), SolverError> {
    out.write_all(&steps.to_le_bytes())?;
    match mass_reset {
        Some(share) => Ok(out.write_all(&share.to_le_bytes())?),
        None => Ok(()),
    }
}

/// The inverse.
pub(crate) fn read_begin(
    from: &mut dyn io::Read,
    has_mass_reset: bool,
) -> Result<(u64, f64), SolverError> {
    let steps = read_word(from)?;
    let share = match has_mass_reset {
        true => f64::from_bits(read_word(from)?),
        false => 0.0,
    };
    Ok((steps, share))
}

pub(crate) fn read_word(from: &mut dyn io::Read) -> Result<u64, SolverError> {
    let mut word = [0; 8];
    from.read_exact(&mut word)?;
    Ok(u64::from_le_bytes(word))
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    /// Writes steps, the share of mass taken away where the mean density is held, the blocks of a mesh that changes, and the
    /// current populations by velocity and cell. What levels exchange and the second buffer hold nothing at the end of a root
    /// step that is read again.
    pub(super) fn write_state(&self, out: &mut dyn io::Write) -> Result<(), SolverError> {
        let is_held = self.plan.holds_density();
        write_begin(out, self.steps, is_held.then_some(self.mass_reset))?;
        if self.plan.params.adaptation.is_some() {
            out.write_all(&topology(self.mesh()?))?;
        }
        if let Some(movement) = &self.movement {
            movement.save(out)?;
        }
        for (level, state) in self.levels.iter().enumerate() {
            if state.level.keeps_moments {
                self.write_kept(level, out)?;
                continue;
            }
            write_count(out, B::len(&state.now))?;
            write_pieces(
                pieces(0..state.level.slots),
                |slots| self.populations(level, slots),
                |data| Ok(out.write_all(bytemuck::cast_slice(&data))?),
            )?;
        }
        self.write_heat(out)?;
        match &self.grains {
            Some(grains) => grains.save(out),
            None => Ok(()),
        }
    }

    /// Takes the place of what was written.
    pub(super) fn read_state(&mut self, from: &mut dyn io::Read) -> Result<(), SolverError> {
        let (steps, mass_reset) = read_begin(from, self.plan.holds_density())?;
        let forest = match self.plan.params.adaptation.is_some() {
            true => self.read_topology(from)?,
            false => None,
        };
        self.restore_bodies(from, forest)?;
        for level in 0..self.levels.len() {
            self.read_level(level, from)?;
        }
        self.read_heat(from)?;
        if let Some(grains) = &mut self.grains {
            grains.restore(from)?;
        }
        self.begin_at(steps, mass_reset)
    }

    /// Populations of some slots of a level, by slot, velocity and cell.
    pub(crate) fn populations(
        &self,
        level: usize,
        slots: Range<usize>,
    ) -> Result<Vec<S>, SolverError> {
        let cells = dims::cells(D);
        let mut data = self.levels[level].get::<L>(&self.backend, slots)?;
        each_block::<D, L, S>(&mut data, |block, of, q, cell| {
            block[q * cells + cell] = of[B::place::<L>(q, cell)];
        });
        Ok(data)
    }

    /// Sets populations from a slot on, as [`populations`](Self::populations) gives them; [`begin_at`](Self::begin_at) has to follow.
    pub(crate) fn set_populations(
        &mut self,
        level: usize,
        first: usize,
        mut data: Vec<S>,
    ) -> Result<(), SolverError> {
        let cells = dims::cells(D);
        each_block::<D, L, S>(&mut data, |block, of, q, cell| {
            block[B::place::<L>(q, cell)] = of[q * cells + cell];
        });
        self.levels[level].put::<L>(&self.backend, first, data)
    }

    /// Goes on from populations that were set, after so many root steps, in which so much was taken away from the mean density.
    pub(crate) fn begin_at(&mut self, steps: u64, mass_reset: f64) -> Result<(), SolverError> {
        self.forget_graphs();
        self.steps = steps;
        self.mass_reset = mass_reset;
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
