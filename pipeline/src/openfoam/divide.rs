//! Refinement that leaves cells whole where their children would have faces that point the wrong way.

use super::rules::Wanted;
use cutlink_common::{
    Error, Observer,
    device::{Opened, on},
};
use cutlink_hex::refine::{CellDemand, CellPlace};
use cutlink_hex::{CellPath, PolyMesh, RefinedMesh};

/// The cell of the original mesh that contains a refined cell, or that the refined cell is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    pub(super) cell: usize,
    /// Whether the refined cell is a part of it only.
    pub(super) is_part: bool,
}

/// Refines a mesh by `refined`, which is told what cells of it stay whole, until no face of a divided cell points the wrong
/// way. Cells beside faces that do so at the start are not divided.
///
/// # Errors
/// Those of `refined`; cells too distorted to be divided that the levels around them divide.
pub(super) fn divide(
    start: &PolyMesh,
    origin: impl Fn(CellPath) -> Origin,
    mut refined: impl FnMut(&[bool]) -> Result<RefinedMesh, Error>,
    observer: &mut dyn Observer,
) -> Result<RefinedMesh, Error> {
    let mut whole = vec![false; start.cells];
    let mut is_first = true;
    loop {
        let new = refined(&whole)?;
        let turned = match new.mesh.cells == start.cells {
            true => Vec::new(),
            false => new.mesh.turned_faces(),
        };
        let mut more = false;
        if is_first && !turned.is_empty() {
            let at_start = start.turned_faces();
            let cells = at_start.iter().flat_map(|&face| cells_of(start, face));
            cells.for_each(|cell| more |= !std::mem::replace(&mut whole[cell as usize], true));
        }
        is_first = false;
        let mut forced = Vec::new();
        for &face in &turned {
            for cell in cells_of(&new.mesh, face) {
                let of = origin(new.paths[cell as usize]);
                if of.is_part {
                    match std::mem::replace(&mut whole[of.cell], true) {
                        true => forced.push(face),
                        false => more = true,
                    }
                }
            }
        }
        if more {
            continue;
        }
        if let Some(&first) = forced.first() {
            forced.dedup();
            return Err(too_distorted(&new.mesh, first, forced.len()));
        }
        let count = whole.iter().filter(|&&is| is).count();
        if count > 0 {
            observer.note(&format!(
                "{count} cells stay whole: divided, they would have faces that point the wrong way"
            ));
        }
        return Ok(new);
    }
}

/// Refines a parent by marks.
///
/// # Errors
/// As [`RefinedMesh::build_by`] and [`divide`].
pub(super) fn divide_parent(
    opened: &Opened,
    parent: &PolyMesh,
    marks: &Wanted,
    observer: &mut dyn Observer,
) -> Result<RefinedMesh, Error> {
    let origin = |path: CellPath| Origin {
        cell: path.parent() as usize,
        is_part: path.level() > 0,
    };
    let refined = |whole: &[bool]| {
        let wanted = WithWhole { marks, whole };
        Ok(on!(opened, kernels => RefinedMesh::build_by(kernels, parent, wanted))?)
    };
    divide(parent, origin, refined, observer)
}

/// Marks, of which some cells of the parent are left out.
struct WithWhole<'a> {
    marks: &'a Wanted,
    whole: &'a [bool],
}

impl WithWhole<'_> {
    fn is_whole(&self, place: CellPlace) -> bool {
        self.whole[place.path.parent() as usize]
    }
}

impl CellDemand for WithWhole<'_> {
    fn at(&self, place: CellPlace) -> u8 {
        match self.is_whole(place) {
            true => 0,
            false => self.marks.of(place),
        }
    }

    fn throughout(&self, place: CellPlace) -> u8 {
        match self.is_whole(place) {
            true => 0,
            false => self.marks.throughout(place),
        }
    }
}

fn cells_of(mesh: &PolyMesh, face: usize) -> impl Iterator<Item = u32> {
    let neighbour = mesh.neighbour.get(face).copied();
    std::iter::once(mesh.owner[face]).chain(neighbour)
}

fn too_distorted(mesh: &PolyMesh, face: usize, count: usize) -> Error {
    let [x, y, z] = mesh.face_geometry()[face].center;
    Error::input(format!(
        "{count} faces of the refined mesh would point the wrong way, the first at ({x:.6}, {y:.6}, {z:.6}): cells there are too distorted to be divided, as the levels around them ask"
    ))
    .hint("leave the cells around out of the rules, or ask for fewer levels there")
}
