//! The error of a job: a kind to match on, a message, its causes and a hint.
//!
//! Each other crate has its own error enum, which is the [source](std::error::Error::source) here; as a [`Failure`] it
//! tells its kind and hint. An error prints as
//!
//! ```text
//! cannot write out/bunny.cutlink
//!   caused by: No space left on device (os error 28)
//!   hint: free some space, or write elsewhere with --output PATH
//! ```

use cutlink_device::{DeviceError, Failure};
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

pub use cutlink_device::ErrorKind;

/// The error of a job; the module documentation shows how it prints.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Error {
    /// The kind of the error, for programs.
    pub kind: ErrorKind,
    /// What failed, and where.
    pub message: String,
    /// Causes, outermost first.
    pub causes: Vec<String>,
    /// How to fix it.
    pub hint: Option<String>,
    /// Details as JSON, such as the health report of a refused surface.
    pub details: Option<Box<serde_json::Value>>,
    source: Option<Arc<dyn Failure>>,
}

impl Error {
    /// An error without causes or hint.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            causes: Vec::new(),
            hint: None,
            details: None,
            source: None,
        }
    }

    /// The error of the device, if that is what failed.
    pub fn of_device(&self) -> Option<&DeviceError> {
        self.source.as_ref()?.of_device()
    }

    /// An error of kind [`ErrorKind::Input`].
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    /// Adds the texts of an error and of all its sources to the causes.
    #[must_use]
    pub fn because(mut self, error: &dyn StdError) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            let text = error.to_string();
            // Skips a source that the previous text already quotes.
            if !self.causes.last().unwrap_or(&self.message).ends_with(&text) {
                self.causes.push(text);
            }
            next = error.source();
        }
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds details for programs.
    #[must_use]
    pub fn details(mut self, details: serde_json::Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// Prefixes a geometry error with the name of the surface.
    #[must_use]
    pub fn about(mut self, name: &str) -> Self {
        if self.kind == ErrorKind::Geometry {
            self.message = format!("{name}: {}", self.message);
        }
        self
    }

    /// Prefixes the message with the name of the file that it is about.
    #[must_use]
    pub fn within(mut self, file: &str) -> Self {
        self.message = format!("{file}: {}", self.message);
        self
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_ref().map(|source| &**source as _)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for cause in &self.causes {
            write!(f, "\n  caused by: {}", cause.replace('\n', "\n    "))?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {}", hint.replace('\n', "\n    ")),
            None => Ok(()),
        }
    }
}

impl<E: Failure> From<E> for Error {
    fn from(error: E) -> Self {
        let mut all = Self::new(error.kind(), error.to_string());
        if let Some(below) = error.source() {
            all = all.because(below);
        }
        Self {
            hint: error.hint(),
            source: Some(Arc::new(error)),
            ..all
        }
    }
}

/// Compares what a user sees; sources are not compared.
impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        (
            self.kind,
            &self.message,
            &self.causes,
            &self.hint,
            &self.details,
        ) == (
            other.kind,
            &other.message,
            &other.causes,
            &other.hint,
            &other.details,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutlink_amr::ForestError;
    use cutlink_voxelizer::VoxelError;

    #[test]
    fn message_causes_and_hint_print_in_order() {
        let disk = std::io::Error::new(std::io::ErrorKind::StorageFull, "disk is full");
        let error = Error::new(ErrorKind::Runtime, "cannot write a")
            .because(&disk)
            .hint("free space");
        assert_eq!(
            error.to_string(),
            "cannot write a\n  caused by: disk is full\n  hint: free space"
        );
    }

    #[test]
    fn the_error_of_a_crate_below_is_the_source() {
        let error = Error::from(VoxelError::Device(DeviceError::NoDriver));
        let source = error.source().and_then(|e| e.downcast_ref::<VoxelError>());
        assert!(matches!(source, Some(VoxelError::Device(_))), "{source:?}");
        assert!(matches!(error.of_device(), Some(DeviceError::NoDriver)));
        assert!(error.causes.is_empty(), "said once: {error}");
        let none = Error::input("a");
        assert!(none.source().is_none() && none.of_device().is_none());
    }

    #[test]
    fn devices_that_cannot_be_used_are_input_errors() {
        let missing = DeviceError::NoDevice {
            ordinal: 1,
            devices: 1,
        };
        let broken = DeviceError::Driver {
            what: "wait",
            reason: "it is gone".into(),
        };
        let cases = [
            (DeviceError::NotCompiled, ErrorKind::Input),
            (DeviceError::NoDriver, ErrorKind::Input),
            (missing, ErrorKind::Input),
            (broken, ErrorKind::Runtime),
        ];
        for (error, kind) in cases {
            let error = Error::from(VoxelError::Device(error));
            assert_eq!(error.kind, kind, "{error}");
        }
    }

    #[test]
    fn out_of_memory_keeps_its_kind_through_every_layer() {
        let memory = || DeviceError::OutOfMemory {
            memory: cutlink_device::Memory::Device,
            what: "x",
            requested: 2,
            free: 1,
        };
        let layers = [
            VoxelError::Device(memory()),
            VoxelError::Forest(ForestError::Device(memory())),
        ];
        for error in layers {
            assert_eq!(Error::from(error).kind, ErrorKind::Memory);
        }
    }
}
