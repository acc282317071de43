//! Why grains cannot be set up, advanced, packed or restored.

use cutlink_device::{DeviceError, ErrorKind, Failure};

/// An error of this crate; the text is a lowercase fragment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GrainError {
    /// A number outside of its range.
    #[error("{what} is {value}: it should be {range}")]
    Value {
        /// The quantity.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it may be, in words.
        range: &'static str,
    },
    /// Arrays that do not fit one another, or an index beyond a table.
    #[error("{what}: {got}, where {expected} should be")]
    Length {
        /// The array or index.
        what: &'static str,
        /// Its length or value.
        got: usize,
        /// What was expected.
        expected: usize,
    },
    /// A box without volume.
    #[error("a box from {lower:?} to {upper:?} has no volume")]
    Box {
        /// Lower corner.
        lower: [f64; 3],
        /// Upper corner.
        upper: [f64; 3],
    },
    /// A periodic axis that is too short for the largest grains.
    #[error(
        "the box is periodic along {axis} with a period of {period}: the largest grains need at least {least}, three \
         times their diameter and the skin"
    )]
    Period {
        /// Name of the axis.
        axis: &'static str,
        /// The period, in m.
        period: f64,
        /// The shortest one.
        least: f64,
    },
    /// A surface that reaches a periodic face.
    #[error(
        "the surface is {distance} from the periodic faces along {axis}: it has to keep {least} away from them, as it is \
         not repeated"
    )]
    SurfaceAtPeriod {
        /// Name of the axis.
        axis: &'static str,
        /// The distance, in m; negative beyond the face.
        distance: f64,
        /// The least distance.
        least: f64,
    },
    /// A surface without an inside, where one is needed.
    #[error(
        "the surface is not closed ({edges} edges are not shared by facets both ways), so that it has no inside"
    )]
    NotClosed {
        /// Such edges.
        edges: usize,
    },
    /// Grains that cannot be where they are.
    #[error(
        "{count} grains {problem}; the first is grain {id} at ({}, {}, {}), by {by}",
        at[0], at[1], at[2]
    )]
    Place {
        /// What is wrong, in words.
        problem: &'static str,
        /// How many.
        count: usize,
        /// The lowest id of them.
        id: u32,
        /// Its centre.
        at: [f64; 3],
        /// How far, in m; 0 where it has no measure.
        by: f64,
    },
    /// Grains that overlap others at the start.
    #[error(
        "{count} pairs of grains overlap by more than {} % of the smaller radius; the first is grains {first} and \
         {second} at ({}, {}, {}), by {overlap}",
        100.0 * limit, at[0], at[1], at[2]
    )]
    Overlap {
        /// Such pairs.
        count: usize,
        /// The lower id.
        first: u32,
        /// The higher id.
        second: u32,
        /// Centre of the first.
        at: [f64; 3],
        /// Their overlap, in m.
        overlap: f64,
        /// The allowed one, as a share of the smaller radius.
        limit: f64,
    },
    /// A time step that does not resolve contacts.
    #[error(
        "the time step {dt} s is beyond the {rule} limit of {limit} s, for grain {id}: use a smaller step, a softer \
         material or a larger grain"
    )]
    TimeStep {
        /// The step.
        dt: f64,
        /// `Rayleigh` or `Hertz`.
        rule: &'static str,
        /// The longest step.
        limit: f64,
        /// The grain that sets it.
        id: u32,
    },
    /// Grains that move too far in a step, or whose state is not a number.
    #[error(
        "{count} grains moved by more than half their radius in step {step}, or are not a number; the first is grain \
         {id} at ({}, {}, {})",
        at[0], at[1], at[2]
    )]
    Diverged {
        /// Such grains.
        count: usize,
        /// The step.
        step: u64,
        /// The lowest id of them.
        id: u32,
        /// Its centre.
        at: [f64; 3],
    },
    /// More pairs or grains than 32-bit indices allow.
    #[error("{count} {what} are more than {most}")]
    TooMany {
        /// What.
        what: &'static str,
        /// How many.
        count: usize,
        /// The limit.
        most: usize,
    },
    /// A bed that did not come to rest.
    #[error(
        "the bed of {grains} grains was not at rest after {steps} steps: the mean energy is {energy} m g r"
    )]
    Restless {
        /// Grains.
        grains: usize,
        /// Steps that were made.
        steps: u64,
        /// Mean kinetic energy of a grain over its weight times its radius.
        energy: f64,
    },
    /// Grains that do not fit into their container.
    #[error(
        "{placed} of {wanted} grains fit into the container: use fewer or smaller ones, or a larger container"
    )]
    Full {
        /// Grains that fit.
        placed: usize,
        /// Grains that were asked for.
        wanted: usize,
    },
    /// Bytes that are no saved state.
    #[error("not a saved state of grains: {reason}")]
    Saved {
        /// Why not.
        reason: &'static str,
    },
    /// No memory.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl GrainError {
    /// With lengths multiplied by a unit.
    pub(crate) fn in_units(mut self, unit: f64) -> Self {
        match &mut self {
            Self::Box { lower, upper } => {
                let corners = lower.iter_mut().chain(upper);
                corners.for_each(|x| *x *= unit);
            }
            Self::Period { period, least, .. } => {
                *period *= unit;
                *least *= unit;
            }
            Self::Place { at, by: length, .. }
            | Self::Overlap {
                at,
                overlap: length,
                ..
            } => {
                at.iter_mut().for_each(|x| *x *= unit);
                *length *= unit;
            }
            Self::Diverged { at, .. } => at.iter_mut().for_each(|x| *x *= unit),
            _ => {}
        }
        self
    }
}

impl Failure for GrainError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Device(error) => error.kind(),
            Self::NotClosed { .. } => ErrorKind::Geometry,
            Self::TooMany { .. } => ErrorKind::Memory,
            Self::Diverged { .. } => ErrorKind::Diverged,
            Self::Restless { .. } => ErrorKind::Runtime,
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
