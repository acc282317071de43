//! Why a forest could not be built or adapted.

use crate::MAX_LEVELS;
use cutlink_device::{DeviceError, ErrorKind, Failure};

/// An error of the forest; the text is a lowercase fragment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForestError {
    /// A root grid without blocks, or with more than ids can name.
    #[error(
        "a root grid of {blocks:?} blocks is not possible: each axis needs at least one block, all together fewer than 2^31"
    )]
    RootGrid {
        /// Requested blocks on each axis.
        blocks: Vec<u32>,
    },
    /// More levels than block coordinates or level numbers can hold.
    #[error(
        "level {level} does not fit the coordinates of a root grid with {blocks} blocks on its longest axis (at most {MAX_LEVELS} levels, cell coordinates below 2^30)"
    )]
    TooFine {
        /// The level that would have been made.
        level: usize,
        /// Blocks on the longest root axis.
        blocks: u32,
    },
    /// Block ids are exhausted.
    #[error("the forest would need {blocks} blocks, more than 2^32 - 3 ids allow")]
    TooManyBlocks {
        /// Blocks that would have been needed.
        blocks: u64,
    },
    /// Blocks too fine for the keys of a linear tree.
    #[error(
        "keys of a linear tree cannot name blocks of level {level} in a root grid with {blocks} blocks on its longest axis"
    )]
    TooFineForKeys {
        /// The level that would have been named.
        level: usize,
        /// Blocks on the longest root axis.
        blocks: u32,
    },
    /// More leaves than a linear tree can number.
    #[error("the linear tree would need {leaves} leaves, more than 2^29")]
    TooManyLeaves {
        /// Leaves that would have been needed.
        leaves: u64,
    },
    /// Words that are not keys of blocks.
    #[error("{count} of the wanted keys name no block of the root grid")]
    NoBlocks {
        /// How many.
        count: u64,
    },
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl Failure for ForestError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Device(error) => error.kind(),
            Self::TooManyBlocks { .. } => ErrorKind::Memory,
            Self::RootGrid { .. } | Self::TooFine { .. } => ErrorKind::Input,
            _ => ErrorKind::Runtime,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = "use fewer levels, a smaller wall distance or a coarser root grid";
        matches!(self, Self::TooManyBlocks { .. }).then(|| hint.into())
    }

    fn of_device(&self) -> Option<&DeviceError> {
        match self {
            Self::Device(error) => Some(error),
            _ => None,
        }
    }
}
