//! Fluxes through faces: of parts of faces, inside split cells, and of faces put together.

use super::view::View;
use super::{group, tets};
use crate::geometry::norm;
use crate::kernels::{CellFaces, CellShape, FluxTask, NONE};
use crate::refine::{CellRanges, HexMesh, RefineError, foreign};
use cutlink_device::Host;
use rayon::prelude::*;

/// The share of each face in the face that it was part of, by area; 0 inside split cells.
pub(super) fn shares(from: &[u32], old_faces: usize, faces: &[[f64; 6]]) -> Vec<f64> {
    let area = |face: usize| {
        let [_, _, _, x, y, z] = faces[face];
        norm([x, y, z])
    };
    let mut sums = vec![0.0; old_faces];
    for (face, &of) in from.iter().enumerate().filter(|(_, of)| **of != NONE) {
        sums[of as usize] += area(face);
    }
    let share = |(face, &of): (usize, &u32)| match of {
        NONE => 0.0,
        of if sums[of as usize] > 0.0 => area(face) / sums[of as usize],
        _ => 0.0,
    };
    from.par_iter().enumerate().map(share).collect()
}

/// Fluxes after a step: those of parts by their shares, and those inside split cells.
pub(super) fn split(task: &FluxTask<'_, Host>, flux: &[f64]) -> Vec<f64> {
    let (mesh, from) = (task.mesh, &task.split.from);
    let part = |(&of, share): (&u32, &f64)| match of {
        NONE => 0.0,
        of => flux[of as usize] * share,
    };
    let mut new: Vec<f64> = from.par_iter().zip(task.shares).map(part).collect();
    let potential = potential(task, &new);
    let internal = new[..mesh.neighbour.len()].par_iter_mut().enumerate();
    internal
        .filter(|(face, _)| from[*face] == NONE)
        .for_each(|(face, flux)| {
            let ends = [mesh.owner[face], mesh.neighbour[face]];
            let [a, b] = ends.map(|cell| potential[cell as usize]);
            *flux = a - b;
        });
    new
}

/// The potential of the children of each split cell, from the fluxes around it.
fn potential(task: &FluxTask<'_, Host>, flux: &[f64]) -> Vec<f64> {
    let (view, volumes) = (View::new(task.mesh, task.of), task.volumes);
    let out = |cell: usize| {
        let signed = |&face: &u32| match view.owner[face as usize] as usize == cell {
            true => flux[face as usize],
            false => -flux[face as usize],
        };
        view.faces_of(cell)
            .iter()
            .map(signed)
            .fold(0.0, |a, b| a + b)
    };
    let children = task.mesh.shape.children() as usize;
    // Children of a split cell have consecutive numbers; of four, the others here are none.
    let of_cell = |pair: &[u32]| {
        let first = pair[0] as usize;
        if (pair[1] - pair[0]) as usize != children {
            return None;
        }
        let is_child = |i: usize| i < children;
        let out: [f64; 8] = std::array::from_fn(|i| if is_child(i) { out(first + i) } else { 0.0 });
        let sum = out.iter().fold(0.0, |a, b| a + b);
        let volume = volumes[first..first + children]
            .iter()
            .fold(0.0, |a, b| a + b);
        let lack = |i: usize| match is_child(i) {
            true => sum * (volumes[first + i] / volume) - out[i],
            false => 0.0,
        };
        let lack = std::array::from_fn(lack);
        let potential = match task.mesh.shape {
            CellShape::Hexahedron => cube_potential(lack, &[1, 2, 4]),
            CellShape::Tetrahedron => tets::potential(lack),
            CellShape::Sheet => cube_potential(lack, &[1, 2]),
        };
        Some((first, potential))
    };
    let each = task.split.first.par_windows(2).filter_map(of_cell);
    let each: Vec<(usize, [f64; 8])> = each.collect();
    let mut potential = vec![0.0; task.mesh.cells()];
    for (first, of_children) in each {
        potential[first..first + children].copy_from_slice(&of_children[..children]);
    }
    potential
}

/// The potential of 4 or 8 children whose differences have these sums: the pseudo-inverse of the graph Laplacian of a square
/// or cube, whose axes are the bits of children. Its eigenvectors are Walsh functions, its eigenvalues twice the number of
/// axes along which they change sign.
fn cube_potential(mut sums: [f64; 8], axes: &[usize]) -> [f64; 8] {
    let children = 1 << axes.len();
    let walsh = |x: &mut [f64; 8]| {
        for bit in axes {
            for i in (0..children).filter(|i| i & bit == 0) {
                (x[i], x[i | bit]) = (x[i] + x[i | bit], x[i] - x[i | bit]);
            }
        }
    };
    walsh(&mut sums);
    for (i, x) in sums[..children].iter_mut().enumerate() {
        *x = if i == 0 {
            0.0
        } else {
            *x / f64::from(2 * children as u32 * i.count_ones())
        };
    }
    walsh(&mut sums);
    sums
}

/// For each face of a mesh, the faces of a finer mesh that cover it: the same face, or its parts.
pub(super) fn parts(
    (fine, of): (&HexMesh<Host>, &CellFaces<Host>),
    (to, of_to): (&HexMesh<Host>, &CellFaces<Host>),
    holders: &CellRanges<Host>,
) -> Result<CellFaces<Host>, RefineError> {
    let (view, coarse) = (View::new(fine, of), View::new(to, of_to));
    let (internal, coarse_internal) = (fine.neighbour.len(), to.neighbour.len());
    let holder = |cell: u32| {
        let cell = cell as usize;
        (holders.count[cell] == 1).then(|| holders.first[cell])
    };
    let target = |face: usize| -> Option<u32> {
        let owner = holder(view.owner[face])?;
        let of_owner = coarse.faces_of(owner as usize);
        if face >= internal {
            let rim = fine.rims[face - internal];
            // Joined faces of one cell and one face of the parent have other cells behind their mates.
            let across = match view.across(face) {
                Some(cell) => Some(holder(cell)?),
                None => None,
            };
            let is_it = |&f: &u32| {
                let at = (f as usize).checked_sub(coarse_internal);
                at.is_some_and(|at| to.rims[at] == rim) && coarse.across(f as usize) == across
            };
            return of_owner.iter().copied().find(is_it);
        }
        let neighbour = holder(view.neighbour[face])?;
        if owner == neighbour {
            return Some(NONE);
        }
        let is_between = |f: u32, view: &View<'_>, a: u32, b: u32| {
            view.neighbour.get(f as usize) == Some(&b) && view.owner[f as usize] == a
        };
        let found = of_owner
            .iter()
            .filter(|&&f| is_between(f, &coarse, owner, neighbour));
        // Of several faces, as polyhedra may have, the one at the same place.
        let (a, b) = (view.owner[face], view.neighbour[face]);
        let before = view.faces_of(a as usize).iter();
        let before = before.filter(|&&f| (f as usize) < face && is_between(f, &view, a, b));
        found.take(before.count() + 1).last().copied()
    };
    let targets: Option<Vec<u32>> = (0..fine.owner.len()).into_par_iter().map(target).collect();
    group::by_key(&targets.ok_or_else(foreign)?, to.owner.len())
}

/// The sum of a flux over the entries of each list.
pub(super) fn sum(parts: &CellFaces<Host>, flux: &[f64]) -> Vec<f64> {
    let of = |ends: &[u32]| {
        let list = &parts.faces[ends[0] as usize..ends[1] as usize];
        list.iter()
            .fold(0.0, |sum, &face| sum + flux[face as usize])
    };
    parts.start.par_windows(2).map(of).collect()
}
