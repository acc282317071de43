//! Flows of gas that begin from the flow of another run.

use crate::gas;
use cutlink::flow::checkpoint;
use cutlink::{Case, ErrorKind, FluxCase, RunOptions};
use std::{fs, path::Path};

/// The flow around a square, with more lines of integrals.
fn square(folder: &Path, change: impl Fn(String) -> String) -> FluxCase {
    gas::square(folder, 40, |text| {
        change(text.replace("[output]", "[output]\nintegrals_every = 8"))
    })
}

/// The same from the flow of a folder or file, on other elements.
fn from(folder: &Path, path: &Path, change: impl Fn(String) -> String) -> FluxCase {
    square(folder, |text| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let at = lines.iter().position(|line| line == "[initial]");
        let at = at.expect("an initial state");
        lines.splice(at + 1..at + 4, [format!("from = {path:?}")]);
        change(lines.join("\n"))
    })
}

/// The first or last line of `integrals.csv`: mass, momentum and energy; elements.
fn totals(folder: &Path, last: bool) -> ([f64; 4], f64) {
    let text = fs::read_to_string(folder.join("integrals.csv")).expect("a file");
    let mut lines = text.lines().skip(1);
    let line = if last { lines.last() } else { lines.next() };
    let numbers: Vec<f64> = (line.expect("a line").split(','))
        .map(|x| x.parse().expect("a number"))
        .collect();
    ([numbers[2], numbers[3], numbers[4], numbers[5]], numbers[6])
}

fn one_level_finer(text: String) -> String {
    text.replace("levels = 4 ", "levels = 5 ")
        .replace("levels = [3, 4]", "levels = [4, 5]")
        .replace("levels = [3, 5]", "levels = [4, 5]")
}

#[test]
fn finer_elements_have_the_same_mass_momentum_and_energy() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let [first, second] = folders.each_ref().map(|folder| folder.path());
    let options = RunOptions::default();
    square(first, |text| text)
        .run_with(&options, &mut ())
        .expect("a run");
    // Each element of the other run is one of this one, or divided.
    let case = from(second, first, one_level_finer);
    case.run_with(&options, &mut ()).expect("a run");
    let ((before, coarse), (after, fine)) = (totals(first, true), totals(second, false));
    assert!(fine > 1.5 * coarse, "{coarse} and {fine} elements");
    for (before, after) in before.iter().zip(after) {
        assert!(
            (before - after).abs() < 1e-10 * before.abs().max(1.0),
            "{before} {after}"
        );
    }
    assert!(
        before[2].abs() > 1e-3,
        "the push aside is in it: {before:?}"
    );
    // Elements of the other order and precision, from the file: by interpolation.
    let file = checkpoint::list(first).remove(0);
    let replace = RunOptions {
        replace: true,
        ..RunOptions::default()
    };
    let other = |text: String| text.replace("order = 3", "order = 2\nprecision = \"f32\"");
    from(second, &file, other)
        .run_with(&replace, &mut ())
        .expect("a run");
    let (after, same) = totals(second, false);
    assert_eq!(same, coarse);
    for (before, after) in before.iter().zip(after) {
        assert!(
            (before - after).abs() < 2e-4 * before.abs().max(1.0),
            "{before} {after}"
        );
    }
}

#[test]
fn a_run_is_resumed_without_the_one_that_it_began_from() {
    let folders = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
    let [first, whole, parts] = folders.each_ref().map(|folder| folder.path());
    let options = RunOptions::default();
    square(first, |text| text)
        .run_with(&options, &mut ())
        .expect("a run");
    from(whole, first, |text| text)
        .run_with(&options, &mut ())
        .expect("a run");
    let half = RunOptions {
        steps: Some(16),
        ..RunOptions::default()
    };
    let case = from(parts, first, |text| text);
    case.run_with(&half, &mut ()).expect("half a run");
    for path in checkpoint::list(first) {
        fs::remove_file(path).expect("a checkpoint");
    }
    let resume = RunOptions {
        resume: true,
        ..RunOptions::default()
    };
    case.run_with(&resume, &mut ()).expect("the other half");
    for name in ["integrals.csv", "forces.csv"] {
        let [one, two] = [whole, parts].map(|folder| fs::read(folder.join(name)).expect(name));
        assert!(one == two, "{name}");
    }
    let refused = case.run_with(&options, &mut ()).expect_err("no checkpoint");
    assert!(
        refused.to_string().contains("has no checkpoint"),
        "{refused}"
    );
}

#[test]
fn flows_that_do_not_fit_are_refused() {
    let folders = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
    let [first, second, boltzmann] = folders.each_ref().map(|folder| folder.path());
    let options = RunOptions::default();
    square(first, |text| text.replace("steps = 40", "steps = 2"))
        .run_with(&options, &mut ())
        .expect("a run");
    let refused = |case: FluxCase, words: &str| {
        let failure = case.plan(&options, &mut ()).expect_err(words);
        assert!(failure.to_string().contains(words), "{words}: {failure}");
        assert_eq!(failure.kind, ErrorKind::Input, "{failure}");
    };
    refused(
        from(second, first, |text| {
            text.replace("box = [-16, -16, 32, 16]", "box = [-16, -16, 36, 16]")
                .replace("elements = [12, 8]", "elements = [13, 8]")
        }),
        "this box must lie within",
    );
    refused(
        from(second, first, |text| {
            text.replace("box = [-0.5, -0.5, 0.5, 0.5]", "box = [1, -0.5, 2, 0.5]")
        }),
        "is in a body of the flow",
    );
    refused(
        from(second, first, |text| {
            text.replace("[initial]", "[initial]\ndensity = 1")
        }),
        "excludes the other keys",
    );
    refused(from(second, second, |text| text), "has no checkpoint");
    let text = format!(
        "[domain]\nbox = [0, 0, 1, 1]\nroot = 8\n[physics]\nvelocity = 1\nlength = 1\nre = 10\n\
         [boundary]\n\"x-\" = \"periodic\"\n\"x+\" = \"periodic\"\n\"y-\" = \"periodic\"\n\"y+\" = \"periodic\"\n\
         [run]\nsteps = 1\n[output]\nfolder = {boltzmann:?}\n"
    );
    Case::from_toml(&text)
        .expect("a case")
        .run_with(&options, &mut ())
        .expect("a run");
    refused(
        from(second, boltzmann, |text| text),
        "kind = \"lattice-boltzmann\"",
    );
}
