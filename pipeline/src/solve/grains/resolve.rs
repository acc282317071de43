//! From tables to materials, spheres, walls and the length of a step.

use super::case::{GrainsCase, GrainsFaceKind};
use super::cells::mesh_of;
use super::materials::MaterialTables;
use super::walls::{CaseWalls, named_walls, surfaces_of};
use crate::solve::{
    particles::{
        BYTES, BedOf, ParticlesTable, Placing, corners, explained, material, place_all, vector,
    },
    resolve::missing,
    two_phase::side_name,
};
use cutlink_common::Error;
use cutlink_flow::setting::positive;
use cutlink_grains::{Bed, BoxAxis, Grain, GrainBox, GrainParams, StepLimit, SurfaceWall};
use cutlink_voxelizer::Mesh;

/// The share of the limit that is the length of a step.
pub(in crate::solve) const SHARE: f64 = 0.9;

/// A case with nothing left open.
pub(super) struct GrainsSetting {
    pub(super) bed: Bed,
    pub(super) walls: CaseWalls,
    pub(super) mesh: Mesh<3>,
    /// Names of materials, by index.
    pub(super) materials: Vec<String>,
    /// The ends of the tables of spheres.
    pub(super) ends: Vec<usize>,
    /// The limit of the step, and the speed that it is for, m/s.
    pub(super) limit: StepLimit,
    pub(super) speed: f64,
    /// Bytes that the bed needs.
    pub(super) bytes: u64,
    /// What the user should know of it.
    pub(super) notes: Vec<String>,
}

impl GrainsCase {
    /// Resolves a case: the bed at the start.
    ///
    /// # Errors
    /// Keys that are missing or make no sense, files that cannot be read, spheres where they cannot be, too little memory.
    pub(super) fn setting(&self) -> Result<GrainsSetting, Error> {
        let tables = MaterialTables {
            materials: &self.materials,
            contacts: &self.contacts,
        };
        let names = tables.names();
        let materials = tables.resolve(&names)?;
        let domain = self.domain_box(&names)?;
        let gravity = match &self.gravity {
            None => [0.0; 3],
            Some(table) => vector("[gravity] acceleration", &table.acceleration)?,
        };
        let surfaces = surfaces_of(&named_walls(&self.walls), &domain)?;
        let mut walls = CaseWalls::new(surfaces, &names)?;
        if self.particles.is_empty() {
            return Err(missing("[[particles]]")
                .hint("spheres at the start: docs/grains.md has their keys"));
        }
        let (grains, ends) = place(&self.particles, &tables, &domain, &walls, BedOf::Grains)?;
        let speed = fastest(&grains, &domain, gravity);
        let limit = StepLimit::of(&materials, &grains, speed)
            .ok_or_else(|| Error::input("there are no spheres"))?;
        let dt = match self.numerics.time_step {
            Some(dt) => positive("[numerics] time_step", dt)?,
            None => SHARE * limit.limit,
        };
        let mut params = GrainParams::new(materials, domain, dt);
        params.gravity = gravity;
        if let Some(most) = self.numerics.max_overlap {
            params.max_overlap = overlap(most)?;
        }
        let diameter = 2.0 * grains.iter().map(|g| g.radius).sum::<f64>() / grains.len() as f64;
        let cell = self.domain.cell.map(|dx| positive("[domain] cell", dx));
        let mesh = mesh_of(&domain, cell.transpose()?, diameter)?;
        let bytes = grains.len() as u64 * BYTES + 160 * mesh.forest.capacity() as u64 * 64;
        let mut notes = Vec::new();
        if dt > limit.limit {
            notes.push(format!(
                "[numerics] time_step {dt:.3e} s is beyond the {} limit of {:.3e} s for spheres as fast as {speed:.3} m/s; the run \
                 ends where they are too fast for it",
                limit.rule, limit.limit
            ));
        }
        if (0..3).any(|a| gravity[a] != 0.0 && domain.axes[a] == BoxAxis::Periodic) {
            notes.push("gravity is along a periodic axis: there is no potential energy".into());
        }
        let all = walls.all.take();
        let bed = Bed::start(params, all, &grains)
            .map_err(|error| explained(error, &ends, BedOf::Grains))?;
        Ok(GrainsSetting {
            bed,
            walls,
            mesh,
            materials: names,
            ends,
            limit,
            speed,
            bytes,
            notes,
        })
    }

    fn domain_box(&self, names: &[String]) -> Result<GrainBox, Error> {
        let [lower, upper] = corners("[domain] box", &self.domain.bounds)?;
        let mut axes = [BoxAxis::Periodic; 3];
        for (axis, pair) in self.boundary.faces().into_iter().enumerate() {
            let is_periodic = pair.map(|face| {
                face.as_ref()
                    .is_some_and(|f| f.kind == GrainsFaceKind::Periodic)
            });
            if is_periodic[0] != is_periodic[1] {
                let [low, high] = [side_name(2 * axis), side_name(2 * axis + 1)];
                return Err(Error::input(format!(
                    "[boundary] one of {low} and {high} is periodic"
                ))
                .hint("both faces of an axis have to be"));
            }
            if is_periodic[0] {
                continue;
            }
            let mut walls = [None; 2];
            for (upper, given) in pair.into_iter().enumerate() {
                let what = format!("[boundary] {}", side_name(2 * axis + upper));
                let named = |error: Error| error.within(&what);
                let name = given.as_ref().and_then(|face| face.material.as_ref());
                if given
                    .as_ref()
                    .is_some_and(|face| face.kind == GrainsFaceKind::Open)
                {
                    if name.is_some() {
                        return Err(named(Error::input(
                            "material is no key of this type of face",
                        )));
                    }
                    continue;
                }
                walls[upper] = Some(material(name, names).map_err(named)?);
            }
            axes[axis] = BoxAxis::Walls(walls);
        }
        Ok(GrainBox { lower, upper, axes })
    }
}

/// The spheres of all tables, and behind the last one of each their number so far.
///
/// # Errors
/// Keys that are missing or make no sense, files that cannot be read, spheres where they cannot be.
pub(in crate::solve) fn place(
    particles: &[ParticlesTable],
    tables: &MaterialTables<'_>,
    domain: &GrainBox,
    walls: &CaseWalls,
    of: BedOf,
) -> Result<(Vec<Grain>, Vec<usize>), Error> {
    let surfaces: Vec<&SurfaceWall> = walls.each.iter().map(|(_, wall)| wall).collect();
    let names = tables.names();
    let placing = Placing {
        domain,
        walls: &surfaces,
        materials: &names,
    };
    let (grains, ends) = place_all(particles, &placing)?;
    tables.check_densities(&grains, &names)?;
    walls.check_sides(&grains, &ends, of)?;
    Ok((grains, ends))
}

/// `[numerics] max_overlap`.
///
/// # Errors
/// A number that is no share.
pub(in crate::solve) fn overlap(most: f64) -> Result<f64, Error> {
    match (0.0..1.0).contains(&most) {
        true => Ok(most),
        false => Err(Error::input(format!("[numerics] max_overlap is {most}"))
            .hint("a share of the radius: it must be 0 or more, and below 1")),
    }
}

/// The largest speed that spheres may get: at the start, and by a fall through the box.
pub(in crate::solve) fn fastest(grains: &[Grain], domain: &GrainBox, gravity: [f64; 3]) -> f64 {
    let length = |v: [f64; 3]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let start = grains
        .iter()
        .map(|g| length(g.velocity))
        .fold(0.0, f64::max);
    let work: f64 = (0..3).map(|a| gravity[a].abs() * domain.length(a)).sum();
    start + (2.0 * work).sqrt()
}
