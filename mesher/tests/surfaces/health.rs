//! The health report on bodies made by hand, against counts made by brute force, and on
//! primitives.

use cutlink_mesher::health::{self, EdgeKind, Health, MAX_SAMPLES};
use cutlink_mesher::placement::{Placement, Scale};
use cutlink_mesher::primitives::{Shape2, Shape3};
use cutlink_mesher::surface::Surface;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn cube() -> Surface<3> {
    let cube = Shape3::Box { size: [1.0; 3] };
    cube.surface(1.0).expect("a valid box")
}

fn surface(vertices: &[[f64; 3]], facets: &[[u32; 3]]) -> Surface<3> {
    Surface::single_patch(vertices.to_vec(), facets.to_vec(), "hand-made")
}

/// Both facet sets on vertices of their own, the second shifted.
fn beside(a: &Surface<3>, b: &Surface<3>, shift: [f64; 3]) -> Surface<3> {
    let first = a.vertices.len() as u32;
    let moved = b.vertices.iter();
    let moved = moved.map(|v| std::array::from_fn(|k| v[k] + shift[k]));
    let facets = b.facets.iter().map(|f| f.map(|v| v + first));
    Surface::single_patch(
        a.vertices.iter().copied().chain(moved).collect(),
        a.facets.iter().copied().chain(facets).collect(),
        "two",
    )
}

/// One vertex number for each place.
fn welded(s: &Surface<3>) -> Surface<3> {
    let mut numbers = BTreeMap::new();
    let mut vertices = Vec::new();
    let facets = s.facets.iter().map(|f| {
        f.map(|v| {
            let p = s.vertices[v as usize];
            *numbers.entry(p.map(f64::to_bits)).or_insert_with(|| {
                vertices.push(p);
                vertices.len() as u32 - 1
            })
        })
    });
    let facets = facets.collect();
    Surface::single_patch(vertices, facets, "welded")
}

/// A strip of quads between places 0 … n−1 around and 0 … m−1 across, with the given rule
/// for what lies beyond the last place.
fn grid(n: u32, m: u32, closed_across: bool, twisted: bool) -> Surface<3> {
    let across = if closed_across { m } else { m - 1 };
    let vertex = |i: u32, j: u32| {
        let j = j % m;
        let j = if i == n && twisted {
            (2 * m - 1 - j) % m
        } else {
            j
        };
        (i % n) * m + j
    };
    let mut facets = Vec::new();
    for i in 0..n {
        for j in 0..across {
            let [a, b] = [vertex(i, j), vertex(i, j + 1)];
            let [d, c] = [vertex(i + 1, j), vertex(i + 1, j + 1)];
            facets.extend([[a, b, c], [a, c, d]]);
        }
    }
    // In general position: only the topology matters.
    let place = |v: u32| {
        let t = f64::from(v);
        [t.sin(), (1.7 * t).cos(), (0.3 * t * t).sin()]
    };
    Surface::single_patch((0..n * m).map(place).collect(), facets, "grid")
}

#[test]
fn a_cube_is_sound() {
    let h = health::check(&cube());
    assert!(h.closed() && h.closed_evenodd() && h.consistent() && !h.inward);
    assert_eq!((h.facets, h.vertices, h.components), (12, 8, 1));
    assert_eq!((h.area, h.volume), (6.0, 1.0));
    assert_eq!(h.bounds, [[-0.5; 3], [0.5; 3]]);
    assert_eq!((h.degenerate_facets, h.duplicate_facets), (0, 0));
    assert!(h.samples.is_empty());
    let text = h.to_string();
    assert!(
        text.contains("12 triangles, 8 vertices, 1 component\n"),
        "{text}"
    );
    assert!(text.contains("closed, consistently oriented"), "{text}");
}

#[test]
fn a_missing_facet_leaves_three_open_edges() {
    let mut s = cube();
    s.facets.remove(5);
    let h = health::check(&s);
    assert!(!h.closed() && !h.closed_evenodd() && h.consistent() && !h.inward);
    assert_eq!((h.open_edges, h.unbalanced_edges, h.odd_edges), (3, 3, 3));
    assert_eq!((h.flipped_edges, h.nonmanifold_edges), (0, 0));
    assert_eq!(h.samples.len(), 3);
    for sample in &h.samples {
        assert_eq!(sample.kind, EdgeKind::Open);
        assert_eq!(
            (sample.forward + sample.backward, sample.facets.len()),
            (1, 1)
        );
        let facet = s.facets[sample.facets[0] as usize];
        for (v, at) in sample.vertices.iter().zip(&sample.at) {
            assert!(facet.contains(v), "{sample}");
            assert_eq!(s.vertices[*v as usize], *at);
        }
    }
    assert!(
        h.to_string()
            .contains("open: 3 open edges\n  open edge (-0.5"),
        "{h}"
    );
}

