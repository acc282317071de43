//! Numbers of new cells, split faces and edges, by scans.

use super::group::{filled, filled_with};
use super::hexes::Hexes;
use super::shape::{Shape, is_plain};
use super::tets::Tets;
use super::view::View;
use crate::kernels::{CellShape, ClosedMarks, Corners, NONE, SplitCounts, SplitNumbers};
use crate::refine::{RefineError, unfit};
use cutlink_device::{Host, memory, scan};
use rayon::prelude::*;

pub(super) fn number(
    view: View<'_>,
    shape: CellShape,
    corners: &[Corners],
    marks: &[u8],
    closed: ClosedMarks,
    patches: &[usize],
) -> Result<SplitNumbers<Host>, RefineError> {
    let (cells, faces) = (view.cells(), view.owner.len());
    let mut first = memory::with_capacity("numbers of cells", cells + 1)?;
    first.par_extend(marks.par_iter().map(|&m| if m == 0 { 1u32 } else { 8 }));
    first.push(0);
    let new_cells = scan::exclusive_scan(&mut first).ok_or(RefineError::TooLarge {
        what: "cells",
        count: (cells + 7 * closed.count) as u64,
    })?;
    let mut split = memory::with_capacity("numbers of faces", faces + 1)?;
    let is_split = |face: usize| u32::from(is_split(view, marks, face));
    split.par_extend((0..faces).into_par_iter().map(is_split));
    split.push(0);
    let all_split = scan::exclusive_scan(&mut split).unwrap_or(u32::MAX);
    let has_corners = |face: usize| match shape {
        CellShape::Hexahedron => !view.side::<4>(face).contains(&NONE),
        CellShape::Tetrahedron => !view.side::<3>(face).contains(&NONE),
    };
    let is_unfit = |&face: &usize| split[face] != split[face + 1] && !has_corners(face);
    if let Some(face) = (0..faces).into_par_iter().find_first(is_unfit) {
        return Err(unfit(face));
    }
    let is_marked = |&cell: &u32| marks[cell as usize] != 0;
    let marked: Vec<u32> = (0..cells as u32)
        .into_par_iter()
        .filter(is_marked)
        .collect();
    let (edge_start, edges) = match shape {
        CellShape::Hexahedron => edges::<Hexes>(view, corners, &marked)?,
        CellShape::Tetrahedron => edges::<Tets>(view, corners, &marked)?,
    };
    let internal = view.neighbour.len();
    let counts = SplitCounts {
        shape,
        points: view.points.len(),
        faces,
        internal,
        cells: new_cells as usize,
        marked: marked.len(),
        edges: edges.len(),
        split: all_split as usize,
        split_internal: split[internal] as usize,
        split_patches: patches.iter().map(|&face| split[face]).collect(),
    };
    Ok(SplitNumbers {
        first,
        split,
        marked,
        edges,
        edge_start,
        counts,
    })
}

/// Whether a face becomes four: a cell of its level is marked.
fn is_split(view: View<'_>, marks: &[u8], face: usize) -> bool {
    let level = view.face_level(face);
    let is_marked =
        |cell: u32| marks[cell as usize] != 0 && view.cell_levels[cell as usize] == level;
    is_marked(view.owner[face]) || view.neighbour.get(face).is_some_and(|&n| is_marked(n))
}

/// The edges of marked cells that have no point yet, ascending, and for each point those whose smaller point is before it.
/// Lists by the smaller point: counts, a scan, a fill, and each list of some twelve sorted.
fn edges<S: Shape>(
    view: View<'_>,
    corners: &[Corners],
    marked: &[u32],
) -> Result<(Vec<u32>, Vec<u64>), RefineError> {
    let points = view.points.len();
    let mut keys = filled_with(
        "edges of split cells",
        S::EDGES.len() * marked.len(),
        NO_KEY,
    )?;
    let each = keys.par_chunks_mut(S::EDGES.len()).zip(marked);
    each.for_each(|(keys, &cell)| {
        let (cell, corners) = (cell as usize, corners[cell as usize]);
        let is_plain = is_plain::<S>(view, cell);
        for (to, ends) in keys.iter_mut().zip(S::EDGES) {
            let [a, b] = ends.map(|c| corners[c]);
            if is_plain || view.hanging(cell, a, b) == NONE {
                *to = key(a, b);
            }
        }
    });
    let known = || keys.iter().filter(|&&key| key != NO_KEY);
    let mut start = filled("split edges by point", points + 1)?;
    for &key in known() {
        start[(key >> 32) as usize] += 1;
    }
    let count = scan::exclusive_scan(&mut start).unwrap_or(u32::MAX);
    let mut ends = filled("larger points of edges", count as usize)?;
    for &key in known() {
        let next = &mut start[(key >> 32) as usize];
        ends[*next as usize] = key as u32;
        *next += 1;
    }
    // Starts have become ends; each list begins where the one before it ends.
    let mut edges = memory::with_capacity("split edges", keys.len())?;
    drop(keys);
    let mut from = 0;
    for (point, end) in start[..points].iter_mut().enumerate() {
        let list = &mut ends[from..*end as usize];
        from = *end as usize;
        *end = edges.len() as u32;
        list.sort_unstable();
        let mut before = NONE;
        for &mut other in list {
            if other != before {
                edges.push((point as u64) << 32 | u64::from(other));
            }
            before = other;
        }
    }
    start[points] = edges.len() as u32;
    Ok((start, edges))
}

/// In the place of an edge that is not split.
const NO_KEY: u64 = u64::MAX;

fn key(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}
