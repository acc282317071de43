//! Cases of two-phase flow with spheres: forces that are known, volume, resume to the bit, forecasts, refusals.

use crate::two_phase::{case, options};
use crate::worst::worst;
use cutlink::{ErrorKind, RunOptions, TwoPhaseCase};
use std::{f64::consts::PI, fs, path::Path};

/// A sphere near the floor of a box of oil, 4.8 cells wide.
const OIL: &str = r#"
[solver]
kind = "two-phase"

[domain]
box = [0, 0, 0, 0.04, 0.04, 0.04]
root = 16

[phases]
liquid = { density = 1000, viscosity = 0.5 }
gas = { density = 1.2, viscosity = 1.8e-5 }

[gravity]
acceleration = [0, 0, -9.81]

[[liquid]]
box = [0, 0, 0, 0.04, 0.04, 0.04]

[materials.glass]
youngs_modulus = 1e6
density = 2500
restitution = 0.3
friction = 0.3

[[particles]]
center = [0.02, 0.02, 0.00605]
radius = 0.006

[numerics]
dt = 0.005

[run]
steps = 20

[output]
integrals_every = 1
report = false
"#;

/// Two spheres, one of which falls through the surface of water onto the other, with a mesh that follows; the box is closed.
const SPLASH: &str = r#"
[solver]
kind = "two-phase"

[domain]
box = [0, 0, 0, 0.04, 0.04, 0.06]
root = "8x8x12"

[adapt]
levels = 2
margin = 3

[phases]
liquid = { density = 1000, viscosity = 0.05 }
gas = { density = 10, viscosity = 1e-3 }

[interface]
surface_tension = 0.07

[gravity]
acceleration = [0, 0, -9.81]

[[liquid]]
half_space = [0, 0, 1, 0.025]

[materials.glass]
youngs_modulus = 3e6
density = 2500
restitution = 0.3
friction = 0.3

[[particles]]
center = [0.02, 0.02, 0.0352]
radius = 0.006
velocity = [0.1, 0, -0.8]

[[particles]]
center = [0.021, 0.02, 0.0131]
radius = 0.0056

[numerics]
dt = 0.004

[run]
steps = 9

[output]
integrals_every = 1
report = false

[[output.write]]
kind = "particles"
every_steps = 3

[[output.write]]
kind = "render"
particles = "speed"
isosurface = { field = "alpha", value = 0.5 }
camera = { from = [-0.1, -0.2, 0.1], at = [0.02, 0.02, 0.03], height = 0.09 }
width = 200

[[output.write]]
kind = "slice"
fields = ["alpha", "solid-fraction", "velocity"]
axis = "y"
"#;

/// A table by the names of its columns.
pub(crate) fn column(path: &Path, name: &str) -> Vec<f64> {
    let text = fs::read_to_string(path).expect("a table");
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let at = names.iter().position(|own| *own == name);
    let at = at.unwrap_or_else(|| panic!("a column {name} of {names:?}"));
    let number = |line: &str| line.split(',').nth(at).expect("a column").parse();
    lines.map(|line| number(line).expect("a number")).collect()
}

pub(crate) fn last(path: &Path, name: &str) -> f64 {
    *column(path, name).last().expect("lines")
}

/// The sum of all forces on walls along z at the end.
fn on_walls(loads: &Path) -> f64 {
    let text = fs::read_to_string(loads).expect("a table");
    let mut lines = text.lines().map(|line| line.split(','));
    let names: Vec<&str> = lines.next().expect("a header").collect();
    let is_force = |name: &str| {
        let of = ["pressure z", "friction z", "spheres z"];
        of.iter().any(|end| name.ends_with(end))
    };
    let last = lines.next_back().expect("lines");
    let forces = last.zip(names).filter(|(_, name)| is_force(name));
    forces
        .map(|(x, _)| x.parse::<f64>().expect("a number"))
        .sum()
}

