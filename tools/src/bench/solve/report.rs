//! The results as tables and as JSON. `docs/json-schema.md` describes every key; keys are only added.

use crate::bench::report::{Head, Spread, rate};
use cutlink::mesh::report::{bytes, columns, grouped};
use cutlink_solver::LevelSheet;
use serde::Serialize;

/// The object that `cutlink bench solve --json` prints.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct FlowBenchReport {
    #[serde(flatten)]
    pub head: Head,
    pub checks: Vec<FlowCheck>,
    pub cases: Vec<FlowCaseReport>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct FlowCheck {
    pub lattice: String,
    pub precision: String,
    pub collision: String,
    pub les: String,
    pub decay_error: f64,
    pub mass_error: f64,
}

#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct FlowCaseReport {
    pub name: &'static str,
    pub lattice: String,
    pub precision: String,
    pub storage: &'static str,
    pub collision: String,
    pub les: String,
    pub root_cells: Vec<u32>,
    pub cells: u64,
    pub ranks: usize,
    pub messages: Option<String>,
    pub received: Option<u64>,
    pub updates: u64,
    pub steps: u64,
    pub bytes: u64,
    pub bytes_per_cell: f64,
    pub bytes_per_update: u64,
    pub ms: Spread,
    pub mlups: f64,
    pub mlups_best: f64,
    pub bytes_per_second: f64,
    pub copy_bytes_per_second: f64,
    pub of_copy: f64,
    pub levels: Vec<FlowLevelReport>,
    pub laps: Vec<LapReport>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct FlowLevelReport {
    pub level: usize,
    pub blocks: usize,
    pub cells: u64,
    pub bytes: u64,
    pub bytes_per_cell: f64,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct LapReport {
    pub work: &'static str,
    pub level: usize,
    pub ms: f64,
    pub mean_ms: f64,
    pub share: f64,
}

impl FlowLevelReport {
    pub(super) fn new(sheet: &LevelSheet, bytes: u64) -> Self {
        Self {
            level: sheet.level,
            blocks: sheet.blocks,
            cells: sheet.cells,
            bytes,
            bytes_per_cell: bytes as f64 / sheet.cells.max(1) as f64,
        }
    }
}

impl FlowBenchReport {
    /// The common head, and the results of the checks.
    pub fn head(&self) -> String {
        let worst = |of: fn(&FlowCheck) -> f64| {
            let most = self.checks.iter().map(|check| of(check).abs());
            most.fold(0.0, f64::max)
        };
        format!(
            "{}checked   vortex decay rate to {:.1e}, mass to {:.1e}\n",
            self.head.text("medians"),
            worst(|check| check.decay_error),
            worst(|check| check.mass_error)
        )
    }

    /// One row per flow; for refined meshes also the time by level.
    pub fn tables(&self) -> String {
        let heads = [
            "case",
            "lattice",
            "precision",
            "storage",
            "collision",
            "cells",
            "MLUPS",
            "best",
            "rate",
            "of the copy",
            "bytes/cell",
        ];
        let mut rows = vec![heads.map(str::to_owned)];
        rows.extend(self.cases.iter().map(|case| {
            [
                case.name.to_owned(),
                case.lattice.clone(),
                case.precision.clone(),
                case.storage.to_owned(),
                described(&case.collision, &case.les),
                grouped(case.cells),
                format!("{:.1}", case.mlups),
                format!("{:.1}", case.mlups_best),
                rate(case.bytes_per_second),
                format!("{:.1} %", 100.0 * case.of_copy),
                format!("{:.0}", case.bytes_per_cell),
            ]
        }));
        let shared = self.cases.iter().filter(|case| case.ranks > 1);
        let shared = shared.map(FlowCaseReport::by_rank);
        let refined = self.cases.iter().filter(|case| case.levels.len() > 1);
        let levels = refined.map(FlowCaseReport::by_level);
        format!(
            "\n{}{}{}",
            columns(&rows),
            shared.collect::<String>(),
            levels.collect::<String>()
        )
    }
}

impl FlowCaseReport {
    /// How ranks share the flow.
    fn by_rank(&self) -> String {
        format!(
            "{} {} {}: {} devices, messages by {}, {} received by each in a root step\n",
            self.name,
            self.lattice,
            self.precision,
            self.ranks,
            self.messages.as_deref().unwrap_or("nothing"),
            bytes(self.received.unwrap_or(0)),
        )
    }

    /// Share of each kind of work, by level.
    fn by_level(&self) -> String {
        let works = ["step", "interpolate", "average", "forces", "exchange"];
        let heads = ["level", "blocks", "cells", "bytes/cell"];
        let row = |counts: [String; 4], of_work: &dyn Fn(&str) -> String| -> [String; 9] {
            std::array::from_fn(|n| match n.checked_sub(4) {
                None => counts[n].clone(),
                Some(n) => of_work(works[n]),
            })
        };
        let mut rows = vec![row(heads.map(str::to_owned), &str::to_owned)];
        rows.extend(self.levels.iter().map(|level| {
            let share = |work: &str| {
                let mut laps = self.laps.iter();
                let lap = laps.find(|lap| lap.work == work && lap.level == level.level);
                lap.map_or("-".into(), |lap| match self.ranks {
                    1 => format!("{:.1} %", 100.0 * lap.share),
                    // The mean over devices beside the longest one.
                    _ => format!("{:.3} of {:.3} ms", lap.mean_ms, lap.ms),
                })
            };
            let counts = [
                level.level.to_string(),
                grouped(level.blocks as u64),
                grouped(level.cells),
                format!("{:.0}", level.bytes_per_cell),
            ];
            row(counts, &share)
        }));
        let (lattice, precision) = (&self.lattice, &self.precision);
        format!(
            "\n{} {lattice} {precision} {}\n{}",
            self.name,
            described(&self.collision, &self.les),
            columns(&rows)
        )
    }
}

/// A collision with its eddy viscosity.
fn described(collision: &str, les: &str) -> String {
    match les {
        "none" => collision.to_owned(),
        les => format!("{collision} {les}"),
    }
}
