//! The tables `[run]` and `[output]` of a case, which mean the same for every physics.

use crate::fields::OutputSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The duration of the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunTable {
    /// Duration in root steps; one of `steps`, `seconds`, `flow_through` and `settle`.
    pub steps: Option<u64>,
    /// Duration in seconds, rounded to whole steps.
    pub seconds: Option<f64>,
    /// Duration in flow-throughs: the longest edge of the box over `velocity` (flux reconstruction: the edge along x
    /// over the speed of the far field).
    pub flow_through: Option<f64>,
    /// Ends when the drag (without a body: the kinetic energy) changes by less than this fraction; needs `most`.
    pub settle: Option<f64>,
    /// With `settle`: maximum number of root steps.
    pub most: Option<u64>,
    /// `false` lets a flow go on whose forces, density or energy grow without bound; such a run ends with exit code 5
    /// otherwise. Default: `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch: Option<bool>,
    /// Names of checks of the verdict that are accepted as they are, such as `["sound"]`. Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,
}

/// Units of fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FieldUnitsName {
    /// SI units.
    #[default]
    Si,
    /// Reference velocity and length.
    Reference,
    /// Root cells and root steps.
    Lattice,
}

/// The outputs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OutputTable {
    /// Output folder, relative to the current one. Default: `flow`.
    pub folder: Option<PathBuf>,
    /// Root steps between force samples; 0 for none. Default: 1 (flux reconstruction: 16, with walls and a reference
    /// velocity).
    pub forces_every: Option<u64>,
    /// Root steps between lines of `integrals.csv`; 0 for none. Default: 256.
    pub integrals_every: Option<u64>,
    /// Root steps between checkpoints; 0 for none. Default: one every 10 minutes.
    pub checkpoint_every: Option<u64>,
    /// Writes a checkpoint at the end, so that the run can be continued. Default: `true`.
    pub checkpoint_at_end: Option<bool>,
    /// Writes `report.html`, which shows the run in a browser. Default: `true`.
    pub report: Option<bool>,
    /// Units of fields: `si`, `reference` (reference velocity and length) or `lattice` (root cells, root steps). Default:
    /// `si`.
    pub units: Option<FieldUnitsName>,
    /// Mean and rms over time. Default: none.
    pub averages: Option<AveragesTable>,
    /// Length of the recirculation region behind a body; lattice Boltzmann alone. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recirculation: Option<RecirculationTable>,
    /// Fields, pictures and probes. Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<OutputSpec>,
}

/// The samples of the averages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AveragesTable {
    /// Root step of the first sample. Default: 0.
    pub from_steps: Option<u64>,
    /// The same in seconds.
    pub from_seconds: Option<f64>,
    /// The same in flow-throughs.
    pub from_flow_through: Option<f64>,
    /// Root steps between samples. Default: 16.
    pub every_steps: Option<u64>,
}

/// The line along which the recirculation length is measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecirculationTable {
    /// First point of the line, m; required without a body. Default: the rear of the body.
    pub from: Option<Vec<f64>>,
    /// Direction of the line, of any length. Default: that of the free stream, x without `[free_stream]`.
    pub direction: Option<Vec<f64>>,
}