pub(crate) fn replaced(text: &str, from: &str, to: &str) -> String {
    let new = text.replace(from, to);
    assert_ne!(new, text, "{from}");
    new
}

/// Volume and weight of the sphere in the oil.
fn ball() -> (f64, f64) {
    let volume = 4.0 / 3.0 * PI * 0.006f64.powi(3);
    (volume, volume * 2500.0 * 9.81)
}

#[test]
fn a_sphere_on_the_floor_weighs_what_it_weighs_in_oil() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let summary = case(&out, OIL)
        .run_with(&options(), &mut ())
        .expect("a run");
    let (volume, weight) = ball();
    let net = weight - volume * 1000.0 * 9.81;
    let [loads, particles] = ["loads.csv", "particles.csv"].map(|name| out.join(name));
    let floor = last(&loads, "z- spheres z");
    assert!((floor / -net - 1.0).abs() < 1e-3, "{floor} and {net}");
    // Buoyancy.
    let force = last(&particles, "fluid force z");
    assert!(
        (force / (volume * 9810.0) - 1.0).abs() < 1e-3,
        "{force} of {}",
        volume * 9810.0
    );
    // All walls together carry all weights; those of the fluid, at cells that the sphere fills, to a part of its net weight.
    let all = on_walls(&loads);
    let expected = -(1000.0 * 0.04f64.powi(3) * 9.81 + net);
    assert!((all - expected).abs() < 0.08 * net, "{all} and {expected}");
    let json = &summary.json["particles"];
    assert_eq!(json["spheres"], 1);
    assert_eq!(json["wall_contacts"], 1);
    assert!(json["contact_steps"].as_u64() > Some(20), "{json}");
    assert!(last(&particles, "largest speed") < 1e-4);
    let verdict = summary.json["verdict"].to_string();
    for row in ["overlap", "time step", "lost grains", "volume", "Courant"] {
        assert!(verdict.contains(row), "{row}: {verdict}");
    }
    // Few cells across the sphere; nothing else is doubtful.
    assert_eq!(summary.verdict(), Some("doubtful"), "{verdict}");
    assert_eq!(
        verdict.matches("\"grade\":\"doubtful\"").count(),
        2,
        "{verdict}"
    );
    // Of the potential energy: at rest, above the floor by a radius.
    let height = last(&particles, "centre z");
    let energy = last(&particles, "potential energy");
    assert!((energy / (weight * height) - 1.0).abs() < 1e-12, "{energy}");
}

#[test]
fn a_fixed_sphere_has_its_buoyancy_and_a_body_carries_what_lies_on_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (volume, weight) = ball();
    let buoyancy = volume * 9810.0;
    let out = folder.path().join("fixed");
    let text = replaced(OIL, "0.00605]", "0.021]");
    let text = replaced(&text, "[run]", "[coupling]\nfixed = true\n\n[run]");
    case(&out, &text)
        .run_with(&options(), &mut ())
        .expect("a run");
    let particles = out.join("particles.csv");
    let force = last(&particles, "fluid force z");
    assert!((force / buoyancy - 1.0).abs() < 5e-4, "{force} {buoyancy}");
    assert_eq!(last(&particles, "centre z"), 0.021);
    assert!(last(&out.join("phases.csv"), "largest velocity") < 1e-4);
    // The walls carry the fluid, and what the sphere displaces; what holds it is no wall.
    let (all, oil) = (on_walls(&out.join("loads.csv")), 0.04f64.powi(3) * 9810.0);
    assert!((all / -oil - 1.0).abs() < 1e-5, "{all} and {oil}");
    // It would sink, were it not fixed.
    let out = folder.path().join("free");
    let text = replaced(OIL, "0.00605]", "0.021]");
    case(&out, &text)
        .run_with(&options(), &mut ())
        .expect("a run");
    let particles = out.join("particles.csv");
    assert!(last(&particles, "centre z") < 0.02);
    let force = last(&particles, "fluid force z");
    assert!(force > 1.5 * buoyancy && force < weight * 1.01, "{force}");
    // Nearly without acceleration, the walls carry all.
    let all = on_walls(&out.join("loads.csv"));
    let expected = -(oil + weight - buoyancy);
    assert!((all / expected - 1.0).abs() < 1e-3, "{all} and {expected}");

    let out = folder.path().join("body");
    let text = replaced(OIL, "0.00605]", "0.01605]");
    let text = replaced(
        &text,
        "[run]",
        "[[body]]\nbox = [0.0051, 0.0051, -0.01, 0.0349, 0.0349, 0.01]\n\n[run]",
    );
    case(&out, &text)
        .run_with(&options(), &mut ())
        .expect("a run");
    let carried = last(&out.join("loads.csv"), "body-1 spheres z");
    assert!(
        (carried / (buoyancy - weight) - 1.0).abs() < 1e-3,
        "{carried} and {}",
        buoyancy - weight
    );
}

