//! The fluid of a mesh as an OpenFOAM `polyMesh`: castellated, so that its walls are faces of cells.
//!
//! | of the mesh | in the `polyMesh` |
//! |---|---|
//! | fluid cell of a leaf block, or one that stands for the 8 below it | a cell; solid cells are left out |
//! | side beside finer cells | four faces; their points are points of the faces around them too, so that cells are closed |
//! | face whose link the surface cuts | a wall, of the patch that is cut |
//! | the same between two fluid cells (a part thinner than a cell) | a baffle: a wall on either side, with the same points |
//! | face of the box | patch `xMin`, `xMax`, …; of a periodic axis two `cyclic` patches |
//! | fluid that no face connects to the rest | left out where it is a pocket; see [`Castellated`] |
//!
//! [`castellate`] takes the cells of leaf blocks; [`castellate_by_cell`] chooses cells one by one, and fewer.
//!
//! Cells are numbered by block, depth first, then x fastest; faces in upper-triangular order. Order and bits do not
//! depend on the number of threads. Cost: two passes over the cells.

mod arrays;
mod cells;
mod folder;
mod grading;
mod images;
mod layers;
mod patch_type;
mod pockets;
mod points;
mod processors;
mod report;
mod target;
mod template;
mod wanted;
mod writer;
mod zones;

pub use folder::{check, write};
pub(crate) use folder::{check_case, complete};
pub use grading::MOST_BETWEEN;
pub use layers::{PatchLayerCounts, PatchLayers, check as check_layers};
pub use patch_type::{PatchType, check as check_types};
pub use report::{
    PolyLayerReport, PolyMeshReport, PolyPatchReport, PolySnapReport, PolyZoneReport,
};
pub use template::{Template, check as check_template};
pub use zones::{PolyZones, ZoneSurface};

use arrays::{allocate, put_boundary, put_internal, put_points};
use cells::{Beyond, Block, CellFace, Cells};
use cutlink_common::Error;
use cutlink_device::{Backend, DeviceError, Host};
use cutlink_hex::polymesh::word;
use cutlink_hex::{PolyMesh, PolyMeshFormat, PolyPatch, QualityLimits, SnapCounts};
use cutlink_mesher::Surface;
use cutlink_mesher::snap::Snapped;
use cutlink_voxelizer::{EmbedParams, Mesh};
use grading::Grading;
use patch_type::Kind;
use points::{Points, Used};
use rayon::prelude::*;
use std::any::Any;
use std::collections::BTreeSet;
use std::path::Path;
use target::SnapSurface;
use template::CaseFiles;
use wanted::Wanted;

/// Names of the patches of the box's faces.
pub const BOX_PATCHES: [&str; 6] = ["xMin", "xMax", "yMin", "yMax", "zMin", "zMax"];
/// Blocks that a thread handles at a time.
const CHUNK: usize = 64;

/// A castellated mesh, and what one should know about it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Castellated {
    /// The mesh. Patches without a face are left out.
    pub mesh: PolyMesh,
    /// Pairs of faces at parts of the body thinner than a cell.
    pub baffles: u64,
    /// Wall faces whose patch is that of a cut nearby, since no cut link leads through them: where the surface crosses
    /// levels (`--refine`, `--robust`).
    pub guessed: u64,
    /// Cells without a neighbour along some axis, in slots and pits one cell wide. `checkMesh -allGeometry` reports them
    /// as cells with small determinant.
    pub underdetermined: u64,
    /// Cells that are coarser than a rule wants, since the blocks of the mesh end there.
    pub coarser_than_wanted: u64,
    /// Regions of the mesh that no face connects. A solver for incompressible flow needs a reference pressure in each.
    pub regions: u64,
    /// Pockets that were left out: regions with less than a thousandth of the fluid that touch no face of the box.
    pub pockets: u64,
    /// Cells of these pockets.
    pub pocket_cells: u64,
    /// Names that were changed to be words of OpenFOAM: before and after.
    pub renamed: Vec<(String, String)>,
    /// Patches of the surface without a face.
    pub without_faces: Vec<String>,
    /// Number of the surface's patch that each patch of the mesh is; none of faces of the box.
    pub sources: Vec<Option<usize>>,
    /// Names of the patches before they became words.
    pub given: Vec<String>,
    /// What [`add_layers`](Self::add_layers) did, by patch.
    pub layers: Vec<PatchLayerCounts>,
    /// What [`snap`](Self::snap) did.
    pub snapped: Option<SnapCounts>,
    /// Zones of its cells and faces.
    pub zones: PolyZones,
    /// What is said of the case that a [`Template`] wrote, by line.
    pub case: Vec<String>,
}

