//! Which cells are tetrahedra, and the order of their corners.

use super::{CHILDREN, EDGES, Four};
use crate::geometry::{add, dot, scale, sub};
use crate::kernels::NONE;
use crate::refine::{CellPath, RefineError, RefinedMesh};
use crate::{PolyLevels, PolyMesh, PolyViolation};
use rayon::prelude::*;

/// Whether all cells are tetrahedra, with hanging points where levels say so; then their corners by ascending id. Cost:
/// nothing for meshes whose first face is no triangle.
pub(in crate::refine) fn corners(mesh: &PolyMesh) -> Option<Vec<Four>> {
    let levels = mesh.levels.as_ref()?;
    let is_triangle = |face: usize| {
        let owner = levels.cell[mesh.owner[face] as usize];
        let neighbour = mesh.neighbour.get(face);
        let level = neighbour.map_or(owner, |&n| owner.max(levels.cell[n as usize]));
        let corners = mesh.face(face).iter();
        corners
            .filter(|&&p| levels.point[p as usize] <= level)
            .count()
            == 3
    };
    if mesh.faces() == 0 || !is_triangle(0) || !(1..mesh.faces()).into_par_iter().all(is_triangle) {
        return None;
    }
    let (starts, of_cell) = mesh.cell_faces();
    let of = |cell: usize| -> Option<Four> {
        let faces = &of_cell[starts[cell] as usize..starts[cell + 1] as usize];
        if !(4..=16).contains(&faces.len()) {
            return None;
        }
        let points = faces.iter().flat_map(|&f| mesh.face(f as usize)).copied();
        let is_corner = |&p: &u32| levels.point[p as usize] <= levels.cell[cell];
        let mut corners: Vec<u32> = points.filter(is_corner).collect();
        corners.sort_unstable();
        corners.dedup();
        corners.try_into().ok()
    };
    (0..mesh.cells).into_par_iter().map(of).collect()
}

/// The corners of all cells in the order that decides on the diagonal.
pub(super) fn ordered(
    refined: &RefinedMesh,
    levels: &PolyLevels,
    corners: Vec<Four>,
) -> Result<Vec<Four>, RefineError> {
    let (mesh, paths) = (&refined.mesh, &refined.paths);
    let unfit = |at: usize| {
        RefineError::Invalid(PolyViolation::Impossible {
            what: "cell",
            at,
            reason: "its corners are not those that its place in its parent has",
        })
    };
    let families: Vec<&[CellPath]> = paths.chunk_by(|a, b| a.parent() == b.parent()).collect();
    let mut starts: Vec<usize> = families.iter().map(|family| family.len()).collect();
    let mut end = 0;
    for start in &mut starts {
        (*start, end) = (end, end + *start);
    }
    let of_family = |(family, start): (&&[CellPath], &usize)| -> Result<Vec<Four>, RefineError> {
        let cells = *start..*start + family.len();
        let base = levels.cell[*start].saturating_sub(family[0].level());
        let all = corners[cells.clone()].iter().flatten().copied();
        let mut own: Vec<u32> = all.filter(|&p| levels.point[p as usize] <= base).collect();
        own.sort_unstable();
        own.dedup();
        let own: Four = own.try_into().map_err(|_| unfit(*start))?;
        let root = by_diagonal(own, &mesh.points).map(|p| mesh.points[p as usize]);
        let cell = |cell: usize| {
            let wanted = places_of(root, paths[cell]);
            let find = |place: [f64; 3]| {
                let is_there = |&&p: &&u32| mesh.points[p as usize] == place;
                corners[cell].iter().find(is_there).copied()
            };
            let found = wanted.map(find);
            let four = found.map(|p| p.unwrap_or(NONE));
            let distinct = (0..4).all(|i| four[i] != NONE && !four[..i].contains(&four[i]));
            distinct.then_some(four).ok_or_else(|| unfit(cell))
        };
        cells.map(cell).collect()
    };
    let parts = families.par_iter().zip(&starts).map(of_family);
    let parts: Result<Vec<Vec<Four>>, RefineError> = parts.collect();
    Ok(parts?.into_iter().flatten().collect())
}

/// Orders the corners of a parent so that its diagonal, from midpoint 02 to 13, is the shortest one.
fn by_diagonal([a, b, c, d]: Four, points: &[[f64; 3]]) -> Four {
    let orders = [[a, b, c, d], [a, c, b, d], [a, b, d, c]];
    let square = |order: Four| {
        let [x0, x1, x2, x3] = order.map(|p| points[p as usize]);
        let diagonal = sub(add(x0, x2), add(x1, x3));
        dot(diagonal, diagonal)
    };
    let nearest = |best: Four, order: Four| match square(order) < square(best) {
        true => order,
        false => best,
    };
    orders.into_iter().fold(orders[0], nearest)
}

/// Where the corners of a cell are, from those of its parent: by the sums that made its points.
fn places_of(root: [[f64; 3]; 4], path: CellPath) -> [[f64; 3]; 4] {
    let mut corners = root;
    for level in 1..=u32::from(path.level()) {
        let child = path.code() >> (30 - 3 * level) & 7;
        let all: [[f64; 3]; 10] = std::array::from_fn(|i| match i {
            0..4 => corners[i],
            _ => {
                let [a, b] = EDGES[i - 4];
                scale(add(corners[a], corners[b]), 0.5)
            }
        });
        corners = CHILDREN[child as usize].map(|i| all[i]);
    }
    corners
}
