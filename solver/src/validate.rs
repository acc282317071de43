//! Whether the parameters of a flow are in range, by themselves: what depends on the mesh is checked by [`Plan::new`](crate::Plan::new).

use crate::{
    Collision, FaceCondition, Les, Motion, Params, PatchCondition, Place, SolverError, plan::tau,
};
use cutlink_amr::MAX_LEVELS;

/// Speed of sound on the lattice.
const SOUND: f64 = 0.577_350_269_189_625_8;

fn refuse(name: impl Into<String>, value: f64, expected: &str) -> Result<(), SolverError> {
    Err(SolverError::Parameter {
        name: name.into(),
        value,
        expected: expected.into(),
    })
}

pub(crate) fn positive(name: &str, value: f64) -> Result<(), SolverError> {
    match value.is_finite() && value > 0.0 {
        true => Ok(()),
        false => refuse(name, value, "a positive number is needed"),
    }
}

fn finite(name: &str, values: &[f64]) -> Result<(), SolverError> {
    match values.iter().find(|value| !value.is_finite()) {
        None => Ok(()),
        Some(value) => refuse(name, *value, "finite numbers are needed"),
    }
}

pub(crate) fn subsonic(name: &str, velocity: &[f64]) -> Result<(), SolverError> {
    let speed = velocity.iter().map(|v| v * v).sum::<f64>().sqrt();
    match speed < SOUND {
        true => Ok(()),
        false => refuse(
            name,
            speed,
            "less than the speed of sound, 0.577, is needed: choose a smaller Mach number",
        ),
    }
}

impl<const D: usize> Params<D> {
    /// Checks everything that does not depend on the mesh: viscosity and relaxation times, velocities and densities of
    /// faces and patches, accelerations, the moment centre, the places of variations, and the adaptation. [`Plan::new`](crate::Plan::new) calls it.
    ///
    /// # Errors
    /// [`SolverError::Parameter`] for a value out of range; [`SolverError::Mesh`] for a lattice of other dimensions or one periodic
    /// face without the other; [`SolverError::Value`] for a variation of a place that there is not.
    pub fn validate(&self) -> Result<(), SolverError> {
        let dimensions = self.lattice.dimensions();
        if dimensions != D {
            let reason = format!(
                "{} is a lattice of {dimensions} dimensions, and the mesh has {D}",
                self.lattice
            );
            return Err(SolverError::Mesh { reason });
        }
        self.relaxation()?;
        for pair in &self.faces {
            pair.iter().try_for_each(face)?;
        }
        self.patches.iter().try_for_each(patch)?;
        finite("acceleration", &self.acceleration)?;
        finite("the moment centre", &self.moment_center)?;
        for (a, [lower, upper]) in self.faces.iter().enumerate() {
            if [lower, upper].contains(&&FaceCondition::Periodic) && lower != upper {
                let axis = ["x", "y", "z"][a];
                let reason = format!(
                    "only one of the faces {axis}- and {axis}+ is periodic: both have to be"
                );
                return Err(SolverError::Mesh { reason });
            }
        }
        if let Some(adaptation) = &self.adaptation {
            adaptation.validate()?;
        }
        self.places()
    }

    /// Whether the relaxation rates of all levels are numbers above 0 in single precision.
    fn relaxation(&self) -> Result<(), SolverError> {
        const RANGE: &str = "its relaxation times are out of range";
        positive("viscosity", self.viscosity)?;
        let has_rate = |tau: f64| 1.0 / tau > f64::from(f32::MIN_POSITIVE);
        if !has_rate(tau(self.viscosity, MAX_LEVELS)) {
            return refuse("viscosity", self.viscosity, RANGE);
        }
        self.operator()?;
        if let Collision::Trt { magic } = self.collision {
            if !(magic.is_finite() && magic > 0.0) {
                return refuse("magic", magic, "a positive number is needed: 3/16 or 1/4");
            }
            if !has_rate(0.5 + magic / (3.0 * self.viscosity)) {
                return refuse("viscosity", self.viscosity, RANGE);
            }
        }
        Ok(())
    }

