//! Conditions of faces and patches as kernels read them.

use crate::{
    Collision, FaceCondition, Motion, Params, PatchCondition, Place, SolverError, Variation,
    WallScheme, plan::tau, profile,
};
use bytemuck::{Pod, Zeroable};

/// Conditions of a face or patch as kernels read them: see [`Rule`].
pub(crate) mod kind {
    /// Bounce-back from a wall at rest or a moving one.
    pub(crate) const WALL: u32 = 0;
    /// Specular reflection.
    pub(crate) const SLIP: u32 = 1;
    /// A face that fluid leaves through, with the mean density held.
    pub(crate) const OUTFLOW: u32 = 2;
    /// A given density: of a face by ghost cells, of a patch by anti-bounce-back.
    pub(crate) const PRESSURE: u32 = 3;
    /// A face with a given far field.
    pub(crate) const FAR: u32 = 4;
    /// A face that fluid passes with a given velocity.
    pub(crate) const STREAM: u32 = 5;
    /// None: neighbours wrap around.
    pub(crate) const PERIODIC: u32 = 6;
}

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
    /// Of faces of given density, the relaxation time of the viscosity on the root less 1/2.
    pub relaxation: f64,
    /// One of [`kind`].
    pub kind: u32,
    /// 0 bounce-back, 1 linear, 2 quadratic.
    pub scheme: u32,
    /// 0 for no profile, [`LINKS`](profile::LINKS) for one by cut link, [`FACES`](profile::FACES) and the number of the face for one of a face.
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

    /// In a closed box faces of given velocity are walls: these conserve mass exactly.
    fn of_face<const D: usize>(face: &FaceCondition<D>, closed: bool) -> Self {
        match *face {
            FaceCondition::Periodic => Self::new(kind::PERIODIC),
            FaceCondition::FreeSlip => Self::new(kind::SLIP),
            FaceCondition::Outflow => Self::new(kind::OUTFLOW),
            FaceCondition::Velocity(v) => Self {
                velocity: wide(v),
                ..Self::new(match closed || v == [0.0; D] {
                    true => kind::WALL,
                    false => kind::STREAM,
                })
            },
            FaceCondition::FarField { velocity, density } => Self {
                velocity: wide(velocity),
                density,
                ..Self::new(kind::FAR)
            },
            FaceCondition::Pressure(density) => Self {
                density,
                ..Self::new(kind::PRESSURE)
            },
        }
    }

    fn of_patch<const D: usize>(patch: &PatchCondition<D>) -> Self {
        let (scheme, motion) = match *patch {
            PatchCondition::Pressure(density) => {
                return Self {
                    density,
                    ..Self::new(kind::PRESSURE)
                };
            }
            PatchCondition::Wall { scheme, motion } => (scheme, motion),
        };
        let scheme = match scheme {
            WallScheme::BounceBack => 0,
            WallScheme::Linear => 1,
            WallScheme::Quadratic => 2,
        };
        let rule = Self {
            scheme,
            ..Self::new(kind::WALL)
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
    let faces = params.faces.iter().flatten();
    let relaxation = tau(params.viscosity, 0) - 0.5;
    let projects = u32::from(params.collision != Collision::Regularized);
    let faces = faces.map(|face| Rule {
        relaxation,
        projects,
        ..Rule::of_face(face, closed)
    });
    let patches = params.patches.iter().map(Rule::of_patch);
    let mut rules: Vec<Rule> = faces.chain(patches).collect();
    for variation in &params.variations {
        let (at, profile) = match variation.place {
            Place::Face(axis, side) => (2 * axis + side, profile::FACES + (2 * axis + side) as u32),
            Place::Patch(patch) => (2 * D + patch, profile::LINKS),
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
        (kind::PRESSURE, true) => rule.density = factor[0],
        (kind::PRESSURE, false) => rule.density = 1.0 + factor[0],
        _ if rule.omega != [0.0; 3] => {
            rule.velocity = rule.velocity.map(|v| v * factor[0]);
            rule.omega = rule.omega.map(|v| v * factor[0]);
        }
        _ => rule.velocity = wide(factor),
    }
    Ok(())
}
