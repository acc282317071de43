//! Statistics of a history of forces over the second half of the run: means over whole periods with errors,
//! stationarity, shedding.
//!
//! A history is not stationary if a mean drifts ([`cutlink_signal::mean`]) or the oscillation about it does: then the error
//! includes the drift, and the verdict reports it. It also reports a run that was too short to detect a drift. A mean has no
//! error where the oscillation about it still grows, where the drag swings by more than itself, and where the lift is
//! locked to sound: then no later part of the run need be like this one.

mod shown;

use crate::history::{ForcePart, History, NAMES};
use cutlink_signal::Measured;
use serde_json::{Map, Value, json};
use std::fmt;

/// Minimum amplitude of an oscillating lift, as a share of the mean drag: below it are the effects of rounding in a
/// symmetric flow.
const LEAST_SWING: f64 = 1e-4;
/// Minimum ratio of the amplitude in the last quarter to that in the quarter before: below it, the oscillation is a
/// decaying transient.
const LEAST_PERSISTENCE: f64 = 0.5;

/// Strouhal numbers of vortex shedding are far below; higher ones are acoustic modes of the box.
const LARGEST_STROUHAL: f64 = 1.0;

/// Minimum duration of the second half of a run in convective times (length / velocity): in a shorter one the flow does
/// not pass its own wake, and the absence of a drift proves nothing.
const MIN_CONVECTIVE_TIMES: f64 = 10.0;

/// Relevant drift over the second half, as a share of the mean itself or of the drag.
const DRIFT: f64 = 1e-3;
const DRIFT_OF_DRAG: f64 = 1e-4;

/// Relevant change of the variance over the second half, as a share of it, if its square root is above this share of
/// the drag.
const SWELL: f64 = 0.25;
const SWELL_ABOVE: f64 = 1e-3;

/// Growth of the spread from one quarter to the next above which an oscillation has no mean yet.
pub const GROWTH: f64 = 1.5;
/// Share of a torque below which a force is what is left of forces that cancel.
const TORQUE: f64 = 0.01;
/// Spread below which a quarter is at rest, as a share of the largest value.
const AT_REST: f64 = 1e-6;
/// Mean force below which a force swings about zero by its nature, as a share of the swing.
const CENTRED: f64 = 0.05;

/// A mean over the second half.
#[derive(Debug, Clone, PartialEq)]
struct Mean {
    value: f64,
    /// None, with the reason, if the history is too short, or its oscillation has no mean.
    error: Option<f64>,
    why: String,
    /// Whether the history allows estimates.
    is_known: bool,
    /// Rise of the regression line over the second half.
    drift: f64,
    is_stationary: bool,
    /// If the run was too short to detect a drift: the possible drift.
    possible_drift: Option<f64>,
    periods: Option<usize>,
}

impl Mean {
    /// The mean of a history; drifts are compared with `drag`, and the second half lasts `convective_times` times
    /// length over velocity.
    fn new(values: &[f64], drag: f64, convective_times: f64) -> Self {
        let half = &values[values.len() / 2..];
        match cutlink_signal::mean(half) {
            Ok(got) => {
                let matters = matters(got.mean.value, drag);
                let drift = got.drift.value;
                let drifts = got.drifts && drift.abs() > matters;
                let most = drift.abs() + 2.0 * got.drift.error;
                let possible_drift =
                    (!drifts && convective_times < MIN_CONVECTIVE_TIMES && most > matters)
                        .then_some(most);
                let error = match possible_drift {
                    Some(_) => got.mean.error.hypot(drift.abs() + got.drift.error),
                    None => got.mean.error,
                };
                let grown = grown([values], SWELL_ABOVE * drag.max(got.mean.value.abs()));
                let grown = grown.filter(|&times| times > GROWTH);
                Self {
                    value: got.mean.value,
                    error: Some(error).filter(|_| grown.is_none()),
                    why: grown.map_or(String::new(), |times| {
                        format!("the oscillation has grown {times:.1} times over the last quarter")
                    }),
                    is_known: true,
                    drift,
                    is_stationary: !drifts && possible_drift.is_none(),
                    possible_drift,
                    periods: got.periods,
                }
            }
            Err(e) => Self {
                value: half.iter().sum::<f64>() / half.len().max(1) as f64,
                error: None,
                why: e.to_string(),
                is_known: false,
                drift: 0.0,
                is_stationary: false,
                possible_drift: None,
                periods: None,
            },
        }
    }

    /// Takes the error away.
    fn forget_error(&mut self, why: &str) {
        if self.error.take().is_some() {
            why.clone_into(&mut self.why);
        }
    }

