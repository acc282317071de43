//! The part of a mesh near walls: what can move, and the cells around it.

use super::{Near, REACH};
use crate::{PolyMesh, PolyPatch};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// A point that no walk has reached.
const FAR: u8 = u8::MAX;
/// No number.
const NONE: u32 = u32::MAX;
/// All axes of a point.
const ALL_AXES: u8 = 7;

/// A part of a mesh with its own numbers.
#[derive(Debug)]
pub(crate) struct Region {
    /// Internal faces, then those of the boundary, then those that lead out of the region. Without patches.
    pub(crate) mesh: PolyMesh,
    /// First face that leads out of the region.
    pub(crate) cut: usize,
    /// The point of the whole mesh, of each point.
    pub(crate) point: Vec<u32>,
    /// Layers between a point and the walls, 0 on them; [`REACH`] and more where it stays.
    pub(crate) layer: Vec<u8>,
    /// Axes along which a point stays, a bit each: those of planes of other patches.
    pub(crate) held: Vec<u8>,
    /// Faces of walls.
    pub(crate) walls: Vec<u32>,
    /// Faces of the whole mesh, of those of the boundary.
    pub(crate) rim: Vec<u32>,
    /// Points at the other end of an edge, of each point.
    pub(crate) near: Near,
}

/// Layers of all points, from the walls outwards.
fn layers(mesh: &PolyMesh, is_wall: &impl Fn(&PolyPatch) -> bool) -> Vec<u8> {
    let layer: Vec<AtomicU8> = (0..mesh.points.len()).map(|_| AtomicU8::new(FAR)).collect();
    let at = |id: u32| &layer[id as usize];
    for patch in mesh.patches.iter().filter(|p| is_wall(p)) {
        for face in patch.start..patch.start + patch.faces {
            mesh.face(face)
                .iter()
                .for_each(|&id| at(id).store(0, Relaxed));
        }
    }
    // Within one walk points only change from FAR to its layer: the order of faces does not matter.
    for next in 1..=REACH {
        (0..mesh.faces())
            .into_par_iter()
            .with_min_len(1 << 12)
            .for_each(|face| {
                let ids = mesh.face(face);
                if ids.iter().any(|&id| at(id).load(Relaxed) == next - 1) {
                    for &id in ids {
                        if at(id).load(Relaxed) == FAR {
                            at(id).store(next, Relaxed);
                        }
                    }
                }
            });
    }
    layer.into_iter().map(AtomicU8::into_inner).collect()
}

/// Cells with a point that moves, and those beside them.
fn cells_near(mesh: &PolyMesh, layer: &[u8]) -> Vec<bool> {
    let moves = |face: usize| mesh.face(face).iter().any(|&id| layer[id as usize] < REACH);
    let mut kept = vec![false; mesh.cells];
    let faces: Vec<u32> = (0..mesh.faces() as u32)
        .into_par_iter()
        .filter(|&face| moves(face as usize))
        .collect();
    for &face in &faces {
        kept[mesh.owner[face as usize] as usize] = true;
        if let Some(&other) = mesh.neighbour.get(face as usize) {
            kept[other as usize] = true;
        }
    }
    let beside: Vec<u32> = (0..mesh.internal_faces())
        .into_par_iter()
        .filter_map(|face| {
            let (a, b) = (mesh.owner[face], mesh.neighbour[face]);
            match (kept[a as usize], kept[b as usize]) {
                (true, false) => Some(b),
                (false, true) => Some(a),
                _ => None,
            }
        })
        .collect();
    beside
        .into_iter()
        .for_each(|cell| kept[cell as usize] = true);
    kept
}

/// Numbers of the elements that are kept, [`NONE`] of others, and how many there are.
fn numbers(kept: impl Iterator<Item = bool>) -> (Vec<u32>, usize) {
    let mut count = 0;
    let ids = kept.map(|kept| {
        let id = if kept { count } else { NONE };
        count += u32::from(kept);
        id
    });
    let ids = ids.collect();
    (ids, count as usize)
}

/// What is near the walls of a mesh.
#[derive(Debug)]
pub(crate) struct Reach {
    layer: Vec<u8>,
    kept: Vec<bool>,
}

impl Reach {
    pub(crate) fn new(mesh: &PolyMesh, is_wall: &impl Fn(&PolyPatch) -> bool) -> Self {
        let layer = layers(mesh, is_wall);
        let kept = cells_near(mesh, &layer);
        Self { layer, kept }
    }

    /// Number of cells.
    pub(crate) fn cells(&self) -> u64 {
        self.kept.par_iter().filter(|&&kept| kept).count() as u64
    }
}

