use super::*;
use num_bigint::BigInt;
use num_rational::BigRational;

fn exactly(value: f64) -> BigRational {
    BigRational::from_float(value).expect("a finite number")
}

/// A pseudo-random f64 of either sign, with an exponent from `low` to `low + range`.
fn random(state: &mut u64, low: i32, range: u64) -> f64 {
    let mut next = || {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    };
    let sign = if next() & 1 == 1 { -1.0 } else { 1.0 };
    let exponent = low + (next() % range) as i32;
    sign * (1.0 + (next() >> 12) as f64 * 2f64.powi(-52)) * 2f64.powi(exponent)
}

/// Half a unit in the last place of the rational sum, and what was cut off.
fn assert_is_sum_of(terms: &[f64], sum: ExactSum) {
    let wanted: BigRational = terms.iter().map(|&t| exactly(t)).sum();
    let found = sum.value();
    let cut = BigRational::new(BigInt::from(terms.len()), BigInt::from(1) << FRACTION);
    let half = exactly(f64::EPSILON / 2.0) * exactly(found.abs());
    let off = exactly(found) - wanted;
    let off = if off < exactly(0.0) { -off } else { off };
    assert!(off <= cut + half, "{found}: {off}");
}

#[test]
fn sums_are_those_of_rational_numbers() {
    let mut state = 88_172_645_463_325_252;
    for (low, range) in [(-40, 60), (-100, 60), (10, 30), (-20, 2)] {
        let terms: Vec<f64> = (0..1000).map(|_| random(&mut state, low, range)).collect();
        assert_is_sum_of(&terms, terms.iter().copied().collect());
    }
}

#[test]
fn the_order_does_not_matter() {
    let mut state = 7;
    let mut terms: Vec<f64> = (0..1000).map(|_| random(&mut state, -60, 90)).collect();
    let first: ExactSum = terms.iter().copied().collect();
    let rounded: f64 = terms.iter().sum();
    terms.sort_by(f64::total_cmp);
    let parts = terms
        .chunks(37)
        .map(|part| part.iter().copied().collect::<ExactSum>());
    assert_eq!(parts.sum::<ExactSum>(), first);
    // An ordinary sum would not do.
    assert_ne!(terms.iter().sum::<f64>().to_bits(), rounded.to_bits());
}

#[test]
fn what_cancels_leaves_the_rest() {
    let sum: ExactSum = [1e12, 1e-9, -1e12].into_iter().collect();
    assert!((sum.value() - 1e-9).abs() < 2f64.powi(-79));
    let none: ExactSum = [0.1, -0.1].into_iter().collect();
    assert_eq!(none, ExactSum::default());
}

#[test]
fn what_is_no_number_stays_none() {
    for bad in [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e14, -LIMIT] {
        let sum: ExactSum = [1.0, bad, 2.0].into_iter().collect();
        assert!(sum.value().is_nan(), "{bad}");
    }
    // More than 2^47 of terms that are allowed.
    let sum: ExactSum = std::iter::repeat_n(1.5e13, 10).collect();
    assert!(sum.value().is_nan());
    let sum: ExactSum = std::iter::repeat_n(1.5e13, 9).collect();
    assert_eq!(sum.value(), 9.0 * 1.5e13);
}
