//! Snapping, against exact spheres and boxes.

use crate::worst;
use cutlink_hex::{
    MeshQuality, PolyMesh, PolyPatch, QualityLimits, SnapCounts, SnapTarget, TargetEdge,
    TargetPoint,
};
use std::collections::BTreeMap;

pub(super) type Point = [f64; 3];

pub(super) fn sub(a: Point, b: Point) -> Point {
    std::array::from_fn(|i| a[i] - b[i])
}

pub(super) fn norm(a: Point) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Cells of a grid of n^3 cells over the cube from -1 to 1 that a function keeps by their centre: patch `body` where one
/// is missing, `box` around.
pub(super) fn castellated(n: usize, keep: impl Fn(Point) -> bool) -> PolyMesh {
    let h = 2.0 / n as f64;
    let center = |c: [usize; 3]| c.map(|i| -1.0 + h * (i as f64 + 0.5));
    let mut ids = BTreeMap::new();
    let cells = (0..n * n * n).map(|i| [i % n, i / n % n, i / n / n]);
    for c in cells.filter(|&c| keep(center(c))) {
        let next = ids.len() as u32;
        ids.insert([c[2], c[1], c[0]], next);
    }
    // Class (internal, wall, box), owner, neighbour, corners.
    let mut faces: Vec<(u8, u32, u32, [Point; 4])> = Vec::new();
    for (&[z, y, x], &id) in &ids {
        let c = [x, y, z];
        for side in 0..6 {
            let (axis, up) = (side / 2, side % 2);
            let mut other = c.map(|i| i as i64);
            other[axis] += 2 * up as i64 - 1;
            let is_out = !(0..n as i64).contains(&other[axis]);
            let there = ids.get(&[other[2] as usize, other[1] as usize, other[0] as usize]);
            let (class, neighbour) = match (is_out, there) {
                (true, _) => (2, 0),
                (false, None) => (1, 0),
                (false, Some(&o)) if o > id => (0, o),
                _ => continue,
            };
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let corner = |du: usize, dv: usize| {
                let mut at = c;
                at[axis] += up;
                at[u] += du;
                at[v] += dv;
                at.map(|i| i as f64)
            };
            let mut corners = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
            if up == 0 {
                corners.reverse();
            }
            faces.push((class, id, neighbour, corners));
        }
    }
    faces.sort_by_key(|f| (f.0, f.1, f.2));
    let mut mesh = PolyMesh {
        face_start: vec![0],
        cells: ids.len(),
        ..PolyMesh::default()
    };
    let mut points = BTreeMap::new();
    for (class, owner, neighbour, corners) in &faces {
        for corner in corners {
            let next = points.len() as u32;
            let id = *points.entry(corner.map(|x| x as u32)).or_insert(next);
            if id == next {
                mesh.points.push(corner.map(|x| -1.0 + h * x));
            }
            mesh.face_points.push(id);
        }
        mesh.face_start.push(mesh.face_points.len() as u32);
        mesh.owner.push(*owner);
        mesh.neighbour.extend((*class == 0).then_some(*neighbour));
    }
    let mut start = mesh.neighbour.len();
    for (class, name, kind) in [(1, "body", "wall"), (2, "box", "patch")] {
        let count = faces.iter().filter(|f| f.0 == class).count();
        let (name, kind) = (name.to_owned(), kind.to_owned());
        mesh.patches.push(PolyPatch {
            name,
            kind,
            start,
            faces: count,
            entries: Vec::new(),
        });
        start += count;
    }
    assert_eq!(mesh.validate(), Ok(()), "the mesh before");
    mesh
}

pub(super) fn snap(mesh: &mut PolyMesh, target: &impl SnapTarget) -> SnapCounts {
    mesh.snap(
        target,
        |patch| patch.kind == "wall",
        &QualityLimits::default(),
    )
    .expect("memory")
}

/// Points of the body.
fn wall_points(mesh: &PolyMesh) -> Vec<Point> {
    let patch = &mesh.patches[0];
    let faces = patch.start..patch.start + patch.faces;
    let mut ids: Vec<u32> = faces.flat_map(|f| mesh.face(f)).copied().collect();
    ids.sort_unstable();
    ids.dedup();
    ids.iter().map(|&id| mesh.points[id as usize]).collect()
}

pub(super) fn area(mesh: &PolyMesh) -> f64 {
    let patch = &mesh.patches[0];
    let faces = mesh.face_geometry();
    faces[patch.start..patch.start + patch.faces]
        .iter()
        .map(|f| norm(f.area))
        .sum()
}

