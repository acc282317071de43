//! Where the points of walls should go.

use super::{Near, Region, SnapCounts, SnapTarget, TargetPoint};
use crate::geometry::{add, dot, norm, scale, sub};
use rayon::prelude::*;

/// Turns of evening out and projecting, before points are put onto edges and after.
const TURNS: [usize; 2] = [4, 3];
/// How far a point may move, as the length of its shortest edge. The cut through a link is within sqrt(3) / 2 of the
/// corners of its face; evening out adds to that.
const FARTHEST: f64 = 1.2;
/// How far a point may move to an edge or a corner, likewise.
const TO_EDGE: f64 = 1.0;
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
struct Walls<'a, T> {
    region: &'a Region,
    target: &'a T,
    /// Faces of walls at each point of the region.
    faces: Near,
    /// Number among the points of walls, of each point of the region.
    number: Vec<u32>,
}

/// Where the points of walls should go.
pub(super) fn aims<T: SnapTarget>(region: &Region, target: &T) -> Aims {
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
        found = walls.even_out(&mut aims, turn > 0);
    }
    walls.bind_to_edges(&mut aims, &found);
    walls.bind_to_corners(&mut aims);
    for _ in 0..TURNS[1] {
        walls.even_out(&mut aims, true);
    }
    aims
}

impl<T: SnapTarget> Walls<'_, T> {
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

    /// The mean of the neighbours on the same edge of the surface, if it has two.
    fn mean_on_edge(&self, aims: &Aims, point: u32) -> Option<[f64; 3]> {
        let number = |q: u32| self.number[q as usize];
        let bound = self
            .region
            .near
            .at(point as usize)
            .iter()
            .map(|&q| number(q))
            .filter(|&n| {
                n != u32::MAX && matches!(aims.bond[n as usize], Bond::Edge | Bond::Corner)
            });
        let (sum, count) = bound.fold(([0.0; 3], 0), |(sum, n), q| {
            (add(sum, aims.place[q as usize]), n + 1)
        });
        (count == 2).then(|| scale(sum, 0.5))
    }

    /// One turn: each point to the mean around it, then onto what it is bound to. Returns the points found on facets.
    fn even_out(&self, aims: &mut Aims, moved: bool) -> Vec<Option<TargetPoint>> {
        let old: &Aims = aims;
        let turn = |at: usize| {
            let (point, size) = (old.points[at], old.size[at]);
            let start = self.region.mesh.points[point as usize];
            let is_far = |p: [f64; 3]| norm(sub(p, start)) > FARTHEST * size;
            match old.bond[at] {
                Bond::Corner => (old.place[at], None),
                Bond::Edge => {
                    let mean = self.mean_on_edge(old, point).unwrap_or(old.place[at]);
                    let edge = self.target.nearest_edge(mean, TO_EDGE * size);
                    let place = edge.map_or(old.place[at], |e| self.within_planes(point, e.point));
                    (if is_far(place) { old.place[at] } else { place }, None)
                }
                Bond::Facet | Bond::None => {
                    let mean = self.mean_of_faces(old, point);
                    let mut place = self.within_planes(point, mean);
                    let held = self.region.held[point as usize] != 0;
                    let mut found = None;
                    // In turns where a point has to stay in a plane too.
                    for _ in 0..if held { 4 } else { 1 } {
                        found = self.target.nearest(place, FARTHEST * size);
                        if let Some(near) = &found {
                            place = self.within_planes(point, near.point);
                        }
                    }
                    match found {
                        Some(_) if !is_far(place) => (place, found),
                        // What is around pulled it away: from where it stood at first.
                        _ => {
                            let near = self.target.nearest(start, FARTHEST * size);
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

    /// Of two neighbours on either side of a sharp edge, the nearer one goes onto it.
    fn bind_to_edges(&self, aims: &mut Aims, found: &[Option<TargetPoint>]) {
        let edge = |at: usize| {
            let near = self
                .target
                .nearest_edge(aims.place[at], TO_EDGE * aims.size[at])?;
            let place = self.within_planes(aims.points[at], near.point);
            let start = self.region.mesh.points[aims.points[at] as usize];
            let is_near = norm(sub(place, start)) <= FARTHEST * aims.size[at];
            is_near.then(|| (norm(sub(place, aims.place[at])), place))
        };
        let edges: Vec<Option<(f64, [f64; 3])>> =
            (0..aims.points.len()).into_par_iter().map(edge).collect();
        let far = |at: usize| edges[at].map_or(f64::INFINITY, |e| e.0);
        let crosses = |a: usize, b: usize| match (&found[a], &found[b]) {
            (Some(p), Some(q)) => p.part != q.part || dot(p.normal, q.normal).abs() < SHARP,
            _ => false,
        };
        let goes = |at: usize| {
            let Some((distance, _)) = edges[at] else {
                return false;
            };
            let mut around = self.neighbours_on_wall(aims.points[at]);
            distance <= ON_EDGE * aims.size[at]
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

    /// The nearest point of each corner goes there.
    fn bind_to_corners(&self, aims: &mut Aims) {
        let corner = |at: usize| {
            let (id, place) = self
                .target
                .nearest_corner(aims.place[at], TO_EDGE * aims.size[at])?;
            let start = self.region.mesh.points[aims.points[at] as usize];
            let allowed = self.within_planes(aims.points[at], place) == place
                && norm(sub(place, start)) <= FARTHEST * aims.size[at];
            let distance = norm(sub(place, aims.place[at]));
            allowed.then(|| (id, distance.to_bits(), at, place))
        };
        let mut found: Vec<_> = (0..aims.points.len())
            .into_par_iter()
            .filter_map(corner)
            .collect();
        found.par_sort_unstable_by_key(|&(id, distance, at, _)| (id, distance, at));
        for same in found.chunk_by(|a, b| a.0 == b.0) {
            let (_, _, at, place) = same[0];
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