#[test]
fn a_splash_keeps_the_liquid_and_a_resumed_run_has_the_same_bits() {
    let folder = tempfile::tempdir().expect("a folder");
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    let summary = case(&whole, SPLASH)
        .run_with(&options(), &mut ())
        .expect("a run");
    let change = summary.json["volume_change"].as_f64().expect("a number");
    assert!(change.abs() < 1e-12, "{change}");
    let volumes = column(&whole.join("phases.csv"), "liquid volume");
    assert!(worst(volumes.iter().map(|v| (v / 4e-5 - 1.0).abs())) < 1e-12);
    let pairs = column(&whole.join("particles.csv"), "pairs");
    assert!(pairs.contains(&1.0), "they met: {pairs:?}");
    let one = |steps, resume| RunOptions {
        threads: 1,
        steps,
        resume,
        ..RunOptions::default()
    };
    case(&parts, SPLASH)
        .run_with(&one(Some(5), false), &mut ())
        .expect("a run");
    case(&parts, SPLASH)
        .run_with(&one(None, true), &mut ())
        .expect("a run");
    for name in [
        "phases.csv",
        "particles.csv",
        "loads.csv",
        "particles_000000003.vtp",
        "particles_000000009.vtp",
        "particles.vtp.series",
        "render_000000009.png",
        "slice_000000009.vtu",
        "step_000000000009.ckpt",
    ] {
        let [a, b] = [&whole, &parts].map(|folder| fs::read(folder.join(name)).expect(name));
        assert!(a == b && !a.is_empty(), "{name}");
    }
    // The comparison can fail.
    let other = folder.path().join("other");
    let text = replaced(SPLASH, "[0.1, 0, -0.8]", "[0.1, 0, -0.8000001]");
    case(&other, &text)
        .run_with(&one(Some(3), false), &mut ())
        .expect("a run");
    let [a, b] = [&whole, &other]
        .map(|folder| fs::read(folder.join("particles_000000003.vtp")).expect("spheres"));
    assert!(a != b, "another velocity");
    // A checkpoint of other spheres is none of these.
    let text = replaced(SPLASH, "radius = 0.0056", "radius = 0.0055");
    let error = case(&parts, &text)
        .run_with(&one(Some(10), true), &mut ())
        .expect_err("other spheres");
    assert_eq!(error.kind, ErrorKind::Input, "{error}");
}

