//! Sound that bodies make as they change their velocity.

use super::{BARS, Laws, percent, two_digits};
use crate::solve::{
    case::{MotionKind, MotionTable},
    units::Physics,
    value,
};
use cutlink_device::larger_or_nan;
use cutlink_flow::verdict::Check;
use cutlink_prescribed::expression::Expression;
use cutlink_solver::{FaceCondition, Params};
use std::{collections::BTreeMap, f64::consts::PI};

/// Times at which a path is looked at.
const TIMES: u32 = 4096;

/// How bodies with a prescribed path move, in SI units.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Sway {
    /// The largest speed, m/s.
    pub(super) fastest: f64,
    /// Rms acceleration over rms velocity, 1/s: the angular frequency of an oscillation. The largest of all bodies.
    pub(super) rate: f64,
}

impl Sway {
    /// Of the translations of a case within a time, s. Paths that have no velocity are refused where bodies are made.
    pub(super) fn of(
        tables: &BTreeMap<String, MotionTable>,
        physics: &Physics,
        seconds: f64,
    ) -> Self {
        let mut found = Self::default();
        let moving = tables
            .values()
            .filter(|of| of.kind == MotionKind::Prescribed);
        for translation in moving.filter_map(|of| of.translation.as_ref()) {
            let scope = value::scope(0, true, physics);
            let along = translation.iter().map(|of| of.expression("", &scope));
            let Ok(along) = along.collect::<Result<Vec<_>, _>>() else {
                continue;
            };
            let speeds: Option<Vec<Vec<f64>>> = (0..=TIMES)
                .map(|k| velocity(&along, seconds * f64::from(k) / f64::from(TIMES)))
                .collect();
            let Some(speeds) = speeds else { continue };
            let sizes = speeds.iter().map(|v| square(v));
            found.fastest = found.fastest.max(sizes.fold(0.0, larger_or_nan).sqrt());
            let rate = rate(&speeds, seconds / f64::from(TIMES));
            found.rate = found.rate.max(rate.unwrap_or(0.0));
        }
        found
    }
}

fn velocity(along: &[Expression], time: f64) -> Option<Vec<f64>> {
    let slopes = along.iter().map(|of| of.with_slope(time).ok());
    slopes.map(|of| of.map(|[_, slope]| slope)).collect()
}

fn square(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum()
}

/// Rms acceleration over rms velocity of velocities at times this far apart; none at rest.
pub(crate) fn rate(velocities: &[impl AsRef<[f64]>], dt: f64) -> Option<f64> {
    let speeds = velocities.iter().map(|v| square(v.as_ref()));
    let changes = velocities.windows(2).map(|two| {
        let both = two[1].as_ref().iter().zip(two[0].as_ref());
        both.map(|(b, a)| ((b - a) / dt).powi(2)).sum::<f64>()
    });
    let mean = |sum: f64, count: usize| sum / count as f64;
    let count = velocities.len();
    let speed = mean(speeds.sum(), count);
    (count > 1 && speed > 0.0).then(|| (mean(changes.sum(), count - 1) / speed).sqrt())
}

/// The length, in root cells, that sound has to pass for the fluid around a body to move as if there were none: in a closed box the
/// inverse wave number of its longest standing wave; elsewhere half the body.
pub(super) fn reach<const D: usize>(
    params: &Params<D>,
    edges: &[f64],
    body: Option<f64>,
) -> Option<f64> {
    if params.has_opening() {
        return body.map(|across| 0.5 * across);
    }
    let is_endless = |axis: usize| params.faces[axis].contains(&FaceCondition::Periodic);
    let waves = edges.iter().enumerate().map(|(axis, edge)| {
        let half_waves = if is_endless(axis) { 2.0 } else { 1.0 };
        edge / (half_waves * PI)
    });
    waves.max_by(f64::total_cmp)
}

impl Laws {
    /// The largest lattice velocity at which sound is fast enough for bodies that move as their paths say.
    pub(super) fn slow_enough(&self) -> Option<f64> {
        let length = self.reach? * self.sway.rate;
        let most = (0.7 * BARS[0] / 3.0).sqrt() * self.physics.velocity / length;
        (length > 0.0).then_some(most)
    }

    /// The error of forces by sound, with bodies that change their velocity at this rate, 1/s: as a mass on a spring below its frequency.
    pub(super) fn sound_of_bodies(&self, rate: f64) -> Option<Check> {
        let number = rate * self.reach? / self.speed() * 3f64.sqrt();
        let value = number * number;
        (value > 0.0).then(|| Check {
            name: "sound of bodies",
            value,
            bars: BARS,
            what: format!(
                "bodies change their velocity at a rate of {} 1/s, {} times that of sound across the fluid around them, hence an error of forces of about {}",
                two_digits(rate),
                two_digits(number),
                percent(value)
            ),
            remedy: self.slower(value),
        })
    }
}
