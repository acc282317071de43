//! The sine that fits a history best: frequency, amplitude and mean with their errors.
//!
//! The model m + a cos(w t) + b sin(w t), time t from the middle of the history, is fitted to all
//! samples by Gauss-Newton (the four-parameter fit of IEEE Std 1057-2017, annex B), started at the
//! peak of the spectrum, which is well within the half bin where the sum of squares is convex. The
//! errors are those of least squares, s^2 (J'J)^-1 with s^2 the mean square of the residuals, and
//! reach the bound of Rife & Boorstyn (IEEE Trans. Inf. Theory 20 (1974) 591) for white noise.
//! Harmonics and slow drifts are no white noise: they pull the frequency by up to a few times its
//! stated error, which falls with the length of the history like the pull.

use std::f64::consts::TAU;

use super::{Estimate, SignalError, peak};

/// Iterations after which a fit is given up; from a spectral peak it takes three to six.
const ITERATIONS: usize = 30;

/// The best sine of a history.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Oscillation {
    /// Frequency in cycles per unit of time.
    pub frequency: Estimate,
    /// Amplitude, half the distance from trough to crest of the sine.
    pub amplitude: Estimate,
    /// The value that the sine swings about.
    pub mean: Estimate,
    /// Root of the mean square of the history, not of the sine, about that mean.
    pub rms: f64,
    /// Root of the mean square that the sine leaves.
    pub residual: f64,
    /// Cycles in the history.
    pub cycles: f64,
}

/// Fits a sine to a history of samples `interval` apart.
///
/// # Errors
/// All those of [`peak`], and [`SignalError::NoFit`] where the fit leaves the peak.
pub fn oscillation(signal: &[f64], interval: f64) -> Result<Oscillation, SignalError> {
    let start = peak(signal, interval)?;
    let (n, level) = (signal.len() as f64, signal[0]);
    // In units of the amplitude about the first value, so that squares stay in range.
    let scale = start.amplitude;
    let unit: Vec<f64> = signal.iter().map(|x| (x - level) / scale).collect();
    let no_fit = |iterations| SignalError::NoFit {
        frequency: start.frequency.value,
        iterations,
    };
    let mut sine = Sine {
        mean: 0.0,
        cosine: 0.0,
        sine: 0.0,
        cycles: start.cycles,
    };
    for iteration in 1..=ITERATIONS {
        let normal = Normal::new(&unit, &sine);
        let lower = cholesky(normal.matrix).ok_or_else(|| no_fit(iteration))?;
        let step = solve(&lower, normal.gradient);
        let full = sine.step(step);
        let moved = (full.cycles - start.cycles).abs();
        if moved.is_nan() || moved >= 1.0 {
            return Err(no_fit(iteration));
        }
        // The first system knows no amplitude, and so no frequency: its matrix is regularised.
        let done = iteration > 1 && step.iter().all(|s| s.abs() < 1e-11);
        sine = full;
        if done {
            let normal = Normal::new(&unit, &sine);
            let lower = cholesky(normal.matrix).ok_or_else(|| no_fit(iteration))?;
            let told = told(&sine, &normal, &lower, &unit);
            return Ok(Oscillation {
                frequency: told.frequency.scaled(1.0 / (n * interval)),
                amplitude: told.amplitude.scaled(scale),
                mean: Estimate {
                    value: level + scale * told.mean.value,
                    error: scale * told.mean.error,
                },
                rms: scale * told.rms,
                residual: scale * told.residual,
                cycles: told.cycles,
            });
        }
    }
    Err(no_fit(ITERATIONS))
}

/// The errors of a converged sine, frequencies in cycles a history.
fn told(sine: &Sine, normal: &Normal, lower: &[[f64; 4]; 4], unit: &[f64]) -> Oscillation {
    let n = unit.len() as f64;
    let variance = normal.squares / (n - 4.0);
    let amplitude = sine.cosine.hypot(sine.sine);
    // The error of a linear combination g of the parameters: s^2 g' (J'J)^-1 g.
    let error = |g: [f64; 4]| {
        let x = solve(lower, g);
        (variance * (0..4).map(|k| g[k] * x[k]).sum::<f64>()).sqrt()
    };
    let square: f64 = unit.iter().map(|x| (x - sine.mean).powi(2)).sum();
    Oscillation {
        frequency: Estimate {
            value: sine.cycles,
            error: error([0.0, 0.0, 0.0, 1.0]),
        },
        amplitude: Estimate {
            value: amplitude,
            error: error([0.0, sine.cosine / amplitude, sine.sine / amplitude, 0.0]),
        },
        mean: Estimate {
            value: sine.mean,
            error: error([1.0, 0.0, 0.0, 0.0]),
        },
        rms: (square / n).sqrt(),
        residual: (normal.squares / n).sqrt(),
        cycles: sine.cycles,
    }
}

/// Parameters of a sine over a history that lasts from -1/2 to 1/2.
#[derive(Clone, Copy)]
struct Sine {
    mean: f64,
    cosine: f64,
    sine: f64,
    cycles: f64,
}

impl Sine {
    fn step(self, by: [f64; 4]) -> Self {
        Self {
            mean: self.mean + by[0],
            cosine: self.cosine + by[1],
            sine: self.sine + by[2],
            cycles: self.cycles + by[3],
        }
    }
}

