//! Surfaces with holes, flipped facets and loose pieces, against generalized winding numbers summed
//! over all facets.

use cutlink_amr::{CellRef, NeighborCell, dims};
use cutlink_device::Host;
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    primitives::{Shape2, Shape3},
    robust::{GAP, close},
    snap::Snapped,
};
use cutlink_tests::{
    bodies::{levels, mesh_of},
    chains::{Bodies, Case, Chains, Sizes, cases},
};
use cutlink_voxelizer::{
    EmbedParams, Fill, Frame, Mesh, Reach, WallRule, embed, prepare, validate,
};
use proptest::{
    prelude::*,
    test_runner::{Config, RngSeed, TestRunner},
};
use std::f64::consts::PI;

/// The angle of one facet at p over all directions, by the library's atan2, or `None` on the
/// facet.
fn angle<const D: usize>(corners: [[i32; D]; D], p: [f64; D]) -> Option<f64> {
    let v = corners.map(|c| -> [f64; D] { std::array::from_fn(|a| f64::from(c[a]) - p[a]) });
    let dot = |a: [f64; D], b: [f64; D]| (0..D).map(|i| a[i] * b[i]).sum::<f64>();
    if D == 2 {
        let det = v[0][0] * v[1][1] - v[0][1] * v[1][0];
        let along = dot(v[0], v[1]);
        return (det != 0.0 || along > 0.0).then(|| det.atan2(along) / (2.0 * PI));
    }
    let [a, b, c] = [v[0], v[1], v[2 % D]];
    let det = (0..3)
        .map(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            a[i] * (b[j] * c[k] - b[k] * c[j])
        })
        .sum::<f64>();
    let [la, lb, lc] = [a, b, c].map(|x| dot(x, x).sqrt());
    let along = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
    let off = det != 0.0 || along > 1e-9 * la * lb * lc;
    off.then(|| 2.0 * det.atan2(along) / (4.0 * PI))
}

/// Cells compared, and those too near to a half to tell.
#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    cells: u64,
    solid: u64,
    unsure: u64,
    gap_links: u64,
}

/// How near a half the sum of angles is not compared: far more than it is rounded by.
const TIE: f64 = 1e-7;

/// Compares every cell of every block with the sum over the facets that are walls, and every
/// link into the body.
fn compare<const D: usize>(surface: &Snapped<D>, mesh: &Mesh<D>) -> Result<Seen, String> {
    let walls = &surface.facets[..surface.facets.len() - surface.caps];
    let finest = 256 << (mesh.forest.levels.len() - 1);
    let unit = mesh.frame.dx / f64::from(finest);
    let mut seen = Seen::default();
    for id in mesh.forest.ids() {
        let level = usize::from(mesh.forest.level[id as usize]);
        for cell in 0..dims::cells(D) as u32 {
            let at = CellRef { block: id, cell };
            let center = mesh.frame.center(level, mesh.forest.cell_coord(at));
            let p = std::array::from_fn(|a| (center[a] - mesh.frame.origin[a]) / unit);
            let of = |f: &[u32; D]| angle(f.map(|v| surface.vertices[v as usize]), p);
            let winding: Option<f64> = walls.iter().map(of).sum();
            let solid = mesh.classes.solid[id as usize] >> cell & 1 == 1;
            seen.cells += 1;
            seen.solid += u64::from(solid);
            seen.gap_links += gaps_of(mesh, at)?;
            let Some(winding) = winding.filter(|w| (w.abs() - 0.5).abs() > TIE) else {
                seen.unsure += 1;
                continue;
            };
            if solid != mesh.fill.is_solid(i32::from(winding.abs() > 0.5)) {
                return Err(format!("level {level} at {p:?}: {winding}, solid {solid}"));
            }
        }
    }
    Ok(seen)
}

