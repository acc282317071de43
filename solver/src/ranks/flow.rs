//! The flow of all ranks, as its user sees it.

use super::{
    Ranks,
    command::{Command, WORKS, diverged_of_bytes, numbers_of, sums_of_words},
    part::Outline,
};
use crate::{
    AdaptationLook, DeviceFields, FluidState, ForceSample, Lap, LatticeFlow, RunningMeans,
    Snapshot, SolverError, StrainRates, StrainedState,
    adapt::own_mesh::{OwnMesh, Topology, topology},
    fields::{Integrals, integrals},
    kernels::{ExactSum, FlowKernels, cpu::by_block},
    lattice::Lattice,
    run::{
        Run, center,
        kept::{Collided, KeptSlots, Numbers, read_as_populations, read_mark},
        sample,
        saved::{
            check_count, pieces, read_begin, read_pieces, read_populations, write_begin,
            write_count, write_pieces,
        },
        snapshot::{self, Blocks},
        strain,
    },
    storage::Storage,
};
use cutlink_amr::dims;
use cutlink_device::{Backend, Host, Route, memory};
use cutlink_voxelizer::Mesh;
use rayon::prelude::*;
use std::{io, ops::Range};

/// Root steps between two looks at the flow.
struct Piece {
    steps: u64,
    /// Whether the requested steps end with it.
    is_last: bool,
    /// Whether a look follows.
    has_look: bool,
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Ranks<'_, D, L, S, B> {
    /// Root steps from one look to the next.
    fn pieces(&self, steps: u64) -> Vec<Piece> {
        let every = self.local.plan.params.adaptation.as_ref().map(|a| a.every);
        let (mut at, end, mut pieces) = (self.steps(), self.steps() + steps, Vec::new());
        while at < end {
            let next = every.map_or(end, |every| (at / every + 1) * every);
            let stop = next.min(end);
            pieces.push(Piece {
                steps: stop - at,
                is_last: stop == end,
                has_look: every.is_some() && stop == next,
            });
            at = stop;
        }
        pieces
    }

    /// Looks at the flow and adapts the mesh; whether it changed.
    fn look(&mut self, keeps_flow: bool) -> Result<bool, SolverError> {
        let Some(adaptation) = &self.local.plan.params.adaptation else {
            return Ok(false);
        };
        let max_cells = adaptation.max_cells;
        self.command(Command::Look(keeps_flow, max_cells))?;
        let (is_change, look) = self.local.look(keeps_flow, max_cells)?;
        self.looks.push(look);
        Ok(is_change)
    }

    /// Goes back to the mesh of the plan, for another initial state.
    fn forget_mesh(&mut self) -> Result<(), SolverError> {
        self.looks.clear();
        self.command(Command::ForgetMesh)?;
        self.local.forget_mesh()
    }

    /// The initial state on the mesh as it is.
    fn set_fields(&mut self, at: &StrainedState<'_, D>) -> Result<(), SolverError> {
        self.command(Command::Set)?;
        for remote in &self.there {
            let outlines = self.local.whole.outlines[remote.rank].iter();
            for (level, (outline, coords)) in outlines.zip(&self.local.coords).enumerate() {
                let of_slot = |&slot: &u32| -> Vec<f64> {
                    let of_cell =
                        |cell: usize| numbers_of(at(center(level, coords[slot as usize], cell)));
                    (0..dims::cells(D)).flat_map(of_cell).collect()
                };
                for slots in pieces(0..outline.slots.len()) {
                    let slots = outline.slots[slots].par_iter();
                    let values: Vec<f64> = slots.flat_map_iter(of_slot).collect();
                    remote.send(&values)?;
                }
            }
        }
        self.local.each(|run| run.set_fields(at)).map(drop)
    }

    /// Fits the mesh to the initial state, which is set again on each mesh.
    fn adapt_to_initial(&mut self, at: &StrainedState<'_, D>) -> Result<(), SolverError> {
        let adaptation = self.local.plan.params.adaptation.as_ref();
        for _ in 0..adaptation.map_or(0, |a| a.levels) {
            if !self.look(false)? {
                break;
            }
            self.set_fields(at)?;
        }
        Ok(())
    }

