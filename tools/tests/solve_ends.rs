//! Runs of `cutlink solve` ended by signals, second runs in the same folder, dry runs, and runs on a mesh that follows the flow.

mod kit;

use kit::Folder;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Far longer than any of these tests.
const CASE: &str = r#"
[mesh]
shape = "circle:r=0.5"
domain = [-4, -4, 12, 4]
root = 64
levels = 2
wall-distance = 0.5

[physics]
re = 20
length = 1
velocity = 1
lattice_velocity = 0.05

[boundary]
"x-" = { type = "velocity", velocity = [1, 0] }
"x+" = { type = "pressure", pressure = 0 }
"y-" = "free-slip"
"y+" = "free-slip"

[run]
steps = 100000000

[output]
folder = "flow"
"#;

/// A compressible flow between plates, as long.
const GAS: &str = r#"
[solver]
kind = "flux-reconstruction"

[domain]
box = [0, 0, 1, 1]
elements = [8, 8]

[physics]
dynamic_viscosity = 0.05

[boundary]
"x-" = "periodic"
"x+" = "periodic"
"y-" = "no-slip"
"y+" = { type = "no-slip", velocity = [1, 0] }

[reference]
density = 1
velocity = 1
length = 1
area = 1

[initial]
density = 1
velocity = [0, 0]
pressure = 20

[run]
steps = 100000000

[output]
folder = "flow"
forces_every = 1
"#;

/// Starts the case, and waits until its forces are written.
fn start(folder: &Folder) -> Child {
    start_case(folder, CASE)
}

