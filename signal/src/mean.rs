//! Means of correlated samples with reliable errors, and a test for a drift of the history.
//!
//! **Whole periods.** If the history without its linear trend has a clear oscillation, it is split into batches of
//! whole periods that end with its last sample; otherwise into 64 batches of equal length. The mean is that of the
//! batches, in which only slow correlations remain.
//!
//! **Error.** The variance of a mean is the spectrum at frequency zero over the duration. It is estimated by the mean
//! square of the first eight cosine transforms of the batches, and the error follows from Student's t with as many
//! degrees of freedom (Mueller, J. Econometrics 141 (2007) 1331; Lazarus et al., J. Bus. Econ. Stat. 36 (2018) 541).
//! With few independent samples the spectrum decreases within these eight, and three are used if they give a larger
//! error. An undetected drift increases the first of them. The period has an error, so a part of a period remains in
//! the mean: that is added.
//!
//! **Drift.** The slope of the regression line through the batches is tested at 5 % against the same spectrum of the
//! residuals (a trend test that is robust to autocorrelation; the test of Geweke 1992 compares the two ends in the same
//! way). A history that drifts has no mean: the error then includes the change over the history or, if thirds of the
//! history approach a limit geometrically, the distance to that limit (Aitken), at most five changes. A drift hidden by
//! noise is not detected.

use std::f64::consts::PI;

use super::{Measured, SignalError, check, moments, oscillation};

/// A mean with its error and its basis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanEstimate {
    /// The mean. Plus or minus two errors is a 95 % confidence interval. The error of a history that drifts includes
    /// the drift.
    pub mean: Measured,
    /// Rise of the regression line over the history; plus or minus two errors is a 95 % confidence interval.
    pub drift: Measured,
    /// Whether the drift differs from zero by more than two errors, however small it is.
    pub drifts: bool,
    /// The first sample of the mean.
    pub first: usize,
    /// Number of whole periods in the mean, if there is a clear oscillation.
    pub periods: Option<usize>,
}

/// Number of batches of a history without a clear oscillation, and the maximum with one.
const BATCHES: usize = 64;

/// Number of cosine transforms that estimate the spectrum at zero, and the number for few independent samples.
const COSINES: usize = 8;
const COSINES_OF_FEW: usize = 3;

/// Below this number of independent samples the spectrum decreases within [`COSINES`].
const FEW: f64 = 30.0;

/// Number of samples above which neighbours are averaged first.
const LONG: usize = 8192;

/// Maximum distance of the limit, in changes over the history.
const FARTHEST: f64 = 5.0;

/// Share of a change that few batches cannot tell from noise which the error includes.
const HIDDEN: f64 = 0.5;

/// Half of the two-sided 95 % quantile of Student's t with 1 to 8 degrees of freedom: two errors correspond to 95 %.
fn student(freedom: usize) -> f64 {
    const TWICE: [f64; COSINES] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306];
    0.5 * TWICE[freedom.clamp(1, COSINES) - 1]
}

/// The mean of a history with its error, and its drift. A constant has the error 0.
///
/// # Errors
/// Histories shorter than [`LEAST_SAMPLES`](super::LEAST_SAMPLES) or with values that are not finite.
pub fn mean(signal: &[f64]) -> Result<MeanEstimate, SignalError> {
    check(signal)?;
    let group = if signal.len() > LONG {
        signal.len().div_ceil(LONG)
    } else {
        1
    };
    // If the number is not divisible, the oldest samples are dropped: they are the closest to the transient.
    let skipped = signal.len() % group;
    let of_group = |samples: &[f64]| moments(samples).0;
    let samples: Vec<f64> = signal[skipped..]
        .chunks_exact(group)
        .map(of_group)
        .collect();
    let (level, variance) = moments(&samples);
    if variance == 0.0 {
        return Ok(MeanEstimate {
            mean: Measured {
                value: level,
                error: 0.0,
            },
            drift: Measured {
                value: 0.0,
                error: 0.0,
            },
            drifts: false,
            first: 0,
            periods: None,
        });
    }
    // In units of the standard deviation, so that squares stay in range.
    let scale = variance.sqrt();
    let unit: Vec<f64> = samples.iter().map(|x| (x - level) / scale).collect();
    let (batches, first, periods, leak) = batches(&unit);
    let (shift, rest) = centred(&batches);
    let estimate = BatchError::new(&rest, leak);
    Ok(MeanEstimate {
        mean: Measured {
            value: level + scale * shift,
            error: scale * estimate.error,
        },
        drift: Measured {
            value: scale * estimate.drift.value,
            error: scale * estimate.drift.error,
        },
        drifts: estimate.drifts,
        first: skipped + group * first,
        periods,
    })
}

