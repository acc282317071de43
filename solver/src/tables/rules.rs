//! Conditions of faces and patches as kernels read them.

use crate::{
    Collision, FaceCondition, Motion, Params, PatchCondition, Place, SolverError, Variation,
    WallScheme,
    constants::{condition, profile, scheme},
    plan::tau,
};
use bytemuck::{Pod, Zeroable};

/// A condition.
#[derive(Debug, Clone, Copy, PartialEq, Zeroable, Pod)]
#[repr(C)]
pub struct Rule {
    /// Velocity at the origin of the box; with a profile what that is multiplied by.
    pub velocity: [f64; 3],
    /// Angular velocity, a root step.
    pub omega: [f64; 3],
    /// Density; with a profile what that is multiplied by, to give the density less 1.
    pub density: f64,
    /// Of faces, the relaxation time of the viscosity on the root less 1/2.
    pub relaxation: f64,
    /// One of [`condition`].
    pub kind: u32,
    /// One of [`scheme`].
    pub scheme: u32,
    /// 0 for no profile, or one of [`profile`].
    pub profile: u32,
    /// Of faces, 1 where ghost cells take no more than the stress of the non-equilibrium: where collision leaves other parts too.
    pub projects: u32,
}

fn wide<const D: usize>(v: [f64; D]) -> [f64; 3] {
    std::array::from_fn(|a| v.get(a).copied().unwrap_or(0.0))
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

impl Rule {
    fn new(kind: u32) -> Self {
        Self {
            velocity: [0.0; 3],
            omega: [0.0; 3],
            density: 1.0,
            relaxation: 0.0,
            kind,
            scheme: 0,
            profile: 0,
            projects: 0,
        }
    }

    /// Whether this is a moving wall.
    pub fn moves(&self) -> bool {
        self.velocity != [0.0; 3] || self.omega != [0.0; 3]
    }

    /// In a closed box faces that move along themselves are walls: these conserve mass exactly.
    fn of_face<const D: usize>(face: &FaceCondition<D>, axis: usize, closed: bool) -> Self {
        match *face {
            FaceCondition::Periodic => Self::new(condition::PERIODIC),
            FaceCondition::FreeSlip => Self::new(condition::SLIP),
            FaceCondition::Outflow => Self::new(condition::OUTFLOW),
            FaceCondition::Velocity(v) => Self {
                velocity: wide(v),
                ..Self::new(match closed && v[axis] == 0.0 || v == [0.0; D] {
                    true => condition::WALL,
                    false => condition::STREAM,
                })
            },
            FaceCondition::FarField { velocity, density } => Self {
                velocity: wide(velocity),
                density,
                ..Self::new(condition::FAR)
            },
            FaceCondition::Pressure(density) => Self {
                density,
                ..Self::new(condition::PRESSURE)
            },
        }
    }

    fn of_patch<const D: usize>(patch: &PatchCondition<D>) -> Self {
        let (scheme, motion) = match *patch {
            PatchCondition::Pressure(density) => {
                return Self {
                    density,
                    ..Self::new(condition::PRESSURE)
                };
            }
            PatchCondition::Wall { scheme, motion } => (scheme, motion),
        };
        let scheme = match scheme {
            WallScheme::BounceBack => scheme::BOUNCE_BACK,
            WallScheme::Linear => scheme::LINEAR,
            WallScheme::Quadratic => scheme::QUADRATIC,
            WallScheme::Local => scheme::LOCAL,
        };
        let rule = Self {
            scheme,
            ..Self::new(condition::WALL)
        };
        match motion {
            Motion::Uniform(v) => Self {
                velocity: wide(v),
                ..rule
            },
            Motion::Rotation { center, omega } => {
                let omega = if D == 2 { [0.0, 0.0, omega[2]] } else { omega };
                let velocity = cross(omega, wide(center)).map(|v| -v);
                Self {
                    velocity,
                    omega,
                    ..rule
                }
            }
        }
    }
}

/// The conditions of faces and patches at a time in root steps; without one as they are by themselves, with the share of place
/// in what varies.
///
/// # Errors
/// Variations without a number at this time.
pub(crate) fn rules<const D: usize>(
    params: &Params<D>,
    time: Option<f64>,
) -> Result<Vec<Rule>, SolverError> {
    let closed = !params.has_opening();
    let faces = params.faces.iter().flatten().enumerate();
    let relaxation = tau(params.viscosity, 0) - 0.5;
    let projects = u32::from(params.collision != Collision::Regularized);
    let faces = faces.map(|(n, face)| Rule {
        relaxation,
        projects,
        ..Rule::of_face(face, n / 2, closed)
    });
    let patches = params.patches.iter().map(Rule::of_patch);
    let mut rules: Vec<Rule> = faces.chain(patches).collect();
    // The wall's own motion is in the slip velocities.
    for &patch in &params.modeled {
        let rule = &mut rules[2 * D + patch];
        (rule.velocity, rule.omega) = (wide([1.0; D]), [0.0; 3]);
        rule.profile = profile::BY_LINK;
    }
    for variation in &params.variations {
        let (at, profile) = match variation.place {
            Place::Face(axis, side) => {
                (2 * axis + side, profile::BY_FACE + (2 * axis + side) as u32)
            }
            Place::Patch(patch) => (2 * D + patch, profile::BY_LINK),
            Place::Acceleration => continue,
        };
        vary(&mut rules[at], variation, profile, time)?;
    }
    Ok(rules)
}

fn vary<const D: usize>(
    rule: &mut Rule,
    variation: &Variation<D>,
    profile: u32,
    time: Option<f64>,
) -> Result<(), SolverError> {
    let has_profile = variation.has_profile();
    if has_profile {
        rule.profile = profile;
    }
    let factor = match time {
        Some(time) => variation.of_time(time)?,
        None if has_profile => [1.0; D],
        None => return Ok(()),
    };
    match (rule.kind, has_profile) {
        (condition::PRESSURE, true) => rule.density = factor[0],
        (condition::PRESSURE, false) => rule.density = 1.0 + factor[0],
        _ if rule.omega != [0.0; 3] => {
            rule.velocity = rule.velocity.map(|v| v * factor[0]);
            rule.omega = rule.omega.map(|v| v * factor[0]);
        }
        _ => rule.velocity = wide(factor),
    }
    Ok(())
}
