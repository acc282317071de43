//! Velocities of faces and patches: constants, expressions, tables and predefined profiles, with ramps; in units of the
//! root lattice.

use crate::solve::{
    case::{AxisName, FaceTable, PatchTable, TurbulenceTable},
    conditions::Scale,
    resolve::missing,
    turbulence,
    value::{self, Value},
};
use cutlink_common::Error;
use cutlink_flow::setting::positive;
use cutlink_meshing::options::Axes;
use cutlink_prescribed::{
    expression::{Expression, ramp},
    profile::{self, ProfileTable},
};
use cutlink_solver::{AtTime, OfTime, Place, Space, Values, Variation};
use std::{collections::BTreeMap, path::Path, sync::Arc};

/// Default exponent of the power law.
const EXPONENT: f64 = 1.0 / 7.0;
/// Sample points per axis, and sample times of a run, for the maximum of a velocity.
const SAMPLES: usize = 12;

macro_rules! keys {
    ($($key:ident: $type:ty),+ $(,)?) => {
        /// The keys of a velocity, of a face or a patch.
        #[derive(Debug, Clone, Default)]
        pub(super) struct Keys {
            $(pub(super) $key: $type,)+
        }

        impl From<&FaceTable> for Keys {
            fn from(table: &FaceTable) -> Self {
                Self { $($key: table.$key.clone(),)+ }
            }
        }

        impl From<&PatchTable> for Keys {
            fn from(table: &PatchTable) -> Self {
                Self { $($key: table.$key.clone(),)+ }
            }
        }

        impl Keys {
            pub(super) fn write_face(self, table: &mut FaceTable) {
                $(table.$key = self.$key;)+
            }

            pub(super) fn write_patch(self, table: &mut PatchTable) {
                $(table.$key = self.$key;)+
            }
        }
    };
}
keys!(
    velocity: Option<Vec<Value>>,
    table: Option<BTreeMap<String, Vec<f64>>>,
    profile: Option<String>,
    mean: Option<f64>,
    max: Option<f64>,
    center: Option<Vec<f64>>,
    radius: Option<f64>,
    exponent: Option<f64>,
    reference_height: Option<f64>,
    axis: Option<AxisName>,
    direction: Option<Vec<f64>>,
    mass_flow: Option<f64>,
    ramp: Option<f64>,
);

/// A face or patch that needs a velocity.
pub(super) struct Opening<'a, const D: usize> {
    /// Its name in messages.
    pub(super) what: &'a str,
    pub(super) place: Place,
    /// For a face, the unit normal into the box.
    pub(super) inward: Option<[f64; D]>,
    /// Axes along a face that are bounded by no-slip walls, with the wall positions; beyond a symmetry plane that of
    /// the mirror image.
    pub(super) walls: Vec<(usize, [f64; 2])>,
    /// Axes along which the box is periodic.
    pub(super) periodic: Axes,
    /// Whether a mass flow is given.
    pub(super) by_mass: bool,
    pub(super) turbulence: Option<&'a TurbulenceTable>,
    pub(super) scale: &'a Scale<'a, D>,
}

/// A velocity, in units of the root lattice.
pub(super) struct BoundaryVelocity<const D: usize> {
    /// Its representative vector: the mean over a face at the time of its maximum.
    pub(super) own: [f64; D],
    /// The same at the start.
    pub(super) start: [f64; D],
    /// Its maximum speed at the sample points.
    pub(super) fastest: f64,
    /// Its variation in space and time, if it is not constant.
    pub(super) variation: Option<Variation<D>>,
    /// Its turbulence, with all values resolved.
    pub(super) turbulence: Option<TurbulenceTable>,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
}

/// A velocity in the user's units, without the ramp.
#[derive(Debug, Clone, PartialEq)]
enum Source<const D: usize> {
    Expressions([Expression; D]),
    Table(ProfileTable),
}

