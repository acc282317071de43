//! Two-phase flow in boxes that move, from heights and velocities, with loads and gauges.

use crate::two_phase::{Columns, case, options};
use crate::worst::worst;
use cutlink::{ErrorKind, RunOptions};
use std::fs;
use std::path::Path;

/// A square tank of 32 cells that is half full; `more` are lines of tables.
fn tank(gravity: &str, more: &str) -> String {
    format!(
        r#"
[solver]
kind = "two-phase"
[phases]
liquid = {{ density = 1000, viscosity = 1e-3 }}
gas = {{ density = 1, viscosity = 1e-5 }}
[domain]
box = [0, 0, 1, 1]
root = 32
[gravity]
acceleration = {gravity}
[numerics]
dt = 0.005
[run]
steps = 30
[output]
integrals_every = 1
{more}
"#
    )
}

const HALF: &str = "[[liquid]]\nhalf_space = [0, 1, 0.5]\n";

/// The table of a run.
fn table(folder: &Path, text: &str, file: &str) -> Columns {
    case(folder, text)
        .run_with(&options(), &mut ())
        .expect("a run");
    Columns::read(&folder.join(file))
}

fn differ(a: &Columns, b: &Columns, columns: &[&str]) -> f64 {
    let of = |name: &&str| {
        let [a, b] = [a, b].map(|of| of.column(name));
        assert_eq!(a.len(), b.len());
        let off = a.iter().zip(&b).map(|(x, y)| (x - y).abs());
        worst(off.collect::<Vec<f64>>())
    };
    worst(columns.iter().map(of))
}

const MOVED: [&str; 4] = [
    "liquid centre x",
    "liquid centre y",
    "liquid velocity x",
    "largest velocity",
];

#[test]
fn a_box_that_is_pushed_or_tilted_is_one_with_another_gravity() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |name: &str, text: &str| table(&folder.path().join(name), text, "phases.csv");
    let pushed = format!("{HALF}[frame]\ntranslation = [\"t^2\", 0]\n");
    let pushed = run("pushed", &tank("[0, -9.81]", &pushed));
    let slanted = run("slanted", &tank("[-2, -9.81]", HALF));
    assert!(slanted.column("liquid centre x").last() < Some(&0.499));
    let off = differ(&pushed, &slanted, &MOVED);
    assert!(off < 1e-7, "{off:e}");
    // A box that is turned by 0.2 rad sees gravity turned back.
    let turned = format!("{HALF}[frame]\nangle = 0.2\ncenter = [3, -1]\n");
    let turned = run("turned", &tank("[0, -9.81]", &turned));
    let (sin, cos) = 0.2f64.sin_cos();
    let slanted = format!("[{}, {}]", -9.81 * sin, -9.81 * cos);
    let slanted = run("tilted", &tank(&slanted, HALF));
    let off = differ(&turned, &slanted, &MOVED);
    assert!(off < 1e-7, "{off:e}");
    // One that moves on at a speed is as one at rest.
    let even = format!("{HALF}[frame]\ntranslation = [\"3*t\", \"-t\"]\n");
    let even = run("even", &tank("[0, -9.81]", &even));
    let still = run("still", &tank("[0, -9.81]", HALF));
    assert_eq!(differ(&even, &still, &MOVED), 0.0);
    assert!(worst(still.column("largest velocity")) < 1e-6);
}

#[test]
fn a_kick_is_felt_once_whatever_the_step() {
    let folder = tempfile::tempdir().expect("a folder");
    // At a speed of 0.5 m/s from one moment on, within a step.
    let more = format!("{HALF}[frame]\ntranslation = [\"0.5*max(t - 0.0521, 0)\", 0]\n");
    let run = |dt: f64, steps: u64| {
        let text = tank("[0, -9.81]", &more)
            .replace("dt = 0.005", &format!("dt = {dt}"))
            .replace("steps = 30", &format!("steps = {steps}"));
        let found = table(&folder.path().join(format!("{steps}")), &text, "phases.csv");
        let last = |name: &str| *found.column(name).last().expect("a line");
        [last("liquid velocity x"), last("kinetic energy")]
    };
    let [coarse, fine] = [run(0.01, 6), run(0.00125, 48)];
    // The walls hold the lower part; what is near the surface stays behind.
    assert!(fine[0] < -0.02, "{fine:?}");
    for k in 0..2 {
        assert!(
            (coarse[k] / fine[k] - 1.0).abs() < 0.1,
            "{coarse:?} {fine:?}"
        );
    }
}

