//! The tables of a case, as written. `docs/flux-reconstruction.md` says more.

use super::kinds::SolverTable;
use crate::solve::outcome::case_text;
use crate::solve::{
    case::{ByType, FreeStreamTable, Short, by_name, short},
    value::Value,
};
use cutlink_common::schema::ByName;
use cutlink_flow::tables::{OutputTable, RunTable};
use cutlink_mesher::placement::{Rotation, Unit};
use cutlink_meshing::options::Numbers;
use cutlink_solver::Precision;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::PathBuf};

/// A compressible flow, as given by the user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FluxCase {
    /// The file it was read from.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// Kind of flow: `kind = "flux-reconstruction"`.
    pub solver: Option<SolverTable>,
    /// The box and its coarsest elements. Required.
    pub domain: FluxDomainTable,
    /// The gas.
    pub physics: GasTable,
    /// Order, time integration, precision.
    pub numerics: FluxNumericsTable,
    /// Faces of the box. Required.
    pub boundary: FluxBoundaryTable,
    /// Bodies: boxes of elements that are taken out, or closed surfaces. Default: none.
    #[serde(rename = "body", skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<GasBodyTable>,
    /// Reference quantities of force coefficients. Default: those of the far field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<ReferenceTable>,
    /// The state beyond far-field faces. Required with such faces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far_field: Option<FarFieldTable>,
    /// Direction of drag and speed of the far field. Default: along the velocity of the far field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_stream: Option<FreeStreamTable>,
    /// Groups of walls whose forces are summed: names of bodies and of faces, or patterns such as `wing*`, by group
    /// name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<String, Vec<String>>,
    /// Initial flow. Required.
    pub initial: FluxInitialTable,
    /// Levels of elements, and how the mesh follows the flow. Default: one level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapt: Option<FluxAdaptTable>,
    /// Duration of the run.
    pub run: RunTable,
    /// Results.
    pub output: OutputTable,
}

/// The box and its coarsest elements.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FluxDomainTable {
    /// Lower and upper corner, m: `[x0, y0, z0, x1, y1, z1]`, in 2D `[x0, y0, x1, y1]`.
    #[serde(rename = "box")]
    pub bounds: Vec<f64>,
    /// Coarsest elements on each axis; they have to be squares or cubes.
    pub elements: Vec<u32>,
}

/// The gas.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GasTable {
    /// Ratio of specific heats. Default: 1.4.
    pub gamma: Option<f64>,
    /// Dynamic viscosity μ, the same everywhere, Pa s; with it the Navier–Stokes equations are solved, without bulk
    /// viscosity. Default: none, Euler's equations.
    pub dynamic_viscosity: Option<f64>,
    /// Prandtl number, μ c_p over the heat conductivity. Default: 0.71.
    pub prandtl: Option<f64>,
}

/// The type of a face.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FluxFaceKind {
    /// Connected to the opposite face, which must be periodic too.
    Periodic,
    /// The state of `[far_field]` beyond the face.
    FarField,
    /// Wall that holds the gas, with viscosity.
    NoSlip,
    /// Wall without friction and heat, or a plane of symmetry.
    FreeSlip,
}

