//! Boundary conditions at the faces of the box and the patches of the surface, from the tables of a case.

use crate::solve::case::{Case, FaceKind, FaceTable, PatchKind, PatchTable, WallModelName};
use crate::solve::inflow::{BoundaryVelocity, Keys, Opening, velocity};
use crate::solve::resolve::missing;
use crate::solve::sponge::sponges;
use crate::solve::units::{Physics, Units};
use crate::solve::value::{self, Value};
use cutlink_common::{Error, config::suggestion};
use cutlink_meshing::options::{Axes, Numbers};
use cutlink_prescribed::expression::ramp;
use cutlink_solver::{
    AtTime, FaceCondition, Motion, OfTime, PatchCondition, Place, Space, Sponge, Variation,
    WallScheme,
};
use cutlink_voxelizer::Frame;
use std::sync::Arc;

/// The faces, as in a case file.
pub(super) const FACES: [[&str; 2]; 3] = [["x-", "x+"], ["y-", "y+"], ["z-", "z+"]];

/// Conversion from the user's units to lattice units.
pub(super) struct Scale<'a, const D: usize> {
    pub(super) frame: &'a Frame<D>,
    pub(super) units: Units,
    pub(super) density: f64,
    pub(super) physics: Physics,
    /// Latest end of the run, s.
    pub(super) end: f64,
    /// Default ramp of inflows, s.
    pub(super) ramp: f64,
    /// Volume flux of mass-flow boundaries at a velocity of 1 m/s, m³/s; empty before it is known.
    pub(super) areas: &'a [(Place, f64)],
}

impl<const D: usize> Scale<'_, D> {
    pub(super) fn vector(&self, what: &str, given: &Option<Vec<f64>>) -> Result<[f64; D], Error> {
        let numbers = given.as_ref();
        let numbers = numbers.ok_or_else(|| missing(what).hint(format!("give {D} numbers")))?;
        match <[f64; D]>::try_from(numbers.as_slice()) {
            Ok(vector) if vector.iter().all(|x| x.is_finite()) => Ok(vector),
            Ok(vector) => {
                Err(Error::input(format!("{what} is {vector:?}"))
                    .hint("the numbers must be finite"))
            }
            Err(_) => Err(Error::input(format!(
                "{what} has {} numbers, but the mesh is {D}D",
                numbers.len()
            ))
            .hint(format!("give {D} numbers"))),
        }
    }

    /// Conversion from root cells to the user's coordinates.
    pub(super) fn to_place(&self) -> impl Fn([f64; D]) -> [f64; D] + Copy + Send + Sync + 'static {
        let Frame { origin, dx, .. } = *self.frame;
        move |x| std::array::from_fn(|a| origin[a] + dx * x[a])
    }

    /// Duration of a ramp, s; `usual` is the default.
    pub(super) fn ramp(&self, what: &str, given: Option<f64>, usual: f64) -> Result<f64, Error> {
        match given {
            None => Ok(usual),
            Some(length) if length.is_finite() && length >= 0.0 => Ok(length),
            Some(length) => Err(Error::input(format!("{what} ramp is {length}"))
                .hint("give seconds, or 0 for a sudden start")),
        }
    }

    /// A point in root cells from the lower corner.
    pub(super) fn point(&self, what: &str, given: &Option<Vec<f64>>) -> Result<[f64; D], Error> {
        let point = self.vector(what, given)?;
        let Frame { origin, dx, .. } = self.frame;
        Ok(std::array::from_fn(|a| (point[a] - origin[a]) / dx))
    }

    /// The lattice density of a gauge pressure.
    fn pressure(&self, what: &str, pressure: f64) -> Result<f64, Error> {
        let density = 1.0 + 3.0 * pressure / (self.density * self.units.velocity().powi(2));
        if density.is_finite() && density > 0.0 {
            return Ok(density);
        }
        Err(Error::input(format!(
            "{what} is {pressure}, which is a lattice density of {density}"
        ))
        .hint("pressures are relative to the pressure of the fluid at rest"))
    }

    fn omega(&self, what: &str, given: &Option<Numbers>) -> Result<[f64; 3], Error> {
        const HOW: &str = "give rad/s: in 3D a vector along the axis, in 2D one number";
        let numbers = given.as_ref().ok_or_else(|| missing(what).hint(HOW))?;
        let numbers = numbers.as_slice();
        let omega = match *numbers {
            [z] if D == 2 => [0.0, 0.0, z],
            [x, y, z] if D == 3 => [x, y, z],
            _ => {
                return Err(Error::input(format!(
                    "{what} has {} numbers, but the mesh is {D}D",
                    numbers.len()
                ))
                .hint(HOW));
            }
        };
        if omega.iter().all(|x| x.is_finite()) {
            return Ok(omega.map(|x| x * self.units.time));
        }
        Err(Error::input(format!("{what} is {omega:?}")).hint("the numbers must be finite"))
    }
}

