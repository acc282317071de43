//! Outputs of `cutlink solve` besides forces and fields, through the program.

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
    assert!(ran.stderr.contains("imbalance ") || ran.stdout.contains("imbalance "));
    let summary: serde_json::Value =
        serde_json::from_slice(&folder.read("whole/summary.json")).expect("JSON");
    let imbalance = summary["integrals"]["imbalance"].as_f64().expect("a share");
    assert!(imbalance.abs() < 5e-3, "{imbalance}");
    let leaves = summary["integrals"]["faces"]["x+"]["volume_flow"].as_f64();
    near(leaves.expect("a flow"), 1.0, 5e-3);
}

#[test]
fn a_resumed_run_has_the_integrals_and_bulk_samples_of_an_uninterrupted_one() {
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
    // The header of a checkpoint has the bulk quantities at steps 256, 512, 768 and 1024.
    let [whole, parts] = read("step_000000001100.ckpt");
    assert!(whole == parts, "checkpoints");
    let text = String::from_utf8_lossy(&parts);
    assert_eq!(text.matches("\"fastest\"").count(), 4, "looks");
}

/// About 40 % of the drag of a circle at Re 20 is friction (Dennis & Chang, J. Fluid Mech. 42 (1970) 471: 0.812 of
/// 2.045), and less between walls.
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
    let printed = ran.stdout + &ran.stderr;
    assert!(
        printed.contains("pressure and friction are parts of C_D at the end"),
        "{printed}"
    );
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

/// At Re 40 the wake of a circle in an unbounded free stream is 2.2 diameters long (Coutanceau & Bouard 1977: 2.13;
/// Dennis & Chang 1970: 2.35); sides 8 diameters apart shorten it.
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
    let printed = ran.stdout + &ran.stderr;
    assert!(printed.contains("recirculation length"), "{printed}");
    let all = lines(&folder, "flow/integrals.csv");
    let of = |line: &Vec<f64>| *line.last().expect("a number");
    assert_eq!(of(&all[0]), 0.0, "no recirculation at the start");
    let last = of(all.last().expect("a line"));
    assert!((1.7..2.4).contains(&last), "{last}");
    // The resolved case has the start of the line, and gives the same result.
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

/// The flow of a run is the same in SI units on another mesh, in another box, with another lattice velocity.
#[test]
fn a_flow_begins_with_that_of_another_run() {
    let folder = Folder::new();
    let first = CHANNEL.replace("steps = 3000", "steps = 8");
    folder.write("first.toml", &first.replace("\"whole\"", "\"first\""));
    folder.run("solve first.toml").ok();
    let second = CHANNEL
        .replace("[0, 0, 2, 1]", "[0.5, 0, 1.5, 1]")
        .replace("root = 64", "root = 80")
        .replace("lattice_velocity = 0.03", "lattice_velocity = 0.05")
        .replace("density = 2", "density = 5")
        .replace("[initial]", "[initial]\nfrom = \"first\"")
        .replace(
            "velocity = [\"6*y*(1-y)\", 0]\npressure = \"1.2*(2-x)\"\n",
            "",
        )
        .replace("\"whole\"", "\"second\"")
        + "[[output.write]]\nkind = \"probes\"\nevery_steps = 1\npoints = [[1, 0.5], [0.75, 0.25]]\n";
    folder.write("second.toml", &second);
    let ran = folder.run("solve second.toml --steps 1").ok();
    assert!(
        ran.stderr
            .contains("first/step_000000000008.ckpt, root step 8"),
        "{}",
        ran.stderr
    );
    let start = &lines(&folder, "second/integrals.csv")[0];
    let near = |found: f64, wanted: f64, off: f64| {
        assert!((found - wanted).abs() < off, "{found} {wanted}: {start:?}");
    };
    // By hand, as above: 1 m²/s, 5 * 6 / 5 / 2 J/m³, and 6 /s².
    near(start[7], 1.0, 3e-3);
    near(start[3], 3.0, 0.02);
    near(start[4], 6.0, 0.1);
    let probes = &lines(&folder, "second/probes.csv")[0];
    let text = String::from_utf8(folder.read("second/probes.csv")).expect("text");
    // The pressure over the density is 0.6 * (2 - x), apart from sound of the first start.
    near(probes[2], 1.5, 5e-3);
    near(probes[4], 5.0 * 0.6, 0.06);
    near(probes[5], 6.0 * 0.25 * 0.75, 5e-3);
    near(probes[7], 5.0 * 0.75, 0.06);
    assert!(text.starts_with("step"), "{text}");
    // It resumes without the other run.
    std::fs::remove_dir_all(folder.path("first")).expect("a folder");
    folder.run("solve second.toml --resume --steps 3").ok();
}