/// A boundary face, before points are numbered.
#[derive(Debug, Clone, Copy)]
struct Rim {
    patch: u32,
    /// Order in the patch before that of cells: the place on a periodic face, else 0.
    place: u64,
    slot: u32,
    cell: u8,
    face: CellFace,
    corners: u8,
    id: u32,
}

/// What one block adds.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    faces: u32,
    corners: u32,
}

/// What the first pass finds in some blocks.
#[derive(Debug, Default)]
struct Part {
    sizes: Vec<Size>,
    rims: Vec<Rim>,
    baffles: u64,
    guessed: u64,
    underdetermined: u64,
}

/// The polyhedral mesh of the fluid of a mesh, of the cells of its leaf blocks. Patches have the types of the rules; without
/// one, those of the surface are walls, and faces of the box of type `patch`.
///
/// # Errors
/// A mesh without fluid, or one that does not fit into memory or 32-bit ids.
pub fn castellate(mesh: &Mesh<3>, labels: &PolyLabels<'_>) -> Result<Castellated, Error> {
    reserve_blocks(mesh)?;
    of_grading(mesh, Grading::of_blocks(mesh)?, labels)
}

/// How cells are chosen one by one.
#[derive(Debug, Clone, Copy)]
pub struct CellGrading<'a> {
    /// Cells of a level between finer and coarser ones, counted over faces: 1 to [`MOST_BETWEEN`].
    pub between: u32,
    /// The surface, snapped to the lattice of the mesh.
    pub surface: &'a Snapped<3>,
    /// Levels at walls and in regions. Distances are those of cell centres from walls, the same for all levels of a rule;
    /// cells with a cut link are of the level of their block even where they are 0.
    pub params: &'a EmbedParams,
}

/// The same with fewer cells: of the blocks' cells, refined ones' included, those that a rule chooses.
///
/// # Errors
/// As [`castellate`]; a number of cells between levels that blocks have no room for.
pub fn castellate_by_cell(
    mesh: &Mesh<3>,
    rule: &CellGrading<'_>,
    labels: &PolyLabels<'_>,
) -> Result<Castellated, Error> {
    if !(1..=MOST_BETWEEN).contains(&rule.between) {
        return Err(Error::input(format!(
            "{} cells between levels: it must be 1 to {MOST_BETWEEN}",
            rule.between
        )));
    }
    reserve_blocks(mesh)?;
    let wanted = Wanted::new(rule.surface, &mesh.frame, rule.params)?;
    of_grading(mesh, Grading::by_cell(mesh, rule.between, &wanted)?, labels)
}

fn reserve_blocks(mesh: &Mesh<3>) -> Result<(), Error> {
    let each = points::BYTES_PER_BLOCK + grading::BYTES_PER_BLOCK + 96;
    let blocks = mesh.forest.capacity() as u64;
    reserve("the numbering of a polyMesh", blocks * each)
}

