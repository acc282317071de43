//! What is refused.

use crate::mesh;
use cutlink_vof::{BoxFace, FlowParams, LiquidShape, Turning, TwoPhaseError, TwoPhaseFlow};

fn small() -> cutlink_vof::FlowMesh<2> {
    mesh::mesh([2; 2], [false; 2], 1, |_, _| false)
}

#[test]
fn parameters_out_of_their_range() {
    type Change = fn(&mut FlowParams<2>);
    let changes: [(&str, Change); 8] = [
        ("a density", |p| p.phases.density[1] = 0.0),
        ("the ratio of the densities", |p| p.phases.density[1] = 1e-6),
        ("a viscosity", |p| p.phases.viscosity[0] = -1.0),
        ("the smaller viscosity", |p| p.phases.viscosity = [1.0, 0.0]),
        ("the surface tension", |p| p.phases.surface_tension = -0.1),
        ("the Courant number", |p| p.courant = 0.6),
        ("gravity", |p| p.gravity[0] = f64::NAN),
        ("a pressure", |p| {
            p.faces[0][0] = BoxFace::Pressure {
                value: f64::INFINITY,
                liquid: 0.0,
            }
        }),
    ];
    for (name, change) in changes {
        let mut params = mesh::params();
        change(&mut params);
        let error = TwoPhaseFlow::new(small(), params, &[]).expect_err(name);
        assert!(
            matches!(error, TwoPhaseError::Parameter { what, .. } if what == name),
            "{error}"
        );
    }
}

/// Weight along a periodic axis, and a box that turns with one, at the start and later.
#[test]
fn weight_along_a_periodic_axis() {
    let mesh = || mesh::mesh([2; 2], [true, false], 1, |_, _| false);
    let mut across = FlowParams {
        gravity: [0.0, -1.0],
        ..mesh::params()
    };
    across.phases.density[1] = 0.5;
    let along = FlowParams {
        gravity: [0.5, -1.0],
        ..mesh::params()
    };
    let error = TwoPhaseFlow::new(mesh(), along, &[]).expect_err("weight");
    let text = "gravity along a periodic axis";
    assert!(error.to_string().contains(text), "{error}");
    let mut flow = TwoPhaseFlow::new(mesh(), across, &[]).expect("a flow");
    let error = flow.set_weight([-0.1, 0.0], None).expect_err("weight");
    assert!(error.to_string().contains(text), "{error}");
    let turning = Turning {
        center: [0.5; 2],
        spin: [0.0, 0.0, 1.0],
        rate: [0.0; 3],
    };
    let error = flow.set_weight([0.0, -1.0], Some(turning));
    let error = error.expect_err("it turns").to_string();
    assert!(error.contains("turning of a box"), "{error}");
}

#[test]
fn a_liquid_outside_and_an_interface_on_a_coarse_level() {
    let outside = LiquidShape::Ball {
        centre: [2.0, 0.5],
        radius: 0.1,
    };
    let error = TwoPhaseFlow::new(small(), mesh::params(), &[outside]).expect_err("outside");
    assert!(
        matches!(
            error,
            TwoPhaseError::Parameter {
                what: "the start of a liquid",
                ..
            }
        ),
        "{error}"
    );
    let mesh = mesh::mesh([4; 2], [false; 2], 2, |c, _| c[0] < 0.3);
    let level = LiquidShape::HalfSpace {
        normal: [0.0, 1.0],
        offset: 0.51,
    };
    let error = TwoPhaseFlow::new(mesh, mesh::params(), &[level]).expect_err("coarse");
    assert!(
        matches!(
            error,
            TwoPhaseError::CoarseInterface {
                level: 0,
                finest: 1,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn nan_is_an_error_with_its_place_and_time() {
    let mut flow = TwoPhaseFlow::new(small(), mesh::params(), &[]).expect("a flow");
    flow.step(0.1).expect("a step");
    let mut state = flow.save();
    let n = flow.alpha().len();
    state.values[n + 20] = f64::NAN;
    flow.restore(&state).expect("the same flow");
    let error = flow.check().expect_err("NaN");
    assert!(
        matches!(
            error,
            TwoPhaseError::NotFinite {
                what: "velocity",
                ..
            }
        ),
        "{error}"
    );
    assert!(flow.step(0.1).is_err(), "a step from NaN");
    state.values.pop();
    let error = flow.restore(&state).expect_err("too short");
    assert!(matches!(error, TwoPhaseError::Saved { .. }), "{error}");
}

#[test]
fn an_inflow_without_an_outlet() {
    let mut params = mesh::params();
    params.faces[0][0] = BoxFace::Inflow {
        velocity: [1.0, 0.0],
        liquid: 0.0,
    };
    let mut flow = TwoPhaseFlow::new(small(), params, &[]).expect("a flow");
    let error = flow.step(0.1).expect_err("nowhere to go");
    assert!(
        matches!(error, TwoPhaseError::NoOutlet { rate } if (rate.abs() - 1.0).abs() < 1e-9),
        "{error}"
    );
}

/// A uniform flow through a periodic box leaves rounding on both sides of that balance.
#[test]
fn a_periodic_box_needs_no_outlet() {
    let periodic = mesh::mesh([4; 2], [true; 2], 1, |_, _| false);
    let mut flow = TwoPhaseFlow::new(periodic, mesh::params(), &[]).expect("a flow");
    flow.set_velocity(|_| [0.3, 0.7]).expect("nothing enters");
    flow.step(0.01).expect("nothing enters");
    let off = flow.velocity()[1].iter().map(|v| (v - 0.7).abs());
    assert!(crate::worst::worst(off) < 1e-12, "it goes on as it is");
}
