//! `motion.csv`: where bodies are, how they move, and the force of the fluid on them.

use crate::solve::{laws::rate, units::Units};
use cutlink_common::Error;
use cutlink_flow::{Table, history};
use cutlink_solver::{BodyState, MotionSample};
use cutlink_voxelizer::Frame;
use std::{fmt::Write as _, path::Path};

/// The columns of a body.
fn columns(dimensions: usize) -> &'static [&'static str] {
    match dimensions {
        2 => &["x", "y", "angle", "u", "v", "omega", "fx", "fy", "mz"],
        _ => &[
            "x", "y", "z", "qw", "qx", "qy", "qz", "u", "v", "w", "omega_x", "omega_y", "omega_z",
            "fx", "fy", "fz", "mx", "my", "mz",
        ],
    }
}

/// Rms velocity of a body over the reference velocity below which it is at rest.
const SLOW: f64 = 0.01;

/// The lines so far.
pub(crate) struct Motions<const D: usize> {
    header: String,
    columns: usize,
    frame: Frame<D>,
    units: Units,
    every: u64,
    rows: Vec<(u64, Vec<f64>)>,
    /// Number of lines already written to the file.
    written: usize,
}

impl<const D: usize> Motions<D> {
    /// Of bodies with these names, a line each so many root steps.
    pub(crate) fn new(names: &[&str], frame: Frame<D>, units: Units, every: u64) -> Self {
        let of_body = columns(D);
        let mut header = String::from("step,time");
        for name in names {
            // A comma would be a column more.
            let name = name.replace([',', '\n', '"'], "_");
            of_body.iter().for_each(|column| {
                let _ = write!(header, ",{name} {column}");
            });
        }
        Self {
            header,
            columns: names.len() * of_body.len(),
            frame,
            units,
            every: every.max(1),
            rows: Vec::new(),
            written: 0,
        }
    }

    /// Adds samples, of which those that are due stay.
    pub(crate) fn add(&mut self, samples: &[MotionSample<D>]) {
        for sample in samples
            .iter()
            .filter(|of| of.step.is_multiple_of(self.every))
        {
            let mut row = Vec::with_capacity(self.columns);
            for (state, load) in sample.bodies.iter().zip(&sample.forces) {
                self.add_body(&mut row, state, load);
            }
            self.rows.push((sample.step, row));
        }
    }

    /// Rms acceleration over rms velocity of the second half, 1/s, of the body with the largest one; bodies that hardly move beside
    /// this velocity, m/s, do not count.
    pub(crate) fn rate(&self, velocity: f64) -> Option<f64> {
        let late = &self.rows[self.rows.len() / 2..];
        let [(first, _), .., (last, _)] = late else {
            return None;
        };
        let dt = (last - first) as f64 * self.units.time / (late.len() - 1) as f64;
        let of_body = columns(D);
        let from = of_body.iter().position(|name| *name == "u")?;
        let bodies = (0..self.columns).step_by(of_body.len());
        let rates = bodies.filter_map(|body| {
            let speeds = late.iter().map(|(_, row)| &row[body + from..][..D]);
            let speeds: Vec<&[f64]> = speeds.collect();
            let squares = speeds.iter().flat_map(|v| v.iter()).map(|v| v * v);
            let rms = (squares.sum::<f64>() / speeds.len() as f64).sqrt();
            rate(&speeds, dt).filter(|_| rms > SLOW * velocity)
        });
        rates.max_by(f64::total_cmp)
    }

    /// In SI units; in 2D forces and torques are a metre of depth.
    fn add_body(&self, row: &mut Vec<f64>, state: &BodyState<D>, load: &[f64; 6]) {
        let Units {
            length,
            time,
            density,
        } = self.units;
        let center = &state.pose.center;
        row.extend((0..D).map(|a| self.frame.origin[a] + self.frame.dx * center[a]));
        match D {
            2 => row.push(state.pose.angle()),
            _ => row.extend(state.pose.rotation.0),
        }
        row.extend(state.velocity.map(|u| u * length / time));
        let force = density * length.powi(D as i32 + 1) / (time * time);
        let turns = if D == 2 { 2..3 } else { 0..3 };
        row.extend(state.spin[turns.clone()].iter().map(|w| w / time));
        row.extend(load[..D].iter().map(|f| f * force));
        row.extend(load[3..][turns].iter().map(|m| m * force * length));
    }
}

impl<const D: usize> Table for Motions<D> {
    fn file(&self) -> &'static str {
        "motion.csv"
    }

    fn whole(&mut self) -> String {
        self.written = 0;
        let lines = self.fresh();
        format!("{}\n{lines}", self.header)
    }

    fn fresh(&mut self) -> String {
        let mut text = String::new();
        for (step, row) in &self.rows[self.written..] {
            let _ = write!(text, "{step},{:e}", *step as f64 * self.units.time);
            row.iter().for_each(|value| {
                let _ = write!(text, ",{value:e}");
            });
            text.push('\n');
        }
        self.written = self.rows.len();
        text
    }

    fn read(&mut self, path: &Path, step: u64) -> Result<(), Error> {
        let rows = history::rows(path, &self.header, self.columns, step)?;
        // A table of more bodies begins with the same columns.
        if rows.iter().any(|(_, row)| row.len() != self.columns) {
            let text = format!("{} has other bodies than this case", path.display());
            return Err(Error::input(text).hint("move it away, or start again with --force"));
        }
        self.rows = rows;
        Ok(())
    }
}
