//! Outputs of a case: fields, their units and periods, from its table `[output]`.

use crate::solve::units::{Physics, Units};
use cutlink_common::Error;
use cutlink_flow::{
    fields::{self, Clock, FieldUnits, OutputSpec},
    setting::averages,
    tables::{AveragesTable, FieldUnitsName, OutputTable},
};
use cutlink_voxelizer::Frame;

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
