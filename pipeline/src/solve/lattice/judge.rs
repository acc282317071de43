//! The verdict on a run that has ended: what was measured, row by row.

use super::Lattice;
use crate::solve::laws::Measured;
use crate::solve::verdict::{
    openings::FacesLook,
    rows::{self, OfOpenings},
    sound::{self, Mode},
};
use cutlink_flow::{
    Seen, Statistics,
    bulk::Bulk,
    parts::WallParts,
    verdict::{
        Check,
        rows::{duration, growth, movement, stationarity, swing},
    },
};
use cutlink_solver::{FaceCondition, Params, PatchCondition, Place, WallScheme};

/// The end of a run, as the verdict sees it.
pub(super) struct End<const D: usize> {
    pub(super) step: u64,
    pub(super) bulk: Bulk,
    pub(super) faces: FacesLook,
    /// What holding the mean density has taken from the mass, relative.
    pub(super) reset: f64,
    /// 2 π √(mean u² / mean ω²) in root cells; none for a fluid at rest, or with eddy viscosity.
    pub(super) wavelength: Option<f64>,
    /// The mean velocity over the rms of what is beyond it, in a box without walls.
    pub(super) carried: f64,
    /// Mass imbalance, the mean of the last quarter.
    pub(super) imbalance: Option<f64>,
    /// Mass that leaves through open patches then, per second.
    pub(super) through: Vec<(String, f64)>,
    pub(super) parts: Option<WallParts<D>>,
}

