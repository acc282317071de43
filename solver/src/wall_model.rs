//! An equilibrium wall model on cut links: near a wall, the velocity follows the law of the wall, so cells there may be far larger
//! than the viscous length.
//!
//! In each cell with links to a modelled wall the wall gets a slip velocity, with which the momentum that the links exchange is
//! the wall shear stress of the law (inverse momentum exchange: Asmuth, Janßen, Olivares-Espinosa & Ivanell 2021). The
//! velocity for the law is that of a cell two to three cells off (Kawai & Larsson 2012). There is no state: slip velocities
//! follow from the populations. They are values of a profile, D a cell, behind those of other profiles.
//!
//! A cell's share of the wall follows from its links: a plane with unit normal n has |c·n| links of velocity c a unit of area.

use crate::{
    Motion, Params, PatchCondition, SolverError, constants::NEWTON_STEPS, plan::tau, tables::Level,
};
use bytemuck::{Pod, Zeroable};
use cutlink_amr::{NONE, dims};
use cutlink_device::{Backend, Host};
use cutlink_voxelizer::unpack_cell;
use rayon::prelude::*;

/// Distances along the normal at which the sampled cell is looked for, in cells; without one there the cell itself is sampled.
const REACH: [f64; 3] = [2.4, 1.4, 0.7];
/// The same of the cell between.
const BETWEEN: [f64; 2] = [1.2, 0.7];
/// Least distance of a cell from the wall that is used, in cells.
const NEAREST: f64 = 0.05;

/// A cell with links to modelled walls, as kernels read it.
#[derive(Debug, Clone, Copy, PartialEq, Zeroable, Pod)]
#[repr(C)]
pub struct ModeledCell {
    /// The cell: its slot, and its place there.
    pub slot: u32,
    /// See `slot`.
    pub cell: u32,
    /// The cell whose velocity is sampled.
    pub sample_slot: u32,
    /// See `sample_slot`.
    pub sample_cell: u32,
    /// A cell between, whose density is extrapolated with that of the sampled one.
    pub near_slot: u32,
    /// See `near_slot`.
    pub near_cell: u32,
    /// Normal of the wall into the fluid, of length 1.
    pub normal: [f32; 3],
    /// Distance of the sampled cell from the wall, in cells.
    pub height: f32,
    /// The velocity of the wall itself.
    pub own: [f32; 3],
    /// Bits of the directions of links to modelled walls.
    pub links: u32,
    /// Weight of the sampled density in the extrapolation, 0 or less; that of the other is 1 minus this.
    pub outer: f32,
    /// Nothing.
    pub padding: u32,
}

/// The modelled walls of a level.
#[derive(Debug)]
pub struct Modeled<B: Backend> {
    /// Its cells, in the order of the profile's places.
    pub cells: B::Buf<ModeledCell>,
    /// The profile's place of the first one.
    pub first: usize,
    /// Viscosity on the level.
    pub viscosity: f64,
}

impl<B: Backend> Modeled<B> {
    /// None.
    pub(crate) fn none(backend: &B) -> Result<Self, SolverError> {
        Ok(Self {
            cells: backend.upload(Vec::new())?,
            first: 0,
            viscosity: 0.0,
        })
    }
}

impl Modeled<Host> {
    /// The same in a backend's memory.
    pub(crate) fn upload<B: Backend>(self, backend: &B) -> Result<Modeled<B>, SolverError> {
        Ok(Modeled {
            cells: backend.upload(self.cells)?,
            first: self.first,
            viscosity: self.viscosity,
        })
    }
}

