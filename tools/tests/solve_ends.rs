//! Runs of `cutlink solve` ended by signals, second runs in the same folder, and dry runs.

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

/// Starts the case, and waits until its forces are written.
fn start(folder: &Folder) -> Child {
    folder.write("case.toml", CASE);
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
    for signal in ["INT", "TERM", "HUP"] {
        let folder = Folder::new();
        let mut child = start(&folder);
        let sent = Command::new("kill")
            .args([format!("-{signal}"), child.id().to_string()])
            .status();
        assert!(sent.expect("kill should start").success());
        let ended = child.wait().expect("it ends");
        assert_eq!(ended.code(), Some(130), "{signal}");
        let names = std::fs::read_dir(folder.path("flow")).expect("a folder");
        let names: Vec<String> = names
            .map(|e| {
                e.expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        assert!(
            names.iter().any(|n| n.ends_with(".ckpt")),
            "{signal}: {names:?}"
        );
        assert!(!names.iter().any(|n| n.starts_with('.')), "{names:?}");
        let before = lines(&folder);
        let steps = before + 9;
        folder
            .run(&format!("solve case.toml --resume --steps {steps}"))
            .ok();
        assert_eq!(
            lines(&folder),
            steps + 1,
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