/// Links of a cell that are of the caps' patch: they lead into the body, and are halved.
fn gaps_of<const D: usize>(mesh: &Mesh<D>, at: CellRef) -> Result<u64, String> {
    let is_gap = |name: &String| name.starts_with(GAP);
    let mut count = 0;
    for direction in 0..dims::directions(D) {
        let Some(link) = mesh.link(at, direction) else {
            continue;
        };
        if !is_gap(&mesh.patches[usize::from(link.patch)]) {
            continue;
        }
        count += 1;
        let there = mesh.forest.neighbor_cell(at, direction);
        let (NeighborCell::Same(n) | NeighborCell::Refined(n)) = there else {
            return Err(format!("{at:?}: a gap towards {there:?}"));
        };
        if link.q != 0.5 || mesh.classes.solid[n.block as usize] >> n.cell & 1 == 0 {
            return Err(format!("{at:?}: gap {link:?} leads to {n:?}"));
        }
    }
    Ok(count)
}

/// Random soups: closed chains with some facets left out.
fn run<const D: usize>(count: u32, sizes: Sizes) -> Seen
where
    Facet<D>: Exact<D>,
    Bodies: Chains<D>,
{
    let total = std::cell::Cell::new(Seen::default());
    let mut runner = TestRunner::new(Config {
        cases: count,
        rng_seed: RngSeed::Fixed(18),
        failure_persistence: None,
        max_shrink_iters: 5_000,
        ..Config::default()
    });
    let each = |(case, left): (Case<D>, u64)| {
        let mut surface = case.surface.clone();
        let keep = |i: usize| left >> (i % 64) & 1 == 1;
        let mut i = 0;
        surface.facets.retain(|_| {
            i += 1;
            keep(i - 1)
        });
        let mut i = 0;
        surface.facet_patch.retain(|_| {
            i += 1;
            keep(i - 1)
        });
        close(&mut surface);
        let mut params = case.params.clone();
        if params.fill.by_parity() {
            params.fill = Fill::Zero;
        }
        let mesh = embed(&Host, &surface, case.frame, &params, &mut ())
            .map_err(|e| TestCaseError::fail(e.to_string()))?;
        validate(&mesh).map_err(|v| TestCaseError::fail(v.to_string()))?;
        let seen = compare(&surface, &mesh).map_err(TestCaseError::fail)?;
        let sum = total.get();
        total.set(Seen {
            cells: sum.cells + seen.cells,
            solid: sum.solid + seen.solid,
            unsure: sum.unsure + seen.unsure,
            gap_links: sum.gap_links + seen.gap_links,
        });
        Ok(())
    };
    // Each facet stays with three in four odds.
    let left = (any::<u64>(), any::<u64>()).prop_map(|(a, b)| a | b);
    if let Err(error) = runner.run(&(cases(sizes), left), each) {
        panic!("{error}");
    }
    total.get()
}

#[test]
fn space_random_soups() {
    let sizes = Sizes {
        levels: (1, 3),
        bodies: 3,
        far: false,
    };
    let seen = run::<3>(300, sizes);
    assert!(seen.gap_links > 5_000 && seen.solid > 50_000, "{seen:?}");
    assert!(seen.unsure < seen.cells / 10, "{seen:?}");
}

#[test]
fn plane_random_soups() {
    let sizes = Sizes {
        levels: (1, 4),
        bodies: 4,
        far: false,
    };
    let seen = run::<2>(1500, sizes);
    assert!(seen.gap_links > 2_000 && seen.solid > 50_000, "{seen:?}");
    assert!(seen.unsure < seen.cells / 10, "{seen:?}");
}

fn robust(depth: usize) -> EmbedParams {
    EmbedParams {
        robust: true,
        ..levels(depth)
    }
}

fn robust_mesh<const D: usize>(surface: &Surface<D>, frame: Frame<D>, depth: usize) -> Mesh<D>
where
    Facet<D>: Exact<D>,
{
    let params = robust(depth);
    let (snapped, _) = prepare(&Host, surface, &frame, &params).expect("in range");
    cutlink_tests::bodies::mesh(&snapped, frame, &params)
}

fn unit_box(root: u32) -> Frame<3> {
    Frame::new([-1.0; 3], 2.0 / f64::from(root), [root; 3]).expect("a box")
}

