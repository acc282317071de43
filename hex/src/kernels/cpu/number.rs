//! Numbers of new cells, split faces and edges, by scans.

use super::group::{filled, filled_with};
use super::hexes::Hexes;
use super::shape::{Shape, is_plain};
use super::sheets::Sheets;
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
) -> Result<SplitNumbers<Host>, RefineError> {
    let (cells, faces) = (view.cells(), view.owner.len());
    let mut first = memory::with_capacity("numbers of cells", cells + 1)?;
    let children = |&mark: &u8| if mark == 0 { 1 } else { shape.children() };
    first.par_extend(marks.par_iter().map(children));
    first.push(0);
    let new_cells = scan::exclusive_scan(&mut first).ok_or(RefineError::TooLarge {
        what: "cells",
        count: (cells + (shape.children() as usize - 1) * closed.count) as u64,
    })?;
    let mut split = memory::with_capacity("numbers of faces", faces + 1)?;
    let is_split = |face: usize| u32::from(is_split(view, marks, face));
    split.par_extend((0..faces).into_par_iter().map(is_split));
    split.push(0);
    let all_split = scan::exclusive_scan(&mut split).unwrap_or(u32::MAX);
    let has_corners = |face: usize| match shape {
        CellShape::Hexahedron => !view.side::<4>(face).contains(&NONE),
        CellShape::Tetrahedron => !view.side::<3>(face).contains(&NONE),
        // At the axis of a wedge, faces have three.
        CellShape::Sheet => !view.side::<4>(face)[..3].contains(&NONE),
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
        CellShape::Sheet => edges::<Sheets>(view, corners, &marked)?,
    };
    let mut quarters = Vec::new();
    if shape == CellShape::Sheet {
        quarters = memory::with_capacity("numbers of faces", faces + 1)?;
        let is_quartered =
            |face: usize| u32::from(split[face] != split[face + 1] && view.boundary.is_sheet(face));
        quarters.par_extend((0..faces).into_par_iter().map(is_quartered));
        quarters.push(0);
        scan::exclusive_scan(&mut quarters);
    }
    let added = |face: usize| match shape {
        CellShape::Sheet => (split[face] + 2 * quarters[face]) as usize,
        _ => 3 * split[face] as usize,
    };
    let patches = view.boundary.patches.iter();
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
        quarters: match shape {
            CellShape::Sheet => quarters[faces] as usize,
            CellShape::Hexahedron => all_split as usize,
            CellShape::Tetrahedron => 0,
        },
        added: added(faces),
        added_internal: added(internal),
        added_patches: patches.map(|patch| added(patch.start)).collect(),
    };
    Ok(SplitNumbers {
        first,
        split,
        quarters,
        marked,
        edges,
        edge_start,
        counts,
    })
}

/// Whether a face is divided: a cell of its level is marked.
fn is_split(view: View<'_>, marks: &[u8], face: usize) -> bool {
    let level = view.face_level(face);
    let is_marked =
        |cell: u32| marks[cell as usize] != 0 && view.cell_levels[cell as usize] == level;
    is_marked(view.owner[face]) || view.across(face).is_some_and(is_marked)
}

/// The edges of marked cells that have no point yet, ascending, and for each point those whose smaller point is before it.
/// Where patches are joined, an edge is split with its images.
fn edges<S: Shape>(
    view: View<'_>,
    corners: &[Corners],
    marked: &[u32],
) -> Result<(Vec<u32>, Vec<u64>), RefineError> {
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
    loop {
        let (start, edges) = sorted(view.points.len(), keys)?;
        let is_in = |key: u64| {
            let point = (key >> 32) as usize;
            edges[start[point] as usize..start[point + 1] as usize].contains(&key)
        };
        let lacking = |edges: [[u32; 2]; 2]| {
            let [a, b] = edges.map(|[p, q]| key(p, q));
            match (is_in(a), is_in(b)) {
                (true, false) => Some(b),
                (false, true) => Some(a),
                _ => None,
            }
        };
        let more: Vec<u64> = view.joined_edges().filter_map(lacking).collect();
        if more.is_empty() {
            return Ok((start, edges));
        }
        keys = edges;
        keys.extend(more);
    }
}

/// Keys, ascending, each once, and for each point those whose smaller point is before it. Lists by the smaller point: counts,
/// a scan, a fill, and each list of some twelve sorted.
fn sorted(points: usize, keys: Vec<u64>) -> Result<(Vec<u32>, Vec<u64>), RefineError> {
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