pub(super) struct Sphere {
    pub(super) center: Point,
    pub(super) radius: f64,
}

impl SnapTarget for Sphere {
    fn nearest(&self, at: Point, within: f64) -> Option<TargetPoint> {
        let out = sub(at, self.center);
        let r = norm(out);
        let normal = out.map(|x| x / r);
        let point = std::array::from_fn(|i| self.center[i] + self.radius * normal[i]);
        ((r - self.radius).abs() <= within).then_some(TargetPoint {
            point,
            normal,
            side: 0,
        })
    }

    fn nearest_on(&self, _: u32, at: Point, within: f64) -> Option<TargetPoint> {
        self.nearest(at, within)
    }

    fn nearest_edge(&self, _: Point, _: f64, _: Option<&[u32]>) -> Option<TargetEdge> {
        None
    }

    fn nearest_corner(&self, _: Point, _: f64) -> Option<(u32, Point)> {
        None
    }
}

pub(super) fn ball(center: Point) -> Sphere {
    Sphere {
        center,
        radius: 0.5,
    }
}

pub(super) fn around(sphere: &Sphere, n: usize) -> PolyMesh {
    castellated(n, |p| norm(sub(p, sphere.center)) > sphere.radius)
}

fn keeps_limits(quality: &MeshQuality) -> bool {
    let limits = QualityLimits::default();
    quality.max_non_orthogonality <= limits.non_orthogonality
        && quality.max_skewness <= limits.skewness
        && quality.min_determinant >= limits.determinant
        && quality.min_face_weight >= limits.face_weight
        && quality.min_volume > 0.0
        && quality.bad_tetrahedra == 0
}

#[test]
fn walls_are_on_the_sphere_and_volume_and_area_are_of_second_order() {
    let pi = std::f64::consts::PI;
    let (solid, surface) = (pi / 6.0, pi);
    let mut errors = Vec::new();
    for n in [16, 32] {
        let mut mesh = around(&ball([0.0; 3]), n);
        let before = mesh.clone();
        let counts = snap(&mut mesh, &ball([0.0; 3]));
        assert_eq!(mesh.validate(), Ok(()), "closed cells of positive volume");
        assert_eq!(
            (counts.held_back, counts.out_of_reach, counts.beyond_limits),
            (0, 0, 0),
            "n = {n}"
        );
        assert_eq!(counts.snapped, wall_points(&mesh).len() as u64, "all");
        for p in wall_points(&mesh) {
            assert!((norm(p) - 0.5).abs() < 1e-12, "{p:?}");
        }
        let quality = mesh.quality();
        assert!(keeps_limits(&quality), "{quality:?}");
        errors.push([
            (8.0 - quality.volume) / solid - 1.0,
            area(&mesh) / surface - 1.0,
        ]);
        // Points move, and nothing else; faces of the box stay in their planes.
        for p in 0..mesh.points.len() {
            for a in (0..3).filter(|&a| before.points[p][a].abs() == 1.0) {
                assert_eq!(
                    mesh.points[p][a], before.points[p][a],
                    "in the plane of the box"
                );
            }
        }
        mesh.points.clone_from(&before.points);
        assert_eq!(mesh, before, "topology");
    }
    for (coarse, fine) in errors[0].iter().zip(&errors[1]) {
        assert!(
            coarse.abs() < 0.03 && fine.abs() < 0.3 * coarse.abs(),
            "{errors:?}"
        );
    }
}

#[test]
fn walls_that_meet_the_box_stay_in_its_plane() {
    // The centre lies in the face of the box: half a ball.
    let half = ball([0.0, 0.0, -1.0]);
    let mut mesh = around(&half, 24);
    let counts = snap(&mut mesh, &half);
    assert_eq!(mesh.validate(), Ok(()), "closed cells of positive volume");
    assert!(
        counts.out_of_reach == 0 && 50 * counts.held_back < counts.points,
        "{counts:?}"
    );
    let patch = &mesh.patches[1];
    for face in patch.start..patch.start + patch.faces {
        let corners = mesh.face(face).iter().map(|&p| mesh.points[p as usize]);
        let flat = (0..3).any(|a| corners.clone().all(|p| p[a].abs() == 1.0));
        assert!(flat, "face {face} of the box is in its plane");
    }
    let foot = wall_points(&mesh).into_iter().filter(|p| p[2] == -1.0);
    let far = worst(foot.map(|p| (norm(sub(p, half.center)) - 0.5).abs()));
    assert!(
        far < 0.02 * 2.0 / 24.0,
        "points in the plane are on the circle: {far}"
    );
}

/// The box of given half edges, turned about z.
struct Block {
    half: Point,
    turn: f64,
}

