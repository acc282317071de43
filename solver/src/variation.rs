//! Conditions that vary in position and time.

use crate::SolverError;
use std::{fmt, sync::Arc};

/// What varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The velocity or density of a face of the box: its axis, and 0 for the lower or 1 for the upper one.
    Face(usize, usize),
    /// The velocity or density of a patch of the surface.
    Patch(usize),
    /// The acceleration.
    Acceleration,
}

/// What a function of a [`Variation`] gives: by component, or why there is no number.
pub type Values<const D: usize> = Result<[f64; D], String>;

/// A function of the time in root steps.
pub type OfTime<const D: usize> = Arc<dyn Fn(f64) -> Values<D> + Send + Sync>;

/// Values at one time, as a function of the position.
pub type AtTime<const D: usize> = Box<dyn Fn([f64; D]) -> Values<D> + Send + Sync>;

/// Values in space. Positions are in root cells from the lower corner of the box.
#[derive(Clone)]
pub enum Space<const D: usize> {
    /// The same everywhere.
    Uniform,
    /// A function of the position, evaluated once.
    Steady(Arc<dyn Fn([f64; D]) -> Values<D> + Send + Sync>),
    /// A function of time and position that is no product of two. Each level calls it once in a root step; the function it
    /// returns is evaluated at each place by the threads of the host, and the values are moved to the device.
    Moving(Arc<dyn Fn(f64) -> AtTime<D> + Send + Sync>),
}

/// What a condition's own value is replaced by: of a wall or a face its velocity, of a pressure its density less 1 (the
/// first component; others are ignored), in units of the root lattice.
///
/// The value is `space` times `time`, component by component. Conditions have the value of the middle of each root
/// step, on all levels; the acceleration that of each step's end on its level. Of a patch that rotates the first
/// component of `time` is a factor, and `space` has to be uniform.
#[derive(Clone)]
pub struct Variation<const D: usize> {
    /// What varies.
    pub place: Place,
    /// What it is called in messages.
    pub name: String,
    /// All that it is made of, in words: two variations of the same place and key are taken for equal.
    pub key: String,
    /// In space.
    pub space: Space<D>,
    /// In time; 1 where there is none.
    pub time: Option<OfTime<D>>,
}

impl<const D: usize> PartialEq for Variation<D> {
    fn eq(&self, other: &Self) -> bool {
        (self.place, &self.key) == (other.place, &other.key)
    }
}

impl<const D: usize> fmt::Debug for Space<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uniform => "Uniform",
            Self::Steady(_) => "Steady",
            Self::Moving(_) => "Moving",
        })
    }
}

impl<const D: usize> fmt::Debug for Variation<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, key) = (&self.place, &self.key);
        write!(f, "Variation {{ place: {place:?}, key: {key:?} }}")
    }
}

impl<const D: usize> Variation<D> {
    /// Multiplies all values.
    pub fn scale(&mut self, factor: f64) {
        self.key = format!("{factor:?} times {}", self.key);
        self.space = match (self.space.clone(), self.time.clone()) {
            (Space::Steady(of), _) => {
                Space::Steady(Arc::new(move |x| of(x).map(|u| u.map(|u| factor * u))))
            }
            (Space::Moving(of), _) => Space::Moving(Arc::new(move |t| {
                let of = of(t);
                Box::new(move |x| of(x).map(|u| u.map(|u| factor * u)))
            })),
            (Space::Uniform, of) => {
                self.time = of
                    .map(|of| Arc::new(move |t| of(t).map(|u| u.map(|u| factor * u))) as OfTime<D>);
                Space::Uniform
            }
        };
    }

    /// Whether values differ from place to place.
    pub fn has_profile(&self) -> bool {
        !matches!(self.space, Space::Uniform)
    }

    /// What is in the way of a number, as an error.
    fn error(&self, reason: String) -> SolverError {
        SolverError::Value {
            name: self.name.clone(),
            reason,
        }
    }

    fn checked(
        &self,
        values: Values<D>,
        place: impl Fn() -> String,
    ) -> Result<[f64; D], SolverError> {
        let values = values.map_err(|reason| self.error(reason))?;
        match values.iter().all(|v| v.is_finite()) {
            true => Ok(values),
            false => Err(self.error(format!("{values:?} {}", place()))),
        }
    }

    /// The factor of a time in root steps.
    pub(crate) fn of_time(&self, time: f64) -> Result<[f64; D], SolverError> {
        match &self.time {
            None => Ok([1.0; D]),
            Some(of) => self.checked(of(time), || format!("at root step {time}")),
        }
    }

    /// The factors of places at a time in root steps; 1 where it is uniform.
    pub(crate) fn of_places(
        &self,
        time: f64,
    ) -> impl Fn([f64; D]) -> Result<[f64; D], SolverError> + Sync {
        let moving = match &self.space {
            Space::Moving(of) => Some(of(time)),
            _ => None,
        };
        move |x| {
            let values = match (&self.space, &moving) {
                (Space::Steady(of), _) => of(x),
                (_, Some(of)) => of(x),
                _ => Ok([1.0; D]),
            };
            self.checked(values, || {
                format!("at {x:?} root cells from the lower corner")
            })
        }
    }
}
