//! The TOML file of a flow, as written; [`crate::solve::resolve`] converts it to parameters.
//!
//! Numbers are in SI units, or in any consistent system. `docs/case.md` describes every key; an unknown key is an error
//! that suggests the nearest known one.

use crate::error::Error;
use crate::fields::OutputSpec;
use crate::options::{Axes, MeshOptions, Numbers, Root};
use crate::solve::flux::{self, SolverTable};
use crate::solve::value::Value;
use cutlink_solver::{Collision, Interpolation, LatticeKind, Les, Precision, WallScheme};
use serde::de::value::MapAccessDeserializer;
use serde::de::{IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// A case as given by the user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "docs/case.md describes the keys")]
pub struct Case {
    /// The file it was read from.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solver: Option<SolverTable>,
    pub mesh: Option<MeshOptions>,
    pub domain: Option<DomainTable>,
    pub physics: PhysicsTable,
    pub numerics: NumericsTable,
    pub boundary: BoundaryTable,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<InitialTable>,
    /// By name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub patches: BTreeMap<String, PatchTable>,
    pub free_stream: Option<FreeStreamTable>,
    /// Patch names or patterns, by group name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<String, Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapt: Option<AdaptTable>,
    pub run: RunTable,
    pub output: OutputTable,
}

/// A box without a body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "docs/case.md describes the keys")]
pub struct DomainTable {
    #[serde(rename = "box")]
    pub bounds: Vec<f64>,
    pub root: Root,
}

/// The fluid.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "docs/case.md describes the keys")]
pub struct PhysicsTable {
    pub re: Option<f64>,
    pub length: Option<f64>,
    pub velocity: Option<f64>,
    pub viscosity: Option<f64>,
    pub density: Option<f64>,
    pub lattice_velocity: Option<f64>,
    pub mach: Option<f64>,
    pub area: Option<f64>,
    pub acceleration: Option<Vec<Value>>,
    pub moment_center: Option<Vec<f64>>,
}

/// A wall model, by name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WallModelName {
    /// None: the cells at the wall resolve the boundary layer.
    #[default]
    None,
    /// The law of the wall.
    Equilibrium,
}

/// Lattice, collision and other numerics.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "docs/case.md describes the keys")]
pub struct NumericsTable {
    #[serde(with = "by_name")]
    pub lattice: Option<LatticeKind>,
    #[serde(with = "by_name")]
    pub collision: Option<Collision>,
    pub magic: Option<f64>,
    #[serde(with = "by_name")]
    pub les: Option<Les>,
    pub les_constant: Option<f64>,
    #[serde(with = "by_name")]
    pub precision: Option<Precision>,
    #[serde(with = "by_name")]
    pub interpolation: Option<Interpolation>,
    #[serde(with = "by_name")]
    pub wall: Option<WallScheme>,
    pub wall_model: Option<WallModelName>,
    pub allow_unstable: Option<bool>,
}

