//! The parameters of a flow in lattice units, and functions of Python for values that vary in time.

use cutlink::{Error, Mesh};
use cutlink_solver::{
    Collision, FaceCondition, Les, Motion, Params, PatchCondition, Place, Precision, Space, Values,
    Variation, WallScheme,
};
use pyo3::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A condition at a face, in lattice units.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Face {
    Periodic,
    NoSlip,
    FreeSlip,
    Outflow,
    Velocity(Vec<f64>),
    Density(f64),
    FarField { velocity: Vec<f64>, density: f64 },
}

/// A condition at a patch, in lattice units.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Patch {
    Wall,
    Velocity(Vec<f64>),
    Rotation { center: Vec<f64>, omega: [f64; 3] },
    Density(f64),
}

/// The parameters of a flow, all in units of the root lattice.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlowTable {
    viscosity: f64,
    lattice: Option<String>,
    collision: Option<String>,
    magic: Option<f64>,
    les: Option<String>,
    les_constant: Option<f64>,
    precision: Option<String>,
    interpolation: Option<String>,
    wall: Option<String>,
    #[serde(default)]
    wall_model: Vec<String>,
    acceleration: Option<Vec<f64>>,
    moment_center: Option<Vec<f64>>,
    pub(crate) forces_every: Option<u64>,
    #[serde(default)]
    pub(crate) allow_unstable: bool,
    #[serde(default)]
    faces: BTreeMap<String, Face>,
    #[serde(default)]
    patches: BTreeMap<String, Patch>,
}

const FACES: [&str; 6] = ["x-", "x+", "y-", "y+", "z-", "z+"];

pub(crate) fn vector<const D: usize>(what: &str, numbers: &[f64]) -> Result<[f64; D], Error> {
    numbers.try_into().map_err(|_| {
        Error::input(format!(
            "{what} has {} numbers, the mesh is {D}D",
            numbers.len()
        ))
    })
}

impl FlowTable {
    fn collision(&self) -> Result<Collision, Error> {
        let name = self.collision.as_deref();
        match (name, self.magic) {
            (Some("trt") | None, Some(magic)) => Ok(Collision::Trt { magic }),
            (Some(_), Some(_)) => Err(Error::input("magic is a parameter of the collision trt")),
            (Some(name), None) => Ok(name.parse()?),
            (None, None) => Ok(Collision::Regularized),
        }
    }

    fn les(&self) -> Result<Les, Error> {
        let les = self.les.as_deref().unwrap_or("none").parse()?;
        Ok(match (les, self.les_constant) {
            (les, None) => les,
            (Les::Smagorinsky { .. }, Some(constant)) => Les::Smagorinsky { constant },
            (Les::Qr { .. }, Some(constant)) => Les::Qr { constant },
            (Les::None, Some(_)) => {
                return Err(Error::input("les_constant needs les: smagorinsky or qr"));
            }
        })
    }

    fn face<const D: usize>(name: &str, face: &Face) -> Result<FaceCondition<D>, Error> {
        Ok(match face {
            Face::Periodic => FaceCondition::Periodic,
            Face::NoSlip => FaceCondition::Velocity([0.0; D]),
            Face::FreeSlip => FaceCondition::FreeSlip,
            Face::Outflow => FaceCondition::Outflow,
            Face::Velocity(velocity) => FaceCondition::Velocity(vector(name, velocity)?),
            Face::Density(density) => FaceCondition::Pressure(*density),
            Face::FarField { velocity, density } => FaceCondition::FarField {
                velocity: vector(name, velocity)?,
                density: *density,
            },
        })
    }

    fn patch<const D: usize>(
        name: &str,
        patch: &Patch,
        scheme: WallScheme,
    ) -> Result<PatchCondition<D>, Error> {
        let motion = match patch {
            Patch::Wall => Motion::Uniform([0.0; D]),
            Patch::Velocity(velocity) => Motion::Uniform(vector(name, velocity)?),
            Patch::Rotation { center, omega } => Motion::Rotation {
                center: vector(name, center)?,
                omega: *omega,
            },
            Patch::Density(density) => return Ok(PatchCondition::Pressure(*density)),
        };
        Ok(PatchCondition::Wall { scheme, motion })
    }

    /// The parameters of a flow on a mesh; `functions` replace values that vary in time.
    pub(crate) fn params<const D: usize>(
        &self,
        mesh: &Mesh<D>,
        functions: &Functions,
    ) -> Result<Params<D>, Error> {
        let lattice = match &self.lattice {
            Some(name) => name.parse()?,
            None if D == 2 => cutlink_solver::LatticeKind::D2Q9,
            None if matches!(self.collision.as_deref(), Some("cumulant" | "kbc")) => {
                cutlink_solver::LatticeKind::D3Q27
            }
            None => cutlink_solver::LatticeKind::D3Q19,
        };
        let mut params = Params::new(lattice, self.viscosity);
        params.collision = self.collision()?;
        params.les = self.les()?;
        if let Some(name) = &self.precision {
            params.precision = name.parse::<Precision>()?;
        }
        if let Some(name) = &self.interpolation {
            params.interpolation = name.parse()?;
        }
        if let Some(numbers) = &self.acceleration {
            params.acceleration = vector("acceleration", numbers)?;
        }
        if let Some(numbers) = &self.moment_center {
            params.moment_center = vector("moment_center", numbers)?;
        }
        for (name, face) in &self.faces {
            let Some(n) = FACES[..2 * D].iter().position(|known| known == name) else {
                return Err(
                    Error::input(format!("a box in {D}D has no face \"{name}\""))
                        .hint(format!("faces: {}", FACES[..2 * D].join(", "))),
                );
            };
            params.faces[n / 2][n % 2] = Self::face(name, face)?;
        }
        let scheme = match &self.wall {
            Some(name) => name.parse()?,
            None => WallScheme::Linear,
        };
        let named = self.patches.keys().chain(&self.wall_model);
        if let Some(name) = named.into_iter().find(|name| !mesh.patches.contains(name)) {
            return Err(Error::input(format!("the mesh has no patch \"{name}\""))
                .hint(format!("patches: {}", mesh.patches.join(", "))));
        }
        for name in &mesh.patches {
            let given = self.patches.get(name).unwrap_or(&Patch::Wall);
            if self.wall_model.contains(name) {
                params.modeled.push(params.patches.len());
            }
            params.patches.push(Self::patch(name, given, scheme)?);
        }
        params.forces = self.forces_every != Some(0) && !mesh.links.is_empty();
        for place in functions.of.keys() {
            params
                .variations
                .push(self.variation(mesh, functions, place)?);
        }
        Ok(params)
    }

