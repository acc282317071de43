//! Heat of a running flow: temperatures of levels, their part of a step, what is told and saved of them.

use super::{
    Run,
    level::State,
    saved::{check_count, read_word, write_count},
    snapshot::{Blocks, fill_rows},
};
use crate::{
    HeatSums, LatticeFlow, Plan, SolverError,
    heat::{
        self,
        tables::{HeatTables, build},
    },
    kernels::{
        FlowKernels, HeatLevel,
        cpu::{
            by_block,
            heat::{first_bad, sums},
        },
    },
    lattice::Lattice,
    run::center,
    storage::Storage,
    tables::Built,
};
use cutlink_amr::{NONE, dims};
use cutlink_device::{Backend, Host};
use rayon::prelude::*;
use std::io;

/// Temperatures of a level, beyond the reference.
pub(super) struct HeatState<B: Backend> {
    tables: HeatTables<B>,
    diffusivity: f64,
    /// What a unit of temperature accelerates by, a step of the level; none for a passive temperature.
    lift: Option<[f64; 3]>,
    now: B::Buf<f64>,
    next: B::Buf<f64>,
    momentum: B::Buf<f64>,
    /// By face of the tables, what has come through it.
    given: B::Buf<f64>,
}

impl<const D: usize, S: Storage, B: FlowKernels<D>> State<D, S, B> {
    /// Steps the temperatures by the velocity that the flow has, and adds their weight to it.
    pub(super) fn convect<L: Lattice>(&mut self, backend: &B) -> Result<(), SolverError> {
        let Some(heat) = &mut self.heat else {
            return Ok(());
        };
        backend.momentum::<L, S>(&self.level, self.half_step, &self.now, &mut heat.momentum)?;
        let step = HeatLevel {
            level: &self.level,
            tables: &heat.tables,
            diffusivity: heat.diffusivity,
            momentum: &heat.momentum,
        };
        backend.carry(&step, &heat.now, &mut heat.next, &mut heat.given)?;
        std::mem::swap(&mut heat.now, &mut heat.next);
        match heat.lift {
            Some(lift) => {
                backend.lift::<L, S>(&self.level, &heat.tables, lift, &heat.now, &mut self.now)
            }
            None => Ok(()),
        }
    }

    /// What a replayed root step does to the root's temperatures.
    pub(super) fn swap_heat(&mut self) {
        if let Some(heat) = &mut self.heat {
            std::mem::swap(&mut heat.now, &mut heat.next);
        }
    }

    /// Ends a step of this level and two of the finer one.
    pub(super) fn share_heat(&mut self, fine: &mut Self, backend: &B) -> Result<(), SolverError> {
        let (Some(own), Some(fine)) = (&mut self.heat, &mut fine.heat) else {
            return Ok(());
        };
        let shared = &fine.tables.shared;
        backend.restrict(shared, &fine.now, &mut fine.given, &mut own.now)?;
        backend.prolong(shared, &own.now, &mut fine.now)
    }
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    /// The tables of heat, if the flow has some.
    pub(super) fn heat_tables(
        plan: &Plan<'_, D>,
        levels: &[Built<D>],
    ) -> Result<Vec<HeatTables<Host>>, SolverError> {
        match &plan.params.heat {
            Some(heat) => build(&plan.params, heat, levels),
            None => Ok(Vec::new()),
        }
    }

