//! Checkpoints: the state of a flow in a file with a checksum.
//!
//! Layout: [`MAGIC`], the length of the header (u64, little endian), the header (JSON), the state as written by the
//! flow, the SHA-256 of each 8 MiB of the state, and that of everything but the state. Written under a temporary name and
//! renamed, so that a killed run keeps the previous one. Checksums are verified before the state is used; threads share
//! this work.

mod pieces;

use cutlink_common::{Error, ErrorKind, output};
use cutlink_device::limits::{self, Readable};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take, Write};
use std::path::{Path, PathBuf};

/// First bytes of a checkpoint.
pub const MAGIC: &[u8; 8] = b"cutlinkS";
/// Version of the layout.
pub const VERSION: u32 = 5;
/// Number of checkpoints kept in a folder.
pub const KEPT: usize = 2;

/// A checksum.
type Sum = [u8; SUM as usize];
const SUM: u64 = 32;
const PREFIX: u64 = 16;
/// Maximum accepted length of the header, in bytes.
const MAX_HEADER: u64 = 1 << 20;
const EXTENSION: &str = "ckpt";

/// The header of a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`VERSION`].
    pub version: u32,
    /// Version of the program.
    pub cutlink: String,
    /// The part of the resolved case that a resumed run cannot change, as TOML.
    pub case: String,
    /// Checksum of the mesh.
    pub mesh: u64,
    /// Kind of the device: `cpu` or `cuda`.
    #[serde(default)]
    pub device: String,
    /// Root steps done.
    pub step: u64,
    /// What the flow keeps of its looks, such as bulk quantities at each check; checkpoints of earlier versions have none.
    #[serde(flatten)]
    pub notes: serde_json::Map<String, serde_json::Value>,
}

/// Keys that differ between two cases in TOML, with both values; `before` is the earlier case.
#[must_use]
pub fn differences(before: &str, now: &str) -> Vec<String> {
    let keys = |text: &str| {
        let mut keys = BTreeMap::new();
        if let Ok(table) = text.parse::<toml::Table>() {
            flatten("", &toml::Value::Table(table), &mut keys);
        }
        keys
    };
    let (before, now) = (keys(before), keys(now));
    let all: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let changes = |keys: &BTreeMap<String, String>, key: &String| {
        keys.get(key).map_or("nothing".to_owned(), String::clone)
    };
    all.into_iter()
        .filter(|key| before.get(*key) != now.get(*key))
        .map(|key| {
            let name = match key.rsplit_once('.') {
                Some((table, key)) => format!("[{table}] {key}"),
                None => key.clone(),
            };
            format!(
                "{name} is {}, was {}",
                changes(&now, key),
                changes(&before, key)
            )
        })
        .collect()
}

fn flatten(path: &str, value: &toml::Value, keys: &mut BTreeMap<String, String>) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                let dot = if path.is_empty() { "" } else { "." };
                flatten(&format!("{path}{dot}{key}"), value, keys);
            }
        }
        other => {
            keys.insert(path.to_owned(), other.to_string());
        }
    }
}

/// Writes the checkpoint of a step into a folder and removes all but the last [`KEPT`]; returns its path.
///
/// # Errors
/// Errors of `save`, and I/O errors; the earlier checkpoints are kept.
pub fn write(
    folder: &Path,
    header: &Header,
    save: impl FnOnce(&mut dyn Write) -> Result<(), Error>,
) -> Result<PathBuf, Error> {
    let path = folder.join(format!("step_{:012}.{EXTENSION}", header.step));
    let text = serde_json::to_vec(header).map_err(|e| output::failed(&path, &e))?;
    output::write_at(&path, true, |mut file: &File| {
        let broken = |e: io::Error| output::failed(&path, &e);
        let length = (text.len() as u64).to_le_bytes();
        let head = [&MAGIC[..], &length, &text].concat();
        file.write_all(&head).map_err(broken)?;
        let first = head.len() as u64;
        let (bytes, sums) = pieces::write(file, first, &broken, save)?;
        file.seek(SeekFrom::Start(first + bytes)).map_err(broken)?;
        let tail = [sums.as_flattened(), &sum_of(&head, &sums)].concat();
        file.write_all(&tail).map_err(broken)
    })?;
    let found = list(folder);
    for old in found.iter().skip(KEPT) {
        let _ = fs::remove_file(old);
    }
    Ok(path)
}

