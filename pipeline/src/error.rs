//! The error type of this crate: a kind to match on, a message, its causes and a hint.
//!
//! Each crate below has its own error enum, which is the [source](std::error::Error::source) here. An error prints as
//!
//! ```text
//! cannot write out/bunny.cutlink
//!   caused by: No space left on device (os error 28)
//!   hint: free some space, or write elsewhere with --output PATH
//! ```

use cutlink_amr::ForestError;
use cutlink_device::DeviceError;
use cutlink_fr::FrError;
use cutlink_mesher::placement::PlacementError;
use cutlink_mesher::primitives::ShapeError;
use cutlink_mesher::read::ReadError;
use cutlink_mesher::snap::SnapError;
use cutlink_solver::SolverError;
use cutlink_voxelizer::{EstimateError, SeedError, VoxelError};
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

/// The kind of the error, for programs.
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
    /// A run has ended and its files are written, but its verdict is *wrong*; `details` has its `summary`.
    Untrusted,
    /// Stopped by a [`StopToken`](crate::StopToken), with a checkpoint.
    Stopped,
}

/// The error of this crate; the module documentation shows how it prints.
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
    source: Option<Arc<dyn StdError + Send + Sync>>,
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

    /// Wraps an error of a crate below, which stays available as the source.
    fn wrap(kind: ErrorKind, source: impl StdError + Send + Sync + 'static) -> Self {
        let error = Self::new(kind, source.to_string());
        Self {
            source: Some(Arc::new(source)),
            ..error
        }
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
            if !self.causes.last().is_some_and(|last| last.ends_with(&text)) {
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

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        let kind = match error {
            ReadError::NoFacets { .. } => ErrorKind::Geometry,
            ReadError::Memory { .. } => ErrorKind::Memory,
            _ => ErrorKind::Input,
        };
        Self::wrap(kind, error)
    }
}

impl From<ShapeError> for Error {
    fn from(error: ShapeError) -> Self {
        Self::wrap(ErrorKind::Input, error)
    }
}

impl From<PlacementError> for Error {
    fn from(error: PlacementError) -> Self {
        Self::wrap(ErrorKind::Input, error)
    }
}

impl From<SnapError> for Error {
    fn from(error: SnapError) -> Self {
        Self::wrap(ErrorKind::Input, error)
    }
}

impl From<DeviceError> for Error {
    fn from(error: DeviceError) -> Self {
        let kind = match error {
            DeviceError::OutOfMemory { .. } => ErrorKind::Memory,
            DeviceError::Launch { .. } | DeviceError::Driver { .. } => ErrorKind::Runtime,
            // The device cannot be used, or not for this purpose: the user should choose another one.
            _ => ErrorKind::Input,
        };
        Self::wrap(kind, error)
    }
}

impl From<SeedError> for Error {
    fn from(error: SeedError) -> Self {
        match error {
            SeedError::Voxel(error) => error.into(),
            SeedError::Leak { size, width, .. } => {
                // Two finest cells more than the width.
                let unresolved = match width < size - width {
                    true => " (a smaller size may do: the cells are too wide to measure the hole)",
                    false => "",
                };
                Self::wrap(ErrorKind::Geometry, error).hint(format!(
                    "close the hole in the surface, or let --close-holes {} close it{unresolved}; where the fluid may \
                     reach the box, use --flow outside",
                    rounded_up(size)
                ))
            }
            SeedError::Narrow { .. } => Self::wrap(ErrorKind::Geometry, error)
                .hint("move --seed to a wider place, or give a smaller --close-holes"),
            error => Self::wrap(ErrorKind::Geometry, error)
                .hint("give --seed in metres after placement, inside the fluid to keep"),
        }
    }
}

/// A length with two digits, not less than it is.
fn rounded_up(length: f64) -> String {
    if !(length.is_finite() && length > 0.0) {
        return length.to_string();
    }
    let tens = length.log10().floor() as i32 - 1;
    let digits = (length / 10f64.powi(tens) * (1.0 - 1e-12)).ceil();
    format!("{digits}e{tens}")
        .parse()
        .map_or_else(|_| length.to_string(), |x: f64| x.to_string())
}

impl From<VoxelError> for Error {
    fn from(error: VoxelError) -> Self {
        match error {
            VoxelError::Device(error) | VoxelError::Forest(ForestError::Device(error)) => {
                error.into()
            }
            VoxelError::TooLarge { .. } => Self::wrap(ErrorKind::Memory, error),
            VoxelError::Forest(ForestError::TooManyBlocks { .. }) => {
                Self::wrap(ErrorKind::Memory, error)
                    .hint("use fewer levels, a smaller wall distance or a coarser root grid")
            }
            VoxelError::Box { .. }
            | VoxelError::Levels { .. }
            | VoxelError::Parameter { .. }
            | VoxelError::Forest(ForestError::RootGrid { .. } | ForestError::TooFine { .. }) => {
                Self::wrap(ErrorKind::Input, error)
            }
            _ => Self::wrap(ErrorKind::Runtime, error),
        }
    }
}

impl From<EstimateError> for Error {
    fn from(error: EstimateError) -> Self {
        match error {
            EstimateError::Voxel(error) => error.into(),
            EstimateError::Snap(error) => error.into(),
            error => Self::wrap(ErrorKind::Runtime, error),
        }
    }
}

impl From<SolverError> for Error {
    fn from(error: SolverError) -> Self {
        match error {
            SolverError::Device(error) => error.into(),
            SolverError::Diverged { .. } => Self::wrap(ErrorKind::Diverged, error),
            SolverError::Io(_) | SolverError::Communication { .. } | SolverError::Rank { .. } => {
                Self::wrap(ErrorKind::Runtime, error)
            }
            _ => Self::wrap(ErrorKind::Input, error),
        }
    }
}

impl From<FrError> for Error {
    fn from(error: FrError) -> Self {
        match error {
            FrError::Device(error) => error.into(),
            FrError::Forest(error) => VoxelError::from(error).into(),
            FrError::Diverged { .. } => Self::wrap(ErrorKind::Diverged, error),
            _ => Self::wrap(ErrorKind::Input, error),
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
    fn lengths_are_rounded_up() {
        let cases = [
            (0.0123, "0.013"),
            (0.012, "0.012"),
            (9.91, "10"),
            (123.0, "130"),
            (2.5e-7, "0.00000025"),
        ];
        for (length, want) in cases {
            assert_eq!(rounded_up(length), want);
        }
    }

    #[test]
    fn the_error_of_a_crate_below_is_the_source() {
        let error = Error::from(VoxelError::Device(DeviceError::NoDriver));
        let source = error.source().and_then(|e| e.downcast_ref::<DeviceError>());
        assert!(matches!(source, Some(DeviceError::NoDriver)), "{source:?}");
        assert!(Error::input("a").source().is_none(), "nothing below");
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