/// Checks that a type has no keys that it does not use.
fn only(what: &str, kind: &str, keys: &[(&str, bool, bool)]) -> Result<(), Error> {
    match keys.iter().find(|(_, given, taken)| *given && !taken) {
        None => Ok(()),
        Some((key, ..)) => Err(Error::input(format!(
            "{what} has {key}, which type \"{kind}\" does not use"
        ))
        .hint(format!("remove {key}, or choose another type"))),
    }
}

/// Boundary conditions of faces and patches.
pub(super) struct Conditions<const D: usize> {
    pub(super) faces: [[FaceCondition<D>; 2]; D],
    pub(super) patches: Vec<PatchCondition<D>>,
    /// Patches whose walls are modelled.
    pub(super) modeled: Vec<usize>,
    pub(super) variations: Vec<Variation<D>>,
    pub(super) sponges: Vec<Sponge>,
    /// The tables with all values resolved.
    pub(super) face_tables: Vec<[FaceTable; 2]>,
    pub(super) patch_tables: Vec<(String, PatchTable)>,
    /// The largest prescribed velocity, in lattice units. Rotating patches are not counted: the case does not know
    /// their distance from the axis.
    pub(super) fastest: f64,
    /// The mean velocity of the open faces, at the start and at its maximum; zero without such faces.
    pub(super) start: [f64; D],
    pub(super) stream: [f64; D],
    /// Mass-flow boundaries.
    pub(super) by_mass: Vec<Place>,
    /// Names of the conditions that are evaluated in each root step.
    pub(super) slow: Vec<String>,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
}

/// The conditions of a case, on a mesh with these patches.
pub(super) fn conditions<const D: usize>(
    case: &Case,
    scale: &Scale<'_, D>,
    names: &[String],
    wall: WallScheme,
) -> Result<Conditions<D>, Error> {
    let wall = (wall, case.numerics.wall_model.unwrap_or_default());
    let mut made = Conditions {
        faces: [[FaceCondition::Periodic; 2]; D],
        patches: Vec::new(),
        modeled: Vec::new(),
        variations: Vec::new(),
        sponges: Vec::new(),
        face_tables: Vec::new(),
        patch_tables: Vec::new(),
        fastest: 0.0,
        start: [0.0; D],
        stream: [0.0; D],
        by_mass: Vec::new(),
        slow: Vec::new(),
        notes: Vec::new(),
    };
    faces(case, scale, &mut made)?;
    made.sponges = sponges(scale, &mut made)?;
    patches(case, scale, names, wall, &mut made)?;
    Ok(made)
}

impl<const D: usize> Conditions<D> {
    /// Adds a velocity to the maximum and the variations; returns its representative vector.
    fn add(&mut self, what: &str, of: BoundaryVelocity<D>) -> [f64; D] {
        self.fastest = self.fastest.max(of.fastest);
        match of.notes.is_empty() {
            true => self.vary(what, of.variation),
            false => self.variations.extend(of.variation),
        }
        self.notes.extend(of.notes);
        of.own
    }

    fn vary(&mut self, what: &str, variation: Option<Variation<D>>) {
        let Some(variation) = variation else { return };
        if matches!(variation.space, Space::Moving(_)) {
            self.slow.push(what.to_owned());
        }
        self.variations.push(variation);
    }
}

