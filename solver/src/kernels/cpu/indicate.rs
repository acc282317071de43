//! How much resolution the cells of a level need.

use super::cell::{bits, locate};
use crate::{adapt::Indicator, tables::Level};
use cutlink_amr::dims;
use cutlink_device::Host;
use rayon::prelude::*;

/// Density (row 0) and velocity of a level's cells, 1 + D rows of 4^D a slot.
struct Fields<'a, const D: usize> {
    level: &'a Level<D, Host>,
    values: &'a [f32],
}

impl<const D: usize> Fields<'_, D> {
    fn row(&self, slot: usize, row: usize, cell: usize) -> f32 {
        self.values[(slot * (1 + D) + row) * dims::cells(D) + cell]
    }

    /// The fluid cell a step away, if it is of this level.
    fn beside(&self, slot: usize, at: [i32; D], axis: usize, by: i32) -> Option<(usize, usize)> {
        let mut to = at;
        to[axis] += by;
        let (toward, inner) = locate::<D>(to);
        let next = self.level.neighbors[slot * dims::directions(D) + toward] as usize;
        let cell = dims::ravel(inner, 4);
        let is_fluid = next < self.level.slots && self.level.solid[next] >> cell & 1 == 0;
        is_fluid.then_some((next, cell))
    }

    /// Differences of a row along each axis over one cell: central, else to the one neighbour that is there, else 0.
    fn slope(&self, slot: usize, cell: usize, row: usize) -> [f32; D] {
        let at = dims::unravel::<D>(cell, 4);
        let here = self.row(slot, row, cell);
        std::array::from_fn(|axis| {
            let side = |by| {
                let found = self.beside(slot, at, axis, by);
                found.map(|(next, cell)| self.row(next, row, cell))
            };
            match (side(-1), side(1)) {
                (Some(low), Some(high)) => 0.5 * (high - low),
                (None, Some(high)) => high - here,
                (Some(low), None) => here - low,
                (None, None) => 0.0,
            }
        })
    }

    fn gradient(&self, slot: usize, cell: usize) -> [[f32; D]; D] {
        std::array::from_fn(|a| self.slope(slot, cell, 1 + a))
    }

    /// Largest velocity difference to a face neighbour.
    fn jump(&self, slot: usize, cell: usize) -> f32 {
        let at = dims::unravel::<D>(cell, 4);
        let mut most = 0.0f32;
        for axis in 0..D {
            for by in [-1, 1] {
                let Some((next, there)) = self.beside(slot, at, axis, by) else {
                    continue;
                };
                let mut square = 0.0;
                for a in 1..=D {
                    let jump = self.row(next, a, there) - self.row(slot, a, cell);
                    square += jump * jump;
                }
                most = most.max(square);
            }
        }
        most.sqrt()
    }

    fn of_cell(&self, what: Indicator, slot: usize, cell: usize) -> f32 {
        let (mut spin, mut strain) = (0.0f32, 0.0f32);
        match what {
            Indicator::VelocityJump => return self.jump(slot, cell),
            Indicator::PressureGradient => {
                let slope = self.slope(slot, cell, 0);
                return slope.iter().fold(0.0, |sum, s| sum + s * s).sqrt();
            }
            Indicator::Vorticity | Indicator::Q | Indicator::Strain => {
                // Sums of (du_a/dx_b - du_b/dx_a)² over a < b, and of (du_a/dx_b + du_b/dx_a)² / 2 over all: |ω|² and 2 S:S.
                let g = self.gradient(slot, cell);
                for a in 0..D {
                    strain += 2.0 * g[a][a] * g[a][a];
                    for b in a + 1..D {
                        let (less, more) = (g[a][b] - g[b][a], g[a][b] + g[b][a]);
                        spin += less * less;
                        strain += more * more;
                    }
                }
            }
        }
        match what {
            Indicator::Vorticity => spin.sqrt(),
            Indicator::Strain => strain.sqrt(),
            // Ω:Ω = |ω|²/2, S:S = strain/2.
            _ => (0.25 * (spin - strain)).max(0.0),
        }
    }
}

pub(super) fn indicate<const D: usize>(
    level: &Level<D, Host>,
    what: Indicator,
    fields: &[f32],
) -> Vec<f32> {
    let fields = Fields {
        level,
        values: fields,
    };
    let of_slot = |slot: usize| {
        bits(level.stepped[slot] & !level.ghost[slot])
            .map(|cell| fields.of_cell(what, slot, cell))
            .fold(0.0f32, f32::max)
    };
    (0..level.slots).into_par_iter().map(of_slot).collect()
}
