//! What `cutlink solve` writes and tells beside forces and fields, as users run it.

mod kit;

use kit::Folder;

/// A channel 1 m high and 2 m long with a parabola of mean 1 m/s.
const CHANNEL: &str = r#"
[domain]
box = [0, 0, 2, 1]
root = 64

[physics]
re = 20
length = 1
velocity = 1
density = 2
lattice_velocity = 0.03

[boundary]
"x-" = { type = "velocity", profile = "parabolic", mean = 1, ramp = 0 }
"x+" = { type = "pressure", pressure = 0 }
"y-" = "no-slip"
"y+" = "no-slip"

[initial]
velocity = ["6*y*(1-y)", 0]
pressure = "1.2*(2-x)"

[run]
steps = 3000

[output]
checkpoint_every = 1000
integrals_every = 200
folder = "whole"
"#;

fn lines(folder: &Folder, name: &str) -> Vec<Vec<f64>> {
    let text = String::from_utf8(folder.read(name)).expect("text");
    let numbers = |line: &str| {
        line.split(',')
            .map(|n| n.parse().expect("a number"))
            .collect()
    };
    text.lines().skip(1).map(numbers).collect()
}

#[test]
fn flows_and_energy_of_a_channel_are_those_of_its_parabola() {
    let folder = Folder::new();
    folder.write("case.toml", CHANNEL);
    let ran = folder.run("solve case.toml").ok();
    let all = lines(&folder, "whole/integrals.csv");
    let steps: Vec<f64> = all.iter().map(|line| line[0]).collect();
    let want: Vec<f64> = (0..=15).map(|k| 200.0 * f64::from(k)).collect();
    assert_eq!(steps, want);
    let last = all.last().expect("a line");
    // By hand: 1 m²/s of 2 kg/m³; 2 * (6/5) / 2 J/m³; the mean of (6 - 12 y)² / 2 is 6.
    let near = |found: f64, wanted: f64, share: f64| {
        assert!(
            (found / wanted - 1.0).abs() < share,
            "{found} {wanted}: {last:?}"
        );
    };
    near(last[5], -1.0, 5e-3);
    near(last[7], 1.0, 5e-3);
    near(last[8], 2.0, 0.02);
    near(last[3], 1.2, 0.02);
    near(last[4], 6.0, 0.02);
    assert!(ran.stderr.contains("leaves than enters") || ran.stdout.contains("leaves than enters"));
    let summary: serde_json::Value =
        serde_json::from_slice(&folder.read("whole/summary.json")).expect("JSON");
    let imbalance = summary["integrals"]["imbalance"].as_f64().expect("a share");
    assert!(imbalance.abs() < 5e-3, "{imbalance}");
    let leaves = summary["integrals"]["faces"]["x+"]["volume_flow"].as_f64();
    near(leaves.expect("a flow"), 1.0, 5e-3);
}

#[test]
fn a_resumed_run_has_the_integrals_and_the_looks_of_one_that_was_not_stopped() {
    let folder = Folder::new();
    let short = CHANNEL.replace("steps = 3000", "steps = 1100");
    folder.write("case.toml", &short);
    folder.write("parts.toml", &short.replace("\"whole\"", "\"parts\""));
    folder.run("solve case.toml").ok();
    folder.run("solve parts.toml --steps 700").ok();
    folder.run("solve parts.toml --resume").ok();
    let read = |name: &str| {
        [
            folder.read(&format!("whole/{name}")),
            folder.read(&format!("parts/{name}")),
        ]
    };
    let [whole, parts] = read("integrals.csv");
    assert!(whole == parts, "lines");
    // The header of a checkpoint has the flow on the whole at steps 256, 512, 768 and 1024.
    let [whole, parts] = read("step_000000001100.ckpt");
    assert!(whole == parts, "checkpoints");
    let text = String::from_utf8_lossy(&parts);
    assert_eq!(text.matches("\"fastest\"").count(), 4, "looks");
}

