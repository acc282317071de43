//! A box that moves: weight and turning of its fluid in a step, from expressions of time.

use super::case::{FrameTable, TwoPhaseCase};
use super::resolve::numbers;
use crate::solve::value;
use cutlink_common::Error;
use cutlink_mesher::rigid::Quaternion;
use cutlink_prescribed::expression::{Expression, Scope};
use cutlink_vof::Turning;
use std::f64::consts::PI;

/// Names in expressions.
pub(super) fn scope(coordinates: usize, time: bool) -> Scope {
    Scope {
        coordinates,
        time,
        constants: vec![("pi", PI)],
    }
}

/// The motion of a box.
#[derive(Debug, Clone)]
pub(super) struct FrameMotion<const D: usize> {
    translation: [Expression; D],
    angle: Option<Expression>,
    /// Direction of the axis; z in 2D.
    axis: [f64; 3],
    pub(super) center: [f64; D],
    /// Along axes at rest, m/s².
    gravity: [f64; D],
}

impl<const D: usize> FrameMotion<D> {
    /// What the fluid feels from a time for so many seconds: weight, m/s², and turning. The change of the velocities is exact,
    /// so that a box that moves and stops leaves no error of the step's length in the momentum.
    ///
    /// # Errors
    /// A value or derivative that is not finite.
    pub(super) fn over(&self, t: f64, dt: f64) -> Result<([f64; D], Option<Turning<D>>), Error> {
        let slope = |of: &Expression, t: f64| {
            of.with_slope(t)
                .map_err(|reason| Error::input(format!("[frame] {reason}")))
        };
        let mut weight = self.gravity;
        for (g, of) in weight.iter_mut().zip(&self.translation) {
            if of.depends_on_time() {
                *g -= (slope(of, t + dt)?[1] - slope(of, t)?[1]) / dt;
            }
        }
        let Some(angle) = &self.angle else {
            return Ok((weight, None));
        };
        let [turned, rate] = slope(angle, t + 0.5 * dt)?;
        let change = (slope(angle, t + dt)?[1] - slope(angle, t)?[1]) / dt;
        let back = Quaternion::from_vector(self.axis.map(|k| -turned * k));
        let turning = Turning {
            center: self.center,
            spin: self.axis.map(|k| rate * k),
            rate: self.axis.map(|k| change * k),
        };
        Ok((back.rotate(weight), Some(turning)))
    }
}

impl TwoPhaseCase {
    /// How the box moves, with the point that moments are about.
    ///
    /// # Errors
    /// Keys that make no sense.
    pub(super) fn motion<const D: usize>(
        &self,
        gravity: [f64; D],
    ) -> Result<Option<FrameMotion<D>>, Error> {
        let Some(table) = &self.frame else {
            return Ok(None);
        };
        let scope = scope(0, true);
        let translation = match &table.translation {
            None => std::array::from_fn(|_| Expression::number(0.0)),
            Some(given) => value::vector("[frame] translation", given, &scope)?,
        };
        let angle = match &table.angle {
            None => None,
            Some(angle) => Some(angle.expression("[frame] angle", &scope)?),
        };
        let center = match &table.center {
            None => {
                std::array::from_fn(|a| 0.5 * (self.domain.bounds[a] + self.domain.bounds[D + a]))
            }
            Some(center) => numbers("[frame] center", center)?,
        };
        let motion = FrameMotion {
            translation,
            axis: axis::<D>(table)?,
            angle,
            center,
            gravity,
        };
        motion.over(0.0, 1e-6)?;
        Ok(Some(motion))
    }
}

fn axis<const D: usize>(table: &FrameTable) -> Result<[f64; 3], Error> {
    match &table.axis {
        Some(_) if D == 2 => Err(Error::input("[frame] axis is given, and the box is in 2D")
            .hint("leave it out: in 2D a box turns about z")),
        Some(_) if table.angle.is_none() => {
            Err(Error::input("[frame] axis is given, and no angle")
                .hint("give angle, in rad, or leave axis out"))
        }
        None if D == 3 && table.angle.is_some() => {
            Err(Error::input("[frame] axis is missing").hint("give it, such as axis = [0, 0, 1]"))
        }
        None => Ok([0.0, 0.0, 1.0]),
        Some(axis) => {
            let axis: [f64; 3] = numbers("[frame] axis", axis)?;
            let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
            match length > 0.0 && length.is_finite() {
                true => Ok(axis.map(|x| x / length)),
                false => {
                    Err(Error::input("[frame] axis has no direction")
                        .hint("give it a length above 0"))
                }
            }
        }
    }
}
