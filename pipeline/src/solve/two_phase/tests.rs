//! Cases of two-phase flows: runs, resume to the bit, refusals.

use super::TwoPhaseCase;
use crate::{ErrorKind, RunOptions, solve::AnyCase};
use std::{fs, path::Path};

const DAM: &str = r#"
[solver]
kind = "two-phase"

[domain]
box = [0, 0, 1, 0.5]
root = 16
levels = 2

[[refine]]
box = [0, 0, 1, 0.3]

[phases]
liquid = { density = 1000, viscosity = 1e-3 }
gas = { density = 1.2, viscosity = 1.8e-5 }

[gravity]
acceleration = [0, -9.81]

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
    // 32 cells by 16 at the fine width, of which the upper part is coarse.
    let cells = plan.json["cells"].as_u64().expect("cells");
    assert!((128..512).contains(&cells), "{cells}");
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
            "box = [0, 0, 1, 0.3]",
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
            "[gravity]\nacceleration = [0, -9.81]",
            "",
            "how long a step may be",
        ),
        (
            "[run]",
            "[interface]\nsurface_tension = -0.1\n[run]",
            "the surface tension",
        ),
        (
            "[run]",
            "[numerics]\ncfl = 0.8\n[run]",
            "the Courant number",
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
