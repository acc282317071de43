//! From the options of a mesh to a checked job, before any work is done.

use crate::mesh::MESH_EXTENSION;
use crate::options::{
    Axes, FillRule, FlowSide, MeshOptions, Numbers, PolyMeshEncoding, PolyMeshGrading, Root,
    SnapDomain,
};
use crate::polymesh::{self, MOST_BETWEEN, PatchLayers, PatchType, Template};
use crate::refine::Refine;
use cutlink_amr::MAX_LEVELS;
use cutlink_common::{
    Error,
    device::{DeviceOption, first_gpu},
    output,
};
use cutlink_mesher::placement::{Fit, Placement, Rotation, Scale, Unit};
use cutlink_mesher::primitives::{AnyShape, parse_shape};
use cutlink_mesher::read::is_stream;
use cutlink_voxelizer::Fill;
use std::path::{Path, PathBuf};

/// The path of standard input.
pub const STDIN: &str = "-";

/// Default number of levels.
const DEFAULT_LEVELS: usize = 4;
/// Default number of root cells along the longest edge.
const DEFAULT_ROOT: u32 = 64;
/// Default number of cells between levels of a `polyMesh`.
const DEFAULT_BETWEEN: u32 = 3;

/// Where the surface comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// Files, at least one; their surfaces are one.
    Files(Vec<PathBuf>),
    /// A built-in shape.
    Shape(AnyShape),
    /// A surface that the caller has in memory.
    Memory,
}

/// Files to write.
#[derive(Debug, Clone, PartialEq)]
pub struct Targets {
    /// The mesh file.
    pub mesh: PathBuf,
    /// The picture.
    pub picture: Option<PathBuf>,
    /// Intersecting facets.
    pub intersections: Option<PathBuf>,
    /// The OpenFOAM case that gets the mesh, and how.
    pub polymesh: Option<PolyMeshTarget>,
    /// Whether its walls are moved onto the surface.
    pub snap: bool,
    /// Whether existing files are replaced.
    pub force: bool,
}

/// An OpenFOAM mesh to write.
#[derive(Debug, Clone, PartialEq)]
pub struct PolyMeshTarget {
    /// The case.
    pub case: PathBuf,
    /// The format of the mesh.
    pub encoding: PolyMeshEncoding,
    /// Cells of a level between finer and coarser ones; `None` for the cells of the leaf blocks.
    pub between: Option<u32>,
    /// Types and groups of its patches.
    pub types: Vec<PatchType>,
    /// Files of closed surfaces that make zones.
    pub zones: Vec<PathBuf>,
    /// Layers at its walls.
    pub layers: Vec<PatchLayers>,
    /// What runs on it.
    pub template: Option<Template>,
}

/// A job, checked as far as possible without reading the surface.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The surface.
    pub source: Source,
    /// Its placement.
    pub placement: Placement,
    /// The given box, if any; its number of values is checked against the surface.
    pub domain: Option<Vec<f64>>,
    /// The root grid.
    pub root: Root,
    /// Levels, at least 1, those of `refine` included.
    pub levels: usize,
    /// Levels outside the rules of `refine`.
    pub base_levels: usize,
    /// Rules for patches and regions.
    pub refine: Vec<Refine>,
    /// Whether a box that does not fit its cells is extended.
    pub snap_domain: Option<SnapDomain>,
    /// Axes along which the box is periodic.
    pub periodic: Axes,
    /// Whether the surface may be open.
    pub robust: bool,
    /// The point whose fluid is kept; its number of values is checked against the surface.
    pub seed: Option<Vec<f64>>,
    /// Diameter up to which holes between sheets are closed, in metres.
    pub close_holes: Option<f64>,
    /// Maximum number of cells, if given.
    pub max_cells: Option<u64>,
    /// Near-wall distance in metres, if given.
    pub wall_distance: Option<f64>,
    /// Deviation of shapes in metres, if given.
    pub deviation: Option<f64>,
    /// Fill rule.
    pub fill: FillRule,
    /// Where the fluid is.
    pub flow: FlowSide,
    /// The requested device.
    pub device: DeviceOption,
    /// Worker threads; 0 for all cores.
    pub threads: usize,
    /// The parts that the mesh is made in.
    pub parts: Parts,
    /// Files to write.
    pub targets: Targets,
}

/// The parts that a mesh is made in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// So many, one after the other on the device.
    InTurn(usize),
    /// One on each of so many GPUs, two at least.
    OnGpus(usize),
}