/// Velocity over friction velocity at a distance y⁺ from the wall, and its derivative (Reichardt 1951).
fn law(y: f64) -> (f64, f64) {
    const KAPPA: f64 = 0.41;
    // B - ln κ / κ with B = 5.2.
    const LOG: f64 = 7.374_636;
    const BUFFER: f64 = 11.0;
    const DECAY: f64 = 3.0;
    let (slow, fast) = ((-y / BUFFER).exp(), (-y / DECAY).exp());
    let value = (KAPPA * y).ln_1p() / KAPPA + LOG * (1.0 - slow - y / BUFFER * fast);
    let slope = 1.0 / (1.0 + KAPPA * y) + LOG / BUFFER * (slow - fast + y / DECAY * fast);
    (value, slope)
}

/// The friction velocity where the fluid has a velocity, a distance from the wall, by the law of the wall of Reichardt (1951),
/// u⁺ = ln(1 + κ y⁺) / κ + C (1 - exp(-y⁺/11) - y⁺/11 exp(-y⁺/3)) with κ = 0.41, and C = 7.37 for a logarithmic layer
/// ln y⁺ / κ + 5.2 (Reichardt's C, 7.8, is for 5.6): the viscous sublayer, the buffer
/// layer and the logarithmic layer in one. In any consistent units. Wall shear stress is ρ times its square.
pub fn friction_velocity(velocity: f64, distance: f64, viscosity: f64) -> f64 {
    if velocity <= 0.0 {
        return 0.0;
    }
    // In the sublayer u⁺ is y⁺. The law is concave, so that this is never too much, and Newton's method converges from there.
    let mut friction = (velocity * viscosity / distance).sqrt();
    for _ in 0..NEWTON_STEPS {
        let y = friction * distance / viscosity;
        let (value, slope) = law(y);
        friction -= (friction * value - velocity) / (value + y * slope);
    }
    friction
}

/// Makes the cells of a level that have links to modelled walls, and the places of their slip velocities.
pub(crate) fn add<const D: usize>(level: &mut Level<D, Host>, params: &Params<D>) -> Modeled<Host> {
    let is_modeled = |patch: u16| params.modeled.contains(&usize::from(patch));
    let of_slot = |slot: usize| {
        let walls = Walls {
            level: &*level,
            params,
        };
        let here = level.boundary[slot] & level.stepped[slot];
        let cells = (0..dims::cells(D)).filter(move |cell| here >> cell & 1 == 1);
        let of_cell = move |cell: usize| {
            let links = walls.links(slot, cell, &is_modeled);
            (links != 0).then(|| walls.cell(slot, cell, links, &is_modeled))
        };
        cells.filter_map(of_cell).collect::<Vec<_>>()
    };
    let cells: Vec<ModeledCell> = (0..level.special)
        .into_par_iter()
        .flat_map_iter(of_slot)
        .collect();
    let first = level.profile.len() / D;
    if level.profile_link.is_empty() && !cells.is_empty() {
        level.profile_link = vec![NONE; level.q.len()];
    }
    for (n, cell) in cells.iter().enumerate() {
        let (mask, link) = entry(level, cell.slot as usize, cell.cell as usize);
        for direction in (0..dims::directions(D)).filter(|d| cell.links >> d & 1 == 1) {
            level.profile_link[place(mask, link, direction)] = (first + n) as u32;
        }
        level
            .profile
            .extend(cell.own[..D].iter().map(|&u| f64::from(u)));
    }
    Modeled {
        cells,
        first,
        viscosity: (tau(params.viscosity, level.index) - 0.5) / 3.0,
    }
}

/// The links of a boundary cell: directions, and the first one's place.
fn entry<const D: usize>(level: &Level<D, Host>, slot: usize, cell: usize) -> (u32, usize) {
    let rank = (level.boundary[slot] & ((1 << cell) - 1)).count_ones();
    let (mask, first) = unpack_cell(level.cells[(level.cell_start[slot] + rank) as usize]);
    (mask, first as usize)
}

/// The place of a link among all of the level.
fn place(mask: u32, first: usize, direction: usize) -> usize {
    first + (mask & ((1 << direction) - 1)).count_ones() as usize
}

/// Walls as the cells see them.
#[derive(Clone, Copy)]
struct Walls<'a, const D: usize> {
    level: &'a Level<D, Host>,
    params: &'a Params<D>,
}