#[test]
fn flows_that_cannot_be_begun_with_are_refused() {
    let folder = Folder::new();
    let short = CHANNEL.replace("steps = 3000", "steps = 2");
    folder.write("first.toml", &short.replace("\"whole\"", "\"first\""));
    folder.run("solve first.toml").ok();
    let own = "velocity = [\"6*y*(1-y)\", 0]\npressure = \"1.2*(2-x)\"\n";
    let with = |text: &str, from: &str| {
        let text = text.replace(own, &format!("from = \"{from}\"\n"));
        folder.write("second.toml", &text);
        folder.run("solve second.toml --force")
    };
    let larger = short.replace("[0, 0, 2, 1]", "[0, 0, 2, 2]");
    with(&larger, "first").failed(
        2,
        &["second.toml", "[initial] from", "[2.0, 1.0]", "[2.0, 2.0]"],
    );
    with(&short, "nowhere").failed(
        1,
        &[
            "second.toml",
            "[initial] from",
            "nowhere",
            "give a checkpoint",
        ],
    );
    with(&short, ".").failed(2, &["[initial] from", "has no checkpoint"]);
    with(&short, "first/case.toml")
        .failed(2, &["[initial] from", "case.toml", "give a checkpoint"]);
    let both = short.replace("[initial]", "[initial]\nfrom = \"first\"");
    folder.write("second.toml", &both);
    folder
        .run("solve second.toml --force")
        .failed(2, &["[initial] has from and other keys"]);
    let space = short
        .replace("[0, 0, 2, 1]", "[0, 0, 0, 2, 1, 1]")
        .replace("root = 64", "root = 16")
        .replace(
            "\"y-\"",
            "\"z-\" = \"no-slip\"\n\"z+\" = \"no-slip\"\n\"y-\"",
        );
    with(&space, "first").failed(2, &["the flow is 2D, but this case is 3D"]);
    let path = folder.path("first/step_000000000002.ckpt");
    let mut bytes = std::fs::read(&path).expect("a checkpoint");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).expect("disk space");
    with(&short, "first").failed(2, &["[initial] from", "damaged"]);
}

#[test]
fn integrals_can_be_left_out_and_taken_up_later() {
    let folder = Folder::new();
    let none = CHANNEL
        .replace("steps = 3000", "steps = 100")
        .replace("integrals_every = 200", "integrals_every = 0");
    folder.write("case.toml", &none);
    let ran = folder.run("solve case.toml --json").ok();
    assert!(!folder.path("whole/integrals.csv").exists(), "none");
    assert!(
        ran.json()["integrals"]["imbalance"].is_number(),
        "still reported"
    );
    let some = none
        .replace("integrals_every = 0", "integrals_every = 50")
        .replace("steps = 100", "steps = 200");
    folder.write("case.toml", &some);
    folder.run("solve case.toml --resume").ok();
    let steps = lines(&folder, "whole/integrals.csv");
    let steps: Vec<f64> = steps.iter().map(|line| line[0]).collect();
    assert_eq!(steps, [100.0, 150.0, 200.0], "from where it was resumed");
}

#[test]
fn errors_of_a_box_name_its_keys() {
    let folder = Folder::new();
    folder.write(
        "case.toml",
        &CHANNEL.replace("[0, 0, 2, 1]", "[0, 0, 2, 0.9]"),
    );
    let ran = folder.run("solve case.toml");
    assert!(!ran.stderr.contains("--snap-domain"), "{}", ran.stderr);
    ran.failed(2, &["case.toml: [domain] box", "give box = [0.0, "]);
}