#[test]
fn a_forecast_has_cells_a_diameter_and_steps_of_contacts() {
    let plan = TwoPhaseCase::from_toml(SPLASH)
        .expect("a case")
        .plan(&options(), &mut ())
        .expect("a plan");
    let of = &plan.json["particles"];
    assert_eq!(of["spheres"], 2);
    let cells = of["cells_a_diameter"][0].as_f64().expect("a number");
    assert!((cells - 0.0112 / 0.0025).abs() < 1e-9, "{cells}");
    let number = |key: &str| of[key].as_f64().expect("a number");
    let steps = (number("dt") / number("contact_dt")).ceil();
    assert_eq!(number("contact_steps"), steps);
    // The Courant number of the first one, 0.4 cells.
    let speed = 0.65f64.sqrt();
    assert!((number("dt") / (0.4 * 0.0025 / speed) - 1.0).abs() < 1e-9);
    for word in [
        "2 spheres",
        "of contacts",
        "the interface and the spheres",
        "Hertz",
    ] {
        assert!(plan.text.contains(word), "{word}: {}", plan.text);
    }
    // The lower 12 root blocks have spheres or the interface near them, 8 above have not.
    let text = replaced(SPLASH, "0.04, 0.04, 0.06]", "0.04, 0.04, 0.1]");
    let tall = TwoPhaseCase::from_toml(&replaced(&text, "8x8x12", "8x8x20"));
    let plan = tall.expect("a case").plan(&options(), &mut ());
    let cells = &plan.expect("a plan").json["cells"];
    assert_eq!(*cells, 12 * 8 * 64 + 8 * 64);
}

/// The case of oil without spheres and their keys.
fn oil_alone() -> String {
    let text = replaced(
        OIL,
        "[[particles]]\ncenter = [0.02, 0.02, 0.00605]\nradius = 0.006\n",
        "",
    );
    let from = text.find("[materials.glass]").expect("materials");
    let to = text.find("[numerics]").expect("numerics");
    format!("{}{}", &text[..from], &text[to..])
}

#[test]
fn spheres_run_on_the_devices_that_flows_run_on() {
    let alone = oil_alone();
    let on = |text: &str, device: &str| {
        let options = RunOptions {
            device: Some(device.parse().expect("a device")),
            ..options()
        };
        let case = TwoPhaseCase::from_toml(text).expect("a case");
        let plan = case.plan(&options, &mut ());
        plan.map(|plan| plan.json["device"].clone())
    };
    for device in ["cpu", "auto", "cuda"] {
        match [on(OIL, device), on(&alone, device)] {
            [Ok(with), Ok(without)] => assert_eq!(with, without, "{device}"),
            [Err(with), Err(without)] => assert_eq!(with.to_string(), without.to_string()),
            differ => panic!("{device}: {differ:?}"),
        }
    }
    assert_eq!(on(OIL, "cpu").expect("a plan")["name"], "cpu");
}

/// The case of oil with more tables.
fn with(tables: &str) -> String {
    replaced(OIL, "[run]", &format!("{tables}\n\n[run]"))
}