/// The checkpoints of a folder, latest step first.
pub fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == EXTENSION))
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found
}

/// The header of a valid file.
///
/// # Errors
/// A file that cannot be read, is damaged or of another version.
pub fn header(path: &Path) -> Result<Header, Error> {
    open(path).map(|(header, _)| header)
}

/// Checks the checksum, case and mesh of a file, then passes its state to `restore`.
///
/// # Errors
/// A file that cannot be read, is damaged, or has another version, case or mesh; errors of `restore`.
pub fn read(
    path: &Path,
    case: &str,
    mesh: u64,
    restore: impl FnOnce(&mut dyn Read) -> Result<(), Error>,
) -> Result<Header, Error> {
    let (header, mut from) = open(path)?;
    if header.case != case {
        let changes = differences(&header.case, case).join("; ");
        return Err(
            Error::input(format!("{} belongs to another flow: {changes}", path.display())).hint(
                "only [run], [groups] and [output] (without forces_every and averages) may change: restore the \
                 rest, or start again with --force",
            ),
        );
    }
    if header.mesh != mesh {
        return Err(refused(path, "belongs to another mesh"));
    }
    restore(&mut from)?;
    Ok(header)
}

fn refused(path: &Path, why: &str) -> Error {
    Error::input(format!("{} {why}", path.display()))
        .hint("resume from another checkpoint, or start again with --force")
}

/// The checksum of everything but the state.
fn sum_of(head: &[u8], sums: &[Sum]) -> Sum {
    let sum = Sha256::new_with_prefix(head).chain_update(sums.as_flattened());
    sum.finalize().into()
}

