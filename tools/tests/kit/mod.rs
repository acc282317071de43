//! A folder to run `cutlink` in, and the results of a run.

#![allow(dead_code, reason = "each test file uses its part")]

use assert_cmd::Command;
use cutlink_mesher::Surface;
use cutlink_mesher::primitives::{AnyShape, parse_shape};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

/// A run that takes longer hangs; it is killed, and its code is -1.
const HANG: Duration = Duration::from_secs(120);

/// The variable that makes devices visible to programs, for NVIDIA's driver.
const VISIBLE: &str = "CUDA_VISIBLE_DEVICES";

/// An empty folder, removed after the test.
pub(crate) struct Folder(TempDir);

/// The results of a run.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs `cutlink` in the folder, on the CPU; the arguments are split at spaces.
    pub(crate) fn run(&self, args: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cutlink"));
        command.env(VISIBLE, "");
        self.finish(command.args(args.split_whitespace()))
    }

    /// Like [`Self::run`], with the GPUs of this machine visible.
    pub(crate) fn run_with_gpus(&self, args: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cutlink"));
        self.finish(command.args(args.split_whitespace()))
    }

    /// Runs a shell line in the folder, with `cutlink` as `$CUTLINK`.
    pub(crate) fn shell(&self, line: &str) -> Ran {
        let mut command = Command::new("sh");
        command.env(VISIBLE, "");
        command.env("CUTLINK", env!("CARGO_BIN_EXE_cutlink"));
        self.finish(command.args(["-c", line]))
    }

    fn finish(&self, command: &mut Command) -> Ran {
        let output = command
            .current_dir(&self.0)
            .timeout(HANG)
            .output()
            .expect("cutlink should start");
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a writable folder");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("a file")
    }

    /// The names of all files in the folder, including hidden ones.
    pub(crate) fn files(&self) -> Vec<String> {
        self.files_in("")
    }

    /// The same of a folder in it.
    pub(crate) fn files_in(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).expect("a folder");
        let name = |e: std::io::Result<fs::DirEntry>| e.expect("an entry").file_name();
        let mut names: Vec<String> = entries
            .map(|e| name(e).to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Ran {
    /// The run succeeded.
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// The run failed with this code, and stderr contains all words.
    pub(crate) fn failed(self, code: i32, words: &[&str]) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        assert!(self.stderr.contains("error: "), "{}", self.stderr);
        for word in words {
            let said = self.stderr.contains(word);
            assert!(said, "{word:?} is not in:\n{}", self.stderr);
        }
        self
    }

    /// The one JSON object on stdout.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| {
            let Self {
                code,
                stdout,
                stderr,
            } = self;
            panic!("one JSON object on stdout: {error}, exit code {code}:\n{stdout}\n{stderr}")
        })
    }
}

/// The keys of an object and, separated by dots, those of its objects.
pub(crate) fn keys(value: &serde_json::Value, prefix: &str, into: &mut BTreeSet<String>) {
    for (key, value) in value.as_object().expect("an object") {
        into.insert(format!("{prefix}{key}"));
        if value.is_object() {
            keys(value, &format!("{prefix}{key}."), into);
        }
    }
}

/// A solid shape's surface.
pub(crate) fn solid(shape: &str) -> Surface<3> {
    match parse_shape(shape).expect("a shape") {
        AnyShape::D3(shape) => shape.surface(0.05).expect("a surface"),
        AnyShape::D2(_) => unreachable!("a solid shape is needed"),
    }
}

/// A surface as ASCII STL.
pub(crate) fn stl(surface: &Surface<3>) -> String {
    let mut text = "solid test\n".to_owned();
    for f in 0..surface.facets.len() {
        text += "facet normal 0 0 0\nouter loop\n";
        for [x, y, z] in surface.corners(f) {
            writeln!(text, "vertex {x} {y} {z}").expect("a string takes all");
        }
        text += "endloop\nendfacet\n";
    }
    text + "endsolid test\n"
}
