//! V4b, V4c: a drop at rest.

use crate::mesh;
use crate::worst::worst;
use cutlink_vof::{FlowParams, LiquidShape, Phases, TwoPhaseFlow};

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
    flow.step(1.0).expect("a step");
    let first = largest(&flow);
    // A viscous time: D² / ν.
    let end = DIAMETER * DIAMETER / (DIAMETER / 120.0f64).sqrt() * 0.25;
    while flow.time() < end {
        flow.step(1.0).expect("a step");
    }
    let last = largest(&flow);
    assert!(last < 1e-5 && last < 0.1 * first, "{first:e} to {last:e}");
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
