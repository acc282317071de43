//! The fluid of a mesh as an OpenFOAM `polyMesh`: castellated, so that its walls are faces of cells.
//!
//! | of the mesh | in the `polyMesh` |
//! |---|---|
//! | fluid leaf cell | a cell; solid cells are left out |
//! | side beside finer cells | four faces; their points are points of the faces around them too, so that cells are closed |
//! | face whose link the surface cuts | a wall, of the patch that is cut |
//! | the same between two fluid cells (a part thinner than a cell) | a baffle: a wall on either side, with the same points |
//! | face of the box | patch `xMin`, `xMax`, …; of a periodic axis two `cyclic` patches |
//! | fluid that no face connects to the rest | left out where it is a pocket; see [`Castellated`] |
//!
//! Cells are numbered by leaf block, depth first, then x fastest; faces in upper-triangular order. Order and bits do not
//! depend on the number of threads. Cost: two passes over the cells.

mod cells;
mod folder;
mod pockets;
mod points;
mod report;
mod target;
mod writer;

pub use folder::{check, write};
pub(crate) use folder::{check_case, complete};
pub use report::{PolyMeshReport, PolyPatchReport, PolySnapReport};

use cells::{Beyond, Block, CellFace, Cells};
use cutlink_common::{Error, ErrorKind};
use cutlink_device::{Backend, DeviceError, Host, memory};
use cutlink_hex::polymesh::word;
use cutlink_hex::{PolyLevels, PolyMesh, PolyMeshFormat, PolyPatch, QualityLimits, SnapCounts};
use cutlink_mesher::Surface;
use cutlink_voxelizer::Mesh;
use points::{Points, Used};
use rayon::prelude::*;
use std::any::Any;
use std::collections::BTreeSet;
use std::path::Path;
use target::SnapSurface;
use writer::Writer;

/// Names of the patches of the box's faces.
pub const BOX_PATCHES: [&str; 6] = ["xMin", "xMax", "yMin", "yMax", "zMin", "zMax"];
/// Leaves that a thread handles at a time.
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
    /// What [`snap`](Self::snap) did.
    pub snapped: Option<SnapCounts>,
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

/// What one leaf adds.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    faces: u32,
    corners: u32,
}

/// What the first pass finds in some leaves.
#[derive(Debug, Default)]
struct Part {
    sizes: Vec<Size>,
    rims: Vec<Rim>,
    baffles: u64,
    guessed: u64,
    underdetermined: u64,
}

/// The polyhedral mesh of the fluid of a mesh.
///
/// # Errors
/// A mesh without fluid, or one that does not fit into memory or 32-bit ids.
pub fn castellate(mesh: &Mesh<3>) -> Result<Castellated, Error> {
    let leaves = mesh.forest.leaves().count() as u64;
    reserve(
        "the numbering of a polyMesh",
        leaves * (points::BYTES_PER_LEAF + 96),
    )?;
    let mut cells = Cells::new(mesh);
    let regions = pockets::drop_pockets(&mut cells)?;
    if cells.count == 0 {
        return Err(
            Error::input("the mesh has no fluid cells, so there is nothing to export")
                .hint("choose the side of the fluid with --flow, or a box that holds some"),
        );
    }
    let mut points = Points::new(cells.leaves.len());
    let parts = survey(&cells, &points);
    let total = points.number();
    let mut sizes = Vec::with_capacity(cells.leaves.len());
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
        regions: regions.kept,
        pockets: regions.dropped,
        pocket_cells: regions.dropped_cells,
        renamed: Vec::new(),
        without_faces: Vec::new(),
        sources: Vec::new(),
        snapped: None,
    };
    put_patches(&mut made, mesh, &rims);
    put_internal(&mut made.mesh, &cells, &points, &sizes);
    put_boundary(&mut made.mesh, &cells, &points, &rims);
    put_points(&mut made.mesh, &cells, &points);
    Ok(made)
}

