//! Statistics of histories: means with errors, end of the transient, shedding frequencies.
//!
//! In: a history as a slice of `f64`, one value per sample, oldest first, samples `interval` apart in the caller's unit
//! of time. Out: [`Measured`]s, a value with its standard error (one sigma), in the unit of the history, frequencies in
//! cycles per unit of time. The module is independent of flows.
//!
//! | function | result | method |
//! |---|---|---|
//! | [`mean`] | mean over whole periods, its error, its drift | cosine transforms of batches, Student's t |
//! | [`settled`] | the first sample after the transient | quarters of the tail compared |
//! | [`peak`] | frequency of the highest peak | FFT, Hann window, Gaussian interpolation |
//! | [`power_density`] | power spectral density | Welch's method |
//! | [`oscillation`] | frequency, amplitude, mean, RMS | least-squares sine with harmonics and slope, started at the peak |
//!
//! A history without the requested information is an error with the reason, never a number.
//!
//! Determinism: sequential sums in the order of the samples; the same history gives the same bits on the same machine
//! (the FFT selects its kernels by the available instruction sets). Cost: O(n), and O(n log n) for the FFT on at most
//! four times the samples.

mod error;
mod mean;
#[cfg(test)]
mod noise;
mod settled;
mod sine;
mod spectrum;
mod welch;

pub use error::SignalError;
pub use mean::{MeanEstimate, mean};
pub use settled::settled;
pub use sine::{Oscillation, oscillation};
pub use spectrum::{Peak, peak};
pub use welch::{LEAST_FOR_DENSITY, PowerDensity, power_density};

/// A value and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// The value.
    pub value: f64,
    /// Its standard error (one sigma), not negative.
    pub error: f64,
}

impl Measured {
    /// The estimate in another unit: a Strouhal number is the frequency times length over speed.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            error: self.error * factor.abs(),
        }
    }
}

/// The Strouhal number of a frequency (cycles per unit of time) for a body of `length` in a free stream of `speed`, all
/// in the same units.
#[must_use]
pub fn strouhal(frequency: Measured, length: f64, speed: f64) -> Measured {
    frequency.scaled(length / speed)
}

/// Minimum number of cycles of a history for an estimate of its frequency.
pub const LEAST_CYCLES: f64 = 4.0;

/// Minimum number of samples of a history for any estimate.
pub const LEAST_SAMPLES: usize = 16;

/// Values above which squares of values overflow when summed.
const LARGEST: f64 = 1e150;

/// Checks that a history is long enough and its values are finite and can be squared.
fn check(signal: &[f64]) -> Result<(), SignalError> {
    if signal.len() < LEAST_SAMPLES {
        return Err(SignalError::TooShort {
            samples: signal.len(),
            needed: LEAST_SAMPLES,
        });
    }
    match signal.iter().position(|x| x.is_nan() || x.abs() > LARGEST) {
        Some(sample) => Err(SignalError::NotFinite {
            sample,
            value: signal[sample],
        }),
        None => Ok(()),
    }
}

/// Checks that an interval is finite and positive.
fn check_interval(interval: f64) -> Result<(), SignalError> {
    if interval.is_finite() && interval > 0.0 {
        Ok(())
    } else {
        Err(SignalError::Interval { interval })
    }
}

/// The mean and the variance. Sums are of differences from the first value, so that the mean of a constant is exact and
/// its variance is zero.
fn moments(signal: &[f64]) -> (f64, f64) {
    let (first, n) = (signal[0], signal.len() as f64);
    let shift = signal.iter().map(|x| x - first).sum::<f64>() / n;
    let square = signal
        .iter()
        .map(|x| (x - first - shift).powi(2))
        .sum::<f64>();
    (first + shift, square / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strouhal_number_scales_value_and_error() {
        let f = Measured {
            value: 0.0002,
            error: 0.000_001,
        };
        let st = strouhal(f, 40.0, 0.05);
        assert!((st.value - 0.16).abs() < 1e-15 && (st.error - 0.0008).abs() < 1e-15);
        assert!(f.scaled(-2.0).error > 0.0);
    }

    #[test]
    fn bad_inputs_are_errors_of_every_function() {
        let mut bad = vec![1.0; 100];
        bad[37] = f64::NAN;
        let not_finite = |e| matches!(e, SignalError::NotFinite { sample: 37, .. });
        assert!(mean(&bad).is_err_and(not_finite));
        assert!(settled(&bad, 0.01).is_err_and(not_finite));
        assert!(peak(&bad, 1.0).is_err_and(not_finite));
        assert!(oscillation(&bad, 1.0).is_err_and(not_finite));
        let short = |e| matches!(e, SignalError::TooShort { samples: 15, .. });
        let few = [1.0; 15];
        assert!(mean(&few).is_err_and(short));
        assert!(settled(&few, 0.01).is_err_and(short));
        assert!(peak(&few, 1.0).is_err_and(short));
        assert!(oscillation(&few, 1.0).is_err_and(short));
        for interval in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let e = peak(&[1.0; 100], interval);
            assert!(matches!(e, Err(SignalError::Interval { .. })));
        }
        for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let e = settled(&[1.0; 100], tolerance);
            assert!(matches!(e, Err(SignalError::Tolerance { .. })));
        }
    }
}