/// A face of the box; in TOML the name of its type suffices if no other key is needed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FluxFaceTable {
    /// Type of the face.
    #[serde(rename = "type")]
    pub kind: FluxFaceKind,
    /// Of `no-slip`: velocity of the wall, along it, m/s. Default: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub velocity: Option<Vec<f64>>,
    /// Of `no-slip`: temperature of the wall as p / ρ, which is the gas constant times the temperature. Default: no
    /// heat.
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FluxBoundaryTable {
    /// Lower face along x: the name of a type, or a table.
    #[serde(rename = "x-", deserialize_with = "short")]
    #[schemars(with = "Option<Short<FluxFaceTable>>")]
    pub x_lower: Option<FluxFaceTable>,
    /// Upper face along x: the name of a type, or a table.
    #[serde(rename = "x+", deserialize_with = "short")]
    #[schemars(with = "Option<Short<FluxFaceTable>>")]
    pub x_upper: Option<FluxFaceTable>,
    /// Lower face along y: the name of a type, or a table.
    #[serde(rename = "y-", deserialize_with = "short")]
    #[schemars(with = "Option<Short<FluxFaceTable>>")]
    pub y_lower: Option<FluxFaceTable>,
    /// Upper face along y: the name of a type, or a table.
    #[serde(rename = "y+", deserialize_with = "short")]
    #[schemars(with = "Option<Short<FluxFaceTable>>")]
    pub y_upper: Option<FluxFaceTable>,
    /// Lower face along z (3D): the name of a type, or a table.
    #[serde(rename = "z-", deserialize_with = "short")]
    #[schemars(with = "Option<Short<FluxFaceTable>>")]
    pub z_lower: Option<FluxFaceTable>,
    /// Upper face along z (3D): the name of a type, or a table.
    #[serde(rename = "z+", deserialize_with = "short")]
    #[schemars(with = "Option<Short<FluxFaceTable>>")]
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GasBodyTable {
    /// Name of the body in `forces.csv` and the summary. Required.
    pub name: String,
    /// Lower and upper corner, m, on faces of elements of the level `at_bodies` or a coarser one; this, `file` or
    /// `shape`.
    #[serde(rename = "box", skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<f64>,
    /// A closed surface, of any format that `cutlink mesh` reads, in metres.
    pub file: Option<PathBuf>,
    /// A built-in shape such as `"circle:r=0.5"`; `cutlink mesh --shape help` lists them.
    pub shape: Option<String>,
    /// Unit of `file`, as of `[mesh]`. Default: m.
    #[schemars(with = "Option<ByName<Unit>>")]
    pub unit: Option<Unit>,
    /// Scale factor, or one per axis, as of `[mesh]`. Default: 1.
    pub scale: Option<Numbers>,
    /// Rotations about axes through the origin, degrees, as of `[mesh]`, such as `["z:30"]`.
    #[schemars(with = "Option<Vec<String>>")]
    pub rotate: Option<Vec<Rotation>>,
    /// Translation, applied last, m.
    pub translate: Option<Numbers>,
    /// Accepts a surface that is open or inconsistently oriented. Default: `false`.
    #[serde(skip_serializing_if = "is_false")]
    pub robust: bool,
    /// `no-slip` or `free-slip`, as of a face; with `file` or `shape` `no-slip` alone. Default: `no-slip`, without
    /// viscosity `free-slip`.
    #[serde(rename = "type")]
    pub kind: Option<FluxFaceKind>,
    /// Temperature of the wall as p / ρ. Default: no heat.
    pub temperature: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(in crate::solve) fn is_false(value: &bool) -> bool {
    !value
}

/// What coefficients of forces are made with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReferenceTable {
    /// Density ρ of coefficients 2 F / (ρ u² A), kg/m³. Default: that of the far field.
    pub density: Option<f64>,
    /// Velocity u of coefficients, m/s; without one there are none. Default: that of the far field.
    pub velocity: Option<f64>,
    /// Length of moments and the Strouhal number, m. Default: the edge along y of the first body, or of the box.
    pub length: Option<f64>,
    /// Area A of coefficients, m²; in 2D a length, m. Default: `length`, in 3D times the edge along z.
    pub area: Option<f64>,
    /// Reference point of moments, m. Default: the origin.
    pub moment_center: Option<Vec<f64>>,
}

/// The time integration, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RungeKuttaName {
    /// Three evaluations (Shu & Osher 1988).
    Rk33,
    /// Four evaluations, steps twice as long (Spiteri & Ruuth 2002).
    Rk43,
}

/// The scheme.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FluxNumericsTable {
    /// Degree p of the polynomials, 1 to 4; p + 1 points on an axis. Default: 3.
    pub order: Option<usize>,
    /// Time integration: `rk33` (Shu & Osher 1988), or `rk43` (Spiteri & Ruuth 2002): four evaluations, steps twice as
    /// long. Default: `rk43`.
    pub runge_kutta: Option<RungeKuttaName>,
    /// Length of steps, s. Default: by `cfl`.
    pub dt: Option<f64>,
    /// Courant number, which sets the length of steps by the initial state on elements of the finest level. Default:
    /// 0.5.
    pub cfl: Option<f64>,
    /// Of bodies with `file` or `shape`: time η in which the velocity inside falls to 1/e, s. Default: the length of a
    /// step.
    pub relaxation: Option<f64>,
    /// Floating-point type: `f64` or `f32`. Default: `f64`.
    #[serde(with = "by_name")]
    #[schemars(with = "Option<ByName<Precision>>")]
    pub precision: Option<Precision>,
}

