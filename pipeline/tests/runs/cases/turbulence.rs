//! Turbulent inlets of cases: what they resolve to, what is refused, and that a stopped run ends like one that was not.

use super::*;
use cutlink_common::{Observer, StopToken};
use cutlink_flow::RunOptions;
use cutlink_solver::{Place, Space};

const TUNNEL: &str = r#"
[domain]
box = [0, 0, 0, 3.2, 1.6, 1.6]
root = "32x16x16"

[physics]
re = 1000
length = 0.4
velocity = 2
lattice_velocity = 0.1

[boundary]
"x-" = { type = "velocity", velocity = [2, 0, 0], turbulence = { intensity = 0.1, length = 0.5, seed = 1 } }
"x+" = "far-field-outlet"
"y-" = "periodic"
"y+" = "periodic"
"z-" = "free-slip"
"z+" = "free-slip"

[run]
steps = 60

[adapt]
every = 10
levels = 2
by = [{ what = "vorticity", refine = 0.02 }]

[output]
integrals_every = 20
"#;

fn tunnel() -> String {
    TUNNEL.replace(
        "\"far-field-outlet\"",
        "{ type = \"far-field\", velocity = [2, 0, 0] }",
    )
}

#[test]
fn a_turbulent_inlet_resolves_to_itself() {
    let text = tunnel();
    let made = space(&text).unwrap_or_else(|e| panic!("{e}"));
    let resolved = made.case.to_toml().expect("TOML");
    assert!(resolved.contains("shortest = 0.4"), "{resolved}");
    assert_eq!(space(&resolved), Ok(made.clone()), "{resolved}");
    assert!(
        made.notes
            .iter()
            .any(|note| note.contains("3.2 integral lengths wide")),
        "{:?}",
        made.notes
    );
    assert!(!made.notes.iter().any(|note| note.contains("product")));
    let other = space(&text.replace("seed = 1", "seed = 2")).expect("a flow");
    assert_ne!(made.params, other.params, "another seed is another flow");
    let at = |made: &Resolved<3>| {
        let mut variations = made.params.variations.iter();
        let found = variations
            .find(|v| v.place == Place::Face(0, 0))
            .expect("a variation");
        let Space::Moving(of) = &found.space else {
            unreachable!("it moves");
        };
        of(17.5)([0.0, 3.25, 11.5]).expect("a number")
    };
    assert_eq!(at(&made), at(&space(&text).expect("a flow")));
    // In lattice units the mean is 0.1, and the fluctuations have a root mean square of 0.01.
    let [mean, quiet] = ["0.1", "0.0001"].map(|intensity| {
        at(
            &space(&text.replace("intensity = 0.1", &format!("intensity = {intensity}")))
                .expect("a flow"),
        )
    });
    for a in 0..3 {
        let [loud, quiet] = [mean, quiet].map(|u| u[a] - [0.1, 0.0, 0.0][a]);
        assert!((loud - 1000.0 * quiet).abs() < 1e-12, "{loud} {quiet}");
        assert!(loud.abs() > 1e-5 && loud.abs() < 0.05, "{loud}");
    }
    // A ramp starts both from rest.
    let ramped = space(&text.replace("seed = 1 }", "seed = 1 }, ramp = 1")).expect("a flow");
    let ramped = at(&ramped);
    let t = 17.5 * ramped_step();
    let share = t * t * t * (10.0 - t * (15.0 - 6.0 * t));
    for a in 0..3 {
        assert!(
            (ramped[a] - share * mean[a]).abs() < 1e-12,
            "{ramped:?} {mean:?}"
        );
    }
}

/// A root step: 0.1 of a cell of 0.1 m at 2 m/s.
fn ramped_step() -> f64 {
    0.1 * 0.1 / 2.0
}

