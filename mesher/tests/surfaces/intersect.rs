//! Self-intersections: against cases by hand, against clipping in rational numbers, and on
//! bodies whose intersection is known.

use crate::worst;
use cutlink_mesher::exact::Facet;
use cutlink_mesher::intersect::{Intersections, MAX_LISTED, Meet, find};
use cutlink_mesher::primitives::Shape3;
use cutlink_mesher::snap::{SnapLattice, Snapped, snap};
use cutlink_mesher::{Surface, robust};
use rayon::prelude::*;

type P = [i32; 3];
type Triangle = [P; 3];

/// A surface of loose facets with integer corners, on a lattice of unit 1.
fn soup<const D: usize>(facets: &[[[i32; D]; D]]) -> Snapped<D> {
    let mut vertices: Vec<[i32; D]> = facets.iter().flatten().copied().collect();
    vertices.sort_unstable();
    vertices.dedup();
    let id = |p: &[i32; D]| vertices.binary_search(p).expect("it is there") as u32;
    Snapped {
        lattice: SnapLattice {
            origin: [0.0; D],
            unit: 1.0,
        },
        facets: facets.iter().map(|f| f.each_ref().map(id)).collect(),
        vertices,
        facet_patch: Vec::new(),
        patches: vec!["soup".into()],
        caps: 0,
        report: Default::default(),
    }
}

fn turned<const D: usize>(corners: [[i32; D]; D]) -> Vec<[[i32; D]; D]> {
    let mut all = Vec::new();
    for by in 0..D {
        let mut one = corners;
        one.rotate_left(by);
        all.push(one);
        one.swap(0, 1);
        all.push(one);
    }
    all
}

/// Asks about a pair in both orders and with every order of the corners, in small and in the
/// largest coordinates.
fn check<const D: usize>(a: [[i32; D]; D], b: [[i32; D]; D], want: bool, what: &str)
where
    Facet<D>: Meet<D>,
{
    let large = |t: [[i32; D]; D]| t.map(|p| p.map(|c| (c - 4) << 26));
    for (a, b) in [(a, b), (large(a), large(b))] {
        for x in turned(a) {
            for y in turned(b) {
                for (x, y) in [(x, y), (y, x)] {
                    let met = Facet(x).meet(&Facet(y));
                    assert_eq!(met.is_some(), want, "{what}: {x:?} {y:?} {met:?}");
                    let found = find(&soup(&[x, y]));
                    assert_eq!(found.pair_count, u64::from(want), "{what}: {x:?} {y:?}");
                }
            }
        }
    }
}

/// A triangle that pairs by hand are with.
const FLAT: Triangle = [[0, 0, 0], [4, 0, 0], [0, 4, 0]];

#[test]
fn pairs_by_hand_in_space() {
    let cases: [(&str, bool, Triangle); 15] = [
        ("apart", false, [[5, 5, 5], [6, 5, 5], [5, 6, 5]]),
        ("above", false, [[0, 0, 1], [4, 0, 1], [0, 4, 1]]),
        (
            "through the inside",
            true,
            [[1, 1, -1], [1, 1, 1], [2, 2, 1]],
        ),
        (
            "plane crossed, beside it",
            false,
            [[3, 3, -1], [3, 3, 1], [4, 4, 1]],
        ),
        (
            "through an edge",
            true,
            [[2, -1, -1], [2, -1, 1], [2, 1, 0]],
        ),
        (
            "corner in the face",
            true,
            [[1, 1, 0], [1, 1, 2], [2, 2, 2]],
        ),
        (
            "corner in an edge",
            true,
            [[2, 0, 0], [2, 0, 2], [2, -2, 2]],
        ),
        (
            "edges cross in one point",
            true,
            [[2, -1, 1], [2, 1, -1], [2, -4, -4]],
        ),
        (
            "edge in the face's plane, outside",
            false,
            [[5, 5, 0], [6, 6, 0], [5, 5, 3]],
        ),
        (
            "edge lies upon the face",
            true,
            [[1, 1, 0], [2, 1, 0], [1, 1, 3]],
        ),
        (
            "edge upon an edge, part",
            true,
            [[1, 0, 0], [3, 0, 0], [2, 0, 3]],
        ),
        (
            "edge beyond an edge",
            false,
            [[5, 0, 0], [7, 0, 0], [6, 0, 3]],
        ),
        ("duplicate", true, FLAT),
        ("flat, apart", false, [[4, 4, 0], [4, 1, 0], [1, 4, 0]]),
        ("flat, a star", true, [[-1, 1, 0], [3, 3, 0], [3, -3, 0]]),
    ];
    for (what, want, b) in cases {
        check(FLAT, b, want, what);
    }
}

