//! V4b, V4c: a drop at rest.

use crate::mesh;
use crate::worst::worst;
use cutlink_vof::{FlowParams, LiquidShape, Phases, TwoPhaseFlow};
use std::f64::consts::PI;

const DIAMETER: f64 = 0.4;

/// A drop of 25.6 cells in a closed box; densities 1 and 1 / `ratio`, surface tension 1.
fn drop(ratio: f64, laplace: f64, fixed: Option<f64>) -> TwoPhaseFlow<2> {
    let mu = (DIAMETER / laplace).sqrt();
    let params = FlowParams {
        phases: Phases {
            density: [1.0, 1.0 / ratio],
            viscosity: [mu, if ratio > 1.0 { mu / 50.0 } else { mu }],
            surface_tension: 1.0,
        },
        tolerance: if fixed.is_some() { 1e-14 } else { 1e-9 },
        fixed_curvature: fixed,
        ..mesh::params()
    };
    let mesh = mesh::mesh([16; 2], [false; 2], 1, |_, _| false);
    let shape = LiquidShape::Ball {
        centre: [0.5; 2],
        radius: 0.5 * DIAMETER,
    };
    TwoPhaseFlow::new(mesh, params, &[shape]).expect("a flow")
}

/// The largest velocity over that of surface tension and inertia.
fn largest(flow: &TwoPhaseFlow<2>) -> f64 {
    flow.integrals().largest_velocity * DIAMETER.sqrt()
}

#[test]
fn v4b_exact_curvature_balances_to_rounding() {
    for ratio in [1.0, 1000.0] {
        let mut flow = drop(ratio, 12_000.0, Some(2.0 / DIAMETER));
        for _ in 0..50 {
            flow.step(1.0).expect("a step");
        }
        let found = largest(&flow);
        assert!(found < 1e-13, "ratio {ratio}: {found:e}");
        let mut other = drop(ratio, 12_000.0, None);
        other.step(1.0).expect("a step");
        assert!(largest(&other) > 1e-6, "heights are not exact");
    }
}

#[test]
fn v4c_with_heights_the_velocity_falls() {
    let mut flow = drop(1.0, 120.0, None);
    // Half a viscous time, D² / ν. By curvatures that are weighted by c (1 − c) at faces it is 2e-6 then, and halves in 3 s.
    let end = DIAMETER * DIAMETER / (DIAMETER / 120.0f64).sqrt() * 0.5;
    while flow.time() < end {
        flow.step(1.0).expect("a step");
    }
    let last = largest(&flow);
    assert!(last < 2e-7, "{last:e}");
    let inside = mesh::pressure_at(&flow, [0.5; 2]) - mesh::pressure_at(&flow, [0.05; 2]);
    let jump = inside * 0.5 * DIAMETER - 1.0;
    assert!(jump.abs() < 5e-3, "{jump:e}");
}

/// A ball of 8 cells, ρσD/μ² = 560: with a parabola that weighs all positions alike it is in pieces by then, at a velocity of 3.5.
#[test]
fn a_small_ball_stays_one() {
    let params = FlowParams {
        phases: Phases {
            density: [1.0, 0.1],
            viscosity: [0.03, 0.003],
            surface_tension: 1.0,
        },
        ..mesh::params()
    };
    let mesh = mesh::mesh([4; 3], [false; 3], 1, |_, _| false);
    let centre = [0.51, 0.49, 0.47];
    let ball = LiquidShape::Ball {
        centre,
        radius: 0.25,
    };
    let mut flow = TwoPhaseFlow::new(mesh, params, &[ball]).expect("a flow");
    while flow.time() < 0.4 {
        flow.step(1.0).expect("a step");
    }
    let now = flow.integrals();
    assert!(now.largest_velocity < 0.2, "{}", now.largest_velocity);
    let moved = (0..3).map(|a| (now.centre[a] - centre[a]).abs());
    assert!(worst(moved) < 0.01, "{:?}", now.centre);
}

/// A ball of 16 cells, 1000 : 1, swings in its second mode for half a period: Lamb 1932 has its frequency, and the velocity
/// of its poles is the largest one. With fits at the nearest position instead of at their own cell, neighbours hand liquid to each other,
/// and the velocity is three times as large by then.
#[test]
fn a_light_gas_around_a_ball_gains_nothing() {
    let (ratio, mu, swing, radius) = (1000.0, 0.001, 0.05, 0.4f64);
    let params = FlowParams {
        phases: Phases {
            density: [1.0, 1.0 / ratio],
            viscosity: [mu, 0.02 * mu].map(|mu| mu * radius.sqrt()),
            surface_tension: 1.0,
        },
        tolerance: 1e-6,
        courant: 0.4,
        ..mesh::params()
    };
    let mesh = mesh::mesh([5; 3], [false; 3], 1, |_, _| false);
    let centre = [0.13, -0.221, 0.299].map(|x| 0.5 + x / 20.0);
    let ball = LiquidShape::Ball { centre, radius };
    let mut flow = TwoPhaseFlow::new(mesh, params, &[ball]).expect("a flow");
    let frequency = (24.0 / ((3.0 + 2.0 / ratio) * radius.powi(3))).sqrt();
    let speed = swing * frequency * radius;
    // The radius becomes 1 + 0.05 sin(ωt) P₂ times as large: the velocity is ∇(r² P₂) / 2R inside, −R⁴ ∇(P₂ / r³) / 3
    // outside.
    let start = |x: [f64; 3]| {
        let y: [f64; 3] = std::array::from_fn(|a| (x[a] - centre[a]) / radius);
        let square = y.iter().map(|y| y * y).sum::<f64>();
        let rise = [-y[0], -y[1], 2.0 * y[2]];
        if square < 1.0 {
            return rise.map(|rise| 0.5 * speed * rise);
        }
        let (fifth, legendre) = (square.powf(-2.5), 1.5 * y[2] * y[2] - 0.5 * square);
        std::array::from_fn(|a| -speed / 3.0 * fifth * (rise[a] - 5.0 * legendre * y[a] / square))
    };
    flow.set_velocity(start).expect("a projection");
    let first = flow.integrals();
    // Of the swing: 4π R² σ · 2 (0.05)² / 5.
    let energy = 4.0 * PI * radius * radius * 0.4 * swing * swing;
    assert!(
        (first.kinetic / energy - 1.0).abs() < 0.05,
        "{}",
        first.kinetic / energy
    );
    while flow.time() < PI / frequency {
        flow.step(1.0).expect("a step");
    }
    let now = flow.integrals();
    let (fastest, left) = (now.largest_velocity / speed, now.kinetic / first.kinetic);
    assert!(fastest < 1.2, "{fastest}");
    // Damped by exp(−10 ν t / R²) in theory.
    assert!(left > 0.85 && left < 1.0, "{left}");
}
