//! `cutlink solve`, as users run it.

mod kit;

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

[numerics]
collision = "regularized"

[boundary]
"x-" = { type = "velocity", velocity = [1, 0] }
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
    assert_eq!(whole.lines().count(), 201, "a line a step, and the header");
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
    // A run is not lost by mistake, and a damaged checkpoint is passed over.
    assert_ne!(folder.run("solve case.toml").code, 0, "there already");
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
fn what_diverges_ends_with_its_own_code() {
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
}
