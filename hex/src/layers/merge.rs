//! Faces of a wall that belong to one cell and are nearly in one plane become one face.
//!
//! A cell at a stair of a castellated wall has two or three of them; after snapping they are one flat face in pieces. Prisms over
//! the pieces would lie beside the cell, not above it.

use crate::geometry::{dot, face_of};
use crate::quality::Shape;
use crate::{PolyMesh, PolyPatch, QualityLimits};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

use super::direction::unit;

/// Smallest cosine between normals of faces that become one.
const SAME_PLANE: f64 = 0.77;

/// The outline of some faces, if it is one loop.
fn outline(mesh: &PolyMesh, faces: &[u32]) -> Option<Vec<u32>> {
    let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &face in faces {
        let ids = mesh.face(face as usize);
        for (at, &p) in ids.iter().enumerate() {
            let q = ids[(at + 1) % ids.len()];
            // The same edge the other way cancels it.
            let back = next.get_mut(&q).and_then(|ends| {
                let at = ends.iter().position(|&end| end == p)?;
                ends.swap_remove(at);
                Some(())
            });
            if back.is_none() {
                next.entry(p).or_default().push(q);
            }
        }
    }
    next.retain(|_, ends| !ends.is_empty());
    let first = *next.keys().next()?;
    let mut ids = vec![first];
    loop {
        let [to] = next.get(&ids[ids.len() - 1])?[..] else {
            return None;
        };
        if to == first {
            break;
        }
        if ids.len() > next.len() {
            return None;
        }
        ids.push(to);
    }
    (ids.len() == next.len() && ids.len() > 2).then_some(ids)
}

/// Groups of faces of a cell that share edges and lie nearly in one plane, of two faces at least.
fn groups_of(mesh: &PolyMesh, faces: &[u32]) -> Vec<Vec<u32>> {
    let normal =
        |face: u32| unit(face_of(&mesh.points, mesh.face(face as usize)).area).unwrap_or([0.0; 3]);
    let shares_edge = |a: u32, b: u32| {
        let (a, b) = (mesh.face(a as usize), mesh.face(b as usize));
        let next = a.iter().cycle().skip(1);
        a.iter().zip(next).any(|(p, q)| {
            let at = b.iter().position(|r| r == q);
            at.is_some_and(|at| b[(at + 1) % b.len()] == *p)
        })
    };
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut rest: Vec<u32> = faces.to_vec();
    while let Some(first) = rest.first().copied() {
        rest.remove(0);
        let mut group = vec![first];
        while let Some(at) = rest.iter().position(|&face| {
            group.iter().any(|&other| shares_edge(other, face))
                && group
                    .iter()
                    .all(|&other| dot(normal(other), normal(face)) > SAME_PLANE)
        }) {
            group.push(rest.remove(at));
        }
        if group.len() > 1 {
            group.sort_unstable();
            groups.push(group);
        }
    }
    groups
}

/// By its first face, the faces of each group and the outline that it gets.
type Groups = BTreeMap<u32, (Vec<u32>, Vec<u32>)>;

fn find(mesh: &PolyMesh, is_wall: &impl Fn(&PolyPatch) -> bool) -> Groups {
    let mut groups = Groups::new();
    for patch in mesh.patches.iter().filter(|patch| is_wall(patch)) {
        let mut by_cell: Vec<(u32, u32)> = (patch.start..patch.start + patch.faces)
            .map(|face| (mesh.owner[face], face as u32))
            .collect();
        by_cell.par_sort_unstable();
        for same in by_cell
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|same| same.len() > 1)
        {
            let faces: Vec<u32> = same.iter().map(|of| of.1).collect();
            for group in groups_of(mesh, &faces) {
                if let Some(ids) = outline(mesh, &group) {
                    groups.insert(group[0], (group, ids));
                }
            }
        }
    }
    groups
}

