//! The index of a file series for ParaView and PyVista: `NAME.htg.series`, JSON.

use cutlink_common::{Error, output};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const VERSION: &str = "1.0";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Entry {
    name: String,
    time: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Index {
    #[serde(rename = "file-series-version")]
    version: String,
    files: Vec<Entry>,
}

/// The files of one output over time.
#[derive(Debug)]
pub(super) struct Series {
    folder: PathBuf,
    name: String,
    extension: &'static str,
    index: Index,
}

impl Series {
    pub(super) fn new(folder: &Path, name: &str, extension: &'static str) -> Self {
        Self {
            folder: folder.to_owned(),
            name: name.to_owned(),
            extension,
            index: Index {
                version: VERSION.into(),
                files: Vec::new(),
            },
        }
    }

    /// Reads the index, if there is one, and keeps the root steps that `keep` accepts; returns whether there is a file
    /// of step `now`.
    pub(super) fn take_up(&mut self, now: u64, keep: impl Fn(u64) -> bool) -> Result<bool, Error> {
        let path = self.path();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(e) => {
                return Err(Error::input(format!("cannot read {}", path.display())).because(&e));
            }
        };
        let broken = || {
            Error::input(format!("{} is not the index of a series", path.display()))
                .hint("move it away to begin a new series")
        };
        let index: Index = serde_json::from_str(&text).map_err(|e| broken().because(&e))?;
        for entry in index.files {
            let there = self.folder.join(&entry.name).exists();
            if keep(self.step_of(&entry.name).ok_or_else(broken)?) && there {
                self.index.files.push(entry);
            }
        }
        let name = self.file_name(now);
        Ok(self.index.files.iter().any(|f| f.name == name))
    }

    /// Removes the files of steps that are not kept, and an index without files.
    pub(super) fn prune(&self, keep: impl Fn(u64) -> bool) -> Result<(), Error> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten();
        let stale = entries.flatten().filter(|entry| {
            let name = entry.file_name();
            let step = name.to_str().and_then(|name| self.step_of(name));
            step.is_some_and(|step| !keep(step))
        });
        for entry in stale {
            let path = entry.path();
            std::fs::remove_file(&path).map_err(|e| output::failed(&path, &e))?;
        }
        let path = self.path();
        match path.exists() {
            true if self.index.files.is_empty() => {
                std::fs::remove_file(&path).map_err(|e| output::failed(&path, &e))
            }
            true => self.save(),
            false => Ok(()),
        }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder
            .join(format!("{}.{}.series", self.name, self.extension))
    }

    /// The file of a root step.
    pub(super) fn file(&self, step: u64) -> PathBuf {
        self.folder.join(self.file_name(step))
    }

    /// The files that are there, by their root steps.
    pub(super) fn present(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten();
        let step = |entry: std::fs::DirEntry| self.step_of(entry.file_name().to_str()?);
        let mut steps: Vec<u64> = entries.flatten().filter_map(step).collect();
        steps.sort_unstable();
        steps.into_iter().map(|step| self.file(step)).collect()
    }

    /// The film of all files.
    pub(super) fn film(&self) -> PathBuf {
        self.folder.join(format!("{}.apng", self.name))
    }

    fn file_name(&self, step: u64) -> String {
        format!("{}_{step:09}.{}", self.name, self.extension)
    }

    /// The root step of a file of this series.
    pub(super) fn step_of(&self, file: &str) -> Option<u64> {
        let rest = file.strip_prefix(self.name.as_str())?.strip_prefix('_')?;
        let digits = rest.strip_suffix(self.extension)?.strip_suffix('.')?;
        let sound = digits.len() >= 9 && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse().ok().filter(|_| sound)
    }

    /// Adds the file of a root step to the index, or replaces that of the same step, and rewrites the index.
    pub(super) fn add(&mut self, step: u64, time: f64) -> Result<(), Error> {
        let name = self.file_name(step);
        self.index.files.retain(|f| f.name != name);
        self.index.files.push(Entry { name, time });
        self.save()
    }

    fn save(&self) -> Result<(), Error> {
        let path = self.path();
        output::write(&path, true, |out| {
            serde_json::to_writer_pretty(out, &self.index).map_err(|e| output::failed(&path, &e))
        })?;
        Ok(())
    }
}
