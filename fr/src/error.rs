//! Why a flow could not be set up or advanced.

use crate::{Sensor, basis::MAX_ORDER};
use cutlink_amr::ForestError;
use cutlink_device::DeviceError;

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
    /// Faces of the box that are not periodic, and nothing beyond them.
    #[error("the box has faces that are not periodic, which need a far field")]
    NoFarField,
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