impl Parts {
    fn new(options: &MeshOptions) -> Result<Self, Error> {
        let (ranks, gpus) = (options.ranks.unwrap_or(1), options.gpus.unwrap_or(1));
        for (name, number) in [("--ranks", ranks), ("--gpus", gpus)] {
            if number == 0 {
                return Err(Error::input(format!("{name} is 0: it must be 1 at least")));
            }
        }
        if ranks > 1 && gpus > 1 {
            return Err(Error::input("--gpus and --ranks exclude each other")
                .hint("with --gpus each GPU makes a part: leave --ranks out"));
        }
        Ok(match gpus {
            1 => Self::InTurn(ranks.into()),
            gpus => Self::OnGpus(gpus.into()),
        })
    }

    /// How many.
    pub fn count(self) -> usize {
        match self {
            Self::InTurn(count) | Self::OnGpus(count) => count,
        }
    }
}

/// Makes a job from options that name a surface.
///
/// # Errors
/// No surface or two, values out of range, a shape that does not exist.
pub fn resolve(options: &MeshOptions) -> Result<Job, Error> {
    with_source(options, source(options)?)
}

/// Refuses options of the cells of `--polymesh` that cannot be.
fn check_grading(given: &MeshOptions) -> Result<(), Error> {
    for (name, is_given) in [
        ("--grading", given.grading.is_some()),
        (
            "--cells-between-levels",
            given.cells_between_levels.is_some(),
        ),
        ("--patch", given.patch.is_some()),
        ("--zone", given.zone.is_some()),
        ("--template", given.template.is_some()),
        ("--layers", given.layers.is_some()),
    ] {
        if is_given && given.polymesh.is_none() {
            return Err(Error::input(format!("{name} needs --polymesh CASE"))
                .hint("the option is for meshes of OpenFOAM"));
        }
    }
    let Some(between) = given.cells_between_levels else {
        return Ok(());
    };
    if given.grading == Some(PolyMeshGrading::Block) {
        return Err(Error::input(
            "--cells-between-levels is for --grading cell: blocks have their own balance",
        )
        .hint("omit one of them"));
    }
    match (1..=MOST_BETWEEN).contains(&between) {
        true => Ok(()),
        false => Err(Error::input(format!(
            "--cells-between-levels is {between}: it must be 1 to {MOST_BETWEEN}"
        ))),
    }
}

/// Makes a job for a surface in memory; `options` must not name one.
///
/// # Errors
/// Options that name a surface, values out of range.
pub fn resolve_for_surface(options: &MeshOptions) -> Result<Job, Error> {
    if options.file.is_some() || options.shape.is_some() {
        return Err(
            Error::input("the options name a surface, but another one is given in memory")
                .hint("remove `file` and `shape`"),
        );
    }
    with_source(options, Source::Memory)
}

fn with_source(options: &MeshOptions, source: Source) -> Result<Job, Error> {
    let given = options.clone();
    let levels = given.levels.unwrap_or(DEFAULT_LEVELS);
    if levels == 0 || levels > MAX_LEVELS {
        return Err(Error::input(format!(
            "--levels is {levels}: it must be 1 to {MAX_LEVELS}, the root level included"
        )));
    }
    length("--wall-distance", given.wall_distance, true)?;
    length("--deviation", given.deviation, false)?;
    if given.deviation.is_some() && !matches!(source, Source::Shape(_)) {
        return Err(Error::input(
            "--deviation applies to shapes only: the facets of a file are used unchanged",
        )
        .hint("omit --deviation"));
    }
    let fill = given.fill.unwrap_or(FillRule::NonZero);
    if given.robust && fill == FillRule::EvenOdd {
        return Err(Error::input(
            "--robust uses generalized winding numbers, which have no parity",
        )
        .hint("omit --fill evenodd or --robust"));
    }
    check_sheets(&given, fill)?;
    if given.polymesh_format.is_some() && given.polymesh.is_none() {
        return Err(Error::input("--polymesh-format needs --polymesh CASE"));
    }
    check_grading(&given)?;
    if given.snap && given.polymesh.is_none() {
        return Err(Error::input("--snap needs --polymesh CASE")
            .hint("cells of the mesh file stay cubes: its walls are in the table of cut links"));
    }
    let refine = given.refine.clone().unwrap_or_default();
    let mut device = given.device.unwrap_or_default();
    let parts = Parts::new(&given)?;
    if let Parts::OnGpus(gpus) = parts {
        device.0 = first_gpu(device.0, gpus)?;
    }
    if let Some(path) = given.output.as_deref() {
        output::check_kind(path)?;
    }
    let targets = targets(&source, &given);
    Ok(Job {
        placement: placement(&given)?,
        domain: given.domain.map(|d| d.as_slice().to_vec()),
        root: given.root.unwrap_or(Root::Longest(DEFAULT_ROOT)),
        levels: refine.iter().map(|r| r.levels).fold(levels, usize::max),
        base_levels: levels,
        refine,
        snap_domain: given.snap_domain,
        periodic: given.periodic.unwrap_or_default(),
        robust: given.robust,
        seed: given.seed.as_ref().map(|s| s.as_slice().to_vec()),
        close_holes: given.close_holes,
        max_cells: given.max_cells,
        wall_distance: given.wall_distance,
        deviation: given.deviation,
        fill,
        flow: given.flow.unwrap_or(FlowSide::Outside),
        device,
        threads: given.threads.unwrap_or(0),
        parts,
        targets,
        source,
    })
}

