//! Looks of a mesh that follows its flow: the lines of `adapt.csv` and their summary.

use cutlink_solver::{Adaptation, AdaptationLook};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The looks of a run at its flow.
#[derive(Debug, Default)]
pub struct Looks {
    levels: usize,
    time: f64,
    count: u64,
    changes: u64,
    refined: u64,
    coarsened: u64,
    withheld: u64,
    cells: Option<[u64; 2]>,
    raised: f64,
    seconds: f64,
    cells_of_block: u64,
    last: Vec<u64>,
    /// Whether it counts elements of all levels together in place of cells by level.
    counts_elements: bool,
}

impl Looks {
    /// For a mesh that has so many levels now; `time` is a root step, s.
    pub fn new<const D: usize>(adaptation: &Adaptation<D>, levels: usize, time: f64) -> Self {
        Self::of_levels::<D>(adaptation.levels.max(levels), time)
    }

    /// For a mesh of at most so many levels; `time` is a step, s.
    pub fn of_levels<const D: usize>(levels: usize, time: f64) -> Self {
        Self {
            levels,
            time,
            raised: 1.0,
            cells_of_block: 1 << (2 * D),
            ..Self::default()
        }
    }

    /// Of a flow on elements; `time` is a step, s.
    pub fn of_elements(time: f64) -> Self {
        Self {
            levels: 1,
            time,
            raised: 1.0,
            cells_of_block: 1,
            counts_elements: true,
            ..Self::default()
        }
    }

    /// The first line of `adapt.csv`.
    pub fn head(&self) -> String {
        let levels: String = match self.counts_elements {
            true => ",elements".into(),
            false => (0..self.levels).fold(String::new(), |mut text, level| {
                let _ = write!(text, ",cells_{level}");
                text
            }),
        };
        format!("step,time{levels},refined,coarsened,withheld,raised,seconds\n")
    }

    /// Adds looks, and returns their lines.
    pub fn add(&mut self, looks: &[AdaptationLook]) -> String {
        let mut text = String::new();
        for look in looks {
            let cells =
                |level: usize| look.leaves.get(level).copied().unwrap_or(0) * self.cells_of_block;
            let _ = write!(text, "{},{:e}", look.step, look.step as f64 * self.time);
            for level in 0..self.levels {
                let _ = write!(text, ",{}", cells(level));
            }
            let _ = writeln!(
                text,
                ",{},{},{},{:.4},{:.3e}",
                look.refined, look.coarsened, look.withheld, look.raised, look.seconds
            );
            let all: u64 = (0..look.leaves.len()).map(cells).sum();
            self.last = (0..look.leaves.len()).map(cells).collect();
            let [least, most] = self.cells.unwrap_or([all, all]);
            self.cells = Some([least.min(all), most.max(all)]);
            self.count += 1;
            self.changes += u64::from(look.refined + look.coarsened > 0);
            self.refined += look.refined;
            self.coarsened += look.coarsened;
            self.withheld += look.withheld;
            self.raised = self.raised.max(look.raised);
            self.seconds += look.seconds;
        }
        text
    }

    /// The looks of a text with the lines of [`add`](Self::add), up to a root step.
    pub fn read(&self, text: &str, step: u64) -> Vec<AdaptationLook> {
        let look = |line: &str| {
            let numbers: Vec<f64> = line
                .split(',')
                .map(|n| n.parse().ok())
                .collect::<Option<_>>()?;
            let (of_time, rest) = numbers.split_at_checked(2)?;
            let (cells, rest) = rest.split_at_checked(self.levels)?;
            let &[refined, coarsened, withheld, raised, seconds] = rest else {
                return None;
            };
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "counts"
            )]
            let count = |n: f64| n as u64;
            // Levels beyond the finest one that has blocks are zeros.
            let levels = cells.iter().rposition(|&n| n > 0.0).map_or(0, |n| n + 1);
            Some(AdaptationLook {
                step: count(of_time[0]),
                leaves: cells[..levels]
                    .iter()
                    .map(|&n| count(n) / self.cells_of_block)
                    .collect(),
                refined: count(refined),
                coarsened: count(coarsened),
                withheld: count(withheld),
                raised,
                seconds,
            })
        };
        let all = text.lines().filter_map(look);
        all.filter(|look| look.step <= step).collect()
    }

    /// Cells by level, for the line of progress; of elements the flow tells.
    pub fn progress(&self) -> String {
        if self.counts_elements {
            return String::new();
        }
        let counts: Vec<String> = self.last.iter().map(|&n| thousands(n)).collect();
        format!(", cells {}", counts.join("+"))
    }

    /// The factor of all thresholds, where the budget has required one.
    pub fn raised(&self) -> Option<f64> {
        (self.raised > 1.0).then_some(self.raised)
    }

    /// For the console, of a run that took so many seconds.
    pub fn text(&self, seconds: f64) -> String {
        let [least, most] = self.cells.unwrap_or_default();
        format!(
            "adapted {} times in {} looks ({:.1} % of the time): {} to {} {}, {} {}refined, {} coarsened\n",
            self.changes,
            self.count,
            100.0 * self.seconds / seconds.max(1e-9),
            thousands(least),
            thousands(most),
            if self.counts_elements {
                "elements"
            } else {
                "cells"
            },
            self.refined,
            if self.counts_elements { "" } else { "blocks " },
            self.coarsened
        )
    }

    /// Of `summary.json`.
    pub fn summary(&self, seconds: f64) -> Value {
        json!({
            "looks": self.count,
            "changes": self.changes,
            "refined": self.refined,
            "coarsened": self.coarsened,
            "withheld": self.withheld,
            "cells": self.cells,
            "raised": self.raised,
            "seconds": self.seconds,
            "share": self.seconds / seconds.max(1e-9),
        })
    }
}

fn thousands(n: u64) -> String {
    match n {
        0..10_000 => n.to_string(),
        10_000..10_000_000 => format!("{:.0}k", n as f64 / 1e3),
        _ => format!("{:.0}M", n as f64 / 1e6),
    }
}