impl<const D: usize> Walls<'_, D> {
    /// The directions of a cell's links to modelled walls.
    fn links(&self, slot: usize, cell: usize, is_modeled: &impl Fn(u16) -> bool) -> u32 {
        if slot >= self.level.special || self.level.boundary[slot] >> cell & 1 == 0 {
            return 0;
        }
        let (mask, first) = entry(self.level, slot, cell);
        let bit = |direction: usize| {
            let is_one = mask >> direction & 1 == 1
                && is_modeled(self.level.patch[place(mask, first, direction)]);
            u32::from(is_one) << direction
        };
        (0..dims::directions(D)).map(bit).sum()
    }

    /// The fluid cell so many cells away, if the level has it.
    fn fluid(&self, slot: usize, cell: usize, step: [i32; D]) -> Option<(usize, usize)> {
        let local = dims::unravel::<D>(cell, 4);
        let at: [i32; D] = std::array::from_fn(|a| local[a] + step[a]);
        let toward = dims::direction(at.map(|x| x >> 2));
        let next = self.level.neighbors[slot * dims::directions(D) + toward] as usize;
        let there = dims::ravel::<D>(at.map(|x| x & 3), 4);
        (next < self.level.slots && self.level.stepped[next] >> there & 1 == 1)
            .then_some((next, there))
    }

    fn cell(
        &self,
        slot: usize,
        cell: usize,
        links: u32,
        is_modeled: &impl Fn(u16) -> bool,
    ) -> ModeledCell {
        let (normal, distance) = self.plane(slot, cell, is_modeled);
        let of_reach = |reach: &f64| {
            let step = normal.map(|n| (reach * n).round() as i32);
            let (there, at) = self.fluid(slot, cell, step)?;
            // What ghost cells hold is not valid in every step.
            if self.level.ghost[there] >> at & 1 == 1 {
                return None;
            }
            let along: f64 = (0..D).map(|a| normal[a] * f64::from(step[a])).sum();
            Some((there, at, distance + along))
        };
        let sample = REACH.iter().find_map(of_reach);
        let (sample_slot, sample_cell, height) = sample.unwrap_or((slot, cell, distance));
        let near = BETWEEN.iter().find_map(of_reach);
        let (near_slot, near_cell, middle) = near.unwrap_or((sample_slot, sample_cell, height));
        let outer = match height - middle {
            apart if apart > 0.5 => (distance - middle) / apart,
            _ => 0.0,
        };
        let (mask, first) = entry(self.level, slot, cell);
        let direction = links.trailing_zeros() as usize;
        let link = place(mask, first, direction);
        let c = dims::step::<D>(direction);
        let (block, local) = (self.level.coord[slot], dims::unravel::<D>(cell, 4));
        let dx = 1.0 / f64::from(1u32 << self.level.index);
        let at: [f64; D] = std::array::from_fn(|a| {
            dx * (f64::from(4 * block[a] + local[a])
                + 0.5
                + f64::from(self.level.q[link]) * f64::from(c[a]))
        });
        let motion = match &self.params.patches[usize::from(self.level.patch[link])] {
            PatchCondition::Wall { motion, .. } => *motion,
            PatchCondition::Pressure(_) => Motion::Uniform([0.0; D]),
        };
        let own = motion.velocity_at(at);
        #[allow(clippy::cast_possible_truncation, reason = "kernels take f32")]
        let wide = |v: [f64; D]| std::array::from_fn(|a| v.get(a).map_or(0.0, |&x| x as f32));
        #[allow(clippy::cast_possible_truncation, reason = "kernels take f32")]
        ModeledCell {
            slot: slot as u32,
            cell: cell as u32,
            sample_slot: sample_slot as u32,
            sample_cell: sample_cell as u32,
            near_slot: near_slot as u32,
            near_cell: near_cell as u32,
            normal: wide(normal),
            height: height.max(NEAREST) as f32,
            own: wide(own),
            links,
            outer: outer as f32,
            padding: 0,
        }
    }

    /// The plane through the cut points around a cell, by least squares: its normal into the fluid, and the cell's distance in cells.
    fn plane(
        &self,
        slot: usize,
        cell: usize,
        is_modeled: &impl Fn(u16) -> bool,
    ) -> ([f64; D], f64) {
        let (mut points, mut outward): (Vec<[f64; D]>, _) = (Vec::new(), [0.0; D]);
        let (own_mask, _) = entry(self.level, slot, cell);
        for offset in 0..dims::directions(D) {
            if own_mask >> offset & 1 == 1 {
                // Beyond the wall.
                continue;
            }
            let step = dims::step::<D>(offset);
            let Some((there, at)) = self.fluid(slot, cell, step) else {
                continue;
            };
            let links = self.links(there, at, is_modeled);
            for direction in (0..dims::directions(D)).filter(|d| links >> d & 1 == 1) {
                let (mask, first) = entry(self.level, there, at);
                let q = f64::from(self.level.q[place(mask, first, direction)]);
                let c = dims::step::<D>(direction);
                points.push(std::array::from_fn(|a| {
                    f64::from(step[a]) + q * f64::from(c[a])
                }));
                if there == slot && at == cell {
                    let length = c.iter().map(|c| f64::from(c * c)).sum::<f64>().sqrt();
                    (0..D).for_each(|a| outward[a] += f64::from(c[a]) / length);
                }
            }
        }
        let count = points.len().max(1) as f64;
        let mean: [f64; D] =
            std::array::from_fn(|a| points.iter().map(|p| p[a]).sum::<f64>() / count);
        let mut spread = [[0.0; D]; D];
        for p in &points {
            for a in 0..D {
                (0..D).for_each(|b| spread[a][b] += (p[a] - mean[a]) * (p[b] - mean[b]) / count);
            }
        }
        // The direction in which the points spread least, seen from the cell; of those in which they do not spread at all, that of
        // the links.
        let trace: f64 = (0..D).map(|a| spread[a][a]).sum();
        (0..D).for_each(|a| spread[a][a] += 1e-6 * trace + 1e-12);
        let toward = solve(spread, outward);
        let length = toward.iter().map(|x| x * x).sum::<f64>().sqrt();
        let normal = toward.map(|x| -x / length);
        let distance: f64 = (0..D).map(|a| -normal[a] * mean[a]).sum();
        (normal, distance.max(NEAREST))
    }
}

