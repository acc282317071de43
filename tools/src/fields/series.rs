//! The index of a series of files, as ParaView and PyVista read it: `NAME.htg.series`, JSON.

use crate::failure::Failure;
use crate::output;
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

/// Files of one output that follow one another in time.
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

    /// Reads the index back, if there is one, and forgets what comes after a root step;
    /// whether that step is in it.
    pub(super) fn cut_after(&mut self, step: u64) -> Result<bool, Failure> {
        let path = self.path();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(e) => {
                return Err(Failure::usage(format!("cannot read {}", path.display())).because(&e));
            }
        };
        let broken = || {
            Failure::usage(format!("{} is not the index of a series", path.display()))
                .hint("move it away to begin a new series")
        };
        let index: Index = serde_json::from_str(&text).map_err(|e| broken().because(&e))?;
        for entry in index.files {
            if self.step_of(&entry.name).ok_or_else(broken)? <= step {
                self.index.files.push(entry);
            }
        }
        let name = self.file_name(step);
        Ok(self.index.files.iter().any(|f| f.name == name))
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder
            .join(format!("{}.{}.series", self.name, self.extension))
    }

    /// The file of a root step.
    pub(super) fn file(&self, step: u64) -> PathBuf {
        self.folder.join(self.file_name(step))
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

    /// Puts the file of a root step into the index, which is written anew; in the place of one
    /// of the same step.
    pub(super) fn add(&mut self, step: u64, time: f64) -> Result<(), Failure> {
        let name = self.file_name(step);
        self.index.files.retain(|f| f.name != name);
        self.index.files.push(Entry { name, time });
        let path = self.path();
        output::write(&path, true, |out| {
            serde_json::to_writer_pretty(out, &self.index).map_err(|e| output::failed(&path, &e))
        })?;
        Ok(())
    }
}