    /// Whether collision and eddy viscosity exist on the lattice, and their constants are in range.
    fn operator(&self) -> Result<(), SolverError> {
        if !self.collision.fits(self.lattice) {
            let (name, lattices) = match self.collision {
                Collision::Kbc => ("kbc", "d2q9 and d3q27"),
                _ => ("cumulant", "d3q27"),
            };
            let reason = format!(
                "the collision {name} exists on {lattices}, not on {}",
                self.lattice
            );
            return Err(SolverError::Mesh { reason });
        }
        if let Collision::Cumulant { limiter } = self.collision {
            positive("the limiter of cumulants", limiter)?;
        }
        match self.les {
            Les::None => Ok(()),
            Les::Smagorinsky { constant } => positive("the constant of smagorinsky", constant),
            Les::Qr { constant } if D == 3 => positive("the constant of qr", constant),
            Les::Qr { .. } => {
                let reason =
                    "the eddy viscosity of qr is 0 in plane flow: choose smagorinsky or none";
                Err(SolverError::Mesh {
                    reason: reason.into(),
                })
            }
        }
    }

    fn places(&self) -> Result<(), SolverError> {
        for (n, variation) in self.variations.iter().enumerate() {
            let refuse = |reason: &str| {
                Err(SolverError::Value {
                    name: variation.name.clone(),
                    reason: reason.into(),
                })
            };
            let rotates = match variation.place {
                Place::Face(axis, side) if axis >= D || side > 1 => {
                    return refuse("it varies a face that the box does not have");
                }
                Place::Patch(patch) => match self.patches.get(patch) {
                    None => return refuse("it varies a patch that there is not"),
                    Some(PatchCondition::Wall { motion, .. }) => {
                        matches!(motion, Motion::Rotation { .. })
                    }
                    Some(PatchCondition::Pressure(_)) => false,
                },
                _ => false,
            };
            let is_vector = variation.place == Place::Acceleration || rotates;
            if is_vector && variation.has_profile() {
                return refuse("it may vary in time alone, not in space");
            }
            let before = &self.variations[..n];
            if before.iter().any(|other| other.place == variation.place) {
                return refuse("its place has another variation: one is allowed");
            }
        }
        Ok(())
    }
}

fn face<const D: usize>(face: &FaceCondition<D>) -> Result<(), SolverError> {
    match face {
        FaceCondition::Velocity(v) => subsonic("the speed of a face", v),
        FaceCondition::FarField { velocity, density } => {
            subsonic("the speed of a face", velocity)?;
            positive("the density of a face", *density)
        }
        FaceCondition::Pressure(density) => positive("the density of a face", *density),
        FaceCondition::Periodic | FaceCondition::FreeSlip | FaceCondition::Outflow => Ok(()),
    }
}

