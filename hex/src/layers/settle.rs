//! Layers that keep the limits, and what each patch has of them.

use super::insert::{Boundary, Edges, Inserted, Kind, NONE, insert};
use super::plan::Plan;
use super::{Dropped, LayerCounts, LayerRule};
use crate::geometry::{add, face_of, norm, scale};
use crate::quality::Shape;
use crate::snap::{Region, State};
use crate::{PolyMesh, QualityLimits};
use cutlink_device::UnionFind;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What is left of the way of a point after a round in which a cell around it is beyond the limits.
const LESS: f64 = 0.7;
/// Rounds in which points go less far; those after take layers away.
const TRIES: u8 = 4;
const ROUNDS: u64 = 16;

/// Takes back and away until prisms and the cells around them keep the limits. Returns the number of rounds.
pub(super) fn settle(state: &mut State<'_>, plan: &mut Plan<'_>, limits: &QualityLimits) -> u64 {
    let mut tries = vec![0u8; state.share.len()];
    let mut rounds = 0;
    take_thin(state, plan);
    loop {
        let mesh = &state.region.mesh;
        let columns = plan.columns(&state.origin, mesh.points.len(), |p| p);
        let edges = Edges::new(mesh, |p| columns.of[p as usize] != NONE);
        let has_column: Vec<bool> = columns.of.iter().map(|&id| id != NONE).collect();
        let boundary = Boundary {
            has_column: &has_column,
            mesh,
            kinds: &plan.kinds,
            edges: &edges,
        };
        let made = insert(boundary, &columns);
        let bad = beyond_limits(state, &made, &columns.of, limits);
        if bad.points.is_empty() && bad.stacks.is_empty() {
            return rounds;
        }
        rounds += 1;
        for &face in &bad.stacks {
            plan.halve(&state.region.mesh, face);
        }
        for &p in &bad.points {
            tries[p as usize] = tries[p as usize].saturating_add(1);
            if tries[p as usize] > TRIES || rounds > ROUNDS {
                plan.strip_around(&state.region.mesh, p, Dropped::Quality);
            } else {
                state.share[p as usize] *= LESS;
            }
        }
        state.settle(bad.points);
        take_thin(state, plan);
    }
}

/// Takes layers from faces with a point that went too little of its way; points without a column go back.
fn take_thin(state: &mut State<'_>, plan: &mut Plan<'_>) {
    loop {
        let mut is_done = true;
        for at in 0..plan.walls.len() {
            let wall = plan.walls[at];
            let share = state.share[wall.point as usize];
            if plan.has_column(&wall) && share < plan.least(&wall) {
                plan.strip_around(&state.region.mesh, wall.point, Dropped::Quality);
                is_done = false;
            }
        }
        plan.prune(&state.region.mesh);
        let gone = plan.walls.iter().filter(|wall| !plan.has_column(wall));
        let gone = gone.map(|wall| wall.point);
        let gone: Vec<u32> = gone
            .filter(|&p| state.share[p as usize] > 0.0 && state.moves(p))
            .collect();
        if is_done && gone.is_empty() {
            return;
        }
        gone.iter().for_each(|&p| state.share[p as usize] = 0.0);
        state.settle(gone);
    }
}

/// What is around faces and cells beyond the limits, ascending.
struct Bad {
    /// Points with a column that go too far.
    points: Vec<u32>,
    /// Faces whose layers are too thin for how far faces are from a plane.
    stacks: Vec<u32>,
}

fn beyond_limits(
    state: &State<'_>,
    made: &Inserted,
    columns: &[u32],
    limits: &QualityLimits,
) -> Bad {
    let mesh = &made.mesh;
    let before = made.stepped.len();
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
    let is_prism = |cell: u32| cell as usize >= before;
    let is_new = |cell: u32| is_prism(cell) || made.stepped[cell as usize];
    let is_cut =
        |face: usize| made.from[face] != NONE && made.from[face] as usize >= state.region.cut;
    let beside = |face: usize| {
        let other = mesh.neighbour.get(face).copied();
        std::iter::once(mesh.owner[face]).chain(other)
    };
    // Thin layers are asked for: the cell above may be much larger.
    let loose = QualityLimits {
        face_weight: 0.0,
        volume_ratio: 0.0,
        ..*limits
    };
    let internal = mesh.internal_faces();
    // Whether it is well placed, and well formed.
    let is_good = |face: usize| {
        if is_cut(face) || !beside(face).any(is_new) {
            return [true; 2];
        }
        let is_excused = made.from[face] != NONE && state.is_excused(made.from[face]);
        let prisms = beside(face).filter(|&cell| is_prism(cell)).count();
        let limits = match is_excused {
            true => &super::HARD,
            false if prisms == 1 && face < internal => &loose,
            false => limits,
        };
        let cosine = limits.non_orthogonality.to_radians().cos();
        [
            shape.is_well_placed(face, limits, cosine),
            shape.is_well_formed(face, limits),
        ]
    };
    let bad: Vec<(usize, [bool; 2])> = (0..mesh.faces())
        .into_par_iter()
        .map(|face| (face, is_good(face)))
        .filter(|of| of.1 != [true; 2])
        .collect();
    let bad_cell = |cell: &u32| {
        let at = *cell as usize;
        let inner = |face| face < internal || is_cut(face);
        is_new(*cell)
            && (cells[at].volume <= 0.0
                || !is_prism(*cell) && shape.determinant(at, inner) < limits.determinant)
    };
    let bad_cells = (0..mesh.cells as u32).into_par_iter().filter(bad_cell);
    let bad_cells: Vec<u32> = bad_cells.collect();
    let column = |&p: &u32| {
        let point = match (p as usize).checked_sub(columns.len()) {
            Some(new) => made.column[new],
            None => p,
        };
        (columns[point as usize] != NONE).then_some(point)
    };
    let around = |cell: u32| {
        let ids = &of_cell[start[cell as usize] as usize..start[cell as usize + 1] as usize];
        let points = ids.iter().flat_map(|&face| mesh.face(face as usize));
        points.filter_map(column).collect::<Vec<u32>>()
    };
    let mut points: Vec<u32> = bad_cells.iter().flat_map(|&cell| around(cell)).collect();
    let mut stacks = Vec::new();
    for (face, [is_well_placed, _]) in bad {
        let prisms = beside(face).filter(|&cell| is_prism(cell));
        let on: Vec<u32> = prisms
            .map(|cell| made.stack[cell as usize - before])
            .collect();
        let own: Vec<u32> = mesh.face(face).iter().filter_map(column).collect();
        if is_well_placed && !on.is_empty() {
            stacks.extend(on);
        } else if own.is_empty() {
            points.extend(beside(face).flat_map(around));
        } else {
            points.extend(own);
        }
    }
    Bad {
        points: sorted(points),
        stacks: sorted(stacks),
    }
}

