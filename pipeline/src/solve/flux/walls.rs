//! Walls, bodies and reference values of a case.

use super::{
    case::{FluxCase, FluxFaceKind, FluxFaceTable, GasBodyTable, ReferenceTable},
    resolve::{positive, vector},
};
use crate::solve::reference::{axes, frame};
use cutlink_common::Error;
use cutlink_fr::{FrError, GasBody, GasWall, GasWalls, Primitive};

const AXES: [&str; 3] = ["x", "y", "z"];

/// What lies beyond the faces of the box, and the bodies in it.
#[derive(Debug)]
pub(super) struct Surroundings<const D: usize> {
    pub(super) periodic: [bool; D],
    pub(super) has_far_field: bool,
    pub(super) walls: GasWalls<D>,
    /// By patch with a wall, its number and name.
    pub(super) patches: Vec<(usize, String)>,
}

/// What coefficients of forces are made with.
#[derive(Debug, Clone)]
pub(super) struct Reference<const D: usize> {
    pub(super) velocity: f64,
    pub(super) length: f64,
    /// Force of a coefficient of 1.
    pub(super) force: f64,
    pub(super) center: [f64; D],
    /// Directions of drag, lift and side force.
    pub(super) axes: [[f64; 3]; 3],
}

/// The name of a face.
fn face_name(face: usize) -> String {
    format!("{}{}", AXES[face / 2], ["-", "+"][face % 2])
}

impl FluxCase {
    /// What lies beyond the faces of the box, and the bodies in it.
    pub(super) fn surroundings<const D: usize>(&self) -> Result<Surroundings<D>, Error> {
        let faces = self.boundary.faces();
        if faces[D..].iter().flatten().any(|face| face.is_some()) {
            return Err(Error::input(
                "[boundary] has faces along z, and the box is 2D",
            ));
        }
        let mut of = Surroundings {
            periodic: [false; D],
            has_far_field: false,
            walls: GasWalls::default(),
            patches: Vec::new(),
        };
        let is_viscous = self.physics.dynamic_viscosity.is_some();
        for (axis, pair) in faces[..D].iter().enumerate() {
            for (upper, face) in pair.iter().enumerate() {
                let name = face_name(2 * axis + upper);
                let what = format!("[boundary] \"{name}\"");
                let Some(face) = face else {
                    return Err(Error::input(format!("{what} is missing")).hint(
                        "it may be \"periodic\", \"far-field\", \"no-slip\" or \"free-slip\"",
                    ));
                };
                let wall = wall::<D>(&what, face, is_viscous)?;
                if wall.is_some() {
                    of.patches.push((2 * axis + upper, name));
                }
                of.has_far_field |= face.kind == FluxFaceKind::FarField;
                of.walls.faces[axis][upper] = wall;
                if let Some(GasWall::NoSlip { velocity, .. }) = wall
                    && velocity[axis] != 0.0
                {
                    return Err(Error::input(format!(
                        "{what} velocity {velocity:?} is through the wall"
                    ))
                    .hint("a wall moves along itself; for an inflow there is \"far-field\""));
                }
            }
            let is_periodic = [0, 1].map(|upper: usize| {
                let face = pair[upper].as_ref();
                face.is_some_and(|face| face.kind == FluxFaceKind::Periodic)
            });
            if is_periodic[0] != is_periodic[1] {
                let what = format!("one face along {} is periodic, the other not", AXES[axis]);
                return Err(Error::input(format!("[boundary] {what}")));
            }
            of.periodic[axis] = is_periodic[0];
        }
        for body in &self.bodies {
            let what = format!("[[body]] \"{}\"", body.name);
            if body.name.is_empty() {
                return Err(Error::input("a [[body]] has no name").hint("give it one"));
            }
            let others = self.bodies.iter().filter(|other| other.name == body.name);
            let is_face = of.patches.iter().any(|(_, name)| *name == body.name);
            if body.name == "all" || is_face || others.count() > 1 {
                return Err(Error::input(format!("{what} has the name of other walls"))
                    .hint("give it one of its own"));
            }
            if body.is_shaped() {
                check_shaped(&what, body, is_viscous)?;
                continue;
            }
            of.patches.push((of.walls.patches(), body.name.clone()));
            of.walls.bodies.push(gas_body(&what, body, is_viscous)?);
        }
        let shaped = self.bodies.iter().filter(|body| body.is_shaped());
        for (i, body) in shaped.enumerate() {
            of.patches.push((of.walls.patches() + i, body.name.clone()));
        }
        Ok(of)
    }

