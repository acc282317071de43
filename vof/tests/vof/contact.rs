//! Angles between the interface and walls.

use crate::mesh;
use cutlink_vof::{BoxFace, FlowParams, LiquidShape, Phases, TwoPhaseFlow};
use std::f64::consts::{FRAC_PI_2, PI};

fn wetting<const D: usize>(side: usize, angle: f64) -> FlowParams<D> {
    let mut contact_angles = [[FRAC_PI_2; 2]; D];
    contact_angles[side / 2][side % 2] = angle.to_radians();
    FlowParams {
        phases: Phases {
            density: [1.0, 0.1],
            viscosity: [0.3, 0.03],
            surface_tension: 1.0,
        },
        contact_angles,
        // Heights and jumps are the same to four digits with 1e-9.
        tolerance: 1e-6,
        ..mesh::params()
    }
}

/// A half disc on a face, until it is at rest at a time. Returns the height of its centre and the jump of the pressure, over those
/// of the cap of the same area.
fn cap(side: usize, angle: f64, end: f64) -> [f64; 2] {
    let radius = 0.2;
    let (axis, other) = (side / 2, 1 - side / 2);
    let face = (side % 2) as f64;
    let mut centre = [face; 2];
    centre[other] = 0.513;
    let mesh = mesh::mesh([8; 2], [false; 2], 1, |_, _| false);
    let ball = LiquidShape::Ball { centre, radius };
    let mut flow = TwoPhaseFlow::new(mesh, wetting(side, angle), &[ball]).expect("a flow");
    while flow.time() < end {
        flow.step(1.0).expect("a step");
    }
    let now = flow.integrals();
    assert!(now.largest_velocity < 0.05, "{}", now.largest_velocity);
    assert!((now.centre[other] - 0.513).abs() < 0.02, "{:?}", now.centre);
    // The area of a cap is R² (θ − sin θ cos θ).
    let t = angle.to_radians();
    let area = 0.5 * PI * radius * radius;
    let r = (area / (t - t.sin() * t.cos())).sqrt();
    let height = 4.0 * r * t.sin().powi(3) / (3.0 * (2.0 * t - (2.0 * t).sin())) - r * t.cos();
    let mut inside = [face + 0.05 - 0.1 * face; 2];
    inside[other] = 0.513;
    let mut outside = inside;
    outside[other] = 0.03;
    let jump = mesh::pressure_at(&flow, inside) - mesh::pressure_at(&flow, outside);
    [(now.centre[axis] - face).abs() / height, jump * r]
}

#[test]
fn a_drop_on_a_wall_is_a_cap() {
    // Round ones are sooner at rest than flat ones.
    for (side, angle, end) in [
        (2, 60.0, 1.2),
        (1, 120.0, 0.6),
        (3, 30.0, 1.2),
        (0, 150.0, 0.6),
    ] {
        let [height, jump] = cap(side, angle, end);
        assert!((height - 1.0).abs() < 0.03, "{angle}°: {height}");
        assert!((jump - 1.0).abs() < 0.05, "{angle}°: {jump}");
    }
}

/// Water at a vertical wall rises to a √(2 (1 − sin θ)), a² = σ/(ρ g).
#[test]
fn a_meniscus_rises_at_a_wall() {
    for angle in [60.0f64, 120.0] {
        let params = FlowParams::<2> {
            gravity: [0.0, -40.0],
            faces: [[BoxFace::Slip; 2], [BoxFace::NoSlip; 2]],
            ..wetting(0, angle)
        };
        let mesh = mesh::mesh([8, 4], [false; 2], 1, |_, _| false);
        let water = LiquidShape::HalfSpace {
            normal: [0.0, 1.0],
            offset: 0.26,
        };
        let mut flow = TwoPhaseFlow::new(mesh, params, &[water]).expect("a flow");
        while flow.time() < 1.2 {
            flow.step(1.0).expect("a step");
        }
        let height = |x: f64| {
            let sum = mesh::cells(flow.mesh())
                .into_iter()
                .filter(|(_, at, h)| (at[0] - x).abs() < 0.5 * h + 1e-12)
                .map(|(i, _, h)| flow.alpha()[i] * h);
            sum.sum::<f64>()
        };
        let h = 1.0 / 32.0;
        // At the face: from the column beside it, by the slope there.
        let wall = height(0.5 * h) + 0.5 * h / angle.to_radians().tan();
        let far = height(1.0 - 0.5 * h);
        let sign = if angle < 90.0 { 1.0 } else { -1.0 };
        let theory = sign * (2.0 * (1.0 - angle.to_radians().sin()) / (0.9 * 40.0)).sqrt();
        let rise = (wall - far) / theory;
        assert!((rise - 1.0).abs() < 0.025, "{angle}°: {rise}");
        let fastest = flow.integrals().largest_velocity;
        assert!(fastest < 0.02, "{angle}°: {fastest}");
    }
}

/// A half ball on a face in 3D becomes the cap of the same volume: 4 cells of its radius, 3 of the cap's height.
#[test]
fn a_drop_in_space_is_a_cap() {
    let (angle, radius) = (60.0f64, 0.25);
    let mesh = mesh::mesh([4; 3], [false; 3], 1, |_, _| false);
    let ball = LiquidShape::Ball {
        centre: [0.51, 0.49, 0.0],
        radius,
    };
    let mut flow = TwoPhaseFlow::new(mesh, wetting(4, angle), &[ball]).expect("a flow");
    while flow.time() < 1.2 {
        flow.step(1.0).expect("a step");
    }
    let now = flow.integrals();
    let (t, volume) = (angle.to_radians(), 2.0 / 3.0 * PI * radius.powi(3));
    let r = (3.0 * volume / (PI * (2.0 - 3.0 * t.cos() + t.cos().powi(3)))).cbrt();
    let h = r * (1.0 - t.cos());
    let centre = 3.0 * (2.0 * r - h).powi(2) / (4.0 * (3.0 * r - h)) - r * t.cos();
    let found = now.centre[2] / centre;
    assert!((found - 1.0).abs() < 0.2, "{found}");
    assert!(now.largest_velocity < 0.2, "{}", now.largest_velocity);
}
