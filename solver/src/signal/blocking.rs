//! Means of correlated samples by blocking; where a transient ends.
//!
//! Neighbouring samples of a history tell nearly the same, so that the standard deviation over
//! sqrt(n) understates the error of the mean. Blocking (Flyvbjerg & Petersen, J. Chem. Phys. 91
//! (1989) 461, section III) replaces pairs of samples by their mean again and again: the estimate
//! c0 / (n - 1) of the mean's variance, equation 25, rises until blocks are longer than the
//! correlation and stays there. The plateau is taken at the shortest block of B samples with
//! B^3 > 2 n (variance at B over variance at 1)^2, which balances the bias of short blocks with
//! the scatter of few (Lee et al., Phys. Rev. E 83 (2011) 066706, section III).

use super::{Estimate, SignalError, check, moments};

/// Blocks that are the fewest whose scatter is taken for an error: it is known to a quarter.
const LEAST_BLOCKS: usize = 8;

/// A mean with its error and what stands behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanEstimate {
    /// The mean of all samples and its standard error.
    pub mean: Estimate,
    /// The standard error of the error itself (Flyvbjerg & Petersen, equation 28).
    pub error_of_error: f64,
    /// Uncorrelated samples that would give the same error, at most the number of samples: a
    /// periodic history, whose blocks average out, counts no more than uncorrelated samples would.
    pub independent: f64,
    /// Samples in a block at the plateau.
    pub block: usize,
}

/// The mean of a stationary history with its error by blocking.
///
/// # Errors
/// Histories shorter than [`LEAST_SAMPLES`](super::LEAST_SAMPLES) or with values that are no
/// numbers, and [`SignalError::Correlated`] where no plateau is reached: a drift has none.
pub fn mean(signal: &[f64]) -> Result<MeanEstimate, SignalError> {
    check(signal)?;
    let samples = signal.len();
    let (value, variance) = moments(signal);
    let single = variance / (samples - 1) as f64;
    if single == 0.0 {
        return Ok(MeanEstimate {
            mean: Estimate { value, error: 0.0 },
            error_of_error: 0.0,
            independent: samples as f64,
            block: 1,
        });
    }
    let mut blocks: Vec<f64> = signal.iter().map(|x| x - value).collect();
    let mut block = 1;
    loop {
        let count = blocks.len();
        let of_mean = moments(&blocks).1 / (count - 1) as f64;
        let ratio = of_mean / single;
        if (block as f64).powi(3) > 2.0 * samples as f64 * ratio * ratio {
            let error = of_mean.sqrt();
            return Ok(MeanEstimate {
                mean: Estimate { value, error },
                error_of_error: error / (2.0 * (count - 1) as f64).sqrt(),
                independent: (samples as f64 / ratio).min(samples as f64),
                block,
            });
        }
        if count / 2 < LEAST_BLOCKS {
            return Err(SignalError::Correlated { samples, block });
        }
        // Of an odd number the oldest is left out: it is the nearest to the transient.
        blocks = blocks[count % 2..]
            .chunks_exact(2)
            .map(|pair| 0.5 * (pair[0] + pair[1]))
            .collect();
        block *= 2;
    }
}

/// Starts that [`settled`] tries: sixteenths of the history, up to its half.
const STARTS: usize = 9;

/// The first sample after the transient, of nine tried in the first half, or none.
///
/// A tail is settled if each of its quarters has the mean and the standard deviation of the whole
/// tail to `tolerance` times the tail's RMS about zero. The standard deviation sees a growing
/// oscillation that the mean does not; the RMS as scale serves a lift, whose mean is zero, as well
/// as a drag. A tail of few cycles or much noise is not settled: it does not tell its mean to the
/// tolerance.
///
/// # Errors
/// Histories too short or with values that are no numbers; tolerances not finite or not positive.
pub fn settled(signal: &[f64], tolerance: f64) -> Result<Option<usize>, SignalError> {
    check(signal)?;
    if !(tolerance.is_finite() && tolerance > 0.0) {
        return Err(SignalError::Tolerance { tolerance });
    }
    let starts = (0..STARTS).map(|k| signal.len() * k / 16);
    Ok(starts
        .into_iter()
        .find(|&start| is_level(&signal[start..], tolerance)))
}

/// Whether the quarters of a tail have its mean and standard deviation.
fn is_level(tail: &[f64], tolerance: f64) -> bool {
    let (mean, variance) = moments(tail);
    let allowed = tolerance * mean.hypot(variance.sqrt());
    (0..4).all(|quarter| {
        let range = tail.len() * quarter / 4..tail.len() * (quarter + 1) / 4;
        let (m, v) = moments(&tail[range]);
        (m - mean).abs() <= allowed && (v.sqrt() - variance.sqrt()).abs() <= allowed
    })
}

#[cfg(test)]
mod tests {
    use super::super::noise::Noise;
    use super::*;

    /// The variance of the mean of n samples of an AR(1) process of unit noise: the sum over all
    /// pairs of phi^|i - j| / (1 - phi^2), in closed form.
    fn variance_of_mean(n: f64, phi: f64) -> f64 {
        let pairs =
            (1.0 + phi) / (1.0 - phi) - 2.0 * phi * (1.0 - phi.powf(n)) / (n * (1.0 - phi).powi(2));
        pairs / (n * (1.0 - phi * phi))
    }

