//! The solver outside of the workspace (`tests/outside`), run as its user does: against the exact temperature, resumed, and
//! with mistakes in its case.

#[path = "../outside/src/diffusion.rs"]
mod diffusion;

use cutlink::{ErrorKind, RunOptions};
use std::{f64::consts::PI, fs, path::Path};

fn case(folder: &Path, run: &str, fields: &str) -> String {
    format!(
        "[physics]\ndiffusivity = 0.1\ncells = 32\n[run]\n{run}\n[output]\nfolder = {folder:?}\n\
         [[output.write]]\nkind = \"picture\"\nquantity = \"{fields}\"\n\
         [[output.write]]\nkind = \"volume\"\nfields = [\"{fields}\"]\n"
    )
}

/// The mean temperature of a plate that is cold at first: 1/2 - Σ 4 / (n π)² exp(-(n π)² α t) over odd n.
fn mean(time: f64) -> f64 {
    let term = |n: i32| {
        let wave = (f64::from(2 * n + 1) * PI).powi(2);
        4.0 / wave * (-wave * 0.1 * time).exp()
    };
    0.5 - (0..50).map(term).sum::<f64>()
}

fn lines(folder: &Path) -> Vec<Vec<f64>> {
    let text = fs::read_to_string(folder.join("integrals.csv")).expect("a table");
    let numbers = |line: &str| {
        line.split(',')
            .map(|n| n.parse().expect("a number"))
            .collect()
    };
    text.lines().skip(1).map(numbers).collect()
}

#[test]
fn a_solver_of_somebody_else_runs_through_the_loop() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let [whole, parts] = [&folders[0], &folders[1]].map(|folder| folder.path());
    let options = RunOptions::default();
    let summary = diffusion::run(&case(whole, "seconds = 2", "temperature"), &options);
    let summary = summary.expect("a run");
    assert!((summary.time - 2.0).abs() < 0.01, "{}", summary.time);
    let lines_of_whole = lines(whole);
    assert!(lines_of_whole.len() > 10, "each check");
    for line in &lines_of_whole[1..] {
        let error = (line[2] - mean(line[1])).abs();
        assert!(
            error < 1e-3,
            "{} at {} s, exact {}",
            line[2],
            line[1],
            mean(line[1])
        );
    }
    // The flow has changed.
    assert!(mean(2.0) - lines_of_whole[1][2] > 0.2);
    let half = diffusion::run(&case(parts, "steps = 500", "temperature"), &options);
    assert_eq!(half.expect("a run").steps, 500);
    let mut resumed = options;
    resumed.resume = true;
    diffusion::run(&case(parts, "seconds = 2", "temperature"), &resumed).expect("the rest");
    let last = format!("step_{:012}.ckpt", summary.steps);
    for name in ["picture", "volume"].map(|name| format!("{name}_{:09}", summary.steps)) {
        let found = fs::read_dir(whole).expect("a folder").flatten();
        let mut found =
            found.filter(|entry| entry.file_name().to_string_lossy().starts_with(&name));
        let file = found.next().expect(&name).path();
        let other = parts.join(file.file_name().expect("a name"));
        assert!(
            fs::read(&file).expect("a file") == fs::read(other).expect("a file"),
            "{name}"
        );
    }
    let state = |folder: &Path| fs::read(folder.join(&last)).expect("a checkpoint");
    assert!(state(whole) == state(parts), "to the bit");
    assert_eq!(lines(parts).last(), lines_of_whole.last());
}

#[test]
fn mistakes_in_its_case_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = RunOptions::default();
    for (run, field, words) in [
        ("steps = 1", "temperatur", "did you mean `temperature`"),
        (
            "steps = 1\nseconds = 1",
            "temperature",
            "more than one duration",
        ),
        ("step = 1", "temperature", "unknown key `step`"),
    ] {
        let failure = diffusion::run(&case(folder.path(), run, field), &options);
        let failure = failure.expect_err(words);
        let said = format!("{failure} {}", failure.hint.clone().unwrap_or_default());
        assert_eq!(failure.kind, ErrorKind::Input, "{said}");
        assert!(said.contains(words), "{said}");
    }
}