impl<const D: usize> Source<D> {
    fn at(&self, x: [f64; D], t: f64) -> Values<D> {
        match self {
            Self::Table(table) => Ok(table.at(x)),
            Self::Expressions(of) => {
                let mut values = [0.0; D];
                for (value, of) in values.iter_mut().zip(of) {
                    *value = of.at(&x, t)?;
                }
                Ok(values)
            }
        }
    }

    fn constant(&self) -> Option<[f64; D]> {
        let Self::Expressions(of) = self else {
            return None;
        };
        let values: Option<Vec<f64>> = of.iter().map(Expression::constant).collect();
        values.and_then(|values| values.try_into().ok())
    }

    fn depends_on_time(&self) -> bool {
        matches!(self, Self::Expressions(of) if of.iter().any(Expression::depends_on_time))
    }
}

/// The velocity given by some keys, and the keys with all values resolved.
///
/// # Errors
/// Keys that are missing, out of range or incompatible; invalid expressions.
pub(super) fn velocity<const D: usize>(
    opening: &Opening<'_, D>,
    keys: Keys,
) -> Result<(BoundaryVelocity<D>, Keys), Error> {
    let Opening { what, scale, .. } = opening;
    let mut keys = keys;
    let (source, keys_of_velocity) = source(opening, &keys)?;
    // A mass flow stays as given: its velocity follows from the mesh.
    if opening.by_mass {
        keys.table = keys_of_velocity.table.or(keys.table);
    } else {
        let ramp = keys.ramp;
        keys = keys_of_velocity;
        keys.ramp = ramp;
    }
    if keys.table.is_some() {
        keys.profile = None;
    }
    let factor = match opening.by_mass {
        false => 1.0,
        true => speed_by_mass(opening, &keys)?,
    };
    // A uniform stream that fills the box from the start needs no ramp: from rest, sound waves would have to accelerate
    // the fluid.
    let is_stream = matches!(opening.place, Place::Face(..)) && source.constant().is_some();
    let usual = match source.depends_on_time() || is_stream || is_still(&source) {
        true => 0.0,
        false => scale.ramp,
    };
    let length = scale.ramp(what, keys.ramp, usual)?;
    keys.ramp = Some(length);
    let mean = make(opening, &source, factor, length);
    match opening.turbulence {
        None => Ok((mean, keys)),
        Some(table) => Ok((turbulence::add(opening, table, length, mean)?, keys)),
    }
}

fn is_still<const D: usize>(source: &Source<D>) -> bool {
    source.constant() == Some([0.0; D])
}

fn make<const D: usize>(
    opening: &Opening<'_, D>,
    source: &Source<D>,
    factor: f64,
    length: f64,
) -> BoundaryVelocity<D> {
    let scale = opening.scale;
    let to_lattice = scale.units.velocity();
    if let Some(constant) = source.constant() {
        let own = constant.map(|u| u * factor / to_lattice);
        let time = (length > 0.0).then(|| ramped(scale, own, length));
        return BoundaryVelocity {
            own,
            start: if length > 0.0 { [0.0; D] } else { own },
            fastest: norm(&own),
            variation: time.map(|time| Variation {
                place: opening.place,
                name: format!("{} velocity", opening.what),
                key: format!("{source:?} {factor} ramp {length}"),
                space: Space::Uniform,
                time: Some(time),
            }),
            turbulence: None,
            notes: Vec::new(),
        };
    }
    let (space, time) = parts(scale, source, factor / to_lattice, length);
    let seen = sizes(opening, source, factor / to_lattice);
    let start = match length > 0.0 {
        true => [0.0; D],
        false => seen.start,
    };
    let place = opening.place;
    BoundaryVelocity {
        own: seen.own,
        start,
        fastest: seen.fastest,
        variation: Some(Variation {
            place,
            name: format!("{} velocity", opening.what),
            key: format!("{source:?} {factor} ramp {length}"),
            space,
            time,
        }),
        turbulence: None,
        notes: Vec::new(),
    }
}

