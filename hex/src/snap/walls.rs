//! Where the points of walls should go.

use super::sides::{NONE, Sides, nearest_edge};
use super::{Near, Region, SnapCounts, SnapTarget, TargetPoint};
use crate::geometry::{add, dot, norm, scale, sub};
use rayon::prelude::*;

/// Turns of evening out and projecting, before points are put onto edges and after.
const TURNS: [usize; 2] = [4, 3];
/// Turns after, if some are on edges.
const TURNS_WITH_EDGES: usize = 6;
/// How far a point may move, as the length of its shortest edge. The cut through a link is within sqrt(3) / 2 of the
/// corners of its face; evening out adds to that.
const FARTHEST: f64 = 1.2;
/// How far a point of a chain may move, likewise.
const FARTHEST_ON_CHAIN: f64 = 1.6;
/// How far a point may move to an edge or a corner, likewise.
const TO_EDGE: f64 = 1.0;
const TO_EDGE_ON_CHAIN: f64 = 1.3;
/// Distance below which a point is on an edge already, likewise.
const ON_EDGE: f64 = 1e-6;
/// Cosine of the angle between normals on either side of an edge of the mesh, below which an edge of the surface is
/// looked for between them.
const SHARP: f64 = 0.87;

/// How a point is bound to the surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bond {
    /// Out of reach: it follows the points around it.
    None,
    /// On a facet.
    Facet,
    /// On a sharp edge.
    Edge,
    /// On a corner.
    Corner,
}

/// Aims of the points of walls.
#[derive(Debug)]
pub(super) struct Aims {
    /// Points of walls in the numbers of the region, ascending.
    pub(super) points: Vec<u32>,
    /// Where they should go.
    pub(super) place: Vec<[f64; 3]>,
    /// How they are bound.
    pub(super) bond: Vec<Bond>,
    /// Their shortest edges.
    pub(super) size: Vec<f64>,
}

impl Aims {
    pub(super) fn counts(&self) -> SnapCounts {
        let of = |bond: Bond| self.bond.iter().filter(|&&b| b == bond).count() as u64;
        SnapCounts {
            points: self.points.len() as u64,
            out_of_reach: of(Bond::None),
            ..SnapCounts::default()
        }
    }
}

/// The surface of the walls, with the numbers of its points.
pub(super) struct Walls<'a, T> {
    pub(super) region: &'a Region,
    pub(super) target: &'a T,
    /// Faces of walls at each point of the region.
    faces: Near,
    /// Number among the points of walls, of each point of the region.
    number: Vec<u32>,
}

/// Where the points of walls should go.
pub(super) fn aims<T: SnapTarget>(region: &Region, target: &T) -> (Aims, Vec<u32>) {
    let points: Vec<u32> = (0..region.mesh.points.len() as u32)
        .filter(|&p| region.is_wall(p as usize))
        .collect();
    let mut number = vec![u32::MAX; region.mesh.points.len()];
    for (at, &p) in points.iter().enumerate() {
        number[p as usize] = at as u32;
    }
    let walls = Walls {
        region,
        target,
        faces: Near::faces(&region.mesh, &region.walls),
        number,
    };
    let size = points.par_iter().map(|&p| walls.shortest_edge(p)).collect();
    let place = points
        .iter()
        .map(|&p| region.mesh.points[p as usize])
        .collect();
    let bond = vec![Bond::Facet; points.len()];
    let mut aims = Aims {
        points,
        place,
        bond,
        size,
    };
    let mut found = Vec::new();
    for turn in 0..TURNS[0] {
        found = walls.even_out(&mut aims, None, turn > 0);
    }
    let sides = Sides::new(&walls, &aims);
    walls.bind_to_edges(&mut aims, &sides, &found);
    walls.bind_to_corners(&mut aims, &sides);
    let has_edges = aims.bond.contains(&Bond::Edge);
    let turns = if has_edges {
        TURNS_WITH_EDGES
    } else {
        TURNS[1]
    };
    for _ in 0..turns {
        walls.even_out(&mut aims, Some(&sides), true);
    }
    (aims, sides.side)
}

