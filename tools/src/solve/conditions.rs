//! What happens at the faces of the box and at the patches of the surface, from a case's tables.

use crate::config::suggestion;
use crate::failure::Failure;
use crate::options::Numbers;
use crate::solve::case::{Case, FaceKind, FaceTable, PatchKind, PatchTable};
use crate::solve::resolve::missing;
use crate::solve::units::Units;
use cutlink_solver::{FaceCondition, Motion, PatchCondition, WallScheme};
use cutlink_voxelizer::Frame;

/// The faces, as users write them.
const FACES: [[&str; 2]; 3] = [["x-", "x+"], ["y-", "y+"], ["z-", "z+"]];

/// The user's units to the lattice's.
pub(super) struct Scale<'a, const D: usize> {
    pub(super) frame: &'a Frame<D>,
    pub(super) units: Units,
    pub(super) density: f64,
}

impl<const D: usize> Scale<'_, D> {
    pub(super) fn vector(&self, what: &str, given: &Option<Vec<f64>>) -> Result<[f64; D], Failure> {
        let numbers = given.as_ref();
        let numbers = numbers.ok_or_else(|| missing(what).hint(format!("give {D} numbers")))?;
        match <[f64; D]>::try_from(numbers.as_slice()) {
            Ok(vector) if vector.iter().all(|x| x.is_finite()) => Ok(vector),
            Ok(vector) => {
                Err(Failure::usage(format!("{what} is {vector:?}"))
                    .hint("finite numbers are needed"))
            }
            Err(_) => Err(Failure::usage(format!(
                "{what} has {} numbers, and the mesh is {D}D",
                numbers.len()
            ))
            .hint(format!("give {D} numbers"))),
        }
    }

    fn velocity(&self, what: &str, given: &Option<Vec<f64>>) -> Result<[f64; D], Failure> {
        let vector = self.vector(what, given)?;
        Ok(vector.map(|u| u / self.units.velocity()))
    }

    /// In root cells from the lower corner.
    pub(super) fn point(&self, what: &str, given: &Option<Vec<f64>>) -> Result<[f64; D], Failure> {
        let point = self.vector(what, given)?;
        let Frame { origin, dx, .. } = self.frame;
        Ok(std::array::from_fn(|a| (point[a] - origin[a]) / dx))
    }

    /// The density of a gauge pressure.
    fn pressure(&self, what: &str, pressure: f64) -> Result<f64, Failure> {
        let density = 1.0 + 3.0 * pressure / (self.density * self.units.velocity().powi(2));
        if density.is_finite() && density > 0.0 {
            return Ok(density);
        }
        Err(Failure::usage(format!(
            "{what} is {pressure}: a lattice density of {density}"
        ))
        .hint("pressures are relative to that of the fluid at rest"))
    }

    fn omega(&self, what: &str, given: &Option<Numbers>) -> Result<[f64; 3], Failure> {
        const HOW: &str = "give three numbers along the axis, in the plane one; radians a second";
        let numbers = given.as_ref().ok_or_else(|| missing(what).hint(HOW))?;
        let numbers = numbers.as_slice();
        let omega = match *numbers {
            [z] if D == 2 => [0.0, 0.0, z],
            [x, y, z] if D == 3 => [x, y, z],
            _ => {
                return Err(Failure::usage(format!(
                    "{what} has {} numbers, and the mesh is {D}D",
                    numbers.len()
                ))
                .hint(HOW));
            }
        };
        if omega.iter().all(|x| x.is_finite()) {
            return Ok(omega.map(|x| x * self.units.time));
        }
        Err(Failure::usage(format!("{what} is {omega:?}")).hint("finite numbers are needed"))
    }
}

/// Refuses keys that a type does not take.
fn only(what: &str, kind: &str, keys: &[(&str, bool, bool)]) -> Result<(), Failure> {
    match keys.iter().find(|(_, given, taken)| *given && !taken) {
        None => Ok(()),
        Some((key, ..)) => Err(Failure::usage(format!(
            "{what} has {key}, and its type is \"{kind}\""
        ))
        .hint(format!("leave {key} out, or give another type"))),
    }
}

pub(super) type Faces<const D: usize> = ([[FaceCondition<D>; 2]; D], Vec<[FaceTable; 2]>);

/// Conditions of the faces, and their tables written out.
pub(super) fn faces<const D: usize>(
    case: &Case,
    scale: &Scale<'_, D>,
) -> Result<Faces<D>, Failure> {
    let given = case.boundary.faces();
    let mut conditions = [[FaceCondition::Periodic; 2]; D];
    let mut tables = Vec::new();
    for axis in 0..3 {
        let mut pair = Vec::new();
        for side in 0..2 {
            let what = format!("[boundary] \"{}\"", FACES[axis][side]);
            match given[axis][side] {
                Some(_) if axis >= D => {
                    return Err(
                        Failure::usage(format!("{what} is no face: the mesh is {D}D"))
                            .hint("leave it out"),
                    );
                }
                None if axis < D => {
                    return Err(missing(&what)
                        .hint("types: velocity, pressure, periodic, no-slip, free-slip, outflow"));
                }
                Some(table) => {
                    let (condition, table) = face(&what, table, scale)?;
                    conditions[axis][side] = condition;
                    pair.push(table);
                }
                None => {}
            }
        }
        if let Ok(pair) = <[FaceTable; 2]>::try_from(pair) {
            let [lower, upper] = &pair;
            if (lower.kind == FaceKind::Periodic) != (upper.kind == FaceKind::Periodic) {
                let [lower, upper] = FACES[axis];
                return Err(Failure::usage(format!(
                    "of [boundary] \"{lower}\" and \"{upper}\" one is periodic"
                ))
                .hint("what leaves at one enters at the other: make both periodic, or none"));
            }
            tables.push(pair);
        }
    }
    Ok((conditions, tables))
}

