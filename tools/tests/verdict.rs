//! The verdict on a run: its table, exit code 6 and the keys that change it; `settle` waits for information.

mod kit;

use kit::Folder;
use serde_json::Value;

/// A circle in a stream; 8 cells across.
fn circle(physics: &str, boundary: &str, run: &str) -> String {
    format!(
        "[mesh]\nshape = \"circle:r=0.5\"\ndomain = [-3, -3, 5, 3]\nroot = \"64x48\"\nlevels = 1\nno-picture = true\n\
         [physics]\nlength = 1\nvelocity = 1\n{physics}\n[boundary]\n{boundary}\n[run]\n{run}\n\
         [output]\nfolder = \"flow\"\n"
    )
}

const STREAM: &str = "\"x-\" = { type = \"velocity\", velocity = [1, 0] }\n\"x+\" = { type = \"pressure\", pressure = 0 }\n\
                      \"y-\" = \"free-slip\"\n\"y+\" = \"free-slip\"";

fn summary(folder: &Folder) -> Value {
    serde_json::from_slice(&folder.read("flow/summary.json")).expect("a summary")
}

fn check<'a>(summary: &'a Value, name: &str) -> &'a Value {
    let checks = summary["verdict"]["checks"].as_array().expect("checks");
    let found = checks.iter().find(|check| check["check"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {checks:?}"))
}

/// Beside a circle a stream is up to twice as fast as far from it: here Mach 0.26.
const FAST: &str = "re = 40\nlattice_velocity = 0.15";

#[test]
fn a_wrong_result_ends_with_a_code_of_its_own_after_its_files() {
    let folder = Folder::new();
    folder.write("case.toml", &circle(FAST, STREAM, "steps = 600"));
    let ran = folder.run("solve case.toml");
    let ran = ran.failed(
        6,
        &["Mach is 0.", "lattice_velocity = ", "accept = [\"Mach\"]"],
    );
    for word in ["verdict  wrong\n", "\n  Mach "] {
        assert!(ran.stdout.contains(word), "{word:?} in {}", ran.stdout);
    }
    for file in [
        "summary.json",
        "forces.csv",
        "forces.png",
        "case.toml",
        "integrals.csv",
    ] {
        assert!(folder.path("flow").join(file).exists(), "{file}");
    }
    let whole = summary(&folder);
    assert_eq!(whole["verdict"]["grade"], "wrong");
    let mach = check(&whole, "Mach");
    assert!(mach["value"].as_f64().expect("a number") > 0.3, "{mach}");
    // The same as JSON: the error has the summary.
    let told = folder
        .run("solve case.toml --force --json")
        .failed(6, &[])
        .json();
    assert_eq!(told["error"]["exit_code"], 6);
    assert_eq!(
        told["error"]["details"]["summary"]["verdict"],
        whole["verdict"]
    );
    // A resumed run has the verdict of one in one piece.
    folder.run("solve case.toml --force --steps 320");
    folder.run("solve case.toml --resume").failed(6, &["Mach"]);
    assert_eq!(summary(&folder)["verdict"], whole["verdict"]);
    // Known and accepted.
    folder.write(
        "case.toml",
        &circle(FAST, STREAM, "steps = 600\naccept = [\"Mach\"]"),
    );
    let ran = folder.run("solve case.toml --force").ok();
    assert!(ran.stdout.contains("wrong, accepted"), "{}", ran.stdout);
    assert_ne!(summary(&folder)["verdict"]["grade"], "wrong");
    folder.write(
        "case.toml",
        &circle(FAST, STREAM, "steps = 600\naccept = [\"mach\"]"),
    );
    let none = "there is no check \"mach\"";
    folder
        .run("solve case.toml --force")
        .failed(2, &[none, "\"Mach\""]);
}

#[test]
fn a_right_run_has_no_row_that_is_wrong() {
    let folder = Folder::new();
    folder.write("case.toml", &circle("re = 20", STREAM, "seconds = 40"));
    let ran = folder.run("solve case.toml -v").ok();
    let whole = summary(&folder);
    for check in whole["verdict"]["checks"].as_array().expect("checks") {
        assert_ne!(check["grade"], "wrong", "{check}\n{}", ran.stdout);
    }
    for name in [
        "openings: level",
        "openings: flow",
        "openings: inflow",
        "mean density",
        "imbalance",
        "exchange",
        "Mach",
        "duration",
        "movement",
    ] {
        assert_eq!(check(&whole, name)["grade"], "ok", "{}", ran.stdout);
        assert!(
            ran.stdout.contains(name),
            "-v shows {name}:\n{}",
            ran.stdout
        );
    }
    let page = include_str!("../../docs/verdict.md");
    for check in whole["verdict"]["checks"].as_array().expect("checks") {
        let name = check["check"].as_str().expect("a name");
        let is_there = page.contains(&format!("| `{name}` |")) || page.contains("`openings: …`");
        assert!(is_there, "docs/verdict.md lacks {name}");
    }
}

/// Flows that start from rest, each by another kind of condition: none may settle while the body does not know of them.
#[test]
fn a_flow_does_not_settle_before_it_has_begun() {
    let rest = "\"x+\" = \"outflow\"\n\"y-\" = \"free-slip\"\n\"y+\" = \"free-slip\"";
    let kinds = [
        // A ramp, a profile with the default ramp, an expression of time with and without a place, and an expression that waits.
        "{ type = \"velocity\", velocity = [1, 0], ramp = 8 }",
        "{ type = \"velocity\", profile = \"power-law\", velocity = [1, 0], reference_height = 1, exponent = 0.2, ramp = 8 }",
        "{ type = \"velocity\", velocity = [\"ramp(t, 8)\", 0] }",
        "{ type = \"velocity\", velocity = [\"1 - exp(-max(t - 6, 0)^2 * (1 + 0.1 * y^2))\", 0], ramp = 0 }",
        "{ type = \"velocity\", velocity = [\"if(t < 6, 0, 1)\", 0], ramp = 0 }",
    ];
    for kind in kinds {
        let folder = Folder::new();
        let boundary = format!("\"x-\" = {kind}\n{rest}");
        let physics = "re = 20\nlattice_velocity = 0.1";
        folder.write(
            "case.toml",
            &circle(physics, &boundary, "settle = 1e-2\nmost = 6000"),
        );
        folder.run("solve case.toml");
        let whole = summary(&folder);
        let drag = whole["patches"]["circle"]["C_D"]["mean"]
            .as_f64()
            .expect("a drag");
        let time = whole["time"].as_f64().expect("a time");
        assert!(
            time > 6.0 && drag > 1.0,
            "{kind}: C_D {drag} after {time} s"
        );
        assert_eq!(check(&whole, "movement")["grade"], "ok", "{kind}");
    }
}

#[test]
fn a_box_without_a_body_does_not_settle_before_it_has_begun() {
    let folder = Folder::new();
    let case = "[domain]\nbox = [0, 0, 4, 1]\nroot = \"32x8\"\n[physics]\nre = 10\nlength = 1\nvelocity = 1\n\
                lattice_velocity = 0.05\n[boundary]\n\"x-\" = { type = \"velocity\", velocity = [\"if(t < 5, 0, 1)\", 0], ramp = 0 }\n\
                \"x+\" = \"outflow\"\n\"y-\" = \"no-slip\"\n\"y+\" = \"no-slip\"\n[initial]\nvelocity = [0, 0]\n\
                [run]\nsettle = 1e-2\nmost = 20000\n[output]\nfolder = \"flow\"\n";
    folder.write("case.toml", case);
    folder.run("solve case.toml");
    let whole = summary(&folder);
    assert_eq!(whole["settled"], true);
    assert!(whole["time"].as_f64().expect("a time") > 5.0, "{whole}");
    let energy = whole["integrals"]["kinetic_energy"]
        .as_f64()
        .expect("a number");
    assert!(energy > 0.1, "{energy}");
}

#[test]
fn a_force_of_zero_is_no_result() {
    let folder = Folder::new();
    let boundary = "\"x-\" = { type = \"velocity\", velocity = [1, 0], ramp = 10 }\n\"x+\" = \"outflow\"\n\
                    \"y-\" = \"free-slip\"\n\"y+\" = \"free-slip\"";
    // Nothing is faster than a cell in a step, and the body is 20 cells behind the inlet.
    folder.write("case.toml", &circle("re = 40", boundary, "steps = 15"));
    let ran = folder.run("solve case.toml");
    ran.failed(6, &["movement", "exactly 0", "run longer"]);
    assert_eq!(check(&summary(&folder), "duration")["grade"], "doubtful");
}

/// A body that turns in a fluid at rest has a torque, which is shown, and no force to compare with.
#[test]
fn a_torque_is_shown_and_no_share_of_a_force_that_cancels() {
    let folder = Folder::new();
    let case = "[mesh]\nshape = \"circle:r=0.5\"\ndomain = [-1, -1, 1, 1]\nroot = 32\nlevels = 1\nno-picture = true\n\
                [physics]\nre = 20\nlength = 1\nvelocity = 0.5\n[boundary]\n\"x-\" = \"no-slip\"\n\"x+\" = \"no-slip\"\n\
                \"y-\" = \"no-slip\"\n\"y+\" = \"no-slip\"\n[patches.circle]\ntype = \"rotating\"\ncenter = [0, 0]\nomega = 1\n\
                [run]\nsteps = 2000\n[output]\nfolder = \"flow\"\n";
    folder.write("case.toml", case);
    let ran = folder.run("solve case.toml");
    assert!(
        ran.stdout.contains("C_Mz"),
        "{}\n{}",
        ran.stdout,
        ran.stderr
    );
    assert!(
        !ran.stdout.contains("exchange") && !ran.stdout.contains("NaN"),
        "{}",
        ran.stdout
    );
    let whole = summary(&folder);
    let names: Vec<&Value> = whole["verdict"]["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .map(|check| &check["check"])
        .collect();
    assert!(!names.iter().any(|name| *name == "exchange"), "{names:?}");
    let torque = whole["patches"]["circle"]["C_Mz"]["mean"].as_f64();
    assert!(torque.expect("a torque") < -0.1, "{torque:?}");
}
