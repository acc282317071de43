//! The one error type of the command line: a message, its causes, the way out, and an exit code.
//!
//! Libraries below have an error enum each; here they meet the user. A failure prints as
//!
//! ```text
//! error: cannot write out/bunny.safetensors
//!   caused by: No space left on device (os error 28)
//!   hint: free some space, or write elsewhere with --output PATH
//! ```

use cutlink_amr::ForestError;
use cutlink_device::DeviceError;
use cutlink_mesher::placement::PlacementError;
use cutlink_mesher::primitives::ShapeError;
use cutlink_mesher::read::ReadError;
use cutlink_mesher::snap::SnapError;
use cutlink_solver::SolverError;
use cutlink_voxelizer::{SeedError, VoxelError};
use std::error::Error;
use std::fmt;

/// What kind of failure, by the exit code it ends with; `docs/cli.md` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Something went wrong on the way: 1.
    Runtime,
    /// A wrong option, or a file that cannot be used: 2.
    Usage,
    /// A surface that encloses nothing definite: 3.
    Geometry,
    /// Not enough memory: 4.
    Memory,
    /// A flow that diverged: 5.
    Diverged,
    /// Stopped by Ctrl-C, with a checkpoint: 130.
    Stopped,
}

impl Kind {
    /// The process exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Runtime => 1,
            Self::Usage => 2,
            Self::Geometry => 3,
            Self::Memory => 4,
            Self::Diverged => 5,
            Self::Stopped => 130,
        }
    }
}

/// What ends a command; see the module for how it prints.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// Decides the exit code.
    pub kind: Kind,
    /// What could not be done, where.
    pub message: String,
    /// Why, outermost first.
    pub causes: Vec<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// More about it for `--json`, such as the health report of a refused surface; or null.
    pub details: serde_json::Value,
}

impl Failure {
    /// A failure without causes or hint.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            causes: Vec::new(),
            hint: None,
            details: serde_json::Value::Null,
        }
    }

    /// A wrong option or unusable file.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// Adds an error and all its sources.
    #[must_use]
    pub fn because(mut self, error: &dyn Error) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            let text = error.to_string();
            // Libraries that name their source in their own message would say it twice.
            if !self.causes.last().is_some_and(|last| last.ends_with(&text)) {
                self.causes.push(text);
            }
            next = error.source();
        }
        self
    }

    /// Adds the way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Puts the surface's name before a refusal of its geometry.
    #[must_use]
    pub fn about(mut self, name: &str) -> Self {
        if self.kind == Kind::Geometry {
            self.message = format!("{name}: {}", self.message);
        }
        self
    }

    /// Puts the name of a file before the message, which is about what it holds.
    #[must_use]
    pub fn within(mut self, file: &str) -> Self {
        self.message = format!("{file}: {}", self.message);
        self
    }

    /// The object that `--json` prints instead of a result.
    pub fn to_json(&self) -> serde_json::Value {
        let mut error = serde_json::json!({
            "exit_code": self.kind.exit_code(),
            "message": self.message,
            "causes": self.causes,
            "hint": self.hint,
        });
        if !self.details.is_null() {
            error["details"] = self.details.clone();
        }
        serde_json::json!({ "schema": crate::JSON_SCHEMA, "error": error })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        for cause in &self.causes {
            write!(f, "\n  caused by: {}", cause.replace('\n', "\n    "))?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {}", hint.replace('\n', "\n    ")),
            None => Ok(()),
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        let kind = match error {
            ReadError::NoFacets { .. } => Kind::Geometry,
            ReadError::Memory { .. } => Kind::Memory,
            _ => Kind::Usage,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<ShapeError> for Failure {
    fn from(error: ShapeError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<PlacementError> for Failure {
    fn from(error: PlacementError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<SnapError> for Failure {
    fn from(error: SnapError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        let kind = match error {
            DeviceError::OutOfMemory { .. } => Kind::Memory,
            DeviceError::Launch { .. } | DeviceError::Driver { .. } => Kind::Runtime,
            // A device that cannot be used, or not for this: name another one.
            _ => Kind::Usage,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<SeedError> for Failure {
    fn from(error: SeedError) -> Self {
        let text = error.to_string();
        match error {
            SeedError::Voxel(error) => error.into(),
            _ => Self::new(Kind::Geometry, text)
                .hint("--seed is in metres after the placement, in the fluid that is to be kept"),
        }
    }
}

impl From<VoxelError> for Failure {
    fn from(error: VoxelError) -> Self {
        let text = error.to_string();
        match error {
            VoxelError::Device(error) | VoxelError::Forest(ForestError::Device(error)) => {
                error.into()
            }
            VoxelError::TooLarge { .. } => Self::new(Kind::Memory, text),
            VoxelError::Forest(ForestError::TooManyBlocks { .. }) => Self::new(Kind::Memory, text)
                .hint("use fewer levels, a smaller wall distance or a coarser root grid"),
            VoxelError::Box { .. }
            | VoxelError::Levels { .. }
            | VoxelError::Parameter { .. }
            | VoxelError::Forest(ForestError::RootGrid { .. } | ForestError::TooFine { .. }) => {
                Self::usage(text)
            }
            _ => Self::new(Kind::Runtime, text),
        }
    }
}

impl From<SolverError> for Failure {
    fn from(error: SolverError) -> Self {
        match error {
            SolverError::Device(error) => error.into(),
            SolverError::Diverged { .. } => Self::new(Kind::Diverged, error.to_string()),
            SolverError::Io(_) => Self::new(Kind::Runtime, error.to_string()),
            _ => Self::usage(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_causes_and_hint_print_in_order() {
        let disk = std::io::Error::new(std::io::ErrorKind::StorageFull, "disk is full");
        let failure = Failure::new(Kind::Runtime, "cannot write a")
            .because(&disk)
            .hint("free space");
        assert_eq!(
            failure.to_string(),
            "error: cannot write a\n  caused by: disk is full\n  hint: free space"
        );
        assert_eq!(failure.to_json()["error"]["exit_code"], 1, "in JSON too");
    }

    #[test]
    fn devices_that_cannot_be_used_are_wrong_options() {
        let cases = [
            (DeviceError::NotCompiled, 2),
            (DeviceError::NoDriver, 2),
            (
                DeviceError::NoDevice {
                    ordinal: 1,
                    devices: 1,
                },
                2,
            ),
            (
                DeviceError::Driver {
                    what: "wait",
                    reason: "it is gone".into(),
                },
                1,
            ),
        ];
        for (error, code) in cases {
            let failure = Failure::from(VoxelError::Device(error));
            assert_eq!(failure.kind.exit_code(), code, "{failure}");
        }
    }

    #[test]
    fn out_of_memory_keeps_its_exit_code_through_every_layer() {
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
            assert_eq!(Failure::from(error).kind.exit_code(), 4, "out of memory");
        }
    }
}
