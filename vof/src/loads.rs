//! Forces of the fluids on walls.
//!
//! Of a face between a fluid cell and a wall: the full pressure at the face's centre, `p + ρ (g · x)` with the cell's `p` and
//! ρ (no acceleration leads through a wall, so `p` has no slope there), and the friction that the viscous step takes from the
//! cell, `2 μ u / h` a unit of area for walls at rest. Without a face that has a pressure, the pressure of the flow has a
//! constant that is free: pressures are then those over the mean of the gas.

use crate::compiled::compiled;
use crate::flow::TwoPhaseFlow;
use crate::params::BoxFace;
use crate::vector::{cross, in_3d};
use crate::velocity::next;
use crate::viscous::held;
use cutlink_amr::dims;
use rayon::prelude::*;

/// Force and moment on a wall; in 2D per metre of depth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FluidLoad<const D: usize> {
    /// Area, m².
    pub area: f64,
    /// Force by pressure, N.
    pub pressure: [f64; D],
    /// Force by friction, N.
    pub friction: [f64; D],
    /// Moment of both, N m; in 2D about z.
    pub moment: [f64; 3],
}

impl<const D: usize> FluidLoad<D> {
    const NONE: Self = Self {
        area: 0.0,
        pressure: [0.0; D],
        friction: [0.0; D],
        moment: [0.0; 3],
    };

    fn add(&mut self, other: &Self) {
        self.area += other.area;
        (0..D).for_each(|a| self.pressure[a] += other.pressure[a]);
        (0..D).for_each(|a| self.friction[a] += other.friction[a]);
        (0..3).for_each(|a| self.moment[a] += other.moment[a]);
    }
}

impl<const D: usize> TwoPhaseFlow<D> {
    /// The loads on the walls: of the faces of the box in the order x-, x+, y-, …, none of openings, then of all solid cells.
    /// Moments are about a point. The sums are in a fixed order.
    pub fn loads(&self, about: [f64; D]) -> Vec<FluidLoad<D>> {
        (compiled::<D>().loads)(self, about)
    }

    pub(crate) fn loads_here(&self, about: [f64; D]) -> Vec<FluidLoad<D>> {
        let leaf = |&block: &usize| self.mesh.blocks.is_leaf(block);
        let blocks: Vec<usize> = (0..self.mesh.blocks.len()).filter(leaf).collect();
        let base = self.base();
        let of_blocks: Vec<Vec<(usize, FluidLoad<D>)>> = blocks
            .par_iter()
            .map(|&block| self.loads_of(block, base, about))
            .collect();
        let mut sums = vec![FluidLoad::NONE; 2 * D + 1];
        for (wall, load) in of_blocks.iter().flatten() {
            sums[*wall].add(load);
        }
        sums
    }

    /// What pressures of walls are counted from: the mean full pressure of the gas, or nothing.
    fn base(&self) -> f64 {
        let (mesh, params, fields) = (&self.mesh, &self.params, &self.host.fields);
        let has_pressure = |face: &BoxFace<D>| matches!(face, BoxFace::Pressure { .. });
        if params.faces.iter().flatten().any(has_pressure) {
            return 0.0;
        }
        let cells = dims::cells(D);
        let (mut sums, mut all) = ([0.0; 2], [0.0; 2]);
        for block in (0..mesh.blocks.len()).filter(|&b| mesh.blocks.is_leaf(b)) {
            let volume = mesh.volume_of(block);
            for cell in (0..cells).filter(|&cell| !mesh.is_solid(block, cell)) {
                let own = block * cells + cell;
                let c = fields.alpha[own].clamp(0.0, 1.0);
                let head = params.head(mesh.centre(block, cell));
                let full = fields.pressure[own] + params.phases.rho(c) * head;
                for (sum, share) in [(&mut sums, 1.0 - c), (&mut all, 1.0)] {
                    sum[0] += share * volume * full;
                    sum[1] += share * volume;
                }
            }
        }
        let [sum, volume] = if sums[1] > 0.0 { sums } else { all };
        sum / volume
    }