    #[test]
    fn closed_form_of_the_oracle_is_the_sum_over_pairs() {
        let (n, phi) = (50_i32, 0.7_f64);
        let sum: f64 = (0..n)
            .flat_map(|i| (0..n).map(move |j| phi.powi((i - j).abs())))
            .sum();
        let direct = sum / (1.0 - phi * phi) / f64::from(n * n);
        assert!((variance_of_mean(50.0, phi) / direct - 1.0).abs() < 1e-12);
    }

    #[test]
    fn errors_of_autoregressive_means_are_the_exact_ones() {
        let n = 1 << 15;
        for phi in [0.0, 0.5, 0.9, 0.98] {
            let exact = variance_of_mean(n as f64, phi).sqrt();
            let independent = 1.0 / (1.0 - phi * phi) / (exact * exact);
            let (mut ratio, mut count, mut within, mut naive) = (0.0, 0.0, 0, 0.0);
            for seed in 0..200 {
                let signal = Noise::new(seed).autoregressive(n, phi);
                let got = mean(&signal).expect("long history should do");
                ratio += got.mean.error / exact / 200.0;
                count += got.independent / independent / 200.0;
                within += usize::from(got.mean.value.abs() < got.mean.error);
                naive += (moments(&signal).1 / n as f64).sqrt() / exact / 200.0;
                let off = (got.mean.error - exact).abs();
                assert!(off < 5.0 * got.error_of_error, "{phi} {got:?}");
            }
            assert!((ratio - 1.0).abs() < 0.08, "{phi}: mean ratio {ratio}");
            assert!((count - 1.0).abs() < 0.2, "{phi}: samples {count}");
            // 68.3 % of 200, three sigma about it.
            assert!((116..=157).contains(&within), "{phi}: {within} within");
            // The comparison tells the blocked error from the plain one.
            if phi > 0.4 {
                assert!(naive < 0.6, "{phi}: plain error {naive}");
            }
        }
    }

    #[test]
    fn constants_have_themselves_as_mean_and_no_error() {
        for value in [0.0, 0.1, -1e149, 1e-300] {
            let got = mean(&[value; 77]).expect("constant should do");
            assert_eq!(got.mean, Estimate { value, error: 0.0 });
            assert!((got.independent - 77.0).abs() < 1e-12);
        }
    }

    #[test]
    fn trends_and_short_correlated_histories_are_refused() {
        for n in [16, 100, 5000] {
            let ramp: Vec<f64> = (0..n).map(f64::from).collect();
            let got = mean(&ramp);
            assert!(
                matches!(got, Err(SignalError::Correlated { .. })),
                "{got:?}"
            );
        }
        let slow = Noise::new(1).autoregressive(300, 0.99);
        assert!(matches!(mean(&slow), Err(SignalError::Correlated { .. })));
    }

    #[test]
    fn periodic_means_are_within_their_error() {
        let signal: Vec<f64> = (0..5000)
            .map(|i| 2.0 + (f64::from(i) * 0.11).sin())
            .collect();
        let got = mean(&signal).expect("many cycles should do");
        assert!((got.mean.value - 2.0).abs() < got.mean.error);
        assert!(got.mean.error < 0.02 && got.independent <= 5000.0);
    }

    #[test]
    fn a_decay_is_settled_when_it_has_fallen_below_the_tolerance() {
        // 1 + exp(-t / 100): the first quarter of the tail from s exceeds the tail's mean by about
        // exp(-s / 100) 100 (1 / q - 1 / (4 q)), q a quarter of the tail.
        let n = 4000;
        let signal: Vec<f64> = (0..n)
            .map(|i| 1.0 + (-f64::from(i) / 100.0).exp())
            .collect();
        let excess = |s: f64| {
            let quarter = (4000.0 - s) / 4.0;
            (-s / 100.0).exp() * 100.0 * 0.75 / quarter
        };
        for tolerance in [0.1, 1e-2, 1e-3, 1e-4, 1e-6] {
            let oracle = (0..STARTS)
                .map(|k| 4000 * k / 16)
                .find(|&s| excess(s as f64) < tolerance);
            // The standard deviation within the first quarter is larger than its mean's excess:
            // one start later at most.
            let got = settled(&signal, tolerance).expect("history should do");
            let (got, oracle) = (got.expect("decays"), oracle.expect("decays"));
            assert!(got == oracle || got == oracle + 250, "{got} {oracle}");
        }
    }

    #[test]
    fn ramps_and_growing_oscillations_are_not_settled() {
        let ramp: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(settled(&ramp, 0.05), Ok(None));
        let wave = |i: i32| (f64::from(i) * 0.3).sin();
        let grows: Vec<f64> = (0..4000)
            .map(|i| wave(i) * (f64::from(i) / 1000.0).exp())
            .collect();
        assert_eq!(settled(&grows, 0.05), Ok(None));
        let saturated: Vec<f64> = (0..4000)
            .map(|i| wave(i) * (f64::from(i) / 100.0 - 10.0).exp().min(1.0))
            .collect();
        assert_eq!(settled(&saturated, 0.05), Ok(Some(1000)));
        assert_eq!(settled(&[0.0; 100], 1e-9), Ok(Some(0)));
        assert_eq!(settled(&[-3.7; 100], 1e-9), Ok(Some(0)));
    }
}