/// The normal equations of a sine against a history.
struct Normal {
    /// J'J, in the order mean, cosine, sine, cycles.
    matrix: [[f64; 4]; 4],
    /// J' times the residuals.
    gradient: [f64; 4],
    /// The sum of the squares of the residuals.
    squares: f64,
}

impl Normal {
    fn new(unit: &[f64], at: &Sine) -> Self {
        let n = unit.len() as f64;
        let mut normal = Self {
            matrix: [[0.0; 4]; 4],
            gradient: [0.0; 4],
            squares: 0.0,
        };
        for (i, x) in unit.iter().enumerate() {
            let t = (i as f64 + 0.5) / n - 0.5;
            let (s, c) = (TAU * at.cycles * t).sin_cos();
            let row = [1.0, c, s, TAU * t * (at.sine * c - at.cosine * s)];
            let rest = x - at.mean - at.cosine * c - at.sine * s;
            for a in 0..4 {
                for b in 0..=a {
                    normal.matrix[a][b] += row[a] * row[b];
                }
                normal.gradient[a] += row[a] * rest;
            }
            normal.squares += rest * rest;
        }
        if at.cosine == 0.0 && at.sine == 0.0 {
            normal.matrix[3][3] = n;
        }
        normal
    }
}

/// The lower factor of a symmetric matrix given by its lower half, none if it is singular.
fn cholesky(matrix: [[f64; 4]; 4]) -> Option<[[f64; 4]; 4]> {
    let mut lower = [[0.0; 4]; 4];
    for a in 0..4 {
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
fn solve(lower: &[[f64; 4]; 4], right: [f64; 4]) -> [f64; 4] {
    let mut x = right;
    for a in 0..4 {
        x[a] = (x[a] - (0..a).map(|k| lower[a][k] * x[k]).sum::<f64>()) / lower[a][a];
    }
    for a in (0..4).rev() {
        x[a] = (x[a] - (a + 1..4).map(|k| lower[k][a] * x[k]).sum::<f64>()) / lower[a][a];
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
                assert!((got.mean.value - 1.34).abs() < 1e-10, "{got:?}");
                assert!(got.residual < 1e-9 && got.frequency.error < 1e-9);
            }
        }
    }

    /// Scatter about the truth and stated errors, of many noisy sines, over the Cramer-Rao bounds
    /// 24 s^2 / (A^2 n^3), 2 s^2 / n, s^2 / n of angular frequency, amplitude and mean.
    fn over_bounds(sigma: f64) -> [[f64; 2]; 3] {
        let (n, cycles, runs) = (1000, 31.3, 400);
        let noise = sigma * sigma;
        let bounds = [
            24.0 * noise / 1e9 * (1000.0 / TAU).powi(2),
            2.0 * noise / 1000.0,
            noise / 1000.0,
        ];
        let mut sums = [[0.0; 2]; 3];
        for seed in 0..runs {
            let signal = Noise::new(seed).sine(n, cycles, 0.01 * seed as f64, sigma);
            let got = oscillation(&signal, 1.0 / 1000.0).expect("sine should fit");
            let told = [
                (got.frequency, cycles),
                (got.amplitude, 1.0),
                (got.mean, 0.0),
            ];
            for (sum, (estimate, truth)) in sums.iter_mut().zip(told) {
                sum[0] += (estimate.value - truth).powi(2) / runs as f64;
                sum[1] += estimate.error.powi(2) / runs as f64;
            }
        }
        [0, 1, 2].map(|k| sums[k].map(|s| (s / bounds[k]).sqrt()))
    }

    #[test]
    fn noisy_sines_reach_the_cramer_rao_bound() {
        for sigma in [0.05, 0.5] {
            for [scatter, stated] in over_bounds(sigma) {
                // The scatter of 400 is known to 3.5 %; four sigma.
                assert!((scatter - 1.0).abs() < 0.14, "{sigma}: scatter {scatter}");
                assert!((stated - 1.0).abs() < 0.03, "{sigma}: stated {stated}");
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
        // The slope of the sine in its frequency is not orthogonal to the harmonic, which pulls the
        // frequency a little: within three errors.
        assert!((got.rms - (0.5_f64 + 0.08).sqrt()).abs() < 1e-6, "{got:?}");
        assert!((got.residual - 0.08_f64.sqrt()).abs() < 1e-3, "{got:?}");
        assert!((got.frequency.value - 0.01).abs() < 3.0 * got.frequency.error);
        assert!((got.amplitude.value - 1.0).abs() < got.amplitude.error);
    }

    #[test]
    fn what_has_no_peak_has_no_sine() {
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
        let lower = cholesky(full).expect("positive definite");
        let x = solve(&lower, [1.0, -2.0, 3.0, 0.5]);
        for (row, right) in full.iter().zip([1.0, -2.0, 3.0, 0.5]) {
            let left: f64 = row.iter().zip(x).map(|(m, v)| m * v).sum();
            assert!((left - right).abs() < 1e-13);
        }
        assert!(cholesky([[1.0; 4]; 4]).is_none());
    }
}
