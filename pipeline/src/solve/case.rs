//! The TOML file of a flow, as written; [`crate::solve::resolve`] converts it to parameters.
//!
//! Numbers are in SI units, or in any consistent system. The sentence on a field is the source of [`cutlink_common::schema`];
//! `docs/case.md` says more. An unknown key is an error that suggests the nearest known one.

use crate::solve::flux::{self, SolverTable, case::is_false};
use crate::solve::grains::case::{ContactTable, GrainWallTable, MaterialTable};
use crate::solve::heat::{GravityTable, HeatTable};
use crate::solve::outcome::{name_of, toml_of};
use crate::solve::particles::ParticlesTable;
use crate::solve::value::Value;
use cutlink_common::{Error, schema::ByName};
use cutlink_flow::tables::{OutputTable, RunTable};
use cutlink_meshing::options::{MeshOptions, Root};

use cutlink_solver::{
    Collision, Indicator, Interpolation, LatticeKind, Les, Precision, WallScheme,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

mod faces;
mod forms;
mod motion;

pub use faces::{
    AxisName, BoundaryTable, FaceKind, FaceTable, PatchKind, PatchTable, SpectrumName, SpongeTable,
    TurbulenceTable,
};
pub(super) use forms::{ByType, Short, by_name, short};
pub use motion::{MotionKind, MotionRefinement, MotionTable};

/// A case as given by the user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Case {
    /// The file it was read from.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// Kind of flow. Default: lattice Boltzmann.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solver: Option<SolverTable>,
    /// Surface and mesh; this or `[domain]`. The keys are the long options of `cutlink mesh`.
    pub mesh: Option<MeshOptions>,
    /// A box without a body; this or `[mesh]`.
    pub domain: Option<DomainTable>,
    /// Fluid and reference quantities.
    pub physics: PhysicsTable,
    /// Lattice, collision, walls.
    pub numerics: NumericsTable,
    /// Faces of the box.
    pub boundary: BoundaryTable,
    /// Temperature of the fluid. Default: there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heat: Option<HeatTable>,
    /// Weight of spheres, or of a fluid that expands. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gravity: Option<GravityTable>,
    /// Initial flow. Default: the mean velocity of the open faces, or at rest if they have a ramp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<InitialTable>,
    /// Patches of the surface, by name. Patches without a table are walls at rest.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub patches: BTreeMap<String, PatchTable>,
    /// Bodies that move, by name: patches with a motion.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub motion: BTreeMap<String, MotionTable>,
    /// Materials of spheres, and of walls where they meet them, by name. Required with `[[particles]]`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub materials: BTreeMap<String, MaterialTable>,
    /// Contacts of two materials that are not as their tables say. Default: none.
    #[serde(rename = "contact", skip_serializing_if = "Vec::is_empty")]
    pub contacts: Vec<ContactTable>,
    /// Spheres in the flow at the start. Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub particles: Vec<ParticlesTable>,
    /// Surfaces that are walls for spheres alone, such as screens. Default: none.
    #[serde(rename = "wall", skip_serializing_if = "Vec::is_empty")]
    pub walls: Vec<GrainWallTable>,
    /// How spheres and flow are coupled. Default: they move one another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coupling: Option<LatticeCouplingTable>,
    /// Speed and angles of the free stream, along which drag is measured. Default: along x.
    pub free_stream: Option<FreeStreamTable>,
    /// Groups of patches whose forces are summed: patch names or patterns such as `wing*`, by group name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<String, Vec<String>>,
    /// A mesh that follows the flow. Default: the mesh stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapt: Option<AdaptTable>,
    /// Duration of the run.
    pub run: RunTable,
    /// Results.
    pub output: OutputTable,
}

/// How spheres and a lattice Boltzmann flow are coupled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LatticeCouplingTable {
    /// Whether spheres stay where they are, at rest: a fixed bed. Default: `false`.
    #[serde(skip_serializing_if = "is_false")]
    pub fixed: bool,
    /// Name of the material of the body that they meet. Default: the only one; required where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
}

/// A box without a body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DomainTable {
    /// Lower and upper corner, m: `[x0, y0, z0, x1, y1, z1]`, in 2D `[x0, y0, x1, y1]`.
    #[serde(rename = "box")]
    pub bounds: Vec<f64>,
    /// Root cells along the longest edge, or per axis such as `"128x64x64"`; multiples of 4.
    pub root: Root,
}