impl Castellated {
    /// Moves the walls onto the surface that they stand for, as placed in the box; `finest` is the length of the finest
    /// cells. Walls of closed holes stay. See [`cutlink_hex::snap`].
    ///
    /// # Errors
    /// Memory that is not there.
    pub fn snap(&mut self, surface: &Surface<3>, finest: f64) -> Result<(), Error> {
        let patches = surface.patches.len();
        let facets = SnapSurface::new(surface, finest)?;
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

/// Castellates a mesh and writes it into a case: [`castellate`], [`Castellated::snap`] if there is a surface, then
/// [`write()`]. Returns the mesh and the bytes written.
///
/// # Errors
/// As these; a 2D mesh.
pub fn export<const D: usize>(
    mesh: &Mesh<D>,
    surface: Option<&Surface<3>>,
    case: &Path,
    format: PolyMeshFormat,
    force: bool,
) -> Result<(Castellated, u64), Error> {
    let mesh: &dyn Any = mesh;
    let mesh: &Mesh<3> = mesh.downcast_ref().ok_or_else(planar)?;
    let mut made = castellate(mesh)?;
    if let Some(surface) = surface {
        made.snap(surface, mesh.frame.dx_at(mesh.forest.finest()))?;
    }
    let bytes = write(&made.mesh, case, format, force)?;
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

/// Sizes of all leaves, boundary faces, and marks of the points in use.
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
    let slots = cells.leaves.len();
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

/// The mesh with arrays of the right lengths.
fn allocate(
    cells: &Cells<'_>,
    sizes: &[Size],
    rims: &[Rim],
    points: u64,
) -> Result<PolyMesh, Error> {
    let internal: u64 = sizes.iter().map(|s| u64::from(s.faces)).sum();
    let corners: u64 = sizes.iter().map(|s| u64::from(s.corners)).sum();
    let corners = corners + rims.iter().map(|r| u64::from(r.corners)).sum::<u64>();
    let faces = internal + rims.len() as u64;
    if points.max(corners).max(cells.count) > u64::from(u32::MAX) {
        return Err(Error::new(
            ErrorKind::Memory,
            format!(
                "a polyMesh of {} cells has more than 2^32 face corners",
                cells.count
            ),
        )
        .hint("use fewer levels or a coarser root grid"));
    }
    let bytes = 25 * points + cells.count + 4 * (corners + faces + 1 + faces + internal);
    reserve("a polyMesh", bytes)?;
    Ok(PolyMesh {
        points: filled("points", points, [0.0; 3])?,
        face_start: filled("faces", faces + 1, 0)?,
        face_points: filled("face corners", corners, 0)?,
        owner: filled("face owners", faces, 0)?,
        neighbour: filled("face neighbours", internal, 0)?,
        patches: Vec::new(),
        cells: cells.count as usize,
        levels: Some(PolyLevels {
            cell: filled("cell levels", cells.count, 0)?,
            point: filled("point levels", points, 0)?,
            edge: cells.mesh.frame.dx,
        }),
    })
}

fn filled<T: cutlink_device::Item>(
    what: &'static str,
    len: u64,
    value: T,
) -> Result<Vec<T>, Error> {
    let mut buf = memory::with_capacity(what, len as usize)?;
    buf.resize(len as usize, value);
    Ok(buf)
}

/// Patches with faces, in the order of the surface's, then of the box's.
fn put_patches(made: &mut Castellated, mesh: &Mesh<3>, rims: &[Rim]) {
    let walls = mesh.patches.len();
    let mut names = BTreeSet::from(BOX_PATCHES.map(str::to_owned));
    let mut start = made.mesh.internal_faces();
    for patch in 0..walls + 6 {
        let at = |patch: usize| rims.partition_point(|rim| (rim.patch as usize) < patch);
        let faces = at(patch + 1) - at(patch);
        let (name, kind, entries) = match patch.checked_sub(walls) {
            None => {
                let name = free_word(&mesh.patches[patch], &mut names);
                if name != mesh.patches[patch] {
                    made.renamed
                        .push((mesh.patches[patch].clone(), name.clone()));
                }
                (
                    name,
                    "wall",
                    vec![("inGroups".to_owned(), "1(wall)".to_owned())],
                )
            }
            Some(side) if mesh.forest.periodic[side / 2] => {
                let entries = cyclic(mesh, side);
                (BOX_PATCHES[side].to_owned(), "cyclic", entries)
            }
            Some(side) => (BOX_PATCHES[side].to_owned(), "patch", Vec::new()),
        };
        if faces == 0 {
            made.without_faces.extend((patch < walls).then_some(name));
            continue;
        }
        made.sources.push((patch < walls).then_some(patch));
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

/// Splits an array into the parts of chunks of leaves.
fn split<T>(mut all: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut parts = Vec::new();
    for len in lengths {
        let (part, rest) = all.split_at_mut(len);
        parts.push(part);
        all = rest;
    }
    parts
}

fn put_internal(mesh: &mut PolyMesh, cells: &Cells<'_>, points: &Points, sizes: &[Size]) {
    let internal = mesh.internal_faces();
    let faces = || {
        sizes
            .chunks(CHUNK)
            .map(|c| c.iter().map(|s| s.faces as usize).sum::<usize>())
    };
    let corners = || {
        sizes
            .chunks(CHUNK)
            .map(|c| c.iter().map(|s| s.corners as usize).sum::<usize>())
    };
    let starts: Vec<usize> = corners()
        .scan(0, |sum, n| Some(std::mem::replace(sum, *sum + n)))
        .collect();
    let levels = mesh
        .levels
        .as_mut()
        .map_or(&mut [][..], |levels| &mut levels.cell[..]);
    let kept = cells.kept.chunks(CHUNK);
    let kept = kept.map(|c| c.iter().map(|k| k.count_ones() as usize).sum());
    let chunks: Vec<_> = split(&mut mesh.face_start[..internal], faces())
        .into_iter()
        .zip(split(&mut mesh.owner[..internal], faces()))
        .zip(split(&mut mesh.neighbour, faces()))
        .zip(split(&mut mesh.face_points, corners()))
        .zip(split(levels, kept))
        .zip(starts)
        .enumerate()
        .collect();
    chunks.into_par_iter().for_each(
        |(chunk, (((((starts, owner), neighbour), ids), levels), first))| {
            let slots = chunk * CHUNK..cells.leaves.len().min((chunk + 1) * CHUNK);
            let mut writer = Writer::new(points);
            let (mut face_at, mut id_at, mut cell_at) = (0, 0, 0);
            let mut found: Vec<(u32, CellFace)> = Vec::with_capacity(24);
            for slot in slots {
                let block = Block::new(cells, slot);
                let first_cell = first_of(cells, &block);
                writer.begin_block();
                each_cell(block.kept, |cell, rank| {
                    let id = first_cell + rank;
                    levels[cell_at] = block.level as u8;
                    cell_at += 1;
                    found.clear();
                    block.faces(cell, |face| {
                        if let Beyond::Cell(other) = face.beyond
                            && other > id
                        {
                            found.push((other, face));
                        }
                    });
                    found.sort_unstable_by_key(|f| f.0);
                    for &(other, face) in &found {
                        starts[face_at] = (first + id_at) as u32;
                        (owner[face_at], neighbour[face_at]) = (id, other);
                        face_at += 1;
                        id_at += writer.put(&block, cell, face, &mut ids[id_at..]);
                    }
                });
            }
        },
    );
}

fn put_boundary(mesh: &mut PolyMesh, cells: &Cells<'_>, points: &Points, rims: &[Rim]) {
    let internal = mesh.internal_faces();
    let corners: usize = rims.iter().map(|r| usize::from(r.corners)).sum();
    let mut start = mesh.face_points.len() - corners;
    for (face, rim) in rims.iter().enumerate() {
        mesh.face_start[internal + face] = start as u32;
        mesh.owner[internal + face] = rim.id;
        start += usize::from(rim.corners);
    }
    mesh.face_start[internal + rims.len()] = start as u32;
    let first = start - corners;
    let lengths = rims
        .chunks(CHUNK)
        .map(|c| c.iter().map(|r| usize::from(r.corners)).sum());
    let parts = split(&mut mesh.face_points[first..], lengths);
    rims.par_chunks(CHUNK).zip(parts).for_each(|(rims, ids)| {
        let (mut at, mut outline) = (0, Vec::with_capacity(8));
        for rim in rims {
            let block = Block::new(cells, rim.slot as usize);
            block.outline(rim.cell.into(), rim.face, &mut outline);
            for &p in &outline {
                ids[at] = points.id(&block, p);
                at += 1;
            }
        }
    });
}

fn put_points(mesh: &mut PolyMesh, cells: &Cells<'_>, points: &Points) {
    let (slots, all) = (cells.leaves.len(), mesh.points.len());
    let range = |chunk: usize| chunk * CHUNK..slots.min((chunk + 1) * CHUNK);
    let lengths = || (0..slots.div_ceil(CHUNK)).map(|chunk| points.count(range(chunk), all));
    let forest = &cells.mesh.forest;
    let finest = forest.finest() as u32;
    // Half cells of the finest level: powers of two of the spacing, so that points have the same bits on all levels.
    let half = cells.mesh.frame.dx_at(finest as usize + 1);
    let levels = mesh
        .levels
        .as_mut()
        .map_or(&mut [][..], |levels| &mut levels.point[..]);
    let chunks: Vec<_> = split(&mut mesh.points, lengths())
        .into_iter()
        .zip(split(levels, lengths()))
        .enumerate()
        .collect();
    chunks
        .into_par_iter()
        .for_each(|(chunk, (places, levels))| {
            let mut to = 0;
            for slot in range(chunk) {
                let id = cells.leaves[slot] as usize;
                let up = finest - u32::from(forest.level[id]);
                points.of(slot, |at| {
                    let fine: [u32; 3] = std::array::from_fn(|a| {
                        (8 * forest.coord[id][a] as u32 + u32::from(at[a])) << up
                    });
                    places[to] = std::array::from_fn(|a| {
                        cells.mesh.frame.origin[a] + half * f64::from(fine[a])
                    });
                    // The spacing of level l is 2^(finest + 1 - l) halves.
                    let zeros = fine.map(u32::trailing_zeros).into_iter().min().unwrap_or(0);
                    levels[to] = (finest + 1).saturating_sub(zeros) as u8;
                    to += 1;
                });
            }
        });
}

#[cfg(test)]
mod tests;
