//! What the run loop gives every flow, shown of this one: histories of a flow that diverges, averages, an end when forces
//! have settled, groups, the direction of the free stream, `adapt.csv`, a stop, and a look from outside.

use crate::gas::{files, square, vortices};
use cutlink::{Error, ErrorKind, FlowLook, FluxCase, Observer, RunOptions, StopToken};
use std::{fs, path::Path};

/// A gas between two plates of which the upper one moves, from rest.
fn plates(folder: &Path, run: &str, more: &str) -> FluxCase {
    let text = format!(
        "[solver]\nkind = \"flux-reconstruction\"\n[domain]\nbox = [0, 0, 1, 1]\nelements = [2, 2]\n\
         [physics]\ndynamic_viscosity = 0.5\n[boundary]\n\"x-\" = \"periodic\"\n\"x+\" = \"periodic\"\n\
         \"y-\" = {{ type = \"no-slip\", temperature = 20 }}\n\
         \"y+\" = {{ type = \"no-slip\", velocity = [1, 0], temperature = 20 }}\n\
         [reference]\ndensity = 1\nvelocity = 1\nlength = 1\narea = 1\n\
         [initial]\ndensity = 1\nvelocity = [0, 0]\npressure = 20\n[numerics]\norder = 2\n[run]\n{run}\n\
         {more}\n[output]\nfolder = {folder:?}\nforces_every = 8\nintegrals_every = 64\n"
    );
    FluxCase::from_toml(&text).expect("a case")
}

fn lines(folder: &Path, name: &str) -> Vec<Vec<f64>> {
    let text = fs::read_to_string(folder.join(name)).expect("a file");
    let numbers = |line: &str| {
        line.split(',')
            .map(|n| n.parse().expect("a number"))
            .collect()
    };
    text.lines().skip(1).map(numbers).collect()
}

#[test]
fn a_flow_that_diverges_keeps_its_histories() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = square(folder.path(), 4000, |text| {
        let text = text.replace("[numerics]", "[numerics]\ncfl = 3");
        text.replace("[output]", "[output]\nforces_every = 1")
    });
    let failure = case.run_with(&RunOptions::default(), &mut ());
    assert_eq!(
        failure.expect_err("too long steps").kind,
        ErrorKind::Diverged
    );
    let forces = lines(folder.path(), "forces.csv");
    assert!(forces.len() > 2, "forces before the flow diverged");
    assert!(forces.iter().flatten().all(|x| x.is_finite()));
    assert!(!lines(folder.path(), "integrals.csv").is_empty());
}

#[test]
fn a_run_ends_when_its_forces_have_settled() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = plates(folder.path(), "settle = 0.01\nmost = 60000", "");
    let options = RunOptions::default();
    let summary = case.run_with(&options, &mut ()).expect("a run");
    assert_eq!(summary.settled, Some(true));
    assert!(summary.steps < 60_000, "{}", summary.steps);
    // Couette's flow: the friction is µ u / h, of which the coefficient is 2 µ u / (ρ u² h).
    let drag = summary.coefficient("y-", "C_D").expect("a drag").mean;
    let last = lines(folder.path(), "forces.csv");
    let last = last.last().expect("a line")[2];
    assert!((last - 1.0).abs() < 0.03, "{last}, mean {drag}");
    // Too short for that.
    let short = plates(folder.path(), "settle = 0.01\nmost = 100", "");
    let options = RunOptions {
        replace: true,
        ..options
    };
    let summary = short.run_with(&options, &mut ()).expect("a run");
    assert_eq!((summary.settled, summary.steps), (Some(false), 100));
}

