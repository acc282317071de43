//! The tables of a case, as written. `docs/flux-reconstruction.md` describes every key.

use super::kinds::{SolverTable, parse};
use crate::{
    error::Error,
    options::Numbers,
    solve::{
        case::{ByType, FreeStreamTable, OutputTable, RunTable, by_name, short},
        value::Value,
    },
};
use cutlink_mesher::placement::{Rotation, Unit};
use cutlink_solver::Precision;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// A compressible flow, as given by the user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    missing_docs,
    reason = "docs/flux-reconstruction.md describes the keys"
)]
pub struct FluxCase {
    /// The file it was read from.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    pub solver: Option<SolverTable>,
    pub domain: FluxDomainTable,
    pub physics: GasTable,
    pub numerics: FluxNumericsTable,
    pub boundary: FluxBoundaryTable,
    #[serde(rename = "body", skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<GasBodyTable>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<ReferenceTable>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far_field: Option<FarFieldTable>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_stream: Option<FreeStreamTable>,
    /// Names or patterns of faces and bodies, by group name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<String, Vec<String>>,
    pub initial: FluxInitialTable,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapt: Option<FluxAdaptTable>,
    pub run: RunTable,
    pub output: OutputTable,
}

/// The box and its coarsest elements.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    missing_docs,
    reason = "docs/flux-reconstruction.md describes the keys"
)]
pub struct FluxDomainTable {
    #[serde(rename = "box")]
    pub bounds: Vec<f64>,
    pub elements: Vec<u32>,
}

/// The gas.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    missing_docs,
    reason = "docs/flux-reconstruction.md describes the keys"
)]
pub struct GasTable {
    pub gamma: Option<f64>,
    pub dynamic_viscosity: Option<f64>,
    pub prandtl: Option<f64>,
}

/// The type of a face.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    missing_docs,
    reason = "docs/flux-reconstruction.md describes the names"
)]
pub enum FluxFaceKind {
    Periodic,
    FarField,
    NoSlip,
    FreeSlip,
}

/// A face of the box; in TOML the name of its type suffices if no other key is needed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    missing_docs,
    reason = "docs/flux-reconstruction.md describes the keys"
)]
pub struct FluxFaceTable {
    #[serde(rename = "type")]
    pub kind: FluxFaceKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub velocity: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
}

impl ByType<'_> for FluxFaceTable {
    type Kind = FluxFaceKind;
}

impl From<FluxFaceKind> for FluxFaceTable {
    fn from(kind: FluxFaceKind) -> Self {
        Self {
            kind,
            velocity: None,
            temperature: None,
        }
    }
}

/// The faces of the box.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    missing_docs,
    reason = "docs/flux-reconstruction.md describes the keys"
)]
pub struct FluxBoundaryTable {
    #[serde(rename = "x-", deserialize_with = "short")]
    pub x_lower: Option<FluxFaceTable>,
    #[serde(rename = "x+", deserialize_with = "short")]
    pub x_upper: Option<FluxFaceTable>,
    #[serde(rename = "y-", deserialize_with = "short")]
    pub y_lower: Option<FluxFaceTable>,
    #[serde(rename = "y+", deserialize_with = "short")]
    pub y_upper: Option<FluxFaceTable>,
    #[serde(rename = "z-", deserialize_with = "short")]
    pub z_lower: Option<FluxFaceTable>,
    #[serde(rename = "z+", deserialize_with = "short")]
    pub z_upper: Option<FluxFaceTable>,
}

impl FluxBoundaryTable {
    /// For each axis, the lower and the upper face.
    pub(super) fn faces(&self) -> [[&Option<FluxFaceTable>; 2]; 3] {
        [
            [&self.x_lower, &self.x_upper],
            [&self.y_lower, &self.y_upper],
            [&self.z_lower, &self.z_upper],
        ]
    }
}

/// A body: a box of elements that are taken out, or a surface whose inside the gas is held in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    missing_docs,
    reason = "docs/flux-reconstruction.md describes the keys"
)]
pub struct GasBodyTable {
    pub name: String,
    #[serde(rename = "box", skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<f64>,
    pub file: Option<PathBuf>,
    pub shape: Option<String>,
    pub unit: Option<Unit>,
    pub scale: Option<Numbers>,
    pub rotate: Option<Vec<Rotation>>,
    pub translate: Option<Numbers>,
    #[serde(skip_serializing_if = "is_false")]
    pub robust: bool,
    #[serde(rename = "type")]
    pub kind: Option<FluxFaceKind>,
    pub temperature: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_false(value: &bool) -> bool {
    !value
}

/// What coefficients of forces are made with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    missing_docs,
    reason = "docs/flux-reconstruction.md describes the keys"
)]
pub struct ReferenceTable {
    pub density: Option<f64>,
    pub velocity: Option<f64>,
    pub length: Option<f64>,
    pub area: Option<f64>,
    pub moment_center: Option<Vec<f64>>,
}

