//! The options of a mesh, from the command line, a TOML file or a program: one struct for all three, so that names
//! cannot drift apart. Every option may be omitted; [`crate::mesh::resolve`] fills in the defaults.

use crate::polymesh::{PatchLayers, PatchType, Template};
use crate::refine::Refine;
use cutlink_common::{
    Error,
    device::DeviceOption,
    schema::{self, ByName},
};
use cutlink_hex::PolyMeshFormat;
use cutlink_mesher::placement::{Rotation, Unit};
use cutlink_voxelizer::Fill;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The options of a configuration file: its keys are the long options and `file`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct MeshOptions {
    /// Surface: STL, PLY, OBJ, OFF, 3MF, glTF, VTK, VTP (each also gzipped) or a two-column polyline (2D), told by
    /// content; `-` is standard input. Several files are one surface, each with its patches
    #[serde(with = "paths", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<paths::Paths>")]
    #[cfg_attr(feature = "clap", arg(value_name = "FILE"))]
    pub file: Option<Vec<PathBuf>>,

    /// Built-in shape instead of a file, such as sphere:r=0.5; `--shape help` lists them
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "SHAPE", help_heading = "Surface")
    )]
    pub shape: Option<String>,

    /// Maximum deviation of a shape's facets from the true surface, in metres; round shapes have the true area or
    /// volume [default: 1/64 of the finest cell]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "LENGTH", help_heading = "Surface")
    )]
    pub deviation: Option<f64>,

    /// Unit of the file: um, mm, cm, m, in, ft, km [default: m]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "UNIT", help_heading = "Placement")
    )]
    #[schemars(with = "Option<ByName<Unit>>")]
    pub unit: Option<Unit>,

    /// Scale factor, or one per axis: 2 or 1,1,0.5 [default: 1]
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "S",
            allow_hyphen_values = true,
            help_heading = "Placement"
        )
    )]
    pub scale: Option<Numbers>,

    /// Rotate about an axis through the origin, degrees, right-handed; in the order given:
    /// x:90 or x:90,z:30
    #[cfg_attr(feature = "clap", arg(long, value_name = "AXIS:DEG", value_parser = rotation, value_delimiter = ',', help_heading = "Placement"))]
    #[schemars(with = "Option<Vec<String>>")]
    pub rotate: Option<Vec<Rotation>>,

    /// Scale and centre: to this longest extent, at the origin (1.0), or into a box
    /// (x0,y0,z0,x1,y1,z1)
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "L|BOX",
            allow_hyphen_values = true,
            help_heading = "Placement"
        )
    )]
    pub fit: Option<Numbers>,

    /// Translation, applied last, in metres: x,y,z
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "X,Y,Z",
            allow_hyphen_values = true,
            help_heading = "Placement"
        )
    )]
    pub translate: Option<Numbers>,

    /// Box of the mesh, in metres: x0,y0,z0,x1,y1,z1 (2D: x0,y0,x1,y1) [default: the surface's
    /// box and 25 % of its longest extent on each side]
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "BOX",
            allow_hyphen_values = true,
            help_heading = "Mesh"
        )
    )]
    pub domain: Option<Numbers>,

    /// How to handle a box that is not a whole number of blocks: grow extends it symmetrically [default: refuse it]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_enum, value_name = "HOW", help_heading = "Mesh")
    )]
    pub snap_domain: Option<SnapDomain>,

    /// Periodic axes of the box, such as z or xz; links across these faces are cut like all others
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "AXES", help_heading = "Mesh")
    )]
    pub periodic: Option<Axes>,

    /// Root cells along the longest edge, or per axis (128x64x64); multiples of 4 [default: 64]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = "Mesh"))]
    pub root: Option<Root>,

    /// Number of levels, the root level included; each halves the cells [default: 4]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = "Mesh"))]
    pub levels: Option<usize>,

    /// Maximum number of cells, such as 20M: levels are dropped until the mesh fits
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = count, help_heading = "Mesh"))]
    pub max_cells: Option<u64>,

    /// Distance from the surface up to which cells are refined, in metres [default: 5 % of the
    /// box's longest edge]
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "LENGTH",
            help_heading = "Mesh",
            allow_negative_numbers = true
        )
    )]
    pub wall_distance: Option<f64>,

    /// Winding numbers that are inside [default: nonzero]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_enum, value_name = "RULE", help_heading = "Mesh")
    )]
    pub fill: Option<FillRule>,

    /// Where the fluid is: outside the body, or inside the surface (ducts, vessels); the rest is solid and stays coarse
    /// [default: outside]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_enum, value_name = "SIDE", help_heading = "Mesh")
    )]
    pub flow: Option<FlowSide>,

    /// Keep only the fluid connected to this point, in metres; other fluid becomes solid. Required by --fill sheets
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "X,Y,Z",
            allow_hyphen_values = true,
            help_heading = "Mesh"
        )
    )]
    pub seed: Option<Numbers>,

    /// With --fill sheets: close holes up to this diameter, in metres; slots and ducts as narrow are closed too [default:
    /// close none]
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "LENGTH",
            help_heading = "Mesh",
            allow_negative_numbers = true
        )
    )]
    pub close_holes: Option<f64>,

    /// Accept surfaces that are open or inconsistently oriented: inside is where the generalized winding number is at
    /// least 1/2
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Mesh"))]
    pub robust: bool,

    /// Find self-intersections; the facets are counted and written to NAME.intersections.stl beside the mesh, in input
    /// coordinates
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Mesh"))]
    pub check_intersections: bool,

    /// Levels of a patch, near a patch, in a region, at edges, by curvature, in gaps; repeatable: patch:wing,levels=6;
    /// near:wing,levels=5,distance=0.1; box:0,-1,-1,5,1,1,levels=3; sphere:0,0,0,r=1,levels=4;
    /// cylinder:0,0,0,5,0,0,r=1,levels=3; edges:*,levels=5; lines:FILE,levels=5; curvature:*,levels=6; gap:*,levels=5;
    /// inside:FILE,levels=3; outside:FILE,levels=2
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "RULE",
            allow_hyphen_values = true,
            help_heading = "Mesh"
        )
    )]
    pub refine: Option<Vec<Refine>>,

    /// Where to run: auto, cpu, cuda or cuda:N [default: auto]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "DEVICE", help_heading = "Run")
    )]
    pub device: Option<DeviceOption>,

    /// Worker threads; 0 uses all cores. The mesh is the same for any number [default: 0]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = "Run"))]
    pub threads: Option<usize>,

    /// Parts that the mesh is made in, one after the other: the same file with less memory on a device [default: 1]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "N", help_heading = "Run", value_parser = clap::value_parser!(u16).range(1..))
    )]
    pub ranks: Option<u16>,

    /// GPUs of this machine, from that of --device on, each of which makes a part of the mesh: the same file [default: 1]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "N", help_heading = "Run", value_parser = clap::value_parser!(u16).range(1..))
    )]
    pub gpus: Option<u16>,

    /// Mesh file to write, or a folder for it; the picture goes beside it [default: the input's
    /// name in the current folder]
    #[cfg_attr(
        feature = "clap",
        arg(short, long, value_name = "PATH", help_heading = "Output")
    )]
    pub output: Option<PathBuf>,

    /// Write the fluid as an OpenFOAM mesh too: constant/polyMesh of this case, which is created if it does not exist
    /// (3D)
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "CASE", help_heading = "Output")
    )]
    pub polymesh: Option<PathBuf>,

    /// Format of --polymesh [default: binary]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_enum, value_name = "FORMAT", help_heading = "Output")
    )]
    pub polymesh_format: Option<PolyMeshEncoding>,

    /// How --polymesh is refined: cell by cell, or in the blocks of the mesh file, with the same cells [default: cell]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_enum, value_name = "HOW", help_heading = "Output")
    )]
    pub grading: Option<PolyMeshGrading>,

    /// Least number of cells of a level of --polymesh between finer and coarser ones, 1 to 4 [default: 3]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = "Output"))]
    pub cells_between_levels: Option<u32>,

    /// Type and groups of a patch of --polymesh, of the surface or a face of the box; repeatable: inlet=patch;
    /// in*=patch,group=inlets; zMin=symmetryPlane [default: wall for the surface, patch for the box]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "NAME=TYPE", help_heading = "Output")
    )]
    pub patch: Option<Vec<PatchType>>,

    /// Closed surface, placed like the other one, whose inside is a cell zone of --polymesh, with a face zone around it; named
    /// after its file; repeatable
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "FILE", help_heading = "Output")
    )]
    pub zone: Option<Vec<PathBuf>>,

    /// Write a case of OpenFOAM around --polymesh that runs, with fields, numerics, wall functions by y+ and forces:
    /// simpleFoam, pimpleFoam or interFoam, such as simpleFoam,velocity=20,viscosity=1.5e-5
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "SOLVER", help_heading = "Output")
    )]
    pub template: Option<Template>,

    /// Layers of prisms at walls of --polymesh, of the surface or faces of the box; repeatable: body=3;
    /// *=10,first=1e-4,expansion=1.25; hull=12,y-plus=1 (with --template); keys first, final, total (m, or % of the cell),
    /// expansion, angle, least [default: none]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "NAME=N", help_heading = "Output")
    )]
    pub layers: Option<Vec<PatchLayers>>,

    /// Move the walls of --polymesh onto the surface, its sharp edges kept, where cells keep the limits of checkMesh
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Output"))]
    pub snap: bool,

    /// Do not draw the picture
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Output"))]
    pub no_picture: bool,
}

