//! The frequency of the highest peak of a spectrum.
//!
//! The history minus its windowed mean is multiplied by a Hann window (Harris, Proc. IEEE 66 (1978)
//! 51, section V.B) and padded with zeros to two to four times its length; the highest bin and its
//! neighbours give the frequency by a parabola through their log powers, exact for a Gaussian peak
//! (Gasior & Gonzalez, AIP Conf. Proc. 732 (2004) 276).
//!
//! The error has three parts. Noise: for a sine of amplitude A in noise that is equivalent to white noise of variance
//! s^2 near the peak, the maximum of the windowed transform has an angular frequency of variance (2 s^2 / A^2) sum(w^2
//! t^2) / sum(w t^2)^2, which for w = 1 is the bound of Rife & Boorstyn, IEEE Trans. Inf. Theory 20 (1974) 591, and 2.3
//! times it for a Hann window. Interpolation: a Hann peak is not quite Gaussian, at most 0.016 bins without padding,
//! falling with the cube of the padding. Leakage: the mirrored peak at the negative frequency, d = 2 cycles bins away,
//! moves this one by at most 0.78 / (d (d^2 - 1)) bins.
//!
//! A peak is clear if the ratio of its power to the median of the bins about it exceeds a threshold that noise exceeds
//! once in a thousand histories. Powers of noise are exponentially distributed; against a mean known from M bins, one
//! of them passes x medians with probability (1 + x ln 2 / M)^-M. The median is as good as a mean of 1 / 2.08 of the
//! bins, of which a Hann window correlates 1.5. It is local, so that the low end of a red spectrum is not a peak, and a
//! median, so that harmonics do not count.

use std::f64::consts::{LN_2, TAU};

use rustfft::{FftPlanner, num_complex::Complex64};

use super::{LEAST_CYCLES, Measured, SignalError, check, check_interval};

/// Minimum number of samples per cycle: separates a sine from its alias by more than the lobe of the window.
const LEAST_SAMPLES_PER_CYCLE: f64 = 2.5;

/// Probability that noise has a peak classified as clear.
const FALSE_ALARM: f64 = 1e-3;

/// The highest peak of a spectrum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// Frequency in cycles per unit of time.
    pub frequency: Measured,
    /// Amplitude of the sine of that frequency.
    pub amplitude: f64,
    /// Cycles in the history.
    pub cycles: f64,
    /// Ratio of its power to the median of the spectrum about it.
    pub clearness: f64,
}

/// The frequency of the strongest oscillation of a history of samples `interval` apart.
///
/// # Errors
/// Histories that are too short or constant, have values that are not finite, fewer than [`LEAST_CYCLES`] cycles or
/// fewer than 2.5 samples per cycle of their dominant oscillation, or no clear peak.
pub fn peak(signal: &[f64], interval: f64) -> Result<Peak, SignalError> {
    check(signal)?;
    check_interval(interval)?;
    let level = signal[0];
    let scale = signal
        .iter()
        .fold(0.0, |most: f64, x| most.max((x - level).abs()));
    if scale <= 4.0 * f64::EPSILON * level.abs() {
        return Err(SignalError::Constant { value: level });
    }
    // Between -1 and 1, so that squares neither vanish nor overflow.
    let unit: Vec<f64> = signal.iter().map(|x| (x - level) / scale).collect();

    let spectrum = Spectrum::new(&unit);
    let bin = spectrum.highest();
    let position = bin as f64 + offset(spectrum.powers[bin - 1..=bin + 1].as_ref());
    let (cycles, n) = (position / spectrum.padding, unit.len() as f64);
    if cycles < LEAST_CYCLES {
        return Err(SignalError::FewCycles {
            cycles,
            needed: LEAST_CYCLES,
        });
    }
    if n / cycles < LEAST_SAMPLES_PER_CYCLE {
        return Err(SignalError::Coarse {
            samples_per_cycle: n / cycles,
            needed: LEAST_SAMPLES_PER_CYCLE,
        });
    }
    let (clearness, needed) = spectrum.clearness(bin, 0.5 * n / FALSE_ALARM);
    if clearness < needed {
        return Err(SignalError::NoPeak {
            ratio: clearness,
            needed,
        });
    }
    let (amplitude, noise) = tone(&unit, cycles);
    let distance = 2.0 * cycles;
    let bias = 0.016 / spectrum.padding.powi(3) + 0.78 / (distance * (distance * distance - 1.0));
    let error = bias.hypot(noise);
    Ok(Peak {
        frequency: Measured {
            value: cycles,
            error,
        }
        .scaled(1.0 / (n * interval)),
        amplitude: amplitude * scale,
        cycles,
        clearness,
    })
}

/// The Hann window at a sample: zero at both ends, one in the middle.
fn hann(sample: usize, samples: usize) -> f64 {
    let phase = TAU * (sample as f64 + 0.5) / samples as f64;
    0.5 - 0.5 * phase.cos()
}

