//! Why a two-phase flow cannot be set up or go on.

use cutlink_amr::ForestError;
use cutlink_device::{DeviceError, ErrorKind, Failure};
use cutlink_elliptic::EllipticError;
use cutlink_grains::GrainError;

/// An error of a two-phase flow; the text is a lowercase fragment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TwoPhaseError {
    /// A parameter out of its range.
    #[error("{what} is {value}: it should be {expected}")]
    Parameter {
        /// Which one.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// A surface of liquid that overlaps itself.
    #[error(
        "the surface of a liquid overlaps itself: {part:.3} of the cell at {at:?} m is in it; unite its parts"
    )]
    Overlap {
        /// The part of a cell that is inside, counted as often as it is.
        part: f64,
        /// The cell's lower corner, m.
        at: Vec<f64>,
    },
    /// An interface where the mesh is coarser than its finest level.
    #[error(
        "the interface reaches a cell of level {level} at {at:?} m, and the finest level is {finest}: \
         refine a larger region around the liquid"
    )]
    CoarseInterface {
        /// The level of the cell.
        level: usize,
        /// The finest level.
        finest: usize,
        /// The cell's centre, m.
        at: Vec<f64>,
    },
    /// NaN or infinity.
    #[error("the {what} is not finite at {at:?} m, time {time} s")]
    NotFinite {
        /// Volume fraction, velocity or pressure.
        what: &'static str,
        /// The cell's centre, m.
        at: Vec<f64>,
        /// Simulated time, s.
        time: f64,
    },
    /// A flow that allows only steps that are far too short.
    #[error("the flow diverged: its velocity allows steps of {allowed:.1e} s")]
    TooFast {
        /// The longest step, s.
        allowed: f64,
    },
    /// A grain where the mesh is coarser than its finest level.
    #[error(
        "a grain reaches a cell of level {level} at {at:?} m, and the finest level is {finest}: refine a larger region around the \
         grains, or let the mesh follow the flow"
    )]
    CoarseGrain {
        /// The level of the cell.
        level: usize,
        /// The finest level.
        finest: usize,
        /// The cell's centre, m.
        at: Vec<f64>,
    },
    /// A grain that is not in the fluid any more.
    #[error("grain {id} at {at:?} m has left the cells of the fluid: close the faces of its box")]
    GrainOutside {
        /// The grain.
        id: u32,
        /// Its centre, m.
        at: [f64; 3],
    },
    /// Bytes that are no state of these grains.
    #[error("a saved state is not of the grains of this flow")]
    SavedGrains,
    /// The grains.
    #[error(transparent)]
    Grains(#[from] GrainError),
    /// Volume fractions left 0 to 1.
    #[error(
        "the volume fraction is {value} at {at:?} m, time {time} s: use a smaller Courant number"
    )]
    Unbounded {
        /// The fraction.
        value: f64,
        /// The cell's centre, m.
        at: Vec<f64>,
        /// Simulated time, s.
        time: f64,
    },
    /// More flows in than out of a region that has no opening, or the other way round.
    #[error(
        "inflow and outflow of a region without a face of given pressure differ by {rate:.3e} m³/s: \
         give one face `pressure`"
    )]
    NoOutlet {
        /// Volume a second.
        rate: f64,
    },
    /// A saved state of another flow.
    #[error("a saved state has {found} values, this flow {expected}")]
    Saved {
        /// Values found.
        found: usize,
        /// Values of this flow.
        expected: usize,
    },
    /// More cells at the interface than the adaptation may have.
    #[error("the interface needs a mesh of {cells} cells, and the adaptation may have {most}")]
    Budget {
        /// Cells of leaves that it needs.
        cells: u64,
        /// Cells that it may have.
        most: u64,
    },
    /// A saved state of another mesh, or of none.
    #[error("a saved state is not of a mesh of this flow")]
    SavedMesh,
    /// The pressure or the viscosity was not solved.
    #[error("the {what} could not be solved: {source}")]
    Elliptic {
        /// Pressure or viscosity.
        what: &'static str,
        /// Why.
        source: EllipticError,
    },
    /// The forest.
    #[error(transparent)]
    Forest(#[from] ForestError),
    /// Memory is short.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl Failure for TwoPhaseError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Device(error) => error.kind(),
            Self::Forest(error) => error.kind(),
            Self::Grains(error) => error.kind(),
            Self::Elliptic { source, .. } => source.kind(),
            Self::NotFinite { .. } | Self::Unbounded { .. } | Self::TooFast { .. } => {
                ErrorKind::Diverged
            }
            _ => ErrorKind::Input,
        }
    }

    fn of_device(&self) -> Option<&DeviceError> {
        match self {
            Self::Device(error) => Some(error),
            Self::Forest(error) => error.of_device(),
            Self::Grains(error) => error.of_device(),
            Self::Elliptic { source, .. } => source.of_device(),
            _ => None,
        }
    }
}
