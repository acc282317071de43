//! The best sine fit of a history: frequency, amplitude and mean with their errors.
//!
//! The model m + d t + sum over h = 1, 2, 3 of a_h cos(h w t) + b_h sin(h w t), time t from the middle of the history,
//! is fitted to all samples by Gauss-Newton (the four-parameter fit of IEEE Std 1057-2017, annex B, with a slope, and
//! with the harmonics that the samples resolve, so that neither biases the frequency). It starts at the peak of the
//! spectrum, well within the half bin where the sum of squares is convex.
//!
//! The errors are those of least squares, s^2 (J'J)^-1. The columns of frequency and amplitude are narrow in frequency,
//! so s^2 is the level of the residuals there: the mean of their periodogram at the bins 2 to 5 on either side of the
//! peak. For white noise that is the mean square of the residuals, and the errors reach the bound of Rife & Boorstyn
//! (IEEE Trans. Inf. Theory 20 (1974) 591). For coloured noise, and for a varying amplitude, it includes the sidebands.
//!
//! A phase with a random walk (irregular vortex shedding), or one disturbed by a second tone close by, has most of its
//! power closer to the peak. So the phase is tracked through batches of whole cycles. The frequency of each batch
//! relative to the next is a history with a mean, whose error is that of [`mean`](super::mean) with the first three
//! cosine transforms. If that exceeds the effect of noise, it is the error. The remainder, leakage of higher harmonics
//! and of curved drifts, is below two thousandths of a cycle in the history.

use std::f64::consts::TAU;

use super::{
    Measured, SignalError, check,
    mean::{cosine_error, straightened},
    peak,
};

/// Maximum number of iterations of a fit; from a spectral peak it takes three to six.
const ITERATIONS: usize = 30;

/// Maximum number of parameters: mean, slope, cycles, and two for each harmonic.
const MOST: usize = 9;
/// Index of the frequency among them.
const CYCLES: usize = 2;

/// Half of the two-sided 95 % quantile of Student's t with the 16 degrees of freedom of 8 bins.
const STUDENT: f64 = 0.5 * 2.12;

/// Smallest error, in cycles per history.
const LEAST_ERROR: f64 = 2e-3;

/// Maximum number of batches in which the phase is tracked.
const PHASES: usize = 12;

/// Ratio of the error from the phase, over the square root of the number of batches, to that of the fit, above which
/// the phase gives the error. White noise, for which only the first and last phases matter in the differences, has a
/// ratio of 0.9, and above 2 in a few histories of a hundred.
const WANDERS: f64 = 2.2;

/// Minimum number of samples per cycle of a harmonic.
const SAMPLES_PER_CYCLE: f64 = 4.0;

/// The best sine fit of a history.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Oscillation {
    /// Frequency in cycles per unit of time.
    pub frequency: Measured,
    /// Amplitude, half the distance from trough to crest of the sine.
    pub amplitude: Measured,
    /// The centre of the sine, in the middle of the history.
    pub mean: f64,
    /// RMS of the history, not of the sine, about that mean.
    pub rms: f64,
    /// RMS of the residuals of slope, sine and harmonics.
    pub residual: f64,
    /// Cycles in the history.
    pub cycles: f64,
}

/// Fits a sine to a history of samples `interval` apart.
///
/// # Errors
/// All those of [`peak`], and [`SignalError::NoFit`] if the fit leaves the peak.
pub fn oscillation(signal: &[f64], interval: f64) -> Result<Oscillation, SignalError> {
    check(signal)?;
    let start = peak(&straightened(signal), interval)?;
    let (n, level) = (signal.len() as f64, signal[0]);
    // In units of the amplitude about the first value, so that squares stay in range.
    let scale = start.amplitude;
    let unit: Vec<f64> = signal.iter().map(|x| (x - level) / scale).collect();
    let no_fit = |iterations| SignalError::NoFit {
        frequency: start.frequency.value,
        iterations,
    };
    let mut sine = Sine::new(start.cycles, n);
    for iteration in 1..=ITERATIONS {
        let normal = Normal::new(&unit, &sine);
        let lower = cholesky(&normal.matrix, sine.count).ok_or_else(|| no_fit(iteration))?;
        let step = solve(&lower, normal.gradient, sine.count);
        (0..sine.count).for_each(|k| sine.values[k] += step[k]);
        let moved = (sine.values[CYCLES] - start.cycles).abs();
        if moved.is_nan() || moved >= 1.0 {
            return Err(no_fit(iteration));
        }
        // The first system has zero amplitude, so the frequency is undetermined: its matrix is regularised.
        if iteration > 1 && step.iter().all(|s| s.abs() < 1e-11) {
            let normal = Normal::new(&unit, &sine);
            let lower = cholesky(&normal.matrix, sine.count).ok_or_else(|| no_fit(iteration))?;
            let estimates = estimates(&sine, &lower, &unit);
            return Ok(Oscillation {
                frequency: estimates.frequency.scaled(1.0 / (n * interval)),
                amplitude: estimates.amplitude.scaled(scale),
                mean: level + scale * estimates.mean,
                rms: scale * estimates.rms,
                residual: scale * estimates.residual,
                cycles: estimates.cycles,
            });
        }
    }
    Err(no_fit(ITERATIONS))
}