#[test]
fn pairs_with_shared_corners_by_hand() {
    let cases: [(&str, bool, Triangle); 11] = [
        (
            "shared edge, proper",
            false,
            [[0, 0, 0], [4, 0, 0], [0, 0, 4]],
        ),
        (
            "shared edge, flat",
            false,
            [[0, 0, 0], [4, 0, 0], [0, -4, 0]],
        ),
        (
            "shared edge, folded",
            true,
            [[0, 0, 0], [4, 0, 0], [4, 4, 0]],
        ),
        (
            "shared edge, folded, inside",
            true,
            [[0, 0, 0], [4, 0, 0], [1, 1, 0]],
        ),
        (
            "shared corner, proper",
            false,
            [[0, 0, 0], [-1, 0, 2], [0, -1, 2]],
        ),
        (
            "shared corner, plane crossed outside",
            false,
            [[0, 0, 0], [-1, -1, 1], [-1, -1, -1]],
        ),
        (
            "shared corner, cuts through",
            true,
            [[0, 0, 0], [1, 1, 1], [1, 1, -1]],
        ),
        (
            "shared corner, edge upon an edge",
            true,
            [[0, 0, 0], [2, 0, 0], [0, 0, 3]],
        ),
        (
            "shared corner, edge upon the face",
            true,
            [[0, 0, 0], [1, 1, 0], [0, 0, 3]],
        ),
        (
            "shared corner, flat",
            false,
            [[0, 0, 0], [-1, 0, 0], [0, -1, 0]],
        ),
        (
            "shared corner, flat, overlapping",
            true,
            [[0, 0, 0], [1, 1, 0], [-1, 1, 0]],
        ),
    ];
    for (what, want, b) in cases {
        check(FLAT, b, want, what);
    }
}

#[test]
fn facets_without_area_are_segments() {
    let a = [[0, 0, 0], [4, 0, 0], [0, 4, 0]];
    let line = [[0, 0, 0], [2, 0, 0], [4, 0, 0]];
    let cases: [(&str, bool, Triangle, Triangle); 13] = [
        ("sliver on its neighbour's edge", false, a, line),
        (
            "sliver's half edge",
            false,
            line,
            [[0, 0, 0], [2, 0, 0], [0, -4, 0]],
        ),
        (
            "T-contact beside the sliver",
            true,
            a,
            [[0, 0, 0], [2, 0, 0], [0, -4, 0]],
        ),
        (
            "sliver through the face",
            true,
            a,
            [[1, 1, -1], [1, 1, 0], [1, 1, 1]],
        ),
        (
            "sliver past the face",
            false,
            a,
            [[3, 3, -1], [3, 3, 0], [3, 3, 1]],
        ),
        (
            "sliver ends in the face",
            true,
            a,
            [[1, 1, 3], [1, 1, 2], [1, 1, 0]],
        ),
        (
            "sliver shares a corner",
            false,
            a,
            [[0, 0, 0], [0, 0, 1], [0, 0, 2]],
        ),
        (
            "sliver through a corner, its middle",
            false,
            a,
            [[0, 0, -1], [0, 0, 0], [0, 0, 1]],
        ),
        (
            "sliver through a corner, its inside",
            true,
            a,
            [[0, 0, -1], [0, 0, 1], [0, 0, 2]],
        ),
        (
            "two slivers cross at their middles",
            false,
            line,
            [[2, 1, 1], [2, 0, 0], [2, -1, -1]],
        ),
        (
            "two slivers cross",
            true,
            line,
            [[2, 1, 1], [2, 2, 2], [2, -1, -1]],
        ),
        (
            "two slivers on a line overlap",
            true,
            line,
            [[1, 0, 0], [5, 0, 0], [6, 0, 0]],
        ),
        (
            "two slivers on a line, end to end",
            false,
            line,
            [[4, 0, 0], [5, 0, 0], [6, 0, 0]],
        ),
    ];
    for (what, want, a, b) in cases {
        check(a, b, want, what);
    }
}