pub(super) fn norm<const D: usize>(v: &[f64; D]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

fn ramped<const D: usize>(scale: &Scale<'_, D>, own: [f64; D], length: f64) -> OfTime<D> {
    let second = scale.units.time;
    Arc::new(move |t| {
        let share = ramp(t * second, length);
        Ok(own.map(|u| u * share))
    })
}

/// Space and time factors of a velocity that is not constant; `factor` converts the user's units to lattice units.
fn parts<const D: usize>(
    scale: &Scale<'_, D>,
    source: &Source<D>,
    factor: f64,
    length: f64,
) -> (Space<D>, Option<OfTime<D>>) {
    let (to_place, second) = (scale.to_place(), scale.units.time);
    let share = move |t: f64| if length > 0.0 { ramp(t, length) } else { 1.0 };
    let whole = source.clone();
    let Source::Expressions(of) = source else {
        let steady = Arc::new(move |x| whole.at(to_place(x), 0.0).map(|u| u.map(|u| u * factor)));
        let time =
            (length > 0.0).then(|| Arc::new(move |t| Ok([share(t * second); D])) as OfTime<D>);
        return (Space::Steady(steady), time);
    };
    let factors: Option<Vec<[Expression; 2]>> = of.iter().map(Expression::factors).collect();
    let Some(factors) = factors else {
        let whole = Arc::new(whole);
        let moving = Arc::new(move |t: f64| {
            let (t, whole) = (t * second, whole.clone());
            let size = factor * share(t);
            Box::new(move |x| whole.at(to_place(x), t).map(|u| u.map(|u| u * size))) as AtTime<D>
        });
        return (Space::Moving(moving), None);
    };
    if !of.iter().any(Expression::depends_on_space) {
        let time = move |t: f64| {
            let t = t * second;
            let size = factor * share(t);
            whole.at([0.0; D], t).map(|u| u.map(|u| u * size))
        };
        return (Space::Uniform, Some(Arc::new(time)));
    }
    let pick = |n: usize| -> Source<D> {
        let one: Vec<Expression> = factors.iter().map(|pair| pair[n].clone()).collect();
        Source::Expressions(one.try_into().expect("there should be D of them"))
    };
    let (places, times) = (pick(0), pick(1));
    let steady = Arc::new(move |x| places.at(to_place(x), 0.0).map(|u| u.map(|u| u * factor)));
    let is_steady = length == 0.0 && !source.depends_on_time();
    let time = (!is_steady).then(|| {
        Arc::new(move |t: f64| {
            let t = t * second;
            times.at([0.0; D], t).map(|u| u.map(|u| u * share(t)))
        }) as OfTime<D>
    });
    (Space::Steady(steady), time)
}

/// Sampled magnitudes of a velocity, in lattice units.
struct Sizes<const D: usize> {
    own: [f64; D],
    start: [f64; D],
    fastest: f64,
}

/// Samples a velocity at points of its face (for a patch: of the box) and at times of the run. Points where it is NaN
/// are skipped: they may be solid.
fn sizes<const D: usize>(opening: &Opening<'_, D>, source: &Source<D>, factor: f64) -> Sizes<D> {
    let scale = opening.scale;
    let frame = scale.frame;
    let fixed = match opening.place {
        Place::Face(axis, side) => Some((axis, side as f64)),
        _ => None,
    };
    let counts: [usize; D] = std::array::from_fn(|a| match fixed {
        Some((axis, _)) if axis == a => 1,
        _ => SAMPLES,
    });
    let place = |n: usize| -> [f64; D] {
        let mut rest = n;
        std::array::from_fn(|a| {
            let share = (rest % counts[a]) as f64 + 0.5;
            rest /= counts[a];
            let share = match fixed {
                Some((axis, side)) if axis == a => side,
                _ => share / counts[a] as f64,
            };
            frame.origin[a] + share * frame.dx * f64::from(frame.root_cells[a])
        })
    };
    let places: usize = counts.iter().product();
    let times = if source.depends_on_time() { SAMPLES } else { 1 };
    let mut found = Sizes {
        own: [0.0; D],
        start: [0.0; D],
        fastest: 0.0,
    };
    for n in 0..times {
        let t = scale.end * n as f64 / SAMPLES as f64;
        let values = (0..places).filter_map(|p| source.at(place(p), t).ok());
        let (mut sum, mut count, mut most) = ([0.0; D], 0.0, [0.0; D]);
        for value in values {
            let value = value.map(|u| u * factor);
            (0..D).for_each(|a| sum[a] += value[a]);
            count += 1.0;
            if norm(&value) > norm(&most) {
                most = value;
            }
        }
        let mean = sum.map(|s| s / f64::max(count, 1.0));
        if n == 0 {
            found.start = mean;
        }
        if norm(&most) > found.fastest {
            found.fastest = norm(&most);
            found.own = match fixed {
                Some(_) if norm(&mean) > 1e-9 * norm(&most) => mean,
                _ => most,
            };
        }
    }
    found
}

/// The source of a velocity, and the keys that define it.
fn source<const D: usize>(
    opening: &Opening<'_, D>,
    keys: &Keys,
) -> Result<(Source<D>, Keys), Error> {
    let Opening { what, scale, .. } = opening;
    if let Some(columns) = &keys.table {
        let table = ProfileTable::new::<D>(&format!("{what} table"), columns)?;
        return Ok((Source::Table(table), keys.clone()));
    }
    let velocity = match keys.profile.as_deref() {
        None if opening.by_mass => {
            let direction = direction(opening, keys)?;
            direction.map(Value::Number).to_vec()
        }
        None => {
            let how = format!("give {D} numbers or expressions");
            let given = keys.velocity.clone();
            given.ok_or_else(|| missing(&format!("{what} velocity")).hint(how))?
        }
        Some("parabolic") => parabola(opening, keys)?,
        Some("power-law") => power_law(opening, keys)?,
        Some(path) if is_file(path) => {
            let what = format!("{what} profile");
            let columns = profile::read(&what, Path::new(path))?;
            let table = ProfileTable::new::<D>(&what, &columns)?;
            let keys = Keys {
                table: Some(columns),
                ..Keys::default()
            };
            return Ok((Source::Table(table), keys));
        }
        Some(other) => {
            return Err(Error::input(format!("{what} profile is \"{other}\""))
                .hint("profiles: parabolic, power-law, or a file that ends in .csv"));
        }
    };
    let scope = value::scope(D, true, &scale.physics);
    let expressions = value::vector::<D>(&format!("{what} velocity"), &velocity, &scope)?;
    let keys = Keys {
        velocity: Some(velocity),
        ..Keys::default()
    };
    Ok((Source::Expressions(expressions), keys))
}

fn is_file(path: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("csv"))
}

