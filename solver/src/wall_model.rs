//! An equilibrium wall model on cut links: near a wall, the velocity follows the law of the wall, so cells there may be far larger
//! than the viscous length. There is no state: all follows from the populations.
//!
//! To its links the wall is free of stress: it slips with the velocity of the fluid, extrapolated to it. Slip velocities are values
//! of a profile, D a cell, behind those of other profiles. The wall shear stress of the law is a force on the fluid cells within
//! three cells of the wall. The velocity for the law is that of a cell about three cells off (Kawai & Larsson 2012).
//!
//! A cell's share of the wall follows from its links: a plane with unit normal n has |c·n| links of velocity c a unit of area. The
//! share is spread over the cells around. Decision 027 has the reasons.

use crate::{
    Motion, Params, PatchCondition, SolverError, WallScheme,
    constants::law::{BUFFER, DECAY, KAPPA, LOG, NEWTON_STEPS},
    linear,
    plan::tau,
    tables::{At, Level, bits},
};
use bytemuck::{Pod, Zeroable};
use cutlink_amr::{NONE, dims};
use cutlink_device::{Backend, Host};
use rayon::prelude::*;
use spread::Boundary;

mod spread;

/// Distances from the wall in cells at which the sampled cell is looked for; without one there the cell itself is sampled.
const HEIGHTS: [f64; 3] = [2.9, 1.9, 1.2];
/// Distances along the normal, in cells, at which the cell is looked for with which velocities are extrapolated to the wall.
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
    /// A cell farther off, with whose velocity that of the cell is extrapolated to the wall.
    pub near_slot: u32,
    /// See `near_slot`.
    pub near_cell: u32,
    /// Normal of the wall into the fluid, of length 1.
    pub normal: [f32; 3],
    /// Distance of the cell from the wall over that from the cell farther off; 0 where there is none.
    pub inward: f32,
    /// The velocity of the wall itself.
    pub own: [f32; 3],
    /// Distance of the cell from the wall, in cells.
    pub distance: f32,
}

/// A cell that friction acts on, as kernels read it.
#[derive(Debug, Clone, Copy, PartialEq, Zeroable, Pod)]
#[repr(C)]
pub struct DraggedCell {
    /// The cell: its slot, and its place there.
    pub slot: u32,
    /// See `slot`.
    pub cell: u32,
    /// The cell whose velocity is sampled.
    pub sample_slot: u32,
    /// See `sample_slot`.
    pub sample_cell: u32,
    /// Normal of the wall into the fluid, of length 1.
    pub normal: [f32; 3],
    /// Distance of the sampled cell from the wall, in cells.
    pub height: f32,
    /// The cell with links whose wall it mostly is: links have the viscous stress of the velocity that is extrapolated there.
    pub wall: ModeledCell,
    /// Area of the wall whose friction acts on the cell, in faces of cells.
    pub area: f32,
    /// Distance of the cell from the wall, in cells.
    pub distance: f32,
    /// The patch that has the force; [`NONE`] for ghost cells, whose walls are the coarser level's.
    pub patch: u32,
}

/// The modelled walls of a level.
#[derive(Debug)]
pub struct Modeled<B: Backend> {
    /// Cells with links to them, in the order of the profile's places.
    pub cells: B::Buf<ModeledCell>,
    /// The profile's place of the first one.
    pub first: usize,
    /// Cells that friction acts on, by slot in ascending order.
    pub dragged: B::Buf<DraggedCell>,
    /// The first one of each slot that has any, and their number.
    pub starts: B::Buf<u32>,
    /// Force on each of them, D values a cell.
    pub drag: B::Buf<f64>,
    /// Viscosity on the level.
    pub viscosity: f64,
}

impl<B: Backend> Modeled<B> {
    /// Slots with cells that friction acts on.
    pub(crate) fn groups(&self) -> usize {
        B::len(&self.starts).saturating_sub(1)
    }
}

impl<B: Backend> Modeled<B> {
    /// None.
    pub(crate) fn none(backend: &B) -> Result<Self, SolverError> {
        Ok(Self {
            cells: backend.upload(Vec::new())?,
            first: 0,
            dragged: backend.upload(Vec::new())?,
            starts: backend.upload(Vec::new())?,
            drag: backend.upload(Vec::new())?,
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
            dragged: backend.upload(self.dragged)?,
            starts: backend.upload(self.starts)?,
            drag: backend.upload(self.drag)?,
            viscosity: self.viscosity,
        })
    }
}

/// Velocity over friction velocity at a distance y⁺ from the wall, and its derivative (Reichardt 1951).
fn law(y: f64) -> (f64, f64) {
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

/// Makes the tables of a level's modelled walls, and the places of their slip velocities.
pub(crate) fn add<const D: usize>(
    level: &mut Level<D, Host>,
    params: &Params<D>,
) -> Result<Modeled<Host>, SolverError> {
    if params.modeled.is_empty() {
        return Modeled::none(&Host);
    }
    let walls = Walls {
        level: &*level,
        params,
    };
    let boundaries = walls.boundaries();
    let cells: Vec<(u32, ModeledCell)> = boundaries
        .par_iter()
        .filter(|wall| !level.halo.contains(wall.at.slot))
        .map(|wall| walls.slipping(wall))
        .collect();
    let dragged = walls.dragged(&boundaries);
    let first = level.profile.len() / D;
    if level.profile_link.is_empty() && !cells.is_empty() {
        level.profile_link = vec![NONE; level.q.len()];
    }
    for (n, (directions, cell)) in cells.iter().enumerate() {
        let links = level.links(At::new(cell.slot as usize, cell.cell as usize));
        for link in bits(u64::from(*directions)).filter_map(|direction| links.place(direction)) {
            level.profile_link[link] = (first + n) as u32;
        }
        level
            .profile
            .extend(cell.own[..D].iter().map(|&u| f64::from(u)));
    }
    let is_first = |&n: &usize| n == 0 || dragged[n].slot != dragged[n - 1].slot;
    let starts = (0..dragged.len()).filter(is_first).map(|n| n as u32);
    let starts: Vec<u32> = match dragged.len() {
        0 => Vec::new(),
        all => starts.chain([all as u32]).collect(),
    };
    Ok(Modeled {
        cells: cells.into_iter().map(|(_, cell)| cell).collect(),
        first,
        starts,
        drag: vec![0.0; D * dragged.len()],
        dragged,
        viscosity: (tau(params.viscosity, level.index) - 0.5) / 3.0,
    })
}

/// Walls as the cells see them.
#[derive(Clone, Copy)]
struct Walls<'a, const D: usize> {
    level: &'a Level<D, Host>,
    params: &'a Params<D>,
}

