//! Frontal areas of real scans against points that are tested one by one.

use cutlink_mesher::{Surface, silhouette::frontal};
use cutlink_tests::{scans, worst};

/// Points a side of the square that is tested.
const POINTS: usize = 2000;

/// The area of the projection along an axis, by the points of a lattice that lie in any triangle: on the same side of its
/// three edges.
fn by_points(surface: &Surface<3>, axis: usize) -> f64 {
    let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
    let [low, high] = surface.bounds().expect("facets");
    let step = [a, b].map(|k| (high[k] - low[k]) / POINTS as f64);
    let mut covered = vec![false; POINTS * POINTS];
    for f in 0..surface.facets.len() {
        let corners = surface
            .corners(f)
            .map(|p| [(p[a] - low[a]) / step[0], (p[b] - low[b]) / step[1]]);
        let range = |k: usize| {
            let least = corners.iter().map(|p| p[k]).fold(f64::INFINITY, f64::min);
            let most = worst(corners.iter().map(|p| p[k]));
            least.floor() as usize..(most.ceil() as usize + 1).min(POINTS)
        };
        for j in range(1) {
            for i in range(0) {
                let p = [i as f64 + 0.5, j as f64 + 0.5];
                let sides = [0, 1, 2].map(|k| {
                    let (u, v) = (corners[k], corners[(k + 1) % 3]);
                    (v[0] - u[0]) * (p[1] - u[1]) - (v[1] - u[1]) * (p[0] - u[0])
                });
                covered[j * POINTS + i] |=
                    sides.iter().all(|&s| s >= 0.0) || sides.iter().all(|&s| s <= 0.0);
            }
        }
    }
    covered.iter().filter(|&&c| c).count() as f64 * step[0] * step[1]
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn frontal_areas_of_the_bunny_are_those_of_points() {
    let mut bunny = scans::read("bunny_unit.stl");
    let mut areas = Vec::new();
    for axis in 0..3 {
        let mut direction = [0.0; 3];
        direction[axis] = 1.0;
        let (got, want) = (frontal(&bunny, direction), by_points(&bunny, axis));
        assert!((got / want - 1.0).abs() < 1e-3, "{axis}: {got} {want}");
        areas.push(want);
    }
    // The comparison tells the axes apart, and sees that a tenth is missing.
    assert!((areas[0] / areas[1] - 1.0).abs() > 1e-2, "{areas:?}");
    bunny.facets.truncate(bunny.facets.len() * 9 / 10);
    let less = (0..3).any(|axis| by_points(&bunny, axis) < 0.999 * areas[axis]);
    assert!(less, "a tenth of the facets is missing");
}
