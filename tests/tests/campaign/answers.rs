//! What the flows should give.

use std::f64::consts::PI;

/// Mean velocity in a duct of these sides where -dp/dx over the dynamic viscosity is 1: the series of Boussinesq (White,
/// Viscous Fluid Flow, 3rd ed., 2006, eq. 3-48).
pub(crate) fn duct(a: f64, b: f64) -> f64 {
    let term = |n: i32| {
        let n = f64::from(2 * n + 1);
        (0.5 * n * PI * b / a).tanh() / n.powi(5)
    };
    let sum: f64 = (0..100).map(term).sum();
    a * a / 12.0 * (1.0 - 192.0 * a / (PI.powi(5) * b) * sum)
}

/// Solid fraction, and drag over 6 π μ a U, of a simple cubic array of spheres in slow flow (Zick & Homsy 1982, table 2).
pub(crate) const SPHERES: [[f64; 2]; 4] = [
    [0.027, 2.008],
    [0.064, 2.810],
    [0.125, 4.292],
    [0.216, 7.442],
];

/// The same of a square array of cylinders, over μ U a length (Sangani & Acrivos 1982, table 1).
pub(crate) const CYLINDERS: [[f64; 2]; 3] = [[0.1, 24.83], [0.2, 51.53], [0.3, 102.90]];

/// Largest velocity at `y` in a channel of height 1 under an acceleration cos(ω t), times ω: |1 - cosh(k (y - 1/2)) / cosh(k / 2)|
/// with k = (1 + i) √(ω / 2ν) (Schlichting & Gersten, Boundary-Layer Theory, 2017, §5.3).
pub(crate) fn womersley(omega: f64, viscosity: f64, y: f64) -> f64 {
    let k = (0.5 * omega / viscosity).sqrt();
    // cosh((1 + i) x)
    let cosh = |x: f64| [x.cosh() * x.cos(), x.sinh() * x.sin()];
    let ([a, b], [c, d]) = (cosh(k * (y - 0.5)), cosh(0.5 * k));
    let square = c * c + d * d;
    (1.0 - (a * c + b * d) / square).hypot((b * c - a * d) / square)
}

/// Largest velocity at `y` in a channel of height 1 whose lower wall moves with cos(ω t) and whose upper one is at rest:
/// |sinh(k (1 - y)) / sinh(k)| with the same k (Schlichting & Gersten, §5.3).
pub(crate) fn shaken(omega: f64, viscosity: f64, y: f64) -> f64 {
    let k = (0.5 * omega / viscosity).sqrt();
    // |sinh((1 + i) x)|² = sinh² x + sin² x
    let size = |x: f64| x.sinh().hypot(x.sin());
    size(k * (1.0 - y)) / size(k)
}

/// Reynolds number and least velocity on the vertical middle of a lid-driven cavity (Marchi, Suero & Araki 2009).
pub(crate) const LIDS: [[f64; 2]; 2] = [[100.0, -0.214_04], [400.0, -0.328_73]];

/// Drag of a cylinder in a channel at Re 20 (Schäfer & Turek 1996, 2D-1; value of Nabh 1998).
pub(crate) const BODY_IN_CHANNEL: f64 = 5.579_535;

#[test]
fn answers_have_their_limits() {
    assert!((duct(1.0, 1e3) * 12.0 - 1.0).abs() < 1e-3, "between plates");
    // Shah & London 1978: f Re = 56.91 of a square, so that U = 2 / 56.91 with d_h = 1.
    assert!(
        (duct(1.0, 1.0) * 56.91 / 2.0 - 1.0).abs() < 1e-3,
        "{}",
        duct(1.0, 1.0)
    );
    assert!(
        (womersley(1e2, 1e-2, 0.5) - 1.0).abs() < 1e-2,
        "no viscosity"
    );
    assert!(
        (shaken(1e-3, 1.0, 0.25) / 0.75 - 1.0).abs() < 1e-3,
        "a line"
    );
    // Stokes' second problem: exp(-y √(ω / 2ν)).
    let stokes = (-0.2 * 0.5e4f64.sqrt()).exp();
    assert!(
        (shaken(1e2, 1e-2, 0.2) / stokes - 1.0).abs() < 1e-3,
        "no upper wall"
    );
    // Slow: a / (8 ν) over 1 / ω.
    assert!(
        (womersley(1e-3, 1.0, 0.5) / (1e-3 / 8.0) - 1.0).abs() < 1e-3,
        "quasi-steady"
    );
}
