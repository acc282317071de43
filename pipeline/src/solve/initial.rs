//! The initial state of a flow: expressions and predefined fields.

use crate::solve::{
    case::{InitialTable, Preset},
    conditions::Scale,
    value::{self, Value},
};
use cutlink_common::Error;
use cutlink_flow::setting::positive;
use cutlink_prescribed::expression::{Expression, ring::THINNEST};
use cutlink_voxelizer::Frame;
use std::f64::consts::TAU;

const AXES: [&str; 3] = ["x", "y", "z"];

/// Initial density and velocity.
#[derive(Debug, Clone, PartialEq)]
pub struct Initial<const D: usize> {
    frame: Frame<D>,
    velocity: [Expression; D],
    pressure: Expression,
    /// From m/s to lattice velocity.
    per_velocity: f64,
    /// From Pa to lattice density.
    per_pressure: f64,
}

impl<const D: usize> Initial<D> {
    /// A uniform velocity, in lattice units.
    pub(super) fn uniform(velocity: [f64; D], scale: &Scale<'_, D>) -> Self {
        Self {
            frame: *scale.frame,
            velocity: velocity.map(Expression::number),
            pressure: Expression::number(0.0),
            per_velocity: 1.0,
            per_pressure: 1.0,
        }
    }

    /// The box.
    pub(super) fn frame(&self) -> &Frame<D> {
        &self.frame
    }

    /// Density and velocity, if they are the same everywhere.
    ///
    /// # Errors
    /// As [`at`](Self::at).
    pub(super) fn same(&self) -> Result<Option<(f64, [f64; D])>, String> {
        let mut all = self.velocity.iter().chain([&self.pressure]);
        match all.all(|of| of.constant().is_some()) {
            true => self.at([0.0; D]).map(Some),
            false => Ok(None),
        }
    }

    /// Density and velocity at a position in root cells.
    ///
    /// # Errors
    /// The quantity that is not a number, and its point.
    pub fn at(&self, x: [f64; D]) -> Result<(f64, [f64; D]), String> {
        let Frame { origin, dx, .. } = self.frame;
        let x: [f64; D] = std::array::from_fn(|a| origin[a] + dx * x[a]);
        let mut velocity = [0.0; D];
        for (value, of) in velocity.iter_mut().zip(&self.velocity) {
            *value = of.at(&x, 0.0)? * self.per_velocity;
        }
        let density = 1.0 + self.pressure.at(&x, 0.0)? * self.per_pressure;
        if density > 0.0 {
            return Ok((density, velocity));
        }
        Err(format!(
            "the pressure \"{}\" is a lattice density of {density} at {x:?} m",
            self.pressure.text()
        ))
    }
}

/// The initial state of a table, and the table with all values resolved. The velocities of the faces are in lattice
/// units: the first is the default initial velocity, the second the free stream.
///
/// # Errors
/// Incompatible keys, invalid expressions.
///
/// With the flow of another run this state is at rest: [`Earlier`](super::earlier::Earlier) replaces it.
pub(super) fn initial<const D: usize>(
    given: Option<&InitialTable>,
    [start, stream]: [[f64; D]; 2],
    scale: &Scale<'_, D>,
) -> Result<(Initial<D>, Option<InitialTable>), Error> {
    let Some(given) = given else {
        return Ok((Initial::uniform(start, scale), None));
    };
    if given.from.is_some() {
        let alone = InitialTable {
            from: given.from.clone(),
            ..InitialTable::default()
        };
        if *given != alone {
            return Err(Error::input("[initial] has from and other keys")
                .hint("from sets the whole initial flow: remove the other keys, or from"));
        }
        return Ok((Initial::uniform([0.0; D], scale), Some(alone)));
    }
    let (mut velocity, mut pressure) = preset(given, stream, scale)?;
    // A vortex is superposed on the free stream.
    if let (Some(given), None) = (&given.velocity, given.preset) {
        velocity = given.clone();
    }
    if given.density.is_some() && given.pressure.is_some() {
        return Err(Error::input("[initial] has both density and pressure")
            .hint("remove one of them: p = (density - [physics] density) c²"));
    }
    if let Some(given) = &given.pressure {
        pressure = given.clone();
    }
    let scope = value::scope(D, false, &scale.physics);
    let to_pressure = scale.density * scale.units.velocity().powi(2) / 3.0;
    if let Some(density) = &given.density {
        // p = c_s² (ρ - ρ0).
        let text = match density {
            Value::Number(value) => format!("{value:?}"),
            Value::Text(text) => text.clone(),
        };
        // Parsed separately first, so that error columns refer to the user's text.
        density.expression("[initial] density", &scope)?;
        pressure = Value::Text(format!("(({text})-density)/density*{to_pressure:?}"));
    }
    let made = Initial {
        frame: *scale.frame,
        velocity: value::vector("[initial] velocity", &velocity, &scope)?,
        pressure: pressure.expression("[initial] pressure", &scope)?,
        per_velocity: 1.0 / scale.units.velocity(),
        per_pressure: 1.0 / to_pressure,
    };
    let table = InitialTable {
        velocity: Some(velocity),
        pressure: Some(pressure),
        ..InitialTable::default()
    };
    Ok((made, Some(table)))
}