/// The mesh of a body is rebuilt; in the body of the other run the flow is at rest.
#[test]
fn a_flow_round_a_body_begins_with_that_round_a_larger_one() {
    let folder = Folder::new();
    let case = |radius: f64, levels: u32, initial: &str, name: &str| {
        format!(
            r#"
[mesh]
shape = "circle:r={radius}"
domain = [-2, -2, 4, 2]
root = 48
levels = {levels}
[physics]
re = 20
length = 1
velocity = 1
[boundary]
"x-" = {{ type = "velocity", velocity = [1, 0], ramp = 0 }}
"x+" = {{ type = "pressure", pressure = 0 }}
"y-" = "free-slip"
"y+" = "free-slip"
{initial}
[run]
steps = 400
[output]
folder = "{name}"
[[output.write]]
kind = "probes"
every_steps = 1
points = [[-1, 0], [0, 0.9], [2, 0.3], [0, 0.45]]
"#
        )
    };
    folder.write("large.toml", &case(0.5, 2, "", "large"));
    folder
        .run("solve large.toml --steps 400")
        .failed(2, &["in the body"]);
    let large = case(0.5, 2, "", "large").replace(", [0, 0.45]", "");
    folder.write("large.toml", &large);
    folder.run("solve large.toml").ok();
    let from = "[initial]\nfrom = \"large/step_000000000400.ckpt\"\n";
    folder.write("small.toml", &case(0.4, 3, from, "small"));
    folder.run("solve small.toml --steps 1").ok();
    let last = lines(&folder, "large/probes.csv").pop().expect("a line");
    let first = &lines(&folder, "small/probes.csv")[0];
    for (n, (before, now)) in last[2..11].iter().zip(&first[2..11]).enumerate() {
        assert!((before - now).abs() < 0.02, "{n}: {last:?} {first:?}");
    }
    assert!(first[11].abs() < 1e-6, "at rest in the body: {first:?}");
}

/// Taylor and Green's vortices in 2D: energy ρ U²/4 and enstrophy U² k²/2, both times exp(-4 ν k² t); and energy falls by 2 ρ ν
/// times enstrophy.
#[test]
fn vortices_lose_energy_in_proportion_to_their_enstrophy() {
    let folder = Folder::new();
    let case = r#"
[domain]
box = [0, 0, 1, 1]
root = 48
[physics]
viscosity = 0.01
length = 1
velocity = 1
density = 2
lattice_velocity = 0.03
[boundary]
"x-" = "periodic"
"x+" = "periodic"
"y-" = "periodic"
"y+" = "periodic"
[initial]
preset = "taylor-green"
[run]
seconds = 0.5
[output]
integrals_every = 100
"#;
    folder.write("case.toml", case);
    folder.run("solve case.toml").ok();
    let all = lines(&folder, "flow/integrals.csv");
    assert!(all.len() > 7 && all[0].len() == 5, "no open faces: {all:?}");
    let k = std::f64::consts::TAU;
    for line in &all {
        let left = (-4.0 * 0.01 * k * k * line[1]).exp();
        assert!(
            (line[3] / (0.5 * left) - 1.0).abs() < 0.01,
            "energy {line:?}"
        );
        let enstrophy = 0.5 * k * k * left;
        assert!(
            (line[4] / enstrophy - 1.0).abs() < 0.02,
            "enstrophy {line:?}"
        );
    }
    // A start in equilibrium also loses some energy.
    for pair in all[1..].windows(2) {
        let [before, after] = [&pair[0], &pair[1]];
        let lost = (before[3] - after[3]) / (after[1] - before[1]);
        let wanted = 2.0 * 2.0 * 0.01 * (before[4] * after[4]).sqrt();
        assert!((lost / wanted - 1.0).abs() < 0.03, "{before:?} {after:?}");
    }
}
