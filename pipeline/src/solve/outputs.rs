//! Outputs of a case: fields, their units and periods, from its table `[output]`.

use crate::fields::{self, Clock, FieldUnits, OutputSpec};
use crate::solve::case::{AveragesTable, FieldUnitsName, OutputTable};
use crate::solve::units::{Physics, Units};
use cutlink_common::Error;
use cutlink_voxelizer::Frame;

/// Default number of root steps between two samples of averages.
const SAMPLE_EVERY: u64 = 16;

/// Resolved outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Outputs {
    /// Fields to write, periods in root steps.
    pub specs: Vec<OutputSpec>,
    /// The first root step of averages, and the steps between two samples.
    pub averages: Option<[u64; 2]>,
    /// Units of values.
    pub units: FieldUnits,
}

/// Resolves all defaults; also returns the resolved table, without the folder and the periods of forces and
/// checkpoints.
pub(super) fn outputs<const D: usize>(
    given: &OutputTable,
    frame: &Frame<D>,
    physics: &Physics,
    units: &Units,
    through: f64,
) -> Result<(Outputs, OutputTable), Error> {
    let clock = Clock {
        step: units.time,
        through,
    };
    let specs = fields::written(&given.write, frame, &clock)?;
    let averages = averages(given.averages.as_ref(), &specs, &clock)?;
    let named = given.units.unwrap_or_default();
    let table = OutputTable {
        units: Some(named),
        averages: averages.map(|[from, every]| AveragesTable {
            from_steps: Some(from),
            every_steps: Some(every),
            ..AveragesTable::default()
        }),
        write: specs.clone(),
        ..OutputTable::default()
    };
    let units = match named {
        FieldUnitsName::Si => FieldUnits::si(units.length, units.time, units.density),
        FieldUnitsName::Reference => {
            FieldUnits::reference(physics.lattice_velocity, physics.length / units.length)
        }
        FieldUnitsName::Lattice => FieldUnits::lattice(),
    };
    let outputs = Outputs {
        specs,
        averages,
        units,
    };
    Ok((outputs, table))
}

/// The first step of averages, and the steps between two samples, if the case has any.
///
/// # Errors
/// Averaged outputs without averages, values that make no sense.
pub(crate) fn averages(
    given: Option<&AveragesTable>,
    specs: &[OutputSpec],
    clock: &Clock,
) -> Result<Option<[u64; 2]>, Error> {
    let Some(given) = given else {
        return match specs.iter().find(|spec| spec.average.is_some()) {
            None => Ok(None),
            Some(spec) => Err(Error::input(format!(
                "[[output.write]] \"{}\" is an average, but there is no [output.averages]",
                spec.name.as_deref().unwrap_or_default()
            ))
            .hint("add [output.averages] with from_flow_through, from_seconds or from_steps")),
        };
    };
    let wrong = |what: String| Error::input(format!("[output.averages] {what}"));
    let (steps, seconds, through) = (
        given.from_steps,
        given.from_seconds,
        given.from_flow_through,
    );
    let from = clock
        .steps("from", steps, seconds, through)
        .map_err(|what| wrong(what).hint("give one of them, or none to start at the beginning"))?;
    match given.every_steps {
        Some(0) => Err(wrong("every_steps is 0".into()).hint("it must be at least 1")),
        every => Ok(Some([from.unwrap_or(0), every.unwrap_or(SAMPLE_EVERY)])),
    }
}
