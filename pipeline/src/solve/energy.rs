//! The kinetic energy of a flow without a body, which decides when it has settled.
//!
//! In: bulk quantities of the flow. Out: the fluid mean of ρ u² / 2, divided by that of the reference velocity;
//! `energy.csv`.

use crate::solve::resolve::Resolved;
use cutlink_common::Error;
use cutlink_flow::{Table, Until, bulk::Bulk, history};
use std::{fmt::Write as _, path::Path};

const HEADER: &str = "step,time,kinetic energy";

/// The samples so far.
pub(crate) struct Energy {
    /// Seconds of a root step.
    time: f64,
    /// The square of the reference velocity, in lattice units.
    square: f64,
    steps: Vec<u64>,
    values: Vec<f64>,
    /// Number of samples already written to the file.
    written: usize,
}

impl Energy {
    /// Of a box without a body that is to settle.
    pub(crate) fn of<const D: usize>(resolved: &Resolved<D>) -> Option<Self> {
        let settles = matches!(resolved.until, Until::Settled { .. });
        (settles && !resolved.params.forces).then(|| Self {
            time: resolved.units.time,
            square: resolved.physics.lattice_velocity.powi(2),
            steps: Vec::new(),
            values: Vec::new(),
            written: 0,
        })
    }

    pub(crate) fn add(&mut self, bulk: &Bulk) {
        self.steps.push(bulk.step);
        self.values.push(bulk.energy / self.square);
    }

    /// Whether anything has moved.
    fn moves(&self) -> bool {
        self.values.iter().any(|&value| value != 0.0)
    }

    pub(crate) fn is_settled(&self, change: f64) -> bool {
        self.moves() && matches!(cutlink_signal::settled(&self.values, change), Ok(Some(_)))
    }
}

impl Table for Energy {
    fn file(&self) -> &'static str {
        "energy.csv"
    }

    fn whole(&mut self) -> String {
        self.written = 0;
        format!("{HEADER}\n{}", self.fresh())
    }

    fn fresh(&mut self) -> String {
        let mut text = String::new();
        for i in self.written..self.steps.len() {
            let (step, value) = (self.steps[i], self.values[i]);
            let _ = writeln!(text, "{step},{:e},{value:e}", step as f64 * self.time);
        }
        self.written = self.steps.len();
        text
    }

    fn read(&mut self, path: &Path, step: u64) -> Result<(), Error> {
        for (at, numbers) in history::rows(path, HEADER, 1, step)? {
            self.steps.push(at);
            self.values.push(numbers[0]);
        }
        Ok(())
    }
}
