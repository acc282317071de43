//! The forces of a run, as coefficients: 2 F / (ρ u² A), torques over the reference length besides.

use crate::{
    failure::{Failure, Kind},
    solve::resolve::Resolved,
};
use cutlink_solver::{ForceSample, signal};
use serde_json::{Value, json};
use std::{fmt::Write as _, fs, path::Path};

const NAMES: [&str; 6] = ["C_D", "C_L", "C_S", "C_Mx", "C_My", "C_Mz"];

/// What has been sampled so far.
pub(crate) struct History<const D: usize> {
    patches: Vec<String>,
    every: u64,
    time: f64,
    /// From the lattice's force and torque to coefficients.
    scale: [f64; 2],
    steps: Vec<u64>,
    /// By patch and component, along x, y, z.
    values: Vec<[Vec<f64>; 6]>,
    lines: Vec<String>,
    header: String,
}

impl<const D: usize> History<D> {
    pub(crate) fn new(resolved: &Resolved<D>, patches: &[String]) -> Self {
        let (physics, units) = (&resolved.physics, &resolved.units);
        let dimensions = i32::try_from(D).expect("two or three dimensions");
        let pressure = 0.5 * physics.density * physics.velocity.powi(2) * resolved.area;
        let mut header = "step,time".to_owned();
        for patch in patches {
            for name in NAMES {
                let _ = write!(header, ",{name} {}", patch.replace([',', '\n'], " "));
            }
        }
        Self {
            patches: patches.to_vec(),
            every: resolved.forces_every.max(1),
            time: units.time,
            scale: [
                units.force(dimensions) / pressure,
                units.torque(dimensions) / (pressure * physics.length),
            ],
            steps: Vec::new(),
            values: vec![Default::default(); patches.len()],
            lines: Vec::new(),
            header,
        }
    }

    pub(crate) fn add(&mut self, samples: &[ForceSample]) {
        for sample in samples.iter().filter(|s| s.step % self.every == 0) {
            let mut line = format!("{},{:e}", sample.step, sample.step as f64 * self.time);
            self.steps.push(sample.step);
            for (values, six) in self.values.iter_mut().zip(&sample.patches) {
                for n in 0..6 {
                    let value = six[n] * self.scale[n / 3];
                    values[n].push(value);
                    let _ = write!(line, ",{value:e}");
                }
            }
            self.lines.push(line);
        }
    }

    pub(crate) fn to_csv(&self) -> String {
        let lines = std::iter::once(&self.header).chain(&self.lines);
        lines.fold(String::new(), |text, line| text + line + "\n")
    }

    /// Takes up the lines up to a step.
    pub(crate) fn read(&mut self, path: &Path, step: u64) -> Result<(), Failure> {
        let text = match fs::read_to_string(path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            other => other.map_err(|e| {
                Failure::new(Kind::Runtime, format!("cannot read {}", path.display())).because(&e)
            })?,
        };
        let mut lines = text.lines();
        let refuse = |n: usize| {
            Failure::usage(format!(
                "{} is not of this case (line {})",
                path.display(),
                n + 1
            ))
            .hint("put it elsewhere, or start again with --force")
        };
        if lines.next() != Some(&*self.header) {
            return Err(refuse(0));
        }
        for (n, line) in lines.enumerate() {
            let numbers: Result<Vec<f64>, _> = line.split(',').map(str::parse).collect();
            let numbers = numbers.map_err(|_| refuse(n + 1))?;
            let at = line.split(',').next().and_then(|first| first.parse().ok());
            let (Some(at), true) = (at, numbers.len() == 2 + 6 * self.patches.len()) else {
                return Err(refuse(n + 1));
            };
            if at > step {
                break;
            }
            self.steps.push(at);
            for (i, &value) in numbers[2..].iter().enumerate() {
                self.values[i / 6][i % 6].push(value);
            }
            self.lines.push(line.to_owned());
        }
        Ok(())
    }

    /// All patches together, along x.
    fn drag(&self) -> Vec<f64> {
        let at = |i: usize| self.values.iter().map(|values| values[0][i]).sum();
        (0..self.steps.len()).map(at).collect()
    }

    pub(crate) fn last_drag(&self) -> Option<f64> {
        self.drag().pop()
    }

    pub(crate) fn is_settled(&self, change: f64) -> bool {
        matches!(signal::settled(&self.drag(), change), Ok(Some(_)))
    }

    /// Mean of the second half, with its error where there is one.
    fn mean(values: &[f64]) -> Value {
        let half = &values[values.len() / 2..];
        match signal::mean(half) {
            Ok(mean) => json!({ "mean": mean.mean.value, "error": mean.mean.error }),
            Err(e) => {
                let mean = half.iter().sum::<f64>() / half.len().max(1) as f64;
                json!({ "mean": mean, "error": null, "why": e.to_string() })
            }
        }
    }

    pub(crate) fn summary(&self) -> Value {
        let of = |(patch, values): (&String, &[Vec<f64>; 6])| {
            let means = NAMES
                .iter()
                .zip(values)
                .map(|(name, values)| ((*name).to_owned(), Self::mean(values)));
            (patch.clone(), Value::Object(means.collect()))
        };
        if self.steps.is_empty() {
            return Value::Null;
        }
        Value::Object(self.patches.iter().zip(&self.values).map(of).collect())
    }

    pub(crate) fn table(&self) -> String {
        let mut text = String::new();
        if self.steps.is_empty() {
            return text;
        }
        for (patch, values) in self.patches.iter().zip(&self.values) {
            let _ = write!(text, "{patch}:");
            for n in 0..D {
                let mean = Self::mean(&values[n]);
                let error = mean["error"]
                    .as_f64()
                    .map_or(String::new(), |e| format!(" ± {e:.2e}"));
                let _ = write!(
                    text,
                    " {} {:.5}{error}",
                    NAMES[n],
                    mean["mean"].as_f64().unwrap_or(f64::NAN)
                );
            }
            text += " (second half of the run)\n";
        }
        text
    }
}
