//! `cutlink solve` through the program.

mod kit;

use cutlink::solve::example::EXAMPLES;
use kit::Folder;

const CIRCLE: &str = r#"
[mesh]
shape = "circle:r=0.5"
domain = [-2, -2, 4, 2]
root = 48
levels = 2

[physics]
re = 20
length = 1
velocity = 1
lattice_velocity = 0.05

[numerics]
collision = "regularized"

[boundary]
"x-" = { type = "velocity", velocity = [1, 0], ramp = 0 }
"x+" = { type = "pressure", pressure = 0 }
"y-" = "free-slip"
"y+" = "free-slip"

[run]
steps = 200

[output]
checkpoint_every = 100
"#;

fn case(folder: &Folder, name: &str) {
    std::fs::write(
        folder.path("case.toml"),
        format!("{CIRCLE}folder = \"{name}\"\n"),
    )
    .expect("a case");
}

#[test]
fn a_run_that_was_resumed_is_the_run_that_was_not_stopped() {
    let folder = Folder::new();
    case(&folder, "out");
    folder.run("solve case.toml").ok();
    let forces = || std::fs::read_to_string(folder.path("out/forces.csv")).expect("forces");
    let whole = forces();
    assert_eq!(
        whole.lines().count(),
        201,
        "one line per step, and the header"
    );
    let last: Vec<f64> = whole
        .lines()
        .last()
        .expect("a line")
        .split(',')
        .map(|n| n.parse().expect("a number"))
        .collect();
    assert!(
        last[2] > 1.0 && last[3].abs() < 1e-3,
        "drag and no lift: {last:?}"
    );
    let newest = folder.path("out/step_000000000200.ckpt");
    let state = std::fs::read(&newest).expect("a checkpoint");
    std::fs::remove_file(&newest).expect("it was there");
    folder.run("solve case.toml --resume").ok();
    assert_eq!(forces(), whole, "the same forces");
    assert!(
        std::fs::read(&newest).expect("a checkpoint") == state,
        "the same bits"
    );
    // A run is not overwritten by mistake, and a damaged checkpoint is skipped.
    assert_ne!(folder.run("solve case.toml").code, 0, "exists already");
    std::fs::write(&newest, &state[..state.len() - 9]).expect("damage");
    let ran = folder.run("solve case.toml --resume").ok();
    assert!(
        ran.stderr.contains("step_000000000200") && ran.stderr.contains("100"),
        "{}",
        ran.stderr
    );
    assert_eq!(forces(), whole, "from the one before");
}

#[test]
fn conditions_that_vary_are_resumed_to_the_bit() {
    let folder = Folder::new();
    folder.write("inlet.csv", "y,u\n-2,0.8\n0,1.2\n2,0.8\n");
    let text = CIRCLE
        .replace(
            "velocity = [1, 0], ramp = 0 }",
            "profile = \"inlet.csv\", ramp = 0.5 }",
        )
        .replace(
            "{ type = \"pressure\", pressure = 0 }",
            "{ type = \"pressure\", pressure = \"0.1*sin(y-3*t)\" }",
        )
        .replace(
            "velocity = 1\n",
            "velocity = 1\nacceleration = [\"0.1*sin(t)\", 0]\n",
        )
        .replace(
            "[run]",
            "[patches.circle]\ntype = \"velocity\"\nvelocity = [\"-y*t\", \"x*t\"]\n\n[run]",
        )
        .replace("steps = 200", "steps = 130");
    for name in ["whole", "parts"] {
        folder.write(
            &format!("{name}.toml"),
            &format!("{text}folder = \"{name}\"\n"),
        );
    }
    let ran = folder.run("solve whole.toml").ok();
    assert!(
        ran.stderr.contains("\"x+\" is not a product"),
        "{}",
        ran.stderr
    );
    folder.run("solve parts.toml --steps 110").ok();
    folder.run("solve parts.toml --resume").ok();
    assert!(
        written(&folder, "whole") == written(&folder, "parts"),
        "the same bits"
    );
    // The table is in the resolved case: its file is not needed again.
    std::fs::remove_file(folder.path("inlet.csv")).expect("it was there");
    let resolved = String::from_utf8(folder.read("whole/case.toml")).expect("text");
    folder.write("again.toml", &resolved.replace("\"whole\"", "\"again\""));
    folder.run("solve again.toml").ok();
    assert!(
        written(&folder, "whole") == written(&folder, "again"),
        "again"
    );
    let other = resolved
        .replace("\"whole\"", "\"other\"")
        .replace("0.5", "0.25");
    folder.write("other.toml", &other);
    folder.run("solve other.toml").ok();
    assert!(
        written(&folder, "whole") != written(&folder, "other"),
        "another ramp"
    );
}

