//! Bodies that move: from `[motion.NAME]` to the solver's bodies, the blocks that hold their paths, and `motion.csv`.
//!
//! In: the tables in SI units, the surface as placed, the mesh that it was embedded in. Out: bodies in units of the root
//! lattice; velocities are the exact derivatives of the expressions ([`Expression::with_slope`]).

mod table;
#[cfg(test)]
mod tests;

pub(crate) use table::Motions;

use crate::solve::{
    case::{MotionKind, MotionRefinement, MotionTable},
    reference::matches,
    resolve::Resolved,
    units::{Physics, Units},
    value,
};
use cutlink_common::{Error, config::suggestion};
use cutlink_device::larger_or_nan;
use cutlink_flow::fields::Body;
use cutlink_mesher::{
    Surface,
    rigid::{Inertia, Pose, Quaternion},
    snap::{Snapped, snap},
};
use cutlink_prescribed::expression::Expression;
use cutlink_solver::{BodyMotion, BodyPath, BodyState, FreeMotion, RigidBodies};
use cutlink_voxelizer::{EmbedParams, Frame, MovingPatches, MovingSurface};
use std::{collections::BTreeMap, sync::Arc};

/// Names of what can be locked, or have a spring.
const FREEDOMS: [&str; 6] = ["x", "y", "z", "rx", "ry", "rz"];

/// Distance of two poses of a path that blocks are made for, in finest cells: a block. Refinement at walls reaches further.
const POSE_SPACING: f64 = 4.0;

/// Most facets of all poses of all paths.
const MOST_FACETS: usize = 20_000_000;

/// Bodies, from the tables of a case.
pub(crate) struct Maker<'a, const D: usize> {
    pub(crate) frame: Frame<D>,
    pub(crate) physics: Physics,
    pub(crate) units: Units,
    pub(crate) placed: &'a Surface<D>,
    pub(crate) embedding: &'a EmbedParams,
}

fn refuse(name: &str, key: &str, reason: impl std::fmt::Display, hint: impl Into<String>) -> Error {
    Error::input(format!("[motion.{name}] {key}: {reason}")).hint(hint)
}