    /// An error of a body, with its name.
    pub(super) fn of_body(&self, error: FrError) -> Error {
        let named = |body: usize| match self.bodies.get(body) {
            Some(body) => format!("[[body]] \"{}\"", body.name),
            None => "[[body]]".to_owned(),
        };
        match &error {
            FrError::Body { body, .. } => {
                Error::input(format!("{} is empty, or not in the box", named(*body)))
                    .hint("its box has the lower corner, then the upper one")
            }
            FrError::Unaligned {
                body,
                axis,
                at,
                level,
                nearest: [below, above],
            } => Error::input(format!(
                "{} has a face at {} = {at}, where elements of level {} have none",
                named(*body),
                AXES[*axis],
                level + 1
            ))
            .hint(format!(
                "the nearest are at {below} and {above}; or choose other [domain] elements, or more [adapt] levels"
            )),
            _ => Error::from(error),
        }
    }

    /// Directions of drag, lift and side force: those of `[free_stream]`, else the drag is along the velocity of the far
    /// field, and the lift at right angles to it in the plane of x and y.
    fn axes<const D: usize>(
        &self,
        far_field: Option<&Primitive<D>>,
    ) -> Result<[[f64; 3]; 3], Error> {
        let along: [f64; 3] = match far_field.filter(|_| self.free_stream.is_none()) {
            Some(state) => std::array::from_fn(|a| state.velocity.get(a).copied().unwrap_or(0.0)),
            None => [0.0; 3],
        };
        let across = along[0].hypot(along[1]);
        let speed = across.hypot(along[2]);
        if across == 0.0 {
            return axes::<D>(self.free_stream.as_ref());
        }
        let ([sa, ca], [sb, cb]) = (
            [along[1] / across, along[0] / across],
            [along[2] / speed, across / speed],
        );
        Ok(frame([sa, ca], [sb, cb]))
    }

    /// What coefficients of forces are made with; `None` where no velocity is given.
    pub(super) fn reference<const D: usize>(
        &self,
        far_field: Option<&Primitive<D>>,
        bounds: &[[f64; D]; 2],
        shaped: Option<&[[f64; D]; 2]>,
    ) -> Result<Option<(Reference<D>, ReferenceTable)>, Error> {
        let given = self.reference.clone().unwrap_or_default();
        let stream = far_field.map(|state| {
            let square: f64 = state.velocity.iter().map(|v| v * v).sum();
            (state.density, square.sqrt())
        });
        let velocity = given.velocity.or(stream.map(|(_, speed)| speed));
        let Some(velocity) = velocity.filter(|v| *v != 0.0 || given.velocity.is_some()) else {
            return match self.reference {
                None => Ok(None),
                Some(_) => Err(Error::input("[reference] velocity is missing")
                    .hint("give it: the far field has none")),
            };
        };
        let density = given.density.or(stream.map(|(density, _)| density));
        let density = density.ok_or_else(|| {
            Error::input("[reference] density is missing").hint("give it: there is no far field")
        })?;
        let extent = |a: usize| match (self.bodies.first(), shaped) {
            (Some(body), _) if body.bounds.len() == 2 * D => body.bounds[D + a] - body.bounds[a],
            (Some(_), Some(shaped)) => shaped[1][a] - shaped[0][a],
            _ => bounds[1][a] - bounds[0][a],
        };
        let length = positive(
            "[reference] length",
            given.length.unwrap_or_else(|| extent(1)),
        )?;
        let span = if D == 3 { extent(2) } else { 1.0 };
        let area = positive("[reference] area", given.area.unwrap_or(length * span))?;
        let center = match &given.moment_center {
            Some(center) => vector("[reference] moment_center", center)?,
            None => [0.0; D],
        };
        let velocity = positive("[reference] velocity", velocity)?;
        let density = positive("[reference] density", density)?;
        let table = ReferenceTable {
            density: Some(density),
            velocity: Some(velocity),
            length: Some(length),
            area: Some(area),
            moment_center: Some(center.to_vec()),
        };
        let reference = Reference {
            velocity,
            length,
            force: 0.5 * density * velocity * velocity * area,
            center,
            axes: self.axes(far_field)?,
        };
        Ok(Some((reference, table)))
    }
}