/// Powers of a windowed, padded history at positive frequencies.
struct Spectrum {
    /// Power of bin k, frequency k / (padding * samples), up to half the sampling frequency.
    powers: Vec<f64>,
    /// Bins per bin of the unpadded history.
    padding: f64,
}

impl Spectrum {
    fn new(unit: &[f64]) -> Self {
        let n = unit.len();
        let windows: Vec<f64> = (0..n).map(|i| hann(i, n)).collect();
        let total: f64 = windows.iter().sum();
        let mean = windows.iter().zip(unit).map(|(w, x)| w * x).sum::<f64>() / total;
        let length = (2 * n).next_power_of_two();
        let mut bins: Vec<Complex64> = windows
            .iter()
            .zip(unit)
            .map(|(w, x)| Complex64::new(w * (x - mean), 0.0))
            .collect();
        bins.resize(length, Complex64::default());
        FftPlanner::new()
            .plan_fft_forward(length)
            .process(&mut bins);
        Self {
            powers: bins[..=length / 2]
                .iter()
                .map(Complex64::norm_sqr)
                .collect(),
            padding: length as f64 / n as f64,
        }
    }

    /// The highest bin except the first and the last.
    fn highest(&self) -> usize {
        let inner = 1..self.powers.len() - 1;
        inner
            .max_by(|&a, &b| self.powers[a].total_cmp(&self.powers[b]))
            .expect("16 samples should give 17 bins")
    }

    /// Ratio of the power of a bin to the median power about it, and the ratio that noise exceeds once in `odds` bins.
    /// The median is over the bins from half to twice its frequency, at least sixteen bins of the history on each side,
    /// without its own lobe of two on each side.
    fn clearness(&self, bin: usize, odds: f64) -> (f64, f64) {
        let wide = (16.0 * self.padding) as usize;
        let lobe = (2.0 * self.padding).ceil() as usize;
        let low = (bin / 2).min(bin.saturating_sub(wide)).max(1);
        let high = (2 * bin).max(bin + wide).min(self.powers.len() - 1);
        let mut about: Vec<f64> = (low..=high)
            .filter(|k| k.abs_diff(bin) > lobe)
            .map(|k| self.powers[k])
            .collect();
        if about.is_empty() {
            return (0.0, f64::INFINITY);
        }
        let middle = about.len() / 2;
        let median = *about.select_nth_unstable_by(middle, f64::total_cmp).1;
        let bins = about.len() as f64 / self.padding / (1.5 * 2.08);
        let needed = bins / LN_2 * (odds.powf(1.0 / bins) - 1.0);
        // A sine of whole cycles has only rounding outside its lobe.
        (self.powers[bin] / median.max(f64::MIN_POSITIVE), needed)
    }
}

/// The position of the maximum of the parabola through the logarithms of three powers, in bins from the middle.
fn offset(powers: &[f64]) -> f64 {
    let [left, middle, right] = [0, 1, 2].map(|k| powers[k].max(f64::MIN_POSITIVE).ln());
    let bend = left - 2.0 * middle + right;
    if bend < 0.0 {
        (0.5 * (left - right) / bend).clamp(-0.5, 0.5)
    } else {
        0.0
    }
}

/// Amplitude of the sine of `cycles` cycles, and the standard error, in cycles, of the frequency of its windowed
/// transform from the spectrum beside it.
fn tone(unit: &[f64], cycles: f64) -> (f64, f64) {
    let n = unit.len();
    let (mut whole, mut sum, mut transform) = (0.0, 0.0, Complex64::default());
    let (mut spread, mut bend) = (0.0, 0.0);
    for (i, x) in unit.iter().enumerate() {
        let (w, t) = (hann(i, n), (i as f64 + 0.5) / n as f64 - 0.5);
        whole += w;
        sum += w * x;
        transform += w * x * Complex64::from_polar(1.0, -TAU * cycles * t);
        spread += w * w * t * t;
        bend += w * t * t;
    }
    let (mean, phasor) = (sum / whole, 2.0 / whole * transform);
    // The residual 3 to 6 bins from the peak, beyond the lobe of the window: white noise of the same level.
    let bins = [-6.0, -5.0, -4.0, -3.0, 3.0, 4.0, 5.0, 6.0].map(|d| cycles + d);
    let inside: Vec<f64> = bins
        .into_iter()
        .filter(|&bin| bin > 0.5 && bin < 0.5 * n as f64)
        .collect();
    let (mut sums, mut windows) = (vec![Complex64::default(); inside.len()], 0.0);
    for (i, x) in unit.iter().enumerate() {
        let (w, t) = (hann(i, n), (i as f64 + 0.5) / n as f64 - 0.5);
        let sine = (phasor * Complex64::from_polar(1.0, TAU * cycles * t)).re;
        windows += w * w;
        for (sum, bin) in sums.iter_mut().zip(&inside) {
            *sum += w * (x - mean - sine) * Complex64::from_polar(1.0, -TAU * bin * t);
        }
    }
    let level = sums.iter().map(Complex64::norm_sqr).sum::<f64>() / windows / inside.len() as f64;
    let amplitude = phasor.norm();
    let variance = 2.0 * level / (amplitude * amplitude) * spread / (bend * bend);
    (amplitude, variance.sqrt() / TAU)
}

