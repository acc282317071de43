//! Cases of lattice Boltzmann flows with spheres: speeds and forces that are known, bodies as walls, resume to the bit, refusals.

use crate::two_phase::options;
use crate::two_phase_particles::{last, replaced};
use crate::worst::worst;
use cutlink::{Case, RunOptions};
use std::{f64::consts::PI, fs, path::Path};

/// The second experiment of ten Cate et al. (*Phys. Fluids* 14 (2002) 4012): a sphere of 15 mm, 6 cells, in oil.
const OIL: &str = r#"
[domain]
box = [0, 0, 0, 0.1, 0.1, 0.16]
root = "40x40x64"

[physics]
density = 965
viscosity = 2.19689e-4
velocity = 0.06

[gravity]
acceleration = [0, 0, -9.81]

[materials.nylon]
youngs_modulus = 1e6
density = 1120
restitution = 0.5
friction = 0.1

[[particles]]
center = [0.05, 0.05, 0.1275]
diameter = 0.015

[boundary]
"x-" = "no-slip"
"x+" = "no-slip"
"y-" = "no-slip"
"y+" = "no-slip"
"z-" = "no-slip"
"z+" = "no-slip"

[run]
seconds = 1.2

[output]
integrals_every = 20
report = false

[[output.write]]
kind = "particles"
every_steps = 100
"#;

/// A sphere above a ground of cut links.
const GROUND: &str = r#"
[mesh]
shape = "box:size=0.07x0.07x0.02"
translate = [0.024, 0.024, -0.0058]
domain = [0, 0, 0, 0.048, 0.048, 0.04]
root = 24
levels = 1

[physics]
density = 1000
viscosity = 1e-4
velocity = 0.05
length = 0.012

[gravity]
acceleration = [0, 0, -9.81]

[materials.glass]
youngs_modulus = 1e5
density = 1500
restitution = 0.3
friction = 0.3

[[particles]]
center = [0.0241, 0.024, 0.01021]
diameter = 0.012

[boundary]
"x-" = "no-slip"
"x+" = "no-slip"
"y-" = "no-slip"
"y+" = "no-slip"
"z-" = "no-slip"
"z+" = "no-slip"

[numerics]
precision = "f64"

[run]
steps = 1500

[output]
integrals_every = 100
report = false
"#;

fn case(folder: &Path, text: &str) -> Case {
    let mut case = Case::from_toml(text).unwrap_or_else(|e| panic!("{e}"));
    case.output.folder = Some(folder.to_owned());
    case
}

/// The speeds of `particles.csv`.
fn speeds(folder: &Path) -> Vec<f64> {
    let text = fs::read_to_string(folder.join("particles.csv")).expect("a table");
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let at = names.iter().position(|name| *name == "largest speed");
    let at = at.expect("speeds");
    let number = |line: &str| line.split(',').nth(at).expect("a column").parse();
    lines.map(|line| number(line).expect("a number")).collect()
}

#[test]
fn a_sphere_in_oil_falls_as_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let summary = case(&out, OIL)
        .run_with(&options(), &mut ())
        .expect("a run");
    // 0.953 of the speed in an infinite oil.
    let most = worst(speeds(&out));
    assert!((most / 0.06 / 0.953 - 1.0).abs() < 0.02, "{most}");
    let of = &summary.json["particles"];
    assert_eq!(of["spheres"], 1);
    assert!(of["contact_steps"].as_u64() > Some(1000), "{of}");
    let verdict = summary.json["verdict"].to_string();
    for row in ["overlap", "time step", "lost grains", "resolution"] {
        assert!(verdict.contains(row), "{row}: {verdict}");
    }
    assert_eq!(
        verdict.matches("\"grade\":\"doubtful\"").count(),
        2,
        "{verdict}"
    );
    assert!(out.join("particles_000000100.vtp").exists());
}

#[test]
fn a_body_of_cut_links_carries_a_sphere() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    case(&out, GROUND)
        .run_with(&options(), &mut ())
        .expect("a run");
    let net = PI / 6.0 * 0.012f64.powi(3) * 500.0 * 9.81;
    let carried = last(&out.join("loads.csv"), "body spheres z");
    assert!((carried / -net - 1.0).abs() < 2e-3, "{carried} {net}");
    let force = last(&out.join("particles.csv"), "fluid force z");
    assert!(force.abs() < 2e-3 * net, "{force} {net}");
    // A fixed one stays where the lid drags the fluid along.
    let out = folder.path().join("fixed");
    let text = replaced(
        GROUND,
        "\"z+\" = \"no-slip\"",
        "\"z+\" = { type = \"velocity\", velocity = [0.05, 0, 0] }",
    );
    let text = replaced(&text, "[run]", "[coupling]\nfixed = true\n\n[run]");
    case(&out, &text)
        .run_with(&options(), &mut ())
        .expect("a run");
    let particles = out.join("particles.csv");
    assert_eq!(last(&particles, "centre z"), 0.01021);
    assert!(last(&particles, "fluid force x").abs() > 1e-3 * net);
}