fn start_case(folder: &Folder, case: &str) -> Child {
    folder.write("case.toml", case);
    let child = Command::new(env!("CARGO_BIN_EXE_cutlink"))
        .args(["solve", "case.toml", "--device", "cpu"])
        .current_dir(folder.path("."))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("cutlink should start");
    let begin = Instant::now();
    while lines(folder) < 100 {
        assert!(begin.elapsed() < Duration::from_secs(60), "no forces");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

fn lines(folder: &Folder) -> usize {
    let text = std::fs::read_to_string(folder.path("flow/forces.csv")).unwrap_or_default();
    text.lines().count()
}

#[cfg(unix)]
#[test]
fn signals_end_a_run_with_a_checkpoint() {
    // The gas has a line of its start as well.
    let of_gas = ["INT", "TERM"].map(|signal| (GAS, signal, 2));
    let of_lattice = ["INT", "TERM", "HUP"].map(|signal| (CASE, signal, 1));
    for (case, signal, beside) in of_lattice.into_iter().chain(of_gas) {
        let folder = Folder::new();
        let mut child = start_case(&folder, case);
        let sent = Command::new("kill")
            .args([format!("-{signal}"), child.id().to_string()])
            .status();
        assert!(sent.expect("kill should start").success());
        let ended = child.wait().expect("it ends");
        assert_eq!(ended.code(), Some(130), "{signal}");
        let names = folder.files_in("flow");
        assert!(
            names.iter().any(|n| n.ends_with(".ckpt")),
            "{signal}: {names:?}"
        );
        assert!(!names.iter().any(|n| n.starts_with('.')), "{names:?}");
        let before = lines(&folder);
        let steps = before + 9 - beside;
        folder
            .run(&format!("solve case.toml --resume --steps {steps}"))
            .ok();
        assert_eq!(
            lines(&folder),
            steps + beside,
            "one line per step, and the header"
        );
    }
}

#[test]
fn a_folder_takes_one_run_at_a_time() {
    let folder = Folder::new();
    let mut child = start(&folder);
    for args in ["solve case.toml --force", "solve case.toml --resume"] {
        folder
            .run(args)
            .failed(2, &["another run writes into flow"]);
    }
    let before = lines(&folder);
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(lines(&folder) >= before, "nothing was truncated");
    // The lock ends with its run, even with one that is killed.
    folder.run("solve case.toml --force --steps 10").ok();
    assert_eq!(lines(&folder), 11);
}

#[test]
fn a_plan_is_one_json_object_and_writes_nothing() {
    let folder = Folder::new();
    folder.write("case.toml", CASE);
    let plan = folder.run("solve case.toml --dry-run --json").ok().json();
    assert_eq!(plan["dry_run"], true);
    assert_eq!(plan["steps"], 100_000_000u64);
    let cells: u64 = plan["levels"]
        .as_array()
        .expect("levels")
        .iter()
        .map(|level| level["cells"].as_u64().expect("a number"))
        .sum();
    assert!(cells > 64 * 32, "{cells} cells");
    let page = include_str!("../../docs/json-schema.md");
    for key in plan.as_object().expect("an object").keys() {
        assert!(
            page.contains(&format!("`{key}`")),
            "docs/json-schema.md lacks {key}"
        );
    }
    assert_eq!(folder.files(), ["case.toml"]);
}

/// A shielded vortex that is carried through a periodic box.
const VORTEX: &str = r#"
[domain]
box = [0, 0, 4, 4]
root = 32

[physics]
re = 500
length = 1
velocity = 1

[boundary]
"x-" = "periodic"
"x+" = "periodic"
"y-" = "periodic"
"y+" = "periodic"

[initial]
velocity = ["1-3*(y-2)*exp(-((x-2)^2+(y-2)^2)/0.2)", "3*(x-2)*exp(-((x-2)^2+(y-2)^2)/0.2)"]

[adapt]
levels = 3
every = 10

[[adapt.by]]
what = "vorticity"
refine = 0.05

[run]
steps = 200

[[output.write]]
kind = "probes"
every_steps = 10
points = [[2.5, 2.1]]

[[output.write]]
kind = "volume"

[[output.write]]
kind = "volume"
name = "mean"
average = "mean"

[output.averages]
from_steps = 43
every_steps = 15

[output]
checkpoint_every = 100
"#;

#[test]
fn a_mesh_that_follows_the_flow_is_resumed_to_the_bit() {
    resumes("f32", "f16");
}

#[test]
fn so_it_is_with_populations_in_16_bits() {
    resumes("f16", "f32");
}

/// Runs in one precision; another one is refused.
fn resumes(precision: &str, other: &str) {
    let folder = Folder::new();
    let vortex = format!("{VORTEX}\n[numerics]\nprecision = \"{precision}\"\n");
    let case =
        |name: &str| vortex.replace("[output]\n", &format!("[output]\nfolder = \"{name}\"\n"));
    for name in ["whole", "parts"] {
        folder.write(&format!("{name}.toml"), &case(name));
    }
    folder.run("solve whole.toml").ok();
    folder.run("solve parts.toml --steps 100").ok();
    let changed = case("parts").replace(precision, other);
    folder.write("changed.toml", &changed);
    let words = [
        "belongs to another flow",
        &format!("[numerics] precision is \"{other}\", was \"{precision}\""),
    ];
    folder.run("solve changed.toml --resume").failed(2, &words);
    folder.run("solve parts.toml --resume").ok();
    let read = |name: &str| String::from_utf8(folder.read(name)).expect("text");
    assert_eq!(read("whole/probes.csv"), read("parts/probes.csv"));
    let mean = "mean_000000200.htg";
    assert!(
        folder.read(&format!("whole/{mean}")) == folder.read(&format!("parts/{mean}")),
        "the same averages"
    );
    let last = "step_000000000200.ckpt";
    assert!(
        folder.read(&format!("whole/{last}")) == folder.read(&format!("parts/{last}")),
        "the same blocks and populations"
    );
    // All columns but the time that a look took; looks at the initial state are the first ones.
    let looks = |name: &str| -> Vec<String> {
        let text = read(&format!("{name}/adapt.csv"));
        let lines = text.lines().filter_map(|line| line.rsplit_once(','));
        lines.map(|(line, _)| line.to_owned()).collect()
    };
    assert_eq!(looks("whole"), looks("parts"));
    assert!(looks("whole").len() > 20, "{:?}", looks("whole"));
    let summary: serde_json::Value =
        serde_json::from_str(&read("whole/summary.json")).expect("JSON");
    let adapt = &summary["adapt"];
    assert!(adapt["changes"].as_u64() > Some(5), "{adapt}");
    let [least, most] = [0, 1].map(|n| adapt["cells"][n].as_u64().expect("cells"));
    assert!(least >= 1024 && most < 16 * 1024 && most > least, "{adapt}");
    // The flow of a run whose mesh has changed is an initial flow.
    let next = case("next").replace(
        VORTEX
            .lines()
            .find(|line| line.starts_with("velocity = [\""))
            .expect("the initial velocity"),
        "from = \"whole\"",
    );
    folder.write("next.toml", &next);
    folder.run("solve next.toml --steps 20").ok();
}

#[test]
fn a_killed_run_whose_mesh_follows_the_flow_goes_on_with_the_same_files() {
    let folder = Folder::new();
    let case = |name: &str| {
        let frames = "[[output.write]]\nkind = \"volume\"\nname = \"frame\"\nevery_steps = 150\n";
        VORTEX.replace("steps = 200", "steps = 900").replace(
            "[output]\n",
            &format!("{frames}\n[output]\nfolder = \"{name}\"\n"),
        )
    };
    for name in ["whole", "parts"] {
        folder.write(&format!("{name}.toml"), &case(name));
    }
    folder.run("solve whole.toml").ok();
    let mut child = Command::new(env!("CARGO_BIN_EXE_cutlink"))
        .args(["solve", "parts.toml", "--quiet"])
        .current_dir(folder.path("."))
        .spawn()
        .expect("the program");
    let began = Instant::now();
    while !folder.path("parts/step_000000000200.ckpt").exists() {
        assert!(began.elapsed().as_secs() < 100, "no checkpoint");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("it runs");
    assert!(!child.wait().expect("it ends").success(), "it was killed");
    assert!(
        !folder.path("parts/summary.json").exists(),
        "it had not ended"
    );
    folder.run("solve parts.toml --resume").ok();
    let files = |name: &str| -> Vec<String> {
        let all = std::fs::read_dir(folder.path(name)).expect("a folder");
        let mut all: Vec<String> = all
            .map(|file| {
                file.expect("a file")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            // These have times of the clock.
            .filter(|file| {
                !["summary.json", "report.html", "adapt.csv", "case.toml"].contains(&file.as_str())
            })
            .collect();
        all.sort();
        all
    };
    assert_eq!(files("whole"), files("parts"));
    let frames = files("whole")
        .iter()
        .filter(|f| f.starts_with("frame"))
        .count();
    assert!(frames > 5, "{:?}", files("whole"));
    for file in files("whole") {
        let [whole, parts] = ["whole", "parts"].map(|n| folder.read(&format!("{n}/{file}")));
        assert!(whole == parts, "{file}");
    }
}

#[test]
fn what_cannot_be_adapted_is_refused() {
    let folder = Folder::new();
    let refused = |from: &str, to: &str, words: &[&str]| {
        let text = VORTEX.replace(from, to);
        assert_ne!(text, VORTEX, "{from}");
        folder.write("case.toml", &format!("{text}folder = \"out\"\n"));
        let ran = folder.run("solve case.toml --force");
        assert_eq!(ran.code, 2, "{to}: {}", ran.stderr);
        for word in words {
            assert!(ran.stderr.contains(word), "{to}: {}", ran.stderr);
        }
    };
    refused("\"vorticity\"", "\"heat\"", &["[adapt]", "heat", "strain"]);
    refused("refine = 0.05", "refine = 1e-6", &["refine", "f64"]);
    refused(
        "refine = 0.05",
        "refine = 1e-4\n\n[numerics]\nprecision = \"f16\"",
        &["refine", "f16", "f64"],
    );
    refused("refine = 0.05", "coarsen = 0.5", &["refine"]);
    refused(
        "refine = 0.05",
        "refine = 0.05\ncoarsen = 1",
        &["coarsening"],
    );
    refused("levels = 3", "", &["levels"]);
    refused(
        "levels = 3\nevery = 10",
        "levels = 3\nmax_cells = 1000",
        &["max_cells", "1024"],
    );
}