impl<const D: usize> Lattice<'_, D> {
    /// All checks of a run that has ended.
    pub(super) fn judged(
        &self,
        end: &End<D>,
        seen: &Seen<'_, D>,
        statistics: &Statistics<'_, D>,
    ) -> Vec<Check> {
        let resolved = &self.resolved;
        let (params, velocity) = (&resolved.params, resolved.physics.lattice_velocity);
        let mut looks = self.looks.clone();
        looks.push(end.bulk);
        // A box without openings and bodies shows what it was given from the start; in others the start is left out of means.
        let waits = params.forces || !self.openings.all.is_empty();
        // Until then the pressure is that of the start.
        let mut checks = match waits && end.step < self.earliest {
            true => self.laws.forecast(),
            false => self.of_laws(end, &looks),
        };
        let from = if waits { end.step / 2 } else { 0 };
        checks.extend(rows::mach(&looks, from, velocity));
        checks.extend(self.movement(end, seen));
        if waits {
            checks.push(duration(end.step, self.earliest));
        }
        if waits && end.step >= self.earliest {
            checks.extend(self.of_openings(end, &looks));
            // A body that moves pushes fluid through the faces to and fro: there may be no flow to compare with.
            let imbalance = end.imbalance.filter(|_| self.bodies.is_none());
            checks.extend(imbalance.map(rows::imbalance));
            let difference = end.parts.as_ref().and_then(WallParts::difference);
            checks.extend(difference.map(|value| self.exchange(value)));
            checks.extend(statistics.growth().map(growth));
            checks.extend(statistics.swing().map(swing));
        }
        let mode = statistics.line().and_then(|line| self.mode(line));
        checks.extend(mode.map(|mode| mode.check()));
        let change = statistics.change();
        checks.extend(change.map(|(change, why)| stationarity(change, why)));
        checks.extend(self.of_energy(&looks));
        checks.extend(rows::resets(end.reset, end.step));
        checks.extend(self.heat.iter().flat_map(|of| of.checks.clone()));
        let of_spheres = self.spheres.iter().flat_map(|of| of.checks(&*self.flow));
        checks.extend(of_spheres);
        checks
    }

    /// Without forces, whether a flow that becomes steady still changes: its kinetic energy over the last quarter.
    fn of_energy(&self, looks: &[Bulk]) -> Option<Check> {
        let resolved = &self.resolved;
        let goes_on = resolved.is_unsteady || self.spheres.is_some();
        if resolved.params.forces || goes_on || !self.is_driven() {
            return None;
        }
        let end = looks.last().filter(|look| look.energy > 0.0)?;
        let before = looks
            .iter()
            .rev()
            .find(|look| 4 * look.step <= 3 * end.step)?;
        let change = (end.energy - before.energy).abs() / end.energy;
        let why = "the kinetic energy changes over the last quarter of the run";
        Some(stationarity(change, &[why.to_owned()]))
    }

    /// The laws of the error, with the pressure variation of the last quarter.
    fn of_laws(&self, end: &End<D>, looks: &[Bulk]) -> Vec<Check> {
        let late = looks.iter().filter(|look| 4 * look.step >= 3 * end.step);
        let (sum, count) = late.fold((0.0, 0), |(sum, n), look| (sum + look.compression(), n + 1));
        self.laws.after(&Measured {
            compression: sum / f64::from(count.max(1)),
            steps: end.step,
            wavelength: end.wavelength,
            carried: end.carried,
            rate: self
                .motions
                .as_ref()
                .and_then(|of| of.rate(self.resolved.physics.velocity)),
        })
    }

    fn exchange(&self, value: f64) -> Check {
        let params = &self.resolved.params;
        let relaxation = 3.0 * params.viscosity * f64::from(1u32 << self.finest.min(31));
        let is_quadratic = |patch: &PatchCondition<D>| {
            matches!(
                patch,
                PatchCondition::Wall {
                    scheme: WallScheme::Quadratic,
                    ..
                }
            )
        };
        rows::exchange(value, relaxation, params.patches.iter().any(is_quadratic))
    }

    /// Whether anything has moved, in a flow that is driven.
    fn movement(&self, end: &End<D>, seen: &Seen<'_, D>) -> Option<Check> {
        if !self.is_driven() {
            return None;
        }
        match seen.history.steps.is_empty() {
            true => {
                let rests = end.bulk.energy == 0.0;
                Some(movement(
                    f64::from(u8::from(rests)),
                    "the velocity of all fluid",
                ))
            }
            false => Some(movement(seen.history.rest(), "the force on the body")),
        }
    }

    /// Whether something makes the fluid move.
    fn is_driven(&self) -> bool {
        let Params {
            acceleration,
            faces,
            patches,
            variations,
            heat,
            ..
        } = &self.resolved.params;
        let of_face = |face: &FaceCondition<D>| match face {
            FaceCondition::Pressure(density) => *density != 1.0,
            FaceCondition::FarField { velocity, .. } => *velocity != [0.0; D],
            face => face.moves(),
        };
        let of_patch = |patch: &PatchCondition<D>| match patch {
            PatchCondition::Pressure(density) => *density != 1.0,
            patch => patch.moves(),
        };
        let is_lifted = heat.as_ref().is_some_and(|of| of.lift != [0.0; D]);
        *acceleration != [0.0; D]
            || is_lifted
            || self.spheres.as_ref().is_some_and(|of| of.fall())
            || !variations.is_empty()
            || faces.iter().flatten().any(of_face)
            || patches.iter().any(of_patch)
    }

    fn of_openings(&self, end: &End<D>, looks: &[Bulk]) -> Vec<Check> {
        let mut faces = self.faces.clone();
        faces.push(end.faces.clone());
        let late = looks
            .iter()
            .filter(|look| look.step as f64 >= 0.75 * end.step as f64);
        let compression = late.map(Bulk::compression).max_by(f64::total_cmp);
        let held = self.held(end.step).unwrap_or_default();
        let least = held.iter().copied().min_by(f64::total_cmp);
        let most = held.iter().copied().max_by(f64::total_cmp);
        let density = end.bulk.density;
        let off = least.zip(most);
        let of = OfOpenings {
            openings: &self.openings.all,
            looks: &faces,
            compression: compression.unwrap_or(0.0),
            velocity: self.resolved.physics.lattice_velocity,
            patches: self.by_mass(end),
            density: off.map(|(least, most)| (least - density).max(density - most).max(0.0)),
        };
        of.rows()
    }

    /// Patches with a mass flow: what passes in the last quarter over that, minus 1.
    fn by_mass<'b>(&self, end: &'b End<D>) -> Vec<(&'b str, f64)> {
        let of = |(name, flow): &'b (String, f64)| {
            let patch = self.resolved.case.patches.get(name)?;
            let asked = patch.mass_flow.filter(|asked| *asked != 0.0)?;
            Some((name.as_str(), -flow / asked - 1.0))
        };
        end.through.iter().filter_map(of).collect()
    }

    /// The densities that faces and patches hold in a root step; none if one of them is not the same everywhere.
    fn held(&self, step: u64) -> Option<Vec<f64>> {
        let params = &self.resolved.params;
        let faces = self.openings.all.iter().filter(|face| !face.is_inlet());
        let of_faces = faces.map(|face| face.draws_to(step));
        let varies = |patch: usize| {
            let at = Place::Patch(patch);
            params.variations.iter().any(|v| v.place == at)
        };
        let patches = params.patches.iter().enumerate();
        let of_patches = patches.filter_map(|(n, patch)| match patch {
            PatchCondition::Pressure(density) => Some(Some(*density).filter(|_| !varies(n))),
            PatchCondition::Wall { .. } => None,
        });
        of_faces.chain(of_patches).collect()
    }

    /// The mode of sound between sides that reflect it, across the axis of the lift, nearest to a line of the lift.
    fn mode(&self, line: f64) -> Option<Mode> {
        Mode::nearest(line, &sound::first_modes(&self.resolved))
    }
}
