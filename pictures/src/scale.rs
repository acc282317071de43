//! Round numbers along an axis, and their format.

/// Round numbers within a range, at most eleven, and the decimals that they need.
pub fn ticks([low, high]: [f64; 2]) -> (Vec<f64>, usize) {
    let raw = (high - low) / 8.0;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|n| n * power)
        .into_iter()
        .find(|s| *s >= raw * 0.8)
        .unwrap_or(10.0 * power);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let slack = 1e-9 * (high - low);
    let (first, last) = (
        ((low - slack) / step).ceil(),
        ((high + slack) / step).floor(),
    );
    let count = (last - first).clamp(0.0, 20.0) as usize;
    (
        (0..=count).map(|i| (first + i as f64) * step).collect(),
        decimals,
    )
}

/// A number with some decimals, without trailing zeros; very large and small ones with a power of ten.
pub fn number(x: f64, decimals: usize) -> String {
    if decimals > 5 || x.abs() >= 1e6 {
        return if x == 0.0 {
            "0".into()
        } else {
            format!("{x:.3e}").replace(".000e", "e")
        };
    }
    let text = format!("{x:.decimals$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    if text == "-0" {
        "0".into()
    } else {
        text.into()
    }
}

/// The name of a unit as it is printed: `kg/m^3` as kg/m³.
pub fn printed(unit: &str) -> String {
    let pairs = [
        ("^2", "²"),
        ("^3", "³"),
        ("rho", "ρ"),
        ("dx", "Δx"),
        ("dt", "Δt"),
    ];
    pairs
        .iter()
        .fold(unit.to_owned(), |unit, (from, to)| unit.replace(from, to))
}

/// The title of values: their name, and their unit if they have one.
pub fn titled(name: &str, unit: &str) -> String {
    match unit {
        "1" => name.to_owned(),
        unit => format!("{name} in {}", printed(unit)),
    }
}

/// So many significant digits, no trailing zeros.
pub fn significant(x: f64, digits: usize) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    let magnitude = x.abs().log10().floor();
    let last = digits.saturating_sub(1);
    if !(-4.0..7.0).contains(&magnitude) {
        let text = format!("{x:.last$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(mantissa));
    }
    let decimals = (last as f64 - magnitude).max(0.0) as usize;
    trimmed(&format!("{x:.decimals$}")).to_owned()
}

fn trimmed(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_printed_with_their_powers() {
        assert_eq!(printed("rho (dx/dt)^2"), "ρ (Δx/Δt)²");
        assert_eq!([titled("a", "1"), titled("a", "m^2")], ["a", "a in m²"]);
        assert_eq!([printed("kg/m^3"), printed("m/s")], ["kg/m³", "m/s"]);
    }

    #[test]
    fn ticks_are_round_and_within_the_range() {
        let of = |range| {
            let (ticks, decimals) = ticks(range);
            ticks
                .into_iter()
                .map(|t| number(t, decimals))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            of([0.0, 1.2]),
            ["0", "0.2", "0.4", "0.6", "0.8", "1", "1.2"],
            "tenths"
        );
        assert_eq!(
            of([-3.0, 3.0]),
            ["-3", "-2", "-1", "0", "1", "2", "3"],
            "ones"
        );
        assert_eq!(of([0.0, 7e-8])[..4], ["0", "1e-8", "2e-8", "3e-8"], "small");
        for range in [[0.0, 0.037], [-812.0, 812.0], [0.99, 1.01], [0.0, 3e9]] {
            let ticks = ticks(range).0;
            assert!((4..=11).contains(&ticks.len()), "{ticks:?}");
            let slack = 1e-6 * (range[1] - range[0]);
            assert!(
                ticks
                    .iter()
                    .all(|&t| t >= range[0] - slack && t <= range[1] + slack),
                "{ticks:?}"
            );
        }
    }
}