/// Checks what goes with `--fill sheets`.
fn check_sheets(given: &MeshOptions, fill: FillRule) -> Result<(), Error> {
    length("--close-holes", given.close_holes, false)?;
    if fill != FillRule::Sheets {
        return match given.close_holes {
            Some(_) => Err(Error::input("--close-holes needs --fill sheets").hint(
                "add --fill sheets and --seed X,Y,Z, or close holes by generalized winding numbers: --robust",
            )),
            None => Ok(()),
        };
    }
    if given.seed.is_none() {
        return Err(
            Error::input("--fill sheets needs --seed: without it nothing is solid")
                .hint("give a point in the fluid: --seed X,Y,Z, in metres after placement"),
        );
    }
    if given.robust {
        return Err(
            Error::input("--robust decides what is inside, and sheets have no inside")
                .hint("omit --robust; --close-holes LENGTH closes holes between sheets"),
        );
    }
    Ok(())
}

fn source(given: &MeshOptions) -> Result<Source, Error> {
    let files = given.file.as_deref().unwrap_or_default();
    match (files, &given.shape) {
        ([_, ..], None) => Ok(Source::Files(files.to_vec())),
        ([], Some(shape)) => Ok(Source::Shape(parse_shape(shape)?)),
        ([_, ..], Some(shape)) => Err(Error::input(format!(
            "there are two surfaces: {} and --shape {shape}",
            listed(files)
        ))
        .hint("give files or a shape")),
        ([], None) => Err(Error::input("no surface is given").hint(
            "name a surface file (STL, PLY, OBJ, OFF, 3MF, glTF, VTK, VTP, 2D polyline), or a shape such as --shape sphere; see cutlink mesh --help",
        )),
    }
}

/// The names of files, as messages have them.
pub fn listed(files: &[PathBuf]) -> String {
    let names = files.iter().map(|file| match file.as_os_str() {
        name if name == STDIN => "standard input".to_owned(),
        _ => file.display().to_string(),
    });
    names.collect::<Vec<_>>().join(", ")
}

fn length(what: &str, value: Option<f64>, zero: bool) -> Result<(), Error> {
    match value {
        Some(x) if !(x.is_finite() && (x > 0.0 || zero && x == 0.0)) => {
            let least = if zero { "0 or more" } else { "more than 0" };
            Err(Error::input(format!(
                "{what} is {x}: the length must be {least}"
            )))
        }
        _ => Ok(()),
    }
}

fn placement(given: &MeshOptions) -> Result<Placement, Error> {
    let scale = match &given.scale {
        None => Scale::default(),
        Some(Numbers::One(s)) => Scale::Uniform(*s),
        Some(Numbers::Many(s)) => Scale::PerAxis(s.clone()),
    };
    let fit = match given.fit.as_ref().map(Numbers::as_slice) {
        None => None,
        Some([longest]) => Some(Fit::Longest(*longest)),
        Some(corners) if corners.len() == 4 || corners.len() == 6 => {
            let (lower, upper) = corners.split_at(corners.len() / 2);
            Some(Fit::Box {
                lower: lower.to_vec(),
                upper: upper.to_vec(),
            })
        }
        Some(other) => {
            return Err(Error::input(format!("--fit has {} numbers", other.len()))
                .hint("give a longest extent, or a box: x0,y0,z0,x1,y1,z1 (2D: x0,y0,x1,y1)"));
        }
    };
    Ok(Placement {
        unit: given.unit.unwrap_or_default(),
        scale,
        rotate: given.rotate.clone().unwrap_or_default(),
        fit,
        translate: match &given.translate {
            Some(shift) => shift.as_slice().to_vec(),
            None => Vec::new(),
        },
    })
}

