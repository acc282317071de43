//! New points: midpoints of edges, centres of faces and of cells. The centres are OpenFOAM's (`primitiveMeshTools`).

use super::cut::Cut;
use super::hexes::{Hexes, SIDES};
use super::shape::Shape;
use super::sheets::Sheets;
use super::tets::Tets;
use crate::geometry::{add, cross, dot, norm, scale, sub};
use crate::kernels::{CellShape, NONE, NewPoints};
use crate::refine::RefineError;
use cutlink_device::{Host, memory, shared};
use rayon::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

pub(super) fn points(cut: Cut<'_>) -> Result<NewPoints<Host>, RefineError> {
    let (view, numbers) = (cut.view, cut.numbers);
    let (old, counts) = (view.points, &numbers.counts);
    let mut points = memory::with_capacity("points", counts.new_points())?;
    let mut levels = memory::with_capacity("point levels", counts.new_points())?;
    points.extend_from_slice(old);
    levels.extend_from_slice(view.point_levels);
    points.par_extend(numbers.edges.par_iter().map(|&key| {
        let (a, b) = (old[(key >> 32) as usize], old[key as u32 as usize]);
        scale(add(a, b), 0.5)
    }));
    let edges = match counts.shape {
        CellShape::Hexahedron => Hexes::EDGES,
        CellShape::Tetrahedron => Tets::EDGES,
        CellShape::Sheet => Sheets::EDGES,
    };
    // The level of a midpoint is one beyond that of the cells whose edge it halves.
    let mut of_edges = vec![0u8; numbers.edges.len()];
    let at_edge = shared::bytes(&mut of_edges);
    numbers.marked.par_iter().for_each(|&cell| {
        let (corners, level) = (cut.corners[cell as usize], view.cell_levels[cell as usize]);
        for &[a, b] in edges {
            let middle = cut.middle(corners[a], corners[b]);
            if middle != NONE {
                at_edge[middle as usize - counts.points].fetch_max(level + 1, Relaxed);
            }
        }
    });
    join_levels(cut, &mut of_edges);
    levels.append(&mut of_edges);
    if counts.shape == CellShape::Tetrahedron {
        return Ok(NewPoints { points, levels });
    }
    let is_sheet = counts.shape == CellShape::Sheet;
    let is_split =
        |&face: &usize| cut.is_split(face) && (!is_sheet || view.boundary.is_sheet(face));
    let split: Vec<usize> = (0..counts.faces).into_par_iter().filter(is_split).collect();
    points.par_extend(split.par_iter().map(|&face| {
        let quad = view.side::<4>(face).map(|p| old[p as usize]);
        center_of(&quad).0
    }));
    levels.par_extend(split.par_iter().map(|&face| view.face_level(face) + 1));
    if is_sheet {
        return Ok(NewPoints { points, levels });
    }
    points.par_extend(numbers.marked.par_iter().map(|&cell| {
        let at = cut.corners[cell as usize].map(|p| old[p as usize]);
        center_of_cell(&at)
    }));
    let level = |&cell: &u32| view.cell_levels[cell as usize] + 1;
    levels.par_extend(numbers.marked.par_iter().map(level));
    Ok(NewPoints { points, levels })
}

/// Midpoints of joined edges have the same level.
fn join_levels(cut: Cut<'_>, levels: &mut [u8]) {
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for edges in cut.view.joined_edges() {
            let [a, b] = edges.map(|[p, q]| cut.middle(p, q));
            if a != NONE && b != NONE {
                let at = [a, b].map(|middle| middle as usize - cut.numbers.counts.points);
                let level = levels[at[0]].max(levels[at[1]]);
                changed |= at.iter().any(|&at| levels[at] != level);
                for at in at {
                    levels[at] = level;
                }
            }
        }
    }
}

/// Centre and area vector of a quad: OpenFOAM's, a fan of triangles around the mean of the corners.
fn center_of(quad: &[[f64; 3]; 4]) -> ([f64; 3], [f64; 3]) {
    let mid = scale(quad.iter().fold([0.0; 3], |sum, &p| add(sum, p)), 0.25);
    let fan = |i: usize| {
        let (p, q) = (quad[i], quad[(i + 1) % 4]);
        (add(add(p, q), mid), cross(sub(q, p), sub(mid, p)))
    };
    let (mut twice, mut weight, mut weighted) = ([0.0; 3], 0.0, [0.0; 3]);
    for i in 0..4 {
        let (thrice, area) = fan(i);
        let length = norm(area);
        twice = add(twice, area);
        weight += length;
        weighted = add(weighted, scale(thrice, length));
    }
    if weight == 0.0 {
        return (mid, twice);
    }
    (scale(weighted, 1.0 / (3.0 * weight)), scale(twice, 0.5))
}

/// Centre of mass of a hexahedron: OpenFOAM's, pyramids over its sides.
fn center_of_cell(at: &[[f64; 3]; 8]) -> [f64; 3] {
    let sides = SIDES.map(|side| center_of(&side.map(|corner| at[corner])));
    let mid = scale(
        sides.iter().fold([0.0; 3], |sum, side| add(sum, side.0)),
        1.0 / 6.0,
    );
    let (mut volume, mut weighted) = (0.0, [0.0; 3]);
    for (center, area) in sides {
        let thrice = dot(area, sub(center, mid));
        volume += thrice;
        weighted = add(
            weighted,
            scale(add(scale(center, 0.75), scale(mid, 0.25)), thrice),
        );
    }
    if volume == 0.0 {
        mid
    } else {
        scale(weighted, 1.0 / volume)
    }
}
