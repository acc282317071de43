//! Cases of lattice Boltzmann flows with heat.

use crate::two_phase::{options, whole_as_in_parts};
use cutlink::Case;
use std::{fs, path::Path};

/// A warm circle in a stream that rises, between a heated and a cold wall; three levels.
const WARM: &str = r#"
[mesh]
shape = "circle:r=0.15"
translate = [0.01, 0.02]
domain = [-1, -0.5, 1, 0.5]
root = 48
levels = 3
wall-distance = 0.1

[physics]
re = 20
length = 0.3
velocity = 1
lattice_velocity = 0.05
conductivity = 0.05
heat_capacity = 2
expansion = 0.01

[heat]
temperature = "280 + 10*y"
reference = 280

[gravity]
acceleration = [0, -9.81]

[patches.circle]
temperature = 300

[boundary]
"x-" = { type = "velocity", velocity = [1, 0], temperature = 280 }
"x+" = "outflow"
"y-" = { type = "no-slip", heat_flux = 3 }
"y+" = { type = "no-slip", temperature = 285 }

[run]
steps = 60
watch = false

[output]
integrals_every = 5

[[output.write]]
kind = "picture"
quantity = "temperature"
"#;

fn case(folder: &Path, text: &str) -> Case {
    let mut case = Case::from_toml(text).expect("a case");
    case.output.folder = Some(folder.to_owned());
    case
}

fn lines(folder: &Path) -> (String, Vec<Vec<f64>>) {
    let table = fs::read_to_string(folder.join("heat.csv")).expect("a table");
    let (head, rest) = table.split_once('\n').expect("a line");
    let numbers = |line: &str| {
        line.split(',')
            .map(|x| x.parse().expect("a number"))
            .collect()
    };
    (head.to_owned(), rest.lines().map(numbers).collect())
}

#[test]
fn a_flow_with_heat_resumes_and_its_powers_add_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let tables = ["heat.csv", "forces.csv", "integrals.csv"];
    let (whole, summary) = whole_as_in_parts(folder.path(), 25, tables, |folder, options| {
        case(folder, WARM).run_with(options, &mut ())
    });
    let (head, lines) = lines(&whole);
    assert_eq!(
        head,
        "step,time (s),heat,x- power,x+ power,y- power,y+ power,circle power,lowest temperature,highest temperature"
    );
    assert_eq!(lines.len(), 13);
    let last = &lines[12];
    assert!(
        (last[5] / (3.0 * 2.0) - 1.0).abs() < 1e-9,
        "3 W/m² of 2 m: {last:?}"
    );
    assert!(last[7] > 0.0, "the circle heats: {last:?}");
    let came: f64 = (lines.windows(2))
        .map(|of| (of[1][1] - of[0][1]) * of[1][3..8].iter().sum::<f64>())
        .sum();
    let change = last[2] - lines[0][2];
    assert!(
        (change - came).abs() < 1e-9 * lines[0][2],
        "{change} of {came} J"
    );
    let heat = &summary.json["heat"];
    let told = heat["change"].as_f64().expect("a number");
    assert!((told - change).abs() < 1e-6 * change.abs(), "{heat}");
    let checks = summary.json["verdict"]["checks"].to_string();
    assert!(checks.contains("\"heat\""), "{checks}");
    // The resolved case is a case with the same flow.
    let resolved = fs::read_to_string(whole.join("case.toml")).expect("a case");
    let again = folder.path().join("again");
    case(&again, &resolved)
        .run_with(&options(), &mut ())
        .expect("a run");
    let [a, b] = [&whole, &again].map(|folder| fs::read(folder.join("heat.csv")).expect("a table"));
    assert!(a == b, "{resolved}");
}

/// Air at rest between plates: heat passes as through a slab, and the run ends when it has settled.
const SLAB: &str = r#"
[domain]
box = [0, 0, 1, 0.25]
root = 32

[physics]
viscosity = 0.1
length = 1
velocity = 1
lattice_velocity = 0.05
diffusivity = 0.1
heat_capacity = 5
density = 2

[heat]
temperature = 320

[boundary]
"x-" = { type = "no-slip", temperature = 300 }
"x+" = { type = "no-slip", temperature = 340 }
"y-" = "free-slip"
"y+" = "free-slip"

[run]
steps = 20000

[output]
integrals_every = 200
"#;

#[test]
fn a_slab_conducts_what_it_should() {
    let folder = tempfile::tempdir().expect("a folder");
    case(folder.path(), SLAB)
        .run_with(&options(), &mut ())
        .expect("a run");
    let (head, lines) = lines(folder.path());
    assert!(head.contains("x- power,x+ power"), "{head}");
    let last = lines.last().expect("a line");
    // Conductivity 1 W/(m K), 40 K over a metre, a quarter of a metre high.
    let passes = 0.1 * 2.0 * 5.0 * 40.0 * 0.25;
    assert!((last[4] / passes - 1.0).abs() < 1e-6, "{last:?}");
    assert!((last[3] / passes + 1.0).abs() < 1e-6, "{last:?}");
}

#[test]
fn memory_counts_heat() {
    let folder = tempfile::tempdir().expect("a folder");
    let with = case(folder.path(), SLAB)
        .plan(&options(), &mut ())
        .expect("a plan");
    let plain: String = SLAB
        .replace("[heat]\ntemperature = 320\n", "")
        .replace(", temperature = 300", "")
        .replace(", temperature = 340", "")
        .replace("diffusivity = 0.1\nheat_capacity = 5\n", "");
    let without = case(folder.path(), &plain)
        .plan(&options(), &mut ())
        .expect("a plan");
    let bytes = |of: &serde_json::Value| of["bytes"]["flow"].as_u64().expect("a number");
    let more = bytes(&with.json) - bytes(&without.json);
    let cells = 32 * 8;
    assert!(
        more >= 32 * cells && more < 60 * cells,
        "{more} for {cells} cells"
    );
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    for (from, to, part) in [
        ("[heat]\ntemperature = 320\n", "", "no [heat]"),
        ("temperature = 320", "", "[heat] temperature"),
        ("diffusivity = 0.1", "", "diffusivity"),
        (
            "diffusivity = 0.1",
            "diffusivity = 0.1\nprandtl = 1",
            "more than one",
        ),
        (
            "diffusivity = 0.1",
            "conductivity = 1\nexpansion = 1",
            "[heat] reference",
        ),
        (
            "temperature = 320",
            "temperature = 320\nreference = 3\n[gravity]\nacceleration = [0, 1]",
            "expansion",
        ),
        ("diffusivity = 0.1", "diffusivity = 100", "a time step of"),
        (
            "temperature = 340",
            "temperature = 340, heat_flux = 1",
            "a temperature and a heat_flux",
        ),
        (
            "type = \"no-slip\", temperature = 300",
            "type = \"velocity\", velocity = [1, 0]",
            "temperature is missing",
        ),
        (
            "type = \"no-slip\", temperature = 300",
            "type = \"pressure\", heat_flux = 3",
            "fluid passes",
        ),
        ("[run]", "[adapt]\nlevels = 2\n[run]", "[adapt]"),
        ("[run]", "[numerics]\nprecision = \"f16\"\n[run]", "16 bits"),
        ("[run]", "[numerics]\nles = \"smagorinsky\"\n[run]", "eddy"),
    ] {
        assert!(SLAB.contains(from), "{from}");
        let error = case(folder.path(), &SLAB.replace(from, to))
            .plan(&options(), &mut ())
            .expect_err(part);
        let text = format!("{error}: {error:?}");
        assert!(text.contains(part), "{part}: {text}");
    }
}