fn targets(source: &Source, given: &MeshOptions) -> Targets {
    let name = match source {
        Source::Files(paths) => stem(&paths[0]),
        Source::Shape(shape) => PathBuf::from(shape.name()),
        Source::Memory => PathBuf::from("surface"),
    };
    let with = |extension: &str| {
        let mut text = name.clone().into_os_string();
        text.push(".");
        text.push(extension);
        PathBuf::from(text)
    };
    let mesh = match given.output.as_deref() {
        None => with(MESH_EXTENSION),
        Some(folder) if folder.is_dir() => folder.join(with(MESH_EXTENSION)),
        Some(path) if path.extension().is_none() => path.with_extension(MESH_EXTENSION),
        Some(path) => path.to_owned(),
    };
    Targets {
        picture: (!given.no_picture).then(|| mesh.with_extension("png")),
        intersections: given
            .check_intersections
            .then(|| mesh.with_extension("intersections.stl")),
        polymesh: given.polymesh.clone().map(|case| PolyMeshTarget {
            case,
            encoding: given.polymesh_format.unwrap_or(PolyMeshEncoding::Binary),
            between: match given.grading {
                Some(PolyMeshGrading::Block) => None,
                Some(PolyMeshGrading::Cell) | None => {
                    Some(given.cells_between_levels.unwrap_or(DEFAULT_BETWEEN))
                }
            },
            types: given.patch.clone().unwrap_or_default(),
            zones: given.zone.clone().unwrap_or_default(),
            layers: given.layers.clone().unwrap_or_default(),
            template: given.template.clone(),
        }),
        snap: given.snap,
        mesh,
        force: false,
    }
}

/// The file name without its extension and without `.gz`; [`STDIN`] for standard input and pipes, which
/// [`Job::check_targets`] refuses.
fn stem(path: &Path) -> PathBuf {
    if is_stream(path) {
        return STDIN.into();
    }
    let packed = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    let path = if packed {
        path.with_extension("")
    } else {
        path.to_owned()
    };
    path.file_stem().unwrap_or(path.as_os_str()).into()
}

impl Job {
    /// The winding numbers that are solid.
    pub fn solid_rule(&self) -> Fill {
        let inside = Fill::from(self.fill);
        match self.flow {
            FlowSide::Outside => inside,
            FlowSide::Inside => inside.complement(),
        }
    }

    /// Checks before any work that the files can be written.
    ///
    /// # Errors
    /// As [`output::check`]; a picture with the path of the mesh.
    pub fn check_targets(&self) -> Result<(), Error> {
        let Targets {
            mesh,
            picture,
            intersections,
            polymesh,
            force,
            snap: _,
        } = &self.targets;
        let inputs: &[PathBuf] = match &self.source {
            Source::Files(paths) => paths,
            Source::Shape(_) | Source::Memory => &[],
        };
        if mesh.file_stem().is_some_and(|stem| stem == STDIN) {
            return Err(Error::input(
                "the surface comes from a pipe, which gives the mesh no name, or `-` is given as the name",
            )
            .hint("name the mesh file: --output PATH"));
        }
        if picture.as_ref() == Some(mesh) {
            return Err(Error::input(format!(
                "{} would be both the mesh file and the picture",
                mesh.display()
            ))
            .hint("give --output another extension, or use --no-picture"));
        }
        if let Some(target) = polymesh {
            polymesh::check(&target.case, *force)?;
            if let Some(template) = &target.template {
                polymesh::check_template(template, &target.case, *force)?;
            }
        }
        let beside = picture.iter().chain(intersections);
        std::iter::once(mesh).chain(beside).try_for_each(|path| {
            output::check(path, *force, None)?;
            let mut inputs = inputs.iter();
            inputs.try_for_each(|input| output::check(path, *force, Some(input)))
        })
    }