/// Cases, what their errors say, and what the hints do.
fn refused(cases: &[(String, &str, &str)]) {
    let mut wrong = Vec::new();
    for (text, what, hint) in cases {
        let case = TwoPhaseCase::from_toml(text).expect("a case");
        let Err(error) = case.plan(&options(), &mut ()) else {
            wrong.push(format!("{what}: no error"));
            continue;
        };
        let (said, found) = (error.to_string(), error.hint.unwrap_or_default());
        let is_right = said.contains(what) && found.contains(hint);
        if !is_right || error.kind != ErrorKind::Input {
            wrong.push(format!("{what} ({hint}): {said}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn spheres_that_cannot_be_are_refused_with_count_place_and_key() {
    let block = |keys: &str| replaced(OIL, "center = [0.02, 0.02, 0.00605]\nradius = 0.006", keys);
    refused(&[
        (
            block("box = [0, 0, 0, 0.04, 0.04, 0.04]\nradius = 0.0049\nspacing = 0.01"),
            "64 spheres are less than 4 of the finest cells wide; the first is [[particles]] 1, sphere 1, at",
            "[adapt]",
        ),
        (
            replaced(OIL, "0.00605]", "0.005]"),
            "1 grains reach into a wall of the box",
            "openings hold them",
        ),
        (
            replaced(OIL, "0.00605]", "0.05]"),
            "1 grains are outside of the box",
            "[domain] box",
        ),
        (
            with("[[particles]]\ncenter = [0.02, 0.02, 0.017]\nradius = 0.006"),
            "the first is grains 0 and 1",
            "max_overlap",
        ),
        (
            replaced(OIL, "dt = 0.005", "dt = 0.005\ncontact_step = 0.01"),
            "beyond the Rayleigh limit",
            "[numerics] contact_step",
        ),
        (
            replaced(OIL, "dt = 0.005", "dt = 0.005\nmax_overlap = 1"),
            "[numerics] max_overlap is 1",
            "below 1",
        ),
        (
            replaced(OIL, "density = 2500\n", ""),
            "[materials.glass] density is missing",
            "spheres",
        ),
    ]);
    // In 2D.
    let dam = include_str!("../../src/solve/examples/dam.toml");
    let text = format!("{dam}\n[[particles]]\ncenter = [0.1, 0.1, 0]\nradius = 0.02\n");
    let error = TwoPhaseCase::from_toml(&text)
        .expect("a case")
        .plan(&options(), &mut ())
        .expect_err("in 2D");
    assert!(
        error
            .to_string()
            .contains("[[particles]] are given, and the box is in 2D"),
        "{error}"
    );
}

#[test]
fn tables_that_cannot_be_with_spheres_are_refused() {
    refused(&[
        (
            replaced(
                OIL,
                "viscosity = 0.5 }\ngas = { density = 1.2, viscosity = 1.8e-5 }",
                "viscosity = 0 }\ngas = { density = 1.2 }",
            ),
            "[[particles]] are given, and the fluids have no viscosity",
            "viscosity",
        ),
        (
            with("[frame]\nangle = \"0.1*t\"\naxis = [0, 0, 1]"),
            "[frame] angle is given, and there are [[particles]]",
            "shifted",
        ),
        (
            with("[coupling]\ndrive = [1, 0, 0]"),
            "[coupling] drive is along x",
            "periodic",
        ),
        (
            with("[coupling]\ndrive = [1, 0]"),
            "[coupling] drive has 2 numbers",
            "3 finite",
        ),
        (
            with("[materials.steel]\nyoungs_modulus = 1e6\nrestitution = 0.5\nfriction = 0.1"),
            "[boundary] x-: material is missing",
            "glass, steel",
        ),
        (
            with("[boundary]\n\"x-\" = { type = \"no-slip\", material = \"glas\" }"),
            "there is no [materials.glas]",
            "did you mean `glass`",
        ),
        (
            with("[[body]]\nshape = \"sphere:r=0.008\"\ntranslate = [0.02, 0.02, 0.01]"),
            "1 grains are on the wrong side of the surface",
            "[[body]]",
        ),
        (
            with(
                "[[wall]]\nshape = \"box:size=0.02x0.02x0.002\"\ntranslate = [0.02, 0.02, 0.0121]",
            ),
            "1 grains reach into the surface",
            "radius away",
        ),
        (
            with("[[refine]]\nbox = [0, 0, 0, 0.01, 0.01, 0.01]")
                .replace("root = 16", "root = 8\nlevels = 2"),
            "a grain reaches a cell of level 0",
            "[adapt]",
        ),
    ]);
}

#[test]
fn keys_of_spheres_are_refused_without_spheres() {
    let no_spheres = |keys: &str| replaced(&oil_alone(), "[run]", &format!("{keys}\n\n[run]"));
    refused(&[
        (
            no_spheres("[materials.glass]\nyoungs_modulus = 1e6"),
            "[materials] is given, and there are no [[particles]]",
            "remove it",
        ),
        (
            no_spheres("[coupling]\nfixed = true"),
            "[coupling] is given, and there are no [[particles]]",
            "remove it",
        ),
        (
            no_spheres("[[wall]]\nshape = \"sphere:r=0.01\""),
            "[[wall]] is given, and there are no [[particles]]",
            "remove it",
        ),
        (
            no_spheres("[boundary]\n\"z+\" = { type = \"no-slip\", material = \"glass\" }"),
            "[boundary] z+: material is given, and there are no [[particles]]",
            "remove it",
        ),
    ]);
}