/// The errors of a converged sine, frequencies in cycles per history.
fn estimates(sine: &Sine, lower: &Matrix, unit: &[f64]) -> Oscillation {
    let n = unit.len() as f64;
    let rest: Vec<f64> = (0..unit.len())
        .map(|i| unit[i] - sine.at((i as f64 + 0.5) / n - 0.5).0)
        .collect();
    let (mean, cycles) = (sine.values[0], sine.values[CYCLES]);
    let variance = spectrum_about(&rest, cycles) * n / (n - sine.count as f64);
    let [cosine, along] = [sine.values[3], sine.values[4]];
    let amplitude = cosine.hypot(along);
    // The error of a linear combination g of the parameters: s^2 g' (J'J)^-1 g.
    let error = |given: &[(usize, f64)]| {
        let mut g = [0.0; MOST];
        given.iter().for_each(|&(k, x)| g[k] = x);
        let x = solve(lower, g, sine.count);
        STUDENT * (variance * (0..sine.count).map(|k| g[k] * x[k]).sum::<f64>()).sqrt()
    };
    let square: f64 = unit.iter().map(|x| (x - mean).powi(2)).sum();
    let by_noise = error(&[(CYCLES, 1.0)]);
    let (wander, batches) = wander(&rest, sine);
    let by_phase = if wander > WANDERS * (batches as f64).sqrt() * by_noise {
        wander
    } else {
        0.0
    };
    Oscillation {
        frequency: Measured {
            value: cycles,
            error: by_noise.max(by_phase).max(LEAST_ERROR),
        },
        amplitude: Measured {
            value: amplitude,
            error: error(&[(3, cosine / amplitude), (4, along / amplitude)]),
        },
        mean,
        rms: (square / n).sqrt(),
        residual: (rest.iter().map(|x| x * x).sum::<f64>() / n).sqrt(),
        cycles,
    }
}

/// The variance of white noise with the same periodogram at 2 to 5 cycles per history on either side of `cycles`.
fn spectrum_about(rest: &[f64], cycles: f64) -> f64 {
    let n = rest.len() as f64;
    let bins = [-5.0, -4.0, -3.0, -2.0, 2.0, 3.0, 4.0, 5.0].map(|d| cycles + d);
    let inside = bins.into_iter().filter(|&bin| bin > 0.5 && bin < 0.5 * n);
    let (mut sum, mut count) = (0.0, 0.0);
    for bin in inside {
        let (mut re, mut im) = (0.0, 0.0);
        for (i, x) in rest.iter().enumerate() {
            let (s, c) = (TAU * bin * ((i as f64 + 0.5) / n - 0.5)).sin_cos();
            (re, im) = (re + x * c, im + x * s);
        }
        sum += (re * re + im * im) / n;
        count += 1.0;
    }
    // With at least 4 cycles and 2.5 samples per cycle, the count is positive.
    sum / count
}

/// The error of the mean frequency, in cycles per history, from the phase in batches of whole cycles; and the number of
/// batches.
fn wander(rest: &[f64], sine: &Sine) -> (f64, usize) {
    let (n, cycles) = (rest.len() as f64, sine.values[CYCLES]);
    let whole = cycles.floor() as usize;
    let each = whole.div_ceil(PHASES);
    let count = whole / each;
    let width = each as f64 / cycles;
    // The sine contributes the same to each batch: the differences are in the residuals.
    let steady = 0.5 * width * n;
    let own = (steady * sine.values[3], -steady * sine.values[4]);
    let mut sums = vec![own; count];
    for (i, x) in rest.iter().enumerate() {
        let t = (i as f64 + 0.5) / n - 0.5;
        let Some(sum) = sums.get_mut(((t + 0.5) / width) as usize) else {
            break;
        };
        let (s, c) = (TAU * cycles * t).sin_cos();
        *sum = (sum.0 + x * c, sum.1 - x * s);
    }
    // Between -1/2 and 1/2 of a cycle: the phase does not jump by more between batches.
    let turn = |a: (f64, f64), b: (f64, f64)| {
        let (re, im) = (b.0 * a.0 + b.1 * a.1, b.1 * a.0 - b.0 * a.1);
        im.atan2(re) / TAU / width
    };
    let turns: Vec<f64> = sums.windows(2).map(|w| turn(w[0], w[1])).collect();
    (cosine_error(&turns), count)
}

