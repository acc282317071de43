//! Power spectral densities by Welch's method (IEEE Trans. Audio Electroacoust. 15 (1967) 70).
//!
//! The history is cut into segments that overlap by half. Each one, minus its mean and times a Hann window, is
//! transformed; the mean of the squares over the segments, over the sum of the squared window, is the density. It is
//! one-sided: its integral over all frequencies above zero is the variance (Parseval), but for what varies more slowly
//! than a segment lasts.

use super::{SignalError, check, check_interval};
use rustfft::{FftPlanner, num_complex::Complex64};
use std::f64::consts::TAU;

/// Segments that a history has at least: the standard error of a density is then a third of it, since segments that
/// overlap by half under a Hann window count for 5 of 8 (Welch 1967, §IV).
const LEAST_SEGMENTS: usize = 8;
/// Least samples of a segment.
const LEAST_LENGTH: usize = 16;

/// Samples that a density needs.
pub const LEAST_FOR_DENSITY: usize = LEAST_LENGTH / 2 * (LEAST_SEGMENTS + 1);

/// A power spectral density.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerDensity {
    /// Frequencies in cycles per unit of time, ascending, evenly spaced; the first is one cycle per segment.
    pub frequencies: Vec<f64>,
    /// Squares of the signal's unit, times the unit of time.
    pub density: Vec<f64>,
    /// Number of segments.
    pub segments: usize,
    /// Samples of a segment, a power of two.
    pub length: usize,
}

/// The density of a history of samples `interval` apart: as long segments as there can be eight of.
///
/// # Errors
/// Fewer than [`LEAST_FOR_DENSITY`] samples, values that are not finite, an interval that is not positive.
pub fn power_density(signal: &[f64], interval: f64) -> Result<PowerDensity, SignalError> {
    if signal.len() < LEAST_FOR_DENSITY {
        return Err(SignalError::TooShort {
            samples: signal.len(),
            needed: LEAST_FOR_DENSITY,
        });
    }
    check(signal)?;
    check_interval(interval)?;
    let most = 2 * signal.len() / (LEAST_SEGMENTS + 1);
    let length = 1usize << most.ilog2();
    let half = length / 2;
    let segments = signal.len() / half - 1;
    // Periodic, so that halves that overlap add to 1.
    let window: Vec<f64> = (0..length)
        .map(|n| 0.5 - 0.5 * (TAU * n as f64 / length as f64).cos())
        .collect();
    let fft = FftPlanner::new().plan_fft_forward(length);
    let mut sums = vec![0.0; half + 1];
    for segment in 0..segments {
        let values = &signal[segment * half..][..length];
        let mean = values[0] + values.iter().map(|x| x - values[0]).sum::<f64>() / length as f64;
        let windowed = values.iter().zip(&window);
        let mut bins: Vec<Complex64> = windowed
            .map(|(x, w)| Complex64::new(w * (x - mean), 0.0))
            .collect();
        fft.process(&mut bins);
        for (sum, bin) in sums.iter_mut().zip(&bins) {
            *sum += bin.norm_sqr();
        }
    }
    let power: f64 = window.iter().map(|w| w * w).sum();
    let scale = interval / (power * segments as f64);
    let density = |k: usize| match k == half {
        // Half the sampling frequency has no twin at a negative frequency.
        true => scale * sums[k],
        false => 2.0 * scale * sums[k],
    };
    let step = 1.0 / (length as f64 * interval);
    Ok(PowerDensity {
        frequencies: (1..=half).map(|k| k as f64 * step).collect(),
        density: (1..=half).map(density).collect(),
        segments,
        length,
    })
}

#[cfg(test)]
mod tests {
    use super::super::noise::Noise;
    use super::*;

    fn integral(of: &PowerDensity) -> f64 {
        of.density.iter().sum::<f64>() * of.frequencies[0]
    }

    fn variance(signal: &[f64]) -> f64 {
        let mean = signal.iter().sum::<f64>() / signal.len() as f64;
        signal.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / signal.len() as f64
    }