impl Region {
    /// The part of a mesh near its walls.
    pub(crate) fn new(
        whole: &PolyMesh,
        is_wall: &impl Fn(&PolyPatch) -> bool,
        Reach { layer, kept }: Reach,
    ) -> Self {
        let (cell_of, cells) = numbers(kept.iter().copied());
        let has = |cell: u32| kept[cell as usize];
        let internal = whole.internal_faces();
        let pick = |range: std::ops::Range<usize>, class: usize| -> Vec<u32> {
            let is_in = |&face: &u32| {
                let own = has(whole.owner[face as usize]);
                let other = whole.neighbour.get(face as usize).map(|&c| has(c));
                match other {
                    Some(other) if own && other => class == 0,
                    Some(other) => class == 2 && own != other,
                    None => class == 1 && own,
                }
            };
            let range = range.start as u32..range.end as u32;
            range.into_par_iter().filter(is_in).collect()
        };
        let inner = pick(0..internal, 0);
        let rim = pick(internal..whole.faces(), 1);
        let cut = pick(0..internal, 2);
        let mut used = vec![false; whole.points.len()];
        let faces: Vec<u32> = [&inner[..], &rim, &cut].concat();
        for &face in &faces {
            whole
                .face(face as usize)
                .iter()
                .for_each(|&id| used[id as usize] = true);
        }
        let (point_of, _) = numbers(used.iter().copied());
        let point: Vec<u32> = (0..used.len() as u32)
            .filter(|&id| used[id as usize])
            .collect();
        let corners = faces.iter().map(|&face| whole.face(face as usize).len());
        let mut mesh = PolyMesh {
            points: point.iter().map(|&id| whole.points[id as usize]).collect(),
            face_start: Vec::with_capacity(faces.len() + 1),
            face_points: Vec::with_capacity(corners.sum()),
            owner: Vec::with_capacity(faces.len()),
            cells,
            ..PolyMesh::default()
        };
        mesh.face_start.push(0);
        for &face in &faces {
            let face = face as usize;
            let ids = whole.face(face).iter().map(|&id| point_of[id as usize]);
            mesh.face_points.extend(ids);
            mesh.face_start.push(mesh.face_points.len() as u32);
            mesh.owner.push(cell_of[whole.owner[face] as usize]);
        }
        let others = inner
            .iter()
            .map(|&face| cell_of[whole.neighbour[face as usize] as usize]);
        mesh.neighbour = others.collect();
        // A face whose owner is not in the region belongs to the other cell, and points the other way.
        for (at, &face) in cut.iter().enumerate() {
            let here = inner.len() + rim.len() + at;
            if mesh.owner[here] == NONE {
                mesh.owner[here] = cell_of[whole.neighbour[face as usize] as usize];
                let range = mesh.face_start[here] as usize..mesh.face_start[here + 1] as usize;
                mesh.face_points[range].reverse();
            }
        }
        let layer = point.iter().map(|&id| layer[id as usize]).collect();
        let mut region = Self {
            near: Near::of(&mesh),
            held: vec![0; point.len()],
            walls: Vec::new(),
            rim: Vec::new(),
            cut: inner.len() + rim.len(),
            mesh,
            point,
            layer,
        };
        region.survey_rim(whole, is_wall, &rim, inner.len());
        region.rim = rim;
        region
    }

    /// Notes walls, and the planes of other patches.
    fn survey_rim(
        &mut self,
        whole: &PolyMesh,
        is_wall: &impl Fn(&PolyPatch) -> bool,
        rim: &[u32],
        first: usize,
    ) {
        for (at, &face) in rim.iter().enumerate() {
            let here = first + at;
            let patch = whole
                .patches
                .partition_point(|p| p.start + p.faces <= face as usize);
            let patch = &whole.patches[patch];
            if is_wall(patch) {
                self.walls.push(here as u32);
                continue;
            }
            let area = crate::geometry::face_of(&self.mesh.points, self.mesh.face(here)).area;
            let length = crate::geometry::norm(area);
            let along = (0..3).find(|&a| area[a].abs() > 0.999_999 * length);
            let held = match along {
                Some(axis) if patch.kind == "patch" || patch.kind == "symmetryPlane" => 1 << axis,
                _ => ALL_AXES,
            };
            for &id in self.mesh.face(here) {
                self.held[id as usize] |= held;
            }
        }
    }

    /// Whether a point is on a wall.
    pub(crate) fn is_wall(&self, point: usize) -> bool {
        self.layer[point] == 0
    }
}
