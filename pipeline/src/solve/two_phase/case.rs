//! The tables of a case, as written. `docs/two-phase.md` says more.

use crate::solve::{
    case::{ByType, Short, short},
    flux::{SolverTable, case::is_false},
    grains::case::{ContactTable, GrainWallTable, MaterialTable},
    heat::{GravityTable, HeatTable},
    outcome::case_text,
    particles::ParticlesTable,
    value::Value,
};
use cutlink_common::schema::ByName;
use cutlink_flow::tables::{OutputTable, RunTable};
use cutlink_mesher::placement::{Rotation, Unit};
use cutlink_meshing::options::{FlowSide, Numbers, Root};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::PathBuf};

/// A flow of a liquid and a gas, as given by the user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TwoPhaseCase {
    /// The file it was read from.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// Kind of flow: `kind = "two-phase"`.
    pub solver: Option<SolverTable>,
    /// The box and its mesh. Required.
    pub domain: TwoPhaseDomainTable,
    /// Boxes in which the mesh has all levels; without `[adapt]` the interface must stay in them. Default: the whole box,
    /// with `[adapt]` none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refine: Vec<FineTable>,
    /// The two fluids. Required.
    pub phases: PhasesTable,
    /// What is between them.
    pub interface: InterfaceTable,
    /// Weight. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gravity: Option<GravityTable>,
    /// How the box moves, with its walls and bodies: places, velocities and forces are those seen from it. Default: it is at
    /// rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<FrameTable>,
    /// Temperature of the fluids. Default: there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heat: Option<HeatTable>,
    /// The flow at the start. Default: at rest in the box.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<TwoPhaseInitialTable>,
    /// Where the liquid is at the start; all else is gas. Shapes should not overlap.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub liquid: Vec<LiquidTable>,
    /// Solid bodies: cells whose centre is in a box or a surface, or outside of a tank. Default: none.
    #[serde(rename = "body", skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<SolidTable>,
    /// Materials of spheres, and of walls where they meet them, by name. Required with `[[particles]]`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub materials: BTreeMap<String, MaterialTable>,
    /// Contacts of two materials that are not as their tables say. Default: none.
    #[serde(rename = "contact", skip_serializing_if = "Vec::is_empty")]
    pub contacts: Vec<ContactTable>,
    /// Spheres in the flow at the start (3D). Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub particles: Vec<ParticlesTable>,
    /// Surfaces that are walls for spheres alone, which the fluid passes, such as screens; each `[[body]]` is a wall for both.
    /// Default: none.
    #[serde(rename = "wall", skip_serializing_if = "Vec::is_empty")]
    pub walls: Vec<GrainWallTable>,
    /// How spheres and flow act on one another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coupling: Option<CouplingTable>,
    /// Faces of the box. Default: walls at rest, without friction where the fluids have no viscosity.
    pub boundary: TwoPhaseBoundaryTable,
    /// Steps and tolerances.
    pub numerics: TwoPhaseNumericsTable,
    /// How the mesh follows the interface. Default: it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapt: Option<TwoPhaseAdaptTable>,
    /// Duration of the run.
    pub run: RunTable,
    /// Results.
    pub output: OutputTable,
    /// Wave gauges: lines along which the liquid is measured. Default: none.
    #[serde(rename = "gauge", skip_serializing_if = "Vec::is_empty")]
    pub gauges: Vec<GaugeTable>,
}

/// The box and its mesh.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TwoPhaseDomainTable {
    /// Lower and upper corner, m: `[x0, y0, z0, x1, y1, z1]`, in 2D `[x0, y0, x1, y1]`. Required.
    #[serde(rename = "box")]
    pub bounds: Vec<f64>,
    /// Coarsest cells along the longest edge, or per axis such as `"128x64"`; multiples of 4. Required.
    pub root: Option<Root>,
    /// Levels of cells, each half as wide as the one before; with `[adapt]` those in `[[refine]]` boxes. Default: 1, with
    /// `[adapt]` all of its levels.
    pub levels: Option<usize>,
}

