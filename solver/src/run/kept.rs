//! Levels whose cells keep moments instead of populations (decision 059): their numbers on the host.
//!
//! A buffer has the populations of the first slots, then of all slots the [`KEPT`] values of each cell, four, four and
//! one side by side.

use super::{
    Run,
    level::{State, relaxation},
    saved::{check_count, pieces, read_pieces, read_populations, read_word, write_pieces},
};
use crate::{
    Plan, SolverError,
    kernels::{FlowKernels, Relaxation},
    lattice::{Lattice, cubic_shares},
    storage::Storage,
    tables::KEPT,
};
use cutlink_amr::dims;
use cutlink_device::{Real, memory};
use rayon::prelude::*;
use std::{io, ops::Range};

/// In the count of a level's numbers in a saved state: that its cells keep moments.
const MARK: u64 = 1 << 63;

/// Pairs of axes of xx, xy, xz, yy, yz, zz.
const PAIRS: [[usize; 2]; 6] = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]];

/// Which numbers of slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Populations, by velocity and cell.
    Populations,
    /// What cells keep, as it is in memory.
    Kept,
}

impl Numbers {
    /// In the order in which those of a level are saved.
    pub(crate) const ALL: [Self; 2] = [Self::Populations, Self::Kept];

    /// Numbers of a slot.
    pub(crate) fn row<const D: usize, L: Lattice>(self) -> usize {
        let values = match self {
            Self::Populations => L::Q,
            Self::Kept => KEPT,
        };
        values * dims::cells(D)
    }
}

/// Which slots of a level keep moments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptSlots {
    /// Slots with populations.
    pub(crate) populated: usize,
    /// By slot the one that it would be if none kept moments; empty where none does.
    pub(crate) order: Vec<u32>,
}

impl KeptSlots {
    /// Whether the level's cells keep moments.
    pub(crate) fn is_any(&self) -> bool {
        !self.order.is_empty()
    }

    /// Numbers of the level in a saved state.
    fn numbers<const D: usize, L: Lattice>(&self) -> usize {
        let [populations, kept] = Numbers::ALL.map(|of| of.row::<D, L>());
        self.populated * populations + self.order.len() * kept
    }

    /// Writes what goes before these: how many, the slots with populations, the order.
    pub(crate) fn write<const D: usize, L: Lattice>(
        &self,
        out: &mut dyn io::Write,
    ) -> Result<(), SolverError> {
        write_word(out, MARK | self.numbers::<D, L>() as u64)?;
        write_word(out, self.populated as u64)?;
        Ok(out.write_all(bytemuck::cast_slice(&self.order))?)
    }

    /// Reads the same of a level of so many slots, behind the count, which is given.
    pub(crate) fn read<const D: usize, L: Lattice>(
        from: &mut dyn io::Read,
        (level, slots): (usize, usize),
        found: u64,
    ) -> Result<Self, SolverError> {
        let populated = read_word(from)?;
        if populated > slots as u64 {
            return Err(differs(level));
        }
        let mut order = memory::with_capacity("the order of blocks", slots)?;
        order.resize(slots, 0u32);
        let mut read = Self {
            populated: populated as usize,
            order,
        };
        if found != read.numbers::<D, L>() as u64 {
            return Err(differs(level));
        }
        from.read_exact(bytemuck::cast_slice_mut(&mut read.order))?;
        match read.order.iter().all(|&slot| (slot as usize) < slots) {
            true => Ok(read),
            false => Err(differs(level)),
        }
    }

    /// Checks that a saved level is ordered as it is here.
    pub(crate) fn check(&self, level: usize, found: &Self) -> Result<(), SolverError> {
        match self == found {
            true => Ok(()),
            false => Err(differs(level)),
        }
    }

    /// By slot of a level without moments the one here.
    pub(crate) fn places(&self) -> Vec<usize> {
        let mut places = vec![0; self.order.len()];
        for (place, &slot) in self.order.iter().enumerate() {
            places[slot as usize] = place;
        }
        places
    }
}

/// What populations after collision are made of besides moments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Collided {
    /// Rate of the viscosity.
    even: f64,
    /// Acceleration, a step.
    acceleration: [f64; 3],
}

impl Collided {
    /// Of a level of a flow with a constant acceleration.
    pub(crate) fn of<const D: usize>(plan: &Plan<'_, D>, level: usize) -> Self {
        Self::from(&relaxation::<f64, D>(plan, level))
    }
}

impl<T: Real> From<&Relaxation<T>> for Collided {
    fn from(relax: &Relaxation<T>) -> Self {
        Self {
            even: relax.even.wide(),
            acceleration: relax.acceleration.map(Real::wide),
        }
    }
}

fn dot(c: [i32; 3], x: [f64; 3]) -> f64 {
    (0..3).map(|a| f64::from(c[a]) * x[a]).sum()
}

