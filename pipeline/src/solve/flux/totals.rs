//! `integrals.csv`: mass, momentum and energy, elements; of viscous flows kinetic energy and enstrophy; the error where the
//! exact flow is known.

use crate::{
    error::Error,
    output,
    solve::history::{self, Growing},
};
use std::{fmt::Write as _, path::Path};

/// A line.
#[derive(Debug, Clone, PartialEq)]
struct Line {
    step: u64,
    /// Those behind the time.
    numbers: Vec<f64>,
}

/// The lines so far.
pub(super) struct TotalsTable {
    header: String,
    /// The length of a step.
    dt: f64,
    lines: Vec<Line>,
    file: Option<Growing>,
}

impl TotalsTable {
    /// An empty table of a flow in `dimensions`.
    pub(super) fn new(dimensions: usize, dt: f64, is_viscous: bool, is_exact: bool) -> Self {
        let mut header = "step,time (s),mass".to_owned();
        for axis in &["x", "y", "z"][..dimensions] {
            let _ = write!(header, ",momentum_{axis}");
        }
        header.push_str(",energy,elements");
        if is_viscous {
            header.push_str(",kinetic_energy,enstrophy");
        }
        if is_exact {
            header.push_str(",density_error");
        }
        Self {
            header,
            dt,
            lines: Vec::new(),
            file: None,
        }
    }

    fn text(&self, line: &Line) -> String {
        let mut text = format!("{},{}", line.step, line.step as f64 * self.dt);
        for number in &line.numbers {
            let _ = write!(text, ",{number}");
        }
        text.push('\n');
        text
    }

    /// Reads the lines of an earlier run up to a step.
    ///
    /// # Errors
    /// A file of another case.
    pub(super) fn read(&mut self, folder: &Path, step: u64) -> Result<(), Error> {
        let path = folder.join("integrals.csv");
        // But for step and time.
        let columns = self.header.matches(',').count() - 1;
        let rows = history::rows(&path, &self.header, columns, step)?;
        let line = |(step, numbers)| Line { step, numbers };
        self.lines = rows.into_iter().map(line).collect();
        Ok(())
    }

    /// Begins the file with the lines so far.
    ///
    /// # Errors
    /// I/O errors.
    pub(super) fn begin(&mut self, folder: &Path) -> Result<(), Error> {
        let lines: String = self.lines.iter().map(|line| self.text(line)).collect();
        let text = format!("{}\n{lines}", self.header);
        self.file = Some(Growing::new(folder.join("integrals.csv"), &text)?);
        Ok(())
    }

    /// Adds a line, but for a step that has one.
    ///
    /// # Errors
    /// I/O errors.
    pub(super) fn add(&mut self, step: u64, numbers: Vec<f64>) -> Result<(), Error> {
        if self.lines.last().is_some_and(|line| line.step >= step) {
            return Ok(());
        }
        let line = Line { step, numbers };
        let text = self.text(&line);
        self.lines.push(line);
        match &mut self.file {
            Some(file) => file.append(&text),
            None => Ok(()),
        }
    }

    /// Flushes the file to the disk.
    ///
    /// # Errors
    /// I/O errors.
    pub(super) fn sync(&self) -> Result<(), Error> {
        self.file.as_ref().map_or(Ok(()), Growing::sync)
    }

    /// The numbers of the first line.
    pub(super) fn first(&self) -> Option<&[f64]> {
        self.lines.first().map(|line| &*line.numbers)
    }
}

/// Writes a text into the folder of a run.
///
/// # Errors
/// I/O errors.
pub(super) fn write(folder: &Path, name: &str, text: &str) -> Result<(), Error> {
    output::write_text(&folder.join(name), true, text)
}