/// Parameters of a sine with slope and harmonics over a history that lasts from -1/2 to 1/2: mean, slope,
/// cycles, and the cosine and sine of each harmonic.
#[derive(Clone, Copy)]
struct Sine {
    values: [f64; MOST],
    count: usize,
}

impl Sine {
    /// A sine of zero amplitude with a frequency, and the harmonics that `n` samples resolve.
    fn new(cycles: f64, n: f64) -> Self {
        let resolved = |h: f64| n / (h * cycles) >= SAMPLES_PER_CYCLE;
        let harmonics = 1 + [2.0, 3.0].iter().filter(|&&h| resolved(h)).count();
        let mut values = [0.0; MOST];
        values[CYCLES] = cycles;
        Self {
            values,
            count: 3 + 2 * harmonics,
        }
    }

    /// The value at a time, and its derivatives with respect to the parameters.
    fn at(&self, t: f64) -> (f64, [f64; MOST]) {
        let mut value = self.values[0] + self.values[1] * t;
        let mut row = [0.0; MOST];
        (row[0], row[1]) = (1.0, t);
        for k in (3..self.count).step_by(2) {
            let h = ((k - 1) / 2) as f64;
            let (s, c) = (TAU * h * self.values[CYCLES] * t).sin_cos();
            let [a, b] = [self.values[k], self.values[k + 1]];
            value += a * c + b * s;
            (row[k], row[k + 1]) = (c, s);
            row[CYCLES] += TAU * h * t * (b * c - a * s);
        }
        (value, row)
    }
}

type Matrix = [[f64; MOST]; MOST];

/// The normal equations of a sine against a history.
struct Normal {
    /// J'J.
    matrix: Matrix,
    /// J' times the residuals.
    gradient: [f64; MOST],
}

impl Normal {
    fn new(unit: &[f64], at: &Sine) -> Self {
        let n = unit.len() as f64;
        let mut normal = Self {
            matrix: [[0.0; MOST]; MOST],
            gradient: [0.0; MOST],
        };
        for (i, x) in unit.iter().enumerate() {
            let (value, row) = at.at((i as f64 + 0.5) / n - 0.5);
            for a in 0..at.count {
                for b in 0..=a {
                    normal.matrix[a][b] += row[a] * row[b];
                }
                normal.gradient[a] += row[a] * (x - value);
            }
        }
        if at.values[3..].iter().all(|&x| x == 0.0) {
            normal.matrix[CYCLES][CYCLES] = n;
        }
        normal
    }
}

/// The Cholesky factor of the leading part of a symmetric matrix given by its lower half; none if it is singular.
fn cholesky(matrix: &Matrix, count: usize) -> Option<Matrix> {
    let mut lower = [[0.0; MOST]; MOST];
    for a in 0..count {
        for b in 0..=a {
            let rest = matrix[a][b] - (0..b).map(|k| lower[a][k] * lower[b][k]).sum::<f64>();
            if a == b {
                if rest.is_nan() || rest <= 1e-12 * matrix[a][a] {
                    return None;
                }
                lower[a][a] = rest.sqrt();
            } else {
                lower[a][b] = rest / lower[b][b];
            }
        }
    }
    Some(lower)
}