/// The wall of a face, if it is one.
fn wall<const D: usize>(
    what: &str,
    face: &FluxFaceTable,
    is_viscous: bool,
) -> Result<Option<GasWall<D>>, Error> {
    let unused = |key: &str, kind: &str| {
        Err(Error::input(format!(
            "{what} has {key}, which type \"{kind}\" does not use"
        ))
        .hint(format!(
            "remove {key}; the state beyond far-field faces is [far_field]"
        )))
    };
    let kind = match face.kind {
        FluxFaceKind::Periodic => "periodic",
        FluxFaceKind::FarField => "far-field",
        FluxFaceKind::FreeSlip => "free-slip",
        FluxFaceKind::NoSlip => {
            if !is_viscous {
                return Err(Error::input(format!(
                    "{what} is \"no-slip\", and the gas has no viscosity"
                ))
                .hint("give [physics] dynamic_viscosity, or choose \"free-slip\""));
            }
            let velocity = match &face.velocity {
                Some(velocity) => vector(&format!("{what} velocity"), velocity)?,
                None => [0.0; D],
            };
            let temperature = face
                .temperature
                .map(|t| positive(&format!("{what} temperature"), t));
            return Ok(Some(GasWall::NoSlip {
                velocity,
                temperature: temperature.transpose()?,
            }));
        }
    };
    if face.velocity.is_some() {
        return unused("velocity", kind);
    }
    if face.temperature.is_some() {
        return unused("temperature", kind);
    }
    Ok((face.kind == FluxFaceKind::FreeSlip).then_some(GasWall::Slip))
}

/// Checks the keys of a body that has a shape, but for its surface.
fn check_shaped(what: &str, body: &GasBodyTable, is_viscous: bool) -> Result<(), Error> {
    if !body.bounds.is_empty() || body.file.is_some() && body.shape.is_some() {
        return Err(Error::input(format!("{what} is given more than once"))
            .hint("give it one of box, file and shape"));
    }
    if body.kind.is_some_and(|kind| kind != FluxFaceKind::NoSlip) {
        return Err(Error::input(format!(
            "{what} has a type that only boxes of elements have"
        ))
        .hint("the gas sticks to bodies with a file or shape: \"no-slip\""));
    }
    if !is_viscous {
        return Err(
            Error::input(format!("{what} holds the gas, which has no viscosity"))
                .hint("give [physics] dynamic_viscosity; without it bodies are boxes of elements"),
        );
    }
    let temperature = body
        .temperature
        .map(|t| positive(&format!("{what} temperature"), t));
    temperature.transpose().map(|_| ())
}

fn gas_body<const D: usize>(
    what: &str,
    body: &GasBodyTable,
    is_viscous: bool,
) -> Result<GasBody<D>, Error> {
    let kind = body.kind.unwrap_or(match is_viscous {
        true => FluxFaceKind::NoSlip,
        false => FluxFaceKind::FreeSlip,
    });
    let face = FluxFaceTable {
        temperature: body.temperature,
        ..FluxFaceTable::from(kind)
    };
    let is_placed = body.unit.is_some()
        || body.scale.is_some()
        || body.rotate.is_some()
        || body.translate.is_some()
        || body.robust;
    if is_placed {
        return Err(Error::input(format!(
            "{what} has unit, scale, rotate, translate or robust, and is a box"
        ))
        .hint("they place a file or a shape"));
    }
    let Some(wall) = wall::<D>(what, &face, is_viscous)? else {
        return Err(Error::input(format!("{what} has a type that no body has"))
            .hint("it may be \"no-slip\" or \"free-slip\""));
    };
    if body.bounds.len() != 2 * D {
        return Err(Error::input(format!(
            "{what} box has {} numbers, {} are needed",
            body.bounds.len(),
            2 * D
        ))
        .hint("lower corner, then upper corner; or give a file or a shape in its place"));
    }
    Ok(GasBody {
        lower: std::array::from_fn(|a| body.bounds[a]),
        upper: std::array::from_fn(|a| body.bounds[D + a]),
        wall,
    })
}