impl Block {
    fn turned(&self, [x, y, z]: Point, turn: f64) -> Point {
        let (s, c) = turn.sin_cos();
        [c * x - s * y, s * x + c * y, z]
    }

    /// The nearest point with so many coordinates at their ends, of those that some codes allow: a digit of three an axis.
    fn on(&self, at: Point, ends: usize, allows: impl Fn(usize) -> bool) -> Option<(usize, Point)> {
        let p = self.turned(at, -self.turn);
        let candidates = (1..27usize)
            .filter(|&code| allows(code))
            .filter_map(|code| {
                let code3 = digits(code);
                (code3.iter().filter(|&&c| c > 0).count() == ends).then(|| {
                    let q = std::array::from_fn(|a| match code3[a] {
                        0 => p[a].clamp(-self.half[a], self.half[a]),
                        1 => -self.half[a],
                        _ => self.half[a],
                    });
                    (norm(sub(q, p)), code, q)
                })
            });
        let best = candidates.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((best.1, self.turned(best.2, self.turn)))
    }

    fn on_side(
        &self,
        at: Point,
        within: f64,
        allows: impl Fn(usize) -> bool,
    ) -> Option<TargetPoint> {
        let (code, point) = self.on(at, 1, allows)?;
        let normal = digits(code).map(|digit| f64::from(u8::from(digit > 0)));
        (norm(sub(point, at)) <= within).then_some(TargetPoint {
            point,
            normal: self.turned(normal, self.turn),
            side: code as u32,
        })
    }
}

fn digits(code: usize) -> [usize; 3] {
    [code % 3, code / 3 % 3, code / 9]
}

/// Sides that meet at an edge.
fn sides_of(edge: usize) -> impl Iterator<Item = u32> {
    let each = digits(edge).into_iter().zip([1, 3, 9]);
    each.filter(|&(digit, _)| digit > 0)
        .map(|(digit, place)| (digit * place) as u32)
}

impl SnapTarget for Block {
    fn nearest(&self, at: Point, within: f64) -> Option<TargetPoint> {
        self.on_side(at, within, |_| true)
    }

    fn nearest_on(&self, side: u32, at: Point, within: f64) -> Option<TargetPoint> {
        self.on_side(at, within, |code| code as u32 == side)
    }

    fn nearest_edge(&self, at: Point, within: f64, between: Option<&[u32]>) -> Option<TargetEdge> {
        let allows = |edge: usize| {
            between.is_none_or(|between| sides_of(edge).all(|side| between.contains(&side)))
        };
        let (_, point) = self.on(at, 2, allows)?;
        (norm(sub(point, at)) <= within).then_some(TargetEdge { point })
    }

    fn nearest_corner(&self, at: Point, within: f64) -> Option<(u32, Point)> {
        let (code, point) = self.on(at, 3, |_| true)?;
        (norm(sub(point, at)) <= within).then_some((code as u32, point))
    }
}

#[test]
fn edges_and_corners_of_a_turned_cube_are_kept() {
    let cube = Block {
        half: [0.5; 3],
        turn: 20f64.to_radians(),
    };
    let inside = |p: Point| cube.turned(p, -cube.turn).iter().all(|x| x.abs() < 0.5);
    let n = 32;
    let mut mesh = castellated(n, |p| !inside(p));
    let stairs = (area(&mesh), mesh.quality().volume);
    let counts = snap(&mut mesh, &cube);
    assert_eq!(mesh.validate(), Ok(()), "closed cells of positive volume");
    assert_eq!(
        (counts.out_of_reach, counts.held_back),
        (0, 0),
        "{counts:?}"
    );
    assert!(keeps_limits(&mesh.quality()), "{:?}", mesh.quality());
    assert!(stairs.0 > 6.5, "stairs have too much area: {stairs:?}");
    // No face is bent over an edge, so that the body is the cube itself.
    assert!((area(&mesh) / 6.0 - 1.0).abs() < 1e-12, "{}", area(&mesh));
    assert!(
        (mesh.quality().volume / 7.0 - 1.0).abs() < 1e-12,
        "{}",
        mesh.quality().volume
    );
    let points: Vec<Point> = wall_points(&mesh)
        .iter()
        .map(|&p| cube.turned(p, -cube.turn))
        .collect();
    let far = |p: Point| {
        points
            .iter()
            .map(|&q| norm(sub(p, q)))
            .fold(f64::INFINITY, f64::min)
    };
    for corner in 0..8 {
        let at = std::array::from_fn(|a| if corner >> a & 1 == 1 { 0.5 } else { -0.5 });
        assert!(far(at) < 1e-12, "corner {at:?}");
    }
    // Along each edge there are points on it, no farther apart than 1.7 cells.
    let h = 2.0 / n as f64;
    for edge in 0..12 {
        let (axis, at) = (edge / 4, [edge & 1, edge >> 1 & 1].map(|e| e as f64 - 0.5));
        let on_edge = |p: &&Point| {
            let across = [(axis + 1) % 3, (axis + 2) % 3].map(|a| p[a]);
            (0..2).all(|i| (across[i] - at[i]).abs() < 1e-12)
        };
        let mut along: Vec<f64> = points.iter().filter(on_edge).map(|p| p[axis]).collect();
        along.sort_by(f64::total_cmp);
        let gap = worst(along.windows(2).map(|w| w[1] - w[0]));
        assert!(
            along.len() > 12 && gap < 1.7 * h,
            "edge {edge}: {} points, gap {gap}",
            along.len()
        );
    }
}

