//! Films between grains, and between grains and faces of the box, that cells do not resolve: lubrication along the normal.
//!
//! Two spheres whose surfaces are h apart and come nearer by v get 6 π μ R² v / h, with 1 / R the sum of 1 / r (Brenner, *Chem. Eng.
//! Sci.* 16 (1961) 242, to leading order); of a sphere at a wall R is its radius. Cells give 1 / (h + [`BLUR`]) of 1 / h, h in cells, and
//! all of it from a gap of [`RANGE`] on: a film gets the difference, as by Nguyen & Ladd, *Phys. Rev. E* 66 (2002) 046708.

use super::Reach;
use crate::kernels::{HeldSphere, nearest_image};
use std::f64::consts::PI;

/// By how many cells the gap that cells see is wider: of a sphere that nears a wall by its weight, with 6 cells across, within 0.1 of
/// 1 / h for gaps of 0.08 to 0.8.
const BLUR: f64 = 0.27;

/// The gap in cells from which on cells give all.
const RANGE: f64 = 1.0;

/// The thinnest film over the radius R: surfaces are rough.
const ROUGH: f64 = 1e-3;

/// Share of a relative velocity that a film takes in a step at most.
const MOST: f64 = 0.5;

/// A side of a film.
#[derive(Clone, Copy)]
struct Side {
    center: [f64; 3],
    radius: f64,
    velocity: [f64; 3],
    /// Mass, of the fluid's density and cells.
    mass: f64,
}

/// The force that two sides with surfaces `gap` apart get of each other, positive where they come nearer, by `closing`: in units of the
/// finest level. `radius` and `mass` are the reduced ones.
fn force(viscosity: f64, [radius, mass]: [f64; 2], gap: f64, closing: f64) -> f64 {
    if !(0.0..RANGE).contains(&gap) {
        return 0.0;
    }
    let missing = |gap: f64| 1.0 / gap - 1.0 / (gap + BLUR);
    let film = missing(gap.max(ROUGH * radius)) - missing(RANGE);
    let rate = 6.0 * PI * viscosity * radius * radius * film;
    rate.min(MOST * mass) * closing
}

/// The films of a bed.
pub(super) struct Films<'a> {
    pub(super) spheres: &'a [HeldSphere],
    /// Masses of the grains over that of a cell of fluid.
    pub(super) masses: &'a [f64],
    pub(super) viscosity: f64,
    /// Cells after which the box repeats along each axis; 0 where it does not.
    pub(super) period: [f64; 3],
    /// Places of the faces that are walls, in cells, by axis and side.
    pub(super) walls: [[Option<f64>; 2]; 3],
}

impl Films<'_> {
    fn side(&self, k: usize) -> Side {
        let of = &self.spheres[k];
        Side {
            center: of.center,
            radius: of.radius,
            velocity: of.velocity,
            mass: self.masses[k],
        }
    }

    /// Adds the forces of all films, in units of the finest level, to those of the grains.
    pub(super) fn add(&self, reach: &Reach, to: &mut [[f64; 3]]) {
        for (k, to) in to.iter_mut().enumerate() {
            self.at_walls(self.side(k), to);
        }
        for &[one, two] in &reach.near {
            self.between([one as usize, two as usize], to);
        }
    }

    fn at_walls(&self, of: Side, to: &mut [f64; 3]) {
        for (a, pair) in self.walls.iter().enumerate() {
            for (wall, sign) in pair.iter().zip([1.0, -1.0]) {
                let Some(wall) = wall else { continue };
                let gap = sign * (of.center[a] - wall) - of.radius;
                let closing = -sign * of.velocity[a];
                to[a] += sign * force(self.viscosity, [of.radius, of.mass], gap, closing);
            }
        }
    }

    fn between(&self, [one, two]: [usize; 2], to: &mut [[f64; 3]]) {
        let [a, b] = [one, two].map(|k| self.side(k));
        let way: [f64; 3] =
            std::array::from_fn(|i| nearest_image(b.center[i] - a.center[i], self.period[i]));
        let distance = way.iter().map(|x| x * x).sum::<f64>().sqrt();
        let gap = distance - a.radius - b.radius;
        if gap >= RANGE || distance == 0.0 {
            return;
        }
        let normal = way.map(|x| x / distance);
        let closing: f64 = (0..3)
            .map(|i| (a.velocity[i] - b.velocity[i]) * normal[i])
            .sum();
        let reduced = |x: f64, y: f64| x * y / (x + y);
        let of = [reduced(a.radius, b.radius), reduced(a.mass, b.mass)];
        let push = force(self.viscosity, of, gap, closing);
        for i in 0..3 {
            to[one][i] -= push * normal[i];
            to[two][i] += push * normal[i];
        }
    }
}
