//! Boxes that turn.

use crate::mesh;
use crate::worst::worst;
use cutlink_vof::{FlowParams, LiquidShape, Phases, Turning, TwoPhaseFlow};

/// Fluid that is at rest in the laboratory turns against the box, with the vorticity −2 Ω. In a square of edge 1 its energy is
/// half of Ω² by the torsion constant of the square, 0.1405770 (Timoshenko, Goodier 1970, §109).
fn spun_up(root: u32, has_coriolis: bool) -> f64 {
    let mesh = mesh::mesh([root; 2], [false; 2], 2, |c, h| c[0] > 0.5 - h);
    let longest_step = 0.16 / f64::from(4 * root);
    let params = FlowParams {
        longest_step,
        ..mesh::params()
    };
    let some = LiquidShape::Ball {
        centre: [0.79, 0.5],
        radius: 0.05,
    };
    let mut flow = TwoPhaseFlow::new(mesh, params, &[some]).expect("a flow");
    let end = 0.5;
    while flow.time() < end - 1e-12 {
        let dt = longest_step.min(end - flow.time());
        let spin = if has_coriolis {
            flow.time() + 0.5 * dt
        } else {
            0.0
        };
        let turning = Turning {
            center: [0.2, 0.9],
            spin: [0.0, 0.0, spin],
            rate: [0.0, 0.0, 1.0],
        };
        flow.set_weight([0.0; 2], Some(turning)).expect("numbers");
        let done = flow.step(dt).expect("a step");
        assert!((done.dt - dt).abs() < 1e-15, "{done:?}");
    }
    flow.integrals().kinetic / (0.5 * end * end * 0.140_577_0) - 1.0
}

#[test]
fn fluid_in_a_square_that_turns_has_the_energy_of_a_twisted_bar() {
    let [coarse, fine] = [2, 4].map(|root| spun_up(root, true));
    assert!(fine.abs() < 0.02, "{coarse:e}, {fine:e}");
    assert!(fine.abs() < 0.3 * coarse.abs(), "{coarse:e}, {fine:e}");
    // In 2D the Coriolis force of a solenoidal velocity is a gradient: the pressure takes it up.
    let without = spun_up(4, false);
    assert!((fine - without).abs() < 2e-3, "{fine:e}, {without:e}");
}

#[test]
fn a_free_velocity_turns_by_twice_the_angle() {
    let mesh = mesh::mesh([2; 3], [true; 3], 2, |c, h| c[0] > 0.5 - h);
    let params = FlowParams {
        longest_step: 0.02,
        ..mesh::params()
    };
    let ball = LiquidShape::Ball {
        centre: [0.76, 0.5, 0.5],
        radius: 0.1,
    };
    let mut flow = TwoPhaseFlow::new(mesh, params, &[ball]).expect("a flow");
    flow.set_velocity(|_| [0.5, 0.1, -0.2]).expect("a velocity");
    // About (0, 3, 4) / 5 by 2 x 5 x 0.1 rad, backwards.
    let turning = Turning {
        center: [0.0; 3],
        spin: [0.0, 3.0, 4.0],
        rate: [0.0; 3],
    };
    flow.set_weight([0.0; 3], Some(turning)).expect("numbers");
    while flow.time() < 0.1 - 1e-12 {
        flow.step(0.1 - flow.time()).expect("a step");
    }
    // u cos + (k x u) sin + k (k.u) (1 - cos), with k.u = -0.1.
    let (sin, cos) = (-1f64).sin_cos();
    let cross = [0.6 * -0.2 - 0.8 * 0.1, 0.8 * 0.5, -0.6 * 0.5];
    let expected = [
        0.5 * cos + cross[0] * sin,
        0.1 * cos + cross[1] * sin + 0.6 * -0.1 * (1.0 - cos),
        -0.2 * cos + cross[2] * sin + 0.8 * -0.1 * (1.0 - cos),
    ];
    let cells = 64;
    let off = (0..3).flat_map(|a| {
        let flow = &flow;
        (0..flow.velocity()[a].len())
            .filter(move |i| flow.mesh().blocks().is_leaf(i / cells))
            .map(move |i| (flow.velocity()[a][i] - expected[a]).abs())
    });
    assert!(worst(off) < 1e-12);
}

/// A light bubble in the middle of a box that turns stays there: heavy fluid is driven outward.
fn spurious(root: u32) -> f64 {
    let mesh = mesh::mesh([root; 2], [false; 2], 1, |_, _| false);
    let params = FlowParams {
        phases: Phases {
            density: [1.0, 1000.0],
            viscosity: [0.0; 2],
            surface_tension: 0.0,
        },
        longest_step: 2e-3,
        turning: Some(Turning {
            center: [0.5; 2],
            spin: [0.0, 0.0, 2.0],
            rate: [0.0; 3],
        }),
        ..mesh::params()
    };
    let bubble = LiquidShape::Ball {
        centre: [0.5; 2],
        radius: 0.3,
    };
    let mut flow = TwoPhaseFlow::new(mesh, params, &[bubble]).expect("a flow");
    while flow.time() < 0.5 {
        flow.step(1.0).expect("a step");
    }
    let now = flow.integrals();
    assert!(worst(now.centre.map(|x| (x - 0.5).abs())) < 1e-3);
    // Against that of the box at the interface, of the heavy fluid.
    (2.0 * now.kinetic / (1000.0 * (1.0 - 0.09 * std::f64::consts::PI))).sqrt() / 0.6
}

#[test]
fn a_bubble_in_the_middle_of_a_box_that_turns_rests() {
    let [coarse, fine] = [8, 16].map(spurious);
    assert!(fine < 0.02 && fine < coarse, "{coarse:e}, {fine:e}");
}