/// Batch means, the index of the first sample, the number of whole periods, and the part of the oscillation left in the
/// mean.
fn batches(unit: &[f64]) -> (Vec<f64>, usize, Option<usize>, f64) {
    let n = unit.len() as f64;
    let found = oscillation(&straightened(unit), 1.0).ok();
    let (count, width, periods, leak) = match found {
        Some(found) => {
            let (period, whole) = (1.0 / found.frequency.value, found.cycles.floor() as usize);
            let each = whole.div_ceil(BATCHES);
            let leak = found.amplitude.value * found.frequency.error / found.frequency.value;
            let count = whole / each;
            (count, each as f64 * period, Some(count * each), leak)
        }
        None => {
            let count = BATCHES.min(unit.len());
            (count, n / count as f64, None, 0.0)
        }
    };
    let mut sums = Vec::with_capacity(unit.len() + 1);
    let mut sum = 0.0;
    sums.push(sum);
    for x in unit {
        sum += x;
        sums.push(sum);
    }
    let sum_to = |t: f64| {
        let i = (t as usize).min(unit.len() - 1);
        sums[i] + (t - i as f64) * (sums[i + 1] - sums[i])
    };
    let begin = (n - count as f64 * width).max(0.0);
    let edge = |j: usize| sum_to((begin + j as f64 * width).min(n));
    let means = (0..count).map(|j| (edge(j + 1) - edge(j)) / width);
    (means.collect(), begin.ceil() as usize, periods, leak)
}

/// The mean of a history, and the history minus its mean.
fn centred(signal: &[f64]) -> (f64, Vec<f64>) {
    let mean = moments(signal).0;
    (mean, signal.iter().map(|x| x - mean).collect())
}

/// The slope of the regression line of a history, per sample, and the sum of the squared times from the middle.
fn slope(signal: &[f64]) -> (f64, f64) {
    let n = signal.len() as f64;
    let middle = 0.5 * (n - 1.0);
    let squares = n * (n * n - 1.0) / 12.0;
    let sum: f64 = signal
        .iter()
        .enumerate()
        .map(|(i, x)| x * (i as f64 - middle))
        .sum();
    (sum / squares, squares)
}

/// A history minus its regression line.
pub(super) fn straightened(signal: &[f64]) -> Vec<f64> {
    let (_, rest) = centred(signal);
    let (slope, _) = slope(&rest);
    let middle = 0.5 * (rest.len() - 1) as f64;
    rest.iter()
        .enumerate()
        .map(|(i, x)| x - slope * (i as f64 - middle))
        .collect()
}

/// Squares of the cosine transforms 1 to `most` of a history; for independent samples each estimates their variance.
fn cosines(signal: &[f64], most: usize) -> Vec<f64> {
    let n = signal.len() as f64;
    let square = |k: usize| {
        let wave = |i: usize| (PI * k as f64 * (i as f64 + 0.5) / n).cos();
        let sum: f64 = signal.iter().enumerate().map(|(i, x)| x * wave(i)).sum();
        2.0 / n * sum * sum
    };
    (1..=most).map(square).collect()
}