#[test]
fn a_value_that_is_not_finite_ends_with_its_point() {
    let folder = Folder::new();
    let bad = |from: &str, to: &str, words: &[&str]| {
        assert!(CIRCLE.contains(from));
        folder.write(
            "bad.toml",
            &format!("{}folder = \"bad\"\n", CIRCLE.replace(from, to)),
        );
        folder.run("solve bad.toml --force").failed(2, words);
    };
    bad(
        "velocity = [1, 0],",
        "velocity = [\"sqrt(y)\", 0],",
        &["\"x-\" velocity", "NaN at", "y = -"],
    );
    bad(
        "velocity = [1, 0],",
        "velocity = [\"sqrt(0.5-t)\", 0],",
        &["\"x-\" velocity", "NaN at t = 0.5"],
    );
    bad(
        "[run]",
        "[initial]\nvelocity = [\"log(x)\", 0]\n[run]",
        &["[initial]", "NaN at x = -"],
    );
}

#[test]
fn divergence_has_its_own_exit_code() {
    let folder = Folder::new();
    let text = CIRCLE
        .replace("re = 20", "re = 20000")
        .replace("\"regularized\"", "\"bgk\"\nallow_unstable = true")
        .replace("steps = 200", "steps = 20000");
    std::fs::write(folder.path("case.toml"), text).expect("a case");
    let ran = folder.run("solve case.toml");
    assert_eq!(ran.code, 5, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("level") && ran.stderr.contains("cell"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("hint: ") && ran.stderr.contains("regularized"),
        "a remedy not in use: {}",
        ran.stderr
    );
    let kept = std::fs::read_dir(folder.path("flow")).expect("a folder");
    let kept = kept
        .flatten()
        .any(|entry| entry.path().extension().is_some_and(|e| e == "ckpt"));
    assert_eq!(
        ran.stderr.contains("checkpoint"),
        kept,
        "named if there is one"
    );
    let forces = String::from_utf8(folder.read("flow/forces.csv")).expect("text");
    assert!(forces.lines().count() > 10, "what was there: {forces}");
    assert!(!forces.contains("NaN") && !forces.contains("inf"));
}

#[test]
fn forces_are_written_during_the_run() {
    use std::time::{Duration, Instant};
    let folder = Folder::new();
    let text = CIRCLE.replace("steps = 200", "steps = 100000000");
    folder.write("case.toml", &text);
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_cutlink"))
        .args(["solve", "case.toml", "--quiet"])
        .current_dir(folder.path("."))
        .spawn()
        .expect("the program");
    let lines = || {
        let text = std::fs::read_to_string(folder.path("flow/forces.csv")).unwrap_or_default();
        text.lines().count()
    };
    let began = Instant::now();
    while lines() < 300 && began.elapsed() < Duration::from_secs(100) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let seen = lines();
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(seen >= 300, "{seen} lines");
    // Lines of the killed run are truncated at the checkpoint.
    let last = std::fs::read_dir(folder.path("flow")).expect("a folder");
    let step = |name: &str| -> Option<usize> {
        let step = name.strip_prefix("step_")?.strip_suffix(".ckpt")?;
        step.parse().ok()
    };
    let last = last
        .filter_map(|entry| step(&entry.ok()?.file_name().to_string_lossy()))
        .max()
        .expect("a checkpoint every 100 steps");
    folder
        .run(&format!("solve case.toml --resume --steps {}", last + 37))
        .ok();
    assert_eq!(lines(), last + 38, "one line per step");
}

#[test]
fn a_finished_run_can_be_extended_and_changes_are_noted() {
    let folder = Folder::new();
    let with = |from: &str, to: &str, name: &str| {
        let text = format!("{CIRCLE}folder = \"{name}\"\n");
        let text = text.replace("checkpoint_every = 100\n", "");
        assert!(text.contains(from), "{from}");
        folder.write("case.toml", &text.replace(from, to));
    };
    with("steps = 200", "steps = 300", "whole");
    folder.run("solve case.toml").ok();
    with("", "", "parts");
    folder.run("solve case.toml").ok();
    std::fs::rename(folder.path("parts"), folder.path("moved")).expect("a folder");
    with("steps = 200", "steps = 300", "moved");
    let more = "\n[[output.write]]\nkind = \"slice\"\nevery_steps = 50\n";
    let text = String::from_utf8(folder.read("case.toml")).expect("text");
    folder.write("case.toml", &format!("{text}{more}"));
    let ran = folder.run("solve case.toml --resume").ok();
    for word in [
        "resumed at root step 200",
        "[run] steps is 300, was 200",
        "[output] folder is \"moved\", was \"parts\"",
        "[output] write",
    ] {
        assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
    }
    assert!(folder.path("moved/slice_000000250.vtu").exists());
    let forces = |name: &str| folder.read(&format!("{name}/forces.csv"));
    assert!(forces("moved") == forces("whole"), "to the bit");
    // The parts of a case that define the flow must not change, and are named.
    for (from, to, word) in [
        ("re = 20", "re = 21", "[physics] viscosity"),
        ("pressure = 0", "pressure = 0.1", "[boundary.x+] pressure"),
        ("root = 48", "root = 96", "[mesh] root"),
        ("\"regularized\"", "\"trt\"", "[numerics] collision"),
    ] {
        with(from, to, "moved");
        let before = forces("moved");
        folder
            .run("solve case.toml --resume")
            .failed(2, &["belongs to another flow", word, "--force"]);
        assert!(forces("moved") == before, "untouched");
    }
}

#[test]
fn coefficients_are_over_the_frontal_area_along_the_free_stream() {
    let folder = Folder::new();
    let text = CIRCLE
        .replace("circle:r=0.5", "ellipse:r=0.5x0.25")
        .replace("velocity = [1, 0], ", "")
        .replace("[run]", "[free_stream]\nangle = 30\n\n[run]")
        .replace("\"free-slip\"", "\"periodic\"");
    folder.write("case.toml", &text);
    let ran = folder.run("solve case.toml --json").ok();
    let summary = ran.json();
    // Half the width of an ellipse seen at 30 degrees: the root of (a sin)² + (b cos)².
    let width = 2.0 * (0.25f64.powi(2) + 0.25f64.powi(2) * 0.75).sqrt();
    let area = summary["area"].as_f64().expect("an area");
    assert!((area / width - 1.0).abs() < 1e-2, "{area} {width}");
    let drag = summary["axes"]["drag"][1].as_f64().expect("an axis");
    assert!((drag - 0.5).abs() < 1e-12, "sin 30°: {drag}");
    let resolved = String::from_utf8(folder.read("flow/case.toml")).expect("text");
    assert!(resolved.contains("velocity = [0.866025"), "{resolved}");
    for key in ["mach", "pressure_variation"] {
        let value = summary["compressibility"][key].as_f64().expect("a number");
        assert!(value > 0.01 && value < 0.5, "{key}: {value}");
    }
    assert!(summary["diverging"].is_null(), "{summary}");
}

/// Every file of a folder except checkpoints and the summary, which has the speed.
fn written(folder: &Folder, name: &str) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder.path(name)).expect("a folder");
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|e| e.expect("an entry"))
        .map(|e| (e.file_name().to_string_lossy().into_owned(), e.path()))
        .filter(|(n, _)| {
            !n.ends_with(".ckpt") && n != "summary.json" && n != "case.toml" && n != "report.html"
        })
        .map(|(n, path)| (n, std::fs::read(path).expect("a file")))
        .collect();
    files.sort();
    files
}

