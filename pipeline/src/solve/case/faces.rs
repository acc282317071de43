//! Faces of the box and patches of the surface, as written.

use super::{ByType, Short, WallModelName, by_name, short};
use crate::solve::value::Value;
use cutlink_common::schema::ByName;
use cutlink_meshing::options::{Axes, Numbers};
use cutlink_solver::WallScheme;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The faces of the box.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BoundaryTable {
    /// Lower face along x: the name of a type, or a table.
    #[serde(rename = "x-", deserialize_with = "short")]
    #[schemars(with = "Option<Short<FaceTable>>")]
    pub x_lower: Option<FaceTable>,
    /// Upper face along x: the name of a type, or a table.
    #[serde(rename = "x+", deserialize_with = "short")]
    #[schemars(with = "Option<Short<FaceTable>>")]
    pub x_upper: Option<FaceTable>,
    /// Lower face along y: the name of a type, or a table.
    #[serde(rename = "y-", deserialize_with = "short")]
    #[schemars(with = "Option<Short<FaceTable>>")]
    pub y_lower: Option<FaceTable>,
    /// Upper face along y: the name of a type, or a table.
    #[serde(rename = "y+", deserialize_with = "short")]
    #[schemars(with = "Option<Short<FaceTable>>")]
    pub y_upper: Option<FaceTable>,
    /// Lower face along z (3D): the name of a type, or a table.
    #[serde(rename = "z-", deserialize_with = "short")]
    #[schemars(with = "Option<Short<FaceTable>>")]
    pub z_lower: Option<FaceTable>,
    /// Upper face along z (3D): the name of a type, or a table.
    #[serde(rename = "z+", deserialize_with = "short")]
    #[schemars(with = "Option<Short<FaceTable>>")]
    pub z_upper: Option<FaceTable>,
}

impl BoundaryTable {
    /// For each axis, the lower and the upper face.
    pub fn faces(&self) -> [[&Option<FaceTable>; 2]; 3] {
        [
            [&self.x_lower, &self.x_upper],
            [&self.y_lower, &self.y_upper],
            [&self.z_lower, &self.z_upper],
        ]
    }

    /// The axes along which both faces are periodic.
    pub fn periodic(&self) -> Axes {
        let is_periodic = |face: &Option<FaceTable>| {
            face.as_ref()
                .is_some_and(|face| face.kind == FaceKind::Periodic)
        };
        Axes(self.faces().map(|pair| pair.into_iter().all(is_periodic)))
    }

    /// Like [`Self::faces`], mutable.
    pub fn faces_mut(&mut self) -> [[&mut Option<FaceTable>; 2]; 3] {
        [
            [&mut self.x_lower, &mut self.x_upper],
            [&mut self.y_lower, &mut self.y_upper],
            [&mut self.z_lower, &mut self.z_upper],
        ]
    }
}

/// The type of a face.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FaceKind {
    /// Inlet, or moving wall; reflects sound.
    Velocity,
    /// Inlet with a given mass flow.
    MassFlow,
    /// Prescribed pressure.
    Pressure,
    /// Connected to the opposite face, which must be periodic too.
    Periodic,
    /// Wall at rest.
    NoSlip,
    /// Frictionless wall or symmetry plane.
    FreeSlip,
    /// Outlet at the mean pressure of the fluid at rest; reflects a third of incident sound.
    Outflow,
    /// Free stream: fluid and sound leave; fluid that enters has the given velocity and pressure.
    FarField,
}

/// A face; in TOML the name of its type suffices if no other key is needed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaceTable {
    /// Type of the face.
    #[serde(rename = "type")]
    pub kind: FaceKind,
    /// Velocity, m/s; numbers or expressions. Required without `profile` and `[free_stream]`.
    #[serde(default)]
    pub velocity: Option<Vec<Value>>,
    /// Of `pressure` and `far-field`: pressure, Pa relative to the fluid at rest. Default: 0.
    #[serde(default)]
    pub pressure: Option<Value>,
    /// Of `parabolic`: centre of a round opening, m. Default: the walls beside.
    #[serde(default)]
    pub center: Option<Vec<f64>>,
    /// The table that `profile` read from a file, by column. The resolved case has it, and needs no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<BTreeMap<String, Vec<f64>>>,
    /// Velocity profile: `parabolic`, `power-law`, or the name of a `.csv` file. Default: uniform.
    #[serde(default)]
    pub profile: Option<String>,
    /// Of `parabolic`: mean velocity into the box, m/s; this or `max`.
    #[serde(default)]
    pub mean: Option<f64>,
    /// Of `parabolic`: largest velocity into the box, m/s; this or `mean`.
    #[serde(default)]
    pub max: Option<f64>,
    /// Of `parabolic`: radius of a round opening, m. Default: the walls beside.
    #[serde(default)]
    pub radius: Option<f64>,
    /// Of `power-law`: the exponent. Default: 1/7.
    #[serde(default)]
    pub exponent: Option<f64>,
    /// Of `power-law`: height at which the velocity is `velocity`, m. Required.
    #[serde(default)]
    pub reference_height: Option<f64>,
    /// Of `power-law`: axis along which heights are measured. Default: the last axis.
    #[serde(default)]
    pub axis: Option<AxisName>,
    /// Of `parabolic` and `mass-flow`: flow direction. Default: into the box.
    #[serde(default)]
    pub direction: Option<Vec<f64>>,
    /// Of `mass-flow`: mass flow, kg/s; in 2D per metre of depth. Required.
    #[serde(default)]
    pub mass_flow: Option<f64>,
    /// Seconds in which the velocity or pressure rises from zero as `ramp(t,T)`; 0 starts impulsively. Default: by the
    /// start of the flow.
    #[serde(default)]
    pub ramp: Option<f64>,
    /// Layer in front of the face that absorbs sound. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sponge: Option<SpongeTable>,
    /// Turbulence that enters through a `velocity` face (3D). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turbulence: Option<TurbulenceTable>,
    /// Of `[heat]`: temperature of a wall, K, or of what flows in: required where the velocity leads in; at `pressure` and `outflow`
    /// the default is that of the cell inside. Default: a wall is insulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Of walls, with `[heat]`: heat into the fluid, W/m². Default: a wall is insulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat_flux: Option<f64>,
    /// Of `[[particles]]`: name of the material that they meet, at openings too. Default: the only one; required where there are
    /// several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
}

