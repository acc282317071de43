//! The forces of a run, as coefficients: 2 F / (ρ u² A), torques over the reference length besides.
//!
//! Means and frequencies are of the second half of the run.

use crate::{
    failure::{Failure, Kind},
    picture::{
        full::FullCanvas,
        plot::{Panel, Plot},
        scale::number,
    },
    solve::resolve::Resolved,
};
use cutlink_solver::{
    ForceSample,
    signal::{self, Estimate},
};
use serde_json::{Value, json};
use std::{fmt::Write as _, fs, path::Path};

const NAMES: [&str; 6] = ["C_D", "C_L", "C_S", "C_Mx", "C_My", "C_Mz"];

/// Least amplitude of a lift that oscillates, as a share of the mean drag: below it lies what rounding
/// does to a symmetric flow.
const LEAST_SWING: f64 = 1e-4;
/// An oscillation swings at least so much as far in the last quarter as in the one before: else
/// it is an echo of the start.
const LEAST_PERSISTENCE: f64 = 0.5;

/// Strouhal numbers of vortices are far below; faster ones are sound between the walls.
const LARGEST_STROUHAL: f64 = 1.0;

/// What has been sampled so far.
pub(crate) struct History<const D: usize> {
    patches: Vec<String>,
    every: u64,
    /// Seconds of a root step.
    time: f64,
    /// Reference length over velocity.
    turn: f64,
    /// From the lattice's force and torque to coefficients.
    scale: [f64; 2],
    steps: Vec<u64>,
    /// By patch and component, along x, y, z.
    values: Vec<[Vec<f64>; 6]>,
    /// All patches together, along x.
    drag: Vec<f64>,
}

/// How often vortices leave, as Strouhal numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shedding {
    /// By the sine that fits the lift best.
    pub(crate) fit: Estimate,
    /// By the highest peak of its spectrum.
    pub(crate) spectrum: Estimate,
    /// Of the lift coefficient.
    pub(crate) amplitude: Estimate,
    /// Cycles that were seen.
    pub(crate) cycles: f64,
}

/// The rows of a table that begins with `step,time`, up to a step: steps, and the numbers after the time. None where there is no such file.
pub(super) fn rows(path: &Path, header: &str, step: u64) -> Result<Vec<(u64, Vec<f64>)>, Failure> {
    let text = match fs::read_to_string(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|e| {
            Failure::new(Kind::Runtime, format!("cannot read {}", path.display())).because(&e)
        })?,
    };
    let refuse = |line: usize| {
        Failure::usage(format!(
            "{} is not of this case (line {})",
            path.display(),
            line + 1
        ))
        .hint("put it elsewhere, or start again with --force")
    };
    let mut lines = text.lines().enumerate();
    if lines.next().is_none_or(|(_, first)| first != header) {
        return Err(refuse(0));
    }
    let columns = header.split(',').count() - 2;
    let mut rows = Vec::new();
    for (n, line) in lines {
        let mut words = line.split(',');
        let at: Option<u64> = words.next().and_then(|word| word.parse().ok());
        let numbers: Result<Vec<f64>, _> = words.skip(1).map(str::parse).collect();
        match (at, numbers) {
            (Some(at), Ok(numbers)) if numbers.len() == columns => {
                if at > step {
                    break;
                }
                rows.push((at, numbers));
            }
            _ => return Err(refuse(n)),
        }
    }
    Ok(rows)
}

