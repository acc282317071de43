//! Surfaces with holes.

use cutlink_device::Host;
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    primitives::{Shape2, Shape3},
    robust::first_gap,
};
use cutlink_tests::{
    backend_test,
    backends::{AnyKernels, conform},
    bodies::{frame_around, levels},
    scans,
};
use cutlink_voxelizer::{EmbedParams, Fill, Reach, WallRule, kernels::MeshKernels, prepare};

backend_test!(
    a_bowl_and_an_arc,
    a_ball_with_a_hole_and_a_whole_one,
    a_soup_of_loose_triangles,
    the_open_bunny if has_scans,
);

/// Closes the surface and compares its embedding with the host's; the open edges.
fn check<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    surface: &Surface<D>,
    root: u32,
    params: &EmbedParams,
) -> usize
where
    Facet<D>: Exact<D>,
{
    let params = EmbedParams {
        robust: true,
        ..params.clone()
    };
    let frame = frame_around(surface, root);
    let (snapped, report) = prepare(kernels, surface, &frame, &params).expect("in range");
    let (expected, _) = prepare(&Host, surface, &frame, &params).expect("in range");
    assert_eq!(snapped, expected, "closed alike");
    let mesh = conform(kernels, &snapped, frame, &params).expect("as on the host");
    let gap = first_gap(&snapped).expect("a hole");
    let bridged = mesh.patch_links()[usize::from(gap)];
    assert!(bridged > 0, "no link through a hole");
    report.expect("asked for").open_edges
}

fn a_bowl_and_an_arc<K: AnyKernels>(kernels: &K) {
    let mut bowl = Shape3::Sphere { radius: 0.6 }
        .surface(0.01)
        .expect("a sphere");
    let corner = |v: u32| bowl.vertices[v as usize];
    let below = |f: &[u32; 3]| f.iter().all(|&v| corner(v)[2] < 0.2);
    bowl.facets = bowl.facets.iter().copied().filter(below).collect();
    for params in [
        EmbedParams::new(3, 0.05, Fill::NonZero),
        EmbedParams::new(2, 0.0, Fill::Zero),
    ] {
        assert!(check(kernels, &bowl, 16, &params) > 10, "a rim");
    }
    let mut arc = Shape2::Circle { radius: 0.5 }
        .surface(1e-4)
        .expect("a circle");
    arc.facets.truncate(arc.facets.len() * 3 / 4);
    for depth in [1, 4] {
        assert_eq!(check(kernels, &arc, 32, &levels(depth)), 2, "two ends");
    }
}

fn a_ball_with_a_hole_and_a_whole_one<K: AnyKernels>(kernels: &K) {
    let ball = |x: f64| {
        let ball = Shape3::Sphere { radius: 0.2 }.surface(0.005);
        let mut ball = ball.expect("a sphere");
        ball.vertices.iter_mut().for_each(|v| v[0] += x);
        ball
    };
    let (mut both, whole) = (ball(-0.4), ball(0.4));
    both.facets.truncate(both.facets.len() - 2);
    both.facet_patch = vec![0; both.facets.len()];
    let first = both.vertices.len() as u32;
    both.vertices.extend(whole.vertices);
    let moved = whole.facets.iter().map(|f| f.map(|v| v + first));
    both.facets.extend(moved);
    both.facet_patch.resize(both.facets.len(), 1);
    both.patches.push("whole".into());
    let rule = |patch: u16, levels: usize| WallRule {
        patches: Some(vec![patch]),
        levels,
        reach: Reach::Near(0.0),
    };
    let params = EmbedParams {
        walls: vec![rule(0, 4), rule(1, 2)],
        ..levels(4)
    };
    assert!(check(kernels, &both, 24, &params) > 2, "a hole");
}

/// Triangles that share nothing.
fn a_soup_of_loose_triangles<K: AnyKernels>(kernels: &K) {
    let torus = Shape3::Torus {
        major: 0.6,
        minor: 0.25,
    };
    let whole = torus.surface(0.005).expect("a torus");
    let mut soup = Surface {
        vertices: Vec::new(),
        facets: Vec::new(),
        ..whole.clone()
    };
    for f in 0..whole.facets.len() {
        let first = soup.vertices.len() as u32;
        let middle = |a: usize| whole.corners(f).map(|p| p[a]).iter().sum::<f64>() / 3.0;
        let middle = [middle(0), middle(1), middle(2)];
        for p in whole.corners(f) {
            let towards = |a: usize| p[a] + 0.1 * (middle[a] - p[a]);
            soup.vertices.push(std::array::from_fn(towards));
        }
        soup.facets.push([first, first + 1, first + 2]);
    }
    assert!(check(kernels, &soup, 16, &levels(2)) > 1000, "all loose");
}

fn the_open_bunny<K: AnyKernels>(kernels: &K) {
    let bunny = scans::read("bunny_open.stl");
    assert!(check(kernels, &bunny, 32, &levels(3)) > 200, "holes");
}
