//! Points where walls touch themselves become several, one for each part of the fluid around them.
//!
//! Two cells of the body that share only an edge or a corner leave fluid on both sides that no face connects there; so do baffles,
//! on either side. With a point for each part, walls are singly connected, and each part follows its own side of the surface.

use super::Near;
use crate::{PolyMesh, PolyPatch};
use rayon::prelude::*;

/// A point, and the cells around it by part.
type Split = (u32, Vec<(u32, u32)>);

/// Splits points of walls. Returns the number of new ones.
pub(super) fn split_points(mesh: &mut PolyMesh, is_wall: &impl Fn(&PolyPatch) -> bool) -> u64 {
    let mut on_wall = vec![false; mesh.points.len()];
    for patch in mesh.patches.iter().filter(|p| is_wall(p)) {
        for face in patch.start..patch.start + patch.faces {
            let ids = mesh.face(face).iter();
            ids.for_each(|&id| on_wall[id as usize] = true);
        }
    }
    let faces: Vec<u32> = (0..mesh.faces() as u32)
        .into_par_iter()
        .filter(|&face| {
            mesh.face(face as usize)
                .iter()
                .any(|&p| on_wall[p as usize])
        })
        .collect();
    let at_point = Near::faces(mesh, &faces);
    let splits: Vec<Split> = (0..mesh.points.len() as u32)
        .into_par_iter()
        .filter(|&p| on_wall[p as usize])
        .filter_map(|p| Some((p, parts(mesh, at_point.at(p as usize))?)))
        .collect();
    let before = mesh.points.len();
    for (point, part_of) in splits {
        let count = part_of.iter().map(|&(_, part)| part).max().unwrap_or(0);
        let first = mesh.points.len() as u32;
        for _ in 0..count {
            mesh.points.push(mesh.points[point as usize]);
            if let Some(levels) = &mut mesh.levels {
                levels.point.push(levels.point[point as usize]);
            }
        }
        for &face in at_point.at(point as usize) {
            let owner = mesh.owner[face as usize];
            let part = part_of.binary_search_by_key(&owner, |&(cell, _)| cell);
            let part = part.map_or(0, |at| part_of[at].1);
            if part > 0 {
                let range = mesh.face_start[face as usize]..mesh.face_start[face as usize + 1];
                for id in &mut mesh.face_points[range.start as usize..range.end as usize] {
                    if *id == point {
                        *id = first + part - 1;
                    }
                }
            }
        }
    }
    (mesh.points.len() - before) as u64
}

/// Cells around a point, ascending, with the numbers of their parts: cells of one part are connected by faces with this point. Parts
/// are numbered by their first cell; none if there is one only.
fn parts(mesh: &PolyMesh, faces: &[u32]) -> Option<Vec<(u32, u32)>> {
    let other = |face: u32| mesh.neighbour.get(face as usize).copied();
    let mut cells: Vec<u32> = faces
        .iter()
        .flat_map(|&face| std::iter::once(mesh.owner[face as usize]).chain(other(face)))
        .collect();
    cells.sort_unstable();
    cells.dedup();
    let mut root: Vec<usize> = (0..cells.len()).collect();
    // Joined parts take the lower number, until nothing changes.
    let mut is_settled = false;
    while !is_settled {
        is_settled = true;
        for &face in faces {
            let Some(beyond) = other(face) else { continue };
            let place = |cell: u32| cells.binary_search(&cell).ok();
            if let (Some(a), Some(b)) = (place(mesh.owner[face as usize]), place(beyond)) {
                let least = root[a].min(root[b]);
                is_settled &= root[a] == least && root[b] == least;
                (root[a], root[b]) = (least, least);
            }
        }
    }
    let mut first: Vec<usize> = root.clone();
    first.sort_unstable();
    first.dedup();
    if first.len() < 2 {
        return None;
    }
    let part = |at: usize| first.partition_point(|&f| f < root[at]) as u32;
    Some(
        cells
            .iter()
            .enumerate()
            .map(|(at, &cell)| (cell, part(at)))
            .collect(),
    )
}