#[test]
fn pairs_by_hand_in_the_plane() {
    let a = [[0, 0], [4, 0]];
    let cases = [
        ("apart", false, [[0, 1], [4, 1]]),
        ("crossing", true, [[1, -1], [2, 1]]),
        ("lines cross outside", false, [[5, -1], [6, 1]]),
        ("end in the inside", true, [[2, 0], [2, 3]]),
        ("shared end", false, [[4, 0], [4, 3]]),
        ("shared end, straight on", false, [[4, 0], [6, 0]]),
        ("shared end, folded", true, [[4, 0], [1, 0]]),
        ("overlap on a line", true, [[2, 0], [6, 0]]),
        ("apart on a line", false, [[5, 0], [6, 0]]),
        ("duplicate", true, a),
    ];
    for (what, want, b) in cases {
        check(a, b, want, what);
    }
}

/// Fails with the first pair that is in one list only.
fn compare(found: &[[u32; 2]], want: &[[u32; 2]]) -> Result<(), String> {
    let only = |a: &[[u32; 2]], b: &[[u32; 2]]| a.iter().copied().find(|p| !b.contains(p));
    match (only(found, want), only(want, found)) {
        (None, None) if found.len() == want.len() => Ok(()),
        (None, None) => Err("a pair is listed twice".into()),
        (extra, missing) => Err(format!("extra {extra:?}, missing {missing:?}")),
    }
}

fn by_clipping(facets: &[Triangle]) -> Vec<[u32; 2]> {
    let n = facets.len() as u32;
    (0..n)
        .into_par_iter()
        .flat_map_iter(|i| {
            (i + 1..n).filter_map(move |j| {
                super::clipping::offends(facets[i as usize], facets[j as usize]).then_some([i, j])
            })
        })
        .collect()
}

/// A sequence of 64-bit numbers (SplitMix).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    /// Distinct corners on a grid of `n` points an axis.
    fn triangle(&mut self, n: u64) -> Triangle {
        loop {
            let t: Triangle =
                std::array::from_fn(|_| std::array::from_fn(|_| self.below(n) as i32));
            if t[0] != t[1] && t[1] != t[2] && t[2] != t[0] {
                return t;
            }
        }
    }
}

#[test]
fn soups_on_small_grids_agree_with_rational_clipping() {
    let mut random = Random(1);
    let mut offending = 0;
    // Few points: shared corners, slivers and common planes all over; more: generic pairs.
    for (grid, facets, soups) in [(2, 40, 4), (3, 120, 4), (4, 120, 3), (9, 100, 3)] {
        for _ in 0..soups {
            let facets: Vec<Triangle> = (0..facets).map(|_| random.triangle(grid)).collect();
            let want = by_clipping(&facets);
            let found = find(&soup(&facets));
            offending += want.len();
            compare(&found.pairs, &want).unwrap_or_else(|e| panic!("grid {grid}: {e}"));
            assert_eq!(found.pair_count, want.len() as u64, "grid {grid}");
            assert!(found.complete, "grid {grid}");
            let mut in_pairs = want.concat();
            in_pairs.sort_unstable();
            in_pairs.dedup();
            assert_eq!(found.facets, in_pairs, "grid {grid}");
            if let [first, ..] = want[..] {
                let mut corrupted = found.pairs.clone();
                corrupted.retain(|p| *p != first);
                assert!(compare(&corrupted, &want).is_err(), "a pair less");
                corrupted.push([first[0], first[0]]);
                assert!(compare(&corrupted, &want).is_err(), "a wrong pair");
            }
        }
    }
    assert!(offending > 10_000, "the soups are dense: {offending} pairs");
}