#[test]
fn a_closed_surface_gives_the_same_mesh_however_its_facets_face() {
    let torus = Shape3::Torus {
        major: 0.6,
        minor: 0.25,
    };
    let mut surface = torus.surface(0.005).expect("a torus");
    let want = mesh_of(&surface, unit_box(16), &levels(3)).checksum();
    assert_eq!(robust_mesh(&surface, unit_box(16), 3).checksum(), want);
    for (i, facet) in surface.facets.iter_mut().enumerate() {
        if i % 3 == 0 || i % 7 == 2 {
            facet.swap(0, 2);
        }
    }
    assert_eq!(
        robust_mesh(&surface, unit_box(16), 3).checksum(),
        want,
        "some flipped"
    );
    surface.facets.iter_mut().for_each(|f| f.swap(1, 2));
    assert_eq!(
        robust_mesh(&surface, unit_box(16), 3).checksum(),
        want,
        "most flipped"
    );
}

#[test]
fn two_bodies_that_overlap_are_one_though_one_is_inside_out() {
    let ball = |x: f64, inside_out: bool| {
        let mut ball = Shape3::Sphere { radius: 0.4 }
            .surface(0.01)
            .expect("a sphere");
        ball.vertices.iter_mut().for_each(|v| v[0] += x);
        if inside_out {
            ball.facets.iter_mut().for_each(|f| f.swap(0, 1));
        }
        ball
    };
    let both = |inside_out: bool| {
        let (mut a, b) = (ball(-0.2, false), ball(0.2, inside_out));
        let first = a.vertices.len() as u32;
        a.vertices.extend(b.vertices);
        a.facets
            .extend(b.facets.iter().map(|f| f.map(|v| v + first)));
        a
    };
    let want = robust_mesh(&both(false), unit_box(16), 2).checksum();
    assert_eq!(robust_mesh(&both(true), unit_box(16), 2).checksum(), want);
    // Without the turn the lens between them is a hole.
    let plain = mesh_of(&both(true), unit_box(16), &levels(2));
    assert_ne!(plain.checksum(), want);
}

/// A cavity is no piece to turn.
#[test]
fn a_cavity_stays_one() {
    let mut shell = Shape3::Sphere { radius: 0.8 }
        .surface(0.01)
        .expect("a sphere");
    let hollow = Shape3::Sphere { radius: 0.5 }
        .surface(0.01)
        .expect("a sphere");
    let first = shell.vertices.len() as u32;
    shell.vertices.extend(hollow.vertices);
    let inward = hollow.facets.iter().map(|f| [f[1], f[0], f[2]]);
    shell.facets.extend(inward.map(|f| f.map(|v| v + first)));
    let want = mesh_of(&shell, unit_box(16), &levels(2)).checksum();
    assert_eq!(robust_mesh(&shell, unit_box(16), 2).checksum(), want);
}

/// Three quarters of a circle: on the chord the arc takes up half of all directions.
#[test]
fn an_arc_is_closed_by_its_chord() {
    let mut arc = Shape2::Circle { radius: 0.5 }
        .surface(1e-4)
        .expect("a circle");
    let corner = |v: u32| arc.vertices[v as usize];
    let in_gap = |f: &[u32; 2]| f.iter().all(|&v| corner(v)[0] > 0.0 && corner(v)[1] > 0.0);
    let kept: Vec<[u32; 2]> = arc.facets.iter().copied().filter(|f| !in_gap(f)).collect();
    arc.facets = kept;
    let frame = Frame::new([-1.0; 2], 2.0 / 64.0, [64; 2]).expect("a box");
    let mesh = robust_mesh(&arc, frame, 3);
    let mut curve = 0;
    for id in mesh.forest.ids().filter(|&id| mesh.forest.is_leaf(id)) {
        let level = usize::from(mesh.forest.level[id as usize]);
        for cell in 0..16 {
            let at = CellRef { block: id, cell };
            let [x, y] = mesh.frame.center(level, mesh.forest.cell_coord(at));
            let inside = x.hypot(y) < 0.5 && !(x > 0.0 && y > 0.0 && x + y > 0.5);
            let on_curve = (x.hypot(y) - 0.5).abs() < 0.01
                || x > -0.02 && y > -0.02 && (x + y - 0.5).abs() < 0.02;
            let solid = mesh.classes.solid[id as usize] >> cell & 1 == 1;
            curve += u32::from(on_curve);
            assert!(on_curve || solid == inside, "{x} {y}: {solid}");
        }
    }
    assert!(curve < 4000, "{curve} cells were not compared");
}

