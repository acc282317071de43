//! The time step that a run chooses anew once it knows its pressures: a bend behind a gate, whose jet no law foresees; channels, whose
//! pressures are known; what rules a pilot out; stops and resumed runs.

use cutlink::{Case, ErrorKind, Observer, RunOptions, RunSummary, StopToken};
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

/// A channel of width 1 that turns upwards, with a gate that leaves a quarter of the way.
const BEND: &str = r#"
[mesh]
file = ["BLOCK", "GATE"]
domain = [0, 0, 3, 3]
root = 48
levels = 1
no-picture = true

[physics]
re = 5
length = 1
velocity = 1

[numerics]
collision = "trt"
wall = "bounce-back"
allow_unstable = true

[boundary]
"x+" = { type = "velocity", velocity = ["if(y<1,-6*y*(1-y),0)", 0] }
"y+" = "pressure"
"x-" = "no-slip"
"y-" = "no-slip"

[run]
seconds = 4
"#;

/// Writes a rectangle as a closed line.
fn rectangle(folder: &Path, name: &str, [x0, y0, x1, y1]: [f64; 4]) -> PathBuf {
    let mut text = String::new();
    for (x, y) in [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)] {
        writeln!(text, "{x} {y}").expect("a string takes all");
    }
    let path = folder.join(name);
    fs::write(&path, text).expect("disk space");
    path
}

/// The bend, with its results in a folder of this name.
fn bend(place: &Path, name: &str, change: impl Fn(String) -> String) -> Case {
    let block = rectangle(place, "block.dat", [1.0, 1.0, 4.0, 4.0]);
    let gate = rectangle(place, "gate.dat", [-1.0, 1.5, 0.75, 1.75]);
    let of = |path: PathBuf| path.display().to_string();
    let text = BEND.replace("BLOCK", &of(block)).replace("GATE", &of(gate));
    let mut case = Case::from_toml(&change(text)).expect("a case");
    case.output.folder = Some(place.join(name));
    case
}

fn with_velocity(text: &str, velocity: f64) -> String {
    text.replace(
        "length = 1\n",
        &format!("length = 1\nlattice_velocity = {velocity:?}\n"),
    )
}

/// The pressure variation, the drag of the gate, and the changes by the pilot.
fn found(summary: &RunSummary) -> (f64, f64, Vec<serde_json::Value>) {
    let json = &summary.json;
    let delta = json["compressibility"]["pressure_variation"].as_f64();
    let drag = json["patches"]["gate"]["C_L"]["mean"].as_f64();
    let changes = json["pilot"].as_array().expect("a list").clone();
    (delta.expect("a number"), drag.expect("a number"), changes)
}

/// Step and time of the first and the last line of `forces.csv`.
fn ends(folder: &Path) -> [[f64; 2]; 2] {
    let text = fs::read_to_string(folder.join("forces.csv")).expect("a file");
    let line = |line: &str| {
        let mut words = line.split(',').map(|word| word.parse::<f64>());
        let mut next = || words.next().expect("a column").expect("a number");
        [next(), next()]
    };
    let first = text.lines().nth(1).expect("a line");
    [line(first), line(text.lines().last().expect("a line"))]
}

#[test]
fn a_pilot_finds_the_time_step_of_a_pressure_that_was_not_foreseen() {
    let place = tempfile::tempdir().expect("a folder");
    let run = |name: &str, velocity: Option<f64>| {
        let given = |text: String| match velocity {
            Some(velocity) => with_velocity(&text, velocity) + "accept = [\"compressibility\"]\n",
            None => text,
        };
        bend(place.path(), name, given).run(&mut ()).expect("a run")
    };
    let piloted = run("piloted", None);
    let (delta, drag, changes) = found(&piloted);
    let change = changes.last().expect("a change");
    let velocity = |n: usize| change["lattice_velocity"][n].as_f64().expect("a number");
    let [before, after] = [velocity(0), velocity(1)];
    assert!(after < 0.7 * before, "{before} to {after}");
    // With what was chosen first, and with half of what was chosen then; walls of TRT do not depend on the time step.
    let (delta_before, drag_before, none) = found(&run("before", Some(before)));
    assert_eq!(none, [0; 0], "a given time step stays");
    let (_, reference, _) = found(&run("reference", Some(after / 2.0)));
    let off = |drag: f64| (drag / reference - 1.0).abs();
    assert!(
        delta_before > 0.03 && delta < 0.02,
        "{delta_before}, {delta}"
    );
    assert!(
        off(drag_before) > 3.0 * off(drag) && off(drag) < 2e-3,
        "{reference}: {drag_before}, {drag}"
    );
    // The rule turned round, by hand: 1 % of ρ c² at most, of what was measured.
    let measured = change["pressure_variation"].as_f64().expect("a number");
    let by_hand = before * (0.01 / measured).sqrt();
    assert!(
        (after / by_hand - 1.0).abs() < 1e-9,
        "{after} for {by_hand}"
    );
    // One axis of time, which goes on.
    let number = |of: &serde_json::Value| of.as_f64().expect("a number");
    let (steps, time) = (&change["steps"], number(&change["time"]));
    let [first, last] = ends(&place.path().join("piloted"));
    let step = last[1] / last[0];
    assert_eq!(first[0], number(&steps[1]) + 1.0);
    assert!(
        (first[1] - time).abs() < 1.6 * step,
        "{first:?} after {time} s"
    );
    assert!((last[1] - 4.0).abs() < step, "{last:?}");
    let per_step = after / before * time / number(&steps[0]);
    assert!((step / per_step - 1.0).abs() < 1e-6, "{step} s a step");
}