    /// Writes density and velocity of all ranks' slots of a level to rows by block id and cell.
    fn write_fields(&self, level: usize, rows: &mut [&mut [f32]]) -> Result<(), SolverError> {
        self.command(Command::Fields(level as u64))?;
        for rank in &self.local.ranks {
            rank.run.write_fields(level, Blocks::All, rows)?;
        }
        for remote in &self.there {
            let values = remote.reply::<f32>()?;
            let own = self.local.whole.outlines[remote.rank][level].own();
            let blocks = &self.local.blocks[level];
            let ids: Vec<u32> = own.map(|(_, slot)| blocks[slot]).collect();
            by_block::put_by_block::<D>(&values, &ids, rows);
        }
        Ok(())
    }

    /// Numbers of some slots of a level of the whole flow.
    fn numbers(
        &self,
        level: usize,
        what: Numbers,
        slots: Range<usize>,
    ) -> Result<Vec<S>, SolverError> {
        let row = what.row::<D, L>();
        let [level_word, first, end] = [level, slots.start, slots.end].map(|n| n as u64);
        self.command(match what {
            Numbers::Populations => Command::Populations(level_word, first, end),
            Numbers::Kept => Command::Kept(level_word, first, end),
        })?;
        let here = self.local.ranks.par_iter();
        let here = here.map(|rank| {
            let found = || self.local.numbers(rank, (level, what), &slots);
            Ok((rank.run.rank(), rank.pool.install(found)?))
        });
        let mut found = here.collect::<Result<Vec<_>, SolverError>>()?;
        for remote in &self.there {
            found.push((remote.rank, remote.reply()?));
        }
        let mut all = memory::with_capacity("populations", slots.len() * row)?;
        all.resize(slots.len() * row, S::zeroed());
        for (rank, found) in found {
            let outline = &self.local.whole.outlines[rank][level];
            let own = outline.own_in(&slots).into_iter().flatten();
            for (slot, found) in own.zip(found.chunks_exact(row)) {
                let at = (outline.slots[slot] as usize - slots.start) * row;
                all[at..at + row].copy_from_slice(found);
            }
        }
        Ok(all)
    }

    /// The inverse.
    fn set_numbers(
        &mut self,
        level: usize,
        what: Numbers,
        slots: &Range<usize>,
        data: &[S],
    ) -> Result<(), SolverError> {
        let row = what.row::<D, L>();
        let of = |outline: &Outline, own: Range<usize>| -> Result<Vec<S>, SolverError> {
            let mut rows = memory::with_capacity("populations", own.len() * row)?;
            for slot in own {
                let at = (outline.slots[slot] as usize - slots.start) * row;
                rows.extend_from_slice(&data[at..at + row]);
            }
            Ok(rows)
        };
        for remote in &self.there {
            let outline = &self.local.whole.outlines[remote.rank][level];
            for own in outline.own_in(slots) {
                remote.send(&of(outline, own)?)?;
            }
        }
        self.local.set_numbers((level, what), slots, of)
    }

    /// Which cells of a level keep moments, if any do.
    fn kept(&self, level: usize) -> Option<&KeptSlots> {
        self.local.kept.get(level).filter(|kept| kept.is_any())
    }

