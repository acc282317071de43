//! What an error means for a program and its user, told by the crate that knows it.

use crate::DeviceError;
use std::error::Error;

/// The kind of an error, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A failure at run time: a full disk, a device error.
    Runtime,
    /// An invalid option or file.
    Input,
    /// A surface without a well-defined inside.
    Geometry,
    /// Not enough memory.
    Memory,
    /// The flow diverged.
    Diverged,
    /// A run has ended and its files are written, but its verdict is *wrong*.
    Untrusted,
    /// Stopped on request, with a checkpoint.
    Stopped,
}

/// An error of a crate, as a job reports it: each crate implements this for its own error types. `cutlink_common::Error`
/// is made from any of them.
pub trait Failure: Error + Send + Sync + 'static {
    /// Its kind.
    fn kind(&self) -> ErrorKind;

    /// The way out, if there is one for all such errors.
    fn hint(&self) -> Option<String> {
        None
    }

    /// The error of the device, if that is what failed.
    fn of_device(&self) -> Option<&DeviceError> {
        None
    }
}