/// The header of a valid file, and a reader of its state.
fn open(path: &Path) -> Result<(Header, Take<BufReader<File>>), Error> {
    let refuse = |why: &str| refused(path, why);
    let unread = |e: &(dyn std::error::Error + 'static)| {
        let text = format!("cannot read {}", path.display());
        Error::new(ErrorKind::Runtime, text).because(e)
    };
    let broken = |e: io::Error| unread(&e);
    let file = limits::open(path, Readable::Files).map_err(|e| unread(&e))?;
    let mut from = BufReader::new(file);
    let all = fs::metadata(path).map_err(broken)?.len();
    let Some(behind_prefix) = all.checked_sub(PREFIX + SUM) else {
        return Err(refuse("is too short for a checkpoint"));
    };
    let mut head = vec![0; PREFIX as usize];
    from.read_exact(&mut head).map_err(broken)?;
    let (magic, length) = head.split_at(MAGIC.len());
    let length = u64::from_le_bytes(length.try_into().unwrap_or_default());
    if magic != MAGIC || length > MAX_HEADER.min(behind_prefix) {
        return Err(refuse("is not a checkpoint"));
    }
    head.resize((PREFIX + length) as usize, 0);
    from.read_exact(&mut head[PREFIX as usize..])
        .map_err(broken)?;
    let header: Header = serde_json::from_slice(&head[PREFIX as usize..])
        .map_err(|_| refuse("has a header that cannot be read"))?;
    if header.version != VERSION {
        let [found, own] = [header.version, VERSION];
        return Err(refuse(&format!(
            "has layout {found}, and this version reads {own}"
        )));
    }
    let (first, rest) = (head.len() as u64, behind_prefix - length);
    let count = rest.div_ceil(pieces::PIECE as u64 + SUM);
    let damaged = || refuse("is damaged: wrong checksum");
    let bytes = rest.checked_sub(count * SUM).ok_or_else(damaged)?;
    from.seek(SeekFrom::Start(first + bytes)).map_err(broken)?;
    let mut sums = vec![Sum::default(); count as usize];
    let mut sum = Sum::default();
    from.read_exact(sums.as_flattened_mut()).map_err(broken)?;
    from.read_exact(&mut sum).map_err(broken)?;
    let is_whole = sum == sum_of(&head, &sums)
        && pieces::are_whole(path, first, bytes, &sums).map_err(broken)?;
    if !is_whole {
        return Err(damaged());
    }
    from.seek(SeekFrom::Start(first)).map_err(broken)?;
    Ok((header, from.take(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bulk::Bulk;
    use serde_json::{Map, Value};

    fn header(step: u64) -> Header {
        Header {
            version: VERSION,
            cutlink: "test".into(),
            case: "abc".into(),
            mesh: 7,
            device: "cpu".into(),
            step,
            notes: notes(),
        }
    }

    /// Looks at the flow and its faces, as lattice flows keep them.
    fn notes() -> Map<String, Value> {
        let value = |of: serde_json::Result<Value>| of.expect("numbers");
        Map::from_iter([
            ("looks".to_owned(), value(serde_json::to_value(looks()))),
            ("faces".to_owned(), value(serde_json::to_value(faces()))),
        ])
    }

    /// By look and face: the density, mass, and what is missing.
    fn faces() -> Vec<Vec<(f64, f64, Option<f64>)>> {
        let face = |k: u64| {
            let x = k as f64;
            let asked = k.is_multiple_of(2).then(|| x.sin());
            (1.0 / x.sqrt(), x.exp() * 1e-9, asked)
        };
        (1..50).map(|k| vec![face(k), face(k + 1)]).collect()
    }

    /// Numbers without a short decimal form.
    fn looks() -> Vec<Bulk> {
        let look = |k: u64| Bulk {
            step: 256 * k,
            density: 1.0 / (k as f64 + 0.1).sqrt(),
            energy: (k as f64).exp() * 1e-9,
            fastest: (k as f64).sin(),
            densities: [1.0 / 3.0, 0.1 * k as f64],
        };
        (1..200).map(look).collect()
    }

    fn put(folder: &Path, step: u64) -> PathBuf {
        write(folder, &header(step), |out| {
            out.write_all(&[42; 1000]).expect("disk space");
            Ok(())
        })
        .expect("a checkpoint")
    }

    fn get(path: &Path, case: &str, mesh: u64) -> Result<(Header, Vec<u8>), Error> {
        let mut state = Vec::new();
        let header = read(path, case, mesh, |from| {
            from.read_to_end(&mut state).expect("the state");
            Ok(())
        })?;
        Ok((header, state))
    }

    #[test]
    fn the_last_two_are_kept_and_restore_the_saved_state() {
        let folder = tempfile::tempdir().expect("a folder");
        for step in [9, 10, 200] {
            put(folder.path(), step);
        }
        let found = list(folder.path());
        let steps = found.iter().map(|p| get(p, "abc", 7).expect("whole"));
        let steps: Vec<(Header, Vec<u8>)> = steps.collect();
        let want = [200, 10].map(|step| (header(step), vec![42; 1000]));
        assert_eq!(steps, want, "last first, state and no sum");
    }

    #[test]
    fn a_checkpoint_of_an_earlier_version_has_no_looks() {
        let mut text = serde_json::to_value(header(3)).expect("a header");
        for key in ["looks", "faces"] {
            text.as_object_mut().expect("an object").remove(key);
        }
        let read: Header = serde_json::from_value(text).expect("a header");
        let want = Header {
            notes: Map::new(),
            ..header(3)
        };
        assert_eq!(read, want);
    }

    #[test]
    fn each_flipped_byte_each_cut_and_each_foreign_one_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let few = Header {
            notes: Map::new(),
            ..header(1)
        };
        let path = write(folder.path(), &few, |out| {
            out.write_all(&[42; 1000]).expect("disk space");
            Ok(())
        })
        .expect("a checkpoint");
        assert!(get(&path, "abd", 7).is_err() && get(&path, "abc", 8).is_err());
        let whole = fs::read(&path).expect("bytes");
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            fs::write(&path, &bytes).expect("disk space");
            let failure = get(&path, "abc", 7).expect_err("damaged");
            assert!(failure.message.contains("step_"), "names it: {failure}");
            fs::write(&path, &whole[..at]).expect("disk space");
            assert!(get(&path, "abc", 7).is_err(), "cut at {at}");
        }
        fs::write(&path, &whole).expect("disk space");
        assert!(get(&path, "abc", 7).is_ok(), "as it was");
    }

    #[test]
    fn the_keys_that_differ_are_named_with_both_values() {
        let before = "[physics]\nre = 10\n[boundary.\"x-\"]\ntype = \"outflow\"";
        let now = "[physics]\nre = 20\nlength = 1.5\n[boundary.\"x-\"]\ntype = \"outflow\"";
        let want = [
            "[physics] length is 1.5, was nothing",
            "[physics] re is 20, was 10",
        ];
        assert_eq!(differences(before, now), want);
        assert!(differences(now, now).is_empty());
    }
}