#[test]
fn a_flipped_facet_flips_three_edges() {
    let mut s = cube();
    s.facets[5].swap(0, 1);
    let h = health::check(&s);
    assert!(!h.closed() && h.closed_evenodd() && !h.consistent());
    assert_eq!(
        (h.flipped_edges, h.unbalanced_edges, h.odd_edges),
        (3, 3, 0)
    );
    assert_eq!((h.open_edges, h.nonmanifold_edges), (0, 0));
    assert!(h.samples.iter().all(|e| e.kind == EdgeKind::Flipped
        && e.facets.contains(&5)
        && e.facets.len() == 2
        && e.forward.abs_diff(e.backward) == 2));
    assert!(
        h.to_string()
            .contains("closed, but not consistently oriented: 3 flipped"),
        "{h}"
    );
}

#[test]
fn inside_out_is_closed_and_inward() {
    let mut s = cube();
    s.facets.iter_mut().for_each(|f| f.swap(1, 2));
    let h = health::check(&s);
    assert!(h.closed() && h.consistent() && h.inward);
    assert_eq!(h.volume, -1.0);
    assert!(h.to_string().contains("all facets inward"), "{h}");
    s.facets.pop();
    assert!(!health::check(&s).inward, "an open surface has no inside");
}

#[test]
fn two_cubes_on_one_edge_are_closed_and_not_manifold() {
    let s = welded(&beside(&cube(), &cube(), [1.0, 1.0, 0.0]));
    let h = health::check(&s);
    assert!(h.closed() && h.closed_evenodd() && h.consistent());
    assert_eq!((h.nonmanifold_edges, h.components, h.vertices), (1, 1, 14));
    assert_eq!((h.unbalanced_edges, h.samples.len()), (0, 1));
    let sample = &h.samples[0];
    assert_eq!(sample.kind, EdgeKind::Nonmanifold);
    assert_eq!(
        (sample.forward, sample.backward, sample.facets.len()),
        (2, 2, 4)
    );
    assert_eq!(sample.at, [[0.5, 0.5, -0.5], [0.5, 0.5, 0.5]]);
    assert!((h.volume - 2.0).abs() < 1e-15);
}

#[test]
fn components_share_no_vertex() {
    let far = beside(&cube(), &cube(), [3.0, 0.0, 0.0]);
    assert_eq!(health::check(&far).components, 2);
    let corner = beside(&cube(), &cube(), [1.0; 3]);
    assert_eq!(health::check(&corner).components, 2);
    assert_eq!(health::check(&welded(&corner)).components, 1);
}

#[test]
fn unwelded_triangles_are_all_open() {
    let mut s = cube();
    s.vertices = (0..12).flat_map(|f| s.corners(f)).collect();
    s.facets = (0..12).map(|f| [3 * f, 3 * f + 1, 3 * f + 2]).collect();
    let h = health::check(&s);
    assert_eq!((h.open_edges, h.components, h.vertices), (36, 12, 36));
    assert_eq!(h.samples.len(), MAX_SAMPLES);
    assert!(health::check(&welded(&s)).closed());
}

#[test]
fn unused_vertices_count_for_nothing() {
    let mut s = cube();
    s.vertices.push([100.0; 3]);
    assert_eq!(health::check(&s), health::check(&cube()));
}

#[test]
fn duplicates_are_counted_whatever_their_direction() {
    let mut s = cube();
    let [a, b, c] = s.facets[3];
    // A copy, turned; the sum of the boundaries is that of the copy.
    s.facets.push([b, c, a]);
    let h = health::check(&s);
    assert_eq!(
        (h.duplicate_facets, h.nonmanifold_edges, h.odd_edges),
        (1, 3, 3)
    );
    assert!(!h.closed() && h.consistent());
    assert!(h.samples.iter().all(|e| e.kind == EdgeKind::Odd));
    // Its reverse cancels it.
    s.facets.push([b, a, c]);
    let h = health::check(&s);
    assert_eq!((h.duplicate_facets, h.nonmanifold_edges), (2, 3));
    assert!(h.closed() && (h.volume - 1.0).abs() < 1e-15);
    // A body given twice is closed, its winding number two inside.
    let mut twice = cube();
    twice.facets.extend(cube().facets);
    let h = health::check(&twice);
    assert_eq!((h.duplicate_facets, h.nonmanifold_edges), (12, 18));
    assert!(h.closed() && (h.volume - 2.0).abs() < 1e-15);
}

