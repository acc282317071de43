//! Pressure and velocity at points, as CSV: one row per time, `step,time (s),u1 (m/s),v1 (m/s),...`.
//!
//! Velocity components u, v, w and pressure p of each point, numbered from 1. See [`velocity_at`](cutlink_solver::fields::velocity_at) for the
//! interpolation. Rows are appended and rewritten only when a run resumes from an earlier step.

use super::units::FieldUnits;
use super::values::Scene;
use cutlink_common::{Error, output};
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

/// Names of the columns.
fn header<const D: usize>(points: usize, units: &FieldUnits) -> String {
    let mut line = format!("step,time ({})", units.time.name);
    for point in 1..=points {
        for letter in &["u", "v", "w"][..D] {
            let _ = write!(line, ",{letter}{point} ({})", units.velocity.name);
        }
        let _ = write!(line, ",p{point} ({})", units.pressure.name);
    }
    line.push('\n');
    line
}

/// Begins a table; a run resumed at step `now` keeps the existing rows whose root steps `keep` accepts. Returns whether
/// step `now` is one of them.
pub(super) fn begin<const D: usize>(
    path: &Path,
    points: usize,
    units: &FieldUnits,
    now: Option<u64>,
    keep: impl Fn(u64) -> bool,
) -> Result<bool, Error> {
    let mut text = header::<D>(points, units);
    let mut present = false;
    if let Some(now) = now {
        let before = match std::fs::read_to_string(path) {
            Ok(before) => before,
            Err(e) if e.kind() == ErrorKind::NotFound => String::new(),
            Err(e) => {
                return Err(Error::input(format!("cannot read {}", path.display())).because(&e));
            }
        };
        if !before.is_empty() && !before.starts_with(&text) {
            return Err(
                Error::input(format!("{} has other columns", path.display()))
                    .hint("move it away: its points or units differ from those of this run"),
            );
        }
        let step_of = |line: &str| line.split(',').next()?.parse::<u64>().ok();
        // A row without a line end is of an interrupted run.
        let rows = before
            .split_inclusive('\n')
            .skip(1)
            .filter(|l| l.ends_with('\n'));
        for line in rows {
            if let Some(at) = step_of(line).filter(|&at| keep(at)) {
                text.push_str(line);
                present |= at == now;
            }
        }
    }
    output::write_text(path, true, &text)?;
    Ok(present)
}

/// Appends a row.
pub(super) fn append<const D: usize>(
    path: &Path,
    scene: Scene<'_, D>,
    points: &[[f64; D]],
) -> Result<(), Error> {
    let mut line = format!("{},{}", scene.snapshot.step, scene.time());
    for &point in points {
        // In single precision, like the values; the points are already checked.
        match scene.probe(point) {
            Some((velocity, pressure)) => {
                for u in velocity {
                    let _ = write!(line, ",{}", u as f32);
                }
                let _ = write!(line, ",{}", pressure as f32);
            }
            None => line.push_str(&",".repeat(D + 1)),
        }
    }
    line.push('\n');
    let written = OpenOptions::new()
        .append(true)
        .open(path)
        .and_then(|mut file| file.write_all(line.as_bytes()));
    written.map_err(|e| output::failed(path, &e))
}