#[cfg(test)]
mod tests {
    use super::super::noise::Noise;
    use super::*;

    #[test]
    fn pure_sines_are_found_within_the_stated_bias() {
        for n in [64, 100, 257, 1000, 1024] {
            for step in 0..60 {
                let cycles = 4.1 + 0.137 * f64::from(step);
                let signal = Noise::new(0).sine(n, cycles, 0.4 * f64::from(step), 0.0);
                let got = peak(&signal, 0.5).expect("sine should have a peak");
                let off = (got.frequency.value * 0.5 * n as f64 - cycles).abs();
                let stated = got.frequency.error * 0.5 * n as f64;
                assert!(
                    off < 2.0 * stated,
                    "{n} {cycles}: off {off}, stated {stated}"
                );
                assert!(off < 4e-3, "{n} {cycles}: off {off}");
                assert!((got.amplitude - 1.0).abs() < 0.01, "{got:?}");
            }
        }
    }

    #[test]
    fn errors_of_noisy_peaks_agree_with_their_scatter() {
        let (n, cycles, sigma, runs) = (1000, 31.3, 0.5, 300);
        // Rife & Boorstyn: the variance of the angular frequency per sample is 24 s^2 / (A^2 n^3).
        let bound = (24.0 * sigma * sigma / 1e9_f64).sqrt() * 1000.0 / TAU;
        let (mut square, mut stated) = (0.0, 0.0);
        for seed in 0..runs {
            let signal = Noise::new(seed).sine(n, cycles, 0.01 * seed as f64, sigma);
            let got = peak(&signal, 1.0).expect("sine should have a peak");
            square += (got.cycles - cycles).powi(2) / runs as f64;
            stated += got.frequency.error * n as f64 / runs as f64;
        }
        let scatter = square.sqrt();
        assert!((stated / scatter - 1.0).abs() < 0.15, "{stated} {scatter}");
        // The window increases the error above the bound, by the square root of about 2.3.
        assert!(
            (1.3..1.75).contains(&(scatter / bound)),
            "{scatter} {bound}"
        );
    }

    #[test]
    fn noise_has_no_clear_peak() {
        for phi in [0.0, 0.7, 0.95] {
            let found = (0..300)
                .filter(|&seed| peak(&Noise::new(seed).autoregressive(2000, phi), 1.0).is_ok())
                .count();
            assert!(found <= 3, "phi {phi}: {found} of 300");
        }
    }

    #[test]
    fn each_reason_is_reported() {
        assert!(matches!(
            peak(&[0.3; 200], 1.0),
            Err(SignalError::Constant { .. })
        ));
        let ramp: Vec<f64> = (0..500).map(f64::from).collect();
        assert!(matches!(
            peak(&ramp, 1.0),
            Err(SignalError::FewCycles { .. })
        ));
        let slow = Noise::new(0).sine(500, 3.5, 0.0, 0.0);
        assert!(matches!(
            peak(&slow, 1.0),
            Err(SignalError::FewCycles { cycles, .. }) if (cycles - 3.5).abs() < 0.05
        ));
        let fast = Noise::new(0).sine(500, 230.0, 0.3, 0.0);
        assert!(matches!(peak(&fast, 1.0), Err(SignalError::Coarse { .. })));
        let noise = Noise::new(5).autoregressive(500, 0.0);
        let got = peak(&noise, 1.0);
        assert!(matches!(got, Err(SignalError::NoPeak { .. })), "{got:?}");
    }

    #[test]
    fn harmonics_offsets_and_scales_leave_the_frequency() {
        let lift = |i: i32| {
            let t = TAU * 0.0123 * f64::from(i);
            t.sin() + 0.3 * (2.0 * t).sin() + 0.1 * (3.0 * t).cos()
        };
        for (offset, scale) in [(0.0, 1.0), (50.0, 1e-3), (0.0, 1e-200), (0.0, 1e140)] {
            let signal: Vec<f64> = (0..3000).map(|i| offset + scale * lift(i)).collect();
            let got = peak(&signal, 1.0).expect("periodic should have a peak");
            assert!((got.frequency.value - 0.0123).abs() < 1e-6, "{got:?}");
            assert!((got.amplitude / scale - 1.0).abs() < 1e-3);
        }
    }
}