/// A box in which the mesh has all levels.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FineTable {
    /// Lower and upper corner, m: blocks of 4 cells along each axis that touch it are refined. Required.
    #[serde(rename = "box")]
    pub bounds: Vec<f64>,
}

/// The two fluids.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PhasesTable {
    /// The liquid.
    pub liquid: PhaseTable,
    /// The gas.
    pub gas: PhaseTable,
}

/// A fluid.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PhaseTable {
    /// Density, kg/m³. Required.
    pub density: Option<f64>,
    /// Dynamic viscosity, Pa s; of both fluids or of none. Default: 0.
    pub viscosity: Option<f64>,
    /// Of `[heat]`: heat capacity, J/(kg K). Required with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heat_capacity: Option<f64>,
    /// Of `[heat]`: thermal conductivity, W/(m K). Required with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conductivity: Option<f64>,
    /// Of `[heat]`: thermal expansion, 1/K, which changes the weight alone (Boussinesq). Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expansion: Option<f64>,
}

/// The interface.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InterfaceTable {
    /// Surface tension, N/m. Default: 0.
    pub surface_tension: Option<f64>,
}

/// How the box moves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FrameTable {
    /// Displacement of the box, m, along axes at rest; numbers or expressions in `t`. Default: zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub translation: Option<Vec<Value>>,
    /// Angle that the box is turned by, rad; a number or an expression in `t`. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub angle: Option<Value>,
    /// Axis of `angle`; required with it in 3D.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axis: Option<Vec<f64>>,
    /// The point that it turns about, m, and that moments of `loads.csv` are about. Default: the middle of the box.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub center: Option<Vec<f64>>,
}

/// The flow at the start.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TwoPhaseInitialTable {
    /// Velocity, m/s, along each axis; numbers or expressions in `x`, `y`, `z`. What of it has no divergence, and does not
    /// enter walls, is kept. Required.
    pub velocity: Vec<Value>,
}

/// A wave gauge.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GaugeTable {
    /// Its name in `gauges.csv`. Required.
    pub name: String,
    /// A point that the line goes through, m. Required.
    pub at: Vec<f64>,
    /// The axis that the line is parallel to, and its upward direction: `x+`, `x-`, and so on. Default: against gravity at the
    /// start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axis: Option<String>,
}

/// How spheres and flow act on one another.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CouplingTable {
    /// Whether spheres stay where they are, at rest: a fixed bed. Default: `false`.
    #[serde(skip_serializing_if = "is_false")]
    pub fixed: bool,
    /// An acceleration of all that is in the box along periodic axes, m/s²: a mean gradient of the pressure over the density, which
    /// drives a flow through a bed. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drive: Option<Vec<f64>>,
}

/// A region of liquid at the start: a box, a ball, a half-space, what is below a height, or the inside of a surface.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LiquidTable {
    /// Lower and upper corner of a box, m.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Vec<f64>>,
    /// Centre and radius of a circle or a sphere, m: `[x, y, r]`, in 3D `[x, y, z, r]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ball: Option<Vec<f64>>,
    /// Outward normal and offset of a half-space, m: liquid is where `n · x` is less than the offset: `[0, 1, 0.5]` is
    /// all below y = 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_space: Option<Vec<f64>>,
    /// Height along the last axis that liquid is below, m: a number or an expression in the other coordinates, such as
    /// `"0.2 + 0.01*cos(pi*x)"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Value>,
    /// A closed surface, of any format that `cutlink mesh` reads, in metres: fractions of cells are exact. In 2D a closed polyline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// A built-in shape such as `"cylinder:r=0.1,h=0.2"`; `cutlink mesh --shape help` lists them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// Of `file`: its unit, as of `[mesh]`. Default: m.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ByName<Unit>>")]
    pub unit: Option<Unit>,
    /// Of `file` and `shape`: scale factor, or one per axis, as of `[mesh]`. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Numbers>,
    /// Of `file` and `shape`: rotations about axes through the origin, degrees, as of `[mesh]`, such as `["z:30"]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<String>>")]
    pub rotate: Option<Vec<Rotation>>,
    /// Of `file` and `shape`: translation, applied last, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub translate: Option<Numbers>,
}

