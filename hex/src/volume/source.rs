//! Bytes of a file, unpacked where gzipped.

use crate::MeshFileError;
use cutlink_device::{DeviceError, memory};
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// Reads a file. What a gzipped one unpacks to may take a third of the free memory.
pub(super) fn load(path: &Path) -> Result<Vec<u8>, MeshFileError> {
    let failed = |source| MeshFileError::Read {
        path: path.to_owned(),
        source,
    };
    let bytes = fs::read(path).map_err(failed)?;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let most = memory::available() / 3;
    let mut out = Vec::new();
    let unpacked = flate2::read::MultiGzDecoder::new(&bytes[..])
        .take(most.saturating_add(1))
        .read_to_end(&mut out);
    unpacked.map_err(|e| failed(io::Error::other(format!("its gzip stream is damaged: {e}"))))?;
    match out.len() as u64 <= most {
        true => Ok(out),
        false => Err(failed(io::Error::new(
            io::ErrorKind::OutOfMemory,
            format!("it unpacks to more than {most} bytes"),
        ))),
    }
}

/// Reserves memory for a part of a file.
pub(super) fn reserve<T>(
    path: &Path,
    what: &'static str,
    len: usize,
) -> Result<Vec<T>, MeshFileError> {
    memory::with_capacity(what, len).map_err(|source| failed(path, source))
}

pub(super) fn failed(path: &Path, source: DeviceError) -> MeshFileError {
    MeshFileError::Memory {
        path: path.to_owned(),
        source,
    }
}

pub(super) fn syntax(
    path: &Path,
    place: impl Into<String>,
    what: impl Into<String>,
) -> MeshFileError {
    MeshFileError::Syntax {
        path: path.to_owned(),
        place: place.into(),
        what: what.into(),
    }
}
