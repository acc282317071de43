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

/// Velocity of two layers between walls, of which the upper one moves with 1: the lower one is `height` of 1, and so many times
/// as viscous. The stress is the same everywhere.
pub(crate) fn layers(height: f64, viscosity: f64) -> impl Fn(f64) -> f64 {
    let stress = 1.0 / (height / viscosity + 1.0 - height);
    move |y| match y < height {
        true => stress * y / viscosity,
        false => 1.0 - stress * (1.0 - y),
    }
}

/// Angular frequency of a small standing wave of wave number `k` between a liquid of a depth and density and gas of density 1,
/// which fill a height of 1, without viscosity (Lamb, Hydrodynamics, 6th ed., 1932, §§ 231, 267).
pub(crate) fn wave(k: f64, depth: f64, density: f64, [gravity, tension]: [f64; 2]) -> f64 {
    let inertia = density / (k * depth).tanh() + 1.0 / (k * (1.0 - depth)).tanh();
    (k * ((density - 1.0) * gravity + tension * k * k) / inertia).sqrt()
}

/// Rayleigh number and mean Nusselt number of a square cavity, Prandtl number 0.71 (de Vahl Davis 1983).
pub(crate) const CONVECTION: [[f64; 2]; 3] = [[1e3, 1.118], [1e4, 2.243], [1e5, 4.519]];

/// Velocity at `y` in fluid at rest between walls, a time after the upper one began to move with 1, with viscosity and height 1
/// (White, Viscous Fluid Flow, 3rd ed., 2006, eq. 3-108): a line and a series that decays.
pub(crate) fn started(time: f64, y: f64) -> f64 {
    let term = |n: i32| {
        let k = f64::from(n) * PI;
        let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
        sign * 2.0 / k * (-k * k * time).exp() * (k * y).sin()
    };
    y + (1..200).map(term).sum::<f64>()
}

/// Velocity and pressure behind the shock of a shock tube of perfect gas at rest, of pressure and density [`left`, 1] (Toro, Riemann
/// Solvers, 3rd ed., 2009, §4.2), by bisection.
pub(crate) fn tube(left: [f64; 2], gamma: f64) -> [f64; 2] {
    let rise = |p: f64, [pressure, density]: [f64; 2]| {
        let c = (gamma * pressure / density).sqrt();
        if p > pressure {
            let a = 2.0 / ((gamma + 1.0) * density);
            let b = (gamma - 1.0) / (gamma + 1.0) * pressure;
            (p - pressure) * (a / (p + b)).sqrt()
        } else {
            2.0 * c / (gamma - 1.0) * ((p / pressure).powf(0.5 * (gamma - 1.0) / gamma) - 1.0)
        }
    };
    let (mut low, mut high) = (1e-9, left[0].max(1.0));
    for _ in 0..200 {
        let p = 0.5 * (low + high);
        match rise(p, left) + rise(p, [1.0, 1.0]) < 0.0 {
            true => low = p,
            false => high = p,
        }
    }
    [rise(low, [1.0, 1.0]), low]
}

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
    assert!((layers(0.3, 1.0)(0.7) - 0.7).abs() < 1e-12, "one fluid");
    // A deep sea below light gas: g k.
    assert!(
        (wave(40.0, 0.5, 1e9, [1.0, 0.0]).powi(2) / 40.0 - 1.0).abs() < 1e-6,
        "deep"
    );
    // Shortly after, erfc(y / 2√t) from the wall; erfc(1) = 0.157299.
    assert!((started(1e-2, 0.8) - 0.157_299).abs() < 1e-5, "one wall");
    // Toro's test 1 with pressures over 0.1 and densities over 0.125: p* = 0.30313, u* = 0.92745.
    let [velocity, pressure] = tube([10.0, 8.0], 1.4);
    assert!((pressure / 3.0313 - 1.0).abs() < 1e-4, "{pressure}");
    assert!(
        (velocity * 0.8f64.sqrt() / 0.92745 - 1.0).abs() < 1e-4,
        "{velocity}"
    );
}