    /// Gives the levels their heat, with the reference temperature everywhere.
    pub(super) fn begin_heat(&mut self, tables: Vec<HeatTables<Host>>) -> Result<(), SolverError> {
        let (Some(heat), backend) = (&self.plan.params.heat, &self.backend) else {
            return Ok(());
        };
        for (state, tables) in self.levels.iter_mut().zip(tables) {
            let cells = state.level.slots * dims::cells(D);
            let shrunk = 1.0 / f64::from(1u32 << state.level.index);
            let lift = std::array::from_fn(|a| heat.lift.get(a).map_or(0.0, |g| g * shrunk));
            let faces = tables.faces.len();
            state.heat = Some(HeatState {
                tables: tables.upload(backend)?,
                diffusivity: heat.on_level(state.level.index),
                lift: (lift != [0.0; 3]).then_some(lift),
                now: backend.alloc("temperatures", cells, 0.0)?,
                next: backend.alloc("temperatures", cells, 0.0)?,
                momentum: backend.alloc("momentum", D * cells, 0.0)?,
                given: backend.alloc("heat by face", faces, 0.0)?,
            });
        }
        Ok(())
    }

    fn reference(&self) -> Result<f64, SolverError> {
        let heat = self.plan.params.heat.as_ref();
        Ok(heat.ok_or_else(heat::without)?.reference)
    }

    pub(super) fn set_heat(
        &mut self,
        at: &(dyn Fn([f64; D]) -> f64 + Sync),
    ) -> Result<(), SolverError> {
        let (reference, cells) = (self.reference()?, dims::cells(D));
        let backend = &self.backend;
        for state in &mut self.levels {
            let coords = backend.download(&state.level.coord)?;
            let Some(heat) = &mut state.heat else {
                continue;
            };
            let there = backend.download(&heat.tables.there)?;
            let mut now = vec![0.0; coords.len() * cells];
            let index = state.level.index;
            now.par_chunks_mut(cells)
                .enumerate()
                .for_each(|(slot, to)| {
                    for cell in (0..cells).filter(|cell| there[slot] >> cell & 1 == 1) {
                        to[cell] = at(center(index, coords[slot], cell)) - reference;
                    }
                });
            let faces = B::len(&heat.given);
            heat.now = backend.upload(now)?;
            heat.given = backend.alloc("heat by face", faces, 0.0)?;
        }
        self.settle_heat()?;
        self.forget_graphs();
        Ok(())
    }

    /// Brings what levels share up to date: means from the finest level on, then ghosts.
    fn settle_heat(&mut self) -> Result<(), SolverError> {
        let backend = &self.backend;
        for n in (1..self.levels.len()).rev() {
            let (coarse, fine) = self.levels.split_at_mut(n);
            if let (Some(own), Some(fine)) = (&mut coarse[n - 1].heat, &mut fine[0].heat) {
                backend.restrict(
                    &fine.tables.shared,
                    &fine.now,
                    &mut fine.given,
                    &mut own.now,
                )?;
            }
        }
        for n in 1..self.levels.len() {
            let (coarse, fine) = self.levels.split_at_mut(n);
            if let (Some(own), Some(fine)) = (&coarse[n - 1].heat, &mut fine[0].heat) {
                backend.prolong(&fine.tables.shared, &own.now, &mut fine.now)?;
            }
        }
        for heat in self
            .levels
            .iter_mut()
            .filter_map(|state| state.heat.as_mut())
        {
            backend.copy(&heat.now, &mut heat.next)?;
        }
        Ok(())
    }

    #[allow(clippy::cast_possible_truncation, reason = "f32 is what reports hold")]
    pub(super) fn temperatures(&self, to: &mut Vec<f32>) -> Result<(), SolverError> {
        let (reference, mesh) = (self.reference()?, self.mesh()?);
        to.clear();
        to.resize(mesh.forest.capacity() * dims::cells(D), reference as f32);
        let write = |level: usize, rows: &mut [&mut [f32]]| -> Result<(), SolverError> {
            let state = &self.levels[level];
            let Some(heat) = &state.heat else {
                return Ok(());
            };
            let values = self.backend.download(&heat.now)?;
            let values: Vec<f32> = values.iter().map(|t| (t + reference) as f32).collect();
            by_block::put_by_block::<D>(&values, &self.backend.download(&state.blocks)?, rows);
            Ok(())
        };
        fill_rows(
            mesh,
            self.levels.len(),
            Blocks::All,
            &mut [to],
            reference as f32,
            write,
        )
    }

