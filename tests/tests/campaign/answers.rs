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

/// A circle that turns freely in fluid between it and a wall of radius 1; density 1. A metre of depth.
pub(crate) struct SpinDown {
    pub(crate) radius: f64,
    pub(crate) viscosity: f64,
    pub(crate) inertia: f64,
    /// Torque a radian of a spring.
    pub(crate) stiffness: f64,
}

impl SpinDown {
    /// Times and angular velocities from `start` to `longest`, or until this share of it is left. Rings of fluid exchange
    /// momentum by ∂u/∂t = ν (∂²u/∂r² + ∂u/∂r / r - u / r²): central differences, implicit Euler.
    pub(crate) fn speeds(&self, start: f64, longest: f64, share: f64) -> Vec<(f64, f64)> {
        const RINGS: usize = 300;
        const STEPS: usize = 20_000;
        let h = (1.0 - self.radius) / RINGS as f64;
        let r = |j: usize| self.radius + h * j as f64;
        let slowing = 4.0 * PI * self.viscosity * self.radius.powi(2) / (1.0 - self.radius.powi(2));
        let longest = match self.stiffness > 0.0 {
            true => longest,
            false => longest.min(4.0 * (self.inertia / slowing + 1.0 / self.viscosity)),
        };
        let dt = longest / STEPS as f64;
        let of = self.viscosity * dt / (h * h);
        // Velocities at the next time for a wall with this one, by elimination.
        let next = |wall: f64, u: &[f64]| {
            let [mut c, mut d] = [vec![0.0; RINGS + 1], vec![0.0; RINGS + 1]];
            d[0] = wall;
            for j in 1..RINGS {
                let [low, high] = [-1.0, 1.0].map(|s| -of * (1.0 + s * 0.5 * h / r(j)));
                let middle = 1.0 + of * (2.0 + (h / r(j)).powi(2));
                let pivot = middle - low * c[j - 1];
                c[j] = high / pivot;
                d[j] = (u[j] - low * d[j - 1]) / pivot;
            }
            for j in (0..RINGS).rev() {
                d[j] -= c[j] * d[j + 1];
            }
            d
        };
        // Torque of the fluid: 2 π R² μ (∂u/∂r - u / R).
        let torque = |u: &[f64]| {
            let slope = (-1.5 * u[0] + 2.0 * u[1] - 0.5 * u[2]) / h;
            2.0 * PI * self.radius.powi(2) * self.viscosity * (slope - u[0] / self.radius)
        };
        let unit = next(self.radius, &[0.0; RINGS + 1]);
        let mut u = vec![0.0; RINGS + 1];
        let (mut omega, mut angle, mut speeds) = (start, 0.0, vec![(0.0, start)]);
        for step in 1..=STEPS {
            let still = next(0.0, &u);
            let drive = torque(&still) - self.stiffness * angle;
            omega = (self.inertia * omega + dt * drive)
                / (self.inertia - dt * torque(&unit) + dt * dt * self.stiffness);
            angle += dt * omega;
            u = still
                .iter()
                .zip(&unit)
                .map(|(a, b)| a + omega * b)
                .collect();
            speeds.push((dt * step as f64, omega));
            if omega < share * start && share > 0.0 {
                break;
            }
        }
        speeds
    }
}