fn faces<const D: usize>(
    case: &Case,
    scale: &Scale<'_, D>,
    made: &mut Conditions<D>,
) -> Result<(), Error> {
    let given = case.boundary.faces();
    let (mut starts, mut streams, mut through) = ([0.0; D], [0.0; D], 0.0);
    for axis in 0..3 {
        let mut pair = Vec::new();
        for side in 0..2 {
            let what = format!("[boundary] \"{}\"", FACES[axis][side]);
            match given[axis][side] {
                Some(_) if axis >= D => {
                    return Err(Error::input(format!("{what} is not a face of a {D}D mesh"))
                        .hint("remove it"));
                }
                None if axis < D => {
                    return Err(missing(&what).hint(
                        "types: velocity, mass-flow, pressure, far-field, periodic, no-slip, free-slip, outflow",
                    ));
                }
                Some(table) => {
                    let opening = Opening {
                        what: &what,
                        place: Place::Face(axis, side),
                        inward: Some(inward(axis, side)),
                        walls: walls(case, scale.frame, axis),
                        periodic: case.boundary.periodic(),
                        by_mass: table.kind == FaceKind::MassFlow,
                        turbulence: table.turbulence.as_ref(),
                        scale,
                    };
                    let (condition, table, start) = face(&opening, table, made)?;
                    if let FaceCondition::Velocity(v) | FaceCondition::FarField { velocity: v, .. } =
                        condition
                        && v[axis] != 0.0
                    {
                        through += 1.0;
                        (0..D).for_each(|a| starts[a] += start[a]);
                        (0..D).for_each(|a| streams[a] += v[a]);
                    }
                    made.faces[axis][side] = condition;
                    pair.push(table);
                }
                None => {}
            }
        }
        if let Ok(pair) = <[FaceTable; 2]>::try_from(pair) {
            let [lower, upper] = &pair;
            if (lower.kind == FaceKind::Periodic) != (upper.kind == FaceKind::Periodic) {
                let [lower, upper] = FACES[axis];
                return Err(Error::input(format!(
                    "[boundary] \"{lower}\" or \"{upper}\" is periodic, the other is not"
                ))
                .hint("make both periodic, or neither"));
            }
            made.face_tables.push(pair);
        }
    }
    let mean = |s: f64| if through > 0.0 { s / through } else { 0.0 };
    (made.start, made.stream) = (starts.map(mean), streams.map(mean));
    Ok(())
}

/// The unit normal into the box.
fn inward<const D: usize>(axis: usize, side: usize) -> [f64; D] {
    let mut normal = [0.0; D];
    normal[axis] = if side == 0 { 1.0 } else { -1.0 };
    normal
}

/// Axes along the faces of `axis` that are bounded by no-slip walls on both sides, with the wall positions; or by a
/// wall and a symmetry plane, with the wall and its mirror image.
fn walls<const D: usize>(case: &Case, frame: &Frame<D>, axis: usize) -> Vec<(usize, [f64; 2])> {
    let given = case.boundary.faces();
    let kind = |a: usize, side: usize| given[a][side].as_ref().map(|table| table.kind);
    let others = (0..D).filter(|&a| a != axis);
    let bounded = others.filter_map(|a| {
        let low = frame.origin[a];
        let high = low + frame.dx * f64::from(frame.root_cells[a]);
        match (kind(a, 0)?, kind(a, 1)?) {
            (FaceKind::NoSlip, FaceKind::NoSlip) => Some((a, [low, high])),
            (FaceKind::NoSlip, FaceKind::FreeSlip) => Some((a, [low, 2.0 * high - low])),
            (FaceKind::FreeSlip, FaceKind::NoSlip) => Some((a, [2.0 * low - high, high])),
            _ => None,
        }
    });
    bounded.collect()
}