#[test]
fn all_pairs_on_a_square_of_nine_points() {
    let points: Vec<P> = (0..9).map(|k| [k % 3, k / 3, 0]).collect();
    let mut facets = Vec::new();
    for i in 0..9 {
        for j in i + 1..9 {
            facets.extend((j + 1..9).map(|k| [points[i], points[j], points[k]]));
        }
    }
    let found = find(&soup(&facets));
    compare(&found.pairs, &by_clipping(&facets)).expect("the same pairs");
    // The same figure in a slanted plane.
    let slanted: Vec<Triangle> = facets
        .iter()
        .map(|f| f.map(|[x, y, _]| [x, y + 2 * x, 7 - 3 * x + 5 * y]))
        .collect();
    assert_eq!(find(&soup(&slanted)), found, "slanted");
}

#[test]
fn shears_to_large_coordinates_change_nothing() {
    let mut random = Random(2);
    for _ in 0..20 {
        let facets: Vec<Triangle> = (0..80).map(|_| random.triangle(4)).collect();
        let want = find(&soup(&facets));
        let [k, l, m] = std::array::from_fn(|_| random.below(1 << 25) as i32 - (1 << 24));
        let sheared: Vec<Triangle> = facets
            .iter()
            .map(|f| f.map(|[x, y, z]| [x + k * y + l * z, y + m * z, z]))
            .collect();
        assert_eq!(find(&soup(&sheared)), want, "shear {k} {l} {m}");
    }
}

/// One lattice unit decides, at the largest coordinates.
#[test]
fn a_unit_more_or_less_is_seen() {
    const R: i32 = 1 << 28;
    let floor = [[-R, -R, -R], [R, -R, -R + 1], [-R, R, R]];
    // The plane of the floor at (x, y) = (-2, -2): z = -3/2 - 2^-28.
    for (z, want) in [(-3, true), (-2, true), (-1, false), (0, false)] {
        let needle = [[-2, -2, z], [-1, -2, R], [-2, -1, R]];
        let met = Facet(floor).meet(&Facet(needle));
        assert_eq!(met.is_some(), want, "tip at {z}");
    }
}

#[test]
fn the_point_of_a_meeting_lies_on_both() {
    let mut random = Random(3);
    let mut seen = 0;
    while seen < 2000 {
        let (a, b) = (random.triangle(20), random.triangle(20));
        let Some(at) = Facet(a).meet(&Facet(b)) else {
            continue;
        };
        seen += 1;
        for t in [a, b] {
            let gap = distance(at, t);
            assert!(gap < 1e-9, "{at:?} is {gap} from {t:?}");
        }
    }
}

/// Distance of a point from a triangle's plane, or more where it lies outside.
fn distance(p: [f64; 3], t: Triangle) -> f64 {
    let t = t.map(|p| p.map(f64::from));
    let sub = |a: [f64; 3], b: [f64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    };
    let length = |a: [f64; 3]| a.iter().map(|x| x * x).sum::<f64>().sqrt();
    let area = |a, b, c| length(cross(sub(b, a), sub(c, a)));
    let whole = area(t[0], t[1], t[2]);
    let parts = area(p, t[0], t[1]) + area(p, t[1], t[2]) + area(p, t[2], t[0]);
    let longest = worst((0..3).map(|k| length(sub(t[k], t[(k + 1) % 3]))));
    (parts - whole).abs() / longest
}

