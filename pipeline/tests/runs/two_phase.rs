//! Cases of two-phase flows: runs, resume to the bit, refusals.

use crate::worst::worst;
use cutlink::{AnyCase, Error, ErrorKind, RunOptions, RunSummary, TwoPhaseCase};
use std::{
    fs,
    path::{Path, PathBuf},
};

const DAM: &str = r#"
[solver]
kind = "two-phase"

[domain]
box = [0, 0, 1, 0.5]
root = 16
levels = 2

[[refine]]
box = [0, 0, 1, 0.24]

[phases]
liquid = { density = 1000, viscosity = 1e-3 }
gas = { density = 1.2, viscosity = 1.8e-5 }

[gravity]
acceleration = [0, -9.81]

[numerics]
dt = 0.02

[[liquid]]
box = [0, 0, 0.2, 0.2]

[boundary]
"y+" = "pressure"

[run]
steps = 8

[output]
integrals_every = 1

[[output.write]]
kind = "probes"
points = [[0.1, 0.05]]
"#;

pub(crate) fn case(folder: &Path, text: &str) -> TwoPhaseCase {
    let mut case = TwoPhaseCase::from_toml(text).expect("a case");
    case.output.folder = Some(folder.to_owned());
    case
}

pub(crate) fn options() -> RunOptions {
    RunOptions {
        threads: 2,
        ..RunOptions::default()
    }
}

/// Runs a case whole, and in two parts of which the first has so many steps: the tables are the same. Returns the folder and the
/// summary of the whole run.
pub(crate) fn whole_as_in_parts(
    place: &Path,
    steps: u64,
    tables: [&str; 3],
    run: impl Fn(&Path, &RunOptions) -> Result<RunSummary, Error>,
) -> (PathBuf, RunSummary) {
    let [whole, parts] = ["whole", "parts"].map(|name| place.join(name));
    let summary = run(&whole, &options()).expect("a run");
    let half = RunOptions {
        steps: Some(steps),
        ..options()
    };
    run(&parts, &half).expect("a part of it");
    let rest = RunOptions {
        resume: true,
        ..options()
    };
    run(&parts, &rest).expect("the rest of it");
    for name in tables {
        let [a, b] = [&whole, &parts].map(|folder| fs::read(folder.join(name)).expect("a table"));
        assert!(a == b, "{name}");
    }
    (whole, summary)
}

#[test]
fn a_dam_breaks_and_a_resumed_run_gives_the_same_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    let summary = case(&whole, DAM)
        .run_with(&options(), &mut ())
        .expect("a run");
    assert_eq!(summary.steps, 8);
    assert_eq!(summary.json["kind"], "two-phase");
    let table = fs::read_to_string(whole.join("phases.csv")).expect("the table");
    assert_eq!(table.lines().count(), 10, "a header and steps 0 to 8");
    let columns: Vec<&str> = table.lines().next().expect("a header").split(',').collect();
    let number = |line: &str, name: &str| -> f64 {
        let at = columns.iter().position(|c| *c == name).expect("a column");
        line.split(',')
            .nth(at)
            .expect("a number")
            .parse()
            .expect("a number")
    };
    let [first, last] =
        [table.lines().nth(1), table.lines().last()].map(|line| line.expect("a line"));
    assert!(
        (number(first, "liquid volume") - 0.04).abs() < 1e-14,
        "{first}"
    );
    assert!(
        (number(last, "liquid volume") - 0.04).abs() < 1e-13,
        "{last}"
    );
    assert!(
        number(last, "liquid centre y") < number(first, "liquid centre y"),
        "it falls"
    );
    assert!(number(last, "largest velocity") > 0.1, "{last}");

    let half = RunOptions {
        steps: Some(4),
        ..options()
    };
    case(&parts, DAM).run_with(&half, &mut ()).expect("a run");
    let rest = RunOptions {
        resume: true,
        ..options()
    };
    case(&parts, DAM).run_with(&rest, &mut ()).expect("a run");
    for name in ["phases.csv", "probes.csv"] {
        let [a, b] = [&whole, &parts].map(|folder| fs::read(folder.join(name)).expect("a table"));
        // Sums since the last line are those of the run.
        assert!(a == b, "{name}");
    }
}

