//! Bytes of a file, unpacked where gzipped.

use crate::MeshFileError;
use cutlink_device::limits::{self, LimitError, Readable};
use cutlink_device::{Backend, DeviceError, Host, memory};
use std::io;
use std::path::Path;

/// Reads a regular file, unpacked where it is gzipped.
pub(super) fn load(path: &Path) -> Result<Vec<u8>, MeshFileError> {
    let failed = |source| MeshFileError::Limit {
        path: path.to_owned(),
        source,
    };
    let bytes = limits::read(path, Readable::Files, u64::MAX).map_err(failed)?;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let decoder = flate2::read::MultiGzDecoder::new(&bytes[..]);
    limits::unpack_mesh(decoder, bytes.len() as u64).map_err(|error| {
        failed(match error {
            LimitError::Io(e) => {
                io::Error::other(format!("its gzip stream is damaged: {e}")).into()
            }
            error => error,
        })
    })
}

/// Reserves memory for a part of a file.
pub(super) fn reserve<T>(
    path: &Path,
    what: &'static str,
    len: usize,
) -> Result<Vec<T>, MeshFileError> {
    let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
    let reserved = Host
        .reserve(what, bytes)
        .and_then(|()| memory::with_capacity(what, len));
    reserved.map_err(|source| failed(path, source))
}

pub(super) fn failed(path: &Path, source: DeviceError) -> MeshFileError {
    MeshFileError::Limit {
        path: path.to_owned(),
        source: source.into(),
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
