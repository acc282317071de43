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

/// `room` is for how many elements there is memory.
pub(super) fn adapt<const D: usize>(
    given: &FluxAdaptTable,
    order: usize,
    precision: Precision,
    bounds: [[f64; D]; 2],
    room: u64,
    has_bodies: bool,
) -> Result<(ElementAdaptation, FluxAdaptTable), Error> {
    let wrong = |what: String| Error::input(format!("[adapt] {what}"));
    let levels = given.levels.ok_or_else(|| {
        wrong("levels is missing".into())
            .hint("4 is up to three refinements of the coarsest elements")
    })?;
    if levels == 0 {
        return Err(wrong("levels is 0".into()).hint("1 is the coarsest elements alone"));
    }
    let name = given.sensor.unwrap_or(SensorName::Modal);
    let is_fixed = name == SensorName::Places;
    if is_fixed && given.every.is_some() {
        return Err(wrong(
            "every is given, and sensor = \"places\" never changes the mesh".into(),
        ));
    }
    let every = if is_fixed {
        u64::MAX
    } else {
        given.every.unwrap_or(EVERY)
    };
    if every == 0 {
        return Err(wrong("every is 0".into()).hint("steps between two adaptations"));
    }
    let modal = [given.refine, given.coarsen, given.momentum, given.floor];
    let line = [given.inner, given.outer];
    let (is_modal, is_line) = (
        modal.iter().any(Option::is_some),
        line.iter().any(Option::is_some) || given.from.is_some() || given.velocity.is_some(),
    );
    let mut table = FluxAdaptTable {
        every: (!is_fixed).then_some(every),
        sensor: Some(name),
        buffer: Some(given.buffer.unwrap_or(0)),
        ..given.clone()
    };
    let sensor = match name {
        SensorName::Places if is_line || is_modal => {
            return Err(wrong(
                "sensor = \"places\" has no keys besides levels".into(),
            ));
        }
        SensorName::Places => Sensor::Places,
        SensorName::Modal if is_line => {
            return Err(wrong(
                "from, velocity, inner and outer are for sensor = \"moving-line\"".into(),
            ));
        }
        SensorName::MovingLine if is_modal => {
            return Err(wrong(
                "refine, coarsen, momentum and floor are for sensor = \"modal\"".into(),
            ));
        }
        SensorName::Modal => {
            let momentum = given.momentum.ok_or_else(|| {
                wrong("momentum is missing".into()).hint(
                    "density times velocity of the stream, so that what is at rest is no zero",
                )
            })?;
            let refine = given.refine.unwrap_or(REFINE);
            let coarsen = given.coarsen.unwrap_or(if order > 2 { 1e-3 } else { 1e-2 });
            let rounding = if precision == Precision::F32 {
                1e-5
            } else {
                1e-10
            };
            let floor = given.floor.unwrap_or(rounding);
            (table.refine, table.coarsen) = (Some(refine), Some(coarsen));
            table.floor = Some(floor);
            Sensor::Modal {
                refine_above: refine,
                coarsen_below: coarsen,
                momentum,
                floor,
            }
        }
        SensorName::MovingLine => {
            let (Some(velocity), Some(inner), Some(outer)) =
                (&given.velocity, given.inner, given.outer)
            else {
                return Err(wrong(
                    "sensor = \"moving-line\" needs velocity, inner and outer".into(),
                ));
            };
            let middle = [0, 1].map(|a: usize| 0.5 * (bounds[0][a] + bounds[1][a]));
            let from = match &given.from {
                Some(from) => vector("[adapt] from", from)?,
                None => middle,
            };
            table.from = Some(from.to_vec());
            Sensor::MovingLine {
                from,
                velocity: vector("[adapt] velocity", velocity)?,
                inner,
                outer,
            }
        }
    };
    let at_bodies = given.at_bodies.unwrap_or(levels);
    if given.at_bodies.is_some() && !has_bodies {
        return Err(wrong("at_bodies is given, and there are no bodies".into()));
    }
    if at_bodies == 0 || at_bodies > levels {
        return Err(wrong(format!("at_bodies is {at_bodies}"))
            .hint(format!("1, the coarsest elements, to {levels}")));
    }
    table.at_bodies = has_bodies.then_some(at_bodies);
    let place = |table: &PlaceTable| -> Result<LevelsInBox, Error> {
        let (bounds, of) = (&table.bounds, &table.levels);
        let is_box = bounds.len() == 2 * D && (0..D).all(|a| bounds[a] < bounds[D + a]);
        if !is_box || of.len() != 2 || of[0] < 1 || of[0] > of[1] {
            return Err(Error::input(format!(
                "[[adapt.place]] box {bounds:?} with levels {of:?} is none"
            ))
            .hint(format!(
                "{} numbers of the lower and the upper corner, and the coarsest and the finest level: 1 is the coarsest elements",
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
    };
    let places = given.places.iter().map(place).collect::<Result<_, _>>()?;
    let most = given.max_elements.unwrap_or(room);
    let adaptation = ElementAdaptation {
        every,
        sensor,
        levels: [0, levels - 1],
        buffer: given.buffer.unwrap_or(0),
        most_elements: usize::try_from(most).unwrap_or(usize::MAX),
        at_bodies: if has_bodies { at_bodies - 1 } else { 0 },
        places,
    };
    Ok((adaptation, table))
}