/// The unit vector of the inflow direction.
fn direction<const D: usize>(opening: &Opening<'_, D>, keys: &Keys) -> Result<[f64; D], Error> {
    let what = format!("{} direction", opening.what);
    let given = match (&keys.direction, opening.inward) {
        (None, Some(inward)) => return Ok(inward),
        (None, None) => {
            return Err(missing(&what).hint(format!("give {D} numbers that point into the fluid")));
        }
        (given, _) => opening.scale.vector(&what, given)?,
    };
    match norm(&given) {
        0.0 => Err(Error::input(format!("{what} is zero")).hint("give the direction of the flow")),
        length => Ok(given.map(|v| v / length)),
    }
}

fn parabola<const D: usize>(opening: &Opening<'_, D>, keys: &Keys) -> Result<Vec<Value>, Error> {
    let what = opening.what;
    let normal = direction(opening, keys)?;
    // Ratio of the maximum velocity to the mean.
    let (shape, peak) = match (&keys.center, keys.radius) {
        (None, None) if !opening.walls.is_empty() => {
            let peak = 1.5f64.powi(opening.walls.len() as i32);
            (profile::channel(&opening.walls), peak)
        }
        (Some(_), Some(radius)) => {
            let center = opening
                .scale
                .vector(&format!("{what} center"), &keys.center)?;
            let radius = positive(&format!("{what} radius"), radius)?;
            let peak = if D == 2 { 1.5 } else { 2.0 };
            (profile::round(center, radius, normal), peak)
        }
        _ => {
            return Err(Error::input(format!("{what} is parabolic, but no walls bound it")).hint(
                "give center and radius of the opening (m), or make the adjacent faces \"no-slip\"",
            ));
        }
    };
    let max = match (keys.mean, keys.max) {
        _ if opening.by_mass => peak,
        (Some(mean), None) => peak * mean,
        (None, Some(max)) => max,
        _ => {
            return Err(Error::input(format!("{what} needs either mean or max"))
                .hint("velocities in m/s; mean is the average over the opening"));
        }
    };
    if !max.is_finite() {
        return Err(
            Error::input(format!("{what} has the maximum velocity {max}")).hint("give m/s"),
        );
    }
    let of = |n: &f64| match *n {
        0.0 => Value::Number(0.0),
        n => Value::Text(format!("{:?}*{shape}", n * max)),
    };
    Ok(normal.iter().map(of).collect())
}

