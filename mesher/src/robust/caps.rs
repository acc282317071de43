//! Caps: the boundary of the chain of facets, coned from one point a loop.

use super::uses;
use crate::snap::Snapped;
use cutlink_device::UnionFind;
use std::collections::BTreeMap;

/// Puts caps behind the facets of a surface, so that their chain has no boundary. Returns
/// the number of caps, with those of no area, and of loops.
pub(super) fn add<const D: usize>(surface: &mut Snapped<D>) -> (usize, usize) {
    let boundary = boundary(&surface.facets);
    if boundary.is_empty() {
        return (0, 0);
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
    let mut sums: BTreeMap<u32, ([i64; D], i64)> = BTreeMap::new();
    for (ends, _) in &boundary {
        let (sum, count) = sums.entry(sets.root(ends[0])).or_insert(([0; D], 0));
        for &v in ends {
            for (sum, c) in sum.iter_mut().zip(surface.vertices[v as usize]) {
                *sum += i64::from(c);
            }
            *count += 1;
        }
    }
    let mut apex_of = BTreeMap::new();
    for (root, (sum, count)) in sums {
        apex_of.insert(root, surface.vertices.len() as u32);
        surface
            .vertices
            .push(sum.map(|s| s.div_euclid(count) as i32));
    }
    let mut edges = 0;
    let before = surface.facets.len();
    for (ends, times) in boundary {
        let apex = apex_of[&sets.root(ends[0])];
        let at = |v: u32| surface.vertices[v as usize];
        edges += times.unsigned_abs() as usize;
        // At an end of its edge a cap is nothing, and its boundary too.
        if ends.iter().any(|&v| at(v) == at(apex)) {
            continue;
        }
        let cap = cap::<D>(ends, apex, times > 0);
        for _ in 0..times.unsigned_abs() {
            surface.facets.push(cap);
        }
    }
    surface.caps = surface.facets.len() - before;
    (edges, apex_of.len())
}

/// Edges with more uses one way than the other: their ends, low first (2D: the vertex,
/// twice), and how many more run forward.
fn boundary<const D: usize>(facets: &[[u32; D]]) -> Vec<([u32; 2], i64)> {
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

/// The facet whose boundary takes away one more use of the edge one way.
fn cap<const D: usize>(ends: [u32; 2], apex: u32, forward: bool) -> [u32; D] {
    let mut cap = [apex; D];
    if D == 2 {
        // A use out of the vertex is taken away by one into it.
        cap[usize::from(forward)] = ends[0];
    } else {
        let [a, b] = ends;
        (cap[0], cap[1]) = if forward { (b, a) } else { (a, b) };
    }
    cap
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
        assert_eq!(add(&mut closed), (0, 0), "nothing to close");
        let mut soup = open_sphere(|i| i % 3 != 0 && i % 7 != 1);
        let (edges, loops) = add(&mut soup);
        assert!(edges > 100 && loops >= 1, "{edges} edges, {loops} loops");
        assert!(boundary(&soup.facets).is_empty(), "closed");
        soup.facets.pop();
        assert!(
            !boundary(&soup.facets).is_empty(),
            "not without the last cap"
        );
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
        assert_eq!(add(&mut open), (2, 1), "the corner, not the square");
        assert_eq!(open.vertices[7], [5, 5], "between its ends");
        assert!(boundary(&open.facets).is_empty(), "closed");
    }
}