    /// All options with resolved values, as `--write-config` writes them.
    pub fn to_options<const D: usize>(
        &self,
        domain: [[f64; D]; 2],
        root_cells: [u32; D],
        wall_distance: f64,
        deviation: Option<f64>,
    ) -> MeshOptions {
        let Placement {
            unit,
            scale,
            rotate,
            fit,
            translate,
        } = self.placement.clone();
        let (file, shape) = match &self.source {
            Source::Files(paths) => (Some(paths.clone()), None),
            Source::Shape(shape) => (None, Some(shape.to_string())),
            Source::Memory => (None, None),
        };
        let target = self.targets.polymesh.as_ref();
        let shift = if translate.is_empty() {
            vec![0.0; D]
        } else {
            translate
        };
        MeshOptions {
            file,
            shape,
            deviation,
            unit: Some(unit),
            scale: Some(match scale {
                Scale::Uniform(s) => Numbers::One(s),
                Scale::PerAxis(s) => Numbers::Many(s),
            }),
            rotate: Some(rotate),
            fit: fit.map(|fit| match fit {
                Fit::Longest(extent) => Numbers::One(extent),
                Fit::Box { lower, upper } => Numbers::Many([lower, upper].concat()),
            }),
            translate: Some(Numbers::Many(shift)),
            domain: Some(Numbers::Many(domain.as_flattened().to_vec())),
            root: Some(Root::Cells(root_cells.to_vec())),
            levels: Some(self.base_levels),
            max_cells: self.max_cells,
            // The cells of a `polyMesh` depend on whether one is given.
            wall_distance: self
                .wall_distance
                .or(target.is_none().then_some(wall_distance)),
            fill: Some(self.fill),
            flow: Some(self.flow),
            seed: self.seed.clone().map(Numbers::Many),
            close_holes: self.close_holes,
            snap_domain: self.snap_domain,
            periodic: (self.periodic != Axes::default()).then_some(self.periodic),
            robust: self.robust,
            check_intersections: self.targets.intersections.is_some(),
            refine: (!self.refine.is_empty()).then(|| self.refine.clone()),
            device: Some(self.device),
            threads: Some(self.threads),
            ranks: match self.parts {
                Parts::InTurn(count) if count > 1 => u16::try_from(count).ok(),
                _ => None,
            },
            gpus: match self.parts {
                Parts::OnGpus(count) => u16::try_from(count).ok(),
                Parts::InTurn(_) => None,
            },
            output: Some(self.targets.mesh.clone()),
            polymesh: target.map(|target| target.case.clone()),
            polymesh_format: target.map(|target| target.encoding),
            grading: target.map(|target| match target.between {
                Some(_) => PolyMeshGrading::Cell,
                None => PolyMeshGrading::Block,
            }),
            cells_between_levels: target.and_then(|target| target.between),
            patch: target.map(|target| target.types.clone()),
            zone: target.map(|target| target.zones.clone()),
            template: target.and_then(|target| target.template.clone()),
            layers: target.map(|target| target.layers.clone()),
            snap: self.targets.snap,
            no_picture: self.targets.picture.is_none(),
        }
    }
}

/// The placement as text, without the parts that change nothing.
pub fn describe(placement: &Placement) -> String {
    let mut words = vec![format!("unit {}", placement.unit)];
    if placement.unit == Unit::M {
        words.clear();
    }
    let numbers = |x: &[f64]| x.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    match &placement.scale {
        Scale::Uniform(1.0) => {}
        Scale::Uniform(s) => words.push(format!("scale {s}")),
        Scale::PerAxis(s) => words.push(format!("scale {}", numbers(s))),
    }
    if !placement.rotate.is_empty() {
        let turns: Vec<String> = placement.rotate.iter().map(Rotation::to_string).collect();
        words.push(format!("rotate {}", turns.join(",")));
    }
    match &placement.fit {
        None => {}
        Some(Fit::Longest(extent)) => words.push(format!("fit {extent}")),
        Some(Fit::Box { lower, upper }) => {
            words.push(format!("fit {},{}", numbers(lower), numbers(upper)));
        }
    }
    if placement.translate.iter().any(|&x| x != 0.0) {
        words.push(format!("translate {}", numbers(&placement.translate)));
    }
    if words.is_empty() {
        return "unchanged, in metres".to_owned();
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_named_after_the_input() {
        let file = |name: &str| Source::Files(vec![name.into()]);
        let cases = [
            (file("../x/bunny.stl"), None, "bunny"),
            (file("dragon.ply.gz"), None, "dragon"),
            (file("a.b.stl"), None, "a.b"),
            (
                Source::Shape(parse_shape("sphere").expect("a shape")),
                None,
                "sphere",
            ),
            (file("bunny.stl"), Some("out/run"), "out/run"),
        ];
        for (source, output, want) in cases {
            let given = MeshOptions {
                output: output.map(PathBuf::from),
                check_intersections: true,
                ..MeshOptions::default()
            };
            let made = targets(&source, &given);
            assert_eq!(made.mesh, PathBuf::from(format!("{want}.{MESH_EXTENSION}")));
            assert_eq!(made.picture, Some(format!("{want}.png").into()), "{want}");
            let beside = format!("{want}.intersections.stl");
            assert_eq!(made.intersections, Some(beside.into()), "{want}");
        }
        let given = MeshOptions {
            output: Some("b.mesh".into()),
            no_picture: true,
            ..MeshOptions::default()
        };
        let named = targets(&file("a.stl"), &given);
        assert_eq!(named.mesh, PathBuf::from("b.mesh"), "as given");
    }
}