/// The time integration, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    missing_docs,
    reason = "docs/flux-reconstruction.md describes the names"
)]
pub enum RungeKuttaName {
    Rk33,
    Rk43,
}

/// The scheme.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    missing_docs,
    reason = "docs/flux-reconstruction.md describes the keys"
)]
pub struct FluxNumericsTable {
    pub order: Option<usize>,
    pub runge_kutta: Option<RungeKuttaName>,
    pub dt: Option<f64>,
    pub cfl: Option<f64>,
    pub relaxation: Option<f64>,
    #[serde(with = "by_name")]
    pub precision: Option<Precision>,
}

/// The state beyond faces of type `far-field`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    missing_docs,
    reason = "docs/flux-reconstruction.md describes the keys"
)]
pub struct FarFieldTable {
    pub density: Option<f64>,
    pub velocity: Option<Vec<f64>>,
    pub pressure: Option<f64>,
}

/// A predefined initial state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    missing_docs,
    reason = "docs/flux-reconstruction.md describes the names"
)]
pub enum FluxPreset {
    IsentropicVortex,
    TaylorGreen,
}

/// The initial state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    missing_docs,
    reason = "docs/flux-reconstruction.md describes the keys"
)]
pub struct FluxInitialTable {
    pub preset: Option<FluxPreset>,
    pub from: Option<PathBuf>,
    pub mach: Option<f64>,
    pub strength: Option<f64>,
    pub decay: Option<f64>,
    pub density: Option<Value>,
    pub velocity: Option<Vec<Value>>,
    pub pressure: Option<Value>,
}

/// A sensor, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    missing_docs,
    reason = "docs/flux-reconstruction.md describes the names"
)]
pub enum SensorName {
    Modal,
    MovingLine,
    Places,
}

/// How the mesh follows the flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    missing_docs,
    reason = "docs/flux-reconstruction.md describes the keys"
)]
pub struct FluxAdaptTable {
    pub every: Option<u64>,
    pub levels: Option<u32>,
    pub sensor: Option<SensorName>,
    pub refine: Option<f64>,
    pub coarsen: Option<f64>,
    pub momentum: Option<f64>,
    pub floor: Option<f64>,
    pub from: Option<Vec<f64>>,
    pub velocity: Option<Vec<f64>>,
    pub inner: Option<f64>,
    pub outer: Option<f64>,
    pub buffer: Option<u32>,
    pub max_elements: Option<u64>,
    pub at_bodies: Option<u32>,
    #[serde(rename = "place", skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<PlaceTable>,
}

/// Levels in a box.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    missing_docs,
    reason = "docs/flux-reconstruction.md describes the keys"
)]
pub struct PlaceTable {
    #[serde(rename = "box")]
    pub bounds: Vec<f64>,
    pub levels: Vec<u32>,
}

impl FluxCase {
    /// Reads a case from a TOML file.
    ///
    /// # Errors
    /// A file that cannot be read, or is no such case.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display();
        let text = crate::config::text(path)?;
        Ok(Self {
            file: Some(path.to_owned()),
            ..parse(&name.to_string(), &text)?
        })
    }

    /// Parses a case.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        parse("case", text)
    }

    /// Name of the case in messages.
    pub(super) fn name(&self) -> String {
        match &self.file {
            Some(path) => path.display().to_string(),
            None => "case".into(),
        }
    }

    /// The case as TOML, which reads back as the same case.
    ///
    /// # Errors
    /// None that a user can cause.
    pub fn to_toml(&self) -> Result<String, Error> {
        toml::to_string(self).map_err(|e| Error::input("cannot write the case as TOML").because(&e))
    }

    /// The part that a resumed run cannot change: all except duration and outputs.
    #[must_use]
    pub fn fixed(&self) -> Self {
        Self {
            run: RunTable::default(),
            groups: BTreeMap::new(),
            output: OutputTable {
                averages: self.output.averages,
                ..OutputTable::default()
            },
            ..self.clone()
        }
    }
}