#[test]
fn degenerate_facets_are_found_exactly() {
    let mut s = cube();
    let sound = health::check(&s);
    // A repeated vertex has no boundary: all else stays.
    s.facets.extend([[0, 0, 1], [2, 3, 2], [4, 4, 4]]);
    let h = health::check(&s);
    assert_eq!(h.degenerate_facets, 3);
    assert_eq!(
        Health {
            degenerate_facets: 0,
            facets: 12,
            ..h
        },
        sound
    );

    let needle = |c: [f64; 3]| {
        let s = surface(&[[0.1, 0.1, 0.1], [0.7, 0.7, 0.7], c], &[[0, 1, 2]]);
        health::check(&s).degenerate_facets
    };
    assert_eq!(needle([0.3; 3]), 1, "on the diagonal, in any rounding");
    assert_eq!(needle([0.3, 0.3, 0.3f64.next_up()]), 0, "an ulp beside it");
    assert_eq!(needle([0.1; 3]), 1, "equal places under two numbers");
    let line = |z| {
        let s = surface(
            &[[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [3.0, 6.0, z]],
            &[[0, 1, 2]],
        );
        health::check(&s).degenerate_facets
    };
    assert_eq!((line(9.0), line(9.0f64.next_down())), (1, 0));
    // (1 + a)(1 − a) − 1 rounds to 0, though the triangle has an area.
    let a = 2f64.powi(-30);
    let sliver = [[0.0; 3], [1.0 + a, 1.0, 0.0], [1.0, 1.0 - a, 0.0]];
    let sliver = health::check(&surface(&sliver, &[[0, 1, 2]]));
    assert_eq!((sliver.degenerate_facets, sliver.area), (0, 0.0));
}

#[test]
fn a_zero_area_facet_that_joins_its_neighbours_keeps_the_body_closed() {
    // An edge of a tetrahedron cut at its middle on one side, mended by a flat triangle.
    let s = surface(
        &[
            [0.0; 3],
            [2.0, 0.0, 0.0],
            [0.0, 2.0, 0.0],
            [0.0, 0.0, 2.0],
            [1.0, 0.0, 0.0],
        ],
        &[
            [0, 2, 1],
            [0, 4, 3],
            [4, 1, 3],
            [0, 3, 2],
            [1, 2, 3],
            [0, 1, 4],
        ],
    );
    let h = health::check(&s);
    assert_eq!(h.degenerate_facets, 1);
    assert!(
        h.closed() && h.consistent() && h.nonmanifold_edges == 0,
        "{h}"
    );
    let mut torn = s;
    torn.facets.pop();
    assert_eq!(health::check(&torn).open_edges, 3, "a T-junction");
}

#[test]
fn one_sided_surfaces_are_not_consistent() {
    let band = health::check(&grid(12, 3, false, false));
    assert!(band.consistent() && band.open_edges == 24 && band.flipped_edges == 0);
    let moebius = health::check(&grid(12, 3, false, true));
    assert!(!moebius.consistent() && !moebius.closed() && !moebius.closed_evenodd());
    assert_eq!((moebius.open_edges, moebius.flipped_edges), (24, 2));
    let torus = health::check(&grid(12, 5, true, false));
    assert!(torus.closed() && torus.nonmanifold_edges == 0);
    let klein = health::check(&grid(12, 5, true, true));
    assert!(!klein.closed() && klein.closed_evenodd() && !klein.consistent());
    assert_eq!((klein.open_edges, klein.flipped_edges), (0, 5));
    assert_eq!(klein.nonmanifold_edges, 0);
}

#[test]
fn an_empty_surface_is_not_closed() {
    for vertices in [vec![], vec![[1.0; 3]]] {
        let h = health::check(&surface(&vertices, &[]));
        assert!(!h.closed() && !h.closed_evenodd() && !h.inward);
        assert_eq!((h.vertices, h.components, h.bounds), (0, 0, [[0.0; 3]; 2]));
        assert!(h.to_string().contains("empty"), "{h}");
    }
}

#[test]
fn polylines_in_the_plane() {
    let square = Shape2::Rectangle { size: [1.0, 2.0] };
    let s = square.surface(1.0).expect("valid");
    let h = health::check(&s);
    assert!(h.closed() && h.consistent() && !h.inward);
    assert_eq!((h.area, h.volume, h.vertices), (6.0, 2.0, 4));
    assert!(h.to_string().contains("4 segments"), "{h}");

    let mut clockwise = s.clone();
    clockwise.facets.iter_mut().for_each(|f| f.swap(0, 1));
    let h = health::check(&clockwise);
    assert!(h.inward && h.volume == -2.0);

    let mut open = s.clone();
    open.facets.pop();
    let h = health::check(&open);
    assert!(!h.closed() && h.consistent());
    assert_eq!((h.open_edges, h.samples[0].at.len()), (2, 1));
    assert!(
        h.to_string().contains("open vertex (-0.5, -1.0), facet 0"),
        "{h}"
    );

    let mut flipped = s.clone();
    flipped.facets[1].swap(0, 1);
    let h = health::check(&flipped);
    assert_eq!((h.flipped_edges, h.open_edges), (2, 0));
    assert!(!h.closed() && h.closed_evenodd() && !h.consistent());

    // A figure of eight through one vertex; a repeated and a reversed segment.
    let mut eight = s.clone();
    eight.vertices.extend([[2.0, 2.0], [1.0, 3.0]]);
    eight.facets.extend([[2, 4], [4, 5], [5, 2]]);
    let h = health::check(&eight);
    assert!(h.closed() && h.nonmanifold_edges == 1 && h.components == 1);
    eight.facets.push([4, 2]);
    let h = health::check(&eight);
    assert!(!h.closed() && h.duplicate_facets == 1);
    eight.facets.push([3, 3]);
    assert_eq!(health::check(&eight).degenerate_facets, 1);
}

#[test]
fn volume_does_not_cancel_far_from_the_origin() {
    // UTM coordinates: metres by the million, on a grid that f64 holds exactly.
    let sphere = Shape3::Sphere { radius: 1.0 };
    let s = sphere.surface(1e-3).expect("a sphere");
    let near = health::check(&s);
    let place = Placement {
        translate: vec![500_000.0, 5_400_000.0, 300.0],
        ..Placement::default()
    };
    let mut far = s.clone();
    let map = place.resolve_surface(&s).expect("valid");
    map.apply_surface(&mut far);
    let far = health::check(&far);
    // Rounding of the coordinates themselves: 5e-10 on an area of 13.
    assert!((far.volume - near.volume).abs() < 1e-8, "{}", far.volume);
    assert!((far.area - near.area).abs() < 1e-8, "{}", far.area);

    // Coordinates that stay exact: about the origin the sum would be off by about 1e-4.
    let mut cube = cube();
    let place = Placement {
        translate: vec![2f64.powi(40), -(2f64.powi(41)), 2f64.powi(39)],
        ..Placement::default()
    };
    let map = place.resolve_surface(&cube).expect("valid");
    map.apply_surface(&mut cube);
    let volume = health::check(&cube).volume;
    assert!((volume - 1.0).abs() < 1e-14, "{volume}");
}

#[test]
fn area_and_volume_of_primitives_are_those_of_the_true_bodies() {
    use std::f64::consts::PI;
    for (shape, area, volume) in [
        (Shape3::Sphere { radius: 2.0 }, 16.0 * PI, 32.0 / 3.0 * PI),
        (
            Shape3::Cylinder {
                radius: 1.0,
                height: 3.0,
            },
            8.0 * PI,
            3.0 * PI,
        ),
        (
            Shape3::Cone {
                radius: 3.0,
                height: 4.0,
            },
            24.0 * PI,
            12.0 * PI,
        ),
        (
            Shape3::Torus {
                major: 2.0,
                minor: 1.0,
            },
            8.0 * PI * PI,
            4.0 * PI * PI,
        ),
        (
            Shape3::Capsule {
                radius: 1.0,
                height: 4.0,
            },
            8.0 * PI,
            10.0 / 3.0 * PI,
        ),
    ] {
        let h = health::check(&shape.surface(1e-4).expect("valid"));
        assert!((h.area / area - 1.0).abs() < 1e-3, "{shape}: {}", h.area);
        assert!(
            (h.volume / volume - 1.0).abs() < 1e-3,
            "{shape}: {}",
            h.volume
        );
    }
}

#[test]
fn any_number_of_threads_gives_the_same_report() {
    let torus = Shape3::Torus {
        major: 1.0,
        minor: 0.3,
    };
    let mut s = torus.surface(1e-5).expect("valid");
    for f in [7, 70_000, 150_000] {
        s.facets[f].swap(0, 2);
    }
    s.facets.remove(40_000);
    assert!(
        s.facets.len() > 150_000,
        "several chunks: {}",
        s.facets.len()
    );
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().expect("a thread pool");
        let h = pool.install(|| health::check(&s));
        (h.area.to_bits(), h.volume.to_bits(), h)
    };
    let one = with(1);
    assert_eq!(one.2.samples.len(), MAX_SAMPLES);
    for threads in [2, 3, 8] {
        assert_eq!(with(threads), one, "{threads} threads");
    }
    s.facets.swap(0, 1);
    let h = health::check(&s);
    assert_eq!(h.flipped_edges, one.2.flipped_edges);
}