impl<T: SnapTarget> Walls<'_, T> {
    /// The points of a face of the walls, by number among the points of walls.
    pub(super) fn corners(&self, face: usize) -> impl Iterator<Item = u32> + '_ {
        let ids = self.region.mesh.face(self.region.walls[face] as usize);
        ids.iter().map(|&p| self.number[p as usize])
    }

    fn shortest_edge(&self, point: u32) -> f64 {
        let points = &self.region.mesh.points;
        let ends = self.region.near.at(point as usize).iter();
        let lengths = ends.map(|&q| norm(sub(points[q as usize], points[point as usize])));
        lengths.fold(f64::INFINITY, f64::min)
    }

    /// A place of a point without what its planes forbid.
    fn within_planes(&self, point: u32, place: [f64; 3]) -> [f64; 3] {
        let (held, at) = (
            self.region.held[point as usize],
            self.region.mesh.points[point as usize],
        );
        std::array::from_fn(|a| if held >> a & 1 == 1 { at[a] } else { place[a] })
    }

    /// The mean of the centres of the wall faces around a point.
    fn mean_of_faces(&self, aims: &Aims, point: u32) -> [f64; 3] {
        let place = |p: u32| aims.place[self.number[p as usize] as usize];
        let faces = self.faces.at(point as usize);
        let centers = faces.iter().map(|&face| {
            let ids = self.region.mesh.face(face as usize);
            let sum = ids.iter().fold([0.0; 3], |sum, &p| add(sum, place(p)));
            scale(sum, 1.0 / ids.len() as f64)
        });
        scale(centers.fold([0.0; 3], add), 1.0 / faces.len() as f64)
    }

    /// The mean of the neighbours along a chain, if there are two.
    fn mean_on_edge(&self, aims: &Aims, sides: Option<&Sides>, at: usize) -> Option<[f64; 3]> {
        let &[a, b] = sides?.chain.at(at) else {
            return None;
        };
        let [a, b] = [a, b].map(|q| aims.place[q as usize]);
        Some(scale(add(a, b), 0.5))
    }

    /// The nearest point of what a point without a bond to an edge may be on: of the side of the faces around it, or of all.
    fn nearest(
        &self,
        sides: Option<&Sides>,
        at: usize,
        place: [f64; 3],
        within: f64,
    ) -> Option<TargetPoint> {
        if let Some(sides) = sides {
            let mut around = sides.faces.at(at).iter().map(|&f| sides.side[f as usize]);
            let first = around.next().unwrap_or(NONE);
            if first != NONE && around.all(|side| side == first) {
                let found = self.target.nearest_on(first, place, within);
                if found.is_some() {
                    return found;
                }
            }
        }
        self.target.nearest(place, within)
    }

    /// The nearest point of the sharp edges that a point may be on: between the sides around it, or all where a face has none.
    fn nearest_edge(
        &self,
        sides: Option<&Sides>,
        at: usize,
        place: [f64; 3],
        within: f64,
    ) -> Option<[f64; 3]> {
        match sides.map(|sides| sides.around(at)) {
            Some(around) if !around.is_empty() => nearest_edge(self.target, place, within, &around),
            _ => Some(self.target.nearest_edge(place, within, None)?.point),
        }
    }

    /// One turn: each point to the mean around it, then onto what it is bound to. Returns the points found on facets.
    fn even_out(
        &self,
        aims: &mut Aims,
        sides: Option<&Sides>,
        moved: bool,
    ) -> Vec<Option<TargetPoint>> {
        let old: &Aims = aims;
        let turn = |at: usize| {
            let (point, size) = (old.points[at], old.size[at]);
            let start = self.region.mesh.points[point as usize];
            let is_far = |p: [f64; 3]| norm(sub(p, start)) > FARTHEST * size;
            match old.bond[at] {
                Bond::Corner => (old.place[at], None),
                Bond::Edge => {
                    let mean = self.mean_on_edge(old, sides, at).unwrap_or(old.place[at]);
                    let edge = self.nearest_edge(sides, at, mean, TO_EDGE_ON_CHAIN * size);
                    let place = edge.map_or(old.place[at], |e| self.within_planes(point, e));
                    let is_far = norm(sub(place, start)) > FARTHEST_ON_CHAIN * size;
                    (if is_far { old.place[at] } else { place }, None)
                }
                Bond::Facet | Bond::None => {
                    let mean = self.mean_of_faces(old, point);
                    let mut place = self.within_planes(point, mean);
                    let held = self.region.held[point as usize] != 0;
                    let mut found = None;
                    // In turns where a point has to stay in a plane too.
                    for _ in 0..if held { 4 } else { 1 } {
                        found = self.nearest(sides, at, place, FARTHEST * size);
                        if let Some(near) = &found {
                            place = self.within_planes(point, near.point);
                        }
                    }
                    match found {
                        Some(_) if !is_far(place) => (place, found),
                        // What is around pulled it away: from where it stood at first.
                        _ => {
                            let near = self.nearest(sides, at, start, FARTHEST * size);
                            let keep = if moved { old.place[at] } else { start };
                            let place = near.map_or(keep, |n| self.within_planes(point, n.point));
                            (place, near)
                        }
                    }
                }
            }
        };
        let made: Vec<_> = (0..old.points.len()).into_par_iter().map(turn).collect();
        let mut found = Vec::with_capacity(made.len());
        for (at, (place, near)) in made.into_iter().enumerate() {
            aims.place[at] = place;
            if matches!(aims.bond[at], Bond::Facet | Bond::None) {
                aims.bond[at] = if near.is_some() {
                    Bond::Facet
                } else {
                    Bond::None
                };
            }
            found.push(near);
        }
        found
    }

    /// Points of chains go onto sharp edges. Elsewhere, beside edges that end within a side and at faces without one, of two
    /// neighbours on either side of a sharp edge the nearer one goes onto it.
    fn bind_to_edges(&self, aims: &mut Aims, sides: &Sides, found: &[Option<TargetPoint>]) {
        let edge = |at: usize| {
            let size = aims.size[at];
            let mut place = aims.place[at];
            let held = self.region.held[aims.points[at] as usize] != 0;
            let (within, farthest) = match sides.chain.at(at).len() {
                0 => (TO_EDGE * size, FARTHEST * size),
                _ => (TO_EDGE_ON_CHAIN * size, FARTHEST_ON_CHAIN * size),
            };
            for _ in 0..if held { 4 } else { 1 } {
                let near = self.nearest_edge(Some(sides), at, place, within)?;
                place = self.within_planes(aims.points[at], near);
            }
            let start = self.region.mesh.points[aims.points[at] as usize];
            let is_near = norm(sub(place, start)) <= farthest;
            is_near.then(|| (norm(sub(place, aims.place[at])), place))
        };
        let edges: Vec<Option<(f64, [f64; 3])>> =
            (0..aims.points.len()).into_par_iter().map(edge).collect();
        let far = |at: usize| edges[at].map_or(f64::INFINITY, |e| e.0);
        let crosses = |a: usize, b: usize| match (&found[a], &found[b]) {
            (Some(p), Some(q)) => p.side != q.side || dot(p.normal, q.normal).abs() < SHARP,
            _ => false,
        };
        let goes = |at: usize| {
            let Some((distance, _)) = edges[at] else {
                return false;
            };
            if !sides.chain.at(at).is_empty() {
                return true;
            }
            let mut around = self.neighbours_on_wall(aims.points[at]);
            distance <= ON_EDGE * aims.size[at] && sides.around(at).len() != 1
                || around.any(|other| crosses(at, other) && (far(at), at) < (far(other), other))
        };
        let bound: Vec<bool> = (0..aims.points.len()).into_par_iter().map(goes).collect();
        for (at, _) in bound.iter().enumerate().filter(|b| *b.1) {
            if let Some((_, place)) = edges[at] {
                (aims.place[at], aims.bond[at]) = (place, Bond::Edge);
            }
        }
    }

    /// Neighbours of a point along edges of wall faces.
    fn neighbours_on_wall(&self, point: u32) -> impl Iterator<Item = usize> + '_ {
        let faces = self.faces.at(point as usize);
        let is_beside = move |other: u32| {
            faces.iter().any(|&face| {
                let ids = self.region.mesh.face(face as usize);
                let at = ids.iter().position(|&p| p == point);
                at.is_some_and(|at| {
                    let n = ids.len();
                    ids[(at + 1) % n] == other || ids[(at + n - 1) % n] == other
                })
            })
        };
        let near = self.region.near.at(point as usize).iter().copied();
        near.filter(move |&q| is_beside(q))
            .map(|q| self.number[q as usize] as usize)
    }

    /// The nearest point of each corner goes there, of those where chains meet if there are some.
    fn bind_to_corners(&self, aims: &mut Aims, sides: &Sides) {
        let corner = |at: usize| {
            let chains = sides.chain.at(at).len();
            if chains == 0 && aims.bond[at] != Bond::Edge {
                return None;
            }
            let (id, place) = self
                .target
                .nearest_corner(aims.place[at], TO_EDGE_ON_CHAIN * aims.size[at])?;
            let start = self.region.mesh.points[aims.points[at] as usize];
            let allowed = self.within_planes(aims.points[at], place) == place
                && norm(sub(place, start)) <= FARTHEST_ON_CHAIN * aims.size[at];
            let distance = norm(sub(place, aims.place[at]));
            allowed.then(|| (id, chains < 3, distance.to_bits(), at, place))
        };
        let mut found: Vec<_> = (0..aims.points.len())
            .into_par_iter()
            .filter_map(corner)
            .collect();
        found.par_sort_unstable_by_key(|&(id, plain, distance, at, _)| (id, plain, distance, at));
        for same in found.chunk_by(|a, b| a.0 == b.0) {
            let (_, _, _, at, place) = same[0];
            (aims.place[at], aims.bond[at]) = (place, Bond::Corner);
        }
    }
}

