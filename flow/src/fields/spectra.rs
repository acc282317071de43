//! Power spectral densities of the velocity and pressure at probes, as CSV and as a picture.
//!
//! In: the table of the probes, of which the second half of the run counts. Out: `NAME_spectrum.csv`, a row per frequency
//! with the columns of the table, in squares of their units times that of the time; `NAME_spectrum.png`, both axes
//! logarithmic, a panel per component and a curve per point. Determinism: as [`signal`](cutlink_signal).

use super::units::FieldUnits;
use cutlink_common::{Error, output};
use cutlink_pictures::{
    canvas::Canvas,
    plot::{Panel, Plot},
};
use cutlink_signal::{PowerDensity, SignalError, power_density};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const LETTERS: [&str; 3] = ["u", "v", "w"];

/// The files of the spectra of a table of probes.
pub(super) fn files(table: &Path) -> [PathBuf; 2] {
    let stem = table.file_stem().unwrap_or_default().to_string_lossy();
    ["csv", "png"].map(|end| table.with_file_name(format!("{stem}_spectrum.{end}")))
}

/// The samples of a table.
struct Samples {
    /// Between two samples.
    interval: f64,
    /// Values by column, without step and time; NaN where a point had none.
    columns: Vec<Vec<f64>>,
}

/// Reads the second half of a table, rows at multiples of `period` root steps.
fn samples(table: &Path, period: u64, step: f64) -> Result<Samples, Error> {
    let text = std::fs::read_to_string(table)
        .map_err(|e| Error::input(format!("cannot read {}", table.display())).because(&e))?;
    let width = text
        .lines()
        .next()
        .map_or(0, |line| line.split(',').count());
    let rows = text.lines().skip(1).filter_map(|line| {
        let mut fields = line.split(',');
        let at: u64 = fields.next()?.parse().ok()?;
        let values = fields
            .skip(1)
            .map(|field| field.parse().unwrap_or(f64::NAN));
        at.is_multiple_of(period)
            .then(|| values.collect::<Vec<f64>>())
    });
    let rows: Vec<Vec<f64>> = rows.collect();
    let half = &rows[rows.len() / 2..];
    let column = |n: usize| {
        half.iter()
            .map(|row| row.get(n).copied().unwrap_or(f64::NAN))
            .collect()
    };
    Ok(Samples {
        interval: period as f64 * step,
        columns: (0..width.saturating_sub(2)).map(column).collect(),
    })
}

/// Writes the spectra of a table of probes that is sampled every `period` root steps; returns the files. A run that is
/// too short gets a table that says so, and no picture.
pub(super) fn write<const D: usize>(
    table: &Path,
    period: u64,
    units: &FieldUnits,
) -> Result<Vec<PathBuf>, Error> {
    let samples = samples(table, period, units.time.factor)?;
    let of = |column: &Vec<f64>| power_density(column, samples.interval);
    let spectra: Vec<Result<PowerDensity, SignalError>> = samples.columns.iter().map(of).collect();
    let [csv, png] = files(table);
    let Some(first) = spectra.iter().flatten().next() else {
        let reason = spectra.iter().find_map(|of| of.as_ref().err());
        let reason = reason.map_or_else(String::new, ToString::to_string);
        output::write_text(&csv, true, &format!("# no spectrum: {reason}\n"))?;
        return Ok(vec![csv]);
    };
    output::write_text(&csv, true, &text::<D>(first, &spectra, units))?;
    let mut files = vec![csv];
    if let Some(canvas) = draw::<D>(first, &spectra, units) {
        output::write(&png, true, |out| {
            canvas.write_png(out).map_err(|e| output::failed(&png, &e))
        })?;
        files.push(png);
    }
    Ok(files)
}

/// The component of a column: its letter, and the name of its unit.
fn component<const D: usize>(column: usize, units: &FieldUnits) -> (&'static str, &str) {
    match column % (D + 1) {
        axis if axis < D => (LETTERS[axis], &units.velocity.name),
        _ => ("p", &units.pressure.name),
    }
}

fn text<const D: usize>(
    first: &PowerDensity,
    spectra: &[Result<PowerDensity, SignalError>],
    units: &FieldUnits,
) -> String {
    let mut text = format!("frequency (1/{})", units.time.name);
    for column in 0..spectra.len() {
        let (letter, unit) = component::<D>(column, units);
        let point = column / (D + 1) + 1;
        let _ = write!(text, ",S_{letter}{point} (({unit})^2 {})", units.time.name);
    }
    text.push('\n');
    for (row, frequency) in first.frequencies.iter().enumerate() {
        let _ = write!(text, "{frequency}");
        for of in spectra {
            text.push(',');
            // A point that a cell of the body has covered has none.
            if let Some(density) = of.as_ref().ok().and_then(|of| of.density.get(row)) {
                let _ = write!(text, "{density}");
            }
        }
        text.push('\n');
    }
    text
}

/// Logarithms of both, since the axes of a plot are linear.
fn draw<const D: usize>(
    first: &PowerDensity,
    spectra: &[Result<PowerDensity, SignalError>],
    units: &FieldUnits,
) -> Option<Canvas> {
    let points = spectra.len() / (D + 1);
    let panel = |which: usize| {
        let (letter, unit) = component::<D>(which, units);
        let curve = |point: usize| match &spectra[point * (D + 1) + which] {
            Ok(of) => of.density.iter().map(|density| density.log10()).collect(),
            Err(_) => vec![f64::NAN; first.density.len()],
        };
        Panel {
            title: format!("log10 S_{letter}"),
            note: format!(
                "({unit})^2 {}; {} segments of {} samples",
                units.time.name, first.segments, first.length
            ),
            mean: None,
            error: None,
            curves: (0..points).map(curve).collect(),
        }
    };
    let frequencies: Vec<f64> = first.frequencies.iter().map(|f| f.log10()).collect();
    let names: Vec<String> = (1..=points).map(|point| format!("point {point}")).collect();
    let plot = Plot {
        times: &frequencies,
        time_title: &format!("log10 of the frequency in 1/{}", units.time.name),
        mean_from: None,
        names: &names,
        panels: (0..=D).map(panel).collect(),
    };
    plot.draw()
}