impl Collided {
    /// The share of the acceleration's source that even populations have (Guo, Zheng & Shi 2002, eq. 20).
    fn share(self) -> f64 {
        1.0 - 0.5 * self.even
    }

    /// What a cell keeps, of its populations after regularized collision.
    fn keep<L: Lattice>(self, f: impl Fn(usize) -> f64) -> [f64; KEPT] {
        let g = self.acceleration;
        let c = |q: usize, a: usize| f64::from(L::C[q][a]);
        let rho: f64 = (0..L::Q).map(&f).sum();
        let density = 1.0 + rho;
        // Half a step of the acceleration too much is in the momentum.
        let u: [f64; 3] = std::array::from_fn(|a| {
            (0..L::Q).map(|q| c(q, a) * f(q)).sum::<f64>() / density - 0.5 * g[a]
        });
        let mut stress = PAIRS.map(|[a, b]| {
            let flux: f64 = (0..L::Q).map(|q| c(q, a) * c(q, b) * f(q)).sum();
            let pressure = if a == b { rho / 3.0 } else { 0.0 };
            let push = self.share() * (u[a] * g[b] + u[b] * g[a]);
            flux - pressure - density * (u[a] * u[b] + push)
        });
        let mean = (stress[0] + stress[3] + stress[5]) / 3.0;
        for n in [0, 3, 5] {
            stress[n] -= mean;
        }
        let [xx, xy, xz, yy, yz, _] = stress;
        [rho, u[0], u[1], u[2], xx, xy, xz, yy, yz]
    }

    /// The populations of a cell that keeps such values: `collide/regularized.rs`, in f64.
    fn expand<L: Lattice>(self, kept: [f64; KEPT], mut put: impl FnMut(usize, f64)) {
        let [rho, x, y, z, xx, xy, xz, yy, yz] = kept;
        let (density, u) = (1.0 + rho, [x, y, z]);
        let stress = [xx, xy, xz, yy, yz, -xx - yy];
        let [xx, xy, xz, yy, yz, zz] = stress;
        let cubic = [
            density * x * x * y + 2.0 * x * xy + y * xx,
            density * x * x * z + 2.0 * x * xz + z * xx,
            density * x * y * y + 2.0 * y * xy + x * yy,
            density * y * y * z + 2.0 * y * yz + z * yy,
            density * x * z * z + 2.0 * z * xz + x * zz,
            density * y * z * z + 2.0 * z * yz + y * zz,
            density * x * y * z + x * yz + y * xz + z * xy,
        ];
        let square = u.iter().map(|u| u * u).sum::<f64>();
        let work = density * (0..3).map(|a| u[a] * self.acceleration[a]).sum::<f64>();
        // The trace has half of the source, as the odd parts have of what is missing.
        let bulk = (0.5 - self.share()) * work;
        for q in 0..L::Q {
            let c = L::C[q];
            let along = dot(c, u);
            let flux: f64 = PAIRS
                .iter()
                .zip(stress)
                .map(|(&[a, b], s)| f64::from(c[a] * c[b]) * s * if a == b { 1.0 } else { 2.0 })
                .sum();
            let even = rho + density * (4.5 * along * along - 1.5 * square) + 4.5 * flux;
            let shares = cubic_shares::<L>(q);
            let odd: f64 =
                3.0 * density * along + (0..7).map(|n| shares[n] * cubic[n]).sum::<f64>();
            let pull = density * dot(c, self.acceleration);
            let speed = f64::from(c.iter().map(|c| c * c).sum::<i32>());
            let push = self.share() * (9.0 * along * pull - 3.0 * work)
                + 3.0 * (speed - 1.0) * bulk
                + 1.5 * pull;
            put(q, L::W[q] * (even + odd + push));
        }
    }
}

/// Where in a slot a value of a cell is.
pub(crate) fn place<const D: usize>(value: usize, cell: usize) -> usize {
    let cells = dims::cells(D);
    match value {
        0..4 => 4 * cell + value,
        4..8 => 4 * (cells + cell) + value - 4,
        _ => 8 * cells + cell,
    }
}

/// What the cells of some slots keep, of their populations, whose place is given by velocity and cell.
fn keep<const D: usize, L: Lattice, S: Storage>(
    of: Collided,
    populations: &[S],
    at: impl Fn(usize, usize) -> usize + Sync,
) -> Vec<S> {
    let cells = dims::cells(D);
    let mut kept = vec![S::zeroed(); populations.len() / L::Q * KEPT];
    let blocks = kept.par_chunks_mut(KEPT * cells);
    blocks
        .zip(populations.par_chunks(L::Q * cells))
        .for_each(|(kept, f)| {
            for cell in 0..cells {
                let values = of.keep::<L>(|q| f[at(q, cell)].load().wide());
                for (n, value) in values.into_iter().enumerate() {
                    kept[place::<D>(n, cell)] = S::store(S::Real::of(value));
                }
            }
        });
    kept
}