/// Solves L L' x = right.
fn solve(lower: &Matrix, right: [f64; MOST], count: usize) -> [f64; MOST] {
    let mut x = right;
    for a in 0..count {
        x[a] = (x[a] - (0..a).map(|k| lower[a][k] * x[k]).sum::<f64>()) / lower[a][a];
    }
    for a in (0..count).rev() {
        x[a] = (x[a] - (a + 1..count).map(|k| lower[k][a] * x[k]).sum::<f64>()) / lower[a][a];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::super::noise::Noise;
    use super::*;

    #[test]
    fn pure_sines_are_recovered_to_rounding() {
        for n in [64, 100, 257, 1000] {
            for step in 0..40 {
                let cycles = 4.1 + 0.21 * f64::from(step);
                let signal: Vec<f64> = Noise::new(0)
                    .sine(n, cycles, 0.4 * f64::from(step), 0.0)
                    .iter()
                    .map(|x| 1.34 + 0.33 * x)
                    .collect();
                let got = oscillation(&signal, 0.25).expect("sine should fit");
                let frequency = cycles / (0.25 * n as f64);
                assert!((got.frequency.value / frequency - 1.0).abs() < 1e-10);
                assert!((got.amplitude.value - 0.33).abs() < 1e-10, "{got:?}");
                assert!((got.mean - 1.34).abs() < 1e-10, "{got:?}");
                assert!(got.residual < 1e-9 && got.frequency.error <= 1.1 * LEAST_ERROR);
            }
        }
    }

    /// Scatter about the truth and median stated error of many fits to noisy sines, relative to the Cramér-Rao bounds
    /// of Rife & Boorstyn, whose squares are 24 s^2 / (A^2 n^3) and 2 s^2 / n for angular frequency and amplitude.
    fn over_bounds(sigma: f64) -> [[f64; 2]; 2] {
        let (n, cycles, runs) = (1000, 31.3, 400);
        let noise = sigma * sigma;
        let bounds = [
            24.0 * noise / 1e9 * (1000.0 / TAU).powi(2),
            2.0 * noise / 1000.0,
        ];
        let mut squares = [0.0; 2];
        let mut errors = [vec![], vec![]];
        for seed in 0..runs {
            let signal = Noise::new(seed).sine(n, cycles, 0.01 * seed as f64, sigma);
            let got = oscillation(&signal, 1.0 / 1000.0).expect("sine should fit");
            let estimates = [(got.frequency, cycles), (got.amplitude, 1.0)];
            for (k, (estimate, truth)) in estimates.into_iter().enumerate() {
                squares[k] += (estimate.value - truth).powi(2) / runs as f64;
                errors[k].push(estimate.error);
            }
        }
        [0, 1].map(|k| {
            errors[k].sort_by(f64::total_cmp);
            [squares[k].sqrt(), errors[k][runs as usize / 2]].map(|x| x / bounds[k].sqrt())
        })
    }

    #[test]
    fn noisy_sines_reach_the_cramer_rao_bound() {
        for sigma in [0.25, 0.5] {
            for [scatter, stated] in over_bounds(sigma) {
                // The scatter of 400 fits has an error of 3.5 %; four sigma. The stated error is larger by Student's t,
                // and slightly by harmonics and slope.
                assert!((scatter - 1.0).abs() < 0.14, "{sigma}: scatter {scatter}");
                assert!(
                    (stated / STUDENT - 1.0).abs() < 0.1,
                    "{sigma}: stated {stated}"
                );
            }
        }
    }

    #[test]
    fn rms_is_of_the_history_and_residual_of_what_the_sine_leaves() {
        let signal: Vec<f64> = (0..2000)
            .map(|i| {
                let t = TAU * f64::from(i) / 100.0;
                2.0 + t.sin() + 0.4 * (2.0 * t).sin()
            })
            .collect();
        let got = oscillation(&signal, 1.0).expect("periodic should fit");
        assert!((got.rms - (0.5_f64 + 0.08).sqrt()).abs() < 1e-6, "{got:?}");
        assert!(got.residual < 1e-9, "harmonics are fitted: {got:?}");
        assert!((got.frequency.value - 0.01).abs() < 1e-9, "{got:?}");
        assert!((got.amplitude.value - 1.0).abs() < 1e-9, "{got:?}");
    }

    /// Number of 100 histories within one error, two errors and two halved errors; histories without a fit do not
    /// count.
    fn covered(cycles: f64, make: &dyn Fn(&mut Noise, f64) -> Vec<f64>) -> [u64; 4] {
        let mut counts = [0; 4];
        for seed in 0..100 {
            let signal = make(&mut Noise::new(seed), TAU * 0.618 * seed as f64);
            let Ok(got) = oscillation(&signal, 1.0 / signal.len() as f64) else {
                continue;
            };
            let off = (got.frequency.value - cycles).abs();
            for (count, errors) in counts.iter_mut().zip([1.0, 2.0, 2.0 * 0.5]) {
                *count += u64::from(off <= errors * got.frequency.error);
            }
            counts[3] += 1;
        }
        counts
    }

    #[test]
    fn errors_of_frequencies_cover_the_truth_as_often_as_they_say_and_halves_do_not() {
        const N: usize = 1000;
        let (mut sums, mut fewest) = ([0; 4], 100);
        for cycles in [4.4, 6.6, 12.2, 40.0] {
            for (phi, sigma) in [(0.0, 0.3), (0.9, 0.1), (0.97, 0.05)] {
                let [_, two, halved, all] = covered(cycles, &|noise, phase| {
                    let around = noise.autoregressive(N, phi);
                    let sine = |i: usize| (TAU * cycles * i as f64 / N as f64 + phase).sin();
                    (0..N).map(|i| sine(i) + sigma * around[i]).collect()
                });
                assert!(all >= 90 && 100 * two >= 87 * all, "{cycles} {phi}: {two}");
                (0..4).for_each(|k| sums[k] += [0, two, halved, all][k]);
                fewest = fewest.min(100 * halved / all);
            }
        }
        // 95 % of about 1200, minus four sigma; a halved error fails the same tests.
        let share = |k: usize| sums[k] as f64 / sums[3] as f64;
        assert!((0.925..0.985).contains(&share(1)), "{}", share(1));
        assert!(share(2) < 0.85 && fewest < 87, "{}", share(2));
    }

    #[test]
    fn errors_of_frequencies_stand_harmonics_drifts_growth_beats_and_wandering_phases() {
        const N: usize = 1000;
        for cycles in [4.4, 6.6, 12.2, 40.0] {
            type Wave = fn(f64, f64) -> f64;
            let waves: [(&str, Wave); 4] = [
                ("harmonics", |p, _| {
                    p.sin()
                        + 0.3 * (2.0 * p).sin()
                        + 0.1 * (3.0 * p + 1.0).cos()
                        + 0.05 * (4.0 * p).sin()
                }),
                ("decay", |p, t| p.sin() + 0.3 * (-3.0 * t).exp()),
                ("slope", |p, t| p.sin() + 0.5 * t),
                ("growth", |p, t| p.sin() * (1.0 + 0.5 * t)),
            ];
            for (what, wave) in waves {
                let [_, two, _, all] = covered(cycles, &|_, phase| {
                    let time = |i: usize| i as f64 / N as f64;
                    let at = |t: f64| wave(TAU * cycles * t + phase, t);
                    (0..N).map(|i| at(time(i))).collect()
                });
                assert!(all == 100 && two >= 90, "{what} {cycles}: {two} of {all}");
            }
            let [_, two, _, all] = covered(cycles, &|noise, phase| {
                let mut phase = phase;
                let mut next = || {
                    phase += TAU * cycles / N as f64 + 0.01 * noise.normal();
                    phase.sin()
                };
                (0..N).map(|_| next()).collect()
            });
            // Few differences of a random walk are independent; with the sidebands alone it would be 15.
            assert!(100 * two >= 70 * all, "wandering {cycles}: {two} of {all}");
        }
        for (first, second) in [(12.2, 14.8), (40.0, 48.4), (20.0, 21.0)] {
            let [_, two, _, all] = covered(first, &|_, phase| {
                let wave = |t: f64| {
                    (TAU * first * t + phase).sin() + 0.3 * (TAU * second * t + 2.3 * phase).sin()
                };
                (0..N).map(|i| wave(i as f64 / N as f64)).collect()
            });
            assert!(100 * two >= 90 * all, "beat {first}: {two} of {all}");
        }
    }

    #[test]
    fn without_a_peak_there_is_no_sine_fit() {
        let noise = Noise::new(5).autoregressive(500, 0.0);
        let got = oscillation(&noise, 1.0);
        assert!(matches!(got, Err(SignalError::NoPeak { .. })), "{got:?}");
        let few = Noise::new(5).sine(500, 2.5, 0.0, 0.01);
        let got = oscillation(&few, 1.0);
        assert!(matches!(got, Err(SignalError::FewCycles { .. })), "{got:?}");
    }

    #[test]
    fn factor_of_a_matrix_solves_its_system() {
        let full = [
            [4.0, 1.0, 0.5, -0.2],
            [1.0, 3.0, -0.7, 0.1],
            [0.5, -0.7, 5.0, 0.9],
            [-0.2, 0.1, 0.9, 2.0],
        ];
        let right = [1.0, -2.0, 3.0, 0.5];
        let mut matrix = [[0.0; MOST]; MOST];
        let mut padded = [0.0; MOST];
        for a in 0..4 {
            matrix[a][..4].copy_from_slice(&full[a]);
            padded[a] = right[a];
        }
        let lower = cholesky(&matrix, 4).expect("positive definite");
        let x = solve(&lower, padded, 4);
        for (row, right) in full.iter().zip(right) {
            let left: f64 = row.iter().zip(x).map(|(m, v)| m * v).sum();
            assert!((left - right).abs() < 1e-13);
        }
        assert!(cholesky(&[[1.0; MOST]; MOST], 4).is_none());
    }
}