/// Turbulence that enters through a face.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurbulenceTable {
    /// Root mean square of one velocity component, over the speed of the mean velocity of the face; at most 1.
    pub intensity: f64,
    /// Longitudinal integral length: the integral of the autocorrelation of the component along the stream, m.
    pub length: f64,
    /// Another number gives another field with the same statistics. Default: 0.
    #[serde(default)]
    pub seed: u32,
    /// Energy spectrum. Default: `von-karman`.
    #[serde(default)]
    pub spectrum: Option<SpectrumName>,
    /// Shortest wave, m. Default: four root cells.
    #[serde(default)]
    pub shortest: Option<f64>,
}

/// An energy spectrum of turbulence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpectrumName {
    /// That of von Kármán.
    #[default]
    VonKarman,
}

/// A layer at a face that damps sound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpongeTable {
    /// Depth of the layer, m.
    pub length: f64,
    /// Sound at normal incidence is reduced by a factor exp(-`strength`). Default: 5, which leaves 0.7 %.
    #[serde(default)]
    pub strength: Option<f64>,
}

impl ByType<'_> for FaceTable {
    type Kind = FaceKind;
}

impl From<FaceKind> for FaceTable {
    fn from(kind: FaceKind) -> Self {
        Self {
            kind,
            velocity: None,
            pressure: None,
            center: None,
            table: None,
            profile: None,
            mean: None,
            max: None,
            radius: None,
            exponent: None,
            reference_height: None,
            axis: None,
            direction: None,
            mass_flow: None,
            ramp: None,
            sponge: None,
            turbulence: None,
            temperature: None,
            heat_flux: None,
            material: None,
        }
    }
}

/// The type of a patch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PatchKind {
    /// Wall at rest.
    #[default]
    Wall,
    /// Wall that moves along itself, or an inlet or outlet with a velocity.
    Velocity,
    /// Inlet with a given mass flow.
    MassFlow,
    /// Wall that rotates about an axis.
    Rotating,
    /// Open boundary with a prescribed pressure.
    Pressure,
}

/// A patch of the surface.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PatchTable {
    /// Type of the patch. Default: `wall`.
    #[serde(rename = "type")]
    pub kind: PatchKind,
    /// Wall scheme of this patch. Default: that of `[numerics]`.
    #[serde(with = "by_name")]
    #[schemars(with = "Option<ByName<WallScheme>>")]
    pub wall: Option<WallScheme>,
    /// Wall model of this patch. Default: that of `[numerics]` for walls at rest, else `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_model: Option<WallModelName>,
    /// Velocity, m/s; numbers or expressions. Required without `profile`.
    pub velocity: Option<Vec<Value>>,
    /// Of `rotating`: point on the axis, m, required. Of `parabolic`: centre of a round opening, m.
    pub center: Option<Vec<f64>>,
    /// Of `rotating`: angular velocity, rad/s; in 2D a number. Required.
    pub omega: Option<Numbers>,
    /// Of `pressure`: pressure, Pa relative to the fluid at rest. Default: 0.
    pub pressure: Option<Value>,
    /// The table that `profile` read from a file, by column. The resolved case has it, and needs no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<BTreeMap<String, Vec<f64>>>,
    /// Velocity profile: `parabolic`, `power-law`, or the name of a `.csv` file. Default: uniform.
    pub profile: Option<String>,
    /// Of `parabolic`: mean velocity into the box, m/s; this or `max`.
    pub mean: Option<f64>,
    /// Of `parabolic`: largest velocity into the box, m/s; this or `mean`.
    pub max: Option<f64>,
    /// Of `parabolic`: radius of a round opening, m. Default: the walls beside.
    pub radius: Option<f64>,
    /// Of `power-law`: the exponent. Default: 1/7.
    pub exponent: Option<f64>,
    /// Of `power-law`: height at which the velocity is `velocity`, m. Required.
    pub reference_height: Option<f64>,
    /// Of `power-law`: axis along which heights are measured. Default: the last axis.
    pub axis: Option<AxisName>,
    /// Of `parabolic` and `mass-flow`: flow direction. Required.
    pub direction: Option<Vec<f64>>,
    /// Of `mass-flow`: mass flow, kg/s; in 2D per metre of depth. Required.
    pub mass_flow: Option<f64>,
    /// Seconds in which the velocity or pressure rises from zero as `ramp(t,T)`; 0 starts impulsively. Default: by the
    /// start of the flow; of `rotating` 0.
    pub ramp: Option<f64>,
    /// Of `[heat]`: temperature of the wall, K. Default: it is insulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
}

/// An axis, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AxisName {
    /// The first axis.
    X,
    /// The second axis.
    Y,
    /// The third axis.
    Z,
}
