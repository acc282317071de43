//! The tables of a case, as written. `docs/grains.md` says more.

use crate::solve::{
    case::{ByType, Short, short},
    flux::SolverTable,
    heat::GravityTable,
    outcome::case_text,
    particles::ParticlesTable,
};
use cutlink_common::schema::ByName;
use cutlink_flow::tables::{OutputTable, RunTable};
use cutlink_mesher::placement::{Rotation, Unit};
use cutlink_meshing::options::Numbers;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::PathBuf};

/// Grains, as given by the user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GrainsCase {
    /// The file it was read from.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// Kind of flow: `kind = "grains"`.
    pub solver: Option<SolverTable>,
    /// The box. Required.
    pub domain: GrainsDomainTable,
    /// Weight. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gravity: Option<GravityTable>,
    /// Materials by name. Required.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub materials: BTreeMap<String, MaterialTable>,
    /// Contacts of two materials that are not as their tables say. Default: none.
    #[serde(rename = "contact", skip_serializing_if = "Vec::is_empty")]
    pub contacts: Vec<ContactTable>,
    /// Spheres at the start. Required.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub particles: Vec<ParticlesTable>,
    /// Surfaces that are walls. Default: none.
    #[serde(rename = "wall", skip_serializing_if = "Vec::is_empty")]
    pub walls: Vec<GrainWallTable>,
    /// Faces of the box. Default: walls.
    pub boundary: GrainsBoundaryTable,
    /// Steps.
    pub numerics: GrainsNumericsTable,
    /// Duration of the run.
    pub run: RunTable,
    /// Results.
    pub output: OutputTable,
}

/// The box.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GrainsDomainTable {
    /// Lower and upper corner, m: `[x0, y0, z0, x1, y1, z1]`. Required.
    #[serde(rename = "box")]
    pub bounds: Vec<f64>,
    /// Edge of the cells that fields are summed on, m: from the lower corner, beyond the upper one by less than a block of 4
    /// cells. Default: 1.2 to 4 mean diameters, chosen so that blocks fit.
    pub cell: Option<f64>,
}

/// A material.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MaterialTable {
    /// Young's modulus, Pa; often far below the true one, for longer steps: overlaps should stay small. Required.
    pub youngs_modulus: Option<f64>,
    /// Poisson's ratio, above -1 and at most 0.5. Default: 0.25.
    pub poissons_ratio: Option<f64>,
    /// Density, kg/m³. Required of particles; walls need none.
    pub density: Option<f64>,
    /// Coefficient of restitution: speed after a normal impact over speed before, above 0, at most 1. Required.
    pub restitution: Option<f64>,
    /// Coulomb's coefficient of friction. Required.
    pub friction: Option<f64>,
    /// Coefficient of rolling friction: largest rolling torque over normal force and radius. Default: 0.
    pub rolling_friction: Option<f64>,
}

/// The contact of two materials.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ContactTable {
    /// The names of the two materials. Required.
    pub between: Vec<String>,
    /// Coefficient of restitution. Default: the smaller one of the two materials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restitution: Option<f64>,
    /// Coefficient of friction. Default: the smaller one of the two materials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    /// Coefficient of rolling friction. Default: the smaller one of the two materials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rolling_friction: Option<f64>,
}

/// The side of a closed surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SurfaceSide {
    /// Spheres are inside: it is a container.
    Inside,
    /// Spheres are outside: it is a body.
    Outside,
}

/// A surface that is a wall at rest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GrainWallTable {
    /// Its name in `loads.csv`. Default: `wall`, with a number from the second one on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A surface, of any format that `cutlink mesh` reads, in metres; it may be open. This or `shape` is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// A built-in shape such as `"cylinder:r=0.1,h=0.2"`; `cutlink mesh --shape help` lists them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// Of `shape`: largest distance of its facets from the true surface, m. Default: a 5,000th of the longest edge of the box.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// Of `file`: its unit, as of `[mesh]`. Default: m.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ByName<Unit>>")]
    pub unit: Option<Unit>,
    /// Scale factor, or one per axis, as of `[mesh]`. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Numbers>,
    /// Rotations about axes through the origin, degrees, as of `[mesh]`, such as `["z:30"]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<String>>")]
    pub rotate: Option<Vec<Rotation>>,
    /// Translation, applied last, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub translate: Option<Numbers>,
    /// Of a closed surface: where spheres are, `inside` or `outside`; those on the other side are refused at the start, and
    /// counted later. Default: both sides may have some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<SurfaceSide>,
    /// Name of the material; all surfaces have the same. Default: the only one; required where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
}

/// The type of a face.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GrainsFaceKind {
    /// A wall at rest.
    Wall,
    /// Nothing: spheres may leave.
    Open,
    /// Connected to the opposite face, which must be periodic too.
    Periodic,
}

/// A face of the box; in TOML the name of its type suffices if no other key is needed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrainsFaceTable {
    /// Type of the face.
    #[serde(rename = "type")]
    pub kind: GrainsFaceKind,
    /// Of `wall`: name of its material. Default: the only one; required where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
}

impl ByType<'_> for GrainsFaceTable {
    type Kind = GrainsFaceKind;
}

impl From<GrainsFaceKind> for GrainsFaceTable {
    fn from(kind: GrainsFaceKind) -> Self {
        Self {
            kind,
            material: None,
        }
    }
}

/// The faces of the box.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GrainsBoundaryTable {
    /// Lower face along x: the name of a type, or a table.
    #[serde(rename = "x-", deserialize_with = "short")]
    #[schemars(with = "Option<Short<GrainsFaceTable>>")]
    pub x_lower: Option<GrainsFaceTable>,
    /// Upper face along x: the name of a type, or a table.
    #[serde(rename = "x+", deserialize_with = "short")]
    #[schemars(with = "Option<Short<GrainsFaceTable>>")]
    pub x_upper: Option<GrainsFaceTable>,
    /// Lower face along y: the name of a type, or a table.
    #[serde(rename = "y-", deserialize_with = "short")]
    #[schemars(with = "Option<Short<GrainsFaceTable>>")]
    pub y_lower: Option<GrainsFaceTable>,
    /// Upper face along y: the name of a type, or a table.
    #[serde(rename = "y+", deserialize_with = "short")]
    #[schemars(with = "Option<Short<GrainsFaceTable>>")]
    pub y_upper: Option<GrainsFaceTable>,
    /// Lower face along z: the name of a type, or a table.
    #[serde(rename = "z-", deserialize_with = "short")]
    #[schemars(with = "Option<Short<GrainsFaceTable>>")]
    pub z_lower: Option<GrainsFaceTable>,
    /// Upper face along z: the name of a type, or a table.
    #[serde(rename = "z+", deserialize_with = "short")]
    #[schemars(with = "Option<Short<GrainsFaceTable>>")]
    pub z_upper: Option<GrainsFaceTable>,
}

impl GrainsBoundaryTable {
    /// For each axis, the lower and the upper face.
    pub(super) fn faces(&self) -> [[&Option<GrainsFaceTable>; 2]; 3] {
        [
            [&self.x_lower, &self.x_upper],
            [&self.y_lower, &self.y_upper],
            [&self.z_lower, &self.z_upper],
        ]
    }
}

/// Steps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GrainsNumericsTable {
    /// Length of a step, s; one beyond the limit of Rayleigh or Hertz is refused. Default: 0.9 of the limit for spheres that
    /// fall through the box.
    pub time_step: Option<f64>,
    /// Largest overlap at the start, as a share of the smaller radius, below 1. Default: 0.01.
    pub max_overlap: Option<f64>,
}

case_text!(GrainsCase);