impl MeshOptions {
    /// The options that determine the mesh: without device, threads, parts and outputs.
    #[must_use]
    pub fn of_the_mesh_alone(&self) -> Self {
        Self {
            device: None,
            threads: None,
            ranks: None,
            gpus: None,
            output: None,
            polymesh: None,
            polymesh_format: None,
            grading: None,
            cells_between_levels: None,
            patch: None,
            zone: None,
            template: None,
            layers: None,
            snap: false,
            no_picture: false,
            ..self.clone()
        }
    }

    /// These options, completed by those of `other`. A file or shape given here replaces both of `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let (file, shape) = if self.file.is_some() || self.shape.is_some() {
            (self.file, self.shape)
        } else {
            (other.file, other.shape)
        };
        Self {
            file,
            shape,
            deviation: self.deviation.or(other.deviation),
            unit: self.unit.or(other.unit),
            scale: self.scale.or(other.scale),
            rotate: self.rotate.or(other.rotate),
            fit: self.fit.or(other.fit),
            translate: self.translate.or(other.translate),
            domain: self.domain.or(other.domain),
            snap_domain: self.snap_domain.or(other.snap_domain),
            periodic: self.periodic.or(other.periodic),
            root: self.root.or(other.root),
            levels: self.levels.or(other.levels),
            max_cells: self.max_cells.or(other.max_cells),
            wall_distance: self.wall_distance.or(other.wall_distance),
            fill: self.fill.or(other.fill),
            flow: self.flow.or(other.flow),
            seed: self.seed.or(other.seed),
            close_holes: self.close_holes.or(other.close_holes),
            robust: self.robust || other.robust,
            check_intersections: self.check_intersections || other.check_intersections,
            refine: self.refine.or(other.refine),
            device: self.device.or(other.device),
            threads: self.threads.or(other.threads),
            ranks: self.ranks.or(other.ranks),
            gpus: self.gpus.or(other.gpus),
            output: self.output.or(other.output),
            polymesh: self.polymesh.or(other.polymesh),
            polymesh_format: self.polymesh_format.or(other.polymesh_format),
            grading: self.grading.or(other.grading),
            cells_between_levels: self.cells_between_levels.or(other.cells_between_levels),
            patch: self.patch.or(other.patch),
            zone: self.zone.or(other.zone),
            template: self.template.or(other.template),
            layers: self.layers.or(other.layers),
            snap: self.snap || other.snap,
            no_picture: self.no_picture || other.no_picture,
        }
    }
}