/// The fluid.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PhysicsTable {
    /// Reynolds number, `velocity` · `length` / viscosity; this or `viscosity` is required.
    pub re: Option<f64>,
    /// Reference length, m. Required with `re`. Default: the longest edge of the box.
    pub length: Option<f64>,
    /// Reference velocity, m/s. Required. Default: `speed` of `[free_stream]`.
    pub velocity: Option<f64>,
    /// Kinematic viscosity, m²/s. Default: from `re`.
    pub viscosity: Option<f64>,
    /// Density of the fluid at rest, kg/m³. Default: 1.
    pub density: Option<f64>,
    /// Reference velocity in lattice units (root cells per root step); sets the time step. Default: chosen, at most
    /// 0.05.
    pub lattice_velocity: Option<f64>,
    /// The same as a Mach number, √3 · `lattice_velocity`; at most 0.3. Default: from `lattice_velocity`.
    pub mach: Option<f64>,
    /// Reference area of coefficients, m²; in 2D a length, m. Default: the frontal area of the body; without a body or
    /// inside one `length`², in 2D `length`.
    pub area: Option<f64>,
    /// Uniform acceleration (body force per mass), m/s²; may be expressions in `t`. Default: zero.
    pub acceleration: Option<Vec<Value>>,
    /// Reference point of torques, m. Default: the origin.
    pub moment_center: Option<Vec<f64>>,
    /// Of `[heat]`: heat capacity, J/(kg K). Required with `conductivity`. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heat_capacity: Option<f64>,
    /// Of `[heat]`: thermal conductivity, W/(m K); this, `diffusivity` or `prandtl` is required with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conductivity: Option<f64>,
    /// Of `[heat]`: thermal diffusivity, m²/s. Default: from `conductivity` or `prandtl`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diffusivity: Option<f64>,
    /// Of `[heat]`: Prandtl number, viscosity / `diffusivity`. Default: from `diffusivity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prandtl: Option<f64>,
    /// Of `[heat]`: thermal expansion, 1/K, which changes the weight alone (Boussinesq). Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expansion: Option<f64>,
}

/// A wall model, by name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WallModelName {
    /// None: the cells at the wall resolve the boundary layer.
    #[default]
    None,
    /// The law of the wall.
    Equilibrium,
}

/// Lattice, collision and other numerics.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NumericsTable {
    /// Lattice. Default: in 2D `d2q9`; in 3D `d3q19`, but `d3q27` for `cumulant` and `kbc`, and if u Δx / ν > 1000.
    #[serde(with = "by_name")]
    #[schemars(with = "Option<ByName<LatticeKind>>")]
    pub lattice: Option<LatticeKind>,
    /// Collision model. Default: chosen with the time step; most often `regularized`.
    #[serde(with = "by_name")]
    #[schemars(with = "Option<ByName<Collision>>")]
    pub collision: Option<Collision>,
    /// Magic parameter Λ of `trt`: 3/16 puts a straight wall exactly halfway, 1/4 is the most stable. Default: 0.1875.
    pub magic: Option<f64>,
    /// Eddy viscosity: `none`, `smagorinsky` or `qr` (3D). Default: `none`.
    #[serde(with = "by_name")]
    #[schemars(with = "Option<ByName<Les>>")]
    pub les: Option<Les>,
    /// Constant of the eddy viscosity. Default: 0.1 for `smagorinsky`, 0.152 for `qr`.
    pub les_constant: Option<f64>,
    /// Floating-point type: `f32` or `f64`; `f16` stores populations in 16 bits and computes in `f32`. Default: `f32`.
    #[serde(with = "by_name")]
    #[schemars(with = "Option<ByName<Precision>>")]
    pub precision: Option<Precision>,
    /// Interpolation from coarse to fine cells at level interfaces. Default: `cubic`.
    #[serde(with = "by_name")]
    #[schemars(with = "Option<ByName<Interpolation>>")]
    pub interpolation: Option<Interpolation>,
    /// Wall scheme: `bounce-back` (halfway), or interpolated bounce-back: `linear` or `quadratic` (Bouzidi et al. 2001),
    /// or `local`. Default: `linear`.
    #[serde(with = "by_name")]
    #[schemars(with = "Option<ByName<WallScheme>>")]
    pub wall: Option<WallScheme>,
    /// Wall model of walls at rest. Default: `none`.
    pub wall_model: Option<WallModelName>,
    /// Of `[[particles]]`: longest step of contacts, s, of which the flow's finest steps have as many as they need; one beyond the limit
    /// of the speeds so far is refused. Default: 0.9 of the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_step: Option<f64>,
    /// Of `[[particles]]`: largest overlap at the start, as a share of the smaller radius, below 1. Default: 0.01.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_overlap: Option<f64>,
    /// Runs a flow that violates a stability limit; the violation is reported. Default: `false`.
    pub allow_unstable: Option<bool>,
}

/// A predefined initial field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Fluid at rest.
    Rest,
    /// Mean velocity of the open faces, after any ramp.
    FreeStream,
    /// A period of Taylor–Green vortices along each axis, amplitude `velocity`, with pressure; 3D: the box must be a
    /// cube.
    TaylorGreen,
    /// Vortex about an axis along z, with pressure.
    Vortex,
    /// 3D: ring with a Gaussian core, which moves along its axis (Fukumoto & Kaplanski 2008).
    VortexRing,
    /// Shear layers at 1/4 and 3/4 of the height, sine perturbation along y (Minion & Brown 1997).
    ShearLayer,
}