#[test]
fn loads_and_gauges_are_those_of_water_at_rest_and_go_on_to_the_bit() {
    let folder = tempfile::tempdir().expect("a folder");
    let [still, whole, parts] = ["still", "whole", "parts"].map(|name| folder.path().join(name));
    let gauges = "[[gauge]]\nname = \"a\"\nat = [0.3, 9]\n[[gauge]]\nname = \"down\"\nat = [0.3, 0]\naxis = \"y-\"\n";
    let text = tank("[0, -9.81]", &format!("{HALF}{gauges}"));
    let loads = table(&still, &text, "loads.csv");
    let weight = 9.81 * (1000.0 * 0.5 + 1.0 * 0.5);
    let [lower, upper] = ["y-", "y+"].map(|side| loads.column(&format!("{side} pressure y")));
    let off = lower.iter().zip(&upper).map(|(a, b)| a + b + weight);
    assert!(worst(off.map(f64::abs)) < 1e-6 * weight);
    // Over the mean of the gas, at 3/4 of the height.
    let floor = 9.81 * (1000.0 * 0.5 + 1.0 * 0.25);
    assert!(worst(lower.iter().map(|f| (f + floor).abs())) < 1e-6 * weight);
    // Of the force of each side, ρ g h²/2 at h/3 above the floor, and of the gas.
    let side = 9.81 * (0.5 * 1000.0 * 0.25 + 1.0 * 0.25 * 0.5);
    let found = loads.column("x+ pressure x");
    // The cells at the surface are full or empty: the middle of each carries its mean.
    assert!(
        worst(found.iter().map(|f| (f / side - 1.0).abs())) < 1e-6,
        "{found:?}"
    );
    let gauges = Columns::read(&still.join("gauges.csv"));
    assert!(worst(gauges.column("a length").iter().map(|x| (x - 0.5).abs())) < 1e-9);
    assert!(worst(gauges.column("a top").iter().map(|x| (x - 0.5).abs())) < 1e-9);
    assert!(worst(gauges.column("down top").iter().map(|x| x.abs())) < 1e-9);

    let frame = "[frame]\ntranslation = [\"0.1*sin(9*t)\", 0]\nangle = \"0.2*sin(7*t)\"\n";
    let text = tank(
        "[0, -9.81]",
        &format!("{HALF}{frame}[[gauge]]\nname = \"a\"\nat = [0.3, 0]\n[adapt]\nlevels = 2\n"),
    );
    case(&whole, &text)
        .run_with(&options(), &mut ())
        .expect("a run");
    let half = RunOptions {
        steps: Some(12),
        ..options()
    };
    case(&parts, &text).run_with(&half, &mut ()).expect("a run");
    let rest = RunOptions {
        resume: true,
        threads: 1,
        ..options()
    };
    case(&parts, &text).run_with(&rest, &mut ()).expect("a run");
    for file in ["phases.csv", "loads.csv", "gauges.csv"] {
        let [a, b] = [&whole, &parts].map(|f| fs::read(f.join(file)).expect("a table"));
        assert!(a == b, "{file}");
    }
    let [first, last] = {
        let tops = Columns::read(&whole.join("gauges.csv")).column("a top");
        [tops[0], tops[tops.len() - 1]]
    };
    assert!((first - last).abs() > 1e-3, "{first} {last}");
}

