//! Closing holes: a fan from the centroid of each boundary loop.
//!
//! In: an indexed surface. Out: the same with one new vertex a loop and one facet a boundary
//! edge, each edge used once in either direction: the boundary of the whole is nothing. Good
//! for the small or flat holes a scan has underneath, not for large curved ones.

use cutlink_mesher::Surface;
use std::collections::BTreeMap;

/// What [`cap`] added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capped {
    /// Boundary loops.
    pub holes: usize,
    /// Facets added.
    pub facets: usize,
}

/// Caps every hole of `surface`. Where several loops pass through one vertex they are cut
/// apart there in an arbitrary but fixed way; the result is closed all the same.
pub fn cap(surface: &mut Surface<3>) -> Capped {
    let mut next = open_edges(surface);
    let before = surface.facets.len();
    let mut holes = 0;
    while let Some((&start, _)) = next.first_key_value() {
        let mut ring = Vec::new();
        let mut at = start;
        while let Some(ends) = next.get_mut(&at) {
            ring.push(at);
            let to = ends.pop().expect("no empty list should be kept");
            if ends.is_empty() {
                next.remove(&at);
            }
            at = to;
        }
        // As many open edges lead into a vertex as out of it, so the walk ends at its start.
        let centroid = surface.vertices.len() as u32;
        let mean = |a: usize| {
            let sum: f64 = ring.iter().map(|&v| surface.vertices[v as usize][a]).sum();
            sum / ring.len() as f64
        };
        let middle = [mean(0), mean(1), mean(2)];
        surface.vertices.push(middle);
        for (i, &from) in ring.iter().enumerate() {
            let to = ring[(i + 1) % ring.len()];
            surface.facets.push([from, to, centroid]);
        }
        holes += 1;
    }
    if !surface.facet_patch.is_empty() {
        surface.facet_patch.resize(surface.facets.len(), 0);
    }
    Capped {
        holes,
        facets: surface.facets.len() - before,
    }
}

/// For each vertex, where the edges that are missing for closedness should lead from it: an
/// edge used more often as a→b than as b→a lacks its way back.
fn open_edges(surface: &Surface<3>) -> BTreeMap<u32, Vec<u32>> {
    let mut balance: BTreeMap<(u32, u32), i32> = BTreeMap::new();
    for facet in &surface.facets {
        for k in 0..3 {
            let (a, b) = (facet[k], facet[(k + 1) % 3]);
            *balance.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
        }
    }
    let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for ((low, high), uses) in balance {
        let (from, to) = if uses > 0 { (high, low) } else { (low, high) };
        for _ in 0..uses.abs() {
            next.entry(from).or_default().push(to);
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutlink_mesher::{health, primitives::Shape3};

    #[test]
    fn a_sphere_with_facets_taken_out_is_closed_again() {
        let sphere = Shape3::Sphere { radius: 1.0 }
            .surface(0.01)
            .expect("a sphere");
        let mut holed = sphere.clone();
        holed.facets.retain(|f| {
            let z = f
                .iter()
                .map(|&v| sphere.vertices[v as usize][2])
                .sum::<f64>()
                / 3.0;
            z.abs() < 0.95
        });
        let removed = sphere.facets.len() - holed.facets.len();
        assert!(removed > 6, "two holes");
        assert!(!health::check(&holed).closed(), "open before");
        let capped = cap(&mut holed);
        assert_eq!(capped.holes, 2, "one at each pole");
        let health = health::check(&holed);
        assert!(health.closed(), "closed after: {health}");
        let full = health::check(&sphere).volume;
        assert!(
            health.volume < full && health.volume > 0.98 * full,
            "{} of {full}",
            health.volume
        );
    }

    #[test]
    fn a_closed_surface_is_left_alone() {
        let sphere = Shape3::Sphere { radius: 1.0 }
            .surface(0.05)
            .expect("a sphere");
        let mut capped = sphere.clone();
        let added = cap(&mut capped);
        assert_eq!((added.holes, added.facets), (0, 0), "nothing to do");
        assert_eq!(capped, sphere, "unchanged");
    }
}