/// The error of the mean of a few samples (at least three) from their first three cosine transforms.
pub(super) fn cosine_error(samples: &[f64]) -> f64 {
    let (_, rest) = centred(samples);
    let most = COSINES_OF_FEW.min(samples.len() - 1);
    let spectrum = cosines(&rest, most).iter().sum::<f64>() / most as f64;
    (spectrum / samples.len() as f64).sqrt() * student(most)
}

/// The error of the mean from the batches about it.
struct BatchError {
    error: f64,
    drift: Measured,
    drifts: bool,
}

impl BatchError {
    fn new(batches: &[f64], leak: f64) -> Self {
        let count = batches.len() as f64;
        let freedom = (batches.len() - 1).min(COSINES);
        let squares = cosines(batches, freedom);
        let by = |most: usize| squares[..most].iter().sum::<f64>() / most as f64;
        let of = |most: usize| (by(most) / count).sqrt() * student(most);
        let mut error = of(freedom);
        // The samples have variance 1.
        if count / by(freedom) < FEW {
            error = error.max(of(freedom.min(COSINES_OF_FEW)));
        }
        error = error.hypot(leak);

        let (slope, times) = slope(batches);
        let change = slope * count;
        let free = freedom - 1;
        let left = cosines(&straightened(batches), freedom);
        let spectrum = left[1..].iter().sum::<f64>() / free as f64;
        let drift = Measured {
            value: change,
            error: ((spectrum / times).sqrt() * count * student(free)).hypot(leak),
        };
        let drifts = change.abs() > 2.0 * drift.error;
        if drifts {
            error = error.hypot(change.abs().max(to_limit(batches, change)));
        } else if freedom < COSINES {
            // Too few batches to tell a drift from noise: the next history as long may be off by the change.
            error = error.hypot(HIDDEN * change.abs());
        }
        Self {
            error,
            drift,
            drifts,
        }
    }
}