/// One path or a list of paths.
mod paths {
    use schemars::JsonSchema;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::path::PathBuf;

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(
        untagged,
        expecting = "expected a path or a list of paths, such as \"a.stl\" or [\"a.stl\", \"b.obj\"]"
    )]
    pub(super) enum Paths {
        One(PathBuf),
        Several(Vec<PathBuf>),
    }

    pub(super) fn serialize<S: Serializer>(
        paths: &Option<Vec<PathBuf>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let paths = paths.as_ref().map(|paths| match &paths[..] {
            [one] => Paths::One(one.clone()),
            several => Paths::Several(several.to_vec()),
        });
        paths.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<PathBuf>>, D::Error> {
        let paths = Option::<Paths>::deserialize(deserializer)?;
        Ok(paths.map(|paths| match paths {
            Paths::One(path) => vec![path],
            Paths::Several(paths) => paths,
        }))
    }
}

/// `x:90`, or `x90` for short.
#[cfg(any(test, feature = "clap"))]
fn rotation(text: &str) -> Result<Rotation, String> {
    let text = text.trim();
    let long = match text.split_at_checked(1) {
        Some((axis, rest)) if !text.contains(':') => format!("{axis}:{rest}"),
        _ => text.to_owned(),
    };
    long.parse::<Rotation>()
        .map_err(|_| format!("`{text}` is not a rotation; write axis and degrees, such as z:90"))
}