/// Force of fluid of density 1 on a circle that swings with the velocity sin ω t in the middle of a round hole of radius 1, a metre of
/// depth: its parts along cos ω t and sin ω t. Stokes' equations by the stream function (A r + B / r + C I₁(λr) + D K₁(λr)) sin θ, λ² = i ω / ν
/// (Chen, Wambsganss & Jendrzejczyk 1976).
pub(crate) fn swinging(radius: f64, omega: f64, viscosity: f64) -> [f64; 2] {
    type Complex = [f64; 2];
    let mul = |a: Complex, b: Complex| [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]];
    let exp = |z: Complex| [z[0].exp() * z[1].cos(), z[0].exp() * z[1].sin()];
    let size = (omega / viscosity).sqrt();
    let lambda = [size * 0.5f64.sqrt(), size * 0.5f64.sqrt()];
    // Integrals of Bessel functions of order n, scaled so that neither overflows; the rule of rectangles is exact to rounding.
    let sum = |of: &dyn Fn(f64) -> Complex, to: f64| {
        const PARTS: usize = 4000;
        let mut sum = [0.0; 2];
        for k in 0..=PARTS {
            let weight = if k == 0 || k == PARTS { 0.5 } else { 1.0 };
            let value = of(to * k as f64 / PARTS as f64);
            sum = [0, 1].map(|p| sum[p] + weight * value[p]);
        }
        sum.map(|s| s * to / PARTS as f64)
    };
    let i = |n: f64, r: f64| {
        let of = |t: f64| {
            let z = exp([0, 1].map(|p| lambda[p] * (r * t.cos() - 1.0)));
            z.map(|z| z * (n * t).cos() / PI)
        };
        sum(&of, PI)
    };
    let k = |n: f64, r: f64| {
        let of = |t: f64| {
            let z = exp([0, 1].map(|p| -lambda[p] * (r * t.cosh() - radius)));
            z.map(|z| z * (n * t).cosh())
        };
        sum(&of, 9.0 - (size * radius).ln().min(7.0))
    };
    // Value and slope at a radius of the four parts.
    let parts = |r: f64| {
        let slope = |sign: f64, zero: Complex, one: Complex| {
            let first = mul(lambda, zero);
            [0, 1].map(|p| sign * first[p] - one[p] / r)
        };
        let [i1, k1] = [i(1.0, r), k(1.0, r)];
        [
            [[r, 0.0], [1.0 / r, 0.0], i1, k1],
            [
                [1.0, 0.0],
                [-1.0 / (r * r), 0.0],
                slope(1.0, i(0.0, r), i1),
                slope(-1.0, k(0.0, r), k1),
            ],
        ]
    };
    // The circle has velocity 1, the wall none. Gauss, with pivots.
    let [[a, b], [c, d]] = [parts(radius), parts(1.0)];
    let mut rows = [(a, radius), (b, 1.0), (c, 0.0), (d, 0.0)]
        .map(|(row, right)| [row[0], row[1], row[2], row[3], [right, 0.0]]);
    let norm = |z: Complex| z[0] * z[0] + z[1] * z[1];
    for j in 0..4 {
        let best = (j..4).max_by(|&p, &q| norm(rows[p][j]).total_cmp(&norm(rows[q][j])));
        rows.swap(j, best.expect("rows"));
        let pivot = rows[j][j];
        let inverse = [pivot[0] / norm(pivot), -pivot[1] / norm(pivot)];
        let scaled = rows[j].map(|z| mul(z, inverse));
        rows[j] = scaled;
        for p in (0..4).filter(|&p| p != j) {
            let times = rows[p][j];
            for q in 0..5 {
                let less = mul(times, scaled[q]);
                rows[p][q] = [0, 1].map(|c| rows[p][q][c] - less[c]);
            }
        }
    }
    // i ω π (R² - 2 B) for a velocity exp(i ω t), of which sin ω t is the part along -i.
    let b = rows[1][4];
    let force = mul(
        [0.0, omega * PI],
        [radius * radius - 2.0 * b[0], -2.0 * b[1]],
    );
    [force[1], force[0]]
}

#[test]
fn answers_for_bodies_have_their_limits() {
    // Without viscosity: the mass of fluid times (1 + R²) / (1 - R²) (Lamb 1932, § 72).
    let [along, across] = swinging(0.5, 1.0, 1e-7);
    let mass = -PI * 0.25 * 1.25 / 0.75;
    assert!((along / mass - 1.0).abs() < 0.004, "{along} of {mass}");
    assert!((across / mass).abs() < 0.004, "{across}");
    // Slow: a drag against the velocity, of 4 π μ / (ln (1 / R) - (1 - R²) / (1 + R²)) (Happel & Brenner 1965).
    let [along, across] = swinging(0.5, 1e-2, 1.0);
    let drag = -4.0 * PI / (2f64.ln() - 0.75 / 1.25);
    assert!((across / drag - 1.0).abs() < 1e-3, "{across} of {drag}");
    assert!((along / drag).abs() < 1e-2, "{along}");
    // A heavy circle: the torque of fluid that follows at once.
    let heavy = SpinDown {
        radius: 0.5,
        viscosity: 1.0,
        inertia: 1e3,
        stiffness: 0.0,
    };
    let (time, speed) = *heavy.speeds(2.0, 1e9, 0.5).last().expect("a start");
    let rate = 4.0 * PI * 0.25 / 0.75 / 1e3;
    assert!(
        (speed / 2.0 / (-rate * time).exp() - 1.0).abs() < 1e-3,
        "{speed} at {time}"
    );
    // A stiff spring: the frequency of a body without fluid.
    let stiff = SpinDown {
        stiffness: 1e7,
        ..heavy
    };
    let hertz = crate::judge::frequency(&stiff.speeds(2.0, 0.2, 0.0), 0.0);
    assert!((hertz * 2.0 * PI / 100.0 - 1.0).abs() < 1e-3, "{hertz}");
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
