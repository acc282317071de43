//! Caps: facets that take away the boundary of a surface, loop by loop.
//!
//! A closed loop of n open edges gets n - 2 caps: the triangle of its ends and its middle, then those of both halves
//! (the chains between two corners), down to single edges. So a cap is as small as the part of the rim that it belongs
//! to, and a point near one part of the rim is far from the caps of the others. A fan from one point would have
//! all its caps near every point of the hole. The winding number less the angle of the caps is the same for both.

use super::uses;
use crate::snap::Snapped;
use cutlink_device::UnionFind;

/// The caps of a surface.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Added {
    /// Open edges, with multiplicity.
    pub(super) open_edges: usize,
    /// Their connected components: the holes.
    pub(super) loops: usize,
    /// A vertex of the hole of each cap, the same one for all caps of a hole.
    pub(super) hole_of: Vec<u32>,
}

/// Puts caps behind the facets of a surface, so that their chain has no boundary.
pub(super) fn add<const D: usize>(surface: &mut Snapped<D>) -> Added {
    let boundary = boundary(&surface.facets);
    if boundary.is_empty() {
        return Added::default();
    }
    // In 3D every loop is closed by itself; in 2D the ends of a polyline belong together.
    let mut sets = UnionFind::new(surface.vertices.len());
    let chain: &[[u32; D]] = if D == 2 { &surface.facets } else { &[] };
    for simplex in chain {
        sets.join(simplex[0], simplex[1]);
    }
    for (ends, _) in &boundary {
        sets.join(ends[0], ends[1]);
    }
    let before = surface.facets.len();
    if D == 2 {
        join_ends(&boundary, &mut sets, &mut surface.facets);
    } else {
        for edges in loops(&directed(&boundary)) {
            fill(&edges, &mut surface.facets);
        }
    }
    surface.caps = surface.facets.len() - before;
    let open_edges = boundary
        .iter()
        .map(|(_, times)| times.unsigned_abs() as usize)
        .sum();
    let mut roots: Vec<u32> = boundary
        .iter()
        .map(|(ends, _)| sets.root(ends[0]))
        .collect();
    roots.sort_unstable();
    roots.dedup();
    let caps = surface.facets[before..].iter();
    Added {
        open_edges,
        loops: roots.len(),
        hole_of: caps.map(|cap| sets.root(cap[0])).collect(),
    }
}

/// In 2D, a cap from each end at which a polyline runs out to one at which it begins.
fn join_ends<const D: usize>(
    boundary: &[([u32; 2], i64)],
    sets: &mut UnionFind,
    facets: &mut Vec<[u32; D]>,
) {
    let mut ends = |begins: bool| -> Vec<(u32, u32)> {
        let of_kind = boundary.iter().filter(|(_, times)| (*times > 0) == begins);
        let each = of_kind.flat_map(|&([v, _], times)| {
            let end = (sets.root(v), v);
            (0..times.unsigned_abs()).map(move |_| end)
        });
        let mut ends: Vec<(u32, u32)> = each.collect();
        ends.sort_unstable();
        ends
    };
    // As many of one kind as of the other in each polyline.
    let (begins, runs_out) = (ends(true), ends(false));
    for ((_, to), (_, from)) in begins.into_iter().zip(runs_out) {
        let mut cap = [to; D];
        cap[0] = from;
        facets.push(cap);
    }
}

/// The edges of the caps' own boundary, sorted: an open edge the other way round, as often as it is open.
fn directed(boundary: &[([u32; 2], i64)]) -> Vec<[u32; 2]> {
    let each = boundary.iter().flat_map(|&([low, high], times)| {
        let edge = if times > 0 { [high, low] } else { [low, high] };
        (0..times.unsigned_abs()).map(move |_| edge)
    });
    let mut edges: Vec<[u32; 2]> = each.collect();
    edges.sort_unstable();
    edges
}

/// Splits edges, of which as many end as begin at every vertex, into closed loops that pass no vertex twice. Cost:
/// proportional to the edges, but for a search each.
fn loops(edges: &[[u32; 2]]) -> Vec<Vec<u32>> {
    const OFF: usize = usize::MAX;
    let mut vertices: Vec<u32> = edges.iter().map(|e| e[0]).collect();
    vertices.dedup();
    let first = |v: u32| edges.partition_point(|e| e[0] < v);
    let mut next: Vec<usize> = vertices.iter().map(|&v| first(v)).collect();
    let mut place = vec![OFF; vertices.len()];
    let mut loops = Vec::new();
    for start in 0..vertices.len() {
        let mut path = vec![start];
        place[start] = 0;
        while let Some(&at) = path.last() {
            let edge = edges.get(next[at]).filter(|e| e[0] == vertices[at]);
            // Only where the path began, no edge may be left: at other vertices, one more has come in than gone out.
            let Some(&[_, to]) = edge else { break };
            next[at] += 1;
            let to = vertices.partition_point(|&v| v < to);
            if place[to] == OFF {
                place[to] = path.len();
                path.push(to);
                continue;
            }
            loops.push(path[place[to]..].iter().map(|&i| vertices[i]).collect());
            for i in path.drain(place[to] + 1..) {
                place[i] = OFF;
            }
        }
        place[start] = OFF;
    }
    loops
}

