//! Numbers as users would write them.

/// A number with two significant digits, as a user would write it.
pub(crate) fn two_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let places = 1 - value.abs().log10().floor() as i32;
    match places {
        0..=5 => format!("{value:.*}", places as usize),
        _ if (-5..0).contains(&places) => format!("{value:.0}"),
        _ => format!("{value:.1e}"),
    }
}

/// A share in per cent, with two digits.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", two_digits(100.0 * share))
}
