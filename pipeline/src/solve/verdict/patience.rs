//! The earliest root step at which a flow can have settled, or be judged: its conditions have stopped changing, sound has
//! crossed the box there and back, and the flow has passed the reference length, or diffused across it if that is faster.

use crate::solve::{case::Case, resolve::Resolved};
use cutlink_solver::{Space, Variation};

/// How often sound crosses the box.
const TRANSITS: f64 = 2.0;
/// Conditions are looked at up to this multiple of the longest duration of the run.
const HORIZON: f64 = 4.0;
/// Times in the second half of that at which a condition that has settled is the same.
const TIMES: i32 = 32;
/// Times at which it is looked at before, each a share of the next.
const EARLIER: i32 = 256;
/// A condition that is as close as this to its last value, as a share of the largest, has stopped changing.
const CLOSE: f64 = 1e-4;
/// Bisections of the time of its last change.
const HALVINGS: i32 = 24;

/// Root steps that a flow takes at least; one that goes on from another with another time step counts from this root step on.
pub(crate) fn earliest<const D: usize>(resolved: &Resolved<D>, begun: u64) -> u64 {
    let (units, physics) = (&resolved.units, &resolved.physics);
    let most = resolved.until.most();
    let end = HORIZON * most as f64;
    let frame = resolved.initial.frame();
    let cells = frame.root_cells.map(f64::from);
    let changes = resolved.params.variations.iter();
    let changed = changes.filter_map(|variation| last_change(variation, cells, end));
    let ramps = ramps(&resolved.case).map(|seconds| seconds / units.time);
    let starts = changed.chain(ramps).fold(begun as f64, f64::max);
    let transit = cells.into_iter().fold(0.0, f64::max) * 3f64.sqrt();
    let length = physics.length / units.length;
    let passes = length / physics.lattice_velocity;
    let diffuses = length * length / resolved.params.viscosity;
    (starts + TRANSITS * transit + passes.min(diffuses)).ceil() as u64
}

/// The ramps that a case gives, in seconds.
pub(crate) fn ramps(case: &Case) -> impl Iterator<Item = f64> {
    let faces = case.boundary.faces();
    let faces = faces.as_flattened().iter();
    let faces: Vec<f64> = faces.filter_map(|face| face.as_ref()?.ramp).collect();
    let patches = case.patches.values().filter_map(|patch| patch.ramp);
    faces.into_iter().chain(patches)
}

/// The time of the last change of a condition, in root steps; none if it still changes towards `end`, as a periodic one
/// does.
fn last_change<const D: usize>(variation: &Variation<D>, cells: [f64; D], end: f64) -> Option<f64> {
    let last = values(variation, cells, end);
    let size = last
        .iter()
        .flatten()
        .flatten()
        .fold(0.0, |most: f64, x| most.max(x.abs()));
    let is_close = |(a, b): (f64, f64)| (a - b).abs() <= CLOSE * size;
    let is_last = |time: f64| {
        let now = values(variation, cells, time);
        last.iter().zip(now).all(|(last, now)| match (last, now) {
            (Some(last), Some(now)) => last.iter().copied().zip(now).all(is_close),
            (last, now) => last.is_none() && now.is_none(),
        })
    };
    let late = |k: i32| end * (0.5 + 0.5 * f64::from(k) / f64::from(TIMES));
    if !(0..TIMES).all(|k| is_last(late(k))) {
        return None;
    }
    let share = (-1.0 / 16.0f64).exp2();
    let times = (0..EARLIER).map(|k| 0.5 * end * share.powi(k));
    let mut after = 0.5 * end;
    for time in times {
        if !is_last(time) {
            let mut before = time;
            for _ in 0..HALVINGS {
                let middle = 0.5 * (before + after);
                match is_last(middle) {
                    true => after = middle,
                    false => before = middle,
                }
            }
            return Some(after);
        }
        after = time;
    }
    Some(0.0)
}

/// A condition at a time, at some places of the box; nothing where it is no number.
fn values<const D: usize>(
    variation: &Variation<D>,
    cells: [f64; D],
    time: f64,
) -> Vec<Option<[f64; D]>> {
    let mut found = vec![variation.time.as_ref().and_then(|of| of(time).ok())];
    if let Space::Moving(of) = &variation.space {
        let of = of(time);
        let place = |k: i32| cells.map(|n| n * (0.1 + 0.2 * f64::from(k)));
        found.extend((0..5).map(|k| of(place(k)).ok()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutlink_solver::{AtTime, Place};
    use std::sync::Arc;

    fn of_time(of: fn(f64) -> f64) -> Variation<2> {
        Variation {
            place: Place::Face(0, 0),
            name: "test".into(),
            key: "test".into(),
            space: Space::Uniform,
            time: Some(Arc::new(move |t| Ok([of(t); 2]))),
        }
    }

    #[test]
    fn the_last_change_of_a_condition_is_found() {
        let change = |of| last_change(&of_time(of), [8.0; 2], 1e6);
        assert_eq!(change(|_| 3.0), Some(0.0), "constant");
        assert_eq!(change(|t| (0.01 * t).sin()), None, "periodic");
        let off = |found: Option<f64>, want: f64| (found.expect("it ends") / want - 1.0).abs();
        // To 1e-4 of its end.
        let decay = change(|t| 1.0 - (-t / 100.0).exp());
        assert!(off(decay, 100.0 * 1e4f64.ln()) < 1e-2, "{decay:?}");
        assert!(
            off(change(|t| (t / 137.0).min(1.0)), 137.0) < 1e-3,
            "a ramp"
        );
        assert!(
            off(change(|t| if t < 5e4 { 0.0 } else { 1.0 }), 5e4) < 1e-3,
            "late"
        );
        let moving = Variation {
            space: Space::Moving(Arc::new(|t: f64| {
                Box::new(move |x: [f64; 2]| Ok([x[1] * (t / 200.0).min(1.0); 2])) as AtTime<2>
            })),
            time: None,
            ..of_time(|_| 1.0)
        };
        assert!(
            off(last_change(&moving, [8.0; 2], 1e6), 200.0) < 1e-3,
            "in space"
        );
    }
}
