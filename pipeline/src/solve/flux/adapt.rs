//! How the mesh follows the flow: from the table to parameters, with all defaults.

use super::{
    case::{FluxAdaptTable, PlaceTable, SensorName},
    resolve::vector,
};
use cutlink_common::Error;
use cutlink_fr::{ElementAdaptation, LevelsInBox, Sensor};
use cutlink_solver::Precision;

/// Defaults; that of the sensor is W24's.
const EVERY: u64 = 10;
const REFINE: f64 = 0.1;

/// What decides on defaults: the order, the precision, the box, and for how many elements there is memory.
pub(super) struct AdaptSetting<const D: usize> {
    pub(super) order: usize,
    pub(super) precision: Precision,
    pub(super) bounds: [[f64; D]; 2],
    pub(super) room: u64,
    pub(super) has_bodies: bool,
}

fn wrong(what: &str) -> Error {
    Error::input(format!("[adapt] {what}"))
}

/// Parameters of the adaptation, and the table with all defaults.
///
/// # Errors
/// Missing keys, keys of another sensor, values out of range.
pub(super) fn adapt<const D: usize>(
    given: &FluxAdaptTable,
    setting: &AdaptSetting<D>,
) -> Result<(ElementAdaptation, FluxAdaptTable), Error> {
    let levels = given.levels.ok_or_else(|| {
        wrong("levels is missing").hint("4 is up to three refinements of the coarsest elements")
    })?;
    if levels == 0 {
        return Err(wrong("levels is 0").hint("1 is the coarsest elements alone"));
    }
    let name = given.sensor.unwrap_or(SensorName::Modal);
    let every = interval(given, name)?;
    let mut table = FluxAdaptTable {
        every: (name != SensorName::Places).then_some(every),
        sensor: Some(name),
        buffer: Some(given.buffer.unwrap_or(0)),
        ..given.clone()
    };
    check_keys(given, name)?;
    let sensor = match name {
        SensorName::Places => Sensor::Places,
        SensorName::Modal => modal(given, setting, &mut table)?,
        SensorName::MovingLine => moving_line(given, setting, &mut table)?,
    };
    let has_bodies = setting.has_bodies;
    let at_bodies = given.at_bodies.unwrap_or(levels);
    if given.at_bodies.is_some() && !has_bodies {
        return Err(wrong("at_bodies is given, and there are no bodies"));
    }
    if at_bodies == 0 || at_bodies > levels {
        return Err(wrong(&format!("at_bodies is {at_bodies}"))
            .hint(format!("1, the coarsest elements, to {levels}")));
    }
    table.at_bodies = has_bodies.then_some(at_bodies);
    let places = given.places.iter().map(place::<D>);
    let most = given.max_elements.unwrap_or(setting.room);
    let adaptation = ElementAdaptation {
        every,
        sensor,
        levels: [0, levels - 1],
        buffer: given.buffer.unwrap_or(0),
        most_elements: usize::try_from(most).unwrap_or(usize::MAX),
        at_bodies: if has_bodies { at_bodies - 1 } else { 0 },
        places: places.collect::<Result<_, _>>()?,
    };
    Ok((adaptation, table))
}

/// Steps between two adaptations.
fn interval(given: &FluxAdaptTable, name: SensorName) -> Result<u64, Error> {
    match (name, given.every) {
        (SensorName::Places, Some(_)) => Err(wrong(
            "every is given, and sensor = \"places\" never changes the mesh",
        )),
        (SensorName::Places, None) => Ok(u64::MAX),
        (_, Some(0)) => Err(wrong("every is 0").hint("steps between two adaptations")),
        (_, every) => Ok(every.unwrap_or(EVERY)),
    }
}

/// Refuses keys of another sensor.
fn check_keys(given: &FluxAdaptTable, name: SensorName) -> Result<(), Error> {
    let modal = [given.refine, given.coarsen, given.momentum, given.floor];
    let line = [given.inner, given.outer];
    let is_modal = modal.iter().any(Option::is_some);
    let is_line =
        line.iter().any(Option::is_some) || given.from.is_some() || given.velocity.is_some();
    match name {
        SensorName::Places if is_line || is_modal => {
            Err(wrong("sensor = \"places\" has no keys besides levels"))
        }
        SensorName::Modal if is_line => Err(wrong(
            "from, velocity, inner and outer are for sensor = \"moving-line\"",
        )),
        SensorName::MovingLine if is_modal => Err(wrong(
            "refine, coarsen, momentum and floor are for sensor = \"modal\"",
        )),
        _ => Ok(()),
    }
}

fn modal<const D: usize>(
    given: &FluxAdaptTable,
    setting: &AdaptSetting<D>,
    table: &mut FluxAdaptTable,
) -> Result<Sensor, Error> {
    let momentum = given.momentum.ok_or_else(|| {
        wrong("momentum is missing")
            .hint("density times velocity of the stream, so that what is at rest is no zero")
    })?;
    let refine = given.refine.unwrap_or(REFINE);
    let usual = if setting.order > 2 { 1e-3 } else { 1e-2 };
    let coarsen = given.coarsen.unwrap_or(usual);
    let rounding = match setting.precision {
        Precision::F32 => 1e-5,
        _ => 1e-10,
    };
    let floor = given.floor.unwrap_or(rounding);
    (table.refine, table.coarsen) = (Some(refine), Some(coarsen));
    table.floor = Some(floor);
    Ok(Sensor::Modal {
        refine_above: refine,
        coarsen_below: coarsen,
        momentum,
        floor,
    })
}

fn moving_line<const D: usize>(
    given: &FluxAdaptTable,
    setting: &AdaptSetting<D>,
    table: &mut FluxAdaptTable,
) -> Result<Sensor, Error> {
    let (Some(velocity), Some(inner), Some(outer)) = (&given.velocity, given.inner, given.outer)
    else {
        return Err(wrong(
            "sensor = \"moving-line\" needs velocity, inner and outer",
        ));
    };
    let [lower, upper] = &setting.bounds;
    let from = match &given.from {
        Some(from) => vector("[adapt] from", from)?,
        None => [0, 1].map(|a: usize| 0.5 * (lower[a] + upper[a])),
    };
    table.from = Some(from.to_vec());
    Ok(Sensor::MovingLine {
        from,
        velocity: vector("[adapt] velocity", velocity)?,
        inner,
        outer,
    })
}

/// A box, and the levels in it.
fn place<const D: usize>(table: &PlaceTable) -> Result<LevelsInBox, Error> {
    let (bounds, of) = (&table.bounds, &table.levels);
    let is_box = bounds.len() == 2 * D && (0..D).all(|a| bounds[a] < bounds[D + a]);
    if !is_box || of.len() != 2 || of[0] < 1 || of[0] > of[1] {
        return Err(Error::input(format!(
            "[[adapt.place]] box {bounds:?} with levels {of:?} is none"
        ))
        .hint(format!(
            "{} numbers of the lower and the upper corner, and the coarsest and the finest level: 1 is the coarsest \
             elements",
            2 * D
        )));
    }
    let corner =
        |first: usize| std::array::from_fn(|a| if a < D { bounds[first + a] } else { 0.0 });
    Ok(LevelsInBox {
        lower: corner(0),
        upper: corner(D),
        levels: [of[0] - 1, of[1] - 1],
    })
}
