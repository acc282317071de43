//! A table of numbers that grows with a run.

use super::Table;
use crate::history;
use cutlink_common::Error;
use std::{fmt::Write as _, path::Path};

/// Lines `step,time,...` of numbers, in full precision.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines {
    file: &'static str,
    header: String,
    /// The length of a step, s.
    dt: f64,
    lines: Vec<(u64, Vec<f64>)>,
    /// Number of lines that were given out.
    written: usize,
}

impl Lines {
    /// An empty table for a file, with the names of the columns behind step and time, of a flow with steps of so many
    /// seconds.
    pub fn new(file: &'static str, columns: &[&str], dt: f64) -> Self {
        let names = columns.iter().map(|name| format!(",{name}"));
        Self {
            file,
            header: "step,time (s)".to_owned() + &names.collect::<String>(),
            dt,
            lines: Vec::new(),
            written: 0,
        }
    }

    /// Adds a line, but for a step that has one.
    pub fn add(&mut self, step: u64, numbers: Vec<f64>) {
        if self.lines.last().is_none_or(|(last, _)| *last < step) {
            self.lines.push((step, numbers));
        }
    }

    /// The numbers of the first line.
    pub fn first(&self) -> Option<&[f64]> {
        self.lines.first().map(|(_, numbers)| &**numbers)
    }
}

impl Table for Lines {
    fn file(&self) -> &'static str {
        self.file
    }

    fn whole(&mut self) -> String {
        self.written = 0;
        let lines = self.fresh();
        format!("{}\n{lines}", self.header)
    }

    fn fresh(&mut self) -> String {
        let mut text = String::new();
        for (step, numbers) in &self.lines[self.written..] {
            let _ = write!(text, "{step},{}", *step as f64 * self.dt);
            for number in numbers {
                let _ = write!(text, ",{number}");
            }
            text.push('\n');
        }
        self.written = self.lines.len();
        text
    }

    fn read(&mut self, path: &Path, step: u64) -> Result<(), Error> {
        // But for step and time.
        let columns = self.header.matches(',').count() - 1;
        self.lines = history::rows(path, &self.header, columns, step)?;
        Ok(())
    }
}
