//! Cases of two-phase flows: runs, resume to the bit, refusals.

use super::TwoPhaseCase;
use crate::worst::worst;
use crate::{ErrorKind, solve::AnyCase};
use cutlink_flow::RunOptions;
use std::{fs, path::Path};

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

fn case(folder: &Path, text: &str) -> TwoPhaseCase {
    let mut case = TwoPhaseCase::from_toml(text).expect("a case");
    case.output.folder = Some(folder.to_owned());
    case
}

fn options() -> RunOptions {
    RunOptions {
        threads: 2,
        ..RunOptions::default()
    }
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
    let cuda = RunOptions {
        device: Some("cuda".parse().expect("a device")),
        ..options()
    };
    let error = case(folder.path(), DAM)
        .run_with(&cuda, &mut ())
        .expect_err("a GPU");
    assert!(error.to_string().contains("on the CPU"), "{error}");
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
struct Columns {
    names: Vec<String>,
    lines: Vec<Vec<f64>>,
}

impl Columns {
    fn read(path: &Path) -> Self {
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

    fn column(&self, name: &str) -> Vec<f64> {
        let at = self.names.iter().position(|n| n == name).expect("a column");
        self.lines.iter().map(|line| line[at]).collect()
    }

    /// The value of a column at a time, between lines.
    fn at(&self, name: &str, time: f64) -> f64 {
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

/// Runs an example in a folder, which stays where `EXAMPLES` names one.
fn example(name: &str) -> Columns {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = std::env::var_os("EXAMPLES").map_or(folder.path().to_owned(), Into::into);
    let text = crate::solve::example::text(name).expect("an example");
    let folder = folder.join(name);
    let summary = case(&folder, text)
        .run_with(&options(), &mut ())
        .expect("a run");
    assert_eq!(summary.verdict(), Some("ok"), "{}", summary.json);
    Columns::read(&folder.join("phases.csv"))
}

#[test]
#[ignore = "a minute"]
fn the_dam_breaks_as_in_the_experiments() {
    let found = example("dam");
    let a = 0.05715f64;
    // Martin & Moyce 1952, n² = 2: T = t √(2 g / a), front over a. Without a gate fronts lead.
    for (t, front) in [(1.63, 1.89), (2.20, 2.56), (2.83, 3.44)] {
        let ours = found.at("liquid upper x", t / (2.0 * 9.81 / a).sqrt()) / a;
        assert!(
            ours > front && ours < 1.25 * front,
            "T {t}: {ours} against {front}"
        );
    }
}

#[test]
#[ignore = "a minute"]
fn the_bubble_rises_as_in_the_benchmark() {
    let found = example("bubble");
    let speeds = found.column("liquid velocity y");
    let largest = worst(speeds.iter().copied());
    let end = found.at("liquid centre y", 3.0 - 1e-9);
    assert!((largest / 0.2417 - 1.0).abs() < 0.05, "{largest}");
    assert!((end / 1.0817 - 1.0).abs() < 0.005, "{end}");
}

#[test]
#[ignore = "a minute"]
fn the_drop_meets_the_pool() {
    let found = example("drop");
    // Before it meets the pool, the centre of all the liquid falls with the drop.
    let (y, t) = (found.column("liquid centre y"), 0.04);
    let area = [std::f64::consts::PI * 0.004f64.powi(2), 0.04 * 0.0125];
    let fallen = (y[0] - found.at("liquid centre y", t)) * (area[0] + area[1]) / area[0];
    assert!(
        (fallen / (0.5 * 9.81 * t * t) - 1.0).abs() < 0.03,
        "{fallen}"
    );
}