    /// The value of a place by a function of time.
    fn variation<const D: usize>(
        &self,
        mesh: &Mesh<D>,
        functions: &Functions,
        name: &str,
    ) -> Result<Variation<D>, Error> {
        let unknown = || Error::input(format!("there is no place \"{name}\" for a function"));
        let (place, kind) = match name.split_once(' ') {
            None if name == "acceleration" => (Place::Acceleration, Value::Vector),
            Some(("face", face)) => {
                let n = FACES
                    .iter()
                    .position(|known| *known == face)
                    .ok_or_else(unknown)?;
                let kind = match self.faces.get(face) {
                    Some(Face::Density(_)) => Value::Density,
                    Some(Face::Velocity(velocity)) => match velocity.get(n / 2) {
                        Some(0.0) => Value::Along(n / 2),
                        _ => Value::Vector,
                    },
                    _ => return Err(unknown()),
                };
                (Place::Face(n / 2, n % 2), kind)
            }
            Some(("patch", patch)) => {
                let n = mesh
                    .patches
                    .iter()
                    .position(|known| known == patch)
                    .ok_or_else(unknown)?;
                let kind = match self.patches.get(patch) {
                    Some(Patch::Density(_)) => Value::Density,
                    Some(Patch::Rotation { .. }) => Value::Factor,
                    Some(Patch::Velocity(_)) => Value::Vector,
                    _ => return Err(unknown()),
                };
                (Place::Patch(n), kind)
            }
            _ => return Err(unknown()),
        };
        let (functions, of) = (functions.clone(), name.to_owned());
        Ok(Variation {
            place,
            name: name.to_owned(),
            key: format!("a function at {name}"),
            space: Space::Uniform,
            time: Some(Arc::new(move |time| {
                kind.components(functions.call(&of, time)?)
            })),
        })
    }
}

/// What a function gives.
#[derive(Debug, Clone, Copy)]
enum Value {
    /// D components.
    Vector,
    /// The same of a face that fluid does not pass: without a component along this axis.
    Along(usize),
    /// A density.
    Density,
    /// A factor of the angular velocity.
    Factor,
}

impl Value {
    fn components<const D: usize>(self, given: Vec<f64>) -> Values<D> {
        let mut of = [0.0; D];
        if let Some(value) = given.iter().find(|value| !value.is_finite()) {
            return Err(format!("{value} is not finite"));
        }
        match (self, &given[..]) {
            (Self::Density, [density]) => of[0] = density - 1.0,
            (Self::Factor, [factor]) => of[0] = *factor,
            (Self::Density | Self::Factor, _) => {
                return Err(format!("{} numbers, one is expected", given.len()));
            }
            (Self::Vector | Self::Along(_), _) => {
                of = given.try_into().map_err(|given: Vec<f64>| {
                    format!("{} numbers, {D} are expected", given.len())
                })?;
            }
        }
        match self {
            Self::Along(axis) if of[axis] != 0.0 => Err(format!(
                "fluid passes the face, at {} along its normal, and did not at the first step",
                of[axis]
            )),
            _ => Ok(of),
        }
    }
}

/// Functions of Python by place: `face x-`, `patch NAME`, `acceleration`. Each takes the time in root steps and returns
/// numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Functions {
    of: Arc<BTreeMap<String, Py<PyAny>>>,
    /// What a function has raised.
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Functions {
    pub(crate) fn new(of: BTreeMap<String, Py<PyAny>>) -> Self {
        Self {
            of: Arc::new(of),
            raised: Arc::default(),
        }
    }

    /// The numbers at a time, or that the function has raised something.
    fn call(&self, place: &str, time: f64) -> Result<Vec<f64>, String> {
        let function = self.of.get(place).ok_or("no function")?;
        Python::attach(|py| {
            let numbers = function
                .call1(py, (time,))
                .and_then(|given| given.extract::<Vec<f64>>(py));
            numbers.map_err(|error: PyErr| {
                let text = error.to_string();
                self.raised().get_or_insert(error);
                text
            })
        })
    }

    fn raised(&self) -> std::sync::MutexGuard<'_, Option<PyErr>> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a function has raised takes the place of the error that the flow made of it.
    pub(crate) fn blame<T>(&self, result: PyResult<T>) -> PyResult<T> {
        match (result, self.raised().take()) {
            (Err(_), Some(raised)) => Err(raised),
            (result, _) => result,
        }
    }
}