fn face<const D: usize>(
    what: &str,
    given: &FaceTable,
    scale: &Scale<'_, D>,
) -> Result<(FaceCondition<D>, FaceTable), Failure> {
    let kind = given.kind;
    let name = match kind {
        FaceKind::Velocity => "velocity",
        FaceKind::Pressure => "pressure",
        FaceKind::Periodic => "periodic",
        FaceKind::NoSlip => "no-slip",
        FaceKind::FreeSlip => "free-slip",
        FaceKind::Outflow => "outflow",
        FaceKind::FarField => "far-field",
    };
    let keys = [
        (
            "velocity",
            given.velocity.is_some(),
            matches!(kind, FaceKind::Velocity | FaceKind::FarField),
        ),
        (
            "pressure",
            given.pressure.is_some(),
            matches!(kind, FaceKind::Pressure | FaceKind::FarField),
        ),
    ];
    only(what, name, &keys)?;
    let mut table = given.clone();
    let condition = match kind {
        FaceKind::Velocity => {
            FaceCondition::Velocity(scale.velocity(&format!("{what} velocity"), &given.velocity)?)
        }
        FaceKind::Pressure => {
            let pressure = *table.pressure.get_or_insert(0.0);
            FaceCondition::Pressure(scale.pressure(&format!("{what} pressure"), pressure)?)
        }
        FaceKind::Periodic => FaceCondition::Periodic,
        FaceKind::NoSlip => FaceCondition::Velocity([0.0; D]),
        FaceKind::FreeSlip => FaceCondition::FreeSlip,
        FaceKind::Outflow => FaceCondition::Outflow,
        FaceKind::FarField => {
            let pressure = *table.pressure.get_or_insert(0.0);
            FaceCondition::FarField {
                velocity: scale.velocity(&format!("{what} velocity"), &given.velocity)?,
                density: scale.pressure(&format!("{what} pressure"), pressure)?,
            }
        }
    };
    Ok((condition, table))
}

pub(super) type Patches<const D: usize> = (Vec<PatchCondition<D>>, Vec<(String, PatchTable)>);

/// Conditions of the mesh's patches, and their tables written out; one that is not named is a wall
/// at rest.
pub(super) fn patches<const D: usize>(
    case: &Case,
    scale: &Scale<'_, D>,
    names: &[String],
    wall: WallScheme,
) -> Result<Patches<D>, Failure> {
    if let Some(unknown) = case.patches.keys().find(|name| !names.contains(name)) {
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        return Err(
            Failure::usage(format!("[patches.{unknown}] is no patch of the mesh"))
                .hint(suggestion("name", unknown, &known)),
        );
    }
    let each = names.iter().map(|name| {
        let given = case.patches.get(name).cloned().unwrap_or_default();
        let (condition, table) = patch(&format!("[patches.{name}]"), given, scale, wall)?;
        Ok((condition, (name.clone(), table)))
    });
    let each: Vec<_> = each.collect::<Result<_, Failure>>()?;
    Ok(each.into_iter().unzip())
}

fn patch<const D: usize>(
    what: &str,
    given: PatchTable,
    scale: &Scale<'_, D>,
    wall: WallScheme,
) -> Result<(PatchCondition<D>, PatchTable), Failure> {
    let kind = given.kind;
    let name = match kind {
        PatchKind::Wall => "wall",
        PatchKind::Velocity => "velocity",
        PatchKind::Rotating => "rotating",
        PatchKind::Pressure => "pressure",
    };
    let rotating = kind == PatchKind::Rotating;
    let keys = [
        ("wall", given.wall.is_some(), kind != PatchKind::Pressure),
        (
            "velocity",
            given.velocity.is_some(),
            kind == PatchKind::Velocity,
        ),
        ("center", given.center.is_some(), rotating),
        ("omega", given.omega.is_some(), rotating),
        (
            "pressure",
            given.pressure.is_some(),
            kind == PatchKind::Pressure,
        ),
    ];
    only(what, name, &keys)?;
    let mut table = given;
    let motion = match kind {
        PatchKind::Wall => Motion::Uniform([0.0; D]),
        PatchKind::Velocity => {
            Motion::Uniform(scale.velocity(&format!("{what} velocity"), &table.velocity)?)
        }
        PatchKind::Rotating => Motion::Rotation {
            center: scale.point(&format!("{what} center"), &table.center)?,
            omega: scale.omega(&format!("{what} omega"), &table.omega)?,
        },
        PatchKind::Pressure => {
            let pressure = *table.pressure.get_or_insert(0.0);
            let density = scale.pressure(&format!("{what} pressure"), pressure)?;
            return Ok((PatchCondition::Pressure(density), table));
        }
    };
    let scheme = *table.wall.get_or_insert(wall);
    Ok((PatchCondition::Wall { scheme, motion }, table))
}
