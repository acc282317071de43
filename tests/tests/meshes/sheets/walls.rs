//! What is kept between sheets, and links on both sides of them.

use super::kit::{around, centers, faces, flipped, fluid, join, sheet, sheltered};
use cutlink_mesher::Surface;
use cutlink_tests::{
    arrays::same_mesh,
    bodies::{frame_around, mesh_of, unit_frame},
    scans,
};
use cutlink_voxelizer::{
    EmbedParams, Fill, Mesh, SeedError, keep_connected, keep_sheltered, validate,
};
use std::collections::BTreeSet;

const LOWER: [f64; 3] = [0.203, 0.211, 0.193];
const UPPER: [f64; 3] = [0.797, 0.803, 0.789];

#[test]
fn a_box_of_sheets_in_any_directions_has_the_centres_inside() {
    for levels in 1..=3 {
        let n = 16u64 << (levels - 1);
        let inside: u64 = (0..3).map(|a| centers(n, LOWER[a], UPPER[a])).product();
        let body = join(vec![("wall", faces(LOWER, UPPER))]);
        let mut checksums = BTreeSet::new();
        for state in 1..5 {
            let turned = flipped(&body, state);
            let made = around(&turned, unit_frame(16), &sheltered(levels), [0.4; 3], None);
            let (mesh, kept) = made.expect("closed");
            assert_eq!(
                fluid(&mesh, levels - 1),
                inside,
                "{levels} levels, flips {state}"
            );
            assert!(kept.gaps.is_empty(), "no hole");
            checksums.insert(mesh.checksum());
        }
        assert_eq!(checksums.len(), 1, "directions do not count");
    }
}

#[test]
fn around_the_box_the_fluid_may_reach_the_faces_or_not() {
    let body = flipped(&join(vec![("wall", faces(LOWER, UPPER))]), 3);
    let open = EmbedParams::new(2, 0.0, Fill::Sheets);
    let (mesh, _) = around(&body, unit_frame(16), &open, [0.1; 3], None).expect("around it");
    let inside: u64 = (0..3).map(|a| centers(32, LOWER[a], UPPER[a])).product();
    assert_eq!(fluid(&mesh, 1), 32 * 32 * 32 - inside);
    let refused = around(&body, unit_frame(16), &sheltered(2), [0.1; 3], None);
    assert!(
        matches!(refused, Err(SeedError::Leak { .. })),
        "{refused:?}"
    );
    // Without one face it leaks.
    let mut sheets = faces(LOWER, UPPER);
    sheets.remove(1);
    let torn = join(vec![("wall", sheets)]);
    let refused = around(&torn, unit_frame(16), &sheltered(2), [0.4; 3], None);
    let Err(SeedError::Leak { place, width, .. }) = refused else {
        panic!("{refused:?}");
    };
    // The box is as wide as the missing face, everywhere between its middle and there.
    assert!(
        place[0] > 0.5 - 2.0 / 32.0 && place[0] < UPPER[0] + 2.0 / 32.0,
        "{place:?}"
    );
    assert!((width - 0.59).abs() < 2.0 / 32.0, "{width}");
}

/// The mantle of a duct along x.
fn pipe(x: [f64; 2], lower: [f64; 2], upper: [f64; 2]) -> Vec<Surface<3>> {
    let all = faces([x[0], lower[0], lower[1]], [x[1], upper[0], upper[1]]);
    all.into_iter().skip(2).collect()
}

/// Links between centres of the unit box that cross the mantle, from brute force: a segment meets the rectangle of a
/// plane y = c or z = c.
fn crossing(n: i32, x: [f64; 2], lower: [f64; 2], upper: [f64; 2]) -> u64 {
    let at = |i: i32| (f64::from(i) + 0.5) / f64::from(n);
    let mut count = 0;
    let range = || 0..n;
    for (i, j, k) in
        range().flat_map(|i| range().flat_map(move |j| range().map(move |k| (i, j, k))))
    {
        for d in (0..27).filter(|&d| d != 13) {
            let step = [d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1];
            let from = [at(i), at(j), at(k)];
            let to = [at(i + step[0]), at(j + step[1]), at(k + step[2])];
            let meets = |axis: usize, c: f64| {
                if (from[axis] < c) == (to[axis] < c) {
                    return false;
                }
                let t = (c - from[axis]) / (to[axis] - from[axis]);
                let point = |a: usize| from[a] + t * (to[a] - from[a]);
                let other = 3 - axis;
                let within = |p: f64, low: f64, high: f64| low < p && p < high;
                within(point(0), x[0], x[1])
                    && within(point(other), lower[other - 1], upper[other - 1])
            };
            let any = (0..2).any(|a| meets(a + 1, lower[a]) || meets(a + 1, upper[a]));
            count += u64::from(any);
        }
    }
    count
}

#[test]
fn a_pipe_of_no_thickness_that_ends_in_a_chamber_stays_open() {
    let (x, lower, upper) = ([0.303, 0.697], [0.407, 0.411], [0.603, 0.607]);
    let chamber = || ("chamber", faces(LOWER, UPPER));
    let inside: u64 = (0..3).map(|a| centers(32, LOWER[a], UPPER[a])).product();
    let surface = join(vec![chamber(), ("pipe", pipe(x, lower, upper))]);
    for (state, seed) in [(1, [0.25, 0.5, 0.3]), (2, [0.5; 3])] {
        let turned = flipped(&surface, state);
        let made = around(&turned, unit_frame(16), &sheltered(2), seed, None);
        let (mesh, _) = made.expect("closed");
        assert_eq!(fluid(&mesh, 1), inside, "both sides of the pipe");
        assert_eq!(
            mesh.patch_links()[1],
            crossing(32, x, lower, upper),
            "links of the pipe"
        );
    }
    // Closed at both ends, what it holds belongs to the other side.
    let caps = faces([x[0], lower[0], lower[1]], [x[1], upper[0], upper[1]]);
    let surface = join(vec![chamber(), ("pipe", caps)]);
    let made = around(
        &surface,
        unit_frame(16),
        &sheltered(2),
        [0.25, 0.5, 0.3],
        None,
    );
    let (mesh, _) = made.expect("closed");
    let held =
        centers(32, x[0], x[1]) * centers(32, lower[0], upper[0]) * centers(32, lower[1], upper[1]);
    assert_eq!(fluid(&mesh, 1), inside - held);
    assert!(held > 300, "the pipe holds cells");
}

