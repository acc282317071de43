//! Initial states: populations at their equilibrium, or with the stress of a rate of strain.

use super::{Run, level::State, saved::pieces};
use crate::{
    FluidState, SolverError, StrainedState,
    cell_storage::leaves_moments,
    kernels::{FlowKernels, cpu::arrive_each, exchanged, pairs},
    lattice::Lattice,
    storage::Storage,
};
use cutlink_amr::dims;
use cutlink_device::Real;
use rayon::prelude::*;
use std::ops::Range;

/// The centre of a cell of a block, in root cells from the lower corner of the box.
pub(crate) fn center<const D: usize>(level: usize, block: [i32; D], cell: usize) -> [f64; D] {
    let dx = 1.0 / f64::from(1u32 << level);
    let local = dims::unravel::<D>(cell, 4);
    std::array::from_fn(|a| dx * (f64::from(4 * block[a] + local[a]) + 0.5))
}

/// A population of the equilibrium, less its weight.
fn equilibrium<const D: usize, L: Lattice>(q: usize, density: f64, u: [f64; D]) -> f64 {
    let along: f64 = (0..D).map(|a| f64::from(L::C[q][a]) * u[a]).sum();
    let square: f64 = u.iter().map(|u| u * u).sum();
    L::W[q] * (density - 1.0 + density * (3.0 * along + 4.5 * along * along - 1.5 * square))
}

impl<const D: usize, S: Storage, B: FlowKernels<D>> State<D, S, B> {
    /// Writes the populations of a slot with such cells: those of the equilibrium, and in strained ones those with the stress.
    fn set_slot<L: Lattice>(&self, of: impl Fn(usize) -> FluidState<D>, to: &mut [S]) {
        // After collision, half a step of the acceleration is in the momentum.
        let push: [f64; 27] = std::array::from_fn(|q| {
            let along = |a: usize| f64::from(L::C[q][a]) * self.half_step[a].wide();
            match q < L::Q {
                true => 3.0 * L::W[q] * (0..D).map(along).sum::<f64>(),
                false => 0.0,
            }
        });
        let (mut moments, mut strained) = ([[S::Real::of(0.0); 64]; 10], 0);
        for cell in 0..dims::cells(D) {
            let fluid = of(cell);
            for (q, push) in push.iter().enumerate().take(L::Q) {
                let f = equilibrium::<D, L>(q, fluid.density, fluid.velocity);
                let f = f + fluid.density * push;
                to[B::place::<L>(q, cell)] = S::store(S::Real::of(f));
            }
            // What cells with moments keep has its third order, whoever steps the flow (decision 059).
            let has_third_order = leaves_moments::<D>(S::PRECISION, &self.relax)
                && fluid.velocity.iter().any(|&u| u != 0.0);
            if has_third_order || fluid.strain.as_flattened().iter().any(|&s| s != 0.0) {
                strained |= 1 << cell;
                self.put_moments(&fluid, |n, value| moments[n][cell] = value);
            }
        }
        if strained != 0 {
            let arrival = self.arrival_scaled(1.0);
            arrive_each::<D, L, S::Real>(&moments, &arrival, strained, |q, cell, f| {
                to[B::place::<L>(q, cell)] = S::store(f);
            });
        }
    }

    /// The transferred moments of a cell, by number: with the stress that the viscosity alone has, before collision.
    fn put_moments(&self, fluid: &FluidState<D>, mut put: impl FnMut(usize, S::Real)) {
        let FluidState {
            density,
            velocity,
            strain,
        } = fluid;
        put(0, S::Real::of(density - 1.0));
        for a in 0..D {
            put(1 + a, S::Real::of(density * velocity[a]));
        }
        // A step of the level is shorter than one of the root.
        let per_step = 1.0 / f64::from(1u32 << self.level.index);
        for (n, a, b) in pairs::<D>() {
            // Without strain 0, and not -0.
            let stress = 2.0 / 3.0 * density * self.tau * strain[a][b] * per_step;
            put(n, S::Real::of(0.0 - stress));
        }
    }