const FIELDS: &str = r#"
[output.averages]
from_steps = 40
every_steps = 7

[[output.write]]
kind = "volume"
every_steps = 50
fields = ["velocity", "density", "pressure", "vorticity", "q"]

[[output.write]]
kind = "slice"
every_flow_through = 0.05

[[output.write]]
kind = "box"
every_seconds = 0.5
box = [0.5, -0.5, 2, 0.5]

[[output.write]]
kind = "probes"
every_steps = 9
points = [[1, 0.25], [2, 0]]

[[output.write]]
kind = "picture"
quantity = "vorticity"
width = 300

[[output.write]]
kind = "picture"
name = "mean"
average = "mean"
width = 300

[[output.write]]
kind = "volume"
name = "swing"
average = "rms"
every_steps = 80
"#;

#[test]
fn fields_of_a_resumed_run_are_those_of_one_that_was_not_stopped() {
    let folder = Folder::new();
    for name in ["whole", "parts"] {
        let text = format!("{CIRCLE}folder = \"{name}\"\n{FIELDS}");
        folder.write(&format!("{name}.toml"), &text);
    }
    folder.run("solve whole.toml").ok();
    let whole = written(&folder, "whole");
    let names: Vec<&str> = whole.iter().map(|(n, _)| n.as_str()).collect();
    for name in [
        "box.vtu.series",
        "forces.csv",
        "mean_000000200.png",
        "picture_000000200.png",
        "probes.csv",
        "slice_000000048.vtu",
        "swing_000000160.htg",
        "volume.htg.series",
        "volume_000000000.htg",
    ] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    assert!(!names.contains(&"swing_000000000.htg"), "no sample yet");
    // Ends at 130 with the final outputs; resumes from the checkpoint at 100.
    folder.run("solve parts.toml --steps 130").ok();
    assert!(
        folder.path("parts/picture_000000130.png").exists(),
        "an end"
    );
    folder.run("solve parts.toml --resume").ok();
    let parts = written(&folder, "parts");
    let there: Vec<&str> = parts.iter().map(|(n, _)| n.as_str()).collect();
    assert_eq!(there, names, "the same files");
    for ((name, a), (_, b)) in whole.iter().zip(&parts) {
        assert!(a == b, "{name} differs");
    }
    let rows = std::fs::read_to_string(folder.path("parts/probes.csv")).expect("a table");
    assert_eq!(
        rows.lines().count(),
        25,
        "0, 9, ... 198, the end, the header"
    );
    // The resolved case, which has the other folder, gives the same flow.
    let resolved = std::fs::read_to_string(folder.path("whole/case.toml")).expect("a case");
    assert!(resolved.contains("every_steps = 48"), "{resolved}");
    folder.write("again.toml", &resolved.replace("\"whole\"", "\"again\""));
    folder.run("solve again.toml").ok();
    assert!(written(&folder, "again") == whole, "again");
    // An output that the mesh does not support is refused before anything is written.
    let text = format!("{CIRCLE}folder = \"none\"\n{FIELDS}");
    folder.write("none.toml", &text.replace("[2, 0]", "[0.1, 0]"));
    folder
        .run("solve none.toml --dry-run")
        .failed(2, &["none.toml", "probes", "in the body"]);
    assert!(!folder.path("none").exists(), "nothing was written");
}