    #[test]
    fn a_sine_has_its_power_at_its_frequency() {
        // 0.7 sin(2π 12.5 t) + 3, sampled every 0.004 s.
        let signal: Vec<f64> = (0..5000)
            .map(|n| 3.0 + 0.7 * (TAU * 12.5 * 0.004 * f64::from(n)).sin())
            .collect();
        let of = power_density(&signal, 0.004).expect("a density");
        assert_eq!((of.length, of.segments), (1024, 8));
        assert!((of.frequencies[0] * 1024.0 * 0.004 - 1.0).abs() < 1e-12);
        assert!(
            (of.frequencies.last().expect("one") - 125.0).abs() < 1e-9,
            "half of 250 Hz"
        );
        // A Hann window moves none of the power further than two bins.
        let near = |f: f64| (f - 12.5).abs() < 2.5 * of.frequencies[0];
        let pairs = of.frequencies.iter().zip(&of.density);
        let peak: f64 = pairs
            .filter(|(f, _)| near(**f))
            .map(|(_, p)| p * of.frequencies[0])
            .sum();
        assert!((peak / (0.5 * 0.7 * 0.7) - 1.0).abs() < 1e-3, "{peak}");
        assert!(
            (integral(&of) / (0.5 * 0.7 * 0.7) - 1.0).abs() < 1e-3,
            "{}",
            integral(&of)
        );
        let highest =
            (0..of.density.len()).max_by(|&a, &b| of.density[a].total_cmp(&of.density[b]));
        let highest = of.frequencies[highest.expect("one")];
        assert!(
            (highest - 12.5).abs() <= 0.5 * of.frequencies[0],
            "{highest}"
        );
    }

    #[test]
    fn white_noise_is_flat_and_has_its_variance() {
        let mut noise = Noise::new(11);
        let signal: Vec<f64> = (0..100_000).map(|_| 0.3 * noise.normal()).collect();
        let interval = 0.01;
        let of = power_density(&signal, interval).expect("a density");
        assert!(
            (integral(&of) / variance(&signal) - 1.0).abs() < 0.02,
            "{}",
            integral(&of)
        );
        // 2 σ² Δt at all frequencies; means over quarters of them.
        let level = 2.0 * 0.09 * interval;
        for quarter in of.density.chunks(of.density.len() / 4) {
            let mean = quarter.iter().sum::<f64>() / quarter.len() as f64;
            assert!((mean / level - 1.0).abs() < 0.04, "{mean} {level}");
        }
        // More samples make no other density, only finer frequencies.
        let short = power_density(&signal[..1000], interval).expect("a density");
        assert!(short.frequencies[0] > 50.0 * of.frequencies[0]);
        assert!((integral(&short) / integral(&of) - 1.0).abs() < 0.2);
    }

    #[test]
    fn red_noise_falls_as_its_spectrum_does() {
        // x' = φ x + e has 2 Δt / (1 - 2 φ cos(2π f Δt) + φ²).
        let phi = 0.8;
        let signal = Noise::new(5).autoregressive(400_000, phi);
        let of = power_density(&signal[..], 1.0).expect("a density");
        let bands = of.frequencies.chunks(4096).zip(of.density.chunks(4096));
        for (frequencies, density) in bands {
            let found: f64 = density.iter().sum();
            let wanted = frequencies
                .iter()
                .map(|f| 2.0 / (1.0 - 2.0 * phi * (TAU * f).cos() + phi * phi));
            let wanted: f64 = wanted.sum();
            assert!((found / wanted - 1.0).abs() < 0.06, "{found} {wanted}");
        }
        let white = 2.0 * variance(&signal) * of.density.len() as f64;
        let high: f64 = of.density[of.density.len() / 2..].iter().sum();
        assert!(high < 0.2 * white, "a flat spectrum is another one");
    }

    #[test]
    fn short_histories_have_no_density() {
        let signal: Vec<f64> = (0..72).map(f64::from).collect();
        let of = power_density(&signal, 1.0).expect("just enough");
        assert_eq!((of.length, of.segments), (16, 8));
        let short = power_density(&signal[1..], 1.0);
        assert_eq!(
            short,
            Err(SignalError::TooShort {
                samples: 71,
                needed: LEAST_FOR_DENSITY
            })
        );
        assert!(power_density(&signal, 0.0).is_err(), "no interval");
    }
}