#[test]
fn liquid_below_a_height_has_its_volume_and_a_start_its_velocity() {
    let folder = tempfile::tempdir().expect("a folder");
    let more = r#"
[[liquid]]
level = "0.5 + 0.1*cos(pi*x)^2"
[initial]
velocity = ["y - 0.5", "0.5 - x"]
"#;
    let found = table(folder.path(), &tank("[0, -9.81]", more), "phases.csv");
    let volume = found.column("liquid volume");
    // By the trapezoidal rule over 128 intervals: exact for a wave.
    assert!(
        worst(volume.iter().map(|v| (v - 0.55).abs())) < 1e-12,
        "{volume:?}"
    );
    let space = tank(
        "[0, 0, -9.81]",
        "[[liquid]]\nlevel = \"0.5 + 0.1*x - 0.2*y\"\n",
    )
    .replace("[0, 0, 1, 1]", "[0, 0, 0, 1, 1, 1]")
    .replace("root = 32", "root = 8")
    .replace("steps = 30", "steps = 1");
    let found = table(&folder.path().join("space"), &space, "phases.csv");
    assert!((found.column("liquid volume")[0] - 0.45).abs() < 1e-12);

    // A vortex in a closed box, of one density: what is left of rigid rotation has the energy of a twisted bar.
    let one = tank("[0, 0]", "[[liquid]]\nball = [0.5, 0.5, 0.2]\n[initial]\nvelocity = [\"y - 0.5\", \"0.5 - x\"]\n[boundary]\n\"x-\" = \"free-slip\"\n\"x+\" = \"free-slip\"\n\"y-\" = \"free-slip\"\n\"y+\" = \"free-slip\"\n")
        .replace("density = 1000", "density = 1")
        .replace("steps = 30", "steps = 1");
    let found = table(&folder.path().join("vortex"), &one, "phases.csv");
    let energy = found.column("kinetic energy")[0] / (0.5 * 0.140_577_0);
    assert!((energy - 1.0).abs() < 0.02, "{energy}");
}

#[test]
fn keys_that_make_no_sense_are_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    for (more, expected) in [
        ("[frame]\nangle = \"t\"\naxis = [0, 0, 1]\n", "[frame] axis"),
        ("[frame]\ntranslation = [\"t\"]\n", "[frame] translation"),
        ("[frame]\ntranslation = [\"x\", 0]\n", "[frame] translation"),
        ("[frame]\ntranslation = [\"log(t)\", 0]\n", "[frame]"),
        ("[frame]\nspeed = 3\n", "speed"),
        ("[[gauge]]\nat = [0.5, 0]\n", "[[gauge]] name"),
        (
            "[[gauge]]\nname = \"a\"\nat = [1.5, 0]\n",
            "outside of the box along x",
        ),
        (
            "[[gauge]]\nname = \"a\"\nat = [0.5, 0]\naxis = \"z+\"\n",
            "axis is \"z+\"",
        ),
        (
            "[[gauge]]\nname = \"a\"\nat = [0.5, 0]\n[[gauge]]\nname = \"a\"\nat = [0.6, 0]\n",
            "two [[gauge]] are named \"a\"",
        ),
        (
            "[initial]\nvelocity = [\"1/x*0 + log(x - 0.5)\", 0]\n",
            "[initial] velocity",
        ),
        ("[initial]\nvelocity = [\"t\", 0]\n", "[initial] velocity"),
        ("[initial]\nvelocity = [1]\n", "[initial] velocity"),
        (
            "[output.averages]\nevery_steps = 2\n[[output.write]]\nkind = \"picture\"\nquantity = \"pressure\"\naverage = \"mean\"\n",
            "average of the pressure",
        ),
        ("[[liquid]]\nlevel = \"y\"\n", "[[liquid]] 2"),
        ("[[liquid]]\nlevel = \"log(x - 0.5)\"\n", "[[liquid]] 2"),
        (
            "[[liquid]]\nlevel = 0.3\nball = [0.5, 0.5, 0.1]\n",
            "is no shape",
        ),
    ] {
        let text = tank("[0, -9.81]", &format!("{HALF}{more}"));
        let read = cutlink::TwoPhaseCase::from_toml(&text);
        let error = match read {
            Err(error) => error,
            Ok(_) => case(folder.path(), &text)
                .run_with(&options(), &mut ())
                .expect_err(expected),
        };
        assert_eq!(error.kind, ErrorKind::Input, "{error}");
        assert!(error.to_string().contains(expected), "{expected}: {error}");
    }
}