    pub(super) fn heat_sums(&self) -> Result<Option<HeatSums>, SolverError> {
        let Some(params) = &self.plan.params.heat else {
            return Ok(None);
        };
        let (backend, reference) = (&self.backend, params.reference);
        let mut all = HeatSums {
            step: self.steps,
            volume: 0.0,
            heat: 0.0,
            through: vec![0.0; params.conditions().count()],
            extremes: [f64::INFINITY, f64::NEG_INFINITY],
            square: 0.0,
        };
        for state in &self.levels {
            let Some(heat) = &state.heat else { continue };
            let (level, tables) = (&state.level, &heat.tables);
            let masks = [&level.stepped, &level.ghost, &tables.there];
            let [stepped, ghost, there] = masks.map(|of| backend.download(of));
            let values = backend.download(&heat.now)?;
            let [count, sum, squares, low, high] =
                sums::<D>((&stepped?, &ghost?), &there?, &values);
            let size = 0.5f64.powi((D * level.index) as i32);
            all.volume += size * count;
            all.heat += size * sum;
            all.square += size * squares;
            let [lowest, highest] = &mut all.extremes;
            if low < *lowest || low.is_nan() {
                *lowest = low;
            }
            if high > *highest || high.is_nan() {
                *highest = high;
            }
            let given = backend.download(&heat.given)?;
            for (face, given) in backend.download(&tables.faces)?.iter().zip(given) {
                if face.patch != NONE {
                    all.through[face.patch as usize] += size * given;
                }
            }
        }
        all.extremes = all.extremes.map(|t| t + reference);
        Ok(Some(all))
    }

    /// Whether all temperatures are finite.
    ///
    /// # Errors
    /// [`SolverError::Diverged`], with the place.
    pub(super) fn check_heat(&self) -> Result<(), SolverError> {
        for (level, state) in self.levels.iter().enumerate() {
            let Some(heat) = &state.heat else { continue };
            let stepped = self.backend.download(&state.level.stepped)?;
            let there = self.backend.download(&heat.tables.there)?;
            let values = self.backend.download(&heat.now)?;
            if let Some((slot, cell)) = first_bad::<D>(&stepped, &there, &values) {
                let block = self.backend.download(&state.level.coord)?[slot];
                let local = dims::unravel::<D>(cell, 4);
                return Err(SolverError::Diverged {
                    step: self.steps,
                    level,
                    cell: (0..D).map(|a| 4 * block[a] + local[a]).collect(),
                    position: center(level, block, cell).to_vec(),
                    what: format!("temperature {}", values[slot * dims::cells(D) + cell]),
                });
            }
        }
        Ok(())
    }

    /// Writes temperatures and what has come through faces.
    pub(super) fn write_heat(&self, out: &mut dyn io::Write) -> Result<(), SolverError> {
        for heat in self.levels.iter().filter_map(|state| state.heat.as_ref()) {
            for numbers in [&heat.now, &heat.given] {
                write_count(out, B::len(numbers))?;
                out.write_all(bytemuck::cast_slice(&self.backend.download(numbers)?))?;
            }
        }
        Ok(())
    }

    /// Takes the place of what was written.
    pub(super) fn read_heat(&mut self, from: &mut dyn io::Read) -> Result<(), SolverError> {
        let backend = &self.backend;
        for (level, state) in self.levels.iter_mut().enumerate() {
            let Some(heat) = &mut state.heat else {
                continue;
            };
            for numbers in [&mut heat.now, &mut heat.given] {
                check_count(level, read_word(from)?, B::len(numbers))?;
                let mut data = vec![0.0f64; B::len(numbers)];
                from.read_exact(bytemuck::cast_slice_mut(&mut data))?;
                backend.write(data, 0, numbers)?;
            }
        }
        Ok(())
    }
}
