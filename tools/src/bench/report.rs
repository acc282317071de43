//! The results as tables and as JSON. `docs/json-schema.md` describes every key; keys are only added.

use crate::bench::WARM_UP;
use cutlink::device::DeviceReport;
use cutlink::mesh::report::{bytes, columns, grouped};
use serde::Serialize;

/// The object that `cutlink bench mesh --json` prints.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct BenchReport {
    #[serde(flatten)]
    pub head: Head,
    pub cases: Vec<CaseReport>,
}

/// The common head of both reports.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct Head {
    pub schema: u32,
    pub cutlink: &'static str,
    pub command: &'static str,
    pub device: DeviceReport,
    pub threads: usize,
    pub runs: u32,
    pub warm_up: u32,
    pub copy: Copy,
}

impl Head {
    /// The head of a bench on the current thread pool.
    pub(super) fn new(command: &'static str, device: DeviceReport, runs: u32, copy: Copy) -> Self {
        Self {
            schema: cutlink::JSON_SCHEMA,
            cutlink: env!("CARGO_PKG_VERSION"),
            command,
            device,
            threads: rayon::current_num_threads(),
            runs,
            warm_up: WARM_UP,
            copy,
        }
    }

    /// The head as text; `runs` describes the runs.
    pub(super) fn text(&self, runs: &str) -> String {
        let s = if self.threads == 1 { "" } else { "s" };
        format!(
            "cutlink {}\ndevice    {}, {} thread{s}\nruns      {} per case after {} warm-up runs: {runs}\n\
             copy      {} read and written in {} ms: {}\n",
            self.cutlink,
            self.device.text(),
            self.threads,
            self.runs,
            self.warm_up,
            bytes(self.copy.bytes),
            ms(self.copy.ms.median),
            rate(self.copy.bytes_per_second)
        )
    }
}

/// Times of repetitions, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct Spread {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl Spread {
    /// From times in seconds; zeros if there are none.
    pub fn of(mut seconds: Vec<f64>) -> Self {
        seconds.sort_by(f64::total_cmp);
        let at = |i: usize| seconds.get(i).map_or(0.0, |s| 1e3 * s);
        let n = seconds.len();
        Self {
            median: 0.5 * (at(n.saturating_sub(1) / 2) + at(n / 2)),
            min: at(0),
            max: at(n.saturating_sub(1)),
        }
    }
}

/// The copy bandwidth: the limit of memory-bound work.
#[derive(Debug, Clone, Copy, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct Copy {
    pub bytes: u64,
    pub ms: Spread,
    pub bytes_per_second: f64,
}

#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct CaseReport {
    pub name: String,
    pub surface: String,
    pub dimensions: usize,
    pub split: u32,
    pub facets: usize,
    pub levels: usize,
    pub blocks: usize,
    pub cells: u64,
    pub block_cells: u64,
    pub links: usize,
    pub checksum: String,
    pub times_ms: StageTimes,
    pub stages: Vec<StageReport>,
    pub peak_bytes: u64,
    pub peak_bytes_per_cell: f64,
    pub peak_bytes_per_block_cell: f64,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct StageTimes {
    pub read: f64,
    pub snap: f64,
    pub upload: f64,
    pub bins: f64,
    pub voxelize: f64,
    pub refine: f64,
    pub links: f64,
    pub sum: Spread,
    pub wall: Spread,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct StageReport {
    pub stage: &'static str,
    pub ms: Spread,
    pub bytes: u64,
    pub bytes_per_second: f64,
    pub of_copy: f64,
    pub launches: Option<u64>,
}

/// Milliseconds with at least three digits.
pub(super) fn ms(ms: f64) -> String {
    let digits = match ms {
        ms if ms < 1.0 => 3,
        ms if ms < 100.0 => 2,
        _ => 1,
    };
    format!("{ms:.digits$}")
}

pub(super) fn rate(bytes_per_second: f64) -> String {
    format!("{:.1} GB/s", 1e-9 * bytes_per_second)
}

impl BenchReport {
    /// One row per case: its size and the times.
    pub fn tables(&self) -> String {
        let heads = [
            "case",
            "facets",
            "levels",
            "blocks",
            "cells",
            "links",
            "checksum",
            "peak",
            "bytes/cell",
            "of all blocks",
        ];
        let mut rows = vec![heads.map(str::to_owned)];
        rows.extend(self.cases.iter().map(|case| {
            [
                case.name.clone(),
                grouped(case.facets as u64),
                case.levels.to_string(),
                grouped(case.blocks as u64),
                grouped(case.cells),
                grouped(case.links as u64),
                case.checksum.clone(),
                bytes(case.peak_bytes),
                format!("{:.2}", case.peak_bytes_per_cell),
                format!("{:.2}", case.peak_bytes_per_block_cell),
            ]
        }));
        let heads = [
            "case",
            "read",
            "snap",
            "upload",
            "bins",
            "voxelize",
            "refine",
            "links",
            "bins..links",
            "least",
            "most",
            "wall",
            "least",
            "most",
        ];
        let mut times = vec![heads.map(str::to_owned)];
        times.extend(self.cases.iter().map(|case| {
            let t = &case.times_ms;
            let numbers = [
                t.read,
                t.snap,
                t.upload,
                t.bins,
                t.voxelize,
                t.refine,
                t.links,
                t.sum.median,
                t.sum.min,
                t.sum.max,
                t.wall.median,
                t.wall.min,
                t.wall.max,
            ];
            std::array::from_fn(|i| match i {
                0 => case.name.clone(),
                i => ms(numbers[i - 1]),
            })
        }));
        format!("\n{}\n{}", columns(&rows), columns(&times))
    }
}

impl CaseReport {
    /// One row per stage.
    pub fn table(&self) -> String {
        let heads = ["stage", "ms", "bytes", "rate", "of the copy", "launches"];
        let mut rows = vec![heads.map(str::to_owned)];
        rows.extend(self.stages.iter().map(|stage| {
            [
                stage.stage.to_owned(),
                ms(stage.ms.median),
                bytes(stage.bytes),
                rate(stage.bytes_per_second),
                format!("{:.1} %", 100.0 * stage.of_copy),
                stage.launches.map_or("-".into(), |n| n.to_string()),
            ]
        }));
        let launches = self.stages.iter().map(|stage| stage.launches);
        let launches: Option<u64> = launches.sum();
        rows.push([
            "all".into(),
            ms(self.times_ms.upload + self.times_ms.sum.median),
            bytes(self.stages.iter().map(|stage| stage.bytes).sum()),
            String::new(),
            String::new(),
            launches.map_or("-".into(), |n| n.to_string()),
        ]);
        format!("\n{}\n{}", self.name, columns(&rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        let spread = |seconds: &[f64]| {
            let Spread { median, min, max } = Spread::of(seconds.to_vec());
            [median, min, max].map(f64::round)
        };
        assert_eq!(spread(&[0.003, 0.001, 0.008]), [3.0, 1.0, 8.0]);
        assert_eq!(spread(&[0.004, 0.001, 0.002, 0.009]), [3.0, 1.0, 9.0]);
        assert_eq!(spread(&[0.004]), [4.0, 4.0, 4.0]);
        assert_eq!(spread(&[]), [0.0; 3]);
    }
}