#[test]
fn a_baffle_has_links_on_both_sides() {
    let baffle = sheet([0.503, 0.3, 0.3], [0.0, 0.4, 0.0], [0.0, 0.0, 0.4]);
    let surface = join(vec![
        ("chamber", faces(LOWER, UPPER)),
        ("baffle", vec![baffle]),
    ]);
    let made = around(&surface, unit_frame(16), &sheltered(1), [0.3; 3], None);
    let (mesh, _) = made.expect("closed");
    let sides = mesh.links().filter(|link| link.patch == 1);
    let (left, right): (Vec<_>, Vec<_>) = sides.partition(|link| link.center[0] < 0.503);
    assert_eq!(left.len(), right.len());
    // Along x, one for each of the 6 x 6 centres of 1/16 in 0.3 to 0.7 on each side, at exact distances.
    let straight = |links: &[cutlink_voxelizer::CutLink<3>], q: f64| {
        let along = links
            .iter()
            .filter(|link| link.step[1] == 0 && link.step[2] == 0);
        let near = along
            .clone()
            .filter(|link| (f64::from(link.q) - q).abs() < 1.0 / 256.0);
        (along.count(), near.count())
    };
    let q = (0.503 - 7.5 / 16.0) * 16.0;
    assert_eq!(straight(&left, q), (36, 36));
    assert_eq!(straight(&right, 1.0 - q), (36, 36));
}

/// Each link of a mesh: its place, direction, cut distance and patch.
fn links(mesh: &Mesh<3>) -> BTreeSet<([u64; 3], [i32; 3], u32, u16)> {
    let of = |l: cutlink_voxelizer::CutLink<3>| {
        (l.center.map(f64::to_bits), l.step, l.q.to_bits(), l.patch)
    };
    mesh.links().map(of).collect()
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn a_scan_in_random_directions_is_the_one_well_oriented() {
    const DEPTH: usize = 3;
    let bunny = scans::read("bunny_unit.stl");
    let frame = frame_around(&bunny, 48);
    let mut inside = mesh_of(&bunny, frame, &EmbedParams::new(DEPTH, 0.0, Fill::Zero));
    let [lower, upper] = bunny.bounds().expect("facets");
    // The body is widest in its lower half.
    let seed: [f64; 3] = std::array::from_fn(|a| {
        let part = [0.5, 0.35, 0.5][a];
        lower[a] + part * (upper[a] - lower[a])
    });
    keep_connected(&mut inside, seed).expect("the seed should be inside");
    validate(&inside).expect("sound");
    let want = (fluid(&inside, DEPTH - 1), links(&inside));
    assert!(want.0 > 10_000 && want.1.len() > 50_000, "{} cells", want.0);
    let mut checksums = BTreeSet::new();
    for state in [1, 2] {
        let turned = flipped(&bunny, state);
        let made = around(&turned, frame, &sheltered(DEPTH), seed, None);
        let (mesh, _) = made.expect("closed");
        assert_eq!(fluid(&mesh, DEPTH - 1), want.0, "cells");
        // Inside, links pass facets that snapping lays on one another, which are walls of sheets (decision 047).
        let differ = links(&mesh).symmetric_difference(&want.1).count();
        assert!(1000 * differ < want.1.len(), "{differ} links");
        checksums.insert(mesh.checksum());
    }
    assert_eq!(checksums.len(), 1, "any directions");
    // A facet less is a leak, or the mesh differs.
    let mut torn = bunny.clone();
    torn.facets.retain({
        let mut at = 0;
        move |_| {
            at += 1;
            at % 50 != 0
        }
    });
    let made = around(&torn, frame, &sheltered(DEPTH), seed, None);
    assert!(
        matches!(made, Err(SeedError::Leak { .. })),
        "{:?}",
        made.map(|m| m.1)
    );
}

#[test]
fn threads_do_not_count() {
    // A slot three cells wide along an edge, and a pipe.
    let mut sheets = faces(LOWER, UPPER);
    sheets[1] = sheet(
        [UPPER[0], LOWER[1], LOWER[2]],
        [0.0, 0.545, 0.0],
        [0.0, 0.0, UPPER[2] - LOWER[2]],
    );
    let surface = join(vec![
        ("chamber", sheets),
        ("pipe", pipe([0.303, 0.697], [0.453; 2], [0.547; 2])),
    ]);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads").install(|| {
            let mut mesh = mesh_of(&surface, unit_frame(16), &sheltered(3));
            let kept = keep_sheltered(&mut mesh, [0.5, 0.5, 0.32], Some(0.06)).expect("closed");
            (mesh, kept)
        })
    };
    let (one, kept) = on(1);
    assert!(!kept.gaps.is_empty(), "the slot is closed");
    for threads in [2, 5] {
        let (many, again) = on(threads);
        assert_eq!(same_mesh(&one, &many), Ok(()), "{threads} threads");
        assert_eq!(kept, again);
    }
}
