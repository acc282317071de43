//! `[adapt]`: from the case to the solver's adaptation, and what a run reports of it.

use crate::solve::case::{AdaptTable, CriterionTable};
use crate::solve::units::{Physics, Units};
use cutlink_common::Error;
use cutlink_solver::{Adaptation, AdaptationLook, Criterion, Indicator, LevelLimit, Precision};
use cutlink_voxelizer::Frame;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Share of a threshold below which a group of blocks is removed, by default: values double at most from one level to the
/// next coarser one, so this leaves a factor of two between refining and coarsening.
const COARSEN: f64 = 0.5;

/// Layers of blocks around refined ones, by default.
const BUFFER: u32 = 1;

/// Smallest threshold in lattice units: differences of neighbouring velocities below it are rounding.
fn noise(precision: Precision) -> f64 {
    match precision {
        // Velocities of a tenth are sums of populations of about 0.02, which are rounded to 2^-18: five times their deviation.
        Precision::F16 => 2e-5,
        Precision::F32 => 1e-6,
        Precision::F64 => 0.0,
    }
}

/// What thresholds and intervals of a case are measured in.
pub(super) struct AdaptScale<'a, const D: usize> {
    pub(super) frame: &'a Frame<D>,
    pub(super) units: &'a Units,
    pub(super) physics: &'a Physics,
    pub(super) precision: Precision,
}

fn wrong(text: impl Into<String>) -> Error {
    Error::input(format!("[adapt] {}", text.into()))
}

impl<const D: usize> AdaptScale<'_, D> {
    /// The reference velocity on the lattice.
    fn speed(&self) -> f64 {
        self.physics.velocity / self.units.velocity()
    }

    /// A box of the case, in root cells.
    fn bounds(&self, what: &str, bounds: &[f64]) -> Result<[[f64; D]; 2], Error> {
        if bounds.len() != 2 * D {
            return Err(
                wrong(format!("{what} box has {} numbers", bounds.len())).hint(format!(
                    "write {} numbers: lower corner, then upper corner",
                    2 * D
                )),
            );
        }
        let at = |n: usize, a: usize| (bounds[n * D + a] - self.frame.origin[a]) / self.frame.dx;
        let corners: [[f64; D]; 2] = std::array::from_fn(|n| std::array::from_fn(|a| at(n, a)));
        if (0..D).all(|a| corners[0][a] < corners[1][a]) {
            return Ok(corners);
        }
        Err(wrong(format!("{what} box is empty")).hint("write the lower corner first"))
    }

    fn criterion(&self, table: &CriterionTable) -> Result<Criterion<D>, Error> {
        let names = || Indicator::NAMES.map(|(name, _)| name).join(", ");
        let Some(what) = &table.what else {
            return Err(wrong("by has no `what`").hint(format!("one of {}", names())));
        };
        let Some(&(_, indicator)) = Indicator::NAMES.iter().find(|(name, _)| name == what) else {
            return Err(wrong(format!("there is no criterion \"{what}\""))
                .hint(format!("one of {}", names())));
        };
        let Some(refine) = table.refine else {
            return Err(wrong(format!("by {what} has no `refine`")).hint(
                "the threshold, in units of the cell and the reference velocity; 0.02 is a start for vorticity",
            ));
        };
        let lattice = refine * indicator.scale(self.speed());
        if lattice < noise(self.precision) {
            return Err(wrong(format!(
                "by {what}: refine = {refine} is below the rounding of {}",
                self.precision
            ))
            .hint("choose a larger threshold, or precision = \"f64\""));
        }
        let within = table.bounds.as_deref();
        let within = within.map(|bounds| self.bounds(&format!("by {what}:"), bounds));
        let from = table.from.unwrap_or(0.0);
        if !(from >= 0.0 && from.is_finite()) {
            return Err(wrong(format!("by {what}: from is {from}")).hint("a time in s, at least 0"));
        }
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "steps, rounded"
        )]
        let from_step = (from / self.units.time).round() as u64;
        Ok(Criterion {
            indicator,
            refine: lattice,
            coarsen: table.coarsen.unwrap_or(COARSEN),
            within: within.transpose()?,
            from_step,
        })
    }

    /// Root steps in which nothing that moves with the reference velocity crosses the buffer.
    fn interval(&self, levels: usize, buffer: u32) -> u64 {
        let layer = 8.0 / f64::from(1u32 << (levels - 1).min(30));
        let steps = f64::from(buffer.max(1)) * layer / self.speed();
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small number"
        )]
        let steps = steps.clamp(1.0, 1e6) as u64;
        steps
    }
}

