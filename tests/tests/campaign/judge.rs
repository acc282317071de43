//! Runs a case, and counts errors by verdict.

use crate::draw::{Drawn, Field, Read};
use cutlink::{AnyCase, ErrorKind, RunOptions};
use std::{collections::BTreeMap, f64::consts::PI, fmt, fs, path::Path};

/// How a flow ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// With a verdict, and this relative error.
    Ended { grade: &'static str, error: f64 },
    /// It diverged.
    Diverged,
    /// It was refused before its first step.
    Refused,
}

impl Outcome {
    /// Whether it is wrong, and nothing says so; an error that is not a number counts.
    pub(crate) fn is_silent(&self, bar: f64) -> bool {
        match *self {
            Self::Ended { grade: "ok", error } => error.is_nan() || error > bar,
            _ => false,
        }
    }
}

/// Errors by verdict.
#[derive(Default)]
pub(crate) struct Table(BTreeMap<(String, &'static str), [usize; 5]>);

impl Table {
    pub(crate) fn add(&mut self, kind: &str, outcome: &Outcome) {
        let (column, size) = match outcome {
            Outcome::Ended { grade, error } => {
                let size = match error {
                    error if *error <= 0.01 => "up to 1 %",
                    error if *error <= 0.03 => "1 to 3 %",
                    _ => "above 3 %",
                };
                let column = ["ok", "doubtful", "wrong"]
                    .iter()
                    .position(|name| name == grade);
                (column.unwrap_or(2), size)
            }
            Outcome::Diverged => (3, "none"),
            Outcome::Refused => (4, "none"),
        };
        for kind in [kind, "all"] {
            self.0.entry((kind.to_owned(), size)).or_default()[column] += 1;
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| flow | error | ok | doubtful | wrong | diverged | refused |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|")?;
        for ((kind, size), counts) in &self.0 {
            let counts = counts.map(|n| n.to_string()).join(" | ");
            writeln!(f, "| {kind} | {size} | {counts} |")?;
        }
        Ok(())
    }
}

/// Runs a flow on one thread.
pub(crate) fn run(drawn: &Drawn) -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in &drawn.files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let place = folder.path().display().to_string();
    let file = folder.path().join("case.toml");
    fs::write(&file, drawn.case.replace("FOLDER", &place)).expect("a file");
    let mut case = AnyCase::read(&file)
        .unwrap_or_else(|error| panic!("{}: {error}\n{}", drawn.name, drawn.case));
    let out = folder.path().join("out");
    *case.folder() = Some(out.clone());
    let options = RunOptions {
        threads: 1,
        ..RunOptions::default()
    };
    match case.run_with(&options, &mut ()) {
        Ok(summary) => {
            let grade = summary.verdict().unwrap_or("ok").to_owned();
            ended(&of_what_is_read(&grade, drawn, &out), drawn, &out)
        }
        Err(error) => match error.kind {
            ErrorKind::Untrusted => ended(&of_what_is_read("wrong", drawn, &out), drawn, &out),
            ErrorKind::Diverged => Outcome::Diverged,
            ErrorKind::Input => Outcome::Refused,
            _ => panic!("{}: {error}\n{}", drawn.name, drawn.case),
        },
    }
}

/// The grade of what is read of a flow: of bodies that move that is no mean, so that doubts about means do not count.
fn of_what_is_read(grade: &str, drawn: &Drawn, folder: &Path) -> String {
    const OF_MEANS: [&str; 4] = ["stationarity", "duration", "growth", "swing"];
    if !drawn.case.contains("[motion.") {
        return grade.to_owned();
    }
    let text = fs::read_to_string(folder.join("summary.json")).expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let checks = summary["verdict"]["checks"].as_array().expect("checks");
    let grades = checks.iter().filter_map(|check| {
        let name = check["check"].as_str().expect("a name");
        let grade = check["grade"].as_str().expect("a grade");
        (!OF_MEANS.contains(&name)).then_some(grade)
    });
    let order = ["ok", "doubtful", "wrong"];
    let place = |of: &str| order.iter().position(|grade| *grade == of);
    grades.max_by_key(|of| place(of)).unwrap_or("ok").to_owned()
}

fn ended(grade: &str, drawn: &Drawn, folder: &Path) -> Outcome {
    let grades = ["ok", "doubtful", "wrong"];
    let grade = grades
        .into_iter()
        .find(|name| *name == grade)
        .expect("a grade");
    let value = read(drawn, folder);
    Outcome::Ended {
        grade,
        error: (value / drawn.exact - 1.0).abs(),
    }
}

/// The numbers of a table after step and time, a line a time, with the times.
fn lines(path: &Path) -> Vec<(f64, Vec<f64>)> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let number = |word: &str| word.parse().unwrap_or(f64::NAN);
    let line = |line: &str| {
        let mut words = line.split(',').skip(1).map(number);
        (words.next().unwrap_or(f64::NAN), words.collect())
    };
    text.lines().skip(1).map(line).collect()
}

fn read(drawn: &Drawn, folder: &Path) -> f64 {
    let columns = drawn.dimensions + 1;
    let probes = lines(&folder.join("probes.csv"));
    let last: Vec<&[f64]> = match probes.last() {
        Some((_, line)) => line.chunks_exact(columns).collect(),
        None => Vec::new(),
    };
    let mean = |points: &[&[f64]], c: usize| {
        points.iter().map(|point| point[c]).sum::<f64>() / points.len() as f64
    };
    match &drawn.read {
        Read::Mean => mean(&last, 0),
        Read::Gradient(length) => {
            let (from, to) = last.split_at(last.len() / 2);
            (mean(from, columns - 1) - mean(to, columns - 1)) / length
        }
        Read::Least => {
            let row: Vec<f64> = last.iter().map(|point| point[0]).collect();
            least(&row)
        }
        Read::Field(component, Field(exact), scale) => {
            let (Some((time, _)), false) = (probes.last(), last.is_empty()) else {
                return f64::NAN;
            };
            let values = exact(*time);
            let squares = (last.iter().zip(&values))
                .map(|(point, value)| (point[*component] - value).powi(2));
            1.0 + (squares.sum::<f64>() / values.len() as f64).sqrt() / scale
        }
        Read::Jump => last[0][columns - 1] - last[1][columns - 1],
        Read::Last(table, column) => last_of(&folder.join(table), column),
        Read::Root(table, column) => last_of(&folder.join(table), column).sqrt(),
        Read::Late(table, column, share) => {
            let values = column_of(&folder.join(table), column);
            let late = &values[values.len() - (share * values.len() as f64) as usize..];
            late.iter().map(|(_, value)| value).sum::<f64>() / late.len() as f64
        }
        Read::Rate(table, column) => {
            let values = column_of(&folder.join(table), column);
            let [first, .., last] = values[..] else {
                return f64::NAN;
            };
            (last.1 - first.1) / (last.0 - first.0)
        }
        Read::Swing(table, column, omega, force) => {
            let values = column_of(&folder.join(table), column);
            1.0 + swing(&values, *omega, *force)
        }
        Read::Frequency(table, column, middle) => {
            frequency(&column_of(&folder.join(table), column), *middle)
        }
        Read::Left(table, column, [end, rate]) => {
            let values = column_of(&folder.join(table), column);
            let (Some((_, from)), Some((time, to))) = (values.first(), values.last()) else {
                return f64::NAN;
            };
            (to - end) / (from - end) * (rate * time).exp()
        }
        Read::Way(column, [speed, acceleration]) => {
            let values = column_of(&folder.join("phases.csv"), column);
            let (Some((_, from)), Some((time, to))) = (values.first(), values.last()) else {
                return f64::NAN;
            };
            (to - from) / (time * (speed + 0.5 * acceleration * time))
        }
        Read::Coefficient(column, factor) => {
            last_of(&folder.join("forces.csv"), column).abs() / factor
        }
        Read::Largest => {
            // The first half has the start in it.
            let late = &probes[probes.len() / 2..];
            let speeds = late.iter().map(|(_, line)| line[0].abs());
            speeds.max_by(f64::total_cmp).unwrap_or(f64::NAN)
        }
        Read::Decay(mean_flow) => {
            let lines = lines(&folder.join("integrals.csv"));
            let (Some(first), Some(end)) = (lines.first(), lines.last()) else {
                return f64::NAN;
            };
            // Columns: density, kinetic energy.
            let energy = |line: &(f64, Vec<f64>)| line.1[1] - *mean_flow * line.1[0];
            -(energy(end) / energy(first)).ln() / (end.0 - first.0)
        }
    }
}

/// The least value of a row, by a parabola through the smallest one and its neighbours.
fn least(row: &[f64]) -> f64 {
    let at = (0..row.len()).min_by(|&a, &b| row[a].total_cmp(&row[b]));
    match at {
        Some(at) if at > 0 && at + 1 < row.len() => {
            let [a, b, c] = [row[at - 1], row[at], row[at + 1]];
            b - (c - a).powi(2) / (8.0 * (a - 2.0 * b + c))
        }
        _ => f64::NAN,
    }
}

/// The values of a column, with the times.
fn column_of(path: &Path, column: &str) -> Vec<(f64, f64)> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let names = text.lines().next().unwrap_or_default().split(',').skip(2);
    let at = names.into_iter().position(|name| is_named(name, column));
    let lines = lines(path).into_iter();
    at.map_or_else(Vec::new, |at| {
        lines.map(|(time, values)| (time, values[at])).collect()
    })
}