/// The dam on a mesh that follows the interface.
fn adaptive() -> String {
    let fixed = "levels = 2\n\n[[refine]]\nbox = [0, 0, 1, 0.24]";
    let text = DAM.replace(fixed, "\n[adapt]\nlevels = 3");
    assert_ne!(text, DAM);
    text.replace("steps = 8", "steps = 16")
}

/// The lines of `adapt.csv` without their last column, which is wall time.
fn without_times(text: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(text).expect("text");
    let line = |line: &str| line.rsplit_once(',').expect("columns").0.to_owned();
    text.lines().map(line).collect()
}

#[test]
fn a_mesh_follows_a_dam_and_a_resumed_run_gives_the_same_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    let text = adaptive();
    let summary = case(&whole, &text)
        .run_with(&options(), &mut ())
        .expect("a run");
    let adapt = &summary.json["adapt"];
    assert!(adapt["changes"].as_u64() > Some(1), "{adapt}");
    let share = adapt["share"].as_f64().expect("a share of the time");
    assert!(share > 0.0 && share < 1.0, "{adapt}");
    // The finest mesh is of 64 cells by 32.
    assert!(adapt["cells"][1].as_u64() < Some(1500), "{adapt}");
    assert!(
        summary.json["volume_change"].is_null(),
        "a face is open: {}",
        summary.json
    );
    let volumes = Columns::read(&whole.join("phases.csv")).column("liquid volume");
    let changes = volumes.iter().map(|v| (v / 0.04 - 1.0).abs());
    assert!(worst(changes) < 1e-12, "{volumes:?}");
    let half = RunOptions {
        steps: Some(8),
        ..options()
    };
    case(&parts, &text).run_with(&half, &mut ()).expect("a run");
    let rest = RunOptions {
        resume: true,
        ..options()
    };
    case(&parts, &text).run_with(&rest, &mut ()).expect("a run");
    let of = |name: &str| [&whole, &parts].map(|f| fs::read(f.join(name)).expect("a table"));
    for name in ["phases.csv", "probes.csv"] {
        let [a, b] = of(name);
        assert!(a == b, "{name}");
    }
    let [a, b] = of("adapt.csv").map(|text| without_times(&text));
    assert_eq!(a, b);
    assert!(a.len() > 3, "{a:?}");
}

#[test]
fn a_plan_has_cells_and_steps() {
    let plan = TwoPhaseCase::from_toml(DAM)
        .expect("a case")
        .plan(&options(), &mut ())
        .expect("a plan");
    // Eight root blocks, of which the lower four are refined.
    assert_eq!(plan.json["cells"], 4 * 16 + 16 * 16);
    assert_eq!(plan.json["steps"], 8);
    assert!(plan.text.contains("two-phase"), "{}", plan.text);
    let plan =
        TwoPhaseCase::from_toml(&adaptive().replace("levels = 3", "levels = 3\nmax_cells = 5000"))
            .expect("a case")
            .plan(&options(), &mut ())
            .expect("a plan");
    assert_eq!(plan.json["max_cells"], 5000);
    assert!(
        plan.text.contains("follows the interface, up to 5000"),
        "{}",
        plan.text
    );
}