/// `20000000`, `20M`, `1.5G`: powers of 1000.
#[cfg(any(test, feature = "clap"))]
fn count(text: &str) -> Result<u64, String> {
    scaled(text, &[("k", 1e3), ("M", 1e6), ("G", 1e9)])
        .ok_or_else(|| format!("`{text}` is not a number of cells; write 20000000 or 20M"))
}

/// A memory size in bytes: `16GiB`, `500MB`, `16G` (GiB), `1000000`.
///
/// # Errors
/// Anything else.
pub fn size(text: &str) -> Result<u64, String> {
    const KIB: f64 = 1024.0;
    let units = [
        ("KiB", KIB),
        ("MiB", KIB * KIB),
        ("GiB", KIB * KIB * KIB),
        ("TiB", KIB * KIB * KIB * KIB),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("K", KIB),
        ("M", KIB * KIB),
        ("G", KIB * KIB * KIB),
        ("T", KIB * KIB * KIB * KIB),
    ];
    scaled(text, &units)
        .ok_or_else(|| format!("`{text}` is not a memory size; write 16GiB, 500MB or bytes"))
}

/// A positive number times the factor of its unit suffix.
fn scaled(text: &str, units: &[(&str, f64)]) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = units
        .iter()
        .find_map(|&(name, by)| Some((text.strip_suffix(name)?, by)))
        .unwrap_or((text, 1.0));
    let value = number.trim().parse::<f64>().ok()? * unit;
    (1.0..1e18).contains(&value).then_some(value as u64)
}

/// One number, or several separated by commas; in TOML a number or an array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a number or an array of numbers, such as 2 or [0, 0, 1]"
)]
pub enum Numbers {
    /// One number.
    One(f64),
    /// Several numbers.
    Many(Vec<f64>),
}

impl Numbers {
    /// The numbers.
    pub fn as_slice(&self) -> &[f64] {
        match self {
            Self::One(x) => std::slice::from_ref(x),
            Self::Many(x) => x,
        }
    }
}

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| match part.trim().parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => Err(format!(
                "`{}` is not a number; separate numbers by commas, such as 0,0,1.5",
                part.trim()
            )),
        };
        let numbers: Vec<f64> = text.split(',').map(number).collect::<Result<_, _>>()?;
        Ok(match numbers[..] {
            [one] => Self::One(one),
            _ => Self::Many(numbers),
        })
    }
}

/// Root cells: along the longest edge, or per axis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "RootText", into = "RootText")]
pub enum Root {
    /// Along the longest edge of the box.
    Longest(u32),
    /// Per axis.
    Cells(Vec<u32>),
}

/// [`Root`] in TOML: `64` or `"64x32x32"`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a number of cells or a string such as \"64x32x32\""
)]
enum RootText {
    Number(u32),
    Text(String),
}

impl TryFrom<RootText> for Root {
    type Error = String;

    fn try_from(root: RootText) -> Result<Self, String> {
        match root {
            RootText::Number(n) => Ok(Self::Longest(n)),
            RootText::Text(text) => text.parse(),
        }
    }
}

impl From<Root> for RootText {
    fn from(root: Root) -> Self {
        match root {
            Root::Longest(n) => Self::Number(n),
            Root::Cells(_) => Self::Text(root.to_string()),
        }
    }
}

impl FromStr for Root {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let cells: Vec<u32> = text
            .split('x')
            .map(|n| n.trim().parse())
            .collect::<Result<_, _>>()
            .map_err(|_| format!("`{text}` is not a root grid; write 64 or 64x32x32"))?;
        Ok(match cells[..] {
            [longest] => Self::Longest(longest),
            _ => Self::Cells(cells),
        })
    }
}

impl fmt::Display for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Longest(n) => write!(f, "{n}"),
            Self::Cells(cells) => {
                let cells: Vec<String> = cells.iter().map(ToString::to_string).collect();
                f.write_str(&cells.join("x"))
            }
        }
    }
}

