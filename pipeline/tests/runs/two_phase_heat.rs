//! Cases of two-phase flows with heat.

use crate::two_phase::{case, options, whole_as_in_parts};
use std::fs;

/// A warm column breaks in a box with a hot body and a heated floor; the mesh follows the interface.
const WARM: &str = r#"
[solver]
kind = "two-phase"

[domain]
box = [0, 0, 1, 0.5]
root = 16

[adapt]
levels = 3

[phases]
liquid = { density = 1000, viscosity = 1e-3, heat_capacity = 4180, conductivity = 0.6, expansion = 2e-4 }
gas = { density = 1.2, viscosity = 1.8e-5, heat_capacity = 1005, conductivity = 0.026, expansion = 3e-3 }

[heat]
temperature = "290 + 40*(1 - x)"
reference = 300

[gravity]
acceleration = [0, -9.81]

[numerics]
dt = 0.02

[[liquid]]
box = [0, 0, 0.2, 0.2]

[[body]]
box = [0.6, 0, 0.66, 0.1]

[[body]]
box = [0.8, 0, 0.9, 0.1]
temperature = 400

[boundary]
"y-" = { type = "no-slip", heat_flux = 500 }
"y+" = { type = "pressure", temperature = 280 }

[run]
steps = 12

[output]
integrals_every = 1

[[output.write]]
kind = "probes"
points = [[0.1, 0.05]]
"#;

#[test]
fn a_run_with_heat_resumes_and_its_powers_add_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let tables = ["heat.csv", "probes.csv", "phases.csv"];
    let (whole, summary) = whole_as_in_parts(folder.path(), 5, tables, |folder, options| {
        case(folder, WARM).run_with(options, &mut ())
    });
    let table = fs::read_to_string(whole.join("heat.csv")).expect("a table");
    let mut lines = table.lines();
    assert_eq!(
        lines.next(),
        Some(
            "step,time (s),heat,y- power,y+ power,body 2 power,lowest temperature,highest temperature"
        )
    );
    let lines: Vec<Vec<f64>> = lines
        .map(|line| {
            line.split(',')
                .map(|x| x.parse().expect("a number"))
                .collect()
        })
        .collect();
    assert_eq!(lines.len(), 13, "{table}");
    // A metre, less 4 and 7 cells below the bodies.
    let floor = 500.0 * (1.0 - 11.0 / 64.0);
    let found = lines[12][3];
    assert!((found / floor - 1.0).abs() < 1e-9, "{found} of {floor} W");
    assert!(lines[12][5] > 0.0, "the body heats");
    let came: f64 = lines[1..].iter().map(|l| 0.02 * (l[3] + l[4] + l[5])).sum();
    let change = lines[12][2] - lines[0][2];
    assert!(
        (change - came).abs() < 1e-8 * lines[0][2],
        "{change} of {came} J"
    );
    let heat = &summary.json["heat"];
    let told = heat["change"].as_f64().expect("a number");
    assert!((told - change).abs() < 1e-6 * change.abs(), "{heat}");
    let checks = summary.json["verdict"]["checks"].to_string();
    assert!(checks.contains("\"heat\""), "{checks}");
    assert_ne!(summary.verdict(), Some("wrong"), "{checks}");
}

#[test]
fn heat_and_spheres_are_refused() {
    let text = format!("{WARM}\n[[particles]]\ncenter = [0.5, 0.2, 0.5]\n");
    let folder = tempfile::tempdir().expect("a folder");
    let error = case(folder.path(), &text)
        .run_with(&options(), &mut ())
        .expect_err("no such flow");
    assert!(error.to_string().contains("[[particles]]"), "{error}");
}

/// A slab between 300 and 340 that starts at 320: what comes in by one wall leaves by the other all the time.
const SLAB: &str = r#"
[solver]
kind = "two-phase"

[domain]
box = [0, 0, 1, 0.25]
root = 32

[phases]
liquid = { density = 1, viscosity = 1, heat_capacity = 1, conductivity = 1 }
gas = { density = 1, viscosity = 1, heat_capacity = 1, conductivity = 1 }

[heat]
temperature = 320

[numerics]
dt = 1e-4

[boundary]
"x-" = { type = "free-slip", temperature = 340 }
"x+" = { type = "free-slip", temperature = 300 }

[run]
settle = 1e-3
most = 4000

[output]
integrals_every = 8
"#;

#[test]
fn a_slab_settles_when_its_temperature_is_straight() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = case(folder.path(), SLAB).run_with(&options(), &mut ());
    run.expect("a run");
    let table = fs::read_to_string(folder.path().join("heat.csv")).expect("a table");
    let last = table.lines().last().expect("a line");
    let last: Vec<f64> = last
        .split(',')
        .map(|x| x.parse().expect("a number"))
        .collect();
    let [step, power] = [last[0], last[3]];
    assert!(step < 4000.0, "not settled: {table}");
    // 40 K over a metre, 0.25 m high; 14 W after a quarter of the time.
    assert!(
        (power / 10.0 - 1.0).abs() < 5e-3,
        "{power} W in step {step}"
    );
    let never = SLAB.replace("integrals_every = 8", "integrals_every = 0");
    let refused = case(folder.path(), &never).run_with(&options(), &mut ());
    let error = refused.expect_err("no lines to settle by");
    assert!(error.to_string().contains("settle"), "{error}");
}