/// The distance of the mean from the limit that the thirds of a history approach; 0 if they do not.
fn to_limit(batches: &[f64], change: f64) -> f64 {
    let third = batches.len() / 3;
    let of = |k: usize| moments(&batches[batches.len() - (3 - k) * third..][..third]).0;
    let [a, b, c] = [of(0), of(1), of(2)];
    let quotient = (c - b) / (b - a);
    if quotient > 0.0 && quotient < 1.0 {
        let limit = c + (c - b) * quotient / (1.0 - quotient);
        limit.abs().min(FARTHEST * change.abs())
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::noise::Noise;
    use super::*;
    use std::f64::consts::TAU;

    const N: usize = 1000;
    const RUNS: u64 = 100;

    /// Estimates of many histories of one kind.
    #[derive(Debug, Default)]
    struct Count {
        /// Number of the [`RUNS`] within one error, two errors, and two halved errors.
        one: u64,
        two: u64,
        halved: u64,
        drifts: u64,
    }

    fn count(truth: f64, make: &dyn Fn(&mut Noise, f64) -> Vec<f64>) -> Count {
        let mut count = Count::default();
        for seed in 0..RUNS {
            let mut noise = Noise::new(seed);
            let phase = TAU * 0.618 * seed as f64;
            let got = mean(&make(&mut noise, phase)).expect("a history should do");
            let off = (got.mean.value - truth).abs();
            let within = |errors: f64| u64::from(off <= errors * got.mean.error);
            count.one += within(1.0);
            count.two += within(2.0);
            count.halved += within(2.0 * 0.5);
            count.drifts += u64::from(got.drifts);
        }
        count
    }

    fn times() -> impl Iterator<Item = f64> {
        (0..N).map(|i| (i as f64 + 0.5) / N as f64)
    }

    /// With 100 trials of probability 0.95, 88 or fewer successes have a probability of 1/300.
    const LEAST: u64 = 89;

    #[test]
    fn errors_of_noise_cover_the_truth_as_often_as_they_say_and_halves_do_not() {
        let (mut total, mut halved, mut kinds) = (0, 0, 0);
        for phi in [0.0, 0.5, 0.9, 0.97] {
            let got = count(0.0, &|noise, _| noise.autoregressive(N, phi));
            assert!(got.two >= LEAST, "{phi}: {got:?}");
            assert!((60..=88).contains(&got.one), "{phi}: {got:?}");
            assert!(got.drifts <= 14, "{phi}: {got:?}");
            (total, halved, kinds) = (total + got.two, halved + got.halved, kinds + 1);
        }
        for (cycles, sigma) in [(4.4, 0.3), (6.5, 0.3), (12.3, 0.1), (50.7, 1.0)] {
            let got = count(3.0, &|noise, phase| {
                let signal = noise.sine(N, cycles, phase, sigma);
                signal.iter().map(|x| 3.0 + x).collect()
            });
            assert!(got.two >= LEAST, "{cycles}: {got:?}");
            assert!(got.drifts <= 14, "{cycles}: {got:?}");
            (total, halved, kinds) = (total + got.two, halved + got.halved, kinds + 1);
        }
        // In total: 95 % of 800, within four sigma; a halved error fails the same test.
        let share = |n: u64| n as f64 / (kinds * RUNS) as f64;
        assert!((share(total) - 0.95).abs() < 0.031, "{}", share(total));
        assert!(share(halved) < 0.95 - 0.031, "{}", share(halved));
        assert!(halved < LEAST * kinds, "the test of each kind sees it too");
    }

    #[test]
    fn errors_of_short_records_and_of_beats_cover_the_truth() {
        for (cycles, sigma) in [(1.3, 0.0), (2.5, 0.1), (3.6, 0.1), (4.4, 0.0), (8.5, 0.0)] {
            let got = count(0.0, &|noise, phase| noise.sine(N, cycles, phase, sigma));
            assert!(got.two >= 95, "{cycles} cycles: {got:?}");
        }
        for (first, second) in [(20.0, 22.3), (20.0, 20.6), (7.0, 9.1), (30.0, 41.0)] {
            let got = count(0.0, &|_, phase| {
                let wave = |t: f64| {
                    (TAU * first * t + phase).sin() + 0.7 * (TAU * second * t + 2.3 * phase).sin()
                };
                times().map(wave).collect()
            });
            assert!(got.two >= 95, "{first} {second}: {got:?}");
        }
    }

    #[test]
    fn drifting_histories_are_detected_and_their_errors_reach_the_limit() {
        let shedding = |t: f64, phase: f64| 0.2 * (TAU * 9.3 * t + phase).sin();
        for rate in [0.5, 1.0, 2.0, 4.0, 8.0] {
            let got = count(1.0, &|noise, phase| {
                let decay = |t: f64| 1.0 + 0.5 * (-rate * t).exp() + shedding(t, phase);
                times().map(|t| decay(t) + 0.01 * noise.normal()).collect()
            });
            assert!(got.drifts == RUNS && got.two >= 95, "decay {rate}: {got:?}");
        }
        // A straight line has no limit: compared with the mean of the next history of the same length.
        for (rise, sigma) in [(0.1, 0.0), (0.1, 0.02), (1.0, 0.3)] {
            let got = count(rise, &|noise, phase| {
                let line = |t: f64| rise * (t - 0.5) + shedding(t, phase);
                times().map(|t| line(t) + sigma * noise.normal()).collect()
            });
            assert!(got.drifts == RUNS && got.two >= 95, "line {rise}: {got:?}");
        }
    }

    /// Histories with correlated noise, shedding and a drift: the mean of another history like the first one, and that of the
    /// same history going on for as long, lie within three errors in 95 of 100 cases. Both have an error of their own, so that
    /// two errors are not enough: 1.96 √2 = 2.8. The drifts are clear of the noise; one that is hidden in it is not detected.
    #[test]
    fn repeated_and_continued_histories_lie_within_three_errors() {
        // Correlation of the noise, its size, cycles in a history, drift in a history.
        let kinds = [
            (0.9, 0.1, 9.3, 0.0),
            (0.97, 0.1, 20.7, 0.0),
            (0.5, 0.05, 5.4, 0.05),
            (0.9, 0.03, 12.6, 0.2),
            (0.0, 0.05, 6.5, -0.4),
        ];
        for (phi, sigma, cycles, drift) in kinds {
            let make = |seed: u64| -> Vec<f64> {
                let mut noise = Noise::new(seed);
                let phase = TAU * 0.618 * seed as f64;
                let rest = noise.autoregressive(2 * N, phi);
                let size = sigma * f64::sqrt(1.0 - phi * phi);
                let at = |(i, e): (usize, f64)| {
                    let t = (i as f64 + 0.5) / N as f64;
                    1.0 + drift * t + 0.3 * (TAU * cycles * t + phase).sin() + size * e
                };
                rest.into_iter().enumerate().map(at).collect()
            };
            let (mut repeated, mut continued, mut thirds) = (0, 0, 0);
            for seed in 0..RUNS {
                let (history, other) = (make(seed), make(seed + RUNS));
                let of = |values: &[f64]| mean(values).expect("a history should do").mean;
                let (first, next) = (of(&history[..N]), of(&history[N..]));
                let within = |found: f64, errors: f64| {
                    u64::from((found - first.value).abs() <= errors * first.error)
                };
                repeated += within(of(&other[..N]).value, 3.0);
                continued += within(next.value, 3.0);
                thirds += within(next.value, 0.3);
            }
            let what = format!("{phi} {sigma} {cycles} {drift}: {repeated}, {continued}, {thirds}");
            assert!(repeated >= LEAST && continued >= LEAST, "{what}");
            assert!(thirds < LEAST, "a tenth of it is too little: {what}");
        }
    }

    #[test]
    fn means_are_over_whole_periods() {
        for phase in [0.0, 1.0, 2.0, 4.0] {
            let signal = |t: f64| 0.7 + (TAU * 5.5 * t + phase).sin();
            let signal: Vec<f64> = times().map(signal).collect();
            let plain = moments(&signal).0;
            let got = mean(&signal).expect("a sine should do");
            assert_eq!(got.periods, Some(5), "{got:?}");
            assert_eq!(got.first, 91, "half a period of 181.8 samples is dropped");
            assert!((got.mean.value - 0.7).abs() < 1e-4, "{got:?}");
            // The plain mean includes the half period.
            assert!(
                phase == 2.0 || (plain - 0.7).abs() > 1e-2,
                "{phase} {plain}"
            );
        }
    }

    #[test]
    fn long_histories_are_cheap_and_give_the_same_mean() {
        let n = 100_003;
        let signal: Vec<f64> = (0..n)
            .map(|i| 2.0 + (TAU * 20.4 * f64::from(i) / f64::from(n)).sin())
            .collect();
        let got = mean(&signal).expect("a sine should do");
        assert_eq!(got.periods, Some(20));
        assert!((got.mean.value - 2.0).abs() < 1e-4, "{got:?}");
        assert!(got.first.abs_diff(n as usize * 4 / 204) < 60, "{got:?}");
    }

    #[test]
    fn constants_have_themselves_as_mean_and_no_error() {
        for value in [0.0, 0.1, -1e149, 1e-300] {
            let got = mean(&[value; 77]).expect("constant should do");
            assert_eq!(got.mean, Measured { value, error: 0.0 });
            assert!(!got.drifts, "{got:?}");
        }
    }

    #[test]
    fn scales_and_offsets_leave_the_error() {
        let signal = Noise::new(3).autoregressive(500, 0.8);
        let plain = mean(&signal).expect("noise should do").mean.error;
        for (offset, scale) in [(5.0, 1.0), (0.0, 1e-100), (0.0, 1e100)] {
            let other: Vec<f64> = signal.iter().map(|x| offset + scale * x).collect();
            let got = mean(&other).expect("noise should do").mean.error / scale;
            assert!((got / plain - 1.0).abs() < 1e-9, "{got} {plain}");
        }
    }
}
