//! Why a flow could not be set up or advanced.

use crate::{Sensor, basis::MAX_ORDER};
use cutlink_amr::ForestError;
use cutlink_device::{DeviceError, ErrorKind, Failure};

/// Names of axes.
const AXES: [&str; 3] = ["x", "y", "z"];

/// An error of a flow; the text is a lowercase fragment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FrError {
    /// An order without a basis.
    #[error("order {order} is not one of 1 to {MAX_ORDER}")]
    Order {
        /// The order.
        order: usize,
    },
    /// A ratio of specific heats that no gas has.
    #[error("a ratio of specific heats of {gamma} is not above 1 and finite")]
    Gamma {
        /// The ratio.
        gamma: f64,
    },
    /// A step or Courant number that is not positive.
    #[error("a time step or Courant number of {step} is not positive and finite")]
    TimeStep {
        /// The step.
        step: f64,
    },
    /// A box without volume.
    #[error("a box from {lower:?} to {upper:?} has no volume")]
    Box {
        /// Its lower corner.
        lower: Vec<f64>,
        /// Its upper corner.
        upper: Vec<f64>,
    },
    /// A far field without positive density and pressure.
    #[error("the far field needs a positive density and pressure, and finite velocities")]
    FarField,
    /// A viscosity or Prandtl number that is not positive.
    #[error(
        "a viscosity of {dynamic} and a Prandtl number of {prandtl} have to be positive and finite"
    )]
    Viscosity {
        /// The dynamic viscosity.
        dynamic: f64,
        /// The Prandtl number.
        prandtl: f64,
    },
    /// Faces of the box that are neither periodic nor walls, and nothing beyond them.
    #[error("the box has faces that are neither periodic nor walls, which need a far field")]
    NoFarField,
    /// A wall that holds the gas, which has no viscosity.
    #[error("a no-slip wall needs viscosity; without it walls are slip walls")]
    NoViscosity,
    /// A relaxation time of embedded bodies that is not positive.
    #[error("the relaxation time of embedded bodies is {time}, it should be positive")]
    Relaxation {
        /// The time.
        time: f64,
    },
    /// More embedded bodies than masks tell apart.
    #[error("{bodies} embedded bodies are too many, there may be 255")]
    ManyBodies {
        /// Bodies.
        bodies: usize,
    },
    /// A wall on a periodic axis.
    #[error("the box is periodic along axis {axis}, where it has a wall")]
    PeriodicWall {
        /// The axis.
        axis: usize,
    },
    /// A moving wall whose velocity is not along it, or a body with a velocity.
    #[error(
        "a wall's velocity {velocity:?} has to be finite and along the wall; a body's has to be 0"
    )]
    WallVelocity {
        /// The velocity.
        velocity: Vec<f64>,
    },
    /// A wall's temperature that is not positive.
    #[error("a wall's temperature of {temperature} is not positive and finite")]
    WallTemperature {
        /// The temperature.
        temperature: f64,
    },
    /// A body that is empty or not in the box.
    #[error("body {body} from {lower:?} to {upper:?} is empty, or not in the box")]
    Body {
        /// The body, from 0.
        body: usize,
        /// Its lower corner.
        lower: Vec<f64>,
        /// Its upper corner.
        upper: Vec<f64>,
    },
    /// A face of a body that is on none of elements.
    #[error(
        "body {body} has a face at {} = {at}, where elements of level {level} have none: the nearest are at {} and {}",
        AXES[*axis],
        nearest[0],
        nearest[1]
    )]
    Unaligned {
        /// The body, from 0.
        body: usize,
        /// The axis.
        axis: usize,
        /// The coordinate.
        at: f64,
        /// The finest level.
        level: u32,
        /// The nearest faces of elements of that level, below and above.
        nearest: [f64; 2],
    },
    /// An element that lies across a face of a body.
    #[error(
        "elements around body {body} are not finer than level {found}, where its faces are those of elements of level {level}"
    )]
    CoarseAtBody {
        /// The body, from 0.
        body: usize,
        /// The level of an element.
        found: u32,
        /// The level that elements need there.
        level: u32,
    },
    /// A sensor whose numbers make no sense.
    #[error(
        "the sensor {sensor:?} makes no sense: the share that refines has to be below 1 and above the one that coarsens, \
         the outer distance not below the inner one"
    )]
    Sensor {
        /// The sensor.
        sensor: Sensor,
    },
    /// No steps between adaptations.
    #[error("there has to be a step between adaptations")]
    NoInterval,
    /// Levels of an adaptation that are none.
    #[error(
        "levels {} to {} of an adaptation should ascend, and go up to {limit} at most",
        levels[0],
        levels[1]
    )]
    Levels {
        /// The coarsest and the finest one.
        levels: [u32; 2],
        /// The finest that there is.
        limit: u32,
    },
    /// Levels at bodies or by place that are none.
    #[error("levels by place should ascend, and those at bodies be none above the finest")]
    Places,
    /// A saved state of another flow.
    #[error("the saved state has another root grid, or {found} numbers in place of {expected}")]
    Saved {
        /// Its numbers.
        found: usize,
        /// Those of its tree at this order.
        expected: usize,
    },
    /// A density or pressure that is not positive, or no number at all.
    #[error("the flow has diverged by time {time}: no wave speed is finite")]
    Diverged {
        /// The time.
        time: f64,
    },
    /// The tree.
    #[error(transparent)]
    Forest(#[from] ForestError),
    /// Memory.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl Failure for FrError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Device(error) => error.kind(),
            Self::Forest(error) => error.kind(),
            Self::Diverged { .. } => ErrorKind::Diverged,
            _ => ErrorKind::Input,
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
