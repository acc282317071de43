//! The running flow as an observer sees it.

use super::Run;
use crate::{error::Error, observer::FlowLook, solve::units::Units};
use cutlink_solver::{
    Flow, Snapshot,
    fields::{blocks_around, velocity_at},
};
use rayon::prelude::*;

impl<const D: usize> Run<'_, D> {
    pub(super) fn look_by_observer(&mut self, flow: &dyn Flow<D>) -> Result<(), Error> {
        let look = Look {
            flow,
            units: self.resolved.units,
            coefficients: self.history.last_forces(),
        };
        self.observer.look(&look)
    }
}

struct Look<'a, const D: usize> {
    flow: &'a dyn Flow<D>,
    units: Units,
    coefficients: Option<[f64; 3]>,
}

impl<const D: usize> FlowLook for Look<'_, D> {
    fn steps(&self) -> u64 {
        self.flow.steps()
    }

    fn time(&self) -> f64 {
        self.flow.steps() as f64 * self.units.time
    }

    fn coefficients(&self) -> Option<[f64; 3]> {
        self.coefficients
    }

    fn sample(&self, points: &[f64]) -> Result<Vec<f64>, Error> {
        check_points::<D>(points)?;
        let mesh = self.flow.mesh()?;
        let place =
            |x: &[f64]| std::array::from_fn(|a| (x[a] - mesh.frame.origin[a]) / mesh.frame.dx);
        let places: Vec<[f64; D]> = points.chunks_exact(D).map(place).collect();
        let mut snapshot = Snapshot::default();
        let blocks = blocks_around(mesh, &places);
        self.flow.update(Some(&blocks), &mut snapshot)?;
        let velocity = self.units.velocity();
        // The squared speed of sound is 1/3 on the lattice.
        let pressure = self.units.density * velocity * velocity / 3.0;
        let value = |&at: &[f64; D]| match velocity_at(mesh, &snapshot, at) {
            Some((density, u)) => {
                let pressure = (density - 1.0) * pressure;
                std::iter::once(pressure)
                    .chain(u.map(|u| u * velocity))
                    .collect()
            }
            None => vec![f64::NAN; D + 1],
        };
        Ok(places.par_iter().flat_map_iter(value).collect())
    }
}

/// # Errors
/// A number of coordinates that is no multiple of D.
pub(in crate::solve) fn check_points<const D: usize>(points: &[f64]) -> Result<(), Error> {
    match points.len().is_multiple_of(D) {
        true => Ok(()),
        false => Err(Error::input(format!(
            "{} coordinates are no list of points in {D}D",
            points.len()
        ))),
    }
}