/// A vector as kernels have it.
#[allow(clippy::cast_possible_truncation, reason = "kernels take f32")]
fn narrow<const D: usize>(v: [f64; D]) -> [f32; 3] {
    std::array::from_fn(|a| v.get(a).map_or(0.0, |&x| x as f32))
}

impl<const D: usize> Walls<'_, D> {
    /// A cell's links to modelled walls: directions and places.
    fn links(&self, at: At<D>) -> impl Iterator<Item = (usize, usize)> {
        let is_modeled = |link: usize| {
            let patch = usize::from(self.level.patch[link]);
            self.params.modeled.contains(&patch)
        };
        let links = self.level.links(at).places();
        links.filter(move |&(_, link)| is_modeled(link))
    }

    /// The fluid cell so many cells away, if the level has it.
    fn fluid(&self, at: At<D>, step: [i32; D]) -> Option<At<D>> {
        let (slot, to) = self.level.step_from(at, step);
        let is_there = (slot as usize) < self.level.slots;
        (is_there && self.level.stepped[to.slot] >> to.cell() & 1 == 1).then_some(to)
    }

    /// The cell that lies about so far along a normal, and how far. What ghost cells hold is not valid in every step.
    fn along(&self, at: At<D>, normal: [f64; D], reach: f64) -> Option<(At<D>, f64)> {
        let step = normal.map(|n| (reach * n).round() as i32);
        let there = self.fluid(at, step)?;
        let is_ghost = self.level.ghost[there.slot] >> there.cell() & 1 == 1;
        let far = (0..D).map(|a| normal[a] * f64::from(step[a])).sum();
        (!is_ghost).then_some((there, far))
    }

    /// What slip velocities need of a cell with links, and the directions of those to modelled walls.
    fn slipping(&self, wall: &Boundary<D>) -> (u32, ModeledCell) {
        let at = wall.at;
        let near = BETWEEN
            .iter()
            .find_map(|&reach| self.along(at, wall.normal, reach))
            .filter(|&(_, apart)| apart > 0.5);
        let (near, inward) = match near {
            Some((near, apart)) => (near, wall.distance / apart),
            None => (at, 0.0),
        };
        let cell = ModeledCell {
            slot: at.slot as u32,
            cell: at.cell() as u32,
            near_slot: near.slot as u32,
            near_cell: near.cell() as u32,
            normal: narrow(wall.normal),
            #[allow(clippy::cast_possible_truncation, reason = "kernels take f32")]
            inward: inward as f32,
            own: narrow(wall.own),
            #[allow(clippy::cast_possible_truncation, reason = "kernels take f32")]
            distance: wall.distance as f32,
        };
        let directions = self.links(at).map(|(direction, _)| 1 << direction).sum();
        (directions, cell)
    }

    /// The velocity of the wall that cuts a link.
    fn velocity(&self, at: At<D>, direction: usize, link: usize) -> [f64; D] {
        let motion = match &self.params.patches[usize::from(self.level.patch[link])] {
            PatchCondition::Wall { motion, .. } => *motion,
            PatchCondition::Pressure(_) => Motion::Uniform([0.0; D]),
        };
        let q = f64::from(self.level.q[link]);
        motion.velocity_at(self.level.point(at, dims::step(direction), q))
    }

    /// The plane through the cut points around a cell, by least squares: its normal into the fluid, and the cell's distance in cells.
    fn plane(&self, at: At<D>) -> ([f64; D], f64) {
        let (mut points, mut outward): (Vec<[f64; D]>, _) = (Vec::new(), [0.0; D]);
        let beyond = self.level.links(at);
        for offset in (0..dims::directions(D)).filter(|&d| beyond.place(d).is_none()) {
            let step = dims::step::<D>(offset);
            let Some(there) = self.fluid(at, step) else {
                continue;
            };
            for (direction, link) in self.links(there) {
                let q = f64::from(self.level.q[link]);
                let c = dims::step::<D>(direction).map(f64::from);
                points.push(std::array::from_fn(|a| f64::from(step[a]) + q * c[a]));
                if there == at {
                    let length = c.iter().map(|c| c * c).sum::<f64>().sqrt();
                    (0..D).for_each(|a| outward[a] += c[a] / length);
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
        let solved = linear::solve(spread, outward.map(|x| [x]), D);
        let toward = solved.map_or(outward, |x| x.map(|[x]| x));
        let length = toward.iter().map(|x| x * x).sum::<f64>().sqrt();
        let normal = toward.map(|x| -x / length);
        let distance: f64 = (0..D).map(|a| -normal[a] * mean[a]).sum();
        (normal, distance.max(NEAREST))
    }
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
            Some(PatchCondition::Wall { scheme, .. }) if *scheme == WallScheme::BounceBack => {
                return refuse(
                    "bounce-back does not know where the wall is: take linear or quadratic",
                );
            }
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