    fn to_json(&self) -> Value {
        if !self.is_known {
            return json!({ "mean": self.value, "error": null, "why": self.why });
        }
        let mut object = json!({
            "mean": self.value,
            "error": self.error,
            "stationary": self.is_stationary,
            "drift": self.drift,
            "periods": self.periods,
        });
        if self.error.is_none() {
            object["why"] = self.why.clone().into();
        }
        object
    }

    fn to_text(&self) -> String {
        match self.error {
            Some(error) => format!("{:.5} ± {error:.1e}", self.value),
            None => format!("{:.5}", self.value),
        }
    }
}

/// Vortex shedding frequencies, as Strouhal numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shedding {
    /// From the best sine fit of the lift.
    pub fit: Measured,
    /// From the highest peak of its spectrum.
    pub spectrum: Measured,
    /// Amplitude of the lift coefficient.
    pub amplitude: Measured,
    /// Number of observed cycles.
    pub cycles: f64,
}

/// Statistics of a history.
pub struct Statistics<'a, const D: usize> {
    history: &'a History<D>,
    /// By part and coefficient.
    means: Vec<[Mean; 6]>,
    total: [Mean; 6],
    shedding: Option<Shedding>,
    /// Why it is not stationary.
    unsteady: Vec<String>,
    /// The largest of these changes, over the size of the force.
    change: f64,
}

impl<const D: usize> fmt::Debug for Statistics<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Statistics");
        shown.field("total", &self.total).finish_non_exhaustive()
    }
}

impl<'a, const D: usize> Statistics<'a, D> {
    /// Of the second half of the samples.
    pub fn new(history: &'a History<D>) -> Self {
        let samples = history.steps.len();
        let convective_times = (samples - samples / 2) as f64 * history.interval();
        let drag = Mean::new(&history.total[0], 0.0, convective_times)
            .value
            .abs();
        let of = |values: &[Vec<f64>; 6]| {
            [0, 1, 2, 3, 4, 5].map(|c| Mean::new(&values[c], drag, convective_times))
        };
        let total = of(&history.total);
        let means = |part: &ForcePart| of(&part.values);
        let shedding = shedding(&history.total[1], history.interval(), drag);
        let mut statistics = Self {
            history,
            means: history.parts.iter().map(means).collect(),
            total,
            shedding,
            unsteady: Vec::new(),
            change: 0.0,
        };
        if let Some(swing) = statistics.swing().filter(|&swing| swing > 1.0) {
            statistics.forget_errors(
                0..1,
                &format!("the drag swings by {swing:.1} times the force"),
            );
        }
        for c in 0..D {
            statistics.look_at(c, drag);
        }
        if statistics
            .total
            .iter()
            .take(D)
            .any(|mean| mean.possible_drift.is_some())
        {
            statistics.unsteady.push(format!(
                "the second half lasts {convective_times:.1} length/velocity, {MIN_CONVECTIVE_TIMES} are needed \
                 to detect a drift"
            ));
        }
        statistics
    }

    /// Records why a coefficient of all patches together is not stationary.
    fn look_at(&mut self, c: usize, drag: f64) {
        let (mean, name) = (&self.total[c], NAMES[c]);
        if let Some(most) = mean.possible_drift {
            let why = format!("{name} may drift by up to {most:.1e} over the second half");
            self.unsteady.push(why);
            self.change = self.change.max(most / self.scale(c));
        } else if mean.is_known && !mean.is_stationary {
            let half = if mean.drift < 0.0 { "falls" } else { "rises" };
            self.unsteady.push(format!(
                "{name} still {half}, by {:.2e} over the second half",
                mean.drift.abs()
            ));
            self.change = self.change.max(mean.drift.abs() / self.scale(c));
        }
        let mean = &self.total[c];
        let values = &self.history.total[c];
        let squares: Vec<f64> = values[values.len() / 2..]
            .iter()
            .map(|x| (x - mean.value).powi(2))
            .collect();
        if let Ok(variance) = cutlink_signal::mean(&squares)
            && variance.drifts
            && variance.mean.value.max(0.0).sqrt() > SWELL_ABOVE * drag
            && variance.drift.value.abs() > SWELL * variance.mean.value
        {
            let how = if variance.drift.value < 0.0 {
                "decays"
            } else {
                "grows"
            };
            let share = variance.drift.value.abs() / variance.mean.value;
            let by = if share < 1.0 {
                format!("by {:.0} %", 100.0 * share)
            } else {
                "by more than its mean".to_owned()
            };
            self.unsteady.push(format!(
                "the oscillation of {name} still {how}: its variance changes {by} over the second half"
            ));
            let spread = variance.mean.value.max(0.0).sqrt();
            self.change = self.change.max(0.5 * share * spread / self.scale(c));
        }
    }

