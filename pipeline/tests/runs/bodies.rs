//! Runs with bodies that move: resumed, refused.

use cutlink::{Case, Error, ErrorKind, RunOptions};

const PLANE: &str = r#"
[mesh]
shape = "circle:r=0.5"
domain = [-8, -8, 8, 8]
root = 64
levels = 2

[physics]
re = 40
length = 1
velocity = 1
lattice_velocity = 0.05

[boundary]
"x-" = { type = "far-field", velocity = [0, 0] }
"x+" = { type = "far-field", velocity = [0, 0] }
"y-" = { type = "far-field", velocity = [0, 0] }
"y+" = { type = "far-field", velocity = [0, 0] }

[run]
seconds = 2
"#;

#[test]
fn a_case_runs_and_goes_on_to_the_same_bytes() {
    let motion = "[motion.circle]\ntranslation = [\"0.3*sin(pi*t)\", 0]\nangle = \"0.5*t\"\n";
    goes_on(motion);
    // More than a block away.
    let motion = motion.replace("0.3*", "0.6*") + "refinement = \"follow\"\n";
    let looks = goes_on(&motion);
    assert!(looks.lines().count() > 1, "{looks}");
}

/// Runs a case at once and in two parts, compares, and returns `adapt.csv`.
fn goes_on(motion: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |name: &str, seconds: &str, resume: bool| {
        let to = folder.path().join(name);
        let out = format!(
            "[output]\nfolder = {:?}\nintegrals_every = 0\n",
            to.display().to_string()
        );
        let base = PLANE.replace("seconds = 2", seconds);
        let case = Case::parse("case", &format!("{base}\n{motion}\n{out}")).expect("a case");
        let options = RunOptions {
            resume,
            ..RunOptions::default()
        };
        case.run_with(&options, &mut ()).map(|_| ())
    };
    let ran = |found: Result<(), Error>| {
        // So short a run need not be trusted.
        if let Err(error) = found {
            assert_eq!(error.kind, ErrorKind::Untrusted, "{error}");
        }
    };
    ran(run("whole", "seconds = 0.5", false));
    ran(run("parts", "seconds = 0.3", false));
    ran(run("parts", "seconds = 0.5", true));
    let read = |name: &str, file: &str| {
        std::fs::read_to_string(folder.path().join(name).join(file)).expect("a file")
    };
    for file in ["motion.csv", "forces.csv"] {
        assert!(read("whole", file).lines().count() > 30, "{file}");
        assert!(read("whole", file) == read("parts", file), "{file}");
    }
    std::fs::read_to_string(folder.path().join("whole/adapt.csv")).unwrap_or_default()
}

#[test]
fn what_knows_nothing_of_bodies_is_refused() {
    let motion = "[motion.circle]\ntranslation = [\"0.3*sin(pi*t)\", 0]\n";
    let averages = format!("{PLANE}\n{motion}\n[output.averages]\nfrom_seconds = 1\n");
    let case = Case::parse("case", &averages).expect("a case");
    let error = case
        .run_with(&RunOptions::default(), &mut ())
        .expect_err("refused");
    assert!(error.to_string().contains("averages"), "{error}");
    let adapt = format!(
        "{PLANE}\n{motion}\n[adapt]\nlevels = 3\nby = [{{ what = \"vorticity\", refine = 0.1 }}]\n"
    );
    let case = Case::parse("case", &adapt).expect("a case");
    let error = case
        .run_with(&RunOptions::default(), &mut ())
        .expect_err("refused");
    assert!(error.to_string().contains("circle"), "{error}");
}
