//! Checks of places, overlaps and the time step.

use super::{Bed, StepLimit};
use crate::kernels::cpu::pairs::apart;
use crate::kernels::cpu::walls::{FACES, face};
use crate::params::{AXES, GrainBox};
use crate::vec3::norm;
use crate::{Grain, GrainError, SurfaceWall};
use rayon::prelude::*;

/// Periodic axes hold three of the largest pairs, and the surface keeps a pair away from them.
pub(super) fn periods(
    domain: &GrainBox,
    surface: Option<&SurfaceWall>,
    reach: f64,
) -> Result<(), GrainError> {
    for a in (0..3).filter(|a| domain.is_periodic(*a)) {
        if domain.length(a) < 3.0 * reach {
            return Err(GrainError::Period {
                axis: AXES[a],
                period: domain.length(a),
                least: 3.0 * reach,
            });
        }
        let Some(surface) = surface else { continue };
        let [lower, upper] = surface.bounds();
        let distance = (lower[a] - domain.lower[a]).min(domain.upper[a] - upper[a]);
        if distance < reach {
            return Err(GrainError::SurfaceAtPeriod {
                axis: AXES[a],
                distance,
                least: reach,
            });
        }
    }
    Ok(())
}

/// A grain has finite numbers and a radius.
pub(super) fn numbers(id: u32, grain: &Grain) -> Result<(), GrainError> {
    let vectors = [grain.center, grain.velocity, grain.spin];
    let finite = vectors.iter().flatten().all(|x| x.is_finite());
    // Its cube, times a density, is a mass.
    let has_radius = grain.radius > 1e-60 && grain.radius < 1e60;
    match (finite, has_radius) {
        (true, true) => Ok(()),
        (false, _) => Err(GrainError::Place {
            problem: "have a centre, a velocity or a spin that is no finite number",
            count: 1,
            id,
            at: grain.center,
            by: 0.0,
        }),
        (true, false) => Err(GrainError::Value {
            what: "radius of a grain",
            value: grain.radius,
            range: "positive and finite",
        }),
    }
}

/// How far a grain is where it should not be, if it is.
type Depth = Option<f64>;

impl Bed {
    /// No grain is outside of the box, inside a wall, or overlaps one by more than it may.
    pub(super) fn check_places(&self) -> Result<(), GrainError> {
        let domain = &self.params.domain;
        let may = self.params.max_overlap;
        let outside = |i: usize| -> Depth {
            let x = self.grains.x[i];
            let each = (0..3).map(|a| (domain.lower[a] - x[a]).max(x[a] - domain.upper[a]));
            each.reduce(f64::max).filter(|by| *by > 0.0)
        };
        self.refuse("are outside of the box", outside)?;
        let in_face = |i: usize| -> Depth {
            let (x, r) = (self.grains.x[i], self.grains.r[i]);
            let each = (0..FACES).filter_map(|f| face(domain, f, x));
            let depth = each.map(|(distance, _)| r - distance).reduce(f64::max)?;
            (depth > may * r).then_some(depth)
        };
        self.refuse("reach into a wall of the box", in_face)?;
        let Some(surface) = &self.surface else {
            return Ok(());
        };
        let on_wrong_side = |i: usize| -> Depth {
            let is_free = surface.is_free(self.grains.x[i]);
            (!is_free).then_some(0.0)
        };
        self.refuse("are on the wrong side of the surface", on_wrong_side)?;
        let in_surface = |i: usize| -> Depth {
            let (x, r) = (self.grains.x[i], self.grains.r[i]);
            let depth = r - surface.distance(x, r)?;
            (depth > may * r).then_some(depth)
        };
        self.refuse("reach into the surface", in_surface)
    }

    fn refuse(
        &self,
        problem: &'static str,
        depth: impl Fn(usize) -> Depth + Sync,
    ) -> Result<(), GrainError> {
        let id = &self.grains.id;
        let each = (0..self.len()).into_par_iter();
        let bad = each.filter_map(|i| Some((id[i], i, depth(i)?)));
        let bad: Vec<(u32, usize, f64)> = bad.collect();
        match bad.iter().min_by_key(|(id, ..)| *id) {
            None => Ok(()),
            Some(&(id, i, by)) => Err(GrainError::Place {
                problem,
                count: bad.len(),
                id,
                at: self.grains.x[i],
                by,
            }),
        }
    }

    /// No pair of candidates overlaps by more than it may.
    pub(super) fn check_overlaps(&self) -> Result<(), GrainError> {
        let (g, p) = (&self.grains, &self.contacts.pairs);
        let may = self.params.max_overlap;
        let mut count = 0;
        let mut first: Option<(u32, u32, usize, f64)> = None;
        for i in 0..self.len() {
            for &j in &p.other[p.first[i] as usize..p.first[i + 1] as usize] {
                let j = j as usize;
                let distance = norm(apart(g.x[i], g.x[j], &self.periods));
                let overlap = g.r[i] + g.r[j] - distance;
                if overlap > may * g.r[i].min(g.r[j]) {
                    count += 1;
                    let (low, high) = (g.id[i].min(g.id[j]), g.id[i].max(g.id[j]));
                    let at = if g.id[i] == low { i } else { j };
                    if first.is_none_or(|f| (low, high) < (f.0, f.1)) {
                        first = Some((low, high, at, overlap));
                    }
                }
            }
        }
        match first {
            None => Ok(()),
            Some((first, second, i, overlap)) => Err(GrainError::Overlap {
                count,
                first,
                second,
                at: g.x[i],
                overlap,
                limit: may,
            }),
        }
    }

    /// The time step resolves Rayleigh waves, and the impact of two grains at twice the largest speed.
    pub(super) fn check_step(&self) -> Result<(), GrainError> {
        let (g, dt) = (&self.grains, self.params.dt);
        let each = (0..self.len()).map(|i| (g.id[i], g.r[i], g.m[i], g.material[i]));
        match StepLimit::least(&self.params.materials, each, self.largest_speed()) {
            Some(StepLimit { limit, rule, id }) if dt > limit => Err(GrainError::TimeStep {
                dt,
                rule,
                limit,
                id,
            }),
            _ => Ok(()),
        }
    }

    /// The error of grains that moved too far.
    pub(super) fn lost(&self, count: usize, id: u32) -> GrainError {
        let g = &self.grains;
        let place = g.id.iter().position(|other| *other == id);
        GrainError::Diverged {
            count,
            step: self.step,
            id,
            at: place.map_or([f64::NAN; 3], |i| g.x[i]),
        }
    }
}