fn sorted(mut all: Vec<u32>) -> Vec<u32> {
    all.par_sort_unstable();
    all.dedup();
    all
}

/// What each patch has.
pub(super) fn count(
    plan: &Plan<'_>,
    region: &Region,
    before: &[[f64; 3]],
    share: &[f64],
    rules: &[Option<LayerRule>],
) -> Vec<LayerCounts> {
    let mesh = &region.mesh;
    let mut all: BTreeMap<usize, LayerCounts> = BTreeMap::new();
    let first = mesh.internal_faces();
    for at in 0..region.rim.len() {
        let patch = plan.patch(at);
        let Some(rule) = &rules[patch] else { continue };
        let counts = all.entry(patch).or_insert(LayerCounts {
            patch,
            layers: rule.layers,
            first: [f64::INFINITY, 0.0],
            ..LayerCounts::default()
        });
        let area = norm(face_of(before, mesh.face(first + at)).area);
        counts.faces += 1;
        counts.area += area;
        match plan.got(mesh, at, share) {
            Some((layers, [thickness, relative])) => {
                counts.covered += 1;
                counts.covered_area += area;
                counts.thickness += area * thickness;
                counts.relative += area * relative;
                counts.mean_layers += area * f64::from(layers);
                let height = rule.first_share(layers) * thickness;
                counts.first = [counts.first[0].min(height), counts.first[1] + area * height];
            }
            None => {
                if let Some(why) = plan.dropped[at] {
                    counts.dropped[why as usize] += 1;
                }
            }
        }
    }
    let gaps = largest_gaps(plan, region, before, rules);
    let finish = |mut counts: LayerCounts| {
        let area = counts.covered_area.max(f64::MIN_POSITIVE);
        counts.mean_layers /= counts.area.max(f64::MIN_POSITIVE);
        counts.thickness /= area;
        counts.relative /= area;
        counts.first[1] /= area;
        if counts.covered == 0 {
            counts.first = [0.0; 2];
        }
        counts.largest_gap = gaps.get(&counts.patch).copied();
        counts
    };
    all.into_values().map(finish).collect()
}

/// By patch the middle and area of the largest connected part without layers.
fn largest_gaps(
    plan: &Plan<'_>,
    region: &Region,
    before: &[[f64; 3]],
    rules: &[Option<LayerRule>],
) -> BTreeMap<usize, ([f64; 3], f64)> {
    let mesh: &PolyMesh = &region.mesh;
    let first = mesh.internal_faces();
    let is_bare = |at: &usize| rules[plan.patch(*at)].is_some() && plan.kinds[*at] == Kind::Keep;
    let bare: Vec<usize> = (0..region.rim.len()).filter(is_bare).collect();
    let mut parts = UnionFind::new(before.len());
    for &at in &bare {
        let ids = mesh.face(first + at);
        for &p in &ids[1..] {
            parts.join(ids[0], p);
        }
    }
    let mut sums: BTreeMap<(usize, u32), ([f64; 3], f64)> = BTreeMap::new();
    for &at in &bare {
        let ids = mesh.face(first + at);
        let face = face_of(before, ids);
        let area = norm(face.area);
        let sum = sums
            .entry((plan.patch(at), parts.root(ids[0])))
            .or_default();
        *sum = (add(sum.0, scale(face.center, area)), sum.1 + area);
    }
    let mut largest: BTreeMap<usize, ([f64; 3], f64)> = BTreeMap::new();
    for ((patch, _), (middle, area)) in sums {
        let found = largest.entry(patch).or_default();
        if area > found.1 {
            *found = (scale(middle, 1.0 / area), area);
        }
    }
    largest
}
