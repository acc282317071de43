//! Which side of the surface each wall face lies on, and the chains of mesh edges between sides.
//!
//! Sides meet at sharp edges. A face takes the side nearest to its centre, then that for which
//!
//! ```text
//! distance of its centre from the side / its size + cost of its borders to neighbours on other sides
//! ```
//! is least (the model of Potts, minimized face by face: Besag, *On the statistical analysis of dirty pictures*, 1986). Mesh
//! edges between faces of different sides are the chains that go onto sharp edges: a chain is closed or ends at a corner, and no
//! face lies on both sides of it.

use super::walls::{Aims, Walls};
use super::{Near, Region, SnapTarget};
use crate::geometry::{add, dot, face_of, norm, scale, sub};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Cost of a border between two faces, in sizes of a face: where they are in one plane, where the border turns as the surface does,
/// and where it turns the other way. Two faces of one cell are never beside a convex edge of the body: the cell would fold.
const FLAT: f64 = 0.3;
const ALONG: f64 = 0.15;
const AGAINST: f64 = 0.6;
const FOLDED: f64 = 1.5;
/// Passes over the faces at borders.
const PASSES: usize = 8;
/// How far from a face its side may be, in sizes of the face.
const FARTHEST: f64 = 1.5;
/// How far a chain may be from its sharp edge, likewise.
const TO_EDGE: f64 = 1.2;
/// No side.
pub(super) const NONE: u32 = u32::MAX;

/// The sides that the faces of walls lie on.
#[derive(Debug)]
pub(super) struct Sides {
    /// Side of each face of a wall, in the order of the walls; [`NONE`] out of reach, and of baffles.
    pub(super) side: Vec<u32>,
    /// Neighbours of each point along chains, by numbers of points of walls.
    pub(super) chain: Near,
    /// Places in the list of walls of the faces at each point of a wall.
    pub(super) faces: Near,
}

/// A pair of faces that share an edge.
#[derive(Debug, Clone, Copy)]
struct Joint {
    ends: [u32; 2],
    faces: [u32; 2],
    turn: Turn,
}

/// How the castellated wall turns at an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Flat,
    /// Around fluid cells.
    Out,
    /// Within a fluid cell.
    In,
}

/// A face beside a side.
#[derive(Debug, Clone, Copy)]
struct Foot {
    /// Distance of its centre, in its size.
    cost: f64,
    /// Nearest point, and unit normal into the fluid.
    point: [f64; 3],
    normal: [f64; 3],
}

impl Sides {
    /// Sides of the faces at their aims.
    pub(super) fn new<T: SnapTarget>(walls: &Walls<'_, T>, aims: &Aims) -> Self {
        let patches = Faces::new(walls, aims);
        let joints = joints(walls);
        let (mut side, sign) = patches.nearest();
        patches.settle(&joints, &mut side, &sign);
        let chain = patches.chains(aims, &joints, &side);
        let count = walls.region.walls.len() as u32;
        let of_faces =
            || (0..count).flat_map(|at| walls.corners(at as usize).map(move |p| (p, at)));
        Self {
            chain: Near::collect(aims.points.len(), || {
                chain.iter().flat_map(|&[a, b]| [(a, b), (b, a)])
            }),
            faces: Near::collect(aims.points.len(), of_faces),
            side,
        }
    }

    /// The sides around a point, ascending.
    pub(super) fn around(&self, point: usize) -> Vec<u32> {
        let faces = self.faces.at(point).iter();
        let mut found: Vec<u32> = faces.map(|&at| self.side[at as usize]).collect();
        found.sort_unstable();
        found.dedup();
        found.retain(|&side| side != NONE);
        found
    }
}

/// Pairs of faces of walls that share an edge.
fn joints<T: SnapTarget>(walls: &Walls<'_, T>) -> Vec<Joint> {
    let mut edges: Vec<(u32, u32, u32)> = (0..walls.region.walls.len())
        .into_par_iter()
        .flat_map_iter(|at| {
            let ids: Vec<u32> = walls.corners(at).collect();
            (0..ids.len()).map(move |i| {
                let (a, b) = (ids[i], ids[(i + 1) % ids.len()]);
                (a.min(b), a.max(b), at as u32)
            })
        })
        .collect();
    edges.par_sort_unstable();
    edges
        .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
        .flat_map(|same| {
            let pairs = (0..same.len()).flat_map(|i| (0..i).map(move |j| [j, i]));
            pairs.map(|pair| {
                let faces = pair.map(|i| same[i].2);
                Joint {
                    ends: [same[0].0, same[0].1],
                    faces,
                    turn: turn(walls.region, faces),
                }
            })
        })
        .collect()
}