#[test]
fn adaptation_that_makes_no_sense_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    for (to, expected) in [
        ("", "[adapt] levels is missing"),
        ("levels = 40", "[adapt] levels is 40"),
        ("levels = 3\nmargin = 2", "[adapt] margin is 2"),
        ("levels = 3\nvorticity = 0", "[adapt] vorticity"),
        ("levels = 3\ncoarsen = 0.5", "[adapt] coarsen is given"),
        (
            "levels = 3\nvorticity = 1\ncoarsen = 1",
            "[adapt] coarsen is 1",
        ),
        ("levels = 3\nat_walls = 4", "[adapt] at_walls"),
        ("levels = 3\nmax_cells = 300", "may have 300"),
        ("levels = 3\n[[refine]]\nbox = [0, 0, 1]", "[[refine]] box"),
    ] {
        let text = adaptive().replace("levels = 3", to);
        let error = case(folder.path(), &text)
            .run_with(&options(), &mut ())
            .expect_err(expected);
        assert_eq!(error.kind, ErrorKind::Input, "{error}");
        assert!(error.to_string().contains(expected), "{expected}: {error}");
    }
    let text = adaptive().replace("root = 16", "root = 16\nlevels = 2");
    let error = case(folder.path(), &text).run_with(&options(), &mut ());
    let error = error.expect_err("levels without a box").to_string();
    assert!(error.contains("[domain] levels is given"), "{error}");
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let changes = [
        (
            "density = 1000,",
            "density = -1,",
            "[phases.liquid] density",
        ),
        ("viscosity = 1e-3", "viscosity = 0", "viscosity"),
        (
            "box = [0, 0, 0.2, 0.2]",
            "box = [2, 0, 2.2, 0.2]",
            "the start of a liquid",
        ),
        ("box = [0, 0, 0.2, 0.2]", "ball = [0.5, 0.5]", "[[liquid]]"),
        (
            "box = [0, 0, 1, 0.24]",
            "box = [0, 0, 0.1, 0.1]",
            "interface reaches a cell of level 0",
        ),
        ("levels = 2", "levels = 0", "[domain] levels"),
        ("\"y+\" = \"pressure\"", "\"y+\" = \"periodic\"", "periodic"),
        (
            "\"y+\" = \"pressure\"",
            "\"y+\" = { type = \"velocity\" }",
            "[boundary] y+ velocity",
        ),
        (
            "\"y+\" = \"pressure\"",
            "\"y+\" = { type = \"no-slip\", pressure = 1 }",
            "pressure is no key",
        ),
        (
            "\"y+\" = \"pressure\"",
            "\"z+\" = \"no-slip\"",
            "[boundary] z+",
        ),
        (
            "[gravity]\nacceleration = [0, -9.81]\n\n[numerics]\ndt = 0.02",
            "",
            "how long a step may be",
        ),
        (
            "[run]",
            "[interface]\nsurface_tension = -0.1\n[run]",
            "the surface tension",
        ),
        ("dt = 0.02", "dt = 0.02\ncfl = 0.8", "the Courant number"),
        (
            "\"y+\" = \"pressure\"",
            "\"y-\" = \"periodic\"\n\"y+\" = \"periodic\"",
            "gravity along a periodic axis",
        ),
    ];
    for (from, to, expected) in changes {
        let text = DAM.replace(from, to);
        assert_ne!(text, DAM, "{from}");
        let error = case(folder.path(), &text)
            .run_with(&options(), &mut ())
            .expect_err(expected);
        assert_eq!(error.kind, ErrorKind::Input, "{error}");
        assert!(error.to_string().contains(expected), "{expected}: {error}");
    }
    let ranks = RunOptions {
        ranks: vec![2],
        ..options()
    };
    let error = case(folder.path(), DAM)
        .run_with(&ranks, &mut ())
        .expect_err("ranks");
    assert!(error.to_string().contains("no ranks"), "{error}");
}

#[test]
fn keys_of_other_kinds_are_named_as_such() {
    let folder = tempfile::tempdir().expect("a folder");
    for (table, kind) in [
        ("[patches.a]\nwall = \"linear\"", "lattice-boltzmann"),
        ("[far_field]\ndensity = 1", "flux-reconstruction"),
    ] {
        let path = folder.path().join("case.toml");
        fs::write(&path, format!("{DAM}\n{table}\n")).expect("a file");
        let error = AnyCase::read(&path).expect_err("a key of another kind");
        assert!(error.to_string().contains(kind), "{error}");
    }
    let error = TwoPhaseCase::from_toml("[solver]\nkind = \"flux-reconstruction\"")
        .expect_err("another kind");
    assert!(error.to_string().contains("two-phase"), "{error}");
}

/// A table of numbers: a column at the first line from a time on, and all of it.
pub(crate) struct Columns {
    names: Vec<String>,
    lines: Vec<Vec<f64>>,
}