/// The faces of the box.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "docs/case.md describes the keys")]
pub struct BoundaryTable {
    #[serde(rename = "x-", deserialize_with = "short")]
    pub x_lower: Option<FaceTable>,
    #[serde(rename = "x+", deserialize_with = "short")]
    pub x_upper: Option<FaceTable>,
    #[serde(rename = "y-", deserialize_with = "short")]
    pub y_lower: Option<FaceTable>,
    #[serde(rename = "y+", deserialize_with = "short")]
    pub y_upper: Option<FaceTable>,
    #[serde(rename = "z-", deserialize_with = "short")]
    pub z_lower: Option<FaceTable>,
    #[serde(rename = "z+", deserialize_with = "short")]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "docs/case.md describes the names")]
pub enum FaceKind {
    Velocity,
    MassFlow,
    Pressure,
    Periodic,
    NoSlip,
    FreeSlip,
    Outflow,
    FarField,
}

/// A face; in TOML the name of its type suffices if no other key is needed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "docs/case.md describes the keys")]
pub struct FaceTable {
    #[serde(rename = "type")]
    pub kind: FaceKind,
    #[serde(default)]
    pub velocity: Option<Vec<Value>>,
    #[serde(default)]
    pub pressure: Option<Value>,
    #[serde(default)]
    pub center: Option<Vec<f64>>,
    /// The table that `profile` read from a file, by column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<BTreeMap<String, Vec<f64>>>,
    #[serde(default)]
    pub profile: Option<String>,
    #[serde(default)]
    pub mean: Option<f64>,
    #[serde(default)]
    pub max: Option<f64>,
    #[serde(default)]
    pub radius: Option<f64>,
    #[serde(default)]
    pub exponent: Option<f64>,
    #[serde(default)]
    pub reference_height: Option<f64>,
    #[serde(default)]
    pub axis: Option<AxisName>,
    #[serde(default)]
    pub direction: Option<Vec<f64>>,
    #[serde(default)]
    pub mass_flow: Option<f64>,
    #[serde(default)]
    pub ramp: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sponge: Option<SpongeTable>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turbulence: Option<TurbulenceTable>,
}

/// Turbulence that enters through a face.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "docs/case.md describes the keys")]
pub struct TurbulenceTable {
    pub intensity: f64,
    pub length: f64,
    #[serde(default)]
    pub seed: u32,
    #[serde(default)]
    pub spectrum: Option<SpectrumName>,
    #[serde(default)]
    pub shortest: Option<f64>,
}

/// An energy spectrum of turbulence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "docs/case.md describes the names")]
pub enum SpectrumName {
    #[default]
    VonKarman,
}

/// A layer at a face that damps sound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "docs/case.md describes the keys")]
pub struct SpongeTable {
    pub length: f64,
    #[serde(default)]
    pub strength: Option<f64>,
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
        }
    }
}

/// The type of a patch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "docs/case.md describes the names")]
pub enum PatchKind {
    #[default]
    Wall,
    Velocity,
    MassFlow,
    Rotating,
    Pressure,
}

/// A patch of the surface.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "docs/case.md describes the keys")]
pub struct PatchTable {
    #[serde(rename = "type")]
    pub kind: PatchKind,
    #[serde(with = "by_name")]
    pub wall: Option<WallScheme>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_model: Option<WallModelName>,
    pub velocity: Option<Vec<Value>>,
    pub center: Option<Vec<f64>>,
    pub omega: Option<Numbers>,
    pub pressure: Option<Value>,
    /// The table that `profile` read from a file, by column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<BTreeMap<String, Vec<f64>>>,
    pub profile: Option<String>,
    pub mean: Option<f64>,
    pub max: Option<f64>,
    pub radius: Option<f64>,
    pub exponent: Option<f64>,
    pub reference_height: Option<f64>,
    pub axis: Option<AxisName>,
    pub direction: Option<Vec<f64>>,
    pub mass_flow: Option<f64>,
    pub ramp: Option<f64>,
}

/// An axis, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "docs/case.md describes the names")]
pub enum AxisName {
    X,
    Y,
    Z,
}

/// A predefined initial field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "docs/case.md describes the names")]
pub enum Preset {
    Rest,
    FreeStream,
    TaylorGreen,
    Vortex,
    VortexRing,
    ShearLayer,
}

/// The initial state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "docs/case.md describes the keys")]
pub struct InitialTable {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<PathBuf>,
    pub preset: Option<Preset>,
    pub velocity: Option<Vec<Value>>,
    pub pressure: Option<Value>,
    pub density: Option<Value>,
    pub center: Option<Vec<f64>>,
    pub radius: Option<f64>,
    pub thickness: Option<f64>,
    pub amplitude: Option<f64>,
    pub circulation: Option<f64>,
    pub core: Option<f64>,
    pub axis: Option<AxisName>,
}

/// The free stream, which also gives the axes of drag and lift.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "docs/case.md describes the keys")]
pub struct FreeStreamTable {
    pub speed: Option<f64>,
    pub angle: Option<f64>,
    pub sideslip: Option<f64>,
}