#[test]
fn what_is_right_or_given_or_changes_in_time_has_no_pilot() {
    let place = tempfile::tempdir().expect("a folder");
    let channel = |name: &str, more: &str, seconds: u32| {
        let text = format!(
            "[domain]\nbox = [0, 0, 4, 1]\nroot = \"48x12\"\n[physics]\nre = 10\nlength = 1\nvelocity = 1\n{more}\n\
             [boundary]\n\"x-\" = {{ type = \"velocity\", velocity = [\"6*y*(1-y)\", 0] }}\n\"x+\" = \"pressure\"\n\
             \"y-\" = \"no-slip\"\n\"y+\" = \"no-slip\"\n[run]\nseconds = {seconds}\n"
        );
        let mut case = Case::from_toml(&text).expect("a case");
        case.output.folder = Some(place.path().join(name));
        case
    };
    let plan = |case: &Case| {
        let plan = case.plan(&RunOptions::default(), &mut ()).expect("a plan");
        let said = plan.text.contains("\npilot: at root step");
        let at = plan.json["pilot"].as_u64();
        assert_eq!(said, at.is_some(), "{}", plan.text);
        at
    };
    let long = channel("long", "", 12);
    let at = plan(&long).expect("a pilot");
    let summary = long.run(&mut ()).expect("a run");
    assert!(summary.steps >= 2 * at);
    // 48 L / (Re d_h²) + 1.5 with a hydraulic diameter of 2 is what it is.
    assert_eq!(summary.json["pilot"], serde_json::json!([]));
    assert_eq!(plan(&channel("given", "lattice_velocity = 0.02", 12)), None);
    assert_eq!(plan(&channel("short", "", 1)), None, "too short");
    let pulled = "acceleration = [\"sin(t)\", 0]";
    assert_eq!(
        plan(&channel("pulled", pulled, 12)),
        None,
        "it changes in time"
    );
    let starts = "[initial]\nvelocity = [1, 0]";
    assert_eq!(plan(&channel("starts", starts, 12)), None, "it has a start");
    let ranks = RunOptions {
        ranks: vec![2],
        ..RunOptions::default()
    };
    let planned = long.plan(&ranks, &mut ()).expect("a plan");
    assert_eq!(planned.json["pilot"], serde_json::Value::Null, "ranks");
}

/// Stops a run at its n-th report.
struct StopAt {
    left: u32,
    stop: StopToken,
}

impl Observer for StopAt {
    fn advance(&mut self, _: u64, _: &str) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.stop.stop();
        }
    }
}

#[test]
fn stopped_runs_go_on_before_and_after_the_pilot() {
    let place = tempfile::tempdir().expect("a folder");
    let of = |name: &str| bend(place.path(), name, |text| text);
    let whole = of("whole").run(&mut ()).expect("a run");
    let changes = whole.json["pilot"].as_array().expect("a list");
    let at = changes[0]["steps"][0].as_u64().expect("a number") / 64;
    let file = |name: &str| fs::read(place.path().join(name).join("forces.csv"));
    for (name, left) in [("early", at / 2), ("late", 3 * at)] {
        let stop = StopToken::default();
        let mut observer = StopAt {
            left: left as u32,
            stop: stop.clone(),
        };
        let options = RunOptions {
            stop,
            ..RunOptions::default()
        };
        let stopped = of(name).run_with(&options, &mut observer);
        let stopped = stopped.expect_err("it was stopped");
        assert_eq!(stopped.kind, ErrorKind::Stopped, "{stopped}");
        let options = RunOptions {
            resume: true,
            ..RunOptions::default()
        };
        let resumed = of(name).run_with(&options, &mut ()).expect("a run");
        assert_eq!(resumed.json["pilot"], whole.json["pilot"], "{name}");
        assert!(
            file(name).expect("a file") == file("whole").expect("a file"),
            "{name}: not the same bits"
        );
    }
}