/// The distance of the last period of values from `a cos ω t + b sin ω t`, over its size.
fn swing(values: &[(f64, f64)], omega: f64, [a, b]: [f64; 2]) -> f64 {
    let Some((end, _)) = values.last() else {
        return f64::NAN;
    };
    let from = end - 2.0 * PI / omega;
    let late: Vec<_> = values.iter().filter(|(time, _)| *time > from).collect();
    let part = |of: fn(f64) -> f64| {
        let sum: f64 = late
            .iter()
            .map(|(time, value)| value * of(omega * time))
            .sum();
        2.0 * sum / late.len() as f64
    };
    (part(f64::cos) - a).hypot(part(f64::sin) - b) / a.hypot(b)
}

/// Passages of a value over twice the time between the first and the last one, interpolated.
pub(crate) fn frequency(values: &[(f64, f64)], middle: f64) -> f64 {
    let passage = |two: &[(f64, f64)]| {
        let [a, b] = [two[0].1 - middle, two[1].1 - middle];
        (a * b < 0.0).then(|| two[0].0 + (two[1].0 - two[0].0) * a / (a - b))
    };
    let times: Vec<f64> = values.windows(2).filter_map(passage).collect();
    match times[..] {
        [first, .., last] => 0.5 * (times.len() - 1) as f64 / (last - first),
        _ => f64::NAN,
    }
}

/// Whether a column has this name, which may be that of a body's.
fn is_named(name: &str, column: &str) -> bool {
    name == column || name.rsplit(' ').next() == Some(column)
}

/// The last value of a column.
fn last_of(path: &Path, column: &str) -> f64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let (Some(names), Some(last)) = (text.lines().next(), text.lines().last()) else {
        return f64::NAN;
    };
    let value = names.split(',').zip(last.split(','));
    let value = value.into_iter().find(|(name, _)| is_named(name, column));
    value.map_or(f64::NAN, |(_, value)| value.parse().unwrap_or(f64::NAN))
}