#[test]
fn a_resumed_run_has_the_same_bits() {
    let folder = tempfile::tempdir().expect("a folder");
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    let text = replaced(OIL, "seconds = 1.2", "steps = 120\nwatch = false");
    let text = replaced(&text, "integrals_every = 20", "integrals_every = 10");
    let one = |steps, resume| RunOptions {
        threads: 1,
        steps,
        resume,
        ..RunOptions::default()
    };
    case(&whole, &text)
        .run_with(&options(), &mut ())
        .expect("a run");
    case(&parts, &text)
        .run_with(&one(Some(50), false), &mut ())
        .expect("a run");
    case(&parts, &text)
        .run_with(&one(None, true), &mut ())
        .expect("a run");
    for name in [
        "particles.csv",
        "loads.csv",
        "integrals.csv",
        "particles_000000100.vtp",
        "step_000000000120.ckpt",
    ] {
        let [a, b] = [&whole, &parts].map(|folder| fs::read(folder.join(name)).expect(name));
        assert!(a == b && !a.is_empty(), "{name}");
    }
    // The comparison can fail.
    let other = folder.path().join("other");
    let text = replaced(&text, "0.1275]", "0.1274999]");
    case(&other, &text)
        .run_with(&one(None, false), &mut ())
        .expect("a run");
    let [a, b] = [&whole, &other].map(|of| fs::read(of.join("particles.csv")).expect("a table"));
    assert!(a != b, "another place");
}

#[test]
fn what_a_case_with_spheres_cannot_have_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |text: &str| {
        let error = match Case::from_toml(text) {
            Ok(mut case) => {
                case.output.folder = Some(folder.path().join("out"));
                case.plan(&options(), &mut ()).err()
            }
            Err(error) => Some(error),
        };
        let error = error.unwrap_or_else(|| panic!("not refused:\n{text}"));
        format!("{error} {}", error.hint.as_deref().unwrap_or_default())
    };
    let with = |from: &str, to: &str| refused(&replaced(OIL, from, to));
    for (said, by) in [
        (
            "spheres have no temperature",
            with("[run]", "[heat]\ntemperature = 300\n\n[run]"),
        ),
        (
            "16 bits",
            with("[run]", "[numerics]\nprecision = \"f16\"\n\n[run]"),
        ),
        (
            "eddy",
            with("[run]", "[numerics]\nles = \"smagorinsky\"\n\n[run]"),
        ),
        (
            "the mesh is to follow",
            with(
                "[run]",
                "[adapt]\nlevels = 2\nby = [{ what = \"vorticity\", refine = 1 }]\n\n[run]",
            ),
        ),
        ("too small", with("diameter = 0.015", "diameter = 0.009")),
        ("times the density", with("density = 1120", "density = 300")),
        (
            "materials.steel",
            with("diameter = 0.015", "diameter = 0.015\nmaterial = \"steel\""),
        ),
        ("one rank", {
            let mut case = Case::from_toml(OIL).expect("a case");
            case.output.folder = Some(folder.path().join("out"));
            let two = RunOptions {
                ranks: vec![2],
                ..options()
            };
            let error = case.run_with(&two, &mut ()).expect_err("two ranks");
            error.to_string()
        }),
    ] {
        assert!(by.contains(said), "{said}: {by}");
    }
    let spheres =
        &OIL[OIL.find("[[particles]]").expect("spheres")..OIL.find("[boundary]").expect("faces")];
    let without = replaced(OIL, spheres, "");
    let (without, _) = without.split_once("[[output.write]]").expect("an output");
    let weightless = replaced(without, "[gravity]\nacceleration = [0, 0, -9.81]\n", "");
    let said = refused(&weightless);
    assert!(
        said.contains("[materials]") && said.contains("[[particles]]"),
        "{said}"
    );
    let material = &OIL
        [OIL.find("[materials").expect("materials")..OIL.find("[[particles]]").expect("spheres")];
    let said = refused(&replaced(without, material, ""));
    assert!(said.contains("[gravity] is given"), "{said}");
}
