//! The forces of a run as coefficients: 2 F / (ρ u² A) along the axes of drag, lift and side force; torques about x, y
//! and z, divided by the reference length as well. By patch and by group of patches.
//!
//! `forces.csv` is written during the run, one line per sample. [`Statistics`](super::means::Statistics) evaluates the
//! history.

use cutlink_common::{Error, ErrorKind, output};
use cutlink_solver::ForceSample;
use std::{
    fmt::Write as _,
    fs::{self, File, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
};

/// Coefficients of a patch or group.
pub const NAMES: [&str; 6] = ["C_D", "C_L", "C_S", "C_Mx", "C_My", "C_Mz"];

/// A group of patches: its name, and the patches in mesh order.
pub type Group = (String, Vec<usize>);

/// A patch or a group of patches, and its coefficients so far.
#[derive(Debug)]
pub struct ForcePart {
    /// Its name.
    pub name: String,
    /// The patches of a group; empty for a single patch.
    members: Vec<usize>,
    /// By component, one value per sample.
    pub values: [Vec<f64>; 6],
}

/// The samples so far.
#[derive(Debug)]
pub struct History<const D: usize> {
    /// Steps between samples.
    pub every: u64,
    /// Seconds of a step.
    pub time: f64,
    /// Convective time: reference length over reference velocity, s.
    pub convective_time: f64,
    /// Factors from lattice force and torque to coefficients.
    pub scale: [f64; 2],
    /// Directions of drag, lift and side force.
    pub axes: [[f64; 3]; 3],
    /// The step of each sample.
    pub steps: Vec<u64>,
    /// Patches in mesh order, then groups.
    pub parts: Vec<ForcePart>,
    patches: usize,
    /// All patches together.
    pub total: [Vec<f64>; 6],
    /// Number of samples already written to the file.
    written: usize,
}

/// The complete lines of a table that begins with `step,time`, up to a step: steps, and the numbers after the time.
/// None if there is no such file. Text after the last line end is an incomplete line of a killed run.
pub fn rows(
    path: &Path,
    header: &str,
    columns: usize,
    step: u64,
) -> Result<Vec<(u64, Vec<f64>)>, Error> {
    let text = match fs::read_to_string(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|e| {
            Error::new(
                ErrorKind::Runtime,
                format!("cannot read {}", path.display()),
            )
            .because(&e)
        })?,
    };
    let refuse = |line: usize| {
        Error::input(format!(
            "{} does not belong to this case (line {})",
            path.display(),
            line + 1
        ))
        .hint("move it away, or start again with --force")
    };
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let mut lines = whole.lines().enumerate();
    if lines
        .next()
        .is_none_or(|(_, first)| !first.starts_with(header))
    {
        return Err(refuse(0));
    }
    let mut rows = Vec::new();
    for (n, line) in lines {
        let mut words = line.split(',');
        let at: Option<u64> = words.next().and_then(|word| word.parse().ok());
        let numbers: Result<Vec<f64>, _> = words.skip(1).map(str::parse).collect();
        match (at, numbers) {
            (Some(at), Ok(numbers)) if numbers.len() >= columns => {
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

/// A table that is appended to during the run.
#[derive(Debug)]
pub struct Growing {
    path: PathBuf,
    file: File,
}

impl Growing {
    /// Writes a text atomically, then appends to the file.
    pub fn new(path: PathBuf, text: &str) -> Result<Self, Error> {
        output::write_text(&path, true, text)?;
        let file = OpenOptions::new().append(true).open(&path);
        let file = file.map_err(|e| output::failed(&path, &e))?;
        Ok(Self { path, file })
    }

    /// Appends a text.
    ///
    /// # Errors
    /// A disk that is full or fails.
    pub fn append(&mut self, text: &str) -> Result<(), Error> {
        let done = self.file.write_all(text.as_bytes());
        done.map_err(|e| output::failed(&self.path, &e))
    }

    /// Flushes the file to the disk.
    pub fn sync(&self) -> Result<(), Error> {
        let done = self.file.sync_data();
        done.map_err(|e| output::failed(&self.path, &e))
    }
}

impl<const D: usize> History<D> {
    /// Without patches: of a flow whose forces are not sampled, with steps of so many seconds.
    pub fn without_patches(time: f64) -> Self {
        Self {
            time,
            ..Self::of_patches(&[], &[])
        }
    }

    /// Of patches and groups of them, along x, y and z, in units of the flow.
    pub fn of_patches(patches: &[String], groups: &[Group]) -> Self {
        let part = |name: &String, members: &[usize]| ForcePart {
            name: name.clone(),
            members: members.to_vec(),
            values: Default::default(),
        };
        let of_patches = patches.iter().map(|name| part(name, &[]));
        let of_groups = groups.iter().map(|(name, of)| part(name, of));
        Self {
            every: 1,
            time: 1.0,
            convective_time: 1.0,
            scale: [1.0; 2],
            axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            steps: Vec::new(),
            parts: of_patches.chain(of_groups).collect(),
            patches: patches.len(),
            total: Default::default(),
            written: 0,
        }
    }

    /// Convective times (reference length over velocity) between two samples.
    pub fn interval(&self) -> f64 {
        self.every as f64 * self.time / self.convective_time
    }

    /// Coefficients of a force and torque in lattice units.
    pub fn coefficients(&self, six: &[f64; 6]) -> [f64; 6] {
        let [force, torque] = self.scale;
        let along = |axis: &[f64; 3]| (0..3).map(|a| axis[a] * six[a]).sum::<f64>() * force;
        let [drag, lift, side] = [0, 1, 2].map(|n| along(&self.axes[n]));
        let [x, y, z] = [3, 4, 5].map(|n| six[n] * torque);
        [drag, lift, side, x, y, z]
    }

    /// Names of patches and groups, with the patches of each.
    pub fn patches_by_part(&self) -> impl Iterator<Item = (&str, Vec<usize>)> {
        self.parts.iter().enumerate().map(|(n, part)| {
            let of = match n < self.patches {
                true => vec![n],
                false => part.members.clone(),
            };
            (part.name.as_str(), of)
        })
    }

    /// Adds samples up to the first NaN; the others are of a diverged flow. A step that has a sample keeps it: a flow that was
    /// resumed may give that of its start again.
    pub fn add(&mut self, samples: &[ForceSample]) {
        let every = self.every;
        for sample in samples.iter().filter(|s| s.step % every == 0) {
            if self.steps.last().is_some_and(|&last| last >= sample.step) {
                continue;
            }
            if !sample.patches.iter().flatten().all(|x| x.is_finite()) {
                break;
            }
            let patches: Vec<[f64; 6]> = sample
                .patches
                .iter()
                .map(|six| self.coefficients(six))
                .collect();
            self.push(sample.step, &patches);
        }
    }

    fn push(&mut self, step: u64, patches: &[[f64; 6]]) {
        self.steps.push(step);
        for (n, part) in self.parts.iter_mut().enumerate() {
            for (c, values) in part.values.iter_mut().enumerate() {
                values.push(match patches.get(n) {
                    Some(six) => six[c],
                    None => part.members.iter().map(|&m| patches[m][c]).sum(),
                });
            }
        }
        for (c, values) in self.total.iter_mut().enumerate() {
            values.push(patches.iter().map(|six| six[c]).sum());
        }
    }

    /// The header of the first `parts` parts.
    fn header(&self, parts: usize) -> String {
        let mut header = "step,time".to_owned();
        for part in &self.parts[..parts] {
            for name in NAMES {
                let _ = write!(header, ",{name} {}", part.name.replace([',', '\n'], " "));
            }
        }
        header
    }

    /// The lines of the samples after the first `from`.
    fn lines(&self, from: usize) -> String {
        let mut text = String::new();
        for (i, &step) in self.steps.iter().enumerate().skip(from) {
            let _ = write!(text, "{step},{:e}", step as f64 * self.time);
            for values in self.parts.iter().flat_map(|part| &part.values) {
                let _ = write!(text, ",{:e}", values[i]);
            }
            text.push('\n');
        }
        text
    }

    /// The whole table; later samples come from [`Self::fresh`].
    pub fn whole_csv(&mut self) -> String {
        self.written = self.steps.len();
        self.header(self.parts.len()) + "\n" + &self.lines(0)
    }

    /// Lines that are not written yet.
    pub fn fresh(&mut self) -> String {
        let lines = self.lines(self.written);
        self.written = self.steps.len();
        lines
    }

    /// Reads the lines up to a step. Groups are summed again, because they may have changed.
    pub fn read(&mut self, path: &Path, step: u64) -> Result<(), Error> {
        for (at, numbers) in rows(path, &self.header(self.patches), 6 * self.patches, step)? {
            let six = |six: &[f64]| std::array::from_fn(|i| six[i]);
            let patches: Vec<[f64; 6]> = numbers
                .chunks_exact(6)
                .take(self.patches)
                .map(six)
                .collect();
            self.push(at, &patches);
        }
        Ok(())
    }

    /// The last drag, lift and side force coefficient of all patches.
    pub fn last_forces(&self) -> Option<[f64; 3]> {
        let [drag, lift, side, ..] = &self.total;
        let last = |values: &Vec<f64>| values.last().copied();
        Some([last(drag)?, last(lift)?, last(side)?])
    }

    /// The drag coefficient of the last sample.
    pub fn last_drag(&self) -> Option<f64> {
        self.total[0].last().copied()
    }

    /// The share of the samples in which all forces and torques are exactly 0; 1 without samples.
    pub fn rest(&self) -> f64 {
        let components = || self.parts.iter().flat_map(|part| &part.values);
        let rests = |&n: &usize| components().all(|values| values[n] == 0.0);
        let count = (0..self.steps.len()).filter(rests).count();
        match self.steps.len() {
            0 => 1.0,
            samples => count as f64 / samples as f64,
        }
    }

    /// Whether the drag has changed by less than this share for long enough ([`settled`](cutlink_signal::settled)).
    pub fn is_settled(&self, change: f64) -> bool {
        self.rest() < 1.0 && matches!(cutlink_signal::settled(&self.total[0], change), Ok(Some(_)))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two patches and their sum; a step is 0.0125 s and length over velocity 0.5 s.
    pub(crate) fn empty() -> History<2> {
        with_groups(&[("all", &[0, 1])])
    }

    /// The same with other groups. F / (ρ u² A / 2) with ρ = 1 and u = 0.1 on the lattice, and a length of four cells.
    pub(crate) fn with_groups(groups: &[(&str, &[usize])]) -> History<2> {
        let named = |&(name, of): &(&str, &[usize])| (name.to_owned(), of.to_vec());
        let groups: Vec<Group> = groups.iter().map(named).collect();
        History {
            every: 2,
            time: 0.0125,
            convective_time: 0.5,
            scale: [50.0, 12.5],
            ..History::of_patches(&["a".to_owned(), "b".to_owned()], &groups)
        }
    }

    /// Two patches: the first has the lift, and a drag that decays from 2 to 1; the second a drag of 1/2.
    pub(crate) fn history(lift: impl Fn(f64) -> f64) -> History<2> {
        with_drag(|t| 1.0 + (-t).exp(), lift)
    }

    pub(crate) fn with_drag(drag: impl Fn(f64) -> f64, lift: impl Fn(f64) -> f64) -> History<2> {
        let mut history = empty();
        let unit = 0.5 * 0.01 * 4.0;
        for step in 1..=20_000 {
            let time = step as f64 * 0.0125;
            let a = [unit * drag(time), unit * lift(time), 0.0, 0.0, 0.0, 0.0];
            let b = [unit * 0.5, 0.0, 0.0, 0.0, 0.0, 0.0];
            history.add(&[ForceSample {
                step,
                patches: vec![a, b],
                ..ForceSample::default()
            }]);
        }
        history
    }

    #[test]
    fn a_history_reads_back_as_written() {
        let mut whole = history(|t| (0.3 * t).sin() / 3.0);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("forces.csv");
        fs::write(&path, whole.whole_csv()).expect("disk space");
        let mut read = empty();
        read.read(&path, 5000).expect("a history");
        assert_eq!(read.steps.len(), 2500, "every second step");
        assert_eq!(read.last_drag(), Some(whole.total[0][2499]), "to the bit");
        assert!(
            whole.whole_csv().starts_with(&read.whole_csv()),
            "the same text"
        );
        let late = (whole.total[0][9999] - 1.5).abs();
        assert!(late < 1e-9, "of all patches: {late}");
    }

    #[test]
    fn lines_are_written_once_and_truncated_lines_are_ignored() {
        let mut whole = history(|t| t);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("forces.csv");
        let text = whole.whole_csv();
        assert_eq!(whole.fresh(), "", "all of it is written");
        fs::write(&path, &text[..text.len() - 40]).expect("disk space");
        let mut read = empty();
        read.read(&path, 20_000).expect("a history");
        assert_eq!(read.steps.len(), 9999, "but the last");
        let mut grown = Growing::new(path.clone(), &read.whole_csv()).expect("disk space");
        let last = ForceSample {
            step: 20_000,
            patches: vec![[1.0; 6], [f64::NAN; 6]],
            ..ForceSample::default()
        };
        read.add(std::slice::from_ref(&last));
        assert_eq!(read.fresh(), "", "NaN is not kept");
        read.add(&[ForceSample {
            patches: vec![[1.0; 6]; 2],
            ..last
        }]);
        grown.append(&read.fresh()).expect("disk space");
        grown.sync().expect("a disk");
        let lines = fs::read_to_string(&path).expect("a file").lines().count();
        assert_eq!(lines, 10_001);
    }

    #[test]
    fn groups_are_sums_and_drag_follows_the_free_stream() {
        let (s, c) = (30f64.to_radians().sin(), 30f64.to_radians().cos());
        let mut history = with_groups(&[("all", &[0, 1]), ("both", &[0, 1]), ("first", &[0])]);
        history.axes = [[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]];
        let names: Vec<&str> = history.parts.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "all", "both", "first"]);
        let unit = 0.5 * 0.01 * 4.0;
        // A drag of 2 and a lift of 1 in the frame of the free stream, twice.
        let force = [unit * (2.0 * c - s), unit * (2.0 * s + c), 0.0];
        let six = [force[0], force[1], 0.0, 0.0, 0.0, unit * 4.0 * 0.3];
        history.add(&[ForceSample {
            step: 2,
            patches: vec![six, six],
            ..ForceSample::default()
        }]);
        for (part, factor) in history.parts.iter().zip([1.0, 1.0, 2.0, 2.0, 1.0]) {
            for (c, value) in [(0, 2.0), (1, 1.0), (2, 0.0), (5, 0.3)] {
                let off = (part.values[c][0] - factor * value).abs();
                assert!(
                    off < 1e-12,
                    "{} {}: {}",
                    part.name,
                    NAMES[c],
                    part.values[c][0]
                );
            }
        }
    }
}