fn power_law<const D: usize>(opening: &Opening<'_, D>, keys: &Keys) -> Result<Vec<Value>, Error> {
    let Opening { what, scale, .. } = opening;
    let axis = match keys.axis {
        None => D - 1,
        Some(axis) => axis as usize,
    };
    if axis >= D {
        return Err(
            Error::input(format!("{what} axis is {axis:?}, but the mesh is {D}D"))
                .hint("omit axis to use the last one"),
        );
    }
    let name = format!("{what} reference_height");
    let height = keys
        .reference_height
        .ok_or_else(|| missing(&name).hint("m above the lower face"))?;
    let height = positive(&name, height)?;
    let exponent = positive(
        &format!("{what} exponent"),
        keys.exponent.unwrap_or(EXPONENT),
    )?;
    let shape = profile::power_law(axis, scale.frame.origin[axis], height, exponent);
    if opening.by_mass {
        let along = direction(opening, keys)?;
        return Ok(along
            .iter()
            .map(|n| Value::Text(format!("({n:?})*{shape}")))
            .collect());
    }
    let name = format!("{what} velocity");
    let given = keys.velocity.as_ref();
    let given =
        given.ok_or_else(|| missing(&name).hint("the velocity at reference_height, m/s"))?;
    let of = |value: &Value| match value {
        Value::Number(0.0) => value.clone(),
        Value::Number(value) => Value::Text(format!("({value:?})*{shape}")),
        Value::Text(text) => Value::Text(format!("({text})*{shape}")),
    };
    Ok(given.iter().map(of).collect())
}

/// The speed for a mass flow. Before the area is known, the reference velocity: the flux then follows from the mesh.
fn speed_by_mass<const D: usize>(opening: &Opening<'_, D>, keys: &Keys) -> Result<f64, Error> {
    let Opening {
        what, scale, place, ..
    } = opening;
    let name = format!("{what} mass_flow");
    let given = keys
        .mass_flow
        .ok_or_else(|| missing(&name).hint("kg/s, in 2D per metre of depth"))?;
    let flow = positive(&name, given)?;
    let area = scale.areas.iter().find(|(of, _)| of == place);
    match area {
        None => Ok(scale.physics.velocity),
        Some((_, area)) if *area > 0.0 => Ok(flow / (scale.physics.density * area)),
        Some((_, area)) => Err(Error::input(format!(
            "{what} has no inflow: its area projected on the direction is {area} m{}",
            if D == 3 { "²" } else { "" }
        ))
        .hint("give a direction that points into the fluid")),
    }
}