fn ids(found: &Intersections, new_number: &[u32]) -> Vec<[u32; 2]> {
    let renumber = |p: &[u32; 2]| {
        let [f, g] = p.map(|f| new_number[f as usize]);
        [f.min(g), f.max(g)]
    };
    let mut pairs: Vec<[u32; 2]> = found.pairs.iter().map(renumber).collect();
    pairs.sort_unstable();
    pairs
}

#[test]
fn order_and_threads_do_not_matter() {
    let mut random = Random(4);
    let facets: Vec<Triangle> = (0..3000)
        .map(|_| {
            let to: P = std::array::from_fn(|_| random.below(100) as i32);
            let t = random.triangle(12);
            t.map(|p| std::array::from_fn(|k| p[k] + to[k]))
        })
        .collect();
    let found = find(&soup(&facets));
    assert!(found.pair_count > 1000, "{} pairs", found.pair_count);
    let mut new_number: Vec<u32> = (0..facets.len() as u32).collect();
    for i in (1..facets.len()).rev() {
        new_number.swap(i, random.below(i as u64 + 1) as usize);
    }
    let mut shuffled = facets.clone();
    for (f, &to) in facets.iter().zip(&new_number) {
        let mut f = *f;
        f.rotate_left(random.below(3) as usize);
        shuffled[to as usize] = f;
    }
    assert_eq!(
        find(&soup(&shuffled)).pairs,
        ids(&found, &new_number),
        "shuffled"
    );
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let again = pool.expect("a pool").install(|| find(&soup(&facets)));
        assert_eq!(again, found, "{threads} threads");
    }
}

fn placed(shape: &Shape3, deviation: f64, to: [f64; 3]) -> Surface<3> {
    let mut surface = shape.surface(deviation).expect("a shape");
    for p in &mut surface.vertices {
        *p = std::array::from_fn(|k| p[k] + to[k]);
    }
    surface
}

fn together(mut a: Surface<3>, b: &Surface<3>) -> Surface<3> {
    let offset = a.vertices.len() as u32;
    a.vertices.extend(&b.vertices);
    a.facets
        .extend(b.facets.iter().map(|f| f.map(|v| v + offset)));
    a
}

fn on_lattice(surface: &Surface<3>) -> Snapped<3> {
    let lattice = SnapLattice {
        origin: [-2.0; 3],
        unit: 1.0 / 65536.0,
    };
    snap(surface, lattice).expect("in range")
}

/// The facets that two spheres cut lie along the circle where they meet, all along it.
#[test]
fn two_spheres_meet_along_a_circle() {
    let sphere = Shape3::Sphere { radius: 1.0 };
    let (deviation, apart) = (0.005, 1.2);
    let half: f64 = apart / 2.0;
    let circle = (1.0 - half * half).sqrt();
    let one = placed(&sphere, deviation, [0.0; 3]);
    assert_eq!(find(&on_lattice(&one)).pair_count, 0, "one alone is clean");
    let both = together(one.clone(), &placed(&sphere, deviation, [apart, 0.0, 0.0]));
    let found = find(&on_lattice(&both));
    let edge = worst((0..one.facets.len()).map(|f| {
        let c = one.corners(f);
        let side =
            |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
        worst([side(c[0], c[1]), side(c[1], c[2]), side(c[2], c[0])])
    }));
    let mut angles = [Vec::new(), Vec::new()];
    for &f in &found.facets {
        let [x, y, z] = both.corners(f as usize)[0];
        let gap = ((x - half).powi(2) + (y.hypot(z) - circle).powi(2)).sqrt();
        assert!(
            gap < edge + 4.0 * deviation,
            "facet {f} is {gap} off, edges {edge}"
        );
        angles[usize::from(f as usize >= one.facets.len())].push(y.atan2(z));
    }
    for angles in &mut angles {
        let least = std::f64::consts::TAU * circle / (edge + 4.0 * deviation);
        assert!(angles.len() as f64 > least, "{} of {least}", angles.len());
        angles.sort_by(f64::total_cmp);
        let jump = worst(angles.windows(2).map(|w| w[1] - w[0]));
        assert!(
            jump * circle < 2.0 * edge,
            "a gap of {jump} rad, edges {edge}"
        );
    }
    // Each pair joins a facet of one with one of the other.
    let split = one.facets.len() as u32;
    assert!(
        found.pairs.iter().all(|p| p[0] < split && p[1] >= split),
        "across"
    );
    let far = together(one, &placed(&sphere, deviation, [2.5, 0.0, 0.0]));
    assert_eq!(find(&on_lattice(&far)).pair_count, 0, "apart");
}

