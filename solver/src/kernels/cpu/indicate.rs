//! How much resolution the cells of a level need.

use crate::{
    adapt::Indicator,
    tables::{Level, bits},
};
use cutlink_amr::dims;
use cutlink_device::Host;
use rayon::prelude::*;

/// Cells along an edge of a block with one cell of its neighbours on both sides.
const EDGE: usize = 6;
/// Cells of such a block in 3D.
const MOST: usize = EDGE.pow(3);

/// Where the cells of a block and those beside its faces are in a [`Neighborhood`].
struct Layout<const D: usize> {
    /// By cell.
    own: Vec<usize>,
    /// By axis and side: the direction of the neighbour, and its cells with their places.
    beside: Vec<(usize, Vec<(usize, usize)>)>,
}

impl<const D: usize> Layout<D> {
    fn new() -> Self {
        let place = |x: [i32; D]| dims::ravel::<D>(x.map(|x| x + 1), EDGE);
        let cells = (0..dims::cells(D)).map(|cell| dims::unravel::<D>(cell, 4));
        let side = |axis: usize, by: i32| {
            let mut step = [0; D];
            step[axis] = by;
            // The neighbour's cells next to this block, as seen from it.
            let near = if by > 0 { 0 } else { 3 };
            let cells = cells.clone().filter(|x| x[axis] == near);
            let placed = cells.map(|x| {
                let mut seen = x;
                seen[axis] += 4 * by;
                (dims::ravel::<D>(x, 4), place(seen))
            });
            (dims::direction(step), placed.collect())
        };
        Self {
            own: cells.clone().map(place).collect(),
            beside: (0..D)
                .flat_map(|axis| [side(axis, -1), side(axis, 1)])
                .collect(),
        }
    }
}

/// Density (row 0) and velocity of a block, and of the cells beside its faces.
struct Neighborhood<const D: usize> {
    rows: [[f32; MOST]; 4],
    /// Whether a cell is fluid and of this level.
    there: [bool; MOST],
}

impl<const D: usize> Neighborhood<D> {
    fn of(level: &Level<D, Host>, layout: &Layout<D>, values: &[f32], slot: usize) -> Self {
        let cells = dims::cells(D);
        let mut around = Self {
            rows: [[0.0; MOST]; 4],
            there: [false; MOST],
        };
        let mut take = |slot: usize, cell: usize, to: usize| {
            for row in 0..=D {
                around.rows[row][to] = values[(slot * (1 + D) + row) * cells + cell];
            }
            around.there[to] = level.solid[slot] >> cell & 1 == 0;
        };
        for (cell, &to) in layout.own.iter().enumerate() {
            take(slot, cell, to);
        }
        for (toward, placed) in &layout.beside {
            let next = level.neighbors[slot * dims::directions(D) + toward] as usize;
            if next < level.slots {
                for &(cell, to) in placed {
                    take(next, cell, to);
                }
            }
        }
        around
    }

    /// Difference of a row along an axis over one cell: central, else to the one neighbour that is there, else 0.
    fn slope(&self, row: usize, at: usize, axis: usize) -> f32 {
        let (row, step) = (&self.rows[row], EDGE.pow(axis as u32));
        let (low, high) = (at - step, at + step);
        match (self.there[low], self.there[high]) {
            (true, true) => 0.5 * (row[high] - row[low]),
            (false, true) => row[high] - row[at],
            (true, false) => row[at] - row[low],
            (false, false) => 0.0,
        }
    }

    /// Largest velocity difference to a face neighbour.
    fn jump(&self, at: usize) -> f32 {
        let mut most = 0.0f32;
        for axis in 0..D {
            let step = EDGE.pow(axis as u32);
            for to in [at - step, at + step] {
                if !self.there[to] {
                    continue;
                }
                let mut square = 0.0;
                for row in &self.rows[1..=D] {
                    let jump = row[to] - row[at];
                    square += jump * jump;
                }
                most = most.max(square);
            }
        }
        most.sqrt()
    }

    fn of_cell(&self, what: Indicator, at: usize) -> f32 {
        let (mut spin, mut strain) = (0.0f32, 0.0f32);
        match what {
            Indicator::VelocityJump => return self.jump(at),
            Indicator::PressureGradient => {
                let slopes = (0..D).map(|axis| self.slope(0, at, axis));
                return slopes.fold(0.0, |sum, s| sum + s * s).sqrt();
            }
            Indicator::Vorticity | Indicator::Q | Indicator::Strain => {
                // Sums of (du_a/dx_b - du_b/dx_a)² over a < b, and of (du_a/dx_b + du_b/dx_a)² / 2 over all: |ω|² and 2 S:S.
                let g: [[f32; D]; D] = std::array::from_fn(|a| {
                    std::array::from_fn(|axis| self.slope(1 + a, at, axis))
                });
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
    let layout = Layout::new();
    let of_slot = |slot: usize| {
        let counted = level.stepped[slot] & !level.ghost[slot];
        if counted == 0 {
            return 0.0;
        }
        let around = Neighborhood::of(level, &layout, fields, slot);
        bits(counted)
            .map(|cell| around.of_cell(what, layout.own[cell]))
            .fold(0.0f32, f32::max)
    };
    (0..level.slots).into_par_iter().map(of_slot).collect()
}
