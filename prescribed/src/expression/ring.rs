//! Velocity of a vortex ring with a Gaussian core.
//!
//! A circle of radius R carries the circulation 1, smoothed by the Gaussian exp(-d²/a²) / (π^(3/2) a³): the diffused
//! circular line vortex at ν t = a²/4, whose vorticity is 2 R / (√π a³) exp(-(x² + r² + R²) / a²) I₁(2 r R / a²) (Fukumoto
//! & Kaplanski, J. Fluid Mech. 597 (2008) 1). By Biot and Savart's law with the share of each Gaussian within its distance,
//! summed over points of the circle. The sum over a period of a smooth function converges exponentially: with points 0.6 a
//! apart it is exact to some 1e-11.

use std::f64::consts::{FRAC_2_SQRT_PI, PI};

/// Velocity along the axis at `x` along it from the plane of the ring and `r` away from it.
pub(super) fn axial(x: f64, r: f64, radius: f64, core: f64) -> f64 {
    sum(x, r, radius, core, |cos| radius - r * cos)
}

/// Velocity away from the axis.
pub(super) fn radial(x: f64, r: f64, radius: f64, core: f64) -> f64 {
    sum(x, r, radius, core, |cos| x * cos)
}

/// The thinnest core of a ring of radius 1: below that sums get long.
pub const THINNEST: f64 = 1e-3;

/// R / 4π ∮ part(cos φ) g(d / a) / d³ dφ; no number for cores below [`THINNEST`]. Both halves of the circle give the same.
fn sum(x: f64, r: f64, radius: f64, core: f64, part: impl Fn(f64) -> f64) -> f64 {
    if !(radius > 0.0 && core >= THINNEST * radius) {
        return f64::NAN;
    }
    let points = (PI * radius / (0.6 * core)).ceil().max(12.0);
    let step = PI / points;
    let all = x * x + r * r + radius * radius;
    let mut sum = 0.0;
    for n in 0..points as u32 {
        let cos = ((f64::from(n) + 0.5) * step).cos();
        let distance = (all - 2.0 * r * radius * cos).max(0.0).sqrt();
        sum += part(cos) * within(distance / core);
    }
    radius * step / (2.0 * PI) * sum / core.powi(3)
}

/// (erf s - 2/√π s exp(-s²)) / s³: the share of a Gaussian within a radius s, over s³.
fn within(s: f64) -> f64 {
    let square = s * s;
    if s < 0.05 {
        return FRAC_2_SQRT_PI
            * (2.0 / 3.0 - square * (2.0 / 5.0 - square * (1.0 / 7.0 - square / 27.0)));
    }
    (libm::erf(s) - FRAC_2_SQRT_PI * s * (-square).exp()) / (square * s)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RADIUS: f64 = 1.3;

    fn velocity(x: f64, r: f64, core: f64) -> [f64; 2] {
        [axial(x, r, RADIUS, core), radial(x, r, RADIUS, core)]
    }

    #[test]
    fn on_its_axis_a_thin_ring_is_a_current_loop() {
        for x in [0.0, 0.3, -2.0] {
            let [u, v] = velocity(x, 0.0, 0.1);
            let exact = RADIUS.powi(2) / (2.0 * (x * x + RADIUS.powi(2)).powf(1.5));
            assert!((u / exact - 1.0).abs() < 1e-12, "{x}: {u}, {exact}");
            assert!(v.abs() < 1e-12);
        }
    }

    /// The modified Bessel function I₁, by its integral.
    fn bessel(z: f64) -> f64 {
        let angles = (0..2000).map(|n| (f64::from(n) + 0.5) * PI / 2000.0);
        angles.map(|t| (z * t.cos()).exp() * t.cos()).sum::<f64>() / 2000.0
    }

    #[test]
    fn its_curl_is_the_vorticity_in_print_and_its_divergence_vanishes() {
        let (core, h) = (0.4, 1e-3);
        for (x, r) in [(0.0, 1.3), (0.1, 1.1), (-0.5, 1.6), (0.3, 0.4), (0.0, 2.0)] {
            // Differences of fourth order.
            let slope = |of: &dyn Fn(f64) -> f64| {
                (8.0 * (of(h) - of(-h)) - (of(2.0 * h) - of(-2.0 * h))) / (12.0 * h)
            };
            let u = |dx: f64, dr: f64| velocity(x + dx, r + dr, core)[0];
            let v = |dx: f64, dr: f64| velocity(x + dx, r + dr, core)[1];
            let curl = slope(&|d| v(d, 0.0)) - slope(&|d| u(0.0, d));
            let around = (-(x * x + r * r + RADIUS * RADIUS) / core.powi(2)).exp();
            let exact = FRAC_2_SQRT_PI * RADIUS / core.powi(3)
                * around
                * bessel(2.0 * r * RADIUS / core.powi(2));
            assert!((curl - exact).abs() < 1e-8, "{x}, {r}: {curl}, {exact}");
            let divergence = slope(&|d| u(d, 0.0)) + slope(&|d| (r + d) * v(0.0, d)) / r;
            assert!(divergence.abs() < 1e-8, "{x}, {r}: {divergence}");
        }
    }

    #[test]
    fn the_series_meets_the_closed_form() {
        for s in [0.0499f64, 0.0501] {
            let near = FRAC_2_SQRT_PI * (2.0 / 3.0 - 0.4 * s * s + s.powi(4) / 7.0);
            assert!((within(s) / near - 1.0).abs() < 1e-9);
        }
        assert!((within(20.0) * 8000.0 - 1.0).abs() < 1e-15);
        assert!(axial(0.0, 0.0, 1.0, 0.9e-3).is_nan() && radial(0.0, 0.0, 0.0, 0.1).is_nan());
    }
}