impl Columns {
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("a table");
        let mut lines = text.lines();
        let names = lines
            .next()
            .expect("a header")
            .split(',')
            .map(str::to_owned)
            .collect();
        let numbers = |line: &str| {
            line.split(',')
                .map(|x| x.parse().expect("a number"))
                .collect()
        };
        Self {
            names,
            lines: lines.map(numbers).collect(),
        }
    }

    pub(crate) fn column(&self, name: &str) -> Vec<f64> {
        let at = self.names.iter().position(|n| n == name).expect("a column");
        self.lines.iter().map(|line| line[at]).collect()
    }

    /// The value of a column at a time, between lines.
    pub(crate) fn at(&self, name: &str, time: f64) -> f64 {
        let (times, values) = (self.column("time (s)"), self.column(name));
        let after = times
            .iter()
            .position(|&t| t >= time)
            .expect("a later time")
            .max(1);
        let part = (time - times[after - 1]) / (times[after] - times[after - 1]);
        values[after - 1] + part * (values[after] - values[after - 1])
    }
}

/// Runs an example on a coarser mesh, for a shorter time, by what is put in place of its lines.
fn example(name: &str, verdict: &str, changes: &[[&str; 2]]) -> Columns {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = cutlink::solve::example::text(name)
        .expect("an example")
        .to_owned();
    for [from, to] in changes {
        assert!(text.contains(from), "{name} has {from}");
        text = text.replace(from, to);
    }
    let summary = case(folder.path(), &text)
        .run_with(&options(), &mut ())
        .expect("a run");
    assert_eq!(summary.verdict(), Some(verdict), "{}", summary.json);
    Columns::read(&folder.path().join("phases.csv"))
}

#[test]
fn the_dam_breaks_as_in_the_experiments() {
    // 16 cells in the width of the column.
    let found = example("dam", "ok", &[["levels = 3", "levels = 2"]]);
    let a = 0.05715f64;
    let front = |t: f64| found.at("liquid upper x", t / (2.0 * 9.81 / a).sqrt()) / a;
    // Martin & Moyce 1952, n² = 2: T = t √(2 g / a), front over a. No gate is drawn, so the front leads, at their speed.
    let (from, to) = ([2.20, 2.56], [2.83, 3.44]);
    let speed = (front(to[0]) - front(from[0])) / (to[1] - from[1]);
    assert!((speed - 1.0).abs() < 0.08, "{speed} of the speed");
    let lead = front(from[0]) - from[1];
    assert!(lead > 0.1 && lead < 0.4, "{lead} widths ahead");
}

#[test]
fn the_bubble_rises_as_in_the_benchmark() {
    // 20 cells in the width of the box.
    let changes = [
        ["levels = 2", "levels = 1"],
        ["seconds = 3", "seconds = 1.1"],
    ];
    let found = example("bubble", "doubtful", &changes);
    let largest = worst(found.column("liquid velocity y"));
    assert!((largest / 0.2417 - 1.0).abs() < 0.03, "{largest}");
}

#[test]
fn the_drop_falls_freely() {
    // 8 cells a diameter.
    let changes = [
        ["root = 80", "root = 40"],
        ["seconds = 0.09", "seconds = 0.03"],
        ["accept = [\"resolution\"]", "accept = []"],
    ];
    let found = example("drop", "doubtful", &changes);
    // Before it meets the pool, the centre of all the liquid falls with the drop.
    let (y, t) = (found.column("liquid centre y"), 0.03 - 1e-9);
    let area = [std::f64::consts::PI * 0.004f64.powi(2), 0.04 * 0.0125];
    let fallen = (y[0] - found.at("liquid centre y", t)) * (area[0] + area[1]) / area[0];
    // The air, which the drop moves, weighs a thousandth.
    let expected = 0.5 * 9.81 * t * t;
    assert!((fallen / expected - 1.0).abs() < 0.003, "{fallen}");
}

/// A tank that is filled: what has come in is in it, from the first step on.
#[test]
fn what_flows_in_is_in_the_tank() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = r#"
[solver]
kind = "two-phase"
[domain]
box = [0, 0, 1, 1]
root = 8
[phases]
liquid = { density = 100 }
gas = { density = 1 }
[[liquid]]
half_space = [0, 1, 0.2]
[boundary]
"y-" = { type = "velocity", velocity = [0, 0.5], liquid = true }
"y+" = "pressure"
[numerics]
dt = 0.5
[run]
seconds = 1
[output]
integrals_every = 1
"#;
    case(folder.path(), text)
        .run_with(&options(), &mut ())
        .expect("a run");
    let volume = Columns::read(&folder.path().join("phases.csv")).at("liquid volume", 1.0);
    assert!((volume - 0.7).abs() < 1e-9, "{volume}");
}