impl<const D: usize> History<D> {
    pub(crate) fn new(resolved: &Resolved<D>, patches: &[String]) -> Self {
        let (physics, units) = (&resolved.physics, &resolved.units);
        let dimensions = i32::try_from(D).expect("two or three dimensions");
        let pressure = 0.5 * physics.density * physics.velocity.powi(2) * resolved.area;
        Self {
            patches: patches.to_vec(),
            every: resolved.forces_every.max(1),
            time: units.time,
            turn: physics.length / physics.velocity,
            scale: [
                units.force(dimensions) / pressure,
                units.torque(dimensions) / (pressure * physics.length),
            ],
            steps: Vec::new(),
            values: vec![Default::default(); patches.len()],
            drag: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, samples: &[ForceSample]) {
        let ([force, torque], every) = (self.scale, self.every);
        let scaled = |six: &[f64; 6]| {
            let [a, b, c, d, e, f] = *six;
            [
                a * force,
                b * force,
                c * force,
                d * torque,
                e * torque,
                f * torque,
            ]
        };
        for sample in samples.iter().filter(|s| s.step % every == 0) {
            self.push(sample.step, sample.patches.iter().map(scaled));
        }
    }

    fn push(&mut self, step: u64, patches: impl Iterator<Item = [f64; 6]>) {
        self.steps.push(step);
        let mut drag = 0.0;
        for (values, six) in self.values.iter_mut().zip(patches) {
            drag += six[0];
            for (values, value) in values.iter_mut().zip(six) {
                values.push(value);
            }
        }
        self.drag.push(drag);
    }

    fn header(&self) -> String {
        let mut header = "step,time".to_owned();
        for patch in &self.patches {
            for name in NAMES {
                let _ = write!(header, ",{name} {}", patch.replace([',', '\n'], " "));
            }
        }
        header
    }

    pub(crate) fn to_csv(&self) -> String {
        let mut text = self.header() + "\n";
        for (i, &step) in self.steps.iter().enumerate() {
            let _ = write!(text, "{step},{:e}", step as f64 * self.time);
            for values in self.values.iter().flatten() {
                let _ = write!(text, ",{:e}", values[i]);
            }
            text.push('\n');
        }
        text
    }

    /// Takes up the lines up to a step.
    pub(crate) fn read(&mut self, path: &Path, step: u64) -> Result<(), Failure> {
        for (at, numbers) in rows(path, &self.header(), step)? {
            let six = |six: &[f64]| std::array::from_fn(|i| six[i]);
            self.push(at, numbers.chunks_exact(6).map(six));
        }
        Ok(())
    }

    pub(crate) fn last_drag(&self) -> Option<f64> {
        self.drag.last().copied()
    }

    pub(crate) fn is_settled(&self, change: f64) -> bool {
        matches!(signal::settled(&self.drag, change), Ok(Some(_)))
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

    /// All patches together, along an axis.
    fn total(&self, n: usize) -> Vec<f64> {
        let at = |i: usize| self.values.iter().map(|values| values[n][i]).sum();
        (0..self.steps.len()).map(at).collect()
    }

    /// The Strouhal number, where the lift of all patches together oscillates.
    pub(crate) fn shedding(&self) -> Option<Shedding> {
        let lift = self.total(1);
        let half = &lift[lift.len() / 2..];
        let interval = self.every as f64 * self.time / self.turn;
        let fit = signal::oscillation(half, interval).ok()?;
        let peak = signal::peak(half, interval).ok()?;
        let drag = &self.drag[lift.len() / 2..];
        let drag = drag.iter().sum::<f64>().abs() / drag.len() as f64;
        let swing = |part: &[f64]| {
            let square = |x: &f64| (x - fit.mean.value).powi(2);
            (part.iter().map(square).sum::<f64>() / part.len() as f64).sqrt()
        };
        let (before, last) = half.split_at(half.len() / 2);
        let oscillates = fit.frequency.value < LARGEST_STROUHAL
            && fit.amplitude.value > LEAST_SWING * drag
            && swing(last) > LEAST_PERSISTENCE * swing(before);
        oscillates.then_some(Shedding {
            fit: fit.frequency,
            spectrum: peak.frequency,
            amplitude: fit.amplitude,
            cycles: fit.cycles,
        })
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
                let _ = write!(text, " {} {}", NAMES[n], told(&Self::mean(&values[n])));
            }
            text += " (second half of the run)\n";
        }
        if let Some(Shedding {
            fit,
            spectrum,
            cycles,
            ..
        }) = self.shedding()
        {
            let _ = writeln!(
                text,
                "St {:.5} ± {:.1e} by a sine, {:.5} ± {:.1e} by the spectrum ({cycles:.1} cycles)",
                fit.value, fit.error, spectrum.value, spectrum.error
            );
        }
        text
    }

    /// C_D, C_L and in space C_S over time; nothing where there are fewer than two samples.
    pub(crate) fn plot(&self) -> Option<FullCanvas> {
        let times: Vec<f64> = self.steps.iter().map(|&s| s as f64 * self.time).collect();
        let shedding = self.shedding();
        let panel = |n: usize| {
            let mean = Self::mean(&self.total(n));
            let mut note = format!("mean {}", told(&mean));
            if let (1, Some(shedding)) = (n, shedding) {
                let _ = write!(
                    note,
                    ", amplitude {}, St {:.4}",
                    number(shedding.amplitude.value, 4),
                    shedding.fit.value
                );
            }
            Panel {
                title: NAMES[n].into(),
                note,
                mean: mean["mean"].as_f64(),
                curves: self.values.iter().map(|six| six[n].clone()).collect(),
            }
        };
        let plot = Plot {
            times: &times,
            time_title: "time in s",
            mean_from: times.get(times.len() / 2).copied().unwrap_or(0.0),
            names: &self.patches,
            panels: (0..D).map(panel).collect(),
        };
        plot.draw()
    }
}