    /// Whether the history allows estimates.
    fn is_known(&self) -> bool {
        !self.is_empty() && self.total[0].is_known
    }

    /// Takes the errors of some coefficients away.
    fn forget_errors(&mut self, coefficients: std::ops::Range<usize>, why: &str) {
        let means = self.means.iter_mut().chain([&mut self.total]);
        for mean in means.flat_map(|means| &mut means[coefficients.clone()]) {
            mean.forget_error(why);
        }
    }

    /// Takes all errors away: the lift is locked to sound.
    pub fn is_locked(&mut self) {
        self.forget_errors(
            0..6,
            "the lift swings with sound between the sides of the box",
        );
    }

    /// The lift's line, as a Strouhal number, if it oscillates.
    pub fn line(&self) -> Option<f64> {
        self.shedding.map(|shedding| shedding.fit.value)
    }

    /// The spread of all forces in the last quarter over that in the quarter before; none if it is below 0.1 % of the drag,
    /// or nothing moved before.
    pub fn growth(&self) -> Option<f64> {
        let [drag, lift, side, ..] = &self.history.total;
        grown([drag, lift, side], SWELL_ABOVE * self.total[0].value.abs())
    }

    /// Largest less smallest drag of the last quarter over the mean force; none for a force that swings about zero.
    pub fn swing(&self) -> Option<f64> {
        let [drag, lift, side, ..] = &self.history.total;
        let quarter = |values: &'a [f64]| &values[values.len() - values.len() / 4..];
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let last = quarter(drag);
        let most = last.iter().copied().max_by(f64::total_cmp)?;
        let least = last.iter().copied().min_by(f64::total_cmp)?;
        let force = [drag, lift, side].map(|values| mean(quarter(values)).powi(2));
        let (swing, force) = (most - least, force.iter().sum::<f64>().sqrt());
        (force > CENTRED * swing).then(|| swing / force)
    }

    /// What a change of a coefficient is compared with: its mean or the drag, or a hundredth of a torque that has no force.
    fn scale(&self, c: usize) -> f64 {
        let torques = self.total[3..].iter().map(|mean| TORQUE * mean.value.abs());
        let forces = [self.total[c].value.abs(), self.total[0].value.abs()];
        let largest = torques.chain(forces).fold(0.0, f64::max);
        largest.max(f64::MIN_POSITIVE)
    }

    /// The largest change over the second half, of a mean or of the spread about it, over the size of the force, and what
    /// changes; none without forces.
    pub fn change(&self) -> Option<(f64, &[String])> {
        self.is_known().then_some((self.change, &self.unsteady))
    }

    fn is_empty(&self) -> bool {
        self.history.steps.is_empty()
    }

    /// Coefficients of each patch and group.
    pub fn summary(&self) -> Value {
        if self.is_empty() {
            return Value::Null;
        }
        let of = |(part, means): (&ForcePart, &[Mean; 6])| {
            let each = NAMES.iter().zip(means);
            let means: Map<_, _> = each
                .map(|(name, mean)| ((*name).to_owned(), mean.to_json()))
                .collect();
            (part.name.clone(), Value::Object(means))
        };
        Value::Object(self.history.parts.iter().zip(&self.means).map(of).collect())
    }

    /// Whether the forces are stationary, and if not, why; null without forces.
    pub fn stationary(&self) -> Value {
        if !self.is_known() {
            return Value::Null;
        }
        json!({ "is": self.unsteady.is_empty(), "why_not": self.unsteady })
    }

    /// Frequencies of vortex shedding, for `summary.json`.
    pub fn strouhal(&self) -> Value {
        let of = |s: Shedding| {
            json!({
                "fit": { "value": s.fit.value, "error": s.fit.error },
                "spectrum": { "value": s.spectrum.value, "error": s.spectrum.error },
                "amplitude": { "value": s.amplitude.value, "error": s.amplitude.error },
                "cycles": s.cycles,
            })
        };
        self.shedding.map_or(Value::Null, of)
    }
}

/// The drift that matters for a mean.
fn matters(mean: f64, drag: f64) -> f64 {
    (DRIFT * mean.abs()).max(DRIFT_OF_DRAG * drag)
}