    /// Writes the transferred moments of such a slot.
    fn set_moments(&self, of: impl Fn(usize) -> FluidState<D>, to: &mut [S::Real]) {
        let cells = dims::cells(D);
        for cell in 0..cells {
            self.put_moments(&of(cell), |n, value| to[n * cells + cell] = value);
        }
    }
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    /// The initial state on the mesh as it is.
    pub(crate) fn set_fields(&mut self, at: &StrainedState<'_, D>) -> Result<(), SolverError> {
        let coords = self
            .levels
            .iter()
            .map(|state| self.backend.download(&state.level.coord));
        let coords: Vec<_> = coords.collect::<Result<_, _>>()?;
        self.set_cells(&|level, slot, cell| at(center(level, coords[level][slot], cell)))
    }

    /// Sets the fluid of all cells, by level, slot and cell.
    fn set_cells(
        &mut self,
        of: &(dyn Fn(usize, usize, usize) -> FluidState<D> + Sync),
    ) -> Result<(), SolverError> {
        self.begin_at(0, 0.0)?;
        for level in 0..self.levels.len() {
            for slots in pieces(0..self.levels[level].level.slots) {
                self.set_slots(level, slots, &|slot, cell| of(level, slot, cell))?;
            }
        }
        self.copy_to_second()
    }

    /// Sets the fluid of some slots, by slot and cell. [`begin_at`](Self::begin_at) has to come before, and
    /// [`copy_to_second`](Self::copy_to_second) to follow.
    pub(crate) fn set_slots(
        &mut self,
        level: usize,
        slots: Range<usize>,
        of: &(dyn Fn(usize, usize) -> FluidState<D> + Sync),
    ) -> Result<(), SolverError> {
        let (backend, state) = (&self.backend, &mut self.levels[level]);
        let (first, row) = (slots.start, L::Q * dims::cells(D));
        let mut f = vec![S::zeroed(); slots.len() * row];
        let all = f.par_chunks_mut(row).enumerate();
        all.for_each(|(n, to)| state.set_slot::<L>(|cell| of(first + n, cell), to));
        state.put::<L>(backend, first, f)?;
        let row = exchanged(D) * dims::cells(D);
        let exchanging = slots.end.min(state.level.exchanging).saturating_sub(first);
        let mut moments = vec![S::Real::of(0.0); exchanging * row];
        let all = moments.par_chunks_mut(row).enumerate();
        all.for_each(|(n, to)| state.set_moments(|cell| of(first + n, cell), to));
        if exchanging > 0 {
            backend.write(moments, first * row, &mut state.moments)?;
        }
        Ok(())
    }

    /// Has the second buffers hold what the first ones do.
    pub(crate) fn copy_to_second(&mut self) -> Result<(), SolverError> {
        for state in &mut self.levels {
            self.backend.copy(&state.now, &mut state.next)?;
        }
        Ok(())
    }

    /// The same density and velocity everywhere, on the mesh as it is.
    pub(crate) fn set_same(&mut self, density: f64, u: [f64; D]) -> Result<(), SolverError> {
        (self.steps, self.mass_reset) = (0, 0.0);
        self.set_clocks()?;
        let cells = dims::cells(D);
        let fluid = FluidState::unstrained((density, u));
        for state in &mut self.levels {
            let mut row = vec![S::zeroed(); L::Q * cells];
            state.set_slot::<L>(|_| fluid, &mut row);
            state.put_same::<L>(&self.backend, &row)?;
            self.backend.copy(&state.now, &mut state.next)?;
            let mut row = vec![S::Real::of(0.0); exchanged(D) * cells];
            state.set_moments(|_| fluid, &mut row);
            let slots = state.level.exchanging;
            state.moments = self.backend.repeat("transferred moments", &row, slots)?;
        }
        self.forget_graphs();
        self.clear_forces()
    }
}