#[test]
fn groups_are_sums_of_patches() {
    let folder = tempfile::tempdir().expect("a folder");
    let groups = "[groups]\nplates = [\"y*\"]\nlower = [\"y-\"]";
    let case = plates(folder.path(), "steps = 64", groups);
    let summary = case
        .run_with(&RunOptions::default(), &mut ())
        .expect("a run");
    let drag = |part: &str| summary.coefficient(part, "C_D").expect(part).mean;
    assert!((drag("y-") + drag("y+") - drag("plates")).abs() < 1e-12);
    assert!((drag("lower") - drag("y-")).abs() < 1e-15);
    assert!(drag("y+").abs() > 1e-3, "{}", drag("y+"));
    let wrong = plates(folder.path(), "steps = 64", "[groups]\na = [\"hull\"]");
    let failure = wrong.plan(&RunOptions::default(), &mut ());
    assert!(
        failure
            .expect_err("no such patch")
            .to_string()
            .contains("no patch matches")
    );
}

/// The same flow in a box that is turned by 30°: with the far field along it, C_D and C_L are those along its axes.
#[test]
fn drag_is_along_the_free_stream() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |stream: &str, velocity: &str| {
        let case = square(folder.path(), 64, |text| {
            let at = text.find("[far_field]").expect("a far field");
            let (head, tail) = text.split_at(at);
            let (line, rest) = tail
                .split_once("velocity = [")
                .and_then(|(line, rest)| Some((line, rest.split_once(']')?.1)))
                .expect("a velocity");
            format!("{stream}{head}{line}{velocity}{rest}")
        });
        let options = RunOptions {
            replace: true,
            ..RunOptions::default()
        };
        let summary = case.run_with(&options, &mut ()).expect("a run");
        let last = lines(folder.path(), "forces.csv");
        let last = last.last().expect("a line").clone();
        (summary.json["axes"].clone(), [last[2], last[3]])
    };
    let (s, c) = (30f64.to_radians().sin(), 30f64.to_radians().cos());
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * (1.0 + b.abs());
    let (axes, turned) = run("", &format!("velocity = [{}, {}]", 0.5 * c, 0.5 * s));
    assert!(near(axes["drag"][0].as_f64().expect("x"), c), "{axes}");
    assert!(near(axes["lift"][0].as_f64().expect("x"), -s), "{axes}");
    // With axes by the table alone the same, and along x and y the same force in other components.
    let (by_table, same) = run("[free_stream]\nspeed = 0.5\nangle = 30\n", "# ");
    for (a, b) in [0, 1].map(|i| (axes["drag"][i].as_f64(), by_table["drag"][i].as_f64())) {
        assert!(near(a.expect("a number"), b.expect("a number")));
    }
    assert!(
        near(turned[0], same[0]) && near(turned[1], same[1]),
        "{turned:?} {same:?}"
    );
    let along_x = run(
        "[free_stream]\nangle = 0\n",
        &format!("velocity = [{}, {}]", 0.5 * c, 0.5 * s),
    );
    let [x, y] = along_x.1;
    assert!(
        near(turned[0], c * x + s * y) && near(turned[1], c * y - s * x),
        "{x} {y}"
    );
    assert!(turned[0].abs() > 0.1, "{turned:?}");
}

#[test]
fn the_mesh_that_follows_has_its_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let adapt = "[adapt]\nlevels = 2\nmomentum = 1\nevery = 7\n";
    let case = vortices(folder.path(), adapt);
    let summary = case
        .run_with(&RunOptions::default(), &mut ())
        .expect("a run");
    let looks = lines(folder.path(), "adapt.csv");
    let steps: Vec<f64> = looks.iter().map(|line| line[0]).collect();
    let expected: Vec<f64> = (1..=42).map(|n| f64::from(7 * n)).collect();
    assert_eq!(steps, expected, "each adaptation");
    let last = looks.last().expect("a line")[2];
    assert_eq!(summary.json["elements"].as_f64(), Some(last));
    assert_eq!(summary.json["adapt"]["looks"], 42);
}

/// Counts looks, samples the flow, and asks for a stop at one of them.
struct Outside {
    looks: u64,
    stop: StopToken,
    stop_at: u64,
    seen: Vec<f64>,
}