#[test]
fn stacked_boxes_touch_and_separate_ones_do_not() {
    let cube = Shape3::Box { size: [1.0; 3] };
    let one = placed(&cube, 1.0, [0.0; 3]);
    let stacked = |by: f64| {
        let both = together(one.clone(), &placed(&cube, 1.0, [0.0, 0.0, by]));
        find(&on_lattice(&both))
    };
    assert_eq!(find(&on_lattice(&one)), find(&on_lattice(&one)), "itself");
    assert_eq!(stacked(1.5).pair_count, 0, "apart");
    // The two triangles of a side lie on those of the other cube, two duplicates if they are
    // cut along the same diagonal, four overlaps otherwise.
    assert!(
        [2, 4].contains(&stacked(1.0).pair_count),
        "{:?}",
        stacked(1.0)
    );
    assert!(stacked(0.5).pair_count > 8, "{:?}", stacked(0.5));
}

#[test]
fn caps_are_left_out() {
    // A cube without its lid, and a lid a little above: the cap fills the opening.
    let mut open = placed(&Shape3::Box { size: [1.0; 3] }, 1.0, [0.0; 3]);
    open.facets.pop();
    let stick = Shape3::Box { size: [0.2; 3] };
    let mut snapped = on_lattice(&open);
    robust::close(&mut snapped);
    assert!(snapped.caps > 0, "closed");
    assert_eq!(find(&snapped).pair_count, 0, "clean");
    // A small cube in the hole: what it meets is the cap alone.
    let lost = placed(&Shape3::Box { size: [1.0; 3] }, 1.0, [0.0; 3]).corners(11);
    let middle = std::array::from_fn(|k| (lost[0][k] + lost[1][k] + lost[2][k]) / 3.0);
    let mut snapped = on_lattice(&together(open, &placed(&stick, 1.0, middle)));
    robust::close(&mut snapped);
    assert_eq!(find(&snapped).pair_count, 0, "the cap is no wall");
    snapped.caps = 0;
    assert!(find(&snapped).pair_count > 0, "as a wall it would be hit");
}

#[test]
fn duplicates_are_counted_not_listed_beyond_the_limit() {
    const COPIES: u64 = 100_000;
    let floor = [[0, 0, 0], [4, 0, 0], [0, 4, 0]];
    let wall = [[1, 1, -1], [1, 1, 1], [2, 2, 1]];
    let mut facets = vec![wall];
    facets.extend((0..COPIES).map(|_| floor));
    let found = find(&soup(&facets));
    assert_eq!(found.pair_count, COPIES * (COPIES - 1) / 2 + COPIES, "all");
    assert_eq!(found.facets.len() as u64, COPIES + 1, "every facet");
    assert_eq!(found.pairs.len(), MAX_LISTED, "as many as may be listed");
    assert!(
        found.pairs.is_sorted() && found.complete,
        "sorted, complete"
    );
    assert_eq!(find(&soup::<3>(&[])).pair_count, 0, "nothing of nothing");
}