/// Checks that a velocity has no keys that its type and profile do not use.
fn check_keys(
    what: &str,
    kind: &str,
    keys: &Keys,
    pressure: bool,
    turns: bool,
) -> Result<(), Error> {
    let (by_velocity, by_mass) = (
        ["velocity", "far-field"].contains(&kind),
        kind == "mass-flow",
    );
    let flows = by_velocity || by_mass;
    let profile = keys.profile.as_deref().filter(|_| flows);
    let parabolic = profile == Some("parabolic");
    let power = profile == Some("power-law");
    let by_table = flows && keys.table.is_some();
    let quoted = match profile {
        Some(profile) => format!("{kind}\" and its profile \"{profile}"),
        None => kind.to_owned(),
    };
    let plain = (profile.is_none() && !by_table) || power;
    only(
        what,
        &quoted,
        &[
            ("velocity", keys.velocity.is_some(), by_velocity && plain),
            (
                "pressure",
                pressure,
                ["pressure", "far-field"].contains(&kind),
            ),
            ("profile", keys.profile.is_some(), flows && !by_table),
            ("table", keys.table.is_some(), flows),
            ("mean", keys.mean.is_some(), parabolic && by_velocity),
            ("max", keys.max.is_some(), parabolic && by_velocity),
            ("center", keys.center.is_some(), parabolic || turns),
            ("radius", keys.radius.is_some(), parabolic),
            ("exponent", keys.exponent.is_some(), power),
            ("reference_height", keys.reference_height.is_some(), power),
            ("axis", keys.axis.is_some(), power),
            ("direction", keys.direction.is_some(), by_mass || parabolic),
            ("mass_flow", keys.mass_flow.is_some(), by_mass),
            (
                "ramp",
                keys.ramp.is_some(),
                flows || turns || kind == "pressure",
            ),
        ],
    )
}

/// The density of a pressure boundary, its variation, and the resolved table.
fn pressure<const D: usize>(
    what: &str,
    place: Place,
    given: Option<&Value>,
    length: Option<f64>,
    scale: &Scale<'_, D>,
) -> Result<(f64, Option<Variation<D>>, Value, f64), Error> {
    let value = given.cloned().unwrap_or(Value::Number(0.0));
    let name = format!("{what} pressure");
    let scope = value::scope(D, true, &scale.physics);
    let expression = value.expression(&name, &scope)?;
    let constant = expression.constant();
    let usual = match constant {
        Some(0.0) => 0.0,
        _ if expression.depends_on_time() => 0.0,
        _ => scale.ramp,
    };
    let length = scale.ramp(what, length, usual)?;
    if let (Some(constant), true) = (constant, length == 0.0) {
        return Ok((scale.pressure(&name, constant)?, None, value, length));
    }
    let own = match constant {
        Some(constant) => scale.pressure(&name, constant)?,
        None => 1.0,
    };
    let factor = 3.0 / (scale.density * scale.units.velocity().powi(2));
    let (to_place, second) = (scale.to_place(), scale.units.time);
    let share = move |t: f64| if length > 0.0 { ramp(t, length) } else { 1.0 };
    let key = format!("{expression:?} ramp {length}");
    let (space, time): (Space<D>, Option<OfTime<D>>) = match expression.factors() {
        _ if !expression.depends_on_space() => {
            let time = move |t: f64| {
                let t = t * second;
                expression.at(&[], t).map(|p| [p * factor * share(t); D])
            };
            (Space::Uniform, Some(Arc::new(time)))
        }
        Some([place, time]) => {
            let of_time =
                move |t: f64| time.at(&[], t * second).map(|p| [p * share(t * second); D]);
            let steady = move |x| place.at(&to_place(x), 0.0).map(|p| [p * factor; D]);
            (Space::Steady(Arc::new(steady)), Some(Arc::new(of_time)))
        }
        None => {
            let expression = Arc::new(expression);
            let moving = move |t: f64| {
                let (t, expression) = (t * second, expression.clone());
                let share = share(t);
                let at = move |x| expression.at(&to_place(x), t);
                Box::new(move |x| at(x).map(|p| [p * factor * share; D])) as AtTime<D>
            };
            (Space::Moving(Arc::new(moving)), None)
        }
    };
    let variation = Variation {
        place,
        name,
        key,
        space,
        time,
    };
    Ok((own, Some(variation), value, length))
}