impl Observer for Outside {
    fn look(&mut self, flow: &dyn FlowLook) -> Result<(), Error> {
        self.looks += 1;
        // Between the plates, and outside of the box.
        self.seen = flow.sample(&[0.5, 0.5, 2.0, 2.0])?;
        if self.looks == self.stop_at {
            self.stop.stop();
        }
        Ok(())
    }
}

#[test]
fn a_request_to_stop_ends_in_a_checkpoint_and_a_look_sees_the_flow() {
    let (whole, parts) = (
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("a folder"),
    );
    let mut options = RunOptions::default();
    let case = plates(whole.path(), "steps = 640", "");
    case.run_with(&options, &mut ()).expect("a run");
    let mut outside = Outside {
        looks: 0,
        stop: options.stop.clone(),
        stop_at: 3,
        seen: Vec::new(),
    };
    let case = plates(parts.path(), "steps = 640", "");
    let stopped = case.run_with(&options, &mut outside).expect_err("a stop");
    assert_eq!(stopped.kind, ErrorKind::Stopped, "{stopped}");
    let [pressure, u, v] = [outside.seen[0], outside.seen[1], outside.seen[2]];
    assert!((pressure - 20.0).abs() < 0.5, "{pressure}");
    assert!(u > 0.0 && u < 0.5 && v.abs() < 0.01, "{u} {v}");
    assert!(outside.seen[3..].iter().all(|x| x.is_nan()));
    options.stop = StopToken::new();
    options.resume = true;
    case.run_with(&options, &mut ()).expect("the rest");
    let (whole, parts) = (files(whole.path()), files(parts.path()));
    for name in ["forces.csv", "integrals.csv", "step_000000000640.ckpt"] {
        assert!(whole[name] == parts[name], "{name}");
    }
}

/// Samples every 16 steps from step 64 on, and what these steps are.
#[test]
fn averages_are_means_over_the_samples() {
    let folder = tempfile::tempdir().expect("a folder");
    let averages = "[output.averages]\nfrom_steps = 64\nevery_steps = 16\n\
         [[output.write]]\nname = \"mean\"\nkind = \"picture\"\nquantity = \"velocity-x\"\naverage = \"mean\"\nwidth = 64\n";
    let case = plates(folder.path(), "steps = 128", "");
    let text = case.to_toml().expect("a case") + averages;
    let case = FluxCase::from_toml(&text).expect("a case");
    let summary = case
        .run_with(&RunOptions::default(), &mut ())
        .expect("a run");
    assert_eq!(summary.steps, 128);
    assert!(folder.path().join("mean_000000000128.png").exists() || has_mean(folder.path()));
    // A resumed run goes on with them: the checkpoint has 5 samples.
    let longer = FluxCase::from_toml(&text.replace("steps = 128", "steps = 192")).expect("a case");
    let options = RunOptions {
        resume: true,
        ..RunOptions::default()
    };
    longer.run_with(&options, &mut ()).expect("the rest");
    let whole = tempfile::tempdir().expect("a folder");
    let mut at_once = longer.clone();
    at_once.output.folder = Some(whole.path().to_owned());
    at_once
        .run_with(&RunOptions::default(), &mut ())
        .expect("a run");
    let (parts, whole) = (files(folder.path()), files(whole.path()));
    assert!(parts["step_000000000192.ckpt"] == whole["step_000000000192.ckpt"]);
    // What averages have not is refused.
    let pressure = text.replace("velocity-x", "pressure");
    let case = FluxCase::from_toml(&pressure).expect("a case");
    let failure = case.plan(&RunOptions::default(), &mut ());
    assert!(
        failure
            .expect_err("no pressure")
            .to_string()
            .contains("average of the pressure")
    );
}

fn has_mean(folder: &Path) -> bool {
    files(folder).keys().any(|name| name.starts_with("mean_"))
}