#[test]
fn the_report_serializes() {
    let mut s = cube();
    s.facets.pop();
    let value = serde_json::to_value(health::check(&s)).expect("a value");
    assert_eq!(value["open_edges"], 3);
    assert_eq!(value["bounds"][1][2], 0.5);
    assert_eq!(value["samples"][0]["kind"], "open");
    assert_eq!(
        value["samples"][0]["at"][0].as_array().map(Vec::len),
        Some(3)
    );
}

/// Everything about edges and vertices from maps, one facet at a time.
fn brute_force(s: &Surface<3>) -> [u64; 8] {
    let mut uses: BTreeMap<(u32, u32), [u64; 2]> = BTreeMap::new();
    let mut sets = BTreeSet::new();
    let mut parts: Vec<BTreeSet<u32>> = Vec::new();
    let mut duplicates = 0;
    for &[a, b, c] in &s.facets {
        let mut part = BTreeSet::from([a, b, c]);
        parts.retain(|p| {
            let apart = p.is_disjoint(&part);
            if !apart {
                part.extend(p);
            }
            apart
        });
        parts.push(part);
        if a == b || b == c || c == a {
            continue;
        }
        duplicates += u64::from(!sets.insert(BTreeSet::from([a, b, c])));
        for (p, q) in [(a, b), (b, c), (c, a)] {
            uses.entry((p.min(q), p.max(q))).or_default()[usize::from(p > q)] += 1;
        }
    }
    let count = |f: fn(u64, u64) -> bool| uses.values().filter(|[p, q]| f(*p, *q)).count() as u64;
    [
        count(|p, q| p + q == 1),
        count(|p, q| p + q > 2),
        count(|p, q| p.abs_diff(q) > 1),
        count(|p, q| p != q),
        count(|p, q| (p + q) % 2 == 1),
        duplicates,
        parts.len() as u64,
        parts.iter().map(BTreeSet::len).sum::<usize>() as u64,
    ]
}