/// How to handle a box that does not fit its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(
    feature = "clap",
    derive(clap::ValueEnum),
    value(rename_all = "lowercase")
)]
pub enum SnapDomain {
    /// Extend it symmetrically to whole blocks
    Grow,
}

/// A set of axes, in order: `x`, `yz`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^[xyz]{0,3}$"))]
pub struct Axes(pub [bool; 3]);

impl Axes {
    /// From D flags, one per axis.
    pub fn of<const D: usize>(axes: [bool; D]) -> Self {
        Self(std::array::from_fn(|a| axes.get(a) == Some(&true)))
    }
}

const AXES: [char; 3] = ['x', 'y', 'z'];

impl FromStr for Axes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut axes = Self::default();
        for c in text.chars() {
            match AXES.iter().position(|&axis| axis == c) {
                Some(axis) if !axes.0[axis] => axes.0[axis] = true,
                _ => return Err(format!("`{text}` is not a list of axes; write z or xz")),
            }
        }
        Ok(axes)
    }
}

impl TryFrom<String> for Axes {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Axes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = AXES.iter().zip(self.0).filter(|(_, is_one)| *is_one);
        f.write_str(&named.map(|(axis, _)| axis).collect::<String>())
    }
}

impl From<Axes> for String {
    fn from(axes: Axes) -> Self {
        axes.to_string()
    }
}

/// The fill rule as an option; see [`Fill`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(
    feature = "clap",
    derive(clap::ValueEnum),
    value(rename_all = "lowercase")
)]
pub enum FillRule {
    /// Non-zero: for overlapping, nested and inside-out bodies
    NonZero,
    /// Odd: a body within a body is a cavity
    EvenOdd,
    /// None: walls without thickness, in any directions, open anywhere; the fluid is what --seed reaches between them.
    /// With --flow inside it is refused where it leaks out to the box
    Sheets,
}

impl From<FillRule> for Fill {
    fn from(rule: FillRule) -> Self {
        match rule {
            FillRule::NonZero => Self::NonZero,
            FillRule::EvenOdd => Self::EvenOdd,
            FillRule::Sheets => Self::Sheets,
        }
    }
}

/// The side of the surface that the fluid is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(
    feature = "clap",
    derive(clap::ValueEnum),
    value(rename_all = "lowercase")
)]
pub enum FlowSide {
    /// Around the body
    Outside,
    /// Inside the surface
    Inside,
}

/// [`PolyMeshFormat`] as an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(
    feature = "clap",
    derive(clap::ValueEnum),
    value(rename_all = "lowercase")
)]
pub enum PolyMeshEncoding {
    /// Text
    Ascii,
    /// Binary, 32-bit labels; 64-bit ones where the mesh needs them
    Binary,
    /// Binary, 64-bit labels
    Binary64,
}

impl From<PolyMeshEncoding> for PolyMeshFormat {
    fn from(encoding: PolyMeshEncoding) -> Self {
        match encoding {
            PolyMeshEncoding::Ascii => Self::Ascii,
            PolyMeshEncoding::Binary => Self::Binary,
            PolyMeshEncoding::Binary64 => Self::Binary64,
        }
    }
}

/// What the cells of a `polyMesh` are chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(
    feature = "clap",
    derive(clap::ValueEnum),
    value(rename_all = "lowercase")
)]
pub enum PolyMeshGrading {
    /// Cell by cell
    Cell,
    /// In blocks of 4^3 cells: the leaf cells of the mesh file
    Block,
}

/// The options as TOML; [`parse`](cutlink_common::config::parse) reads them back unchanged.
///
/// # Errors
/// None that a user can cause.
pub fn write(options: &MeshOptions) -> Result<String, Error> {
    let body = toml::to_string(options)
        .map_err(|e| Error::input("cannot write the options as TOML").because(&e))?;
    Ok(format!(
        "# cutlink {}: use with `cutlink mesh --config FILE`\n{body}",
        env!("CARGO_PKG_VERSION")
    ))
}

/// The keys that a table of options may hold, in alphabetical order.
pub fn keys() -> Vec<String> {
    schema::keys(&schema::of::<MeshOptions>(), &[]).unwrap_or_default()
}

#[cfg(test)]
mod tests;