    /// Reads a level that was saved with moments or without, whatever its cells have here.
    fn restore_level(&mut self, level: usize, from: &mut dyn io::Read) -> Result<(), SolverError> {
        let row = Numbers::Populations.row::<D, L>();
        let blocks = self.local.blocks[level].len();
        let (found, is_kept) = read_mark(from)?;
        let mut slots = [blocks, 0];
        let mut all: Option<Vec<S>> = None;
        match self.kept(level) {
            Some(kept) if is_kept => {
                let there = KeptSlots::read::<D, L>(from, (level, blocks), found)?;
                kept.check(level, &there)?;
                slots = [kept.populated, blocks];
            }
            _ if is_kept => {
                let of = Collided::of(&self.local.plan, level);
                all = Some(read_as_populations::<D, L, S>(
                    from,
                    (level, blocks),
                    found,
                    of,
                )?);
            }
            kept => {
                check_count(level, found, blocks * row)?;
                if let Some(kept) = kept {
                    let read: Vec<S> = read_populations(from, blocks * row)?;
                    let mut ordered = memory::with_capacity("populations of a level", read.len())?;
                    for &slot in &kept.order {
                        ordered.extend_from_slice(&read[slot as usize * row..][..row]);
                    }
                    all = Some(ordered);
                }
            }
        }
        for remote in &self.there {
            remote.send(&slots.map(|slots| slots as u64))?;
        }
        if let Some(all) = all {
            return pieces(0..blocks).try_for_each(|slots| {
                let data = &all[slots.start * row..slots.end * row];
                self.set_numbers(level, Numbers::Populations, &slots, data)
            });
        }
        Numbers::ALL
            .into_iter()
            .zip(slots)
            .try_for_each(|(what, slots)| {
                read_pieces(
                    pieces(0..slots),
                    |slots| read_populations(from, slots.len() * what.row::<D, L>()),
                    |slots, data| self.set_numbers(level, what, &slots, &data),
                )
            })
    }

    /// The laps of all ranks in some root steps: of each piece of work the longest one.
    fn laps_of(&mut self, piece: &Piece) -> Result<Vec<Lap>, SolverError> {
        let &Piece { steps, is_last, .. } = piece;
        self.command(Command::Laps(steps, is_last))?;
        let mut all = self.local.each(|run| run.laps_of(steps, is_last))?;
        for remote in &self.there {
            let words = remote.reply::<u64>()?;
            let of_lap = |words: &[u64]| {
                let seconds = f64::from_bits(words[2]);
                Lap {
                    work: WORKS[words[0] as usize],
                    level: words[1] as usize,
                    seconds,
                    mean: seconds,
                }
            };
            all.push(words.chunks_exact(3).map(of_lap).collect());
        }
        let mut laps: Vec<Lap> = Vec::new();
        let ranks = all.len() as f64;
        for mut lap in all.into_iter().flatten() {
            lap.mean /= ranks;
            join(&mut laps, lap, f64::max);
        }
        Ok(laps)
    }
}