/// The mesh with these faces merged. Points keep their numbers, used or not.
fn merged(mesh: &PolyMesh, groups: &Groups) -> PolyMesh {
    let gone: BTreeSet<u32> = groups
        .values()
        .flat_map(|(faces, _)| &faces[1..])
        .copied()
        .collect();
    let internal = mesh.internal_faces();
    let mut made = PolyMesh {
        points: mesh.points.clone(),
        face_start: mesh.face_start[..=internal].to_vec(),
        face_points: mesh.face_points[..mesh.face_start[internal] as usize].to_vec(),
        owner: mesh.owner[..internal].to_vec(),
        neighbour: mesh.neighbour.clone(),
        patches: mesh.patches.clone(),
        cells: mesh.cells,
        levels: mesh.levels.clone(),
    };
    for (patch, of) in made.patches.iter_mut().zip(&mesh.patches) {
        patch.start = made.owner.len();
        for face in of.start..of.start + of.faces {
            if gone.contains(&(face as u32)) {
                continue;
            }
            match groups.get(&(face as u32)) {
                Some((_, ids)) => made.face_points.extend(ids),
                None => made.face_points.extend(mesh.face(face)),
            }
            made.face_start.push(made.face_points.len() as u32);
            made.owner.push(mesh.owner[face]);
        }
        patch.faces = made.owner.len() - patch.start;
    }
    made
}

/// Cells with a face beyond the limits, among some cells; ascending.
fn beyond_limits(mesh: &PolyMesh, of: &BTreeSet<u32>, limits: &QualityLimits) -> BTreeSet<u32> {
    let faces = mesh.face_geometry();
    let cells = mesh.cell_geometry(&faces);
    let (start, of_cell) = mesh.cell_faces();
    let shape = Shape {
        mesh,
        faces: &faces,
        cells: &cells,
        start: &start,
        of_cell: &of_cell,
    };
    let cosine = limits.non_orthogonality.to_radians().cos();
    let is_bad = |cell: &u32| {
        let at = *cell as usize;
        let ids = &of_cell[start[at] as usize..start[at + 1] as usize];
        cells[at].volume <= 0.0
            || shape.determinant(at, |face| face < mesh.internal_faces()) < limits.determinant
            || ids
                .iter()
                .any(|&face| !shape.is_good_face(face as usize, limits, cosine))
    };
    let cells: Vec<u32> = of.iter().copied().collect();
    cells.into_par_iter().filter(is_bad).collect()
}

/// Leaves out points that no face has.
fn drop_points(mesh: &mut PolyMesh) {
    let mut used = vec![false; mesh.points.len()];
    for &p in &mesh.face_points {
        used[p as usize] = true;
    }
    let mut id = vec![0u32; used.len()];
    let mut count = 0;
    for p in 0..used.len() {
        id[p] = count;
        if used[p] {
            mesh.points[count as usize] = mesh.points[p];
            if let Some(levels) = &mut mesh.levels {
                levels.point[count as usize] = levels.point[p];
            }
            count += 1;
        }
    }
    mesh.points.truncate(count as usize);
    if let Some(levels) = &mut mesh.levels {
        levels.point.truncate(count as usize);
    }
    mesh.face_points
        .iter_mut()
        .for_each(|p| *p = id[*p as usize]);
}

/// Merges faces of walls where their cells stay within the limits. Returns the number of faces less.
pub(super) fn merge(
    mesh: &mut PolyMesh,
    is_wall: &impl Fn(&PolyPatch) -> bool,
    limits: &QualityLimits,
) -> u64 {
    let mut groups = find(mesh, is_wall);
    let owner = |mesh: &PolyMesh, group: &[u32]| mesh.owner[group[0] as usize];
    let cells: BTreeSet<u32> = groups
        .values()
        .map(|(faces, _)| owner(mesh, faces))
        .collect();
    loop {
        let made = merged(mesh, &groups);
        let mut bad = beyond_limits(&made, &cells, limits);
        // What is not merged is as before.
        let left: BTreeSet<u32> = groups
            .values()
            .map(|(faces, _)| owner(mesh, faces))
            .collect();
        bad.retain(|cell| left.contains(cell));
        if bad.is_empty() {
            let less = (mesh.faces() - made.faces()) as u64;
            *mesh = made;
            drop_points(mesh);
            return less;
        }
        groups.retain(|_, (faces, _)| !bad.contains(&mesh.owner[faces[0] as usize]));
    }
}