/// Two balls, one of them with a hole and more levels: the gap is no reason to refine the other.
#[test]
fn a_gap_refines_no_patch_but_its_own() {
    let ball = |x: f64| {
        let mut ball = Shape3::Sphere { radius: 0.2 }
            .surface(0.01)
            .expect("a sphere");
        ball.vertices.iter_mut().for_each(|v| v[0] += x);
        ball
    };
    let (mut both, whole) = (ball(-0.7), ball(0.7));
    both.facets.truncate(both.facets.len() - 2);
    both.facet_patch = vec![0; both.facets.len()];
    let first = both.vertices.len() as u32;
    both.vertices.extend(whole.vertices);
    both.facets
        .extend(whole.facets.iter().map(|f| f.map(|v| v + first)));
    both.facet_patch.resize(both.facets.len(), 1);
    both.patches.push("whole".into());
    let rule = |patch: u16, levels: usize| WallRule {
        patches: Some(vec![patch]),
        levels,
        reach: Reach::Near(0.0),
    };
    let params = EmbedParams {
        walls: vec![rule(0, 4), rule(1, 2)],
        ..robust(4)
    };
    let frame = unit_box(32);
    let (snapped, report) = prepare(&Host, &both, &frame, &params).expect("in range");
    assert!(report.expect("asked for").open_edges > 0, "a hole");
    let mesh = cutlink_tests::bodies::mesh(&snapped, frame, &params);
    let finest = |right: bool| {
        let of = mesh.links.blocks.iter();
        of.filter(|&&b| {
            let level = usize::from(mesh.forest.level[b as usize]);
            let at = mesh.forest.cell_coord(CellRef { block: b, cell: 0 });
            (mesh.frame.center(level, at)[0] > 0.0) == right
        })
        .map(|&b| mesh.forest.level[b as usize])
        .max()
    };
    assert_eq!(finest(false), Some(3), "the one with the hole");
    assert_eq!(finest(true), Some(1), "the whole one");
}

/// A tube of 97 facets around and as many open edges at either end: near the films over its ends |W - g| is within
/// 0.001 of a half in many cells, and the class is still that of the summed angles.
#[test]
fn a_tube_open_at_both_ends_is_exact_next_to_the_films() {
    let around = 97u32;
    let corner = |end: f64, i: u32| {
        let turn = 2.0 * PI * f64::from(i) / f64::from(around);
        [0.5 * turn.cos(), 0.5 * turn.sin(), end]
    };
    let ring = |end: f64| (0..around).map(move |i| corner(end, i));
    let vertices = ring(-0.41).chain(ring(0.37)).collect();
    let pair = |i: u32| {
        let j = (i + 1) % around;
        [[i, j, j + around], [i, j + around, i + around]]
    };
    let tube = Surface {
        vertices,
        facets: (0..around).flat_map(pair).collect(),
        facet_patch: Vec::new(),
        patches: vec!["tube".into()],
    };
    let params = robust(3);
    let (snapped, report) = prepare(&Host, &tube, &unit_box(16), &params).expect("in range");
    let report = report.expect("asked for");
    assert_eq!((report.open_edges, report.loops), (194, 2));
    let mesh = cutlink_tests::bodies::mesh(&snapped, unit_box(16), &params);
    let seen = compare(&snapped, &mesh).expect("as the angles say");
    assert!(seen.solid > 20_000 && seen.gap_links > 500, "{seen:?}");
    assert!(seen.unsure * 1000 < seen.cells, "{seen:?}");
}