impl<const D: usize> Maker<'_, D> {
    /// The bodies, whose prescribed paths the mesh holds for so many root steps.
    ///
    /// # Errors
    /// Keys that are missing, do not belong together or have no number; patches that there are not; bodies that are open.
    pub(crate) fn bodies(
        &self,
        tables: &BTreeMap<String, MotionTable>,
        steps: u64,
    ) -> Result<Arc<RigidBodies<D>>, Error> {
        let (mut parts, mut motions) = (Vec::new(), Vec::new());
        for (name, table) in tables {
            let (part, motion) = self.body(name, table)?;
            parts.push(part);
            motions.push(motion);
        }
        let surface = MovingSurface::new(self.placed, parts).map_err(|e| {
            Error::input(e.to_string())
                .hint("a body that moves is closed, and no patch is of two bodies")
        })?;
        let mut bodies = RigidBodies {
            surface,
            motions,
            paths: Vec::new(),
            embedding: self.embedding.clone(),
            rebin: 1,
        };
        bodies.paths = paths(&bodies, tables, &self.frame, steps)?;
        Ok(Arc::new(bodies))
    }

    fn body(
        &self,
        name: &str,
        table: &MotionTable,
    ) -> Result<(MovingPatches<D>, BodyMotion<D>), Error> {
        check_keys(name, table)?;
        let patches = self.patches(name, table)?;
        let own = self.own_surface(&patches);
        let inertia = || {
            let density = table.density.unwrap_or(1.0);
            let found = Inertia::of(&own, density);
            found.map_err(|e| refuse(name, "patches", e, "a body that moves is closed"))
        };
        let center = match &table.center {
            Some(center) => numbers(name, "center", center)?,
            None => inertia()?.center,
        };
        let motion = match table.kind {
            MotionKind::Prescribed => self.prescribed(name, table, center)?,
            MotionKind::Free => self.free(name, table, &inertia()?)?,
        };
        let part = MovingPatches {
            name: name.to_owned(),
            patches,
            center,
        };
        Ok((part, motion))
    }

    fn patches(&self, name: &str, table: &MotionTable) -> Result<Vec<usize>, Error> {
        let known: Vec<&str> = self.placed.patches.iter().map(String::as_str).collect();
        let itself = [name.to_owned()];
        let patterns = match table.patches.is_empty() {
            true => &itself[..],
            false => &table.patches,
        };
        let mut found = Vec::new();
        for pattern in patterns {
            let before = found.len();
            found.extend((0..known.len()).filter(|&n| matches(pattern, known[n])));
            if found.len() == before {
                let reason = format!("no patch matches \"{pattern}\"");
                return Err(refuse(
                    name,
                    "patches",
                    reason,
                    suggestion("patch", pattern, &known),
                ));
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// The facets of some patches.
    fn own_surface(&self, patches: &[usize]) -> Surface<D> {
        let is_own = |f: &usize| patches.contains(&usize::from(self.placed.patch_of(*f)));
        let own = (0..self.placed.facets.len()).filter(is_own);
        Surface {
            vertices: self.placed.vertices.clone(),
            facets: own.map(|f| self.placed.facets[f]).collect(),
            facet_patch: Vec::new(),
            patches: vec!["body".into()],
        }
    }

    /// A point, in root cells from the lower corner.
    fn cells(&self, at: [f64; D]) -> [f64; D] {
        std::array::from_fn(|a| (at[a] - self.frame.origin[a]) / self.frame.dx)
    }

    fn prescribed(
        &self,
        name: &str,
        table: &MotionTable,
        center: [f64; D],
    ) -> Result<BodyMotion<D>, Error> {
        let scope = value::scope(0, true, &self.physics);
        let translation: [Expression; D] = match &table.translation {
            None => std::array::from_fn(|_| Expression::number(0.0)),
            Some(given) => {
                let what = format!("[motion.{name}] translation");
                let parsed: Result<Vec<Expression>, Error> = (given.iter())
                    .map(|value| value.expression(&what, &scope))
                    .collect();
                parsed?.try_into().map_err(|given: Vec<Expression>| {
                    let reason = format!("it has {} values", given.len());
                    refuse(name, "translation", reason, format!("give {D}"))
                })?
            }
        };
        let what = format!("[motion.{name}] angle");
        let angle = match &table.angle {
            Some(angle) => angle.expression(&what, &scope)?,
            None => Expression::number(0.0),
        };
        let axis = self.axis(name, table)?;
        let (units, frame) = (self.units, self.frame);
        let path: BodyPath<D> = Arc::new(move |step: f64| {
            let t = step * units.time;
            let (mut at, mut velocity) = (center, [0.0; D]);
            for a in 0..D {
                let [place, slope] = translation[a].with_slope(t)?;
                at[a] += place;
                velocity[a] = slope * units.time / units.length;
            }
            let [turn, rate] = angle.with_slope(t)?;
            Ok(BodyState {
                pose: Pose {
                    center: std::array::from_fn(|a| (at[a] - frame.origin[a]) / frame.dx),
                    rotation: Quaternion::from_vector(axis.map(|k| turn * k)),
                },
                velocity,
                spin: axis.map(|k| rate * units.time * k),
            })
        });
        Ok(BodyMotion::Prescribed(path))
    }

    /// The direction of the axis; z in 2D.
    fn axis(&self, name: &str, table: &MotionTable) -> Result<[f64; 3], Error> {
        let Some(axis) = &table.axis else {
            if D == 3 && table.angle.is_some() {
                let hint = "give it, such as axis = [0, 0, 1]";
                return Err(refuse(
                    name,
                    "axis",
                    "it is missing, for the body turns",
                    hint,
                ));
            }
            return Ok([0.0, 0.0, 1.0]);
        };
        if D == 2 {
            let hint = "leave it out: in 2D a body turns about z";
            return Err(refuse(name, "axis", "the mesh is 2D", hint));
        }
        let axis: [f64; 3] = numbers(name, "axis", axis)?;
        let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
        match length > 0.0 {
            true => Ok(axis.map(|x| x / length)),
            false => Err(refuse(
                name,
                "axis",
                "it has no direction",
                "give it a length above 0",
            )),
        }
    }

    fn free(
        &self,
        name: &str,
        table: &MotionTable,
        inertia: &Inertia<D>,
    ) -> Result<BodyMotion<D>, Error> {
        let Units {
            length,
            time,
            density,
        } = self.units;
        let mass = match (table.density, table.mass) {
            (Some(_), None) => inertia.mass,
            (None, Some(mass)) => mass,
            _ => {
                let hint = "give one of density and mass";
                return Err(refuse(
                    name,
                    "density",
                    "it or mass is needed, not both",
                    hint,
                ));
            }
        };
        // Units of mass, of moments of inertia, of stiffness along and about axes.
        let of_mass = density * length.powi(D as i32);
        let of_inertia = of_mass * length * length;
        let moments = inertia
            .tensor
            .map(|row| row.map(|x| x * mass / inertia.mass / of_inertia));
        let [along, about] = [of_mass / (time * time), of_inertia / (time * time)];
        let vector = |key: &str, given: &Option<Vec<f64>>| match given {
            Some(given) => numbers::<D>(name, key, given),
            None => Ok([0.0; D]),
        };
        let gravity = vector("gravity", &table.gravity)?;
        let velocity = vector("velocity", &table.velocity)?;
        let displaced = self.physics.density * inertia.volume;
        let omega = match (table.omega.as_ref().map(|omega| omega.as_slice()), D) {
            (None, _) => [0.0; 3],
            (Some(given), 2) => [0.0, 0.0, numbers::<1>(name, "omega", given)?[0]],
            (Some(given), _) => numbers(name, "omega", given)?,
        };
        let mut locked = [false; 6];
        for freedom in &table.locked {
            locked[place(name, "locked", freedom, D)?] = true;
        }
        let by_freedom = |key: &str, given: &BTreeMap<String, f64>, times: f64| {
            let mut values = [0.0; 6];
            for (freedom, value) in given {
                let n = place(name, key, freedom, D)?;
                if !(value.is_finite() && *value >= 0.0) {
                    let hint = "a number of 0 or more is needed";
                    return Err(refuse(name, key, format!("{freedom} is {value}"), hint));
                }
                values[n] = value * times / if n < 3 { along } else { about };
            }
            Ok(values)
        };
        Ok(BodyMotion::Free(Box::new(FreeMotion {
            mass: mass / of_mass,
            displaced: displaced / of_mass,
            inertia: moments,
            force: gravity.map(|g| (mass - displaced) / of_mass * g * time * time / length),
            locked,
            springs: by_freedom("springs", &table.springs, 1.0)?,
            dampers: by_freedom("dampers", &table.dampers, 1.0 / time)?,
            start: BodyState {
                pose: Pose::at(self.cells(inertia.center)),
                velocity: velocity.map(|u| u * time / length),
                spin: omega.map(|w| w * time),
            },
        })))
    }
}

/// So many finite numbers.
fn numbers<const N: usize>(name: &str, key: &str, given: &[f64]) -> Result<[f64; N], Error> {
    let found: Result<[f64; N], _> = given.try_into();
    match found {
        Ok(numbers) if numbers.iter().all(|x| x.is_finite()) => Ok(numbers),
        _ => {
            let hint = format!("give {N} finite numbers");
            Err(refuse(name, key, format!("it is {given:?}"), hint))
        }
    }
}

/// The place of a degree of freedom.
fn place(name: &str, key: &str, freedom: &str, dimensions: usize) -> Result<usize, Error> {
    let known: Vec<&str> = match dimensions {
        2 => vec!["x", "y", "rz"],
        _ => FREEDOMS.to_vec(),
    };
    let at = FREEDOMS.iter().position(|known| *known == freedom);
    at.filter(|_| known.contains(&freedom)).ok_or_else(|| {
        let reason = format!("\"{freedom}\" is no degree of freedom here");
        refuse(name, key, reason, suggestion("name", freedom, &known))
    })
}

/// Refuses keys of the other kind.
fn check_keys(name: &str, table: &MotionTable) -> Result<(), Error> {
    let of_free = [
        ("density", table.density.is_some()),
        ("mass", table.mass.is_some()),
        ("gravity", table.gravity.is_some()),
        ("locked", !table.locked.is_empty()),
        ("springs", !table.springs.is_empty()),
        ("dampers", !table.dampers.is_empty()),
        ("velocity", table.velocity.is_some()),
        ("omega", table.omega.is_some()),
    ];
    let of_prescribed = [
        ("center", table.center.is_some()),
        ("translation", table.translation.is_some()),
        ("angle", table.angle.is_some()),
        ("axis", table.axis.is_some()),
    ];
    let (others, kind) = match table.kind {
        MotionKind::Prescribed => (&of_free[..], "free"),
        MotionKind::Free => (&of_prescribed[..], "prescribed"),
    };
    match others.iter().find(|(_, is_given)| *is_given) {
        Some((key, _)) => {
            let reason = format!("it is a key of kind = \"{kind}\"");
            Err(refuse(
                name,
                key,
                reason,
                "leave it out, or change the kind",
            ))
        }
        None => Ok(()),
    }
}

/// Bodies with the poses of so many root steps of prescribed paths, whose blocks the mesh has.
///
/// # Errors
/// A path without a number, or too long for its blocks.
fn paths<const D: usize>(
    bodies: &RigidBodies<D>,
    tables: &BTreeMap<String, MotionTable>,
    frame: &Frame<D>,
    steps: u64,
) -> Result<Vec<Option<Vec<Pose<D>>>>, Error> {
    let (mut paths, mut facets) = (Vec::new(), 0);
    let spacing = POSE_SPACING / 2f64.powi(bodies.embedding.levels as i32 - 1);
    for (n, (name, table)) in tables.iter().enumerate() {
        let path = match (refinement(name, table)?, &bodies.motions[n]) {
            (MotionRefinement::Follow, _) => None,
            (MotionRefinement::Path, BodyMotion::Prescribed(path)) => {
                let reach = reach(&bodies.surface, n) / frame.dx;
                let found = poses(path, reach, spacing, steps);
                let found =
                    found.map_err(|reason| Error::input(format!("[motion.{name}] {reason}")))?;
                facets += found.len() * bodies.surface.body(n).facets.len();
                Some(found)
            }
            _ => Some(Vec::new()),
        };
        paths.push(path);
    }
    if facets > MOST_FACETS {
        return Err(Error::input(format!(
            "the blocks of the paths of [motion] would be made for {facets} facets, more than {MOST_FACETS}"
        ))
        .hint("choose refinement = \"follow\", shorten the run, or use a surface with fewer facets"));
    }
    Ok(paths)
}

/// Where the finest level is for a body.
fn refinement(name: &str, table: &MotionTable) -> Result<MotionRefinement, Error> {
    let default = match table.kind {
        MotionKind::Prescribed => MotionRefinement::Path,
        MotionKind::Free => MotionRefinement::Follow,
    };
    match (table.refinement.unwrap_or(default), table.kind) {
        (MotionRefinement::Path, MotionKind::Free) => Err(refuse(
            name,
            "refinement",
            "the path of a free body is not known",
            "choose \"follow\", or \"fixed\" with regions that hold the body",
        )),
        (of, _) => Ok(of),
    }
}

/// The largest distance of a vertex of a body from the origin of its frame.
fn reach<const D: usize>(surface: &MovingSurface<D>, body: usize) -> f64 {
    let square = |x: &[f64; D]| x.iter().map(|x| x * x).sum::<f64>();
    let squares = surface.vertices(body).iter().map(square);
    squares.fold(0.0, larger_or_nan).sqrt()
}

/// Poses of a path such that each root step of it is at most `spacing` root cells from one of them.
fn poses<const D: usize>(
    path: &BodyPath<D>,
    reach: f64,
    spacing: f64,
    steps: u64,
) -> Result<Vec<Pose<D>>, String> {
    let is_near = |one: &Pose<D>, other: &Pose<D>| {
        let length = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let away: [f64; D] = std::array::from_fn(|a| one.center[a] - other.center[a]);
        let turned = one.rotation.after(other.rotation.inverse()).vector();
        length(&away) + reach * length(&turned) <= spacing
    };
    let mut found: Vec<Pose<D>> = Vec::new();
    let mut last = 0usize;
    for step in 0..=steps {
        let pose = path(step as f64)?.pose;
        // Most often it is near the one of the step before, or one beside.
        let beside = [last, last + 1, last.wrapping_sub(1)];
        let near = beside
            .into_iter()
            .chain(0..found.len())
            .find(|&n| found.get(n).is_some_and(|other| is_near(&pose, other)));
        last = near.unwrap_or_else(|| {
            found.push(pose);
            found.len() - 1
        });
    }
    Ok(found)
}

/// The surface at the poses of a flow's bodies, on the lattice of the mesh.
///
/// # Errors
/// A body too far from the box.
pub(crate) fn snapped<const D: usize>(
    bodies: &RigidBodies<D>,
    states: &[BodyState<D>],
    frame: &Frame<D>,
) -> Result<Snapped<D>, Error> {
    let metres = |state: &BodyState<D>| Pose {
        center: std::array::from_fn(|a| frame.origin[a] + frame.dx * state.pose.center[a]),
        ..state.pose
    };
    let poses: Vec<Pose<D>> = states.iter().map(metres).collect();
    let lattice = frame.lattice(bodies.embedding.levels);
    Ok(snap(&bodies.surface.at(&poses), lattice)?)
}

/// The facets of the surface at these poses, with the velocities of the bodies there.
pub(crate) fn body<const D: usize>(
    bodies: &RigidBodies<D>,
    states: &[BodyState<D>],
    facets: Body<D>,
) -> Body<D> {
    let parts = bodies.surface.bodies().iter().zip(states);
    parts.fold(facets, |facets, (part, state)| {
        facets.moving(&part.patches, *state)
    })
}

/// Refuses outputs that know nothing of bodies that move.
///
/// # Errors
/// Averages, whose cells may be in a body now and then.
pub(crate) fn check_outputs<const D: usize>(resolved: &Resolved<D>) -> Result<(), Error> {
    let outputs = &resolved.outputs;
    if outputs.averages.is_some() {
        return Err(Error::input(
            "[output] averages: cells that a body covers now and then have no mean",
        )
        .hint("leave averages out beside [motion], and use fields or probes by time"));
    }
    Ok(())
}
