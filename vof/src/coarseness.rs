//! How coarse the cells are for a flow.

use crate::compiled::compiled;
use crate::curvature::curvature;
use crate::flow::TwoPhaseFlow;
use crate::mesh::{STEP, Tile, in_tile};
use cutlink_amr::dims;
use rayon::prelude::*;

/// How coarse the cells of a state are.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Coarseness {
    /// The mean square of what the velocity changes by from cell to cell, over that of the velocity, both weighted by mass: 2 (k h)² of
    /// waves of wave number k. In a box that is periodic along all axes, of the velocity less its mean. 0 of fluids at rest.
    pub waves: f64,
    /// The mean square of the width of cells over the radius of curvature of the interface; 1 of cells whose curvature is not found, 0
    /// without an interface.
    pub curvature: f64,
    /// What a layer along the interface adds to the friction, as a share of all: in its cells viscosities are mean values by volume,
    /// where those by resistance would be right along the interface.
    pub friction: f64,
    /// The power of friction, W; in 2D per metre of depth.
    pub power: f64,
    /// The kinetic energy, in a periodic box less that of the mean velocity, J; in 2D per metre of depth.
    pub kinetic: f64,
}

/// Sums over cells: mass times squares of changes and of velocities, power of friction, and its part at the interface; by axis, mass and
/// momentum.
#[derive(Clone, Copy)]
struct Sums<const D: usize> {
    of: [f64; 4],
    mass: [f64; D],
    momentum: [f64; D],
}

impl<const D: usize> Default for Sums<D> {
    fn default() -> Self {
        Self {
            of: [0.0; 4],
            mass: [0.0; D],
            momentum: [0.0; D],
        }
    }
}

impl<const D: usize> Sums<D> {
    fn and(mut self, more: Self) -> Self {
        self.of = std::array::from_fn(|i| self.of[i] + more.of[i]);
        self.mass = std::array::from_fn(|a| self.mass[a] + more.mass[a]);
        self.momentum = std::array::from_fn(|a| self.momentum[a] + more.momentum[a]);
        self
    }
}

impl<const D: usize> TwoPhaseFlow<D> {
    /// How coarse the cells are. Costs about as much as the forces of a step, without the pressure.
    pub fn coarseness(&self) -> Coarseness {
        (compiled::<D>().coarseness)(self)
    }

    pub(crate) fn coarseness_here(&self) -> Coarseness {
        let (velocity, phases) = (&self.host.fields.velocity, &self.params.phases);
        let cells = dims::cells(D);
        let mesh = &self.mesh;
        let of = |tile: &mut Tile, block: usize| {
            let mut sums = Sums::<D>::default();
            if !mesh.blocks.is_leaf(block) {
                return sums;
            }
            for (axis, u) in velocity.iter().enumerate() {
                mesh.tile(u, block, tile);
                for cell in (0..cells).filter(|&cell| !mesh.is_solid(block, cell)) {
                    let alpha = self.alpha()[block * cells + cell].clamp(0.0, 1.0);
                    let at = in_tile::<D>(cell);
                    let change = |a: usize| 0.5 * (tile[at + STEP[a]] - tile[at - STEP[a]]);
                    let changes: f64 = (0..D).map(|a| change(a).powi(2)).sum();
                    let mass = phases.rho(alpha) * mesh.volume_of(block);
                    let [mu, off] = viscosity(phases.viscosity, alpha);
                    let power = mu * changes * mesh.width_of(block).powi(D as i32 - 2);
                    let own = [mass * changes, mass * tile[at].powi(2), power, power * off];
                    sums.of = std::array::from_fn(|i| sums.of[i] + own[i]);
                    sums.mass[axis] += mass;
                    sums.momentum[axis] += mass * tile[at];
                }
            }
            sums
        };
        let blocks = (0..mesh.blocks.len()).into_par_iter();
        let parts: Vec<Sums<D>> = blocks.map_init(Tile::new, of).collect();
        let sums = parts.into_iter().fold(Sums::default(), Sums::and);
        let [changes, mut all, power, off] = sums.of;
        if mesh.blocks.periodic().iter().all(|is| *is) {
            let of_mean = |a: usize| sums.momentum[a].powi(2) / sums.mass[a];
            let about = all - (0..D).map(of_mean).sum::<f64>();
            // Of a uniform flow it is rounding.
            all = if about > 1e-10 * all { about } else { 0.0 };
        }
        let share = |part: f64, all: f64| if all > 0.0 { part / all } else { 0.0 };
        Coarseness {
            waves: share(changes, all),
            friction: share(off, power),
            power,
            kinetic: 0.5 * all,
            curvature: self.curvature_of_cells(),
        }
    }

    /// The mean square of the curvature times the width of a cell, over the number of principal curvatures.
    fn curvature_of_cells(&self) -> f64 {
        let h = self.mesh.width(self.mesh.blocks.finest()) / (D - 1) as f64;
        let found = curvature(&self.mesh, &self.params, self.alpha());
        let known = found.of.iter().filter(|value| !value.is_nan());
        let none = (found.missing as f64, found.missing);
        let (sum, count) = known.fold(none, |(sum, count), value| {
            (sum + (value * h).powi(2), count + 1)
        });
        sum / count.max(1) as f64
    }
}

/// The mean viscosity of a cell by volume, and that over the one by resistance, less 1.
fn viscosity([liquid, gas]: [f64; 2], alpha: f64) -> [f64; 2] {
    let mean = gas + (liquid - gas) * alpha;
    match mean > 0.0 {
        true => [mean, mean * (alpha / liquid + (1.0 - alpha) / gas) - 1.0],
        false => [0.0, 0.0],
    }
}
