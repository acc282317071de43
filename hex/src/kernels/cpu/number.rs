//! Numbers of new cells, split faces and edges, by scans.

use super::hexes::Hexes;
use super::shape::{Shape, is_plain};
use super::tets::Tets;
use super::view::View;
use crate::kernels::{CellShape, ClosedMarks, Corners, NONE, SplitCounts, SplitNumbers};
use crate::refine::{RefineError, unfit};
use cutlink_device::{Host, scan};
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
    let mut first: Vec<u32> = Vec::with_capacity(cells + 1);
    first.par_extend(marks.par_iter().map(|&m| if m == 0 { 1 } else { 8 }));
    first.push(0);
    let new_cells = scan::exclusive_scan(&mut first).ok_or(RefineError::TooLarge {
        what: "cells",
        count: (cells + 7 * closed.count) as u64,
    })?;
    let mut split: Vec<u32> = Vec::with_capacity(faces + 1);
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
    let edges = match shape {
        CellShape::Hexahedron => edges::<Hexes>(view, corners, &marked),
        CellShape::Tetrahedron => edges::<Tets>(view, corners, &marked),
    };
    let mut edge_start = super::group::filled("split edges by point", view.points.len() + 1)?;
    for edge in &edges {
        edge_start[(edge >> 32) as usize] += 1;
    }
    scan::exclusive_scan(&mut edge_start);
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

/// The edges of marked cells that have no point yet, ascending.
fn edges<S: Shape>(view: View<'_>, corners: &[Corners], marked: &[u32]) -> Vec<u64> {
    let of_cell = |&cell: &u32| {
        let (cell, corners) = (cell as usize, corners[cell as usize]);
        let is_plain = is_plain::<S>(view, cell);
        let ends = S::EDGES.iter().map(move |ends| ends.map(|c| corners[c]));
        let new = ends.filter(move |&[a, b]| is_plain || view.hanging(cell, a, b) == NONE);
        new.map(|[a, b]| key(a, b))
    };
    let mut edges: Vec<u64> = marked.par_iter().flat_map_iter(of_cell).collect();
    edges.par_sort_unstable();
    edges.dedup();
    edges
}

fn key(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}