/// The acceleration in lattice units and its variation.
pub(super) fn acceleration<const D: usize>(
    given: Option<&Vec<Value>>,
    scale: &Scale<'_, D>,
) -> Result<([f64; D], Option<Variation<D>>), Error> {
    const WHAT: &str = "[physics] acceleration";
    let zeros = vec![Value::Number(0.0); D];
    let scope = value::scope(0, true, &scale.physics);
    let of = value::vector::<D>(WHAT, given.unwrap_or(&zeros), &scope)?;
    let factor = |a: f64| a * scale.units.time / scale.units.velocity();
    let constants = of.each_ref().map(|of| of.constant());
    if constants.iter().all(Option::is_some) {
        return Ok((constants.map(|a| factor(a.unwrap_or(0.0))), None));
    }
    let (second, per) = (scale.units.time, factor(1.0));
    let key = format!("{of:?}");
    let time = move |t: f64| {
        let mut values = [0.0; D];
        for (value, of) in values.iter_mut().zip(&of) {
            *value = of.at(&[], t * second)? * per;
        }
        Ok(values)
    };
    let variation = Variation {
        place: Place::Acceleration,
        name: WHAT.into(),
        key,
        space: Space::Uniform,
        time: Some(Arc::new(time)),
    };
    Ok(([0.0; D], Some(variation)))
}

/// The condition of a face, its resolved table, and its initial velocity.
fn face<const D: usize>(
    opening: &Opening<'_, D>,
    given: &FaceTable,
    made: &mut Conditions<D>,
) -> Result<(FaceCondition<D>, FaceTable, [f64; D]), Error> {
    let (what, kind) = (opening.what, given.kind);
    let name = match kind {
        FaceKind::Velocity => "velocity",
        FaceKind::MassFlow => "mass-flow",
        FaceKind::Pressure => "pressure",
        FaceKind::Periodic => "periodic",
        FaceKind::NoSlip => "no-slip",
        FaceKind::FreeSlip => "free-slip",
        FaceKind::Outflow => "outflow",
        FaceKind::FarField => "far-field",
    };
    let keys = Keys::from(given);
    check_keys(what, name, &keys, given.pressure.is_some(), false)?;
    let turbulent = given.turbulence.is_some();
    let is_velocity = kind == FaceKind::Velocity;
    only(what, name, &[("turbulence", turbulent, is_velocity)])?;
    let mut table = given.clone();
    let mut start = [0.0; D];
    let condition = match kind {
        FaceKind::Velocity | FaceKind::MassFlow => {
            let (of, keys) = velocity(opening, keys)?;
            keys.write_face(&mut table);
            table.turbulence = of.turbulence.clone();
            start = of.start;
            if opening.by_mass {
                made.by_mass.push(opening.place);
            }
            FaceCondition::Velocity(made.add(what, of))
        }
        FaceKind::Pressure => {
            let (place, value) = (opening.place, given.pressure.as_ref());
            let (density, variation, value, ramp) =
                pressure(what, place, value, given.ramp, opening.scale)?;
            (table.pressure, table.ramp) = (Some(value), Some(ramp));
            made.vary(what, variation);
            FaceCondition::Pressure(density)
        }
        FaceKind::Periodic => FaceCondition::Periodic,
        FaceKind::NoSlip => FaceCondition::Velocity([0.0; D]),
        FaceKind::FreeSlip => FaceCondition::FreeSlip,
        FaceKind::Outflow => FaceCondition::Outflow,
        FaceKind::FarField => {
            let (of, keys) = velocity(opening, keys)?;
            keys.write_face(&mut table);
            start = of.start;
            let name = format!("{what} pressure");
            let value = table.pressure.get_or_insert(Value::Number(0.0));
            let scope = value::scope(D, true, &opening.scale.physics);
            let pressure = value.expression(&name, &scope)?.constant().ok_or_else(|| {
                Error::input(format!("{name} varies"))
                    .hint("the pressure of a far-field face must be a number")
            })?;
            FaceCondition::FarField {
                velocity: made.add(what, of),
                density: opening.scale.pressure(&name, pressure)?,
            }
        }
    };
    Ok((condition, table, start))
}

