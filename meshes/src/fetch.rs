//! Fetching a scan by package name: with `npm`, else with `pip`, whichever is there. The
//! clients know their registries; this crate names packages, files and checksums only.

use crate::{Capped, cap};
use cutlink_mesher::{read, write_stl};
use sha2::{Digest, Sha256};
use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A scan in a package.
struct Source {
    client: &'static str,
    package: &'static str,
    file: &'static str,
    sha256: &'static str,
    unpack: fn(&Path) -> io::Result<()>,
    download: &'static [&'static [&'static str]],
}

const BUNNY: [Source; 2] = [
    Source {
        client: "npm",
        package: "stl-models 0.12.0",
        file: "package/objects/bunny.bin.stl",
        sha256: "94c25f71af50340de1506620a3cfe83cbc316ad39fa556f150c8e496f22f10dd",
        unpack: unpack_tarball,
        download: &[&["npm", "pack", "--silent", "stl-models@0.12.0"]],
    },
    Source {
        client: "pip",
        package: "pymeshfix 0.18.1",
        file: "pymeshfix/examples/StanfordBunny.ply",
        sha256: "04ade0928afe3f307851bcb7fa932d6f9375d7dff8432615c8105828209deb3f",
        unpack: unpack_wheel,
        download: &[
            &[
                "python3",
                "-m",
                "pip",
                "download",
                "-q",
                "--no-deps",
                "--only-binary=:all:",
                "pymeshfix==0.18.1",
            ],
            &[
                "python",
                "-m",
                "pip",
                "download",
                "-q",
                "--no-deps",
                "--only-binary=:all:",
                "pymeshfix==0.18.1",
            ],
        ],
    },
];

/// A scan on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The file, binary STL.
    pub path: PathBuf,
    /// The package it came from; `None` where the file was there already.
    pub package: Option<String>,
    /// What was added to close it.
    pub capped: Option<Capped>,
}

/// Why a scan could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// No client gave the package.
    #[error("could not fetch the Stanford bunny: {}", .tried.join("; "))]
    NoClient {
        /// What was tried and what came of it, one entry a client.
        tried: Vec<String>,
    },
    /// A file operation failed.
    #[error("failed to {action} {}: {source}", .path.display())]
    File {
        /// What was attempted.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Puts the Stanford bunny into `folder` as `bunny.stl`, its base closed. A file of that name
/// is taken as it is. Needs `npm` or `pip`, and the registry it is set up for.
pub fn bunny(folder: &Path) -> Result<Sample, FetchError> {
    let path = folder.join("bunny.stl");
    if path.exists() {
        return Ok(Sample {
            path,
            package: None,
            capped: None,
        });
    }
    let at = |action, path: &Path| {
        let path = path.to_owned();
        move |source| FetchError::File {
            action,
            path,
            source,
        }
    };
    fs::create_dir_all(folder).map_err(at("create", folder))?;
    let work = tempfile::tempdir_in(folder).map_err(at("create a folder in", folder))?;
    let mut tried = Vec::new();
    for source in &BUNNY {
        match source.get(work.path()) {
            Ok(scan) => {
                let unreadable = |e: &dyn std::error::Error| io::Error::other(e.to_string());
                let mut loaded =
                    read::read_surface(&scan).map_err(|e| at("read", &scan)(unreadable(&e)))?;
                let capped = cap(&mut loaded.surface);
                let closed = work.path().join("closed.stl");
                write_stl::write_stl(&closed, &loaded.surface)
                    .map_err(|e| at("write", &closed)(unreadable(&e)))?;
                fs::rename(&closed, &path).map_err(at("write", &path))?;
                return Ok(Sample {
                    path,
                    package: Some(source.package.into()),
                    capped: Some(capped),
                });
            }
            Err(why) => tried.push(format!("{}: {why}", source.client)),
        }
    }
    Err(FetchError::NoClient { tried })
}

impl Source {
    /// Downloads, unpacks and checks; the file, or what went wrong.
    fn get(&self, work: &Path) -> Result<PathBuf, String> {
        self.run_client(work)?;
        (self.unpack)(work).map_err(|e| format!("cannot unpack {}: {e}", self.package))?;
        let path = work.join(self.file);
        let bytes =
            fs::read(&path).map_err(|e| format!("{} lacks {}: {e}", self.package, self.file))?;
        let sum = hex(&Sha256::digest(&bytes));
        if sum != self.sha256 {
            return Err(format!(
                "{} has checksum {sum}, {} expected",
                self.file, self.sha256
            ));
        }
        Ok(path)
    }

    fn run_client(&self, work: &Path) -> Result<(), String> {
        let mut why = String::new();
        for line in self.download {
            let run = Command::new(line[0])
                .args(&line[1..])
                .current_dir(work)
                .stdin(Stdio::null())
                .output();
            match run {
                Ok(done) if done.status.success() => return Ok(()),
                Ok(done) => {
                    let text = String::from_utf8_lossy(&done.stderr);
                    let last = text.lines().rfind(|l| !l.trim().is_empty());
                    why = format!("failed ({}), {}", done.status, last.unwrap_or("no message"));
                }
                Err(e) if why.is_empty() => why = format!("not to be started ({e})"),
                Err(_) => {}
            }
        }
        Err(why)
    }
}

fn with_ending(work: &Path, ending: &str) -> io::Result<PathBuf> {
    for entry in fs::read_dir(work)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == ending) {
            return Ok(path);
        }
    }
    Err(io::Error::new(
        io::ErrorKind::NotFound,
        format!("no .{ending} file came"),
    ))
}

fn unpack_tarball(work: &Path) -> io::Result<()> {
    let file = fs::File::open(with_ending(work, "tgz")?)?;
    tar::Archive::new(flate2::read::GzDecoder::new(file)).unpack(work)
}

/// A wheel is a zip file, and where pip ran, python's own unpacker is there.
fn unpack_wheel(work: &Path) -> io::Result<()> {
    let wheel = with_ending(work, "whl")?;
    for python in ["python3", "python"] {
        let run = Command::new(python)
            .args(["-m", "zipfile", "-e"])
            .arg(&wheel)
            .arg(work)
            .stdin(Stdio::null())
            .status();
        if run.is_ok_and(|status| status.success()) {
            return Ok(());
        }
    }
    Err(io::Error::other(
        "python's zipfile module did not unpack it",
    ))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOWHERE: Source = Source {
        client: "none",
        package: "a package",
        file: "scan.stl",
        sha256: "00",
        unpack: |_| Ok(()),
        download: &[&["cutlink-no-such-client"]],
    };

    #[test]
    fn a_client_that_is_not_there_is_named() {
        let work = tempfile::tempdir().expect("a folder");
        let why = NOWHERE.get(work.path()).expect_err("no such client");
        assert!(why.contains("not to be started"), "{why}");
    }

    #[test]
    fn a_file_with_another_checksum_is_refused() {
        let source = Source {
            unpack: |work| fs::write(work.join("scan.stl"), b"not the scan"),
            download: &[&["cargo", "--version"]],
            ..NOWHERE
        };
        let work = tempfile::tempdir().expect("a folder");
        let why = source.get(work.path()).expect_err("another file");
        assert!(
            why.contains("checksum") && why.contains("00 expected"),
            "{why}"
        );
    }

    #[test]
    fn a_bunny_that_is_there_is_taken_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("bunny.stl");
        fs::write(&path, b"mine").expect("written");
        let sample = bunny(folder.path()).expect("there already");
        assert_eq!(sample.path, path, "the file");
        assert_eq!(fs::read(&path).expect("read"), b"mine", "untouched");
    }
}
