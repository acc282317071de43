//! `cutlink bench mesh --end-to-end`: the time from a surface file to a mesh file, as a user waits for it.
//!
//! Each run is a process of its own, `cutlink mesh --json`, so that starting the program, opening the device and
//! loading its kernels are part of every run. The wall time is taken outside of the process, the stages from its
//! report. The share of start and end is the wall time less `times_ms.total`. Files are written into a temporary folder
//! and removed.

use crate::bench::cases::{Case, cases};
use crate::bench::report::{Spread, ms};
use crate::cli::BenchMeshArgs;
use crate::console::Console;
use cutlink::mesh::report::{bytes, columns, grouped};
use cutlink::mesh::resolve;
use cutlink::options::MeshOptions;
use cutlink::{Error, ErrorKind, Observer as _};
use serde::Serialize;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Default number of measured runs of a case.
const RUNS: u32 = 5;
/// Runs before the measured ones: the surface file is in the page cache then.
const WARM_UP: u32 = 1;
/// The file in the folder that the mesh is written to.
const MESH: &str = "mesh.cutlink";

/// The stages in the order of a run, and their keys in `times_ms`.
const STAGES: [(&str, &[&str]); 10] = [
    ("open the device", &["open"]),
    ("read", &["read"]),
    ("health", &["health"]),
    ("estimate", &["estimate"]),
    ("snap", &["snap"]),
    (
        "kernels",
        &["upload", "bins", "voxelize", "refine", "links"],
    ),
    ("download", &["download"]),
    ("counts", &["counts"]),
    ("write", &["write"]),
    ("picture", &["picture"]),
];

/// The object that `cutlink bench mesh --end-to-end --json` prints.
#[derive(Debug, Clone, Serialize)]
struct EndToEndReport {
    schema: u32,
    cutlink: &'static str,
    command: &'static str,
    device: Value,
    threads: Value,
    runs: u32,
    warm_up: u32,
    folder: PathBuf,
    cases: Vec<CaseTimes>,
}

/// The times of a case.
#[derive(Debug, Clone, Serialize)]
struct CaseTimes {
    name: String,
    surface: String,
    levels: usize,
    cells: Value,
    links: Value,
    checksum: Value,
    file_bytes: u64,
    peak_rss_bytes: u64,
    wall_ms: Spread,
    stages: Vec<StageTime>,
}

/// A stage and its share of the median wall time.
#[derive(Debug, Clone, Serialize)]
struct StageTime {
    stage: &'static str,
    ms: Spread,
    share: f64,
}

/// One run: its wall time in seconds, and its report.
struct Run {
    wall: f64,
    report: Value,
}

impl Run {
    /// Milliseconds of the sum of some keys of `times_ms`.
    fn ms(&self, keys: &[&str]) -> f64 {
        let times = &self.report["times_ms"];
        keys.iter().filter_map(|key| times[key].as_f64()).sum()
    }
}

/// Runs `cutlink bench mesh --end-to-end`.
///
/// # Errors
/// Cases whose facets are split or displaced, a folder that is not writable, errors of the runs.
pub(super) fn command(args: &BenchMeshArgs) -> Result<(), Error> {
    let whole = |case: &Case| case.split == 1 && !case.bumps;
    let (cases, made): (Vec<Case>, Vec<Case>) = cases(args)?.into_iter().partition(whole);
    if let Some(case) = made.iter().find(|case| args.case.contains(&case.name)) {
        return Err(Error::input(format!(
            "{} is made in memory, not read from a file",
            case.name
        ))
        .hint("measure another case with --end-to-end, or this one without"));
    }
    // Errors of all cases are reported before the first case runs.
    for case in &cases {
        resolve::resolve(&case.options)?;
    }
    let parent = args.folder.clone().unwrap_or_else(std::env::temp_dir);
    let folder = tempfile::Builder::new()
        .prefix(".cutlink-bench-")
        .tempdir_in(&parent)
        .map_err(|e| {
            Error::input(format!("cannot write to {}", parent.display()))
                .because(&e)
                .hint("name another folder with --folder")
        })?;
    let console = Console::new(args.run.output);
    let mut report = EndToEndReport {
        schema: cutlink::JSON_SCHEMA,
        cutlink: env!("CARGO_PKG_VERSION"),
        command: "bench mesh --end-to-end",
        device: Value::Null,
        threads: Value::Null,
        runs: args.run.runs.unwrap_or(RUNS),
        warm_up: WARM_UP,
        folder: parent,
        cases: Vec::new(),
    };
    for case in &cases {
        let runs = measure(case, report.runs, folder.path(), &console);
        let runs = runs.map_err(|failure| match report.cases.is_empty() {
            true => failure,
            // The results of earlier cases are kept.
            false => failure.details(serde_json::json!({ "bench": report })),
        })?;
        let last = &runs.last().expect("there should be a run").report;
        if report.cases.is_empty() {
            (report.device, report.threads) = (last["device"].clone(), last["threads"].clone());
            console.show(&report.head())?;
        }
        let times = CaseTimes::new(case, &runs);
        console.show(&times.table())?;
        report.cases.push(times);
    }
    console.object(&report)
}

