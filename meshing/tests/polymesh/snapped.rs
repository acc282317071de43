//! Walls snapped to bodies with sharp edges. Oracle: the bodies are prisms whose planes, edges, corners and volume are known; where
//! every edge is covered by edges of the mesh and no face lies on two sides, the body in the mesh is the prism itself.

use crate::graded::embedded;
use crate::worst::worst;
use cutlink_meshing::{
    MeshOptions,
    options::{Numbers, Root},
    polymesh::*,
};
use std::fmt::Write as _;
use std::{fs, path::PathBuf};

type Point = [f64; 3];

fn sub(a: Point, b: Point) -> Point {
    std::array::from_fn(|i| a[i] - b[i])
}

fn dot(a: Point, b: Point) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn norm(a: Point) -> f64 {
    dot(a, a).sqrt()
}

/// A polygon, seen from above counter-clockwise and star-shaped around its first corner, between two heights, then turned.
struct Prism {
    polygon: Vec<[f64; 2]>,
    half: f64,
    /// Angles about x, then about z, in degrees.
    turn: [f64; 2],
}

impl Prism {
    fn turned(&self, [x, y, z]: Point) -> Point {
        let [(s, c), (t, d)] = self.turn.map(|angle| angle.to_radians().sin_cos());
        let (y, z) = (c * y - s * z, s * y + c * z);
        [d * x - t * y, t * x + d * y, z]
    }

    fn corner(&self, at: usize, up: bool) -> Point {
        let [x, y] = self.polygon[at % self.polygon.len()];
        self.turned([x, y, if up { self.half } else { -self.half }])
    }

    fn corners(&self) -> usize {
        self.polygon.len()
    }

    /// Facets of each side: those around, the lower lid, the upper one.
    fn sides(&self) -> Vec<Vec<[Point; 3]>> {
        let n = self.corners();
        let mut sides: Vec<Vec<[Point; 3]>> = (0..n)
            .map(|i| {
                let [a, b] = [i, i + 1].map(|i| self.corner(i, false));
                let [c, d] = [i, i + 1].map(|i| self.corner(i, true));
                vec![[a, b, d], [a, d, c]]
            })
            .collect();
        let fan = |up: bool| {
            let corner = move |i: usize| self.corner(i, up);
            let each = (1..n - 1).map(move |i| match up {
                true => [corner(0), corner(i), corner(i + 1)],
                false => [corner(0), corner(i + 1), corner(i)],
            });
            each.collect::<Vec<_>>()
        };
        sides.extend([fan(false), fan(true)]);
        sides
    }

    fn edges(&self) -> Vec<[Point; 2]> {
        let around = |up: bool| (0..self.corners()).map(move |i| [(i, up), (i + 1, up)]);
        let along = (0..self.corners()).map(|i| [(i, false), (i, true)]);
        let all = around(false).chain(around(true)).chain(along);
        all.map(|ends| ends.map(|(i, up)| self.corner(i, up)))
            .collect()
    }

    fn volume(&self) -> f64 {
        let next = self.polygon.iter().cycle().skip(1);
        let double = self
            .polygon
            .iter()
            .zip(next)
            .map(|([a, b], [c, d])| a * d - b * c);
        double.sum::<f64>() * self.half
    }

    /// Which sides a point is on.
    fn on(&self, at: Point) -> Vec<bool> {
        let sides = self.sides();
        let is_on = |facet: &[Point; 3]| {
            let on = cutlink_mesher::nearest::on_triangle(*facet, at);
            norm(sub(on, at)) < 1e-9
        };
        sides.iter().map(|side| side.iter().any(is_on)).collect()
    }
}

/// An STL with a solid for each group of facets.
fn stl(groups: &[(&str, Vec<[Point; 3]>)]) -> String {
    let mut text = String::new();
    for (name, facets) in groups {
        let _ = writeln!(text, "solid {name}");
        for facet in facets {
            let _ = writeln!(text, "facet normal 0 0 0\nouter loop");
            for [x, y, z] in facet {
                let _ = writeln!(text, "vertex {x:?} {y:?} {z:?}");
            }
            let _ = writeln!(text, "endloop\nendfacet");
        }
        let _ = writeln!(text, "endsolid {name}");
    }
    text
}

fn snapped(groups: &[(&str, Vec<[Point; 3]>)]) -> Castellated {
    let folder = tempfile::tempdir().expect("a folder");
    let file: PathBuf = folder.path().join("body.stl");
    fs::write(&file, stl(groups)).expect("a file");
    let options = MeshOptions {
        file: Some(vec![file]),
        domain: Some(Numbers::Many(vec![-1.0, -1.0, -1.0, 1.0, 1.0, 1.0])),
        root: Some(Root::Longest(16)),
        levels: Some(2),
        wall_distance: Some(0.0),
        polymesh: Some(folder.path().join("case")),
        snap: true,
        no_picture: true,
        ..MeshOptions::default()
    };
    let (prepared, mesh) = embedded(&options);
    let rule = CellGrading {
        between: 3,
        surface: &prepared.snapped,
        params: &prepared.params,
    };
    let mut made = castellate_by_cell(&mesh, &rule, &PolyLabels::default()).expect("a mesh");
    let surface = prepared.placed.as_ref().expect("the surface to snap to");
    made.snap(surface, &mesh).expect("memory");
    assert_eq!(made.mesh.validate(), Ok(()), "every check of the arrays");
    made
}