/// Of the drag of a circle at Re 20 shear is some 40 % (Dennis & Chang, J. Fluid Mech. 42 (1970) 471: 0.812 of 2.045), and less between walls.
#[test]
fn a_circle_has_drag_by_pressure_and_by_friction() {
    let folder = Folder::new();
    let case = r#"
[mesh]
shape = "circle:r=0.5"
domain = [-3, -4, 5, 4]
root = 64
levels = 3
wall-distance = 0.5
[physics]
re = 20
length = 1
velocity = 1
[boundary]
"x-" = { type = "velocity", velocity = [1, 0], ramp = 0 }
"x+" = "outflow"
"y-" = "free-slip"
"y+" = "free-slip"
[run]
seconds = 20
[output]
forces_every = 7
"#;
    folder.write("case.toml", case);
    let ran = folder.run("solve case.toml").ok();
    let told = ran.stdout + &ran.stderr;
    assert!(told.contains("pressure + friction at the end"), "{told}");
    let summary: serde_json::Value =
        serde_json::from_slice(&folder.read("flow/summary.json")).expect("JSON");
    let parts = &summary["parts"]["circle"]["C_D"];
    let of = |key: &str| parts[key].as_f64().expect("a number");
    let (pressure, friction, exchange) = (of("pressure"), of("friction"), of("exchange"));
    assert!(
        (of("difference") - (pressure + friction - exchange)).abs() < 1e-12,
        "{parts}"
    );
    assert!((of("difference") / exchange).abs() < 0.02, "{parts}");
    let share = friction / (pressure + friction);
    assert!((0.33..0.42).contains(&share), "{parts}");
    folder.write(
        "case.toml",
        &case.replace("forces_every = 7", "forces_every = 0"),
    );
    let ran = folder.run("solve case.toml --force --steps 3 --json").ok();
    assert!(ran.json()["parts"].is_null(), "no forces");
}

/// At Re 40 the wake of a circle in an unbounded stream is 2.2 diameters long (Coutanceau & Bouard 1977: 2.13; Dennis & Chang 1970: 2.35); sides
/// 8 diameters apart shorten it.
#[test]
fn the_wake_of_a_circle_has_a_length() {
    let folder = Folder::new();
    let case = r#"
[mesh]
shape = "circle:r=0.5"
domain = [-4, -4, 8, 4]
root = 96
levels = 2
wall-distance = 0.5
[physics]
re = 40
length = 1
velocity = 1
lattice_velocity = 0.1
[boundary]
"x-" = { type = "velocity", velocity = [1, 0], ramp = 0 }
"x+" = "outflow"
"y-" = "free-slip"
"y+" = "free-slip"
[run]
seconds = 40
[output.recirculation]
"#;
    folder.write("case.toml", case);
    let ran = folder.run("solve case.toml").ok();
    let told = ran.stdout + &ran.stderr;
    assert!(told.contains("recirculation length"), "{told}");
    let all = lines(&folder, "flow/integrals.csv");
    let of = |line: &Vec<f64>| *line.last().expect("a number");
    assert_eq!(of(&all[0]), 0.0, "nothing runs back at the start");
    let last = of(all.last().expect("a line"));
    assert!((1.7..2.4).contains(&last), "{last}");
    // The resolved case says where the line begins, and is the same one.
    let resolved = String::from_utf8(folder.read("flow/case.toml")).expect("text");
    assert!(resolved.contains("[output.recirculation]"), "{resolved}");
    folder.write("again.toml", &resolved.replace("\"flow\"", "\"again\""));
    folder.run("solve again.toml --steps 256").ok();
    let again = lines(&folder, "again/integrals.csv");
    assert_eq!(again[..2], all[..2]);
    let bare = "[domain]\nbox = [0, 0, 1, 1]\nroot = 8\n[physics]\nre = 1\nlength = 1\nvelocity = 1\n\
        [boundary]\n\"x-\" = \"periodic\"\n\"x+\" = \"periodic\"\n\"y-\" = \"no-slip\"\n\"y+\" = \"no-slip\"\n\
        [run]\nsteps = 1\n[output.recirculation]\n";
    folder.write("bare.toml", bare);
    folder
        .run("solve bare.toml")
        .failed(2, &["bare.toml", "[output.recirculation] from is missing"]);
}