/// Ends that zigzag over several cells: long rims, with caps of all sizes near each block.
#[test]
fn a_tube_with_jagged_ends_is_exact_next_to_its_rims() {
    let around = 60u32;
    let ring = |end: f64| {
        (0..around).map(move |i| {
            let turn = 2.0 * PI * f64::from(i) / f64::from(around);
            let jag = if i % 2 == 0 { 0.09 } else { -0.09 };
            [0.5 * turn.cos(), 0.5 * turn.sin(), end + jag]
        })
    };
    let pair = |i: u32| {
        let j = (i + 1) % around;
        [[i, j, j + around], [i, j + around, i + around]]
    };
    let vertices = ring(-0.41).chain(ring(0.37)).collect();
    let tube = Surface::single_patch(vertices, (0..around).flat_map(pair).collect(), "tube");
    let params = robust(3);
    let (snapped, report) = prepare(&Host, &tube, &unit_box(16), &params).expect("in range");
    let report = report.expect("asked for");
    assert_eq!((report.open_edges, report.loops), (120, 2));
    let mesh = cutlink_tests::bodies::mesh(&snapped, unit_box(16), &params);
    let seen = compare(&snapped, &mesh).expect("as the angles say");
    assert!(seen.solid > 20_000 && seen.gap_links > 500, "{seen:?}");
    assert!(seen.unsure * 1000 < seen.cells, "{seen:?}");
}

/// Two plates that face each other, each of many open edges: the film between their rims runs around all four sides.
#[test]
fn plates_with_films_between_them_are_exact() {
    let n = 12u32;
    let plate = |z: f64| {
        let at = |i: u32| f64::from(i) / f64::from(n) - 0.47;
        (0..=n).flat_map(move |k| (0..=n).map(move |i| [at(i), at(k) + 0.013, z]))
    };
    let vertices: Vec<[f64; 3]> = plate(-0.21).chain(plate(0.23)).collect();
    let half = (n + 1) * (n + 1);
    let squares = (0..n).flat_map(|k| (0..n).map(move |i| i + k * (n + 1)));
    let facets = squares.flat_map(|a| {
        let (b, d) = (a + 1, a + n + 1);
        let c = d + 1;
        let up = |f: [u32; 3]| f.map(|v| v + half);
        [[a, c, b], [a, d, c], up([a, b, c]), up([a, c, d])]
    });
    let plates = Surface::single_patch(vertices, facets.collect(), "plates");
    let params = robust(3);
    let (snapped, report) = prepare(&Host, &plates, &unit_box(16), &params).expect("in range");
    let report = report.expect("asked for");
    assert_eq!((report.open_edges, report.loops), (96, 2));
    let mesh = cutlink_tests::bodies::mesh(&snapped, unit_box(16), &params);
    let seen = compare(&snapped, &mesh).expect("as the angles say");
    assert!(seen.solid > 5_000 && seen.gap_links > 500, "{seen:?}");
    assert!(seen.unsure * 100 < seen.cells, "{seen:?}");
}

/// The comparator is no rubber stamp: one wrong cell, one wrong link.
#[test]
fn a_corrupted_mesh_is_rejected() {
    let mut bowl = Shape3::Sphere { radius: 0.6 }
        .surface(0.02)
        .expect("a sphere");
    let corner = |v: u32| bowl.vertices[v as usize];
    let below = |f: &[u32; 3]| f.iter().all(|&v| corner(v)[2] < 0.2);
    bowl.facets = bowl.facets.iter().copied().filter(below).collect();
    let frame = unit_box(8);
    let params = robust(2);
    let (snapped, report) = prepare(&Host, &bowl, &frame, &params).expect("in range");
    let report = report.expect("asked for");
    assert!(report.open_edges > 10 && report.loops == 1, "{report:?}");
    let mut mesh = cutlink_tests::bodies::mesh(&snapped, frame, &params);
    assert!(mesh.graded, "gaps may lie on any level");
    let seen = compare(&snapped, &mesh).expect("as it should be");
    assert!(seen.gap_links > 50, "{seen:?}");

    let gap = mesh
        .links
        .patch
        .iter()
        .position(|&p| p == 1)
        .expect("a gap");
    mesh.links.q[gap] = 0.25;
    assert!(compare(&snapped, &mesh).is_err(), "a gap's distance");
    mesh.links.q[gap] = 0.5;
    let wrong = |mesh: &mut Mesh<3>, block: usize| {
        mesh.classes.solid[block] ^= 1 << 21;
        let result = compare(&snapped, mesh);
        mesh.classes.solid[block] ^= 1 << 21;
        result.is_err()
    };
    let blocks = mesh.forest.capacity();
    let rejected = (0..blocks).filter(|&b| wrong(&mut mesh, b)).count();
    assert!(
        rejected * 10 > blocks * 9,
        "{rejected} of {blocks} flips seen"
    );
}