/// Solves a symmetric positive definite system.
fn solve<const D: usize>(mut matrix: [[f64; D]; D], mut right: [f64; D]) -> [f64; D] {
    for i in 0..D {
        for below in i + 1..D {
            let factor = matrix[below][i] / matrix[i][i];
            (i..D).for_each(|j| matrix[below][j] -= factor * matrix[i][j]);
            right[below] -= factor * right[i];
        }
    }
    for i in (0..D).rev() {
        let known: f64 = (i + 1..D).map(|j| matrix[i][j] * right[j]).sum();
        right[i] = (right[i] - known) / matrix[i][i];
    }
    right
}

/// Checks which walls are modelled.
pub(crate) fn check<const D: usize>(params: &Params<D>) -> Result<(), SolverError> {
    for &patch in &params.modeled {
        let refuse = |reason: &str| {
            Err(SolverError::Mesh {
                reason: format!("the wall model of patch {patch}: {reason}"),
            })
        };
        match params.patches.get(patch) {
            None => return refuse("there is no such patch"),
            Some(PatchCondition::Pressure(_)) => return refuse("it is no wall"),
            Some(PatchCondition::Wall { .. }) => {}
        }
        let varies = |v: &crate::Variation<D>| v.place == crate::Place::Patch(patch);
        if params.variations.iter().any(varies) {
            return refuse("its velocity varies: a modelled wall is at rest or moves steadily");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
