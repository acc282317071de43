//! Why an equation was not solved.

use cutlink_device::{DeviceError, ErrorKind, Failure};

/// An error of the solver; the text is a lowercase fragment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EllipticError {
    /// Ids of the forest are not those of a rebuilt one.
    #[error("block ids should ascend from level to level without a gap: rebuild the forest first")]
    NotContiguous,
    /// An array of another length.
    #[error("{what} should have {expected} values, not {found}")]
    Length {
        /// Which array.
        what: &'static str,
        /// The length that fits.
        expected: usize,
        /// Its length.
        found: usize,
    },
    /// A coefficient that is negative, infinite or NaN.
    #[error("{what} of block {block} is {value}: it should be finite and not negative")]
    Coefficient {
        /// Which one.
        what: &'static str,
        /// The block.
        block: usize,
        /// The value.
        value: f64,
    },
    /// A face that is open now and was closed, or the other way round.
    #[error(
        "a face of block {block} was opened or closed: make a new operator, its closed regions are others"
    )]
    Opened {
        /// The block.
        block: usize,
    },
    /// NaN or infinity in the right side, the first guess or what follows from them.
    #[error("the {what} of an elliptic equation is not finite, first in block {block}")]
    NotFinite {
        /// Right side, first guess or residual.
        what: &'static str,
        /// The first block with such a value.
        block: usize,
    },
    /// The residual did not fall far enough.
    #[error(
        "{iterations} iterations left a relative residual of {residual:.1e}, more than {wanted:.1e}"
    )]
    NotConverged {
        /// Iterations done.
        iterations: usize,
        /// The residual over the right side.
        residual: f64,
        /// What was asked for.
        wanted: f64,
    },
    /// Memory is short.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl Failure for EllipticError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Device(error) => error.kind(),
            Self::NotFinite { .. } | Self::NotConverged { .. } => ErrorKind::Diverged,
            _ => ErrorKind::Input,
        }
    }

    fn of_device(&self) -> Option<&DeviceError> {
        match self {
            Self::Device(error) => Some(error),
            _ => None,
        }
    }
}
