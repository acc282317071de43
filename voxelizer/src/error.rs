//! Why an embedding could not be made.

use cutlink_amr::ForestError;
use cutlink_device::{DeviceError, ErrorKind, Failure};
use cutlink_mesher::snap::SnapError;

/// An error of the embedding; the text is a lowercase fragment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VoxelError {
    /// A box or root grid that is not possible.
    #[error("the box is not possible: {reason}")]
    Box {
        /// What is wrong with it.
        reason: String,
    },
    /// Too many levels for the exact lattice.
    #[error(
        "{levels} levels on {root_cells} root cells need lattice coordinates beyond 2^27: at most {most} levels fit this root grid"
    )]
    Levels {
        /// Requested levels.
        levels: usize,
        /// Root cells on the longest axis.
        root_cells: u32,
        /// Levels that would fit.
        most: usize,
    },
    /// A parameter out of range.
    #[error("{name} is {value}: {expected}")]
    Parameter {
        /// The parameter's name, as users write it.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// A table that 32-bit positions cannot address.
    #[error("the {table} would have more than 2^32 entries: use fewer levels")]
    TooLarge {
        /// The table.
        table: &'static str,
    },
    /// A surface that meets the two faces of a periodic axis differently.
    #[error(
        "the surface is not periodic along {axis}: at {position:?}, fluid meets the body across the periodic face \
        without a facet in between. The body must cross both faces identically: extend it beyond both faces, or end it on them"
    )]
    NotPeriodic {
        /// The axis.
        axis: &'static str,
        /// Centre of the fluid cell.
        position: Vec<f64>,
    },
    /// Parts of a mesh that are not those of one.
    #[error(
        "level {level} has {there} blocks, but {blocks} in the parts of the mesh: they are not of one mesh"
    )]
    Windows {
        /// The level.
        level: usize,
        /// Blocks of the parts.
        blocks: usize,
        /// Blocks that the level has.
        there: usize,
    },
    /// A forest that is not of this box.
    #[error(
        "the blocks given, of {levels} levels, are of another box, of other periodic axes or of more than {most} levels"
    )]
    Blocks {
        /// Levels of the forest.
        levels: usize,
        /// Levels of the lattice.
        most: usize,
    },
    /// Patches that cannot move as bodies.
    #[error("the body \"{body}\" cannot move: {reason}")]
    Body {
        /// The body.
        body: String,
        /// Why, and the way out.
        reason: String,
    },
    /// The surface cannot be snapped.
    #[error(transparent)]
    Snap(#[from] SnapError),
    /// The forest cannot be refined.
    #[error(transparent)]
    Forest(#[from] ForestError),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl Failure for VoxelError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Device(error) => error.kind(),
            Self::Forest(error) => error.kind(),
            Self::TooLarge { .. } => ErrorKind::Memory,
            Self::Box { .. } | Self::Levels { .. } | Self::Parameter { .. } => ErrorKind::Input,
            _ => ErrorKind::Runtime,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Forest(error) => error.hint(),
            _ => None,
        }
    }

    fn of_device(&self) -> Option<&DeviceError> {
        match self {
            Self::Device(error) => Some(error),
            Self::Forest(error) => error.of_device(),
            _ => None,
        }
    }
}