#[test]
fn every_example_is_written_and_runs() {
    let folder = Folder::new();
    for name in ["cavity", "channel", "cylinder", "sphere"] {
        let printed = folder.run(&format!("solve --example {name}")).ok().stdout;
        let dash = folder.run(&format!("solve --example {name} -")).ok().stdout;
        assert_eq!(dash, printed);
        assert!(!folder.path("-").exists());
        folder
            .run(&format!("solve --example {name} {name}.toml"))
            .ok();
        assert_eq!(folder.read(&format!("{name}.toml")), printed.as_bytes());
        let plan = folder.run(&format!("solve {name}.toml --dry-run")).ok();
        for word in ["memory: ", "for output", "time: ", " about ", " of them"] {
            assert!(plan.stdout.contains(word), "{word}: {}", plan.stdout);
        }
        let ran = folder
            .run(&format!("solve {name}.toml --steps 3 --json"))
            .ok();
        let summary = ran.json();
        assert_eq!(summary["steps"], 3, "{summary}");
        // The cavity has 128² cells, the channel 1024, of nine populations twice in 4 bytes; the others more.
        let least = match name {
            "cavity" => 1_179_648,
            "channel" => 73_728,
            _ => 100_000,
        };
        assert!(summary["bytes"]["flow"].as_u64() > Some(least), "{summary}");
        assert!(summary["strouhal"].is_null(), "three steps are too few");
        let drawn = folder.path(&format!("{name}/forces.png")).exists();
        assert_eq!(drawn, ["cylinder", "sphere"].contains(&name), "{name}");
    }
    let text = folder.read("cavity.toml");
    folder
        .run("solve --example channel cavity.toml")
        .failed(2, &["cavity.toml exists", "--force"]);
    assert_eq!(folder.read("cavity.toml"), text, "untouched");
    folder
        .run("solve --example channel cavity.toml --force")
        .ok();
    assert_ne!(folder.read("cavity.toml"), text, "replaced");
    folder
        .run("solve --example cavty")
        .failed(2, &["'cavty'", "'cavity'", "bunny"]);
    folder.run("solve").failed(2, &["<CASE>"]);
}