/// Points of each face of some patches of the surface.
fn wall_faces<'a>(
    made: &'a Castellated,
    of: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = Vec<Point>> + 'a {
    let body = made.mesh.patches.iter().zip(&made.sources);
    let body = body.filter(move |(patch, source)| source.is_some() && of(&patch.name));
    let faces = body.flat_map(|(patch, _)| patch.start..patch.start + patch.faces);
    faces.map(|face| {
        let ids = made.mesh.face(face).iter();
        ids.map(|&id| made.mesh.points[id as usize]).collect()
    })
}

/// The largest part of a line that no edge of the mesh covers, relative to its length.
fn uncovered(made: &Castellated, [a, b]: [Point; 2]) -> f64 {
    let along = sub(b, a);
    let length = norm(along);
    let place = |p: Point| {
        let share = dot(sub(p, a), along) / (length * length);
        let foot = std::array::from_fn(|i| a[i] + share * along[i]);
        (norm(sub(foot, p)) < 1e-9 && (-1e-9..=1.0 + 1e-9).contains(&share)).then_some(share)
    };
    let mut covered: Vec<[f64; 2]> = Vec::new();
    for face in wall_faces(made, |_| true) {
        let next = face.iter().cycle().skip(1);
        for (&p, &q) in face.iter().zip(next) {
            if let (Some(s), Some(t)) = (place(p), place(q)) {
                covered.push([s.min(t), s.max(t)]);
            }
        }
    }
    covered.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let (mut end, mut gap) = (0.0, 0.0_f64);
    for [from, to] in covered {
        gap = gap.max(from - end);
        end = f64::max(end, to);
    }
    gap.max(1.0 - end)
}

fn fluid(made: &Castellated) -> f64 {
    made.mesh.quality().volume
}

/// What must hold where all points have reached their aims.
fn is_the_prism(prism: &Prism, made: &Castellated) {
    let counts = made.snapped.expect("it is snapped");
    assert_eq!(
        (counts.held_back, counts.out_of_reach),
        (0, 0),
        "{counts:?}"
    );
    for edge in prism.edges() {
        let gap = uncovered(made, edge);
        assert!(gap < 1e-9, "{edge:?}: {gap} of it has no edge of the mesh");
    }
    for face in wall_faces(made, |_| true) {
        let on: Vec<Vec<bool>> = face.iter().map(|&p| prism.on(p)).collect();
        let is_on_one = (0..on[0].len()).any(|side| on.iter().all(|on| on[side]));
        assert!(is_on_one, "{face:?} lies on more than one side");
    }
    let exact = 8.0 - prism.volume();
    let error = fluid(made) / exact - 1.0;
    assert!(error.abs() < 1e-9, "volume of the fluid: {error}");
}

/// Bounds where cells hold some points back: their share, the share of faces that lie on more than one side, the share of the length
/// of edges without an edge of the mesh, and the error of the volume of the fluid.
fn is_nearly_the_prism(prism: &Prism, made: &Castellated, [held, folded, bare, volume]: [f64; 4]) {
    let counts = made.snapped.expect("it is snapped");
    let share = counts.held_back as f64 / counts.points as f64;
    assert!(counts.out_of_reach == 0 && share < held, "{counts:?}");
    let (mut faces, mut on_more) = (0.0, 0.0);
    for face in wall_faces(made, |_| true) {
        let on: Vec<Vec<bool>> = face.iter().map(|&p| prism.on(p)).collect();
        let is_off = on.iter().any(|on| !on.contains(&true));
        let is_on_one = (0..on[0].len()).any(|side| on.iter().all(|on| on[side]));
        faces += 1.0;
        on_more += f64::from(u8::from(!is_off && !is_on_one));
    }
    assert!(on_more < folded * faces, "{on_more} of {faces} faces");
    let edges = prism.edges();
    let length = |edge: &[Point; 2]| norm(sub(edge[1], edge[0]));
    let without: f64 = edges.iter().map(|e| length(e) * uncovered(made, *e)).sum();
    let all: f64 = edges.iter().map(length).sum();
    assert!(without < bare * all, "{without} of {all} is not covered");
    let exact = 8.0 - prism.volume();
    let error = fluid(made) / exact - 1.0;
    assert!(error.abs() < volume, "volume of the fluid: {error}");
}

fn cube(turn: [f64; 2]) -> Prism {
    let a = 0.5;
    Prism {
        polygon: vec![[-a, -a], [a, -a], [a, a], [-a, a]],
        half: a,
        turn,
    }
}

fn body(prism: &Prism) -> Castellated {
    snapped(&[("body", prism.sides().concat())])
}