/// The state beyond faces of type `far-field`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FarFieldTable {
    /// Density, kg/m³. Required.
    pub density: Option<f64>,
    /// Velocity, m/s. Required. Default: from `[free_stream]` with `speed`.
    pub velocity: Option<Vec<f64>>,
    /// Absolute pressure, Pa. Required.
    pub pressure: Option<f64>,
}

/// A predefined initial state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FluxPreset {
    /// Isentropic vortex in the middle of a periodic box that is square on x and y, in a stream of density 1 and
    /// velocity (1, 1).
    IsentropicVortex,
    /// Taylor–Green vortices in a periodic square or cube, one wave along each axis, with a velocity of 1 and a mean
    /// density of 1.
    TaylorGreen,
}

/// The initial state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FluxInitialTable {
    /// An analytic state, instead of `density`, `velocity` and `pressure`.
    pub preset: Option<FluxPreset>,
    /// Flow of another run of this kind: a checkpoint (`.ckpt`) or a folder with checkpoints; excludes the other keys.
    /// Default: none.
    pub from: Option<PathBuf>,
    /// Of the presets: Mach number of the stream of `isentropic-vortex`, of the velocity of `taylor-green`. Default:
    /// 0.5; 0.1.
    pub mach: Option<f64>,
    /// Of `isentropic-vortex`: the strength α. Default: 5.
    pub strength: Option<f64>,
    /// Of `isentropic-vortex`: the decay φ. Default: 0.5.
    pub decay: Option<f64>,
    /// Density, kg/m³; a number or an expression. Required without `preset` and `from`.
    pub density: Option<Value>,
    /// Velocity, m/s; numbers or expressions. Required without `preset` and `from`.
    pub velocity: Option<Vec<Value>>,
    /// Absolute pressure, Pa; a number or an expression. Required without `preset` and `from`.
    pub pressure: Option<Value>,
}

/// A sensor, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SensorName {
    /// The highest modes of the momentum.
    Modal,
    /// Points near a line that moves.
    MovingLine,
    /// Levels at bodies and by place alone, on a mesh that stays.
    Places,
}

/// How the mesh follows the flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FluxAdaptTable {
    /// Steps between adaptations. Default: 10.
    pub every: Option<u64>,
    /// Levels of elements; 4 is up to three refinements. Required.
    pub levels: Option<u32>,
    /// What asks for refinement: `modal`, `moving-line`, or `places`: levels at bodies and by place alone, on a mesh that
    /// stays. Default: `modal`.
    pub sensor: Option<SensorName>,
    /// Of `modal`: elements are refined where an indicator is above this share of the largest. Default: 0.1.
    pub refine: Option<f64>,
    /// Of `modal`: elements are coarsened where all indicators are below this share of the largest. Default: 0.001, for
    /// orders 1 and 2 0.01.
    pub coarsen: Option<f64>,
    /// Of `modal`: ρ U of the stream, added to the momentum, so that the indicator is defined in a fluid at rest.
    /// Required for it.
    pub momentum: Option<f64>,
    /// Of `modal`: indicators up to this count as none. Default: 1e-10, in `f32` 1e-5.
    pub floor: Option<f64>,
    /// Of `moving-line`: where the line is at the start, on x and y, m. Default: the middle of the box.
    pub from: Option<Vec<f64>>,
    /// Of `moving-line`: velocity of the line, m/s. Required for it.
    pub velocity: Option<Vec<f64>>,
    /// Of `moving-line`: elements are refined where more of their points are within this distance of the line than
    /// beyond `outer`, m. Required for it.
    pub inner: Option<f64>,
    /// Of `moving-line`: the larger distance, m. Required for it.
    pub outer: Option<f64>,
    /// Rings of elements around refined ones that are refined too. Default: 0.
    pub buffer: Option<u32>,
    /// Elements that refinement may lead to; the strongest wishes come first. Default: what fits into 80 % of the free
    /// memory, on a GPU of half of it.
    pub max_elements: Option<u64>,
    /// Coarsest level of elements that touch a body; 1 is the coarsest elements. Default: `levels`.
    pub at_bodies: Option<u32>,
    /// Levels by place. Default: none.
    #[serde(rename = "place", skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<PlaceTable>,
}

/// Levels in a box.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PlaceTable {
    /// Elements that share volume with this box, m. Required.
    #[serde(rename = "box")]
    pub bounds: Vec<f64>,
    /// Coarsest and finest level there; where places overlap, the higher coarsest and the lower finest one. Required.
    pub levels: Vec<u32>,
}

case_text!(FluxCase);

impl FluxCase {
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