/// A solid body: a box, or a surface.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SolidTable {
    /// Lower and upper corner, m: cells whose centre is inside are solid, with a wall at rest; this, `file` or `shape`.
    #[serde(rename = "box", skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<f64>,
    /// A closed surface, of any format that `cutlink mesh` reads, in metres: cells whose centre is inside are solid. In 2D a closed polyline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// A built-in shape such as `"sphere:r=0.1"`; `cutlink mesh --shape help` lists them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// Of `file`: its unit, as of `[mesh]`. Default: m.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ByName<Unit>>")]
    pub unit: Option<Unit>,
    /// Of `file` and `shape`: scale factor, or one per axis, as of `[mesh]`. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Numbers>,
    /// Of `file` and `shape`: rotations about axes through the origin, degrees, as of `[mesh]`, such as `["z:30"]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<String>>")]
    pub rotate: Option<Vec<Rotation>>,
    /// Of `file` and `shape`: translation, applied last, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub translate: Option<Numbers>,
    /// Of `file` and `shape`: where the fluid is, `outside` the surface or `inside`, as of `[mesh]`; a tank holds the fluid
    /// inside. Default: `outside`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowSide>,
    /// Of `file`: accepts a surface that is open or inconsistently oriented. Default: `false`.
    #[serde(skip_serializing_if = "is_false")]
    pub robust: bool,
    /// Of `[heat]`: temperature of the body, K. Default: it is insulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Of `[heat]` and a `box`: heat from the body into the fluid, W/m². Default: it is insulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heat_flux: Option<f64>,
    /// Of `[[particles]]`: name of the material that they meet; that of all bodies and walls. Default: the only one; required
    /// where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
}

/// The type of a face.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TwoPhaseFaceKind {
    /// Connected to the opposite face, which must be periodic too.
    Periodic,
    /// A wall at rest.
    NoSlip,
    /// A wall without friction, or a plane of symmetry.
    FreeSlip,
    /// A given velocity.
    Velocity,
    /// A given pressure: an opening to the outside.
    Pressure,
}

/// A face of the box; in TOML the name of its type suffices if no other key is needed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwoPhaseFaceTable {
    /// Type of the face.
    #[serde(rename = "type")]
    pub kind: TwoPhaseFaceKind,
    /// Of `velocity`: velocity, m/s. Required for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub velocity: Option<Vec<f64>>,
    /// Of `pressure`: pressure, Pa, less the weight ρ g·x of the fluid beyond, which `liquid` names and which is at rest there.
    /// Default: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<f64>,
    /// Of `velocity` and `pressure`: whether liquid flows in, else gas. Default: `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub liquid: Option<bool>,
    /// Of walls, with surface tension: the angle in the liquid between the interface and the face, degrees, 30 to 150.
    /// Default: 90.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_angle: Option<f64>,
    /// Of `[heat]`: temperature of a wall, K, or of what flows in: required where `velocity` leads in; at `pressure` the default is that
    /// of the cell inside. Default: a wall is insulated.
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

impl ByType<'_> for TwoPhaseFaceTable {
    type Kind = TwoPhaseFaceKind;
}

impl From<TwoPhaseFaceKind> for TwoPhaseFaceTable {
    fn from(kind: TwoPhaseFaceKind) -> Self {
        Self {
            kind,
            velocity: None,
            pressure: None,
            liquid: None,
            contact_angle: None,
            temperature: None,
            heat_flux: None,
            material: None,
        }
    }
}

