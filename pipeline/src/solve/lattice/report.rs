//! What `summary.json` and the printed summary have of lattice Boltzmann flows alone.

use super::{Lattice, judge::End};
use crate::solve::motion;
use cutlink_amr::dims;
use cutlink_common::Error;
use cutlink_flow::{FlowState, Report, Seen, bulk::Bulk, fields::Body, parts::WallParts};
use cutlink_mesher::snap::Snapped;
use cutlink_solver::{Les, Motion, PatchCondition, fields::Integrals as Means};
use cutlink_voxelizer::{Fill, Mesh};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Facets of the body, at most, of which pressure and friction are summed up at the end.
const FACETS: usize = 1_000_000;

impl<const D: usize> Lattice<'_, D> {
    /// Pressure and friction forces of a body whose momentum exchange is known at this root step.
    fn parts(
        &self,
        seen: &Seen<'_, D>,
        now: &mut FlowState<D>,
    ) -> Result<Option<WallParts<D>>, Error> {
        let sample = seen.last.filter(|s| s.step == seen.step);
        let (Some(sample), Some(surface)) = (sample, self.surface_now()?) else {
            return Ok(None);
        };
        let now = &mut now.snapshot;
        self.flow.update(None, now)?;
        let mesh = self.flow.mesh()?;
        let walls = match (seen.body, &self.bodies) {
            (Some(body), None) => body.forces(mesh, now),
            _ => self.facets(&surface, FACETS)?.forces(mesh, now),
        };
        let parts = WallParts::new(seen.history, &self.conditions(), &walls, sample);
        Ok(Some(parts))
    }

    /// The surface where it is now, if there is one.
    pub(super) fn surface_now(&self) -> Result<Option<Cow<'_, Snapped<D>>>, Error> {
        let Some(bodies) = &self.bodies else {
            return Ok(self.surface.map(Cow::Borrowed));
        };
        let (mesh, states) = (self.flow.mesh()?, self.flow.bodies());
        let moved = motion::snapped(bodies, states, &mesh.frame)?;
        Ok(Some(Cow::Owned(moved)))
    }

    /// At most so many facets of the surface as it is now, with the velocities of bodies.
    pub(super) fn facets(&self, surface: &Snapped<D>, most: usize) -> Result<Body<D>, Error> {
        let body = Body::new(self.flow.mesh()?, surface, &self.resolved.params, most);
        Ok(match &self.bodies {
            Some(bodies) => motion::body(bodies, self.flow.bodies(), body),
            None => body,
        })
    }

    /// The conditions of the patches, of which those of bodies turn as the bodies do now.
    fn conditions(&self) -> Vec<PatchCondition<D>> {
        let mut patches = self.resolved.params.patches.clone();
        let Some(bodies) = &self.bodies else {
            return patches;
        };
        for (part, state) in bodies.surface.bodies().iter().zip(self.flow.bodies()) {
            for &patch in &part.patches {
                if let PatchCondition::Wall { motion, .. } = &mut patches[patch] {
                    *motion = Motion::Rotation {
                        center: state.pose.center,
                        omega: state.spin,
                    };
                }
            }
        }
        patches
    }

    /// The torque coefficients to show: those about the axes of patches that turn.
    fn torques(&self) -> Vec<usize> {
        let conditions = self.conditions();
        let turns = |axis: &usize| {
            let about = |patch: &PatchCondition<D>| match patch {
                PatchCondition::Wall {
                    motion: Motion::Rotation { omega, .. },
                    ..
                } => omega[*axis] != 0.0,
                _ => false,
            };
            conditions.iter().any(about)
        };
        (0..3).filter(turns).map(|axis| 3 + axis).collect()
    }

    /// The mean kinetic energy of the mean velocity, which carries waves along in a box without walls; 0 in others.
    fn carrying_energy(&self, means: &Means, now: &mut FlowState<D>) -> Result<f64, Error> {
        if !self.laws.is_without_walls() {
            return Ok(0.0);
        }
        self.flow.update(None, &mut now.snapshot)?;
        let mean = mean_velocity(self.flow.mesh()?, &now.snapshot.velocity);
        Ok(0.5 * means.density * mean.iter().map(|u| u * u).sum::<f64>())
    }

    /// Keys of the summary with those of heat, and lines of text.
    fn with_heat(&mut self, mut json: Value) -> Result<(Value, String), Error> {
        let Some(heat) = &mut self.heat else {
            return Ok((json, String::new()));
        };
        let (now, _) = heat.now(&*self.flow)?;
        let (keys, said) = heat.record.report(&now);
        json["heat"] = keys;
        heat.check(&now);
        Ok((json, said))
    }

    pub(super) fn report_of(
        &mut self,
        seen: &Seen<'_, D>,
        now: &mut FlowState<D>,
    ) -> Result<Report<D>, Error> {
        let step = seen.step;
        let means = self.flow.integrals(&self.open, &mut now.snapshot)?;
        let bulk = Bulk::new(step, &means);
        let mesh = self.flow.mesh()?;
        let integrals = self
            .integrals
            .sample(mesh, &means, &now.snapshot, seen.last);
        let faces = self.openings.look(mesh, &now.snapshot, step);
        let late = self.integrals.late(step, &integrals);
        let imbalance = self.integrals.imbalance(&late);
        let through = self.integrals.through_patches(&late);
        let fill = mesh.fill;
        let parts = self.parts(seen, now)?;
        let carrying = self.carrying_energy(&means, now)?;
        let waves = means.kinetic_energy - carrying;
        let square = means.enstrophy / waves;
        let is_resolved =
            self.resolved.params.les == Les::None && square.is_finite() && square > 0.0;
        self.end = Some(End {
            step,
            bulk,
            faces,
            reset: self.flow.mass_reset(),
            wavelength: is_resolved.then(|| std::f64::consts::TAU / square.sqrt()),
            carried: (carrying / waves).sqrt(),
            imbalance,
            through,
            // Walls of a duct are open at its ends: their forces by both ways need not agree.
            parts: parts
                .clone()
                .filter(|_| fill == Fill::NonZero || fill == Fill::EvenOdd),
        });
        let resolved = &self.resolved;
        let json = json!({
            "reynolds": resolved.physics.reynolds(),
            "mach": resolved.physics.mach(),
            "area": resolved.area,
            "axes": { "drag": resolved.axes[0], "lift": resolved.axes[1], "side": resolved.axes[2] },
            "compressibility": { "mach": bulk.mach(), "pressure_variation": bulk.compression() },
            "mean_density": bulk.density,
            "integrals": self.integrals.summary(&integrals),
            "set_up": self.set_up,
            "pilot": self.pilot.changes,
            "bytes": { "flow": self.sheet.flow, "output": self.sheet.output },
            "storage": self.sheet.stored(),
            "ranks": self.shares.as_ref().map(|s| s.to_json(None)),
            "walls": self.sheet.walls(),
            "parts": parts.as_ref().map(WallParts::summary),
        });
        let (mut json, of_heat) = self.with_heat(json)?;
        let mut of_spheres = String::new();
        if let Some(spheres) = &mut self.spheres {
            let (keys, said) = spheres.report(&*self.flow);
            json["particles"] = keys;
            of_spheres = said;
        }
        let json = match json {
            Value::Object(keys) => keys,
            _ => unreachable!("an object was made above"),
        };
        let below = format!(
            "{}{of_heat}{of_spheres}largest Mach number {:.3}, pressure variation {:.2e} of rho c^2\n",
            self.integrals.text(&integrals, seen.wants_details),
            bulk.mach(),
            bulk.compression(),
        );
        Ok(Report {
            json,
            lines: [String::new(), below],
            torques: self.torques(),
            parts,
        })
    }
}

/// The mean velocity of the fluid, by volume.
fn mean_velocity<const D: usize>(mesh: &Mesh<D>, velocity: &[Vec<f32>; D]) -> [f64; D] {
    let (cells, mut volume, mut sum) = (dims::cells(D), 0.0, [0.0; D]);
    for &id in mesh.forest.levels.iter().flatten() {
        if !mesh.forest.is_leaf(id) {
            continue;
        }
        let size = 0.5f64.powi(D as i32 * i32::from(mesh.forest.level[id as usize]));
        let solid = mesh.classes.solid[id as usize];
        for cell in (0..cells).filter(|cell| solid >> cell & 1 == 0) {
            volume += size;
            for (sum, of) in sum.iter_mut().zip(velocity) {
                *sum += size * f64::from(of[id as usize * cells + cell]);
            }
        }
    }
    sum.map(|sum| sum / volume)
}