fn turn(region: &Region, faces: [u32; 2]) -> Turn {
    let mesh = &region.mesh;
    let [a, b] = faces.map(|at| region.walls[at as usize] as usize);
    let [p, q] = [a, b].map(|face| face_of(&mesh.points, mesh.face(face)).area);
    if mesh.owner[a] == mesh.owner[b] {
        Turn::In
    } else if dot(p, q) > 0.5 * norm(p) * norm(q) {
        Turn::Flat
    } else {
        Turn::Out
    }
}

/// Faces of walls, as far as their sides depend on them.
struct Faces<'a, T> {
    target: &'a T,
    center: Vec<[f64; 3]>,
    size: Vec<f64>,
    /// Area vectors into the body, before they move.
    area: Vec<[f64; 3]>,
    /// Faces with a twin that has the same points.
    baffle: Vec<bool>,
}

impl<'a, T: SnapTarget> Faces<'a, T> {
    fn new(walls: &Walls<'a, T>, aims: &Aims) -> Self {
        let count = walls.region.walls.len();
        let one = |at: usize| {
            let (mut sum, mut size, mut n) = ([0.0; 3], f64::INFINITY, 0);
            for p in walls.corners(at) {
                sum = add(sum, aims.place[p as usize]);
                size = size.min(aims.size[p as usize]);
                n += 1;
            }
            (scale(sum, 1.0 / f64::from(n)), size)
        };
        let (center, size) = (0..count).into_par_iter().map(one).unzip();
        let mut keys: Vec<([u32; 3], u32)> = (0..count)
            .into_par_iter()
            .map(|at| {
                let mut ids: Vec<u32> = walls.corners(at).collect();
                ids.sort_unstable();
                ([ids[0], ids[1], ids[2]], at as u32)
            })
            .collect();
        keys.par_sort_unstable();
        let mut baffle = vec![false; count];
        for same in keys.chunk_by(|a, b| a.0 == b.0).filter(|s| s.len() > 1) {
            same.iter().for_each(|&(_, at)| baffle[at as usize] = true);
        }
        let mesh = &walls.region.mesh;
        let area = |&face: &u32| face_of(&mesh.points, mesh.face(face as usize)).area;
        Self {
            target: walls.target,
            area: walls.region.walls.par_iter().map(area).collect(),
            center,
            size,
            baffle,
        }
    }

    /// The nearest side of each face, and the sign of the normals of each side towards the fluid.
    fn nearest(&self) -> (Vec<u32>, BTreeMap<u32, f64>) {
        let one = |at: usize| {
            let found = self
                .target
                .nearest(self.center[at], FARTHEST * self.size[at]);
            found.filter(|_| !self.baffle[at])
        };
        let found: Vec<_> = (0..self.center.len()).into_par_iter().map(one).collect();
        // Stairs add up to the area of what they stand for.
        let mut sign = BTreeMap::new();
        for (found, &area) in found.iter().zip(&self.area) {
            if let Some(found) = found {
                *sign.entry(found.side).or_insert(0.0) -= dot(area, found.normal);
            }
        }
        let side = found.iter().map(|f| f.map_or(NONE, |f| f.side)).collect();
        (side, sign)
    }

    fn foot(&self, at: usize, side: u32, sign: &BTreeMap<u32, f64>) -> Foot {
        let far = FARTHEST * self.size[at];
        match self.target.nearest_on(side, self.center[at], far) {
            None => Foot {
                cost: 2.0 * FARTHEST,
                point: self.center[at],
                normal: [0.0; 3],
            },
            Some(found) => Foot {
                cost: norm(sub(found.point, self.center[at])) / self.size[at],
                point: found.point,
                normal: scale(
                    found.normal,
                    sign.get(&side).copied().unwrap_or(0.0).signum(),
                ),
            },
        }
    }