/// The inverse.
fn expand<const D: usize, L: Lattice, S: Storage>(
    of: Collided,
    kept: &[S],
    at: impl Fn(usize, usize) -> usize + Sync,
) -> Vec<S> {
    let cells = dims::cells(D);
    let mut populations = vec![S::zeroed(); kept.len() / KEPT * L::Q];
    let blocks = populations.par_chunks_mut(L::Q * cells);
    blocks
        .zip(kept.par_chunks(KEPT * cells))
        .for_each(|(f, kept)| {
            for cell in 0..cells {
                let values = std::array::from_fn(|n| kept[place::<D>(n, cell)].load().wide());
                of.expand::<L>(values, |q, value| {
                    f[at(q, cell)] = S::store(S::Real::of(value));
                });
            }
        });
    populations
}

/// The count of a level in a saved state: how many numbers follow, and whether they are those of cells that keep
/// moments.
pub(crate) fn read_mark(from: &mut dyn io::Read) -> Result<(u64, bool), SolverError> {
    let word = read_word(from)?;
    Ok((word & !MARK, word & MARK != 0))
}

fn write_word(out: &mut dyn io::Write, word: u64) -> Result<(), SolverError> {
    Ok(out.write_all(&word.to_le_bytes())?)
}

fn differs(level: usize) -> SolverError {
    let reason =
        format!("level {level} has other blocks here than there: mesh or parameters differ");
    SolverError::State { reason }
}

/// Reads a level whose cells keep moments for a flow that has populations: these by slot, velocity and cell.
pub(crate) fn read_as_populations<const D: usize, L: Lattice, S: Storage>(
    from: &mut dyn io::Read,
    (level, slots): (usize, usize),
    found: u64,
    of: Collided,
) -> Result<Vec<S>, SolverError> {
    let KeptSlots { populated, order } = KeptSlots::read::<D, L>(from, (level, slots), found)?;
    let [row, kept] = [L::Q, KEPT].map(|values| values * dims::cells(D));
    let mut all = memory::with_capacity("populations of a level", slots * row)?;
    all.resize(slots * row, S::zeroed());
    let mut put = |first: usize, blocks: &[S]| {
        for (slot, block) in order[first..].iter().zip(blocks.chunks_exact(row)) {
            all[*slot as usize * row..][..row].copy_from_slice(block);
        }
    };
    for range in pieces(0..populated) {
        put(range.start, &read_populations(from, range.len() * row)?);
    }
    for range in pieces(0..slots) {
        let moments: Vec<S> = read_populations(from, range.len() * kept)?;
        let first = range.start.max(populated).min(range.end);
        let rest = &moments[(first - range.start) * kept..];
        put(
            first,
            &expand::<D, L, S>(of, rest, |q, cell| q * dims::cells(D) + cell),
        );
    }
    Ok(all)
}

impl<const D: usize, S: Storage, B: FlowKernels<D>> State<D, S, B> {
    /// Where the kept values of a slot begin.
    fn kept_from<L: Lattice>(&self, slot: usize) -> usize {
        (self.level.populated * L::Q + slot * KEPT) * dims::cells(D)
    }

    /// Writes populations, in the backend's order, of the slots from `first` on, and what their cells keep if they do.
    pub(super) fn put<L: Lattice>(
        &mut self,
        backend: &B,
        first: usize,
        mut populations: Vec<S>,
    ) -> Result<(), SolverError> {
        let row = L::Q * dims::cells(D);
        if self.level.keeps_moments {
            let of = Collided::from(&self.relax);
            let kept = keep::<D, L, S>(of, &populations, B::place::<L>);
            backend.write(kept, self.kept_from::<L>(first), &mut self.now)?;
            let populated = self.level.populated.saturating_sub(first);
            populations.truncate(populated * row);
        }
        match populations.is_empty() {
            true => Ok(()),
            false => Ok(backend.write(populations, first * row, &mut self.now)?),
        }
    }

    /// Populations of some slots, in the backend's order.
    pub(super) fn get<L: Lattice>(
        &self,
        backend: &B,
        slots: Range<usize>,
    ) -> Result<Vec<S>, SolverError> {
        let row = L::Q * dims::cells(D);
        let populated = slots.start.min(self.level.populated)..slots.end.min(self.level.populated);
        let mut data =
            backend.download_part(&self.now, populated.start * row..populated.end * row)?;
        let rest = slots.start.max(populated.end)..slots.end;
        if !rest.is_empty() {
            let range = self.kept_from::<L>(rest.start)..self.kept_from::<L>(rest.end);
            let kept = backend.download_part(&self.now, range)?;
            data.extend(expand::<D, L, S>(
                (&self.relax).into(),
                &kept,
                B::place::<L>,
            ));
        }
        Ok(data)
    }