fn counts(h: &Health<3>) -> [u64; 8] {
    [
        h.open_edges,
        h.nonmanifold_edges,
        h.flipped_edges,
        h.unbalanced_edges,
        h.odd_edges,
        h.duplicate_facets,
        h.components,
        h.vertices,
    ]
}

proptest! {
    #[test]
    fn counts_agree_with_brute_force(
        facets in prop::collection::vec(prop::array::uniform3(0u32..12), 0..40),
    ) {
        let vertices: Vec<[f64; 3]> = (0..12)
            .map(|i| [f64::from(i), f64::from(i * i), f64::from(i * i * i)])
            .collect();
        let s = surface(&vertices, &facets);
        let h = health::check(&s);
        prop_assert_eq!(counts(&h), brute_force(&s));
        let offending = h.samples.iter().filter(|e| e.kind != EdgeKind::Nonmanifold).count();
        prop_assert_eq!(offending as u64, h.unbalanced_edges.min(MAX_SAMPLES as u64));
        // Collinear only where a number repeats: the points lie on a twisted cubic.
        let repeated = facets.iter().filter(|[a, b, c]| a == b || b == c || c == a).count();
        prop_assert_eq!(h.degenerate_facets, repeated as u64);
    }

    /// Scaling by s changes area by s² and volume by s³, and no count.
    #[test]
    fn measures_scale(exponent in -20i32..20) {
        let scale = 2f64.powi(exponent);
        let mut s = cube();
        let placement = Placement { scale: Scale::Uniform(scale), ..Placement::default() };
        let map = placement.resolve_surface(&s).expect("valid");
        map.apply_surface(&mut s);
        let h = health::check(&s);
        prop_assert_eq!(h.area, 6.0 * scale * scale);
        prop_assert_eq!(h.volume, scale * scale * scale);
        prop_assert!(h.closed());
    }
}

#[test]
fn the_brute_force_comparison_can_fail() {
    let s = cube();
    let mut torn = s.clone();
    torn.facets.pop();
    assert_eq!(counts(&health::check(&s)), brute_force(&s));
    assert_ne!(counts(&health::check(&s)), brute_force(&torn));
}