/// How the mesh follows the flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "docs/case.md describes the keys")]
pub struct AdaptTable {
    pub every: Option<u64>,
    pub levels: Option<usize>,
    pub max_cells: Option<u64>,
    pub buffer: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<CriterionTable>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limit: Vec<LimitTable>,
}

/// A criterion of [`AdaptTable`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "docs/case.md describes the keys")]
pub struct CriterionTable {
    pub what: Option<String>,
    pub refine: Option<f64>,
    pub coarsen: Option<f64>,
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
}

/// A box of [`AdaptTable`] in which the mesh stays coarse.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "docs/case.md describes the keys")]
pub struct LimitTable {
    #[serde(rename = "box")]
    pub bounds: Option<Vec<f64>>,
    pub levels: Option<usize>,
}

/// The duration of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "docs/case.md describes the keys")]
pub struct RunTable {
    pub steps: Option<u64>,
    pub seconds: Option<f64>,
    pub flow_through: Option<f64>,
    pub settle: Option<f64>,
    pub most: Option<u64>,
}

/// Units of fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "docs/case.md describes the names")]
pub enum FieldUnitsName {
    #[default]
    Si,
    Reference,
    Lattice,
}

/// The outputs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "docs/case.md describes the keys")]
pub struct OutputTable {
    pub folder: Option<PathBuf>,
    pub forces_every: Option<u64>,
    pub integrals_every: Option<u64>,
    pub checkpoint_every: Option<u64>,
    pub checkpoint_at_end: Option<bool>,
    pub units: Option<FieldUnitsName>,
    pub averages: Option<AveragesTable>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recirculation: Option<RecirculationTable>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<OutputSpec>,
}

/// The samples of the averages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "docs/case.md describes the keys")]
pub struct AveragesTable {
    pub from_steps: Option<u64>,
    pub from_seconds: Option<f64>,
    pub from_flow_through: Option<f64>,
    pub every_steps: Option<u64>,
}

/// The line along which the recirculation length is measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(missing_docs, reason = "docs/case.md describes the keys")]
pub struct RecirculationTable {
    pub from: Option<Vec<f64>>,
    pub direction: Option<Vec<f64>>,
}

impl Case {
    /// Reads a case from a TOML file.
    ///
    /// # Errors
    /// As [`config::read`](crate::config::read).
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display();
        let text = crate::config::text(path)?;
        Ok(Self {
            file: Some(path.to_owned()),
            ..flux::parse(&name.to_string(), &text)?
        })
    }

    /// Parses a case. Its output folder is `[output] folder`.
    ///
    /// # Errors
    /// As [`config::parse`](crate::config::parse).
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        flux::parse("case", text)
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
}

/// Serializes values by name.
pub(super) mod by_name {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::fmt::Display;
    use std::str::FromStr;

    pub(in crate::solve) fn serialize<T: Display, S: Serializer>(
        value: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => to.collect_str(value),
            None => to.serialize_none(),
        }
    }

    pub(in crate::solve) fn deserialize<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let name = String::deserialize(from)?;
        name.parse().map(Some).map_err(serde::de::Error::custom)
    }
}

/// A face that the name of its type suffices for.
pub(in crate::solve) trait ByType<'de>:
    Deserialize<'de> + From<Self::Kind>
{
    /// Its type.
    type Kind: Deserialize<'de>;
}

impl ByType<'_> for FaceTable {
    type Kind = FaceKind;
}

/// A face by the name of its type or as a table.
pub(in crate::solve) fn short<'de, D: Deserializer<'de>, F: ByType<'de>>(
    from: D,
) -> Result<Option<F>, D::Error> {
    struct Either<F>(PhantomData<F>);
    impl<'de, F: ByType<'de>> Visitor<'de> for Either<F> {
        type Value = F;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a type such as \"periodic\", or a table such as { type = \"periodic\" }")
        }

        fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<F, E> {
            F::Kind::deserialize(name.into_deserializer()).map(F::from)
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<F, A::Error> {
            F::deserialize(MapAccessDeserializer::new(map))
        }
    }
    from.deserialize_any(Either(PhantomData)).map(Some)
}
