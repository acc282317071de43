//! Why a flow could not be started or went no further.

use cutlink_device::{DeviceError, ErrorKind, Failure};

/// An error of the solver; the text is a lowercase fragment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SolverError {
    /// A name that stands for nothing.
    #[error("there is no {what} \"{text}\"; there are {}", known.join(", "))]
    Name {
        /// What it should have named.
        what: &'static str,
        /// What was written.
        text: String,
        /// What there is.
        known: &'static [&'static str],
    },
    /// A parameter out of range.
    #[error("{name} is {value}: {expected}")]
    Parameter {
        /// What it is.
        name: String,
        /// Its value.
        value: f64,
        /// What it should be, and how to get there.
        expected: String,
    },
    /// A mesh that this flow cannot run on.
    #[error("the flow cannot run on this mesh: {reason}")]
    Mesh {
        /// Why, and the way out.
        reason: String,
    },
    /// A condition that varies has no value somewhere.
    #[error("{name}: {reason}")]
    Value {
        /// The condition.
        name: String,
        /// What it is instead, and where.
        reason: String,
    },
    /// Values that are not finite, or faster than sound.
    #[error(
        "the flow diverged by root step {step}: {what} in cell {cell:?} of level {level}, at {position:?} root cells from the lower corner"
    )]
    Diverged {
        /// Root steps done when it was seen.
        step: u64,
        /// The level.
        level: usize,
        /// Cell coordinates on that level.
        cell: Vec<i32>,
        /// Its centre, in root cells.
        position: Vec<f64>,
        /// What was seen.
        what: String,
    },
    /// Tables that are not those of the mesh: an error of this crate.
    #[error("the tables of level {level} are wrong: {reason}")]
    Tables {
        /// The level.
        level: usize,
        /// What is wrong with them.
        reason: String,
    },
    /// A body that cannot move, or not so.
    #[error("the body {body} cannot move: {reason}")]
    Body {
        /// Its name, or those of several.
        body: String,
        /// Why, and the way out.
        reason: String,
    },
    /// Grains that a flow cannot have, or not so.
    #[error("the flow cannot have these grains: {reason}")]
    Grains {
        /// Why, and the way out.
        reason: String,
    },
    /// Their bed goes no further.
    #[error(transparent)]
    Bed(#[from] cutlink_grains::GrainError),
    /// A saved state that is not of this flow.
    #[error("the saved state does not fit: {reason}")]
    State {
        /// Why not.
        reason: String,
    },
    /// Reading or writing a state failed.
    #[error("failed to read or write the state: {0}")]
    Io(#[from] std::io::Error),
    /// The mesh could not be adapted.
    #[error("the mesh cannot be adapted: {0}")]
    Adaptation(#[from] cutlink_voxelizer::VoxelError),
    /// Another rank of the flow has failed.
    #[error("rank {rank} has failed")]
    Rank {
        /// That rank.
        rank: usize,
    },
    /// Processes that share the flow could not reach one another.
    #[error("a message between the processes of the flow failed: {reason}")]
    Communication {
        /// Why.
        reason: String,
    },
    /// The device refused.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl Failure for SolverError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Device(error) => error.kind(),
            Self::Bed(error) => error.kind(),
            Self::Diverged { .. } => ErrorKind::Diverged,
            Self::Io(_) | Self::Communication { .. } | Self::Rank { .. } => ErrorKind::Runtime,
            _ => ErrorKind::Input,
        }
    }

    fn of_device(&self) -> Option<&DeviceError> {
        match self {
            Self::Device(error) => Some(error),
            Self::Bed(error) => error.of_device(),
            _ => None,
        }
    }
}

impl From<cutlink_amr::ForestError> for SolverError {
    fn from(error: cutlink_amr::ForestError) -> Self {
        Self::from(cutlink_voxelizer::VoxelError::from(error))
    }
}