/// The initial state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InitialTable {
    /// Flow of another run: a checkpoint (`.ckpt`) or a folder with checkpoints; excludes the other keys. Default:
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<PathBuf>,
    /// An analytic field. Default: none.
    pub preset: Option<Preset>,
    /// Velocity, m/s; numbers or expressions in `x`, `y`, `z`; with `vortex` and `vortex-ring` the background velocity.
    /// Default: at rest.
    pub velocity: Option<Vec<Value>>,
    /// Pressure, Pa relative to the fluid at rest. Default: 0.
    pub pressure: Option<Value>,
    /// Density, kg/m³, instead of `pressure`.
    pub density: Option<Value>,
    /// Of `vortex` and `vortex-ring`: centre, m. Default: the middle of the box.
    pub center: Option<Vec<f64>>,
    /// Of `vortex` and `vortex-ring`: radius, m. Default: `length`.
    pub radius: Option<f64>,
    /// Of `shear-layer`: thickness, m. Default: 1/80 of the height of the box.
    pub thickness: Option<f64>,
    /// Of `shear-layer`: amplitude of the perturbation as a fraction of the reference velocity. Default: 0.05.
    pub amplitude: Option<f64>,
    /// Of `vortex-ring`: circulation, m²/s. Default: `velocity` · `length`.
    pub circulation: Option<f64>,
    /// Of `vortex-ring`: radius of the core, m. Default: `radius` / 5.
    pub core: Option<f64>,
    /// Of `vortex-ring`: the axis. Default: `x`.
    pub axis: Option<AxisName>,
}

/// The free stream, which also gives the axes of drag and lift.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FreeStreamTable {
    /// Speed, m/s. Default: `velocity` of `[physics]`, or the speed of the far field.
    pub speed: Option<f64>,
    /// Angle of attack, degrees from x towards y. Default: 0.
    pub angle: Option<f64>,
    /// 3D: degrees towards z. Default: 0.
    pub sideslip: Option<f64>,
}

/// How the mesh follows the flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AdaptTable {
    /// Root steps from one look at the flow to the next. Default: what moves with the reference velocity does not cross
    /// the buffer.
    pub every: Option<u64>,
    /// Most levels that the flow may ask for, the root included. Required.
    pub levels: Option<usize>,
    /// Most leaf cells; if the criteria request more, all thresholds rise. Default: what fits into 80 % of the free
    /// memory.
    pub max_cells: Option<u64>,
    /// Layers of blocks refined around a block that is refined, on each level; at most 100. Default: 1.
    pub buffer: Option<u32>,
    /// The criteria; at least one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<CriterionTable>,
    /// Boxes that stay coarse. Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limit: Vec<LimitTable>,
}

/// A criterion of adaptation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CriterionTable {
    /// The indicator. Required.
    #[schemars(with = "Option<ByName<Indicator>>")]
    pub what: Option<String>,
    /// Threshold above which a block is refined. Required.
    pub refine: Option<f64>,
    /// Share of the threshold that a block has to stay below after coarsening, below 1. Default: 0.5.
    pub coarsen: Option<f64>,
    /// Only blocks whose centre is in this box, m. Default: everywhere.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Vec<f64>>,
    /// Only from this time on, s. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
}

/// A box in which the mesh stays coarse.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitTable {
    /// Blocks whose centre is in this box, m, have no more than `levels`. Required.
    #[serde(rename = "box")]
    pub bounds: Option<Vec<f64>>,
    /// Most levels in the box, the root included. Required.
    pub levels: Option<usize>,
}

impl Case {
    /// Reads a case from a TOML file.
    ///
    /// # Errors
    /// As [`config::read`](cutlink_common::config::read).
    pub fn read(path: &Path) -> Result<Self, Error> {
        flux::read(path)
    }

    /// Parses a case. Its output folder is `[output] folder`.
    ///
    /// # Errors
    /// As [`config::parse`](cutlink_common::config::parse).
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        Self::parse("case", text)
    }

    /// Like [`Self::from_toml`]; `name` is used in messages.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        flux::parse(name, text)
    }

    /// Replaces the mesh or box of the case by a mesh file. The device and threads of `[mesh]` stay.
    pub fn take_mesh_file(&mut self, file: &Path) {
        let given = self.mesh.take().unwrap_or_default();
        self.domain = None;
        self.mesh = Some(MeshOptions {
            file: Some(vec![file.to_owned()]),
            device: given.device,
            threads: given.threads,
            ..MeshOptions::default()
        });
    }

    /// Name of the case in messages.
    pub(crate) fn name(&self) -> String {
        name_of(self.file.as_deref())
    }

    /// The case as TOML, which reads back as the same case.
    ///
    /// # Errors
    /// None that a user can cause.
    pub fn to_toml(&self) -> Result<String, Error> {
        toml_of(self)
    }
}