fn of_grading(
    mesh: &Mesh<3>,
    grading: Grading,
    labels: &PolyLabels<'_>,
) -> Result<Castellated, Error> {
    let mut cells = Cells::new(mesh, grading);
    let regions = pockets::drop_pockets(&mut cells)?;
    if cells.count == 0 {
        return Err(
            Error::input("the mesh has no fluid cells, so there is nothing to export")
                .hint("choose the side of the fluid with --flow, or a box that holds some"),
        );
    }
    let mut points = Points::new(cells.blocks.len());
    let parts = survey(&cells, &points);
    let total = points.number();
    let mut sizes = Vec::with_capacity(cells.blocks.len());
    let mut rims = Vec::new();
    let (mut baffles, mut guessed, mut underdetermined) = (0, 0, 0);
    for part in parts {
        sizes.extend(part.sizes);
        rims.extend(part.rims);
        baffles += part.baffles;
        guessed += part.guessed;
        underdetermined += part.underdetermined;
    }
    rims.par_sort_by_key(|rim| (rim.patch, rim.place));
    let mut made = Castellated {
        mesh: allocate(&cells, &sizes, &rims, total)?,
        baffles: baffles / 2,
        guessed,
        underdetermined,
        coarser_than_wanted: cells.grading.coarser_than_wanted,
        regions: regions.kept,
        pockets: regions.dropped,
        pocket_cells: regions.dropped_cells,
        renamed: Vec::new(),
        without_faces: Vec::new(),
        sources: Vec::new(),
        given: Vec::new(),
        layers: Vec::new(),
        snapped: None,
        zones: PolyZones::default(),
        case: Vec::new(),
    };
    put_patches(&mut made, mesh, labels.types, &rims);
    put_internal(&mut made.mesh, &cells, &points, &sizes);
    put_boundary(&mut made.mesh, &cells, &points, &rims);
    put_points(&mut made.mesh, &cells, &points);
    made.zones = zones::find(&cells, &made.mesh, labels.zones)?;
    Ok(made)
}

impl Castellated {
    /// Moves the walls onto the surface that they stand for, as placed in the box of `mesh`, or onto its images along periodic
    /// axes. Walls of closed holes stay. See [`cutlink_hex::snap`].
    ///
    /// # Errors
    /// Memory that is not there.
    pub fn snap(&mut self, surface: &Surface<3>, mesh: &Mesh<3>) -> Result<(), Error> {
        let patches = surface.patches.len();
        let finest = mesh.frame.dx_at(mesh.forest.finest());
        let of = |patch: usize| {
            self.sources
                .iter()
                .position(|&source| source == Some(patch))
        };
        let of = |patch: usize| of(patch).map(|patch| patch as u32);
        let places = (0..patches.max(1)).map(of).collect();
        let facets = SnapSurface::new(&images::with_images(surface, mesh), finest, places)?;
        let walls: Vec<String> = self
            .mesh
            .patches
            .iter()
            .zip(&self.sources)
            .filter(|(_, source)| source.is_some_and(|patch| patch < patches))
            .map(|(patch, _)| patch.name.clone())
            .collect();
        let is_wall = |patch: &PolyPatch| walls.contains(&patch.name);
        let limits = QualityLimits::default();
        let counts = self.mesh.snap(&facets, is_wall, &limits);
        self.snapped = Some(counts.map_err(no_memory)?);
        Ok(())
    }
}

/// What the parts of a `polyMesh` are.
#[derive(Debug, Clone, Copy, Default)]
pub struct PolyLabels<'a> {
    /// Types and groups of patches; see [`check_types`].
    pub types: &'a [PatchType],
    /// Surfaces of zones.
    pub zones: &'a [ZoneSurface],
}

/// What to make of a mesh, and where.
#[derive(Debug, Clone, Copy)]
pub struct PolyMeshExport<'a> {
    /// How cells are chosen one by one; without it they are those of the leaf blocks.
    pub cells: Option<CellGrading<'a>>,
    /// Types of patches, and zones.
    pub labels: PolyLabels<'a>,
    /// What runs on it: the other files of the case.
    pub template: Option<&'a Template>,
    /// Layers at walls.
    pub layers: &'a [PatchLayers],
    /// The surface that walls move onto, as placed.
    pub snap_to: Option<&'a Surface<3>>,
    /// The case.
    pub case: &'a Path,
    /// The format of its mesh.
    pub format: PolyMeshFormat,
    /// Whether an earlier mesh is replaced.
    pub force: bool,
}

