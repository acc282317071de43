//! The end of a transient.

use super::{SignalError, check, moments};

/// Number of starts that [`settled`] tries: sixteenths of the history, up to its half.
const STARTS: usize = 9;

/// The first sample after the transient, of nine tried in the first half, or none.
///
/// A tail is settled if the mean and the standard deviation of each of its quarters agree with those of the whole tail
/// to within `tolerance` times the tail's RMS about zero. The standard deviation detects a growing oscillation that the
/// mean does not. The RMS is a suitable scale for a lift, whose mean is zero, as well as for a drag. A tail with few
/// cycles or much noise is not settled: its mean is not known to the tolerance.
///
/// # Errors
/// Histories that are too short or have values that are not finite; tolerances that are not finite or not positive.
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

/// Whether the quarters of a tail agree with its mean and standard deviation.
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
    use super::*;

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
            // The standard deviation within the first quarter is larger than its mean's excess: at
            // most one start later.
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
