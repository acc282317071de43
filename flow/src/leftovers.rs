//! Results of an earlier run in a folder: what `--force` removes before the new run begins.
//!
//! Files of every run have fixed names; outputs have the names that the earlier run's `case.toml` gives them. All other
//! files stay.

use super::checkpoint;
use cutlink_common::{Error, output};
use std::{fs, path::Path};

/// Files of every run.
pub const RESULTS: [&str; 8] = [
    "case.toml",
    "forces.csv",
    "forces.png",
    "energy.csv",
    "integrals.csv",
    "adapt.csv",
    "summary.json",
    "report.html",
];

/// Removes the results of an earlier run; its checkpoints first, so that nothing resumes without them.
///
/// # Errors
/// A file that cannot be removed.
pub fn remove(folder: &Path) -> Result<(), Error> {
    let outputs = outputs(&folder.join("case.toml"));
    for path in checkpoint::list(folder) {
        remove_file(&path)?;
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| !entry.path().is_dir()) {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let is_of_output = outputs.iter().any(|output| is_of(output, name));
        if RESULTS.contains(&name) || is_of_output {
            remove_file(&entry.path())?;
        }
    }
    Ok(())
}

fn remove_file(path: &Path) -> Result<(), Error> {
    fs::remove_file(path).map_err(|e| output::failed(path, &e))
}

/// The names of outputs of a case; none where it cannot be read.
fn outputs(case: &Path) -> Vec<String> {
    let table = cutlink_common::config::text(case).ok();
    let table: Option<toml::Table> = table.and_then(|text| text.parse().ok());
    let written = table
        .as_ref()
        .and_then(|case| case.get("output")?.get("write")?.as_array());
    let names = written.into_iter().flatten();
    let names = names.filter_map(|output| output.get("name")?.as_str());
    names.map(str::to_owned).collect()
}

/// Whether a file is one of an output's: `NAME_000000064.vtu`, `NAME.vtu.series`, `NAME.csv`, `NAME_spectrum.png`.
fn is_of(output: &str, file: &str) -> bool {
    const SERIES: [&str; 5] = ["htg", "vtu", "vtp", "ply", "png"];
    let Some(rest) = file.strip_prefix(output) else {
        return false;
    };
    if matches!(rest, ".csv" | "_spectrum.csv" | "_spectrum.png") {
        return true;
    }
    SERIES.iter().any(|extension| {
        let Some(stem) = rest
            .strip_suffix(extension)
            .and_then(|s| s.strip_suffix('.'))
        else {
            let index = format!(".{extension}.series");
            return rest == index;
        };
        let step = stem.strip_prefix('_').unwrap_or_default();
        step.len() >= 9 && step.bytes().all(|b| b.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_go_and_all_else_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect(name);
        let case = "[[output.write]]\nname = \"wake\"\n[[output.write]]\nname = \"line\"\n";
        put("case.toml", case);
        let gone = [
            "forces.csv",
            "summary.json",
            "adapt.csv",
            "step_000000000064.ckpt",
            "wake_000000064.vtu",
            "wake.vtu.series",
            "line.csv",
            "line_spectrum.png",
        ];
        let kept = [
            "profile.csv",
            "notes.txt",
            "wake_64.vtu",
            "wakes_000000064.vtu",
            "wake.stl",
            "my summary.json",
        ];
        for name in gone.iter().chain(&kept) {
            put(name, "x");
        }
        remove(folder.path()).expect("they are ours");
        for name in gone {
            assert!(!folder.path().join(name).exists(), "{name} is left");
        }
        for name in kept {
            assert!(folder.path().join(name).exists(), "{name} is lost");
        }
        remove(folder.path()).expect("nothing to do");
    }
}