/// Refuses keys that a predefined field does not have.
fn check_preset(given: &InitialTable, preset: Preset) -> Result<(), Error> {
    let name = match preset {
        Preset::Rest => "rest",
        Preset::FreeStream => "free-stream",
        Preset::TaylorGreen => "taylor-green",
        Preset::Vortex => "vortex",
        Preset::VortexRing => "vortex-ring",
        Preset::ShearLayer => "shear-layer",
    };
    let is = |of: Preset| preset == of;
    let turns = is(Preset::Vortex) || is(Preset::VortexRing);
    for (key, is_given, taken) in [
        (
            "velocity",
            given.velocity.is_some(),
            given.preset.is_none() || turns,
        ),
        ("center", given.center.is_some(), turns),
        ("radius", given.radius.is_some(), turns),
        (
            "circulation",
            given.circulation.is_some(),
            is(Preset::VortexRing),
        ),
        ("core", given.core.is_some(), is(Preset::VortexRing)),
        ("axis", given.axis.is_some(), is(Preset::VortexRing)),
        (
            "thickness",
            given.thickness.is_some(),
            is(Preset::ShearLayer),
        ),
        (
            "amplitude",
            given.amplitude.is_some(),
            is(Preset::ShearLayer),
        ),
    ] {
        if is_given && !taken {
            return Err(
                Error::input(format!("[initial] has {key}, but preset is \"{name}\""))
                    .hint(format!("remove {key}, or preset")),
            );
        }
    }
    Ok(())
}

/// Velocity and pressure of a predefined field, as expressions.
fn preset<const D: usize>(
    given: &InitialTable,
    stream: [f64; D],
    scale: &Scale<'_, D>,
) -> Result<(Vec<Value>, Value), Error> {
    let preset = given.preset.unwrap_or(Preset::Rest);
    check_preset(given, preset)?;
    let size: [f64; D] =
        std::array::from_fn(|a| scale.frame.dx * f64::from(scale.frame.root_cells[a]));
    // Phase from the lower corner; the box has a length of 2π.
    let phase = |a: usize| {
        format!(
            "{:?}*({}-({:?}))",
            TAU / size[a],
            AXES[a],
            scale.frame.origin[a]
        )
    };
    let text = |text: String| Value::Text(text);
    let mut velocity = vec![Value::Number(0.0); D];
    let mut pressure = Value::Number(0.0);
    match preset {
        Preset::Rest => {}
        Preset::FreeStream => {
            let stream = stream.map(|u| u * scale.units.velocity());
            velocity = stream.map(Value::Number).to_vec();
        }
        Preset::TaylorGreen if D == 2 => {
            let (x, y, skew) = (phase(0), phase(1), size[1] / size[0]);
            velocity[0] = text(format!("velocity*sin({x})*cos({y})"));
            velocity[1] = text(format!("-velocity*{skew:?}*cos({x})*sin({y})"));
            pressure = text(format!(
                "density*velocity^2/4*(cos(2*{x})+{:?}*cos(2*{y}))",
                skew * skew
            ));
        }
        Preset::TaylorGreen if size[0] != size[1] || size[1] != size[D - 1] => {
            return Err(Error::input(format!(
                "[initial] taylor-green needs a cube, the box is {size:?} m"
            ))
            .hint("use expressions for other boxes"));
        }
        Preset::TaylorGreen => {
            let (x, y, z) = (phase(0), phase(1), phase(D - 1));
            velocity[0] = text(format!("velocity*sin({x})*cos({y})*cos({z})"));
            velocity[1] = text(format!("-velocity*cos({x})*sin({y})*cos({z})"));
            pressure = text(format!(
                "density*velocity^2/16*(cos(2*{x})+cos(2*{y}))*(cos(2*{z})+2)"
            ));
        }
        Preset::Vortex => (velocity, pressure) = vortex(given, scale)?,
        Preset::VortexRing => velocity = vortex_ring(given, scale)?,
        Preset::ShearLayer => {
            let thickness = given.thickness.unwrap_or(size[1] / 80.0);
            let thickness = positive("[initial] thickness", thickness)?;
            let amplitude = given.amplitude.unwrap_or(0.05);
            let share = format!("(y-({:?}))", scale.frame.origin[1]);
            let (low, high, half) = (0.25 * size[1], 0.75 * size[1], 0.5 * size[1]);
            velocity[0] = text(format!(
                "velocity*if({share}<{half:?},tanh(({share}-{low:?})/{thickness:?}),tanh(({high:?}-{share})/{thickness:?}))"
            ));
            velocity[1] = text(format!("{amplitude:?}*velocity*sin({})", phase(0)));
        }
    }
    Ok((velocity, pressure))
}