    /// The loads of a block's cells on walls.
    fn loads_of(&self, block: usize, base: f64, about: [f64; D]) -> Vec<(usize, FluidLoad<D>)> {
        let (mesh, cells) = (&self.mesh, dims::cells(D));
        let mut found = Vec::new();
        for cell in (0..cells).filter(|&cell| !mesh.is_solid(block, cell)) {
            for side in 0..2 * D {
                let (wall, share) = match next(mesh, block, cell, side) {
                    None => match self.params.face(side) {
                        BoxFace::Slip | BoxFace::NoSlip => (side, 1.0),
                        _ => continue,
                    },
                    Some((b, c)) if mesh.blocks.is_leaf(b) => {
                        (2 * D, f64::from(u8::from(mesh.is_solid(b, c))))
                    }
                    Some((b, _)) => {
                        let fine = mesh
                            .blocks
                            .finer_cells(b, side, dims::unravel::<D>(cell, 4));
                        let solid = fine.filter(|&(b, c)| mesh.is_solid(b, c)).count();
                        (2 * D, solid as f64 / (dims::children(D) / 2) as f64)
                    }
                };
                if share > 0.0 {
                    found.push((wall, self.load((block, cell), side, share, base, about)));
                }
            }
        }
        found
    }

    /// The load on the wall beyond a side of a cell, which is a share of that side.
    fn load(
        &self,
        (block, cell): (usize, usize),
        side: usize,
        share: f64,
        base: f64,
        about: [f64; D],
    ) -> FluidLoad<D> {
        let (mesh, params, fields) = (&self.mesh, &self.params, &self.host.fields);
        let own = block * dims::cells(D) + cell;
        let (c, h) = (fields.alpha[own], mesh.width_of(block));
        let at = mesh.face_centre(block, cell, side);
        let area = share * h.powi(D as i32 - 1);
        let mut load = FluidLoad {
            area,
            ..FluidLoad::NONE
        };
        let outward = if side.is_multiple_of(2) { -1.0 } else { 1.0 };
        let full = fields.pressure[own] + params.phases.rho(c) * params.head(at);
        load.pressure[side / 2] = outward * (full - base) * area;
        let mu = params.phases.mu(c);
        for k in 0..D {
            // Beside finer cells the side is no wall to the viscous step as a whole.
            let wall = if share < 1.0 {
                Some(0.0)
            } else {
                held(mesh, params, (block, cell), k, side)
            };
            let slip = wall.map_or(0.0, |wall| fields.velocity[k][own] - wall);
            load.friction[k] = 2.0 * mu * slip / h * area;
        }
        let arm: [f64; D] = std::array::from_fn(|a| at[a] - about[a]);
        let force: [f64; D] = std::array::from_fn(|a| load.pressure[a] + load.friction[a]);
        load.moment = cross(in_3d(arm), in_3d(force));
        load
    }

    /// Liquid along a line that is parallel to an axis, through a point whose coordinate along the axis does not count. The
    /// first number is the length of liquid. The second is the coordinate of the highest place where it ends, with `up` 1
    /// for up the axis and -1 for down it; not a number where it ends nowhere.
    pub fn along(&self, through: [f64; D], axis: usize, up: f64) -> [f64; 2] {
        let mesh = &self.mesh;
        let [low, high] = mesh.corners();
        let finest = mesh.width(mesh.blocks.finest());
        let count = ((high[axis] - low[axis]) / finest).round() as usize;
        let (mut length, mut top) = (0.0, f64::NAN);
        // Upwards: centre, width and volume fraction of the cell before.
        let mut before: Option<[f64; 3]> = None;
        let end = |before: Option<[f64; 3]>, top: f64| match before {
            Some([place, h, c]) if c >= 0.5 => place + 0.5 * up * h,
            _ => top,
        };
        let mut k = 0;
        while k < count {
            let from = if up > 0.0 { k } else { count - 1 - k };
            let mut at = through;
            at[axis] = low[axis] + (from as f64 + 0.5) * finest;
            let (block, cell) = mesh.holding(at);
            let h = mesh.width_of(block);
            k += (h / finest).round() as usize;
            if mesh.is_solid(block, cell) {
                top = end(before.take(), top);
                continue;
            }
            let c = self.alpha()[block * dims::cells(D) + cell];
            length += c * h;
            let here = mesh.centre(block, cell)[axis];
            if let Some([place, _, below]) = before.replace([here, h, c])
                && below >= 0.5
                && c < 0.5
            {
                top = place + (here - place) * (below - 0.5) / (below - c);
            }
        }
        top = end(before, top);
        [length, top]
    }
}