/// The spread of histories together in the last quarter over that in the quarter before; none if it is not above `least`,
/// or nothing moved before.
fn grown<const N: usize>(histories: [&[f64]; N], least: f64) -> Option<f64> {
    let spread = |k: usize| {
        let of = |values: &[f64]| {
            let n = values.len();
            let part = &values[n * k / 4..n * (k + 1) / 4];
            let mean = part.iter().sum::<f64>() / part.len().max(1) as f64;
            let square = |x: &f64| (x - mean).powi(2);
            part.iter().map(square).sum::<f64>() / part.len().max(1) as f64
        };
        histories.map(of).iter().sum::<f64>().sqrt()
    };
    let (before, now) = (spread(2), spread(3));
    let sizes = histories.iter().flat_map(|values| values.iter());
    let largest = sizes.fold(0.0, |most: f64, x| most.max(x.abs()));
    (now > least && before > AT_REST * largest).then(|| now / before)
}

/// The Strouhal numbers, if the lift of all patches together oscillates.
fn shedding(lift: &[f64], interval: f64, drag: f64) -> Option<Shedding> {
    let half = &lift[lift.len() / 2..];
    let fit = cutlink_signal::oscillation(half, interval).ok()?;
    let peak = cutlink_signal::peak(half, interval).ok()?;
    let variance = |part: &[f64]| {
        let square = |x: &f64| (x - fit.mean).powi(2);
        (part.iter().map(square).sum::<f64>() / part.len() as f64).sqrt()
    };
    let (before, last) = half.split_at(half.len() / 2);
    let oscillates = fit.frequency.value < LARGEST_STROUHAL
        && fit.amplitude.value > LEAST_SWING * drag
        && variance(last) > LEAST_PERSISTENCE * variance(before);
    // If the frequency drifts, the two methods weight its values differently: then neither is more accurate than their
    // difference.
    let apart = 0.5 * (fit.frequency.value - peak.frequency.value).abs();
    // A random walk of the phase shifts both alike, and only the fit detects it.
    let error = fit.frequency.error.max(apart);
    let of = |value: f64, error: f64| Measured { value, error };
    let spectrum = of(peak.frequency.value, peak.frequency.error.max(error));
    oscillates.then_some(Shedding {
        fit: of(fit.frequency.value, error),
        spectrum,
        amplitude: fit.amplitude,
        cycles: fit.cycles,
    })
}

#[cfg(test)]
mod tests {
    use super::super::history::tests::{history, with_drag};
    use super::*;
    use std::f64::consts::TAU;

    fn of(history: History<2>) -> Option<Shedding> {
        Statistics::new(&history).shedding
    }

    #[test]
    fn a_strouhal_number_needs_an_oscillating_lift() {
        // 0.4 cycles per second; length over velocity is 0.5 s.
        let swings = history(|t| 0.3 * (TAU * 0.4 * t).sin() * (1.0 - (-t / 5.0).exp()));
        let statistics = Statistics::new(&swings);
        let found = statistics.shedding.expect("it oscillates");
        for (what, estimate) in [("fit", found.fit), ("spectrum", found.spectrum)] {
            let off = (estimate.value - 0.2).abs();
            assert!(
                off < 1e-3 && off < 5.0 * estimate.error + 1e-6,
                "{what}: {estimate:?}"
            );
        }
        assert!((found.amplitude.value - 0.3).abs() < 1e-3, "{found:?}");
        assert!(
            statistics.table(None, &[]).contains("St 0.2000"),
            "{}",
            statistics.table(None, &[])
        );
        assert!(statistics.plot().is_some(), "a plot");
        assert_eq!(of(history(|_| 0.1)), None, "constant");
        let rounding = history(|t| 1e-7 * (TAU * 0.4 * t).sin());
        assert_eq!(of(rounding), None, "rounding");
        let sound = history(|t| 0.3 * (TAU * 3.0 * t).sin());
        assert_eq!(of(sound), None, "sound");
        let echo = history(|t| 0.3 * (TAU * 0.4 * t).sin() * (-t / 20.0).exp());
        assert_eq!(of(echo), None, "an echo of the start");
    }

    #[test]
    fn a_drag_that_still_falls_has_an_error_that_includes_its_limit() {
        // 250 s; over the second half, the rest of the transient decays by a factor e in 100 s.
        let falls = with_drag(|t| 1.0 + 0.1 * (-t / 100.0).exp(), |_| 0.0);
        let statistics = Statistics::new(&falls);
        let (change, why) = statistics.change().expect("it is known");
        // 0.1 (exp(-1.25) - exp(-2.5)) of 1.5, by the ends; by a straight line a little less.
        assert!((0.010..0.014).contains(&change), "{change}");
        assert!(why[0].contains("C_D still falls, by"), "{why:?}");
        let total = &statistics.total[0];
        assert!(!total.is_stationary && total.drift < -0.015, "{total:?}");
        let error = total.error.expect("an error");
        assert!((total.value - 1.5).abs() < 2.0 * error, "{total:?}");
        assert_eq!(statistics.stationary()["is"], false);
        assert_eq!(statistics.summary()["all"]["C_D"]["stationary"], false);
        let calm = history(|t| 0.3 * (TAU * 0.4 * t).sin());
        let statistics = Statistics::new(&calm);
        assert_eq!(statistics.change(), Some((0.0, &[][..])));
        assert_eq!(statistics.stationary()["is"], true);
        assert_eq!(
            statistics.summary()["all"]["C_L"]["periods"],
            50,
            "0.4 a second in 125 s"
        );
    }