#[test]
fn a_turned_cube_is_the_cube() {
    for turn in [
        [0.0, 0.0],
        [0.0, 10.0],
        [0.0, 20.0],
        [0.0, 23.0],
        [0.0, 30.0],
    ] {
        let cube = cube(turn);
        is_the_prism(&cube, &body(&cube));
    }
}

#[test]
fn an_l_has_its_edge_inside() {
    let l = Prism {
        polygon: vec![
            [0.05, 0.03],
            [0.05, 0.6],
            [-0.5, 0.6],
            [-0.5, -0.5],
            [0.6, -0.5],
            [0.6, 0.03],
        ],
        half: 0.4,
        turn: [0.0, 13.0],
    };
    is_nearly_the_prism(&l, &body(&l), [0.04, 0.05, 0.25, 2e-4]);
}

#[test]
fn a_wedge_of_15_degrees_ends_sharp() {
    let far = 1.1;
    let high = far * 15f64.to_radians().tan();
    let wedge = Prism {
        polygon: vec![[-0.6, -0.1], [far - 0.6, -0.1], [far - 0.6, high - 0.1]],
        half: 0.4,
        turn: [0.0, 0.0],
    };
    // Near the sharp edge the wedge is thinner than a cell.
    is_nearly_the_prism(&wedge, &body(&wedge), [0.04, 0.05, 0.3, 2e-4]);
}

#[test]
fn rims_of_a_cylinder_are_circles() {
    let n = 96;
    let polygon = (0..n).map(|i| {
        let (s, c) = (std::f64::consts::TAU * i as f64 / n as f64).sin_cos();
        [0.5 * c, 0.5 * s]
    });
    let cylinder = Prism {
        polygon: polygon.collect(),
        half: 0.45,
        turn: [0.0, 0.0],
    };
    let made = body(&cylinder);
    let counts = made.snapped.expect("it is snapped");
    assert!(
        counts.out_of_reach == 0 && 25 * counts.held_back < counts.points,
        "{counts:?}"
    );
    let (mut folded, mut faces) = (0, 0);
    let mut rims: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for face in wall_faces(&made, |_| true) {
        let lid = |z: f64| face.iter().all(|p| (p[2] - z).abs() < 1e-9);
        // Between the circles through corners and middles of the polygon.
        let apothem = 0.5 * (std::f64::consts::PI / f64::from(n)).cos();
        let round = face.iter().all(|p| {
            let r = p[0].hypot(p[1]);
            (apothem - 1e-9..0.5 + 1e-9).contains(&r)
        });
        faces += 1;
        folded += usize::from(!lid(0.45) && !lid(-0.45) && !round);
        for p in face.iter().filter(|p| (p[2].abs() - 0.45).abs() < 1e-9) {
            if p[0].hypot(p[1]) > apothem - 1e-9 {
                rims[usize::from(p[2] > 0.0)].push(p[1].atan2(p[0]));
            }
        }
    }
    assert!(10 * folded < faces, "{folded} of {faces} are folded or off");
    for mut rim in rims {
        rim.sort_by(f64::total_cmp);
        rim.push(rim[0] + std::f64::consts::TAU);
        let gap = worst(rim.windows(2).map(|w| w[1] - w[0]));
        let cell = 2.0 / 32.0;
        assert!(0.5 * gap < 3.0 * cell, "a gap of {gap} along the rim");
    }
}

#[test]
fn a_border_of_patches_in_a_plane_is_kept() {
    let cube = cube([0.0, 0.0]);
    let mut sides = cube.sides();
    let [one, two]: [[Point; 3]; 2] = sides.pop().expect("a lid").try_into().expect("two facets");
    let border = [cube.corner(0, true), cube.corner(2, true)];
    let made = snapped(&[
        ("body", sides.concat()),
        ("one", vec![one]),
        ("two", vec![two]),
    ]);
    let counts = made.snapped.expect("it is snapped");
    assert_eq!(
        (counts.held_back, counts.out_of_reach),
        (0, 0),
        "{counts:?}"
    );
    // At its ends four sides meet, where one of two points takes the corner.
    let gap = uncovered(&made, border);
    assert!(gap < 0.15, "{gap} of the diagonal of the lid");
    for name in ["one", "two"] {
        let mut area = 0.0;
        for face in wall_faces(&made, |patch| patch == name) {
            for &p in &face {
                assert!((p[2] - 0.5).abs() < 1e-9, "{name}: {p:?} is off the lid");
            }
            let next = face.iter().cycle().skip(1);
            let double = face
                .iter()
                .zip(next)
                .map(|(p, q)| p[0] * q[1] - p[1] * q[0]);
            area += 0.5 * double.sum::<f64>().abs();
        }
        assert!((area - 0.5).abs() < 0.01, "{name}: area {area}");
    }
}

#[test]
fn snapped_edges_do_not_depend_on_threads() {
    let cube = cube([20.0, 30.0]);
    let made = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool").install(|| {
            let made = body(&cube);
            (made.mesh.checksum(), made.snapped)
        })
    });
    assert_eq!(made[0], made[1]);
}
