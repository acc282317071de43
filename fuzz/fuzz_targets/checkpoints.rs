//! Checkpoints of a flow of gas with hostile numbers, whose checksums are right again: refused, or gone on with.

#![no_main]

#[path = "../hostile.rs"]
mod hostile;
#[path = "../sealed.rs"]
mod sealed;

use cutlink::RunOptions;
use cutlink::solve::FluxCase;
use libfuzzer_sys::fuzz_target;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

const NAME: &str = "step_000000000002.ckpt";

/// The case, its folder, and its checkpoint without checksums.
static RUN: LazyLock<(FluxCase, PathBuf, Vec<u8>)> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("cutlink-fuzz-{}", std::process::id()));
    let text = include_str!("../seeds/cases/adapt.toml");
    let mut case = FluxCase::from_toml(text).expect("a case should be read");
    case.output.folder = Some(folder.clone());
    let mut options = RunOptions::default();
    options.replace = true;
    case.run_with(&options, &mut ())
        .expect("two steps should be taken");
    let bytes = fs::read(folder.join(NAME)).expect("a checkpoint should be there");
    (case, folder, sealed::opened(&bytes))
});

fuzz_target!(|data: &[u8]| {
    let (case, folder, bytes) = &*RUN;
    let bytes = hostile::mutant(std::slice::from_ref(bytes), data);
    fs::write(folder.join(NAME), sealed::sealed(&bytes)).expect("a file should be written");
    let mut options = RunOptions::default();
    options.resume = true;
    options.steps = Some(3);
    let _ = case.run_with(&options, &mut ());
    // What it goes on to would be the latest.
    let _ = fs::remove_file(folder.join("step_000000000003.ckpt"));
});
