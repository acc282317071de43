//! Lists by cell: counts, a scan, a fill, and each list sorted.

use crate::kernels::{CellFaces, FaceOutlines, NONE, SplitCounts};
use crate::refine::{HexMesh, RefineError};
use cutlink_device::{Host, memory};
use rayon::prelude::*;

/// Cells that a thread takes at once.
const PIECE: usize = 4096;

pub(super) fn cell_faces(mesh: &HexMesh<Host>) -> Result<CellFaces<Host>, RefineError> {
    let cells = mesh.cell_levels.len();
    let mut start = starts(cells, mesh.owner.iter().chain(&mesh.neighbour))?;
    let mut faces = filled("faces of cells", start[cells] as usize)?;
    let mut next = start[..cells].to_vec();
    let mut put = |cell: u32, face: usize| {
        let at = &mut next[cell as usize];
        faces[*at as usize] = face as u32;
        *at += 1;
    };
    for (face, &neighbour) in mesh.neighbour.iter().enumerate() {
        put(mesh.owner[face], face);
        put(neighbour, face);
    }
    for face in mesh.neighbour.len()..mesh.owner.len() {
        put(mesh.owner[face], face);
    }
    start.truncate(cells + 1);
    Ok(CellFaces { start, faces })
}

pub(super) fn order(
    counts: &SplitCounts,
    outlines: &FaceOutlines<Host>,
) -> Result<Vec<u32>, RefineError> {
    let internal = counts.new_internal();
    let owners = &outlines.owner[..internal];
    let start = starts(counts.cells, owners.iter())?;
    let mut order = filled("order of faces", internal)?;
    let mut next = start.clone();
    for (slot, &owner) in owners.iter().enumerate() {
        let at = &mut next[owner as usize];
        order[*at as usize] = slot as u32;
        *at += 1;
    }
    drop(next);
    let mut rest = &mut order[..];
    let mut pieces = Vec::with_capacity(counts.cells / PIECE + 1);
    for first in (0..counts.cells).step_by(PIECE) {
        let end = counts.cells.min(first + PIECE);
        let (piece, behind) = rest.split_at_mut((start[end] - start[first]) as usize);
        pieces.push((first..end, piece));
        rest = behind;
    }
    pieces.into_par_iter().for_each(|(cells, slots)| {
        let base = start[cells.start];
        for cell in cells {
            let list = (start[cell] - base) as usize..(start[cell + 1] - base) as usize;
            // Slots are ascending, and the sort keeps the order of equal ones.
            slots[list].sort_by_key(|&slot| outlines.neighbour[slot as usize]);
        }
    });
    Ok(order)
}

/// The places of each key among `count` ones, ascending; [`NONE`] is in no list.
pub(super) fn by_key(keys: &[u32], count: usize) -> Result<CellFaces<Host>, RefineError> {
    let known = || keys.iter().zip(0..).filter(|(key, _)| **key != NONE);
    let start = starts(count, known().map(|(key, _)| key))?;
    let mut faces = filled("faces put together", start[count] as usize)?;
    let mut next = start[..count].to_vec();
    for (&key, face) in known() {
        let at = &mut next[key as usize];
        faces[*at as usize] = face;
        *at += 1;
    }
    Ok(CellFaces { start, faces })
}

/// Numbers of entries by cell, as starts and their total.
fn starts<'a>(cells: usize, of: impl Iterator<Item = &'a u32>) -> Result<Vec<u32>, RefineError> {
    let mut start = filled("starts of cells", cells + 1)?;
    for &cell in of {
        start[cell as usize + 1] += 1;
    }
    for cell in 0..cells {
        start[cell + 1] += start[cell];
    }
    Ok(start)
}

/// The items of an iterator, in memory that is requested at once: large pages cost less than many small ones.
pub(super) fn collected<T: Send>(
    what: &'static str,
    items: impl IndexedParallelIterator<Item = T>,
) -> Result<Vec<T>, RefineError> {
    let mut list = memory::with_capacity(what, items.len())?;
    list.par_extend(items);
    Ok(list)
}

pub(super) fn filled(what: &'static str, len: usize) -> Result<Vec<u32>, RefineError> {
    filled_with(what, len, 0)
}

pub(super) fn filled_with<T: Copy>(
    what: &'static str,
    len: usize,
    value: T,
) -> Result<Vec<T>, RefineError> {
    let mut list = memory::with_capacity(what, len)?;
    list.resize(len, value);
    Ok(list)
}
