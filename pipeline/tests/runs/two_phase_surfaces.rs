//! Two-phase flow with liquid and bodies from surfaces.

use crate::two_phase::{Columns, case, options};
use crate::worst::worst;
use cutlink::{ErrorKind, RunOptions};
use std::fs;

const FLUIDS: &str = r#"
[solver]
kind = "two-phase"

[phases]
liquid = { density = 1000, viscosity = 1e-3 }
gas = { density = 1, viscosity = 1e-5 }

[numerics]
dt = 0.005

[run]
steps = 2

[output]
integrals_every = 1
"#;

/// A tetrahedron as text, whose file has millimetres.
const TETRAHEDRON: [[f64; 3]; 4] = [
    [0.0, 0.0, 0.0],
    [230.0, 10.0, 0.0],
    [20.0, 170.0, 5.0],
    [30.0, 20.0, 190.0],
];

fn stl(facets: &[[usize; 3]]) -> String {
    let mut text = "solid t\n".to_owned();
    for facet in facets {
        text += "facet normal 0 0 0\nouter loop\n";
        for [x, y, z] in facet.map(|i| TETRAHEDRON[i]) {
            text += &format!("vertex {x} {y} {z}\n");
        }
        text += "endloop\nendfacet\n";
    }
    text + "endsolid t\n"
}

const FACETS: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

#[test]
fn liquid_fills_a_surface_exactly() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("drop.stl");
    fs::write(&file, stl(&FACETS)).expect("disk space");
    let text = format!(
        r#"{FLUIDS}
[domain]
box = [0, 0, 0, 1, 1, 1]
root = 8
[adapt]
levels = 3
[[liquid]]
file = {file:?}
unit = "mm"
scale = 2
rotate = ["z:30", "x:-20"]
translate = [0.41, 0.2, 0.33]
"#
    );
    let out = folder.path().join("out");
    let summary = case(&out, &text)
        .run_with(&options(), &mut ())
        .expect("a run");
    let [a, b, c] = [1, 2, 3].map(|i| TETRAHEDRON[i]);
    let cross = |i: usize, j: usize| b[i] * c[j] - b[j] * c[i];
    let det = a[0] * cross(1, 2) + a[1] * cross(2, 0) + a[2] * cross(0, 1);
    let volume = det / 6.0 * 2e-3f64.powi(3);
    let table = Columns::read(&out.join("phases.csv"));
    let off = table
        .column("liquid volume")
        .into_iter()
        .map(|v| v / volume - 1.0);
    assert!(worst(off.map(f64::abs)) < 1e-12);
    // The middle of the corners, turned about z, then about x.
    let mean: [f64; 3] = std::array::from_fn(|k| 2e-3 * (a[k] + b[k] + c[k]) / 4.0);
    let (s, t) = (
        30f64.to_radians().sin_cos(),
        (-20f64).to_radians().sin_cos(),
    );
    let [x, y] = [s.1 * mean[0] - s.0 * mean[1], s.0 * mean[0] + s.1 * mean[1]];
    let centre = [
        0.41 + x,
        0.2 + t.1 * y - t.0 * mean[2],
        0.33 + t.0 * y + t.1 * mean[2],
    ];
    for (axis, expected) in ["x", "y", "z"].iter().zip(centre) {
        let found = table.column(&format!("liquid centre {axis}"))[0];
        // Fractions, not planes, make the centre: a part of a cell.
        assert!(
            (found - expected).abs() < 2e-3,
            "{axis}: {found} {expected}"
        );
    }
    // The finest mesh has 32³ cells.
    assert!(
        summary.json["adapt"]["cells"][1].as_u64() < Some(25_000),
        "{}",
        summary.json
    );
}

/// A tilted square tank, half full.
fn tank(more: &str) -> String {
    format!(
        r#"{FLUIDS}
[domain]
box = [0, 0, 1, 1]
root = 16
[adapt]
levels = 2
[gravity]
acceleration = [2.0, -9.81]
[[liquid]]
half_space = [0, 1, 0.5]
[[body]]
shape = "rectangle:size=0.6x0.6"
rotate = ["z:37"]
translate = [0.5, 0.5]
flow = "inside"
{more}
"#
    )
    .replace("steps = 2", "steps = 10")
}