    /// The same populations in all slots, in the backend's order. The second buffer is unspecified.
    pub(super) fn put_same<L: Lattice>(
        &mut self,
        backend: &B,
        row: &[S],
    ) -> Result<(), SolverError> {
        // The old buffer is freed before the new one is taken.
        self.now = backend.upload(Vec::new())?;
        if !self.level.keeps_moments {
            self.now = backend.repeat("populations", row, self.level.slots)?;
            return Ok(());
        }
        self.now = self.allocate::<L>(backend)?;
        if bytemuck::cast_slice::<S, u8>(row)
            .iter()
            .all(|&byte| byte == 0)
        {
            return Ok(());
        }
        for slots in pieces(0..self.level.slots) {
            self.put::<L>(backend, slots.start, row.repeat(slots.len()))?;
        }
        Ok(())
    }
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    /// Writes a level whose cells keep moments: the numbers as they are, so that a flow that goes on from them has the
    /// same bits.
    pub(super) fn write_kept(
        &self,
        level: usize,
        out: &mut dyn io::Write,
    ) -> Result<(), SolverError> {
        let (backend, state) = (&self.backend, &self.levels[level]);
        state.kept.write::<D, L>(out)?;
        write_pieces(
            self.parts(level),
            |range| Ok(backend.download_part(&state.now, range)?),
            |data| Ok(out.write_all(bytemuck::cast_slice(&data))?),
        )
    }

    /// The numbers of a level whose cells keep moments, some slots at a time.
    fn parts(&self, level: usize) -> impl Iterator<Item = Range<usize>> + use<D, L, S, B> {
        let level = &self.levels[level].level;
        let of = |first: usize, slots: usize, row: usize| {
            let range = move |of: Range<usize>| first + of.start * row..first + of.end * row;
            pieces(0..slots).map(range)
        };
        let [row, kept] = [L::Q, KEPT].map(|values| values * dims::cells(D));
        of(0, level.populated, row).chain(of(level.populated * row, level.slots, kept))
    }

    /// Reads a level that was saved with moments or without, whatever its cells have here.
    pub(super) fn read_level(
        &mut self,
        level: usize,
        from: &mut dyn io::Read,
    ) -> Result<(), SolverError> {
        let (found, is_kept) = read_mark(from)?;
        let state = &self.levels[level];
        let (slots, row) = (state.level.slots, L::Q * dims::cells(D));
        if is_kept && state.level.keeps_moments {
            let found = KeptSlots::read::<D, L>(from, (level, slots), found)?;
            state.kept.check(level, &found)?;
            return read_pieces(
                self.parts(level),
                |range| read_populations(from, range.len()),
                |range, data| {
                    let now = &mut self.levels[level].now;
                    Ok(self.backend.write(data, range.start, now)?)
                },
            );
        }
        if is_kept {
            let of = Collided::from(&state.relax);
            let all = read_as_populations::<D, L, S>(from, (level, slots), found, of)?;
            return pieces(0..slots).try_for_each(|slots| {
                let data = all[slots.start * row..slots.end * row].to_vec();
                self.set_populations(level, slots.start, data)
            });
        }
        check_count(level, found, slots * row)?;
        let places = state.kept.places();
        read_pieces(
            pieces(0..slots),
            |slots| read_populations(from, slots.len() * row),
            |slots, data| match places.is_empty() {
                true => self.set_populations(level, slots.start, data),
                false => places[slots]
                    .iter()
                    .zip(data.chunks_exact(row))
                    .try_for_each(|(&slot, block)| {
                        self.set_populations(level, slot, block.to_vec())
                    }),
            },
        )
    }

    /// Numbers of some slots of a level.
    pub(crate) fn numbers(
        &self,
        level: usize,
        what: Numbers,
        slots: Range<usize>,
    ) -> Result<Vec<S>, SolverError> {
        if what == Numbers::Populations {
            return self.populations(level, slots);
        }
        let state = &self.levels[level];
        let range = state.kept_from::<L>(slots.start)..state.kept_from::<L>(slots.end);
        Ok(self.backend.download_part(&state.now, range)?)
    }

    /// Sets what [`numbers`](Self::numbers) gives, from a slot on; of slots that have both, populations first, which set the
    /// other ones to rounding.
    pub(crate) fn set_numbers(
        &mut self,
        level: usize,
        what: Numbers,
        first: usize,
        data: Vec<S>,
    ) -> Result<(), SolverError> {
        if what == Numbers::Populations {
            return self.set_populations(level, first, data);
        }
        let state = &mut self.levels[level];
        let first = state.kept_from::<L>(first);
        Ok(self.backend.write(data, first, &mut state.now)?)
    }
}