    /// Smooths the borders between sides.
    fn settle(&self, joints: &[Joint], side: &mut [u32], sign: &BTreeMap<u32, f64>) {
        let beside = Near::collect(side.len(), || {
            let each = joints.iter().zip(0..);
            each.flat_map(|(j, at)| [(j.faces[0], at), (j.faces[1], at)])
        });
        let mut feet: BTreeMap<(u32, u32), Foot> = BTreeMap::new();
        let mut foot = |face: u32, side: u32| {
            *feet
                .entry((face, side))
                .or_insert_with(|| self.foot(face as usize, side, sign))
        };
        let mut queue: Vec<u32> = (0..side.len() as u32).collect();
        for _ in 0..PASSES {
            let mut next = Vec::new();
            for &face in &queue {
                let at = face as usize;
                let own = side[at];
                let around: Vec<(u32, Turn)> = beside
                    .at(at)
                    .iter()
                    .map(|&joint| {
                        let Joint {
                            faces: [a, b],
                            turn,
                            ..
                        } = joints[joint as usize];
                        (if a == face { b } else { a }, turn)
                    })
                    .collect();
                if own == NONE || !around.iter().any(|&(f, _)| own != side[f as usize]) {
                    continue;
                }
                let mut others: Vec<u32> = around.iter().map(|&(f, _)| side[f as usize]).collect();
                others.retain(|&p| p != NONE && p != own);
                others.sort_unstable();
                others.dedup();
                let mut energy = |p: u32| {
                    let here = foot(face, p);
                    let mut sum = here.cost;
                    for &(other, turn) in &around {
                        let q = side[other as usize];
                        if p != q {
                            sum += match q {
                                NONE => FLAT,
                                _ => border(here, foot(other, q), turn),
                            };
                        }
                    }
                    sum
                };
                let mut best = (energy(own), own);
                for p in others {
                    let found = energy(p);
                    if found < best.0 - 1e-9 {
                        best = (found, p);
                    }
                }
                if best.1 != own {
                    side[at] = best.1;
                    next.push(face);
                    next.extend(around.iter().map(|a| a.0));
                }
            }
            next.sort_unstable();
            next.dedup();
            if next.is_empty() {
                break;
            }
            queue = next;
        }
    }

    /// Mesh edges that go onto sharp edges.
    fn chains(&self, aims: &Aims, joints: &[Joint], side: &[u32]) -> Vec<[u32; 2]> {
        let is_chain = |joint: &&Joint| {
            let [a, b] = joint.faces.map(|f| side[f as usize]);
            if a == b || a == NONE || b == NONE {
                return false;
            }
            let [p, q] = joint.ends.map(|p| aims.place[p as usize]);
            let size = joint.ends.map(|p| aims.size[p as usize]);
            let within = TO_EDGE * size[0].min(size[1]);
            nearest_edge(self.target, scale(add(p, q), 0.5), within, &[a, b]).is_some()
        };
        let found = joints.par_iter().filter(is_chain);
        found.map(|joint| joint.ends).collect()
    }
}

/// Cost of a border between two faces with their feet on different sides.
fn border(a: Foot, b: Foot, turn: Turn) -> f64 {
    let along = sub(b.point, a.point);
    // Positive where the fluid is in the hollow of the two sides.
    let hollow = dot(a.normal, along) - dot(b.normal, along);
    match turn {
        Turn::Flat => FLAT,
        Turn::In if hollow < 0.0 => FOLDED,
        Turn::Out if hollow > 0.0 => AGAINST,
        _ => ALONG,
    }
}

/// The nearest sharp edge between sides; where these have none in common, since a side between them is too narrow for faces
/// of its own, the nearest one of all.
pub(super) fn nearest_edge(
    target: &impl SnapTarget,
    at: [f64; 3],
    within: f64,
    sides: &[u32],
) -> Option<[f64; 3]> {
    let between = target.nearest_edge(at, within, Some(sides));
    let found = match between {
        None if sides.len() > 1 => target.nearest_edge(at, within, None),
        found => found,
    };
    found.map(|edge| edge.point)
}