#[test]
fn a_tank_from_a_surface_is_tight_and_goes_on_to_the_bit() {
    let folder = tempfile::tempdir().expect("a folder");
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    let text = tank("[[body]]\nbox = [0.45, 0.1, 0.55, 0.4]");
    case(&whole, &text)
        .run_with(&options(), &mut ())
        .expect("a run");
    let table = Columns::read(&whole.join("phases.csv"));
    let liquid = table.column("liquid volume");
    assert!(worst(liquid.iter().map(|v| (v / liquid[0] - 1.0).abs())) < 1e-12);
    // Cells of 1/32 whose centre is in the tank, and not in the box; half full.
    let (sin, cos) = 37f64.to_radians().sin_cos();
    let is_fluid = |i: usize| {
        let [x, y] = [i % 32, i / 32].map(|k| (k as f64 + 0.5) / 32.0);
        let [u, v] = [
            cos * (x - 0.5) + sin * (y - 0.5),
            cos * (y - 0.5) - sin * (x - 0.5),
        ];
        u.abs().max(v.abs()) < 0.3 && !(x > 0.45 && x < 0.55 && y > 0.1 && y < 0.4)
    };
    let fluid = (0..1024).filter(|&i| is_fluid(i)).count();
    let full = (0..512).filter(|&i| is_fluid(i)).count();
    let gas = table.column("gas volume");
    assert!(
        (liquid[0] * 1024.0 - full as f64).abs() < 1e-9,
        "{}",
        liquid[0] * 1024.0
    );
    let off = liquid
        .iter()
        .zip(&gas)
        .map(|(l, g)| (l + g) * 1024.0 - fluid as f64);
    assert!(worst(off.map(f64::abs)) < 1e-9);
    assert!(table.column("liquid centre x").last() > Some(&table.column("liquid centre x")[0]));

    let half = RunOptions {
        steps: Some(5),
        ..options()
    };
    case(&parts, &text).run_with(&half, &mut ()).expect("a run");
    let rest = RunOptions {
        resume: true,
        threads: 1,
        ..options()
    };
    case(&parts, &text).run_with(&rest, &mut ()).expect("a run");
    let [a, b] = [&whole, &parts].map(|f| fs::read(f.join("phases.csv")).expect("a table"));
    assert!(a == b);
}

#[test]
fn surfaces_that_make_no_sense_are_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let [open, twice, closed] = ["open", "twice", "closed"].map(|n| folder.path().join(n));
    fs::write(&open, stl(&FACETS[1..])).expect("disk space");
    fs::write(&twice, stl(&[FACETS, FACETS].concat())).expect("disk space");
    fs::write(&closed, stl(&FACETS)).expect("disk space");
    let space = format!("{FLUIDS}\n[domain]\nbox = [0, 0, 0, 1, 1, 1]\nroot = 8\n");
    let place = "unit = \"mm\"\ntranslate = [0.4, 0.4, 0.4]";
    for (text, expected) in [
        (
            format!("{space}[[liquid]]\nfile = {open:?}\n{place}"),
            "is not closed: 3 of 3",
        ),
        (
            format!("{space}[[liquid]]\nfile = {twice:?}\n{place}"),
            "overlaps itself",
        ),
        (
            format!("{space}[[liquid]]\nfile = {closed:?}\n{place}\nbox = [0, 0, 0, 1, 1, 1]"),
            "a [[liquid]] is no shape",
        ),
        (
            format!("{space}[[body]]\nfile = {open:?}\n{place}"),
            "[[body]] 1",
        ),
        (
            format!("{space}[[body]]\nfile = {closed:?}\n{place}\nbox = [0, 0, 0, 1, 1, 1]"),
            "has a box and keys of a surface",
        ),
        (
            format!("{space}[[body]]\nbox = [-1, -1, -1, 2, 2, 2]"),
            "all cells are in a [[body]]",
        ),
        (
            tank(&format!("[[liquid]]\nfile = {closed:?}")),
            "the surface is 3D, the box is 2D",
        ),
        (
            tank("[[body]]\nshape = \"circle:r=0.1\"\ntranslate = [2, 0]"),
            "[[body]] 2",
        ),
    ] {
        let ran = case(folder.path(), &text).run_with(&options(), &mut ());
        let error = ran.expect_err(expected);
        assert!(
            matches!(error.kind, ErrorKind::Input | ErrorKind::Geometry),
            "{error}"
        );
        assert!(error.to_string().contains(expected), "{expected}: {error}");
    }
}