/// Adds a lap to those of other ranks or steps; `both` is of the seconds of the longest one.
fn join(laps: &mut Vec<Lap>, lap: Lap, both: impl Fn(f64, f64) -> f64) {
    let same = |other: &&mut Lap| (other.work, other.level) == (lap.work, lap.level);
    match laps.iter_mut().find(same) {
        Some(found) => {
            found.seconds = both(found.seconds, lap.seconds);
            found.mean += lap.mean;
        }
        None => laps.push(lap),
    }
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> LatticeFlow<D>
    for Ranks<'_, D, L, S, B>
{
    fn steps(&self) -> u64 {
        self.local.ranks[0].run.step_count()
    }

    fn advance(&mut self, steps: u64) -> Result<(), SolverError> {
        for Piece {
            steps,
            is_last,
            has_look,
        } in self.pieces(steps)
        {
            self.command(Command::Advance(steps, is_last))?;
            self.local.each(|run| run.advance_by(steps, is_last))?;
            if has_look {
                self.look(true)?;
            }
        }
        Ok(())
    }

    fn wait(&self) -> Result<(), SolverError> {
        self.command(Command::Wait)?;
        let mut here = self.local.ranks.iter();
        here.try_for_each(|rank| rank.run.finish())?;
        self.there
            .iter()
            .try_for_each(|remote| remote.reply::<u8>().map(drop))
    }

    fn sample_forces_every(&mut self, every: u64) {
        for rank in &mut self.local.ranks {
            rank.run.sample_forces_every(every);
        }
        // A failure shows at the next step.
        let _ = self.command(Command::Every(every));
    }

    fn take_forces(&mut self) -> Result<Vec<ForceSample>, SolverError> {
        self.command(Command::Sums)?;
        let mut all = self.local.each(Run::take_sums)?;
        for remote in &self.there {
            all.push(sums_of_words(
                &remote.reply::<u64>()?,
                self.local.plan.params.patches.len(),
            ));
        }
        let mut all = all.into_iter();
        let mut sums = all.next().unwrap_or_default();
        for of_rank in all {
            for ((_, sums), (_, more)) in sums.iter_mut().zip(of_rank) {
                let both = sums.iter_mut().zip(more);
                both.for_each(|(sum, more): (&mut ExactSum, _)| *sum += more);
            }
        }
        let sample = |(step, sums): &(u64, Vec<ExactSum>)| sample(*step, sums);
        Ok(sums.iter().map(sample).collect())
    }

    fn check(&self) -> Result<(), SolverError> {
        self.command(Command::FirstDiverged)?;
        // Level and slot of the whole flow, then who has it, and where.
        let whole_slot = |rank: usize, level: usize, slot: usize| {
            self.local.whole.outlines[rank][level].slots[slot]
        };
        let mut found = Vec::new();
        for (n, rank) in self.local.ranks.iter().enumerate() {
            if let Some((level, slot)) = rank.run.first_diverged()? {
                found.push((level, whole_slot(n, level, slot), n, slot));
            }
        }
        for remote in &self.there {
            if let [level, slot] = remote.reply::<u64>()?[..] {
                let (level, slot) = (level as usize, slot as usize);
                let n = remote.rank;
                found.push((level, whole_slot(n, level, slot), n, slot));
            }
        }
        let Some(&(level, _, n, slot)) = found.iter().min() else {
            return Ok(());
        };
        if let Some(rank) = self.local.ranks.get(n) {
            return Err(rank.run.diverged(level, slot)?);
        }
        let remote = &self.there[n - self.local.ranks.len()];
        let command = Command::<D>::Diverged(level as u64, slot as u64);
        remote.send(&command.to_bytes())?;
        Err(diverged_of_bytes::<D>(&remote.reply::<u8>()?))
    }

    /// All blocks, whichever are requested.
    fn update(&self, _: Option<&[u32]>, snapshot: &mut Snapshot<D>) -> Result<(), SolverError> {
        snapshot.step = self.steps();
        let levels = self.local.whole.levels();
        let write = |level: usize, rows: &mut [&mut [f32]]| self.write_fields(level, rows);
        snapshot::fill(self.mesh()?, levels, Blocks::All, snapshot, write)
    }

    fn integrals(
        &self,
        blocks: &[u32],
        snapshot: &mut Snapshot<D>,
    ) -> Result<Integrals, SolverError> {
        self.update(Some(blocks), snapshot)?;
        Ok(integrals(self.mesh()?, snapshot))
    }

    fn sample(&self, means: &mut RunningMeans<D>) -> Result<(), SolverError> {
        let (mesh, levels) = (self.mesh()?, self.local.whole.levels());
        let write = |level: usize, rows: &mut [&mut [f32]]| self.write_fields(level, rows);
        let len = mesh.forest.capacity() * dims::cells(D);
        means.add_fields(&Host, len, |density, velocity| {
            let rows = &mut by_block::rows(density, velocity);
            snapshot::fill_rows(mesh, levels, Blocks::All, rows, 1.0, write)
        })
    }

    fn device_fields(&self) -> Result<DeviceFields, SolverError> {
        let snapshot = self.snapshot()?;
        Ok(DeviceFields {
            step: snapshot.step,
            density: Host.export(snapshot.density)?,
            velocity: Host.export(snapshot.velocity.concat())?,
        })
    }

    fn set_strained(&mut self, at: &StrainedState<'_, D>) -> Result<(), SolverError> {
        self.forget_mesh()?;
        self.set_fields(at)?;
        self.adapt_to_initial(at)
    }

    fn set_steps(&mut self, steps: u64) -> Result<(), SolverError> {
        self.command(Command::Begin(steps))?;
        self.local.begin_at(steps, self.mass_reset())
    }

    fn set_uniform(&mut self, density: f64, velocity: [f64; D]) -> Result<(), SolverError> {
        self.forget_mesh()?;
        self.command(Command::SetSame(density, velocity))?;
        self.local.each(|run| run.set_same(density, velocity))?;
        self.adapt_to_initial(&|_| FluidState::unstrained((density, velocity)))
    }

    fn strain_rates(&self, now: &Snapshot<D>) -> Result<StrainRates<D>, SolverError> {
        let of_levels = self.local.ranks[0].run.departures_with(&self.local.blocks);
        strain::rates::<D, L, S>(self.mesh()?, now, &of_levels, |level, slots| {
            self.numbers(level, Numbers::Populations, slots)
        })
    }

    fn mesh(&self) -> Result<&Mesh<D>, SolverError> {
        self.local.mesh()
    }

    fn messages(&self) -> Option<Route<String>> {
        self.local.ranks[0].run.messages()
    }

    fn validate(&self) -> Result<(), SolverError> {
        self.command(Command::Validate)?;
        self.local.validate()?;
        self.there
            .iter()
            .try_for_each(|remote| remote.reply::<u8>().map(drop))
    }

    fn epoch(&self) -> u64 {
        self.local.epoch
    }

    fn take_looks(&mut self) -> Vec<AdaptationLook> {
        std::mem::take(&mut self.looks)
    }

    fn updates(&self) -> u64 {
        self.local.updates()
    }

    fn mass_reset(&self) -> f64 {
        self.local.ranks[0].run.mass_reset()
    }

    fn save(&self, out: &mut dyn io::Write) -> Result<(), SolverError> {
        let row = L::Q * dims::cells(D);
        let is_held = self.local.plan.holds_density();
        write_begin(out, self.steps(), is_held.then(|| self.mass_reset()))?;
        if self.local.plan.params.adaptation.is_some() {
            out.write_all(&topology(self.mesh()?))?;
        }
        for (level, blocks) in self.local.blocks.iter().enumerate() {
            let slots = match self.kept(level) {
                Some(kept) => {
                    kept.write::<D, L>(out)?;
                    [kept.populated, blocks.len()]
                }
                None => {
                    write_count(out, blocks.len() * row)?;
                    [blocks.len(), 0]
                }
            };
            for (what, slots) in Numbers::ALL.into_iter().zip(slots) {
                write_pieces(
                    pieces(0..slots),
                    |slots| self.numbers(level, what, slots),
                    |data| Ok(out.write_all(bytemuck::cast_slice(&data))?),
                )?;
            }
        }
        Ok(())
    }

    fn restore(&mut self, from: &mut dyn io::Read) -> Result<(), SolverError> {
        let (steps, mass_reset) = read_begin(from, self.local.plan.holds_density())?;
        if self.local.plan.params.adaptation.is_some() {
            let own = OwnMesh::of_topology(self.local.plan.mesh, &Topology::read(from)?)?;
            self.command(Command::Mesh)?;
            let bytes = topology(&own.mesh);
            self.there
                .iter()
                .try_for_each(|remote| remote.send(&bytes))?;
            self.local.take_mesh(own)?;
        }
        self.command(Command::Restore(steps))?;
        for level in 0..self.local.blocks.len() {
            self.restore_level(level, from)?;
        }
        self.local.begin_at(steps, mass_reset)
    }

    fn laps(&mut self, steps: u64) -> Result<Vec<Lap>, SolverError> {
        let mut laps = Vec::new();
        for piece in self.pieces(steps) {
            for lap in self.laps_of(&piece)? {
                join(&mut laps, lap, |a, b| a + b);
            }
            if piece.has_look {
                self.look(true)?;
            }
        }
        Ok(laps)
    }
}

impl<const D: usize, L, S: Storage, B: FlowKernels<D>> Drop for Ranks<'_, D, L, S, B> {
    fn drop(&mut self) {
        for rank in &self.local.ranks {
            // Ranks may write into each other's memory until all are done; a failure has been told before.
            let _ = rank.run.finish();
        }
        for remote in &self.there {
            // Where this fails, whoever has started the processes ends them.
            let _ = remote.send(&Command::<D>::End.to_bytes());
        }
        if let Some(remote) = self.there.first() {
            remote.link.ended();
        }
    }
}