/// The adaptation of a case, and the table with all values.
pub(super) fn adaptation<const D: usize>(
    table: &AdaptTable,
    scale: &AdaptScale<'_, D>,
) -> Result<(Adaptation<D>, AdaptTable), Error> {
    let Some(levels) = table.levels else {
        return Err(wrong("has no `levels`")
            .hint("the most levels the flow may ask for, the root included"));
    };
    if !(1..=cutlink_amr::MAX_LEVELS).contains(&levels) {
        return Err(wrong(format!("levels is {levels}")).hint("1 to 29 levels are possible"));
    }
    if table.by.is_empty() {
        return Err(wrong("has no criterion")
            .hint("add [[adapt.by]] with what = \"vorticity\" and refine = 0.02"));
    }
    let buffer = table.buffer.unwrap_or(BUFFER);
    let every = match table.every {
        Some(0) => return Err(wrong("every is 0").hint("a number of root steps from 1")),
        Some(every) => every,
        None => scale.interval(levels, buffer),
    };
    let criteria: Vec<Criterion<D>> = table
        .by
        .iter()
        .map(|by| scale.criterion(by))
        .collect::<Result<_, _>>()?;
    let limits = table.limit.iter().map(|limit| {
        let (Some(bounds), Some(levels)) = (&limit.bounds, limit.levels) else {
            return Err(wrong("limit needs `box` and `levels`"));
        };
        Ok(LevelLimit {
            within: scale.bounds("limit", bounds)?,
            levels,
        })
    });
    let limits = limits.collect::<Result<_, _>>()?;
    let resolved = AdaptTable {
        every: Some(every),
        buffer: Some(buffer),
        by: table
            .by
            .iter()
            .map(|by| CriterionTable {
                coarsen: by.coarsen.or(Some(COARSEN)),
                ..by.clone()
            })
            .collect(),
        ..table.clone()
    };
    let adaptation = Adaptation {
        every,
        levels,
        max_cells: table.max_cells.unwrap_or(u64::MAX),
        buffer,
        criteria,
        limits,
    };
    Ok((adaptation, resolved))
}

/// The looks of a run at its flow.
#[derive(Debug, Default)]
pub(crate) struct Looks {
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
    pub(crate) fn new<const D: usize>(
        adaptation: &Adaptation<D>,
        levels: usize,
        time: f64,
    ) -> Self {
        Self {
            levels: adaptation.levels.max(levels),
            time,
            raised: 1.0,
            cells_of_block: 1 << (2 * D),
            ..Self::default()
        }
    }

    /// Of a flow on elements; `time` is a step, s.
    pub(crate) fn of_elements(time: f64) -> Self {
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
    pub(crate) fn head(&self) -> String {
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
    pub(crate) fn add(&mut self, looks: &[AdaptationLook]) -> String {
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
    pub(crate) fn read(&self, text: &str, step: u64) -> Vec<AdaptationLook> {
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
    pub(crate) fn progress(&self) -> String {
        if self.counts_elements {
            return String::new();
        }
        let counts: Vec<String> = self.last.iter().map(|&n| thousands(n)).collect();
        format!(", cells {}", counts.join("+"))
    }

    /// The factor of all thresholds, where the budget has required one.
    pub(crate) fn raised(&self) -> Option<f64> {
        (self.raised > 1.0).then_some(self.raised)
    }

    pub(crate) fn text(&self, seconds: f64) -> String {
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
    pub(crate) fn summary(&self, seconds: f64) -> Value {
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
