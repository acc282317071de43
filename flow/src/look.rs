//! The running flow as an observer sees it.

use super::{Flow, PointValue};
use cutlink_common::{Error, FlowLook};

pub(super) struct Look<'a, const D: usize> {
    pub(super) flow: &'a dyn Flow<D>,
    pub(super) coefficients: Option<[f64; 3]>,
}

impl<const D: usize> FlowLook for Look<'_, D> {
    fn steps(&self) -> u64 {
        self.flow.steps()
    }

    fn time(&self) -> f64 {
        self.flow.time()
    }

    fn coefficients(&self) -> Option<[f64; 3]> {
        self.coefficients
    }

    fn sample(&self, points: &[f64]) -> Result<Vec<f64>, Error> {
        check_points::<D>(points)?;
        let points: Vec<[f64; D]> = points
            .chunks_exact(D)
            .map(|x| std::array::from_fn(|a| x[a]))
            .collect();
        let value = |at: PointValue<D>| match at {
            Some((pressure, velocity)) => std::iter::once(pressure).chain(velocity).collect(),
            None => vec![f64::NAN; D + 1],
        };
        let values = self.flow.sample(&points)?;
        Ok(values.into_iter().flat_map(value).collect())
    }
}

/// # Errors
/// A number of coordinates that is no multiple of D.
fn check_points<const D: usize>(points: &[f64]) -> Result<(), Error> {
    match points.len().is_multiple_of(D) {
        true => Ok(()),
        false => Err(Error::input(format!(
            "{} coordinates are no list of points in {D}D",
            points.len()
        ))),
    }
}