/// Castellates a mesh and writes it into a case: [`castellate`] or [`castellate_by_cell`], [`Castellated::snap`] if there
/// is a surface, [`Castellated::add_layers`], then [`write()`] and the files of the template. Returns the mesh and the bytes written.
///
/// # Errors
/// As these; a 2D mesh; patches that the template has no condition for, before anything is written.
pub fn export<const D: usize>(
    mesh: &Mesh<D>,
    of: &PolyMeshExport<'_>,
) -> Result<(Castellated, u64), Error> {
    let mesh: &dyn Any = mesh;
    let mesh: &Mesh<3> = mesh.downcast_ref().ok_or_else(planar)?;
    let finest = mesh.frame.dx_at(mesh.forest.finest());
    let mut made = match &of.cells {
        Some(rule) => castellate_by_cell(mesh, rule, &of.labels)?,
        None => castellate(mesh, &of.labels)?,
    };
    if let Some(surface) = of.snap_to {
        made.snap(surface, mesh)?;
    }
    if !of.layers.is_empty() {
        let unit = match of.template {
            Some(template) => Some(template::wall_unit(template, &made)?),
            None => None,
        };
        made.add_layers(of.layers, unit)?;
    }
    let height = made.wall_height(finest);
    let files = match of.template {
        Some(template) => Some(CaseFiles::new(template, &made, finest, height)?),
        None => None,
    };
    let mut bytes = write(&made.mesh, &made.zones, of.case, of.format, of.force)?;
    if let Some(files) = files {
        bytes += files.write(of.case)?;
        processors::clear(of.case)?;
        if let Some(counts) = files.parts {
            let fields = files.fields();
            bytes += processors::write(&made, counts, &fields, of.case, of.format)?;
        }
        made.case = files.told;
    }
    Ok((made, bytes))
}

/// The error for a 2D mesh.
pub fn planar() -> Error {
    Error::input("a polyMesh needs a 3D mesh, and this one is 2D").hint("omit --polymesh")
}

fn reserve(what: &'static str, bytes: u64) -> Result<(), Error> {
    Host.reserve(what, bytes).map_err(no_memory)
}

fn no_memory(error: DeviceError) -> Error {
    Error::from(error).hint("use fewer levels or a coarser root grid")
}

/// Sizes of all blocks, boundary faces, and marks of the points in use.
fn survey(cells: &Cells<'_>, points: &Points) -> Vec<Part> {
    let survey = |slots: std::ops::Range<usize>| {
        let mut part = Part::default();
        let mut outline = Vec::with_capacity(8);
        for slot in slots {
            let block = Block::new(cells, slot);
            let (mut used, mut size) = (Used::none(), Size::default());
            used.add_corners(block.kept);
            let (first, hanging) = (first_of(cells, &block), block.has_finer());
            each_cell(block.kept, |cell, rank| {
                let id = first.wrapping_add(rank);
                let mut axes = 0;
                block.faces(cell, |face| {
                    let is_coupled = match face.beyond {
                        Beyond::Cell(_) => true,
                        Beyond::Box => cells.mesh.forest.periodic[face.side.axis()],
                        Beyond::Wall(_) => false,
                    };
                    axes |= u8::from(is_coupled) << face.side.axis();
                    if let Beyond::Cell(other) = face.beyond
                        && other < id
                    {
                        return;
                    }
                    let is_internal = matches!(face.beyond, Beyond::Cell(_));
                    size.faces += u32::from(is_internal);
                    if is_internal && !hanging {
                        size.corners += 4;
                        return;
                    }
                    block.outline(cell, face, &mut outline);
                    if hanging {
                        outline.iter().for_each(|&at| used.add(at));
                    }
                    if is_internal {
                        size.corners += outline.len() as u32;
                        return;
                    }
                    part.baffles += u64::from(face.baffle);
                    part.guessed += u64::from(face.guessed);
                    part.rims
                        .push(rim(cells, &block, slot, cell, id, face, &outline));
                });
                part.underdetermined += u64::from(axes != 7);
            });
            points.mark(&block, &used);
            part.sizes.push(size);
        }
        part
    };
    let slots = cells.blocks.len();
    (0..slots.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| survey(chunk * CHUNK..slots.min((chunk + 1) * CHUNK)))
        .collect()
}

/// Cells of a mask with their rank.
fn each_cell(mask: u64, mut f: impl FnMut(u32, u32)) {
    let (mut rest, mut rank) = (mask, 0);
    while rest != 0 {
        f(rest.trailing_zeros(), rank);
        rest &= rest - 1;
        rank += 1;
    }
}

/// The number of the first cell of a block that keeps some, else anything.
fn first_of(cells: &Cells<'_>, block: &Block<'_, '_>) -> u32 {
    let cell = block.kept.trailing_zeros().min(63);
    cells.id(cutlink_amr::CellRef {
        block: block.id,
        cell,
    })
}

