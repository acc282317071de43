use super::*;

/// Bisection of the law as published, in plain terms.
fn by_bisection(velocity: f64, distance: f64, viscosity: f64) -> f64 {
    let of = |friction: f64| {
        let y = friction * distance / viscosity;
        let outer = (1.0 + 0.41 * y).ln() / 0.41;
        let inner = 1.0 - (-y / 11.0).exp() - y / 11.0 * (-y / 3.0).exp();
        friction * (outer + (5.2 - f64::ln(0.41) / 0.41) * inner) - velocity
    };
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if of(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[test]
fn the_friction_velocity_is_that_of_the_law_at_any_distance() {
    for decade in -6..9 {
        for step in 1..10 {
            // u y / ν, which is u⁺ y⁺.
            let re = f64::from(step) * 10f64.powi(decade);
            let found = friction_velocity(re, 1.0, 1.0);
            let wanted = by_bisection(re, 1.0, 1.0);
            assert!(
                (found / wanted - 1.0).abs() < 1e-6,
                "{re}: {found} {wanted}"
            );
        }
    }
    assert_eq!(friction_velocity(0.0, 1.0, 1.0), 0.0);
}

/// The sublayer u⁺ = y⁺, and the logarithmic layer with κ = 0.41 and B = 5.2 (Pope, Turbulent Flows, 2000, eq. 7.43).
#[test]
fn the_law_has_its_limits() {
    let (y, friction) = (0.1, 0.3);
    let found = friction_velocity(y * friction, y / friction, 1.0);
    assert!((found / friction - 1.0).abs() < 0.01, "{found}");
    for y in [60.0, 100.0, 1000.0, 1e5] {
        let friction: f64 = 2.0;
        let u = friction * (f64::ln(y) / 0.41 + 5.2);
        let found = friction_velocity(u, y / friction, 1.0);
        assert!((found / friction - 1.0).abs() < 0.02, "{y}: {found}");
    }
}