/// Conditions of the patches of the mesh, and their resolved tables; a patch without a table is a no-slip wall.
fn patches<const D: usize>(
    case: &Case,
    scale: &Scale<'_, D>,
    names: &[String],
    (wall, wall_model): (WallScheme, WallModelName),
    made: &mut Conditions<D>,
) -> Result<(), Error> {
    if let Some(unknown) = case.patches.keys().find(|name| !names.contains(name)) {
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        return Err(
            Error::input(format!("[patches.{unknown}] is not a patch of the mesh"))
                .hint(suggestion("name", unknown, &known)),
        );
    }
    for (at, name) in names.iter().enumerate() {
        let mut given = case.patches.get(name).cloned().unwrap_or_default();
        if given.kind == PatchKind::Wall {
            given.wall_model.get_or_insert(wall_model);
        }
        let is_modeled = given.wall_model == Some(WallModelName::Equilibrium);
        let what = format!("[patches.{name}]");
        let opening = Opening {
            what: &what,
            place: Place::Patch(at),
            inward: None,
            walls: Vec::new(),
            periodic: Axes::default(),
            turbulence: None,
            by_mass: given.kind == PatchKind::MassFlow,
            scale,
        };
        let (condition, table) = patch(&opening, given, wall, made)?;
        if is_modeled {
            let place = opening.place;
            if made.variations.iter().any(|v| v.place == place) {
                return Err(Error::input(format!(
                    "{what} has a wall model, and its velocity varies in place or time"
                ))
                .hint("a modelled wall is at rest or moves steadily: add ramp = 0, or remove wall_model"));
            }
            let scheme = WallScheme::BounceBack;
            if matches!(&condition, PatchCondition::Wall { scheme: of, .. } if *of == scheme) {
                return Err(Error::input(format!(
                    "{what} has a wall model, which needs the distances of the wall, and wall = \"{scheme}\" has none"
                ))
                .hint("use wall = \"linear\", \"quadratic\" or \"local\""));
            }
            made.modeled.push(at);
        }
        made.patches.push(condition);
        made.patch_tables.push((name.clone(), table));
    }
    Ok(())
}

fn patch<const D: usize>(
    opening: &Opening<'_, D>,
    given: PatchTable,
    wall: WallScheme,
    made: &mut Conditions<D>,
) -> Result<(PatchCondition<D>, PatchTable), Error> {
    let Opening {
        what, scale, place, ..
    } = opening;
    let kind = given.kind;
    let name = match kind {
        PatchKind::Wall => "wall",
        PatchKind::Velocity => "velocity",
        PatchKind::MassFlow => "mass-flow",
        PatchKind::Rotating => "rotating",
        PatchKind::Pressure => "pressure",
    };
    let rotating = kind == PatchKind::Rotating;
    let keys = Keys::from(&given);
    check_keys(what, name, &keys, given.pressure.is_some(), rotating)?;
    let others = [
        ("wall", given.wall.is_some(), kind != PatchKind::Pressure),
        ("omega", given.omega.is_some(), rotating),
        (
            "wall_model",
            given.wall_model.is_some(),
            !matches!(kind, PatchKind::Pressure | PatchKind::MassFlow),
        ),
    ];
    only(what, name, &others)?;
    let mut table = given;
    let motion = match kind {
        PatchKind::Wall => Motion::Uniform([0.0; D]),
        PatchKind::Velocity | PatchKind::MassFlow => {
            let (of, keys) = velocity(opening, keys)?;
            keys.write_patch(&mut table);
            if opening.by_mass {
                made.by_mass.push(*place);
            }
            Motion::Uniform(made.add(what, of))
        }
        PatchKind::Rotating => {
            let length = scale.ramp(what, table.ramp, 0.0)?;
            table.ramp = Some(length);
            let second = scale.units.time;
            let share = move |t: f64| Ok([ramp(t * second, length); D]);
            let variation = (length > 0.0).then(|| Variation {
                place: *place,
                name: format!("{what} ramp"),
                key: length.to_string(),
                space: Space::Uniform,
                time: Some(Arc::new(share) as OfTime<D>),
            });
            made.vary(what, variation);
            Motion::Rotation {
                center: scale.point(&format!("{what} center"), &table.center)?,
                omega: scale.omega(&format!("{what} omega"), &table.omega)?,
            }
        }
        PatchKind::Pressure => {
            let (density, variation, value, ramp) =
                pressure(what, *place, table.pressure.as_ref(), table.ramp, scale)?;
            (table.pressure, table.ramp) = (Some(value), Some(ramp));
            made.vary(what, variation);
            return Ok((PatchCondition::Pressure(density), table));
        }
    };
    let scheme = *table.wall.get_or_insert(wall);
    Ok((PatchCondition::Wall { scheme, motion }, table))
}