/// The faces of the box.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TwoPhaseBoundaryTable {
    /// Lower face along x: the name of a type, or a table.
    #[serde(rename = "x-", deserialize_with = "short")]
    #[schemars(with = "Option<Short<TwoPhaseFaceTable>>")]
    pub x_lower: Option<TwoPhaseFaceTable>,
    /// Upper face along x: the name of a type, or a table.
    #[serde(rename = "x+", deserialize_with = "short")]
    #[schemars(with = "Option<Short<TwoPhaseFaceTable>>")]
    pub x_upper: Option<TwoPhaseFaceTable>,
    /// Lower face along y: the name of a type, or a table.
    #[serde(rename = "y-", deserialize_with = "short")]
    #[schemars(with = "Option<Short<TwoPhaseFaceTable>>")]
    pub y_lower: Option<TwoPhaseFaceTable>,
    /// Upper face along y: the name of a type, or a table.
    #[serde(rename = "y+", deserialize_with = "short")]
    #[schemars(with = "Option<Short<TwoPhaseFaceTable>>")]
    pub y_upper: Option<TwoPhaseFaceTable>,
    /// Lower face along z (3D): the name of a type, or a table.
    #[serde(rename = "z-", deserialize_with = "short")]
    #[schemars(with = "Option<Short<TwoPhaseFaceTable>>")]
    pub z_lower: Option<TwoPhaseFaceTable>,
    /// Upper face along z (3D): the name of a type, or a table.
    #[serde(rename = "z+", deserialize_with = "short")]
    #[schemars(with = "Option<Short<TwoPhaseFaceTable>>")]
    pub z_upper: Option<TwoPhaseFaceTable>,
}

impl TwoPhaseBoundaryTable {
    /// For each axis, the lower and the upper face.
    pub(super) fn faces(&self) -> [[&Option<TwoPhaseFaceTable>; 2]; 3] {
        [
            [&self.x_lower, &self.x_upper],
            [&self.y_lower, &self.y_upper],
            [&self.z_lower, &self.z_upper],
        ]
    }
}

/// Steps and tolerances.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TwoPhaseNumericsTable {
    /// Length of a step, s; the program divides it into shorter ones where the Courant number, capillary waves or
    /// gravity ask for it. Default: what gravity, capillary waves or the velocity at a face allow at the start.
    pub dt: Option<f64>,
    /// Largest Courant number, at most 0.5. Default: 0.4.
    pub cfl: Option<f64>,
    /// Residual of the pressure over its right side. Default: 1e-9.
    pub tolerance: Option<f64>,
    /// Of `[[particles]]`: longest step of contacts, s, of which the flow's steps have as many as they need; one beyond the limit of
    /// Rayleigh or Hertz is refused. Default: 0.9 of the limit for spheres that fall through the box.
    pub contact_step: Option<f64>,
    /// Of `[[particles]]`: largest overlap at the start, as a share of the smaller radius, below 1. Default: 0.01.
    pub max_overlap: Option<f64>,
}

/// How the mesh follows the interface. It is adapted whenever the fluid may have moved so far that the interface could
/// leave the margin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TwoPhaseAdaptTable {
    /// Most levels, the root included; the interface, spheres, openings that let in the other phase, and bodies are on the finest.
    /// Required.
    pub levels: Option<usize>,
    /// Most leaf cells: if the vorticity asks for more, its threshold rises; a run whose interface alone needs more ends.
    /// Default: what fits into 80 % of the free
    /// memory.
    pub max_cells: Option<u64>,
    /// Cells of the finest level around the interface and spheres that are on this level too, 3 to 8. Default: 4.
    pub margin: Option<u32>,
    /// Vorticity times the cell's width above which blocks are refined, m/s. Default: the interface alone counts.
    pub vorticity: Option<f64>,
    /// Share of `vorticity` that blocks have to stay below after coarsening, below 1. Default: 0.5.
    pub coarsen: Option<f64>,
    /// Levels of the cells at `no-slip` faces of the box; 1 is the coarsest cells. Default: 1.
    pub at_walls: Option<usize>,
}

case_text!(TwoPhaseCase);