    #[test]
    fn the_error_of_a_short_run_includes_a_possible_drift() {
        // 4 s of the 250 s, which are 500 times length over velocity: an acoustic oscillation and a slow decay to 1.5.
        let ring = |t: f64| 0.1 * (TAU * 1.7 * t + 1.0).sin() + 0.05 * (TAU * 0.93 * t).sin();
        let short = |samples: usize| {
            let mut history = with_drag(|t| 1.0 + 0.05 * (-t / 3.0).exp() + ring(t), |_| 0.0);
            history.steps.truncate(samples);
            let values = history.parts.iter_mut().flat_map(|part| &mut part.values);
            for values in values.chain(&mut history.total) {
                values.truncate(samples);
            }
            history
        };
        let history = short(160);
        let statistics = Statistics::new(&history);
        let (change, why) = statistics.change().expect("it is known");
        let why = why.join("; ");
        assert!(
            change > 0.01 && why.contains("lasts 4.0 length/velocity"),
            "{change}: {why}"
        );
        let total = &statistics.total[0];
        let error = total.error.expect("an error");
        assert!(
            !total.is_stationary && (total.value - 1.5).abs() < 2.0 * error,
            "{total:?}"
        );
        let history = short(10_000);
        let statistics = Statistics::new(&history);
        assert_eq!(statistics.change(), Some((0.0, &[][..])));
    }

    #[test]
    fn an_oscillation_that_still_grows_is_reported_and_has_no_error() {
        let grows = history(|t| 0.01 * (t / 100.0).exp() * (TAU * 0.4 * t).sin());
        let statistics = Statistics::new(&grows);
        let (_, why) = statistics.change().expect("it is known");
        let why = why.join("; ");
        assert!(why.contains("the oscillation of C_L still grows"), "{why}");
        // By exp(62.5 / 100) from quarter to quarter.
        let growth = statistics.growth().expect("it grows");
        assert!((growth / (0.625f64).exp() - 1.0).abs() < 0.01, "{growth}");
        let of = &statistics.summary()["all"]["C_L"];
        assert!(of["error"].is_null() && of["mean"].is_number(), "{of}");
        let said = of["why"].as_str().expect("a reason");
        assert!(said.contains("has grown 1.9 times"), "{said}");
        // As fast, but saturated before the second half.
        let saturates = history(|t| 0.3 * (t / 100.0 - 1.0).exp().min(1.0) * (TAU * 0.4 * t).sin());
        let statistics = Statistics::new(&saturates);
        let growth = statistics.growth().expect("it swings");
        assert!((growth - 1.0).abs() < 0.01, "{growth}");
        assert!(statistics.summary()["all"]["C_L"]["error"].is_number());
    }

    #[test]
    fn a_drag_that_swings_by_more_than_itself_has_no_error() {
        // A mean of 1.5 + 0.2, and a limit cycle of 2.3 about it, as of sound between an outlet and an inlet.
        let swings = with_drag(|t| 1.2 + 2.3 * (TAU * 0.35 * t).sin(), |_| 0.0);
        let statistics = Statistics::new(&swings);
        let swing = statistics.swing().expect("a swing");
        assert!((swing - 4.6 / 1.7).abs() < 0.01, "{swing}");
        let of = &statistics.summary()["all"]["C_D"];
        assert!(of["error"].is_null() && of["why"].is_string(), "{of}");
        // A lift that swings about zero is what lifts do.
        let lift = history(|t| 1.9 * (TAU * 0.35 * t).sin());
        let statistics = Statistics::new(&lift);
        assert!(statistics.swing().expect("a drag") < 0.1);
        assert!(statistics.summary()["all"]["C_L"]["error"].is_number());
        // A force without a mean has no share of it.
        let centred = with_drag(|t| -0.5 + (TAU * 0.35 * t).sin(), |_| 0.0);
        assert_eq!(Statistics::new(&centred).swing(), None);
    }
}