/// Counts what was reached, and how far from the surface the points of walls are.
pub(super) fn measure(
    region: &Region,
    aims: &Aims,
    target: &impl SnapTarget,
    counts: &mut SnapCounts,
) {
    let at = |i: usize| region.mesh.points[aims.points[i] as usize];
    let is_there = |i: usize| norm(sub(at(i), aims.place[i])) <= 1e-9 * aims.size[i];
    let far: Vec<Option<f64>> = (0..aims.points.len())
        .into_par_iter()
        .map(|i| match aims.bond[i] {
            Bond::None => None,
            _ if is_there(i) => Some(0.0),
            _ => {
                let near = target.nearest(at(i), 2.0 * FARTHEST * aims.size[i])?;
                Some(norm(sub(near.point, at(i))) / aims.size[i])
            }
        })
        .collect();
    for (i, bond) in aims.bond.iter().enumerate() {
        if *bond == Bond::None {
            continue;
        }
        let there = is_there(i);
        counts.snapped += u64::from(there);
        counts.held_back += u64::from(!there);
        counts.on_edges += u64::from(there && *bond != Bond::Facet);
    }
    let within = far.iter().flatten().count().max(1) as f64;
    counts.distance = [
        far.iter().flatten().sum::<f64>() / within,
        far.iter().flatten().fold(0.0, |a: f64, &b| a.max(b)),
    ];
}