fn rim(
    cells: &Cells<'_>,
    block: &Block<'_, '_>,
    slot: usize,
    cell: u32,
    id: u32,
    face: CellFace,
    outline: &[[u8; 3]],
) -> Rim {
    let side = usize::from(face.side.0);
    let (patch, place) = match face.beyond {
        Beyond::Wall(patch) => (patch, 0),
        _ if cells.mesh.forest.periodic[face.side.axis()] => {
            // Both faces of the box have the same places, so their faces match one another.
            let lowest = |a: usize| outline.iter().map(|at| at[a]).min().unwrap_or(0);
            let up = cells.mesh.forest.finest() - block.level;
            let coord = cells.mesh.forest.coord[block.id as usize];
            let on = |a: usize| u64::from(8 * coord[a] as u32 + u32::from(lowest(a))) << up;
            let axis = face.side.axis();
            (
                box_patch(cells.mesh, side),
                on((axis + 2) % 3) << 32 | on((axis + 1) % 3),
            )
        }
        _ => (box_patch(cells.mesh, side), 0),
    };
    Rim {
        patch,
        place,
        slot: slot as u32,
        cell: cell as u8,
        face,
        corners: outline.len() as u8,
        id,
    }
}

fn box_patch(mesh: &Mesh<3>, side: usize) -> u32 {
    (mesh.patches.len() + side) as u32
}

/// Patches with faces, in the order of the surface's, then of the box's.
fn put_patches(made: &mut Castellated, mesh: &Mesh<3>, types: &[PatchType], rims: &[Rim]) {
    let walls = mesh.patches.len();
    let mut names = BTreeSet::from(BOX_PATCHES.map(str::to_owned));
    let mut start = made.mesh.internal_faces();
    for patch in 0..walls + 6 {
        let at = |patch: usize| rims.partition_point(|rim| (rim.patch as usize) < patch);
        let faces = at(patch + 1) - at(patch);
        let (name, (kind, entries)) = match patch.checked_sub(walls) {
            None => {
                let given = &mesh.patches[patch];
                let name = free_word(given, &mut names);
                if name != *given {
                    made.renamed.push((given.clone(), name.clone()));
                }
                (name, patch_type::of(types, given, Kind::Wall))
            }
            Some(side) if mesh.forest.periodic[side / 2] => {
                (BOX_PATCHES[side].to_owned(), ("cyclic", cyclic(mesh, side)))
            }
            Some(side) => {
                let name = BOX_PATCHES[side];
                (name.to_owned(), patch_type::of(types, name, Kind::Patch))
            }
        };
        if faces == 0 {
            made.without_faces.extend((patch < walls).then_some(name));
            continue;
        }
        made.sources.push((patch < walls).then_some(patch));
        let given = mesh.patches.get(patch);
        made.given.push(given.unwrap_or(&name).clone());
        let kind = kind.to_owned();
        made.mesh.patches.push(PolyPatch {
            name,
            kind,
            start,
            faces,
            entries,
        });
        start += faces;
    }
}

fn cyclic(mesh: &Mesh<3>, side: usize) -> Vec<(String, String)> {
    let axis = side / 2;
    let extent = mesh.frame.dx * f64::from(mesh.frame.root_cells[axis]);
    let mut apart = [0.0; 3];
    apart[axis] = if side.is_multiple_of(2) {
        extent
    } else {
        -extent
    };
    let [x, y, z] = apart;
    [
        ("inGroups", "1(cyclic)".to_owned()),
        ("matchTolerance", "0.0001".to_owned()),
        ("neighbourPatch", BOX_PATCHES[side ^ 1].to_owned()),
        ("transform", "translational".to_owned()),
        ("separationVector", format!("({x:?} {y:?} {z:?})")),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into()
}

/// The word of a name, numbered where another patch has it already.
fn free_word(name: &str, names: &mut BTreeSet<String>) -> String {
    let word = word(name);
    let numbered = (2..).map(|n| format!("{word}_{n}"));
    let free = std::iter::once(word.clone()).chain(numbered);
    let free = free.into_iter().find(|name| names.insert(name.clone()));
    free.unwrap_or(word)
}
