//! The flow of all ranks, as its user sees it.

use super::{
    Ranks,
    command::{Command, WORKS, diverged_of_bytes, sums_of_words},
    part::{Outline, Whole},
    partition::Partition,
};
use crate::{
    AdaptationLook, DeviceFields, Flow, ForceSample, InitialState, Lap, Plan, Snapshot,
    SolverError,
    kernels::{ExactSum, FlowKernels, cpu::by_block},
    lattice::Lattice,
    run::{
        Run, center, sample,
        saved::{read_level, read_word, write_level},
        snapshot,
    },
    storage::Storage,
};
use cutlink_amr::dims;
use cutlink_device::{Backend, Host, Route};
use cutlink_voxelizer::Mesh;
use rayon::prelude::*;
use std::io;

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Flow<D> for Ranks<'_, D, L, S, B> {
    fn steps(&self) -> u64 {
        self.here[0].run.steps()
    }

    fn advance(&mut self, steps: u64) -> Result<(), SolverError> {
        self.command(Command::Advance(steps))?;
        self.each(|run| run.advance(steps)).map(drop)
    }

    fn wait(&self) -> Result<(), SolverError> {
        self.command(Command::Wait)?;
        self.here.iter().try_for_each(|rank| rank.run.wait())?;
        self.there
            .iter()
            .try_for_each(|remote| remote.reply::<u8>().map(drop))
    }

    fn sample_forces_every(&mut self, every: u64) {
        for rank in &mut self.here {
            rank.run.sample_forces_every(every);
        }
        // A failure shows at the next step.
        let _ = self.command(Command::Every(every));
    }

    fn take_forces(&mut self) -> Result<Vec<ForceSample>, SolverError> {
        self.command(Command::Sums)?;
        let mut all = self.each(Run::take_sums)?;
        for remote in &self.there {
            all.push(sums_of_words(
                &remote.reply::<u64>()?,
                self.plan.params.patches.len(),
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
        let mut found = Vec::new();
        for (n, rank) in self.here.iter().enumerate() {
            if let Some((level, slot)) = rank.run.first_diverged()? {
                found.push((level, rank.outlines[level].slots[slot], n, slot));
            }
        }
        for (n, remote) in self.there.iter().enumerate() {
            if let [level, slot] = remote.reply::<u64>()?[..] {
                let (level, slot) = (level as usize, slot as usize);
                let n = self.here.len() + n;
                found.push((level, remote.outlines[level].slots[slot], n, slot));
            }
        }
        let Some(&(level, _, n, slot)) = found.iter().min() else {
            return Ok(());
        };
        if let Some(rank) = self.here.get(n) {
            return Err(rank.run.diverged(level, slot)?);
        }
        let remote = &self.there[n - self.here.len()];
        let command = Command::<D>::Diverged(level as u64, slot as u64);
        remote.send(&command.to_bytes())?;
        Err(diverged_of_bytes::<D>(&remote.reply::<u8>()?))
    }

    fn snapshot(&self) -> Result<Snapshot<D>, SolverError> {
        let write = |level: usize, rows: &mut [&mut [f32]]| {
            self.command(Command::Fields(level as u64))?;
            for rank in &self.here {
                rank.run.write_fields(level, rows)?;
            }
            for remote in &self.there {
                let values = remote.reply::<f32>()?;
                let ids = remote.outlines[level]
                    .own()
                    .map(|(_, slot)| self.blocks[level][slot]);
                by_block::put_by_block::<D>(&values, &ids.collect::<Vec<_>>(), rows);
            }
            Ok(())
        };
        snapshot::of_levels(self.plan.mesh, self.steps(), self.blocks.len(), write)
    }

    fn device_fields(&self) -> Result<DeviceFields, SolverError> {
        let snapshot = self.snapshot()?;
        Ok(DeviceFields {
            step: snapshot.step,
            density: Host.export(snapshot.density)?,
            velocity: Host.export(snapshot.velocity.concat())?,
        })
    }

    fn set(&mut self, at: &InitialState<'_, D>) -> Result<(), SolverError> {
        self.command(Command::Set)?;
        for remote in &self.there {
            for (level, outline) in remote.outlines.iter().enumerate() {
                let coords = &self.coords[level];
                let of_slot = |&slot: &u32| -> Vec<f64> {
                    let of_cell = |cell: usize| {
                        let (density, u) = at(center(level, coords[slot as usize], cell));
                        std::iter::once(density).chain(u)
                    };
                    (0..dims::cells(D)).flat_map(of_cell).collect()
                };
                let values: Vec<f64> = outline.slots.par_iter().flat_map_iter(of_slot).collect();
                remote.send(&values)?;
            }
        }
        self.each(|run| run.set_fields(at)).map(drop)
    }

    fn set_uniform(&mut self, density: f64, velocity: [f64; D]) -> Result<(), SolverError> {
        self.command(Command::SetSame(density, velocity))?;
        self.each(|run| run.set_same(density, velocity)).map(drop)
    }

    fn mesh(&self) -> Result<&Mesh<D>, SolverError> {
        Ok(self.plan.mesh)
    }

    fn messages(&self) -> Option<Route<String>> {
        self.here[0].run.messages()
    }

    fn validate(&self) -> Result<(), SolverError> {
        self.command(Command::Validate)?;
        let mut plan = Plan::new(self.plan.mesh, self.plan.params.clone())?;
        let partition = Partition::new(&plan.tables, self.here.len() + self.there.len());
        let whole = Whole::of(&mut plan, &partition);
        for (n, rank) in self.here.iter().enumerate() {
            let tables = whole.tables(&plan, n)?;
            rank.run
                .compare_tables(&tables.iter().collect::<Vec<_>>())?;
        }
        self.there
            .iter()
            .try_for_each(|remote| remote.reply::<u8>().map(drop))
    }

    fn epoch(&self) -> u64 {
        0
    }

    fn take_looks(&mut self) -> Vec<AdaptationLook> {
        Vec::new()
    }

    fn updates(&self) -> u64 {
        self.plan.updates()
    }

    fn save(&self, out: &mut dyn io::Write) -> Result<(), SolverError> {
        let row = L::Q * dims::cells(D);
        out.write_all(&self.steps().to_le_bytes())?;
        for (level, blocks) in self.blocks.iter().enumerate() {
            self.command(Command::Populations(level as u64))?;
            let mut all = vec![S::zeroed(); blocks.len() * row];
            for rank in &self.here {
                let found = rank.run.populations(level)?;
                for (slot, to) in rank.outlines[level].own() {
                    all[to * row..][..row].copy_from_slice(&found[slot * row..][..row]);
                }
            }
            for remote in &self.there {
                let found = remote.reply::<S>()?;
                let own = remote.outlines[level].own();
                for ((_, to), found) in own.zip(found.chunks_exact(row)) {
                    all[to * row..][..row].copy_from_slice(found);
                }
            }
            write_level(out, &all)?;
        }
        Ok(())
    }

    fn restore(&mut self, from: &mut dyn io::Read) -> Result<(), SolverError> {
        let row = L::Q * dims::cells(D);
        let steps = read_word(from)?;
        let levels = self.blocks.iter().enumerate();
        let levels: Vec<Vec<S>> = levels
            .map(|(level, blocks)| read_level(from, level, blocks.len() * row))
            .collect::<Result<_, _>>()?;
        let of_rank = |level: usize, outline: &Outline| -> Vec<S> {
            let of_slot = |&slot: &u32| levels[level][slot as usize * row..][..row].iter().copied();
            outline.slots.iter().flat_map(of_slot).collect()
        };
        self.command(Command::Restore(steps))?;
        for remote in &self.there {
            for (level, outline) in remote.outlines.iter().enumerate() {
                remote.send(&of_rank(level, outline))?;
            }
        }
        for rank in &mut self.here {
            let outlines = rank.outlines.iter().enumerate();
            let own = outlines
                .map(|(level, outline)| of_rank(level, outline))
                .collect();
            rank.run.set_populations(steps, own)?;
        }
        Ok(())
    }

    fn laps(&mut self, steps: u64) -> Result<Vec<Lap>, SolverError> {
        self.command(Command::Laps(steps))?;
        let mut all = self.each(|run| run.laps(steps))?;
        for remote in &self.there {
            let words = remote.reply::<u64>()?;
            let of_lap = |words: &[u64]| Lap {
                work: WORKS[words[0] as usize],
                level: words[1] as usize,
                seconds: f64::from_bits(words[2]),
            };
            all.push(words.chunks_exact(3).map(of_lap).collect());
        }
        let mut laps: Vec<Lap> = Vec::new();
        for lap in all.into_iter().flatten() {
            let same = |other: &&mut Lap| (other.work, other.level) == (lap.work, lap.level);
            match laps.iter_mut().find(same) {
                Some(longest) => longest.seconds = longest.seconds.max(lap.seconds),
                None => laps.push(lap),
            }
        }
        Ok(laps)
    }
}

impl<const D: usize, L, S: Storage, B: FlowKernels<D>> Drop for Ranks<'_, D, L, S, B> {
    fn drop(&mut self) {
        for rank in &self.here {
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
