//! Cases, expressions and checkpoints that are sound but for their numbers: every one ends in a plan, a run, or an error.

#[path = "../../../fuzz/hostile.rs"]
mod hostile;
#[path = "../../../fuzz/sealed.rs"]
mod sealed;

use cutlink::solve::{Case, FluxCase};
use cutlink::{Error, ErrorKind, GrainsCase, RunOptions};
use std::fs;
use std::path::{Path, PathBuf};

fn seeds(folder: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds");
    let files = fs::read_dir(root.join(folder)).expect("seeds");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a seed").path()).collect();
    files.sort();
    let read = |path| fs::read_to_string(path).expect("a seed");
    files.into_iter().map(read).collect()
}

/// Whether it is accepted; an error says something.
fn tried<T>(text: &str, result: Result<T, Error>) -> bool {
    match result {
        Ok(_) => true,
        Err(error) => {
            let is_known = matches!(
                error.kind,
                ErrorKind::Input | ErrorKind::Memory | ErrorKind::Geometry | ErrorKind::Diverged
            );
            assert!(is_known && !error.message.is_empty(), "{text}\n{error}");
            false
        }
    }
}

/// Parses a case, and plans a flow of gas.
fn planned(text: &str) -> bool {
    tried(text, Case::from_toml(text));
    match FluxCase::from_toml(text) {
        Ok(case) => tried(text, case.plan(&RunOptions::default(), &mut ())),
        error => tried(text, error),
    }
}

#[test]
fn hostile_values_of_cases_end_in_errors() {
    let cases = seeds("cases");
    assert_eq!(cases.len(), 3, "two of gas, one of a fluid");
    let mut counts = [0u32; 2];
    for case in &cases {
        assert!(Case::from_toml(case).is_ok() || planned(case), "{case}");
        for bytes in hostile::texts(case.as_bytes()).step_by(7) {
            let Ok(text) = String::from_utf8(bytes) else {
                continue;
            };
            counts[usize::from(planned(&text))] += 1;
        }
    }
    assert!(counts[0] > 50 && counts[1] > 10, "{counts:?}");
}

/// A find of fuzzing: rings of a buffer beyond the box were walked, 2³² of them at each look.
#[test]
fn a_buffer_beyond_the_box_ends_with_it() {
    let cases = seeds("cases");
    let adaptive = cases.iter().find(|case| case.contains("[adapt]"));
    let case = adaptive.expect("one that follows the flow");
    let (before, after) = case.split_once("buffer = ").expect("a buffer");
    let (_, after) = after.split_once('\n').unwrap_or_default();
    assert!(planned(&format!("{before}buffer = {}\n{after}", u32::MAX)));
}

#[test]
fn hostile_values_of_grains_end_in_errors() {
    let mut counts = [0u32; 2];
    // The second one has a surface, which takes longer.
    for (case, step) in [(crate::grains::BOUNCE, 3), (crate::grains::POUR, 31)] {
        for bytes in hostile::texts(case.as_bytes()).step_by(step) {
            let Ok(text) = String::from_utf8(bytes) else {
                continue;
            };
            let went = match GrainsCase::from_toml(&text) {
                Ok(case) => tried(&text, case.plan(&RunOptions::default(), &mut ())),
                error => tried(&text, error),
            };
            counts[usize::from(went)] += 1;
        }
    }
    assert!(counts[0] > 50 && counts[1] > 20, "{counts:?}");
}

#[test]
fn hostile_expressions_end_in_errors() {
    let cases = seeds("cases");
    let flux = cases
        .iter()
        .find(|case| case.contains("density = 1.0") && !case.contains("[adapt]"));
    let flux = flux.expect("a case");
    let formulas: Vec<Vec<u8>> = seeds("expressions")
        .into_iter()
        .map(String::into_bytes)
        .collect();
    let with = |formula: &str| {
        let quoted = formula.escape_default().to_string();
        flux.replace("density = 1.0", &format!("density = \"{quoted}\""))
    };
    for formula in &formulas {
        let text = with(&String::from_utf8_lossy(formula));
        assert!(planned(&text), "{text}");
    }
    let mut counts = [0u32; 2];
    let each = formulas
        .iter()
        .flat_map(|formula| hostile::texts(formula).step_by(3));
    let mutants = (0..100).map(|i| hostile::mutant(&formulas, &hostile::noise(i, 32)));
    for bytes in each.chain(mutants) {
        let Ok(text) = String::from_utf8(bytes) else {
            continue;
        };
        counts[usize::from(planned(&with(&text)))] += 1;
    }
    assert!(counts[0] > 50 && counts[1] > 20, "{counts:?}");
    // Deeper than a stack, longer than a screen.
    for formula in [
        "(".repeat(100_000),
        "-".repeat(100_000) + "1",
        "1+".repeat(50_000) + "1",
    ] {
        planned(&with(&formula));
    }
}

#[test]
fn hostile_checkpoints_end_in_errors_or_go_on() {
    const NAME: &str = "step_000000000002.ckpt";
    let folder = tempfile::tempdir().expect("a folder");
    let text = seeds("cases")
        .into_iter()
        .find(|case| case.contains("[adapt]"));
    let mut case = FluxCase::from_toml(&text.expect("a case")).expect("a case");
    case.output.folder = Some(folder.path().to_owned());
    case.run_with(&RunOptions::default(), &mut ())
        .expect("two steps");
    let whole = fs::read(folder.path().join(NAME)).expect("a checkpoint");
    let bytes = sealed::opened(&whole);
    assert_eq!(
        sealed::sealed(&bytes),
        whole,
        "the checksums of the program"
    );
    let options = RunOptions {
        resume: true,
        steps: Some(3),
        ..RunOptions::default()
    };
    let mut counts = [0u32; 2];
    let mut go = |bytes: &[u8]| {
        fs::write(folder.path().join(NAME), sealed::sealed(bytes)).expect("a file");
        let went = tried("a checkpoint", case.run_with(&options, &mut ()));
        let _ = fs::remove_file(folder.path().join("step_000000000003.ckpt"));
        counts[usize::from(went)] += 1;
    };
    go(&bytes);
    // The counts in front of the state and its first numbers.
    let state = sealed::head(&bytes);
    let (start, rest) = bytes.split_at((state + 64).min(bytes.len()));
    for start in hostile::words(start, state).step_by(29) {
        go(&[&start[..], rest].concat());
    }
    let files = [bytes];
    (0..30).for_each(|i| go(&hostile::mutant(&files, &hostile::noise(i, 40))));
    assert!(counts[0] > 20 && counts[1] > 0, "{counts:?}");
}