#[test]
fn bits_do_not_depend_on_threads() {
    let sphere = ball([0.05, 0.0, 0.01]);
    let made = [1, 2, 7].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        let mut mesh = around(&sphere, 20);
        let counts = pool.install(|| snap(&mut mesh, &sphere));
        (mesh.checksum(), counts, pool.install(|| mesh.quality()))
    });
    assert!(made.iter().all(|m| *m == made[0]), "{made:?}");
}

/// A surface that pulls every point somewhere else.
struct Torn;

impl SnapTarget for Torn {
    fn nearest(&self, at: Point, _: f64) -> Option<TargetPoint> {
        let wave = |x: f64| 0.1 * (931.0 * x).sin();
        let [x, y, z] = at;
        let point = [
            x + wave(y + z),
            y + wave(z - 2.0 * x),
            z + wave(x + 3.0 * y),
        ];
        Some(TargetPoint {
            point,
            normal: [1.0, 0.0, 0.0],
            side: 0,
        })
    }

    fn nearest_on(&self, _: u32, at: Point, within: f64) -> Option<TargetPoint> {
        self.nearest(at, within)
    }

    fn nearest_edge(&self, _: Point, _: f64, _: Option<&[u32]>) -> Option<TargetEdge> {
        None
    }

    fn nearest_corner(&self, _: Point, _: f64) -> Option<(u32, Point)> {
        None
    }
}

#[test]
fn cells_keep_the_limits_whatever_the_surface() {
    let mut mesh = around(&ball([0.0; 3]), 16);
    let before = mesh.clone();
    let counts = snap(&mut mesh, &Torn);
    assert!(counts.held_back > 0 && counts.rounds > 0, "{counts:?}");
    assert_eq!(mesh.validate(), Ok(()), "closed cells of positive volume");
    assert!(keeps_limits(&mesh.quality()), "{:?}", mesh.quality());
    // A stricter limit holds back more, and is kept; without it the mesh is beyond it.
    let least = 30.0;
    assert!(
        mesh.quality().max_non_orthogonality > least,
        "{:?}",
        mesh.quality()
    );
    let limits = QualityLimits {
        non_orthogonality: least,
        ..QualityLimits::default()
    };
    let mut strict = before;
    let more = strict.snap(&Torn, |patch| patch.kind == "wall", &limits);
    let more = more.expect("memory");
    assert!(more.held_back > counts.held_back, "{more:?} {counts:?}");
    assert!(
        strict.quality().max_non_orthogonality <= least,
        "{:?}",
        strict.quality()
    );
}

#[test]
fn the_quality_of_a_sheared_block_is_known() {
    let mut mesh = castellated(4, |_| true);
    let shear = 0.75;
    mesh.points.iter_mut().for_each(|p| p[0] += shear * p[2]);
    let quality = mesh.quality();
    // Faces across z lean by atan(shear) from the line between the centres, as do those across x.
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
    let angle = f64::atan(shear).to_degrees();
    assert!(near(quality.max_non_orthogonality, angle), "{quality:?}");
    let mean = ((2.0 * angle.to_radians().cos() + 1.0) / 3.0)
        .acos()
        .to_degrees();
    assert!(near(quality.mean_non_orthogonality, mean), "{quality:?}");
    assert!(
        near(quality.volume, 8.0) && near(quality.min_volume, 0.125),
        "{quality:?}"
    );
    assert!(
        near(quality.min_face_weight, 0.5) && near(quality.min_volume_ratio, 1.0),
        "{quality:?}"
    );
    assert_eq!(
        (quality.concave_cells, quality.bad_tetrahedra),
        (0, 0),
        "{quality:?}"
    );
}
