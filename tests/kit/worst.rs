//! The largest of many differences, by which tests judge. Tests of all crates take it, by `#[path]`.

#![allow(unreachable_pub, reason = "public in the kit, private elsewhere")]

/// The largest value: NaN if any value is, as it is no proof of a small difference. [`f64::max`] would drop it. 0 of none.
pub fn worst<T: Into<f64>>(values: impl IntoIterator<Item = T>) -> f64 {
    let larger = |a: f64, b: f64| if a.is_nan() || a > b { a } else { b };
    values
        .into_iter()
        .map(T::into)
        .reduce(larger)
        .unwrap_or(0.0)
}