#[test]
fn turbulence_that_cannot_be_is_refused() {
    let refused = |from: &str, to: &str, words: &[&str]| {
        let text = tunnel().replace(from, to);
        assert_ne!(text, tunnel(), "{from}");
        let said = space(&text).expect_err(to).to_string();
        for word in words {
            assert!(said.contains(word), "{to}: {said}");
        }
    };
    refused(
        "intensity = 0.1",
        "intensity = 5",
        &["\"x-\" turbulence intensity is 5", "0.05"],
    );
    refused(
        "intensity = 0.1",
        "intensity = -0.1",
        &["intensity is -0.1"],
    );
    refused(
        "length = 0.5",
        "length = 0.3",
        &["length is 0.3", "0.4 m", "shortest"],
    );
    refused("seed = 1", "seed = 1, shortest = 0", &["shortest is 0"]);
    refused("seed = 1", "spectrum = \"kolmogorov\"", &["von-karman"]);
    refused(
        "velocity = [2, 0, 0], turb",
        "velocity = [-2, 0, 0], turb",
        &["does not enter"],
    );
    refused(
        "{ type = \"far-field\", velocity = [2, 0, 0]",
        "{ type = \"far-field\", velocity = [2, 0, 0], turbulence = { intensity = 0.1, length = 0.5 }",
        &["has turbulence", "\"far-field\""],
    );
    let inlet = "velocity = [2.0, -1.0]";
    let plane = plane(&PLANE.replace(
        inlet,
        &format!("{inlet}, turbulence = {{ intensity = 0.1, length = 0.5 }}"),
    ));
    let said = plane.expect_err("a plane").to_string();
    assert!(said.contains("3D"), "{said}");
}

#[test]
fn the_shortest_wave_has_four_cells_on_all_of_the_face() {
    let text = tunnel().replace("seed = 1", "seed = 1, shortest = 0.3");
    let place = tempfile::tempdir().expect("a folder");
    let mut case = Case::from_toml(&text).expect("a case");
    case.output.folder = Some(place.path().join("flow"));
    let said = case.run(&mut ()).expect_err("too short").to_string();
    assert!(
        said.contains("cells of 0.1 m") && said.contains("0.4 m"),
        "{said}"
    );
}

/// Stops a run at the first chance.
struct Halt(StopToken);

impl Observer for Halt {
    fn advance(&mut self, _: u64, _: &str) {
        self.0.stop();
    }
}

#[test]
fn a_turbulent_inlet_is_resumed_to_the_bit_on_a_mesh_that_follows_the_flow() {
    let place = tempfile::tempdir().expect("a folder");
    let case = |name: &str, text: &str| {
        let mut case = Case::from_toml(text).expect("a case");
        case.output.folder = Some(place.path().join(name));
        case
    };
    let text = tunnel().replace("steps = 60", "steps = 130");
    let whole = case("whole", &text).run(&mut ()).expect("a run");
    let looks = &whole.json["adapt"];
    assert!(looks["changes"].as_u64() > Some(2), "{looks}");
    let mut options = RunOptions::default();
    let mut halt = Halt(options.stop.clone());
    let stopped = case("parts", &text).run_with(&options, &mut halt);
    assert!(stopped.is_err(), "it was stopped");
    options = RunOptions::default();
    options.resume = true;
    let parts = case("parts", &text)
        .run_with(&options, &mut ())
        .expect("a run");
    assert_eq!((whole.steps, parts.steps), (130, 130));
    let last = |name: &str| {
        let path = place.path().join(name).join("step_000000000130.ckpt");
        std::fs::read(path).expect("a checkpoint")
    };
    assert!(last("whole") == last("parts"), "the same bits");
    case("other", &text.replace("seed = 1", "seed = 2"))
        .run(&mut ())
        .expect("a run");
    let flow = |name: &str| {
        let path = place.path().join(name).join("integrals.csv");
        std::fs::read_to_string(path).expect("a file")
    };
    assert_eq!(flow("whole"), flow("parts"));
    assert_ne!(flow("whole"), flow("other"), "another seed");
}