/// A vortex about an axis along z with the maximum velocity `velocity` at its radius, which decays as exp(-r²/2R²): a
/// solution of the Euler equations, convected by the free stream.
fn vortex<const D: usize>(
    given: &InitialTable,
    scale: &Scale<'_, D>,
) -> Result<(Vec<Value>, Value), Error> {
    let center = center(given, scale)?;
    let radius = given.radius.unwrap_or(scale.physics.length);
    let radius = positive("[initial] radius", radius)?;
    let from = |a: usize| format!("({}-({:?}))", AXES[a], center[a]);
    let square = format!("({}^2+{}^2)/{:?}", from(0), from(1), radius * radius);
    let turn = |a: usize, sign: &str| {
        format!(
            "{sign}velocity*{}/{radius:?}*exp(0.5*(1-{square}))",
            from(a)
        )
    };
    let mut velocity = stream::<D>(given)?;
    velocity[0] = sum(&velocity[0], turn(1, "-"));
    velocity[1] = sum(&velocity[1], turn(0, ""));
    let pressure = format!("-0.5*density*velocity^2*exp(1-{square})");
    Ok((velocity, Value::Text(pressure)))
}

/// A vortex ring with a Gaussian core in fluid at rest or in a stream, which moves along its axis (`expression::ring`).
fn vortex_ring<const D: usize>(
    given: &InitialTable,
    scale: &Scale<'_, D>,
) -> Result<Vec<Value>, Error> {
    if D == 2 {
        return Err(
            Error::input("[initial] preset \"vortex-ring\" needs a box in 3D")
                .hint("in 2D, use preset = \"vortex\""),
        );
    }
    let center = center(given, scale)?;
    let radius = given.radius.unwrap_or(scale.physics.length);
    let radius = positive("[initial] radius", radius)?;
    let core = positive("[initial] core", given.core.unwrap_or(0.2 * radius))?;
    if core > radius || core < THINNEST * radius {
        return Err(Error::input(format!(
            "[initial] core is {core} m, not between {} and 1 times the radius of the ring, {radius} m",
            THINNEST
        ))
        .hint("give the radius at which the vorticity of the core has fallen to 1/e"));
    }
    let circulation = match given.circulation {
        None => "velocity*length".to_owned(),
        Some(circulation) if circulation.is_finite() => format!("{circulation:?}"),
        Some(circulation) => {
            let message = format!("[initial] circulation is {circulation}, not a number");
            return Err(Error::input(message).hint("give it in m²/s"));
        }
    };
    let along = given.axis.map_or(0, |axis| axis as usize);
    let from = |a: usize| format!("({}-({:?}))", AXES[a], center[a]);
    let away = format!("hypot({},{})", from((along + 1) % D), from((along + 2) % D));
    let ring = |what: &str| {
        format!(
            "{circulation}*ring_{what}({},{away},{radius:?},{core:?})",
            from(along)
        )
    };
    let mut velocity = stream::<D>(given)?;
    for (a, value) in velocity.iter_mut().enumerate() {
        let more = match a == along {
            true => ring("axial"),
            // The radial velocity vanishes on the axis.
            false => format!(
                "{}*{}/max({away},{:?})",
                ring("radial"),
                from(a),
                1e-9 * radius
            ),
        };
        *value = sum(value, more);
    }
    Ok(velocity)
}

/// The given centre, or the middle of the box.
fn center<const D: usize>(given: &InitialTable, scale: &Scale<'_, D>) -> Result<[f64; D], Error> {
    let frame = scale.frame;
    match &given.center {
        None => Ok(std::array::from_fn(|a| {
            frame.origin[a] + 0.5 * frame.dx * f64::from(frame.root_cells[a])
        })),
        given => scale.vector("[initial] center", given),
    }
}

/// The given velocity of the background.
fn stream<const D: usize>(given: &InitialTable) -> Result<Vec<Value>, Error> {
    match &given.velocity {
        None => Ok(vec![Value::Number(0.0); D]),
        Some(stream) if stream.len() == D => Ok(stream.clone()),
        Some(stream) => {
            let message = format!(
                "[initial] velocity has {} numbers, but the mesh is {D}D",
                stream.len()
            );
            Err(Error::input(message).hint(format!("give {D} numbers or expressions")))
        }
    }
}

/// The sum of a value and an expression.
fn sum(value: &Value, more: String) -> Value {
    match value {
        Value::Number(0.0) => Value::Text(more),
        Value::Number(value) => Value::Text(format!("{value:?}+({more})")),
        Value::Text(text) => Value::Text(format!("({text})+({more})")),
    }
}