#[test]
fn every_example_passes_a_dry_run() {
    let folder = Folder::new();
    // `the_bunny_runs` covers those that need a scan.
    let all = EXAMPLES.iter().map(|(name, _)| *name);
    for name in all.filter(|name| !name.starts_with("bunny")) {
        folder
            .run(&format!("solve --example {name} case.toml --force"))
            .ok();
        let plan = folder.run("solve case.toml --dry-run").ok().stdout;
        assert!(plan.contains("\ntime: "), "{name}: {plan}");
    }
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn the_bunny_runs() {
    let folder = Folder::new();
    let scan = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/meshes/bunny_unit.stl"
    );
    std::fs::copy(scan, folder.path("bunny.stl")).expect("a scan");
    folder.run("solve --example bunny bunny.toml").ok();
    folder.run("solve bunny.toml --steps 2").ok();
    assert!(
        folder.path("bunny-flow/wake_000000002.png").exists(),
        "a picture"
    );
    folder
        .run("solve --example bunny-vortices vortices.toml")
        .ok();
    let plan = folder.run("solve vortices.toml --dry-run").ok().stdout;
    assert!(plan.contains("\ntime: "), "{plan}");
}

/// By hand: the energy of 4 y (1 - y) is 8 / 15 of that of its largest velocity.
#[test]
fn a_box_without_a_body_settles_by_its_energy() {
    let folder = Folder::new();
    let text = folder.run("solve --example channel").ok().stdout;
    let text = text
        .replace("\"16x64\"", "\"4x16\"")
        .replace("lattice_velocity = 0.02", "lattice_velocity = 0.04")
        .replace("[output]", "[output]\ncheckpoint_every = 1000");
    folder.write("whole.toml", &text.replace("\"channel\"", "\"whole\""));
    folder.write("parts.toml", &text.replace("\"channel\"", "\"parts\""));
    let summary = folder.run("solve whole.toml --json").ok().json();
    assert_eq!(summary["settled"], true, "{summary}");
    folder.run("solve parts.toml --steps 1111").ok();
    let resumed = folder.run("solve parts.toml --json --resume").ok().json();
    assert_eq!(
        resumed["steps"], summary["steps"],
        "settled at the same step"
    );
    assert!(
        written(&folder, "whole") == written(&folder, "parts"),
        "files"
    );
    let last = |name: &str| -> Vec<f64> {
        let text = String::from_utf8(folder.read(name)).expect("text");
        let line = text.lines().last().expect("a line");
        line.split(',')
            .map(|n| n.parse().expect("a number"))
            .collect()
    };
    let energy = last("whole/energy.csv")[2];
    assert!(
        (energy / (8.0 / 15.0) - 1.0).abs() < 0.02,
        "energy {energy}"
    );
    let middle = last("whole/probes.csv")[2];
    assert!((middle - 1.0).abs() < 0.01, "velocity {middle}");
}