/// Fills a loop with triangles, whose boundary is the loop.
fn fill<const D: usize>(corners: &[u32], facets: &mut Vec<[u32; D]>) {
    if corners.len() < 3 {
        return;
    }
    let (middle, last) = (corners.len() / 2, corners.len() - 1);
    let mut cap = [corners[0]; D];
    (cap[1], cap[2 % D]) = (corners[middle], corners[last]);
    facets.push(cap);
    fill(&corners[..=middle], facets);
    fill(&corners[middle..], facets);
}

/// Edges with more uses one way than the other: their ends, low first (2D: the vertex,
/// twice), and how many more run forward.
pub(super) fn boundary<const D: usize>(facets: &[[u32; D]]) -> Vec<([u32; 2], i64)> {
    let uses = uses(facets);
    let runs = uses.chunk_by(|a, b| a.0 == b.0);
    let net = |run: &[super::Use]| -> i64 {
        run.iter()
            .map(|&(_, forward, _)| if forward { 1 } else { -1 })
            .sum()
    };
    runs.map(|run| (run[0].0, net(run)))
        .filter(|&(_, net)| net != 0)
        .map(|(key, net)| {
            let (low, high) = ((key >> 32) as u32, key as u32);
            let ends = if D == 2 { [high, high] } else { [low, high] };
            (ends, net)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Surface,
        primitives::Shape3,
        snap::{SnapLattice, snap},
    };

    fn open_sphere(keep: impl Fn(usize) -> bool) -> Snapped<3> {
        let sphere = Shape3::Sphere { radius: 0.5 };
        let mut surface: Surface<3> = sphere.surface(0.01).expect("a sphere");
        let mut i = 0;
        surface.facets.retain(|_| {
            i += 1;
            keep(i - 1)
        });
        let lattice = SnapLattice {
            origin: [-1.0; 3],
            unit: 1e-4,
        };
        snap(&surface, lattice).expect("near")
    }

    #[test]
    fn the_chain_with_its_caps_has_no_boundary() {
        let mut closed = open_sphere(|_| true);
        assert_eq!(add(&mut closed), Added::default(), "nothing to close");
        let mut soup = open_sphere(|i| i % 3 != 0 && i % 7 != 1);
        let Added {
            open_edges, loops, ..
        } = add(&mut soup);
        let counted = open_edges > 100 && loops >= 1;
        assert!(counted, "{open_edges} edges, {loops} loops");
        assert!(boundary(&soup.facets).is_empty(), "closed");
        soup.facets.pop();
        assert!(
            !boundary(&soup.facets).is_empty(),
            "not without the last cap"
        );
    }

    #[test]
    fn loops_that_meet_are_told_apart() {
        // Two triangles that share a corner, and a square run through twice.
        let mut edges = vec![[0, 1], [1, 2], [2, 0], [2, 3], [3, 4], [4, 2]];
        edges.extend([[5, 6], [6, 7], [7, 8], [8, 5]].repeat(2));
        edges.sort_unstable();
        let mut found = loops(&edges);
        found.sort_unstable();
        assert_eq!(
            found,
            [
                vec![0, 1, 2],
                vec![2, 3, 4],
                vec![5, 6, 7, 8],
                vec![5, 6, 7, 8]
            ]
        );
    }

    #[test]
    fn a_loop_has_two_caps_less_than_edges() {
        for n in 3..40 {
            let corners: Vec<u32> = (0..n).collect();
            let mut caps: Vec<[u32; 3]> = Vec::new();
            fill(&corners, &mut caps);
            assert_eq!(caps.len() as u32, n - 2);
            // Their boundary is the loop; edges between two caps go both ways.
            let rim = boundary(&caps);
            assert_eq!(rim.len() as u32, n);
            for (ends, times) in rim {
                let forward = ends[1] == ends[0] + 1;
                assert!(forward || ends == [0, n - 1], "{ends:?}");
                assert_eq!(times, if forward { 1 } else { -1 }, "{ends:?}");
            }
        }
    }

    #[test]
    fn polylines_are_closed_each_by_itself() {
        let mut open = Snapped {
            lattice: SnapLattice {
                origin: [0.0; 2],
                unit: 1.0,
            },
            vertices: vec![
                [0, 0],
                [10, 0],
                [10, 10],
                [50, 50],
                [60, 50],
                [60, 60],
                [50, 60],
            ],
            facets: vec![[0, 1], [1, 2], [3, 4], [4, 5], [5, 6], [6, 3]],
            facet_patch: Vec::new(),
            patches: vec!["p".into()],
            caps: 0,
            report: crate::snap::SnapReport::default(),
        };
        let Added {
            open_edges, loops, ..
        } = add(&mut open);
        assert_eq!((open_edges, loops), (2, 1), "the corner, not the square");
        assert_eq!(open.facets[6..], [[2, 0]], "from its end to its beginning");
        assert!(boundary(&open.facets).is_empty(), "closed");
    }
}