fn patch<const D: usize>(patch: &PatchCondition<D>) -> Result<(), SolverError> {
    match patch {
        PatchCondition::Pressure(density) => positive("the density of a patch", *density),
        PatchCondition::Wall { motion, .. } => match motion {
            Motion::Uniform(v) => subsonic("the speed of a patch", v),
            // How far it reaches from its axis is known to the mesh alone: the plan checks its speed.
            Motion::Rotation { center, omega } => {
                finite("the centre of a patch that rotates", center)?;
                finite("the angular velocity of a patch", omega)
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interpolation, LatticeKind, Precision, Space, Variation, WallScheme};
    use std::sync::Arc;

    fn params() -> Params<2> {
        let scheme = WallScheme::Linear;
        let motion = Motion::Rotation {
            center: [8.0; 2],
            omega: [0.0, 0.0, 1e-3],
        };
        Params {
            lattice: LatticeKind::D2Q9,
            collision: Collision::Trt { magic: 0.25 },
            les: Les::None,
            precision: Precision::F32,
            viscosity: 1e-3,
            acceleration: [1e-6, 0.0],
            faces: [
                [
                    FaceCondition::Velocity([0.05, 0.0]),
                    FaceCondition::Pressure(1.0),
                ],
                [FaceCondition::Periodic; 2],
            ],
            patches: vec![
                PatchCondition::Wall { scheme, motion },
                PatchCondition::Pressure(1.01),
            ],
            interpolation: Interpolation::Cubic,
            moment_center: [8.0; 2],
            forces: true,
            variations: vec![varied(Place::Face(0, 0)), varied(Place::Acceleration)],
            modeled: Vec::new(),
            sponges: Vec::new(),
            adaptation: None,
            heat: None,
        }
    }

    fn varied(place: Place) -> Variation<2> {
        Variation {
            place,
            name: "the variation".into(),
            key: "1".into(),
            space: Space::Uniform,
            time: Some(Arc::new(|_| Ok([0.05, 0.0]))),
        }
    }

    fn uniform(velocity: [f64; 2]) -> PatchCondition<2> {
        PatchCondition::Wall {
            scheme: WallScheme::Linear,
            motion: Motion::Uniform(velocity),
        }
    }

    fn rotation(center: [f64; 2], omega: f64) -> PatchCondition<2> {
        PatchCondition::Wall {
            scheme: WallScheme::Linear,
            motion: Motion::Rotation {
                center,
                omega: [0.0, 0.0, omega],
            },
        }
    }

    type Change = fn(&mut Params<2>);

    #[test]
    fn values_out_of_range_are_refused_by_name() {
        const CASES: [(&str, Change); 20] = [
            ("viscosity", |p| p.viscosity = 0.0),
            ("viscosity", |p| p.viscosity = f64::NAN),
            ("viscosity", |p| p.viscosity = 1e-320),
            ("viscosity", |p| p.viscosity = 1e32),
            ("magic", |p| p.collision = Collision::Trt { magic: -0.25 }),
            ("acceleration", |p| p.acceleration[1] = f64::INFINITY),
            ("the moment centre", |p| p.moment_center[0] = f64::NAN),
            ("the speed of a face", |p| {
                p.faces[0][0] = FaceCondition::Velocity([0.5, 0.3]);
            }),
            ("the speed of a face", |p| {
                p.faces[0][0] = FaceCondition::Velocity([f64::NAN, 0.0]);
            }),
            ("the density of a face", |p| {
                p.faces[0][1] = FaceCondition::Pressure(0.0);
            }),
            ("the density of a face", |p| {
                p.faces[0][1] = FaceCondition::FarField {
                    velocity: [0.05, 0.0],
                    density: f64::NAN,
                };
            }),
            ("the speed of a patch", |p| {
                p.patches[0] = uniform([0.0, 0.6])
            }),
            ("the speed of a patch", |p| {
                p.patches[0] = uniform([f64::NAN, 0.0]);
            }),
            ("the centre of a patch", |p| {
                p.patches[0] = rotation([f64::NAN, 0.0], 1e-3);
            }),
            ("the angular velocity", |p| {
                p.patches[0] = rotation([8.0; 2], f64::INFINITY);
            }),
            ("the density of a patch", |p| {
                p.patches[1] = PatchCondition::Pressure(-1.0);
            }),
            ("the variation", |p| {
                p.variations.push(varied(Place::Face(2, 0)))
            }),
            ("the variation", |p| {
                p.variations.push(varied(Place::Patch(2)))
            }),
            ("the variation", |p| {
                p.variations.push(varied(Place::Acceleration));
            }),
            ("the variation", |p| {
                let mut of_rotation = varied(Place::Patch(0));
                of_rotation.space = Space::Steady(Arc::new(|_| Ok([1.0; 2])));
                p.variations.push(of_rotation);
            }),
        ];
        params().validate().expect("parameters in range");
        for (name, change) in CASES {
            let mut params = params();
            change(&mut params);
            match params.validate() {
                Err(
                    SolverError::Parameter { name: found, .. }
                    | SolverError::Value { name: found, .. },
                ) => {
                    assert!(found.starts_with(name), "{found}, not {name}");
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    }

    #[test]
    fn conditions_that_do_not_fit_together_are_refused() {
        const CASES: [(&str, Change); 2] = [
            ("dimensions", |p| p.lattice = LatticeKind::D3Q19),
            ("both have to be", |p| {
                p.faces[1][0] = FaceCondition::FreeSlip
            }),
        ];
        for (part, change) in CASES {
            let mut params = params();
            change(&mut params);
            let error = params.validate().expect_err("an error");
            assert!(matches!(error, SolverError::Mesh { .. }), "{error:?}");
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