/// A mean with its error.
fn told(mean: &Value) -> String {
    let value = mean["mean"].as_f64().unwrap_or(f64::NAN);
    match mean["error"].as_f64() {
        Some(error) => format!("{value:.5} ± {error:.1e}"),
        None => format!("{value:.5}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;
    use crate::mesh::build::bare;
    use crate::solve::case::Case;
    use crate::solve::resolve::Grid;
    use std::f64::consts::TAU;

    /// A root step is 0.0125 s and length over velocity 0.5 s.
    const CASE: &str = "
        [domain]
        box = [0, 0, 4, 4]
        root = 16
        [physics]
        re = 10
        length = 1
        velocity = 2
        lattice_velocity = 0.1
        [boundary]
        \"x-\" = \"periodic\"
        \"x+\" = \"periodic\"
        \"y-\" = \"no-slip\"
        \"y+\" = \"no-slip\"
        [run]
        steps = 10
        [output]
        forces_every = 2";

    fn history(lift: impl Fn(f64) -> f64) -> History<2> {
        let case = parse::<Case>("test", CASE).expect("a case");
        let domain = case.domain.as_ref().expect("a box");
        let mesh = bare::<2>(&domain.bounds, &domain.root).expect("a mesh");
        let resolved = case.resolve("test", Grid::of(&mesh)).expect("a flow");
        let mut history = History::new(&resolved, &["a".into(), "b".into()]);
        // F / (ρ u² A / 2) with ρ = 1 and u = 0.1 on the lattice, and a length of four cells.
        let unit = 0.5 * 0.01 * 4.0;
        for step in 1..=20_000 {
            let time = step as f64 * 0.0125;
            let start = (-time).exp();
            let a = [unit * (1.0 + start), unit * lift(time), 0.0, 0.0, 0.0, 0.0];
            let b = [unit * 0.5, 0.0, 0.0, 0.0, 0.0, 0.0];
            history.add(&[ForceSample {
                step,
                patches: vec![a, b],
            }]);
        }
        history
    }

    #[test]
    fn a_strouhal_number_is_told_where_the_lift_oscillates_and_nowhere_else() {
        // 0.4 cycles a second; length over velocity is 0.5 s.
        let swings = history(|t| 0.3 * (TAU * 0.4 * t).sin() * (1.0 - (-t / 5.0).exp()));
        let found = swings.shedding().expect("it oscillates");
        for (what, estimate) in [("fit", found.fit), ("spectrum", found.spectrum)] {
            let off = (estimate.value - 0.2).abs();
            assert!(
                off < 1e-3 && off < 5.0 * estimate.error + 1e-6,
                "{what}: {estimate:?}"
            );
        }
        assert!((found.amplitude.value - 0.3).abs() < 1e-3, "{found:?}");
        assert!(swings.table().contains("St 0.2000"), "{}", swings.table());
        assert!(swings.plot().is_some(), "a plot");
        assert_eq!(history(|_| 0.1).shedding(), None, "constant");
        let rounding = history(|t| 1e-7 * (TAU * 0.4 * t).sin());
        assert_eq!(rounding.shedding(), None, "rounding");
        let sound = history(|t| 0.3 * (TAU * 3.0 * t).sin());
        assert_eq!(sound.shedding(), None, "sound");
        let echo = history(|t| 0.3 * (TAU * 0.4 * t).sin() * (-t / 20.0).exp());
        assert_eq!(echo.shedding(), None, "an echo of the start");
        assert!(!echo.table().contains("St"), "{}", echo.table());
    }

    #[test]
    fn a_history_is_the_one_that_was_written() {
        let whole = history(|t| (0.3 * t).sin() / 3.0);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("forces.csv");
        fs::write(&path, whole.to_csv()).expect("room");
        let mut read = history(|_| 0.0);
        (read.steps, read.drag) = (Vec::new(), Vec::new());
        read.values.fill(Default::default());
        read.read(&path, 5000).expect("a history");
        assert_eq!(read.steps.len(), 2500, "every second step");
        assert_eq!(read.last_drag(), Some(whole.drag[2499]), "to the bit");
        assert!(whole.to_csv().starts_with(&read.to_csv()), "the same text");
        let late = (whole.drag[9999] - 1.5).abs();
        assert!(late < 1e-9, "of all patches: {late}");
    }
}