/// Measures a case.
fn measure(case: &Case, runs: u32, folder: &Path, console: &Console) -> Result<Vec<Run>, Error> {
    let options = MeshOptions {
        output: Some(folder.join(MESH)),
        ..case.options.clone()
    };
    let file = folder.join("case.toml");
    fs::write(&file, cutlink::options::write(&options)?).map_err(|e| {
        Error::new(
            ErrorKind::Runtime,
            format!("cannot write {}", file.display()),
        )
        .because(&e)
    })?;
    let mut console = console.clone();
    console.begin(u64::from(WARM_UP + runs));
    let all = (0..WARM_UP + runs).map(|_| {
        console.advance(1, &case.name);
        once(&file)
    });
    let all: Result<Vec<Run>, Error> = all.collect();
    console.end();
    Ok(all?.split_off(WARM_UP as usize))
}

/// One process.
fn once(config: &Path) -> Result<Run, Error> {
    let cannot = |e: std::io::Error| {
        Error::new(ErrorKind::Runtime, "cannot start another cutlink").because(&e)
    };
    let program = std::env::current_exe().map_err(cannot)?;
    let begin = Instant::now();
    let output = Command::new(program)
        .args(["mesh", "--force", "--json", "--quiet", "--config"])
        .arg(config)
        .output()
        .map_err(cannot)?;
    let wall = begin.elapsed().as_secs_f64();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    if output.status.success() && report["times_ms"].is_object() {
        return Ok(Run { wall, report });
    }
    Err(failure(
        &report["error"],
        &String::from_utf8_lossy(&output.stderr),
    ))
}

/// The error of a run, from its JSON object.
fn failure(error: &Value, stderr: &str) -> Error {
    let kind = match error["exit_code"].as_u64() {
        Some(2) => ErrorKind::Input,
        Some(3) => ErrorKind::Geometry,
        Some(4) => ErrorKind::Memory,
        Some(130) => ErrorKind::Stopped,
        _ => ErrorKind::Runtime,
    };
    let message = error["message"].as_str().unwrap_or_else(|| stderr.trim());
    let mut failure = Error::new(kind, message);
    let causes = error["causes"].as_array().into_iter().flatten();
    failure.causes = causes
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    failure.hint = error["hint"].as_str().map(str::to_owned);
    failure
}

impl EndToEndReport {
    fn head(&self) -> String {
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let model = self.device["model"].as_str().map(|m| format!(", {m}"));
        format!(
            "cutlink {}\ndevice    {}{}, {} threads\nruns      {} per case after {}, each a process of its own: \
             medians\nfolder    {}\n",
            self.cutlink,
            text(&self.device["name"]),
            model.unwrap_or_default(),
            self.threads,
            self.runs,
            self.warm_up,
            self.folder.display(),
        )
    }
}

impl CaseTimes {
    fn new(case: &Case, runs: &[Run]) -> Self {
        let spread =
            |of: &dyn Fn(&Run) -> f64| Spread::of(runs.iter().map(|run| 1e-3 * of(run)).collect());
        let wall_ms = spread(&|run| 1e3 * run.wall);
        let stage = |stage: &'static str, of: &dyn Fn(&Run) -> f64| {
            let ms = spread(of);
            let share = ms.median / wall_ms.median;
            StageTime { stage, ms, share }
        };
        let mut stages = vec![stage("start and end", &|run| {
            1e3 * run.wall - run.ms(&["total"])
        })];
        stages.extend(STAGES.map(|(name, keys)| stage(name, &|run| run.ms(keys))));
        // First use of the kernels, allocation, waiting for counts.
        let kernels = STAGES[5].1;
        let beside = stage("embedding beside kernels", &|run| {
            (run.ms(&["embed"]) - run.ms(kernels)).max(0.0)
        });
        stages.insert(7, beside);
        let last = &runs.last().expect("there should be a run").report;
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        let surface = last["input"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        Self {
            name: match case.name.as_str() {
                "" => surface.clone(),
                name => name.to_owned(),
            },
            surface,
            levels: last["levels"].as_array().map_or(0, Vec::len),
            cells: last["cells"].clone(),
            links: last["links"].clone(),
            checksum: last["checksum"].clone(),
            file_bytes: number(&last["files"]["mesh"]["bytes"]),
            peak_rss_bytes: number(&last["peak_rss_bytes"]),
            wall_ms,
            stages,
        }
    }

    /// One row per stage.
    fn table(&self) -> String {
        let heads = ["stage", "ms", "least", "most", "share"];
        let mut rows = vec![heads.map(str::to_owned)];
        let row = |name: &str, spread: Spread, share: f64| {
            let Spread { median, min, max } = spread;
            let share = format!("{:.1} %", 100.0 * share);
            [name.to_owned(), ms(median), ms(min), ms(max), share]
        };
        let stages = self.stages.iter();
        rows.extend(stages.map(|stage| row(stage.stage, stage.ms, stage.share)));
        rows.push(row("from file to file", self.wall_ms, 1.0));
        let number = |value: &Value| grouped(value.as_u64().unwrap_or(0));
        format!(
            "\n{}: {} levels, {} cells, {} links, checksum {}, {} written\n{}",
            self.name,
            self.levels,
            number(&self.cells),
            number(&self.links),
            self.checksum.as_str().unwrap_or("-"),
            bytes(self.file_bytes),
            columns(&rows)
        )
    }
}
