//! Forces on walls, and gauges.

use crate::mesh;
use crate::worst::worst;
use cutlink_vof::{FlowMesh, FlowParams, LiquidShape, Phases, TwoPhaseFlow};

fn water() -> FlowParams<2> {
    FlowParams {
        phases: Phases {
            density: [1000.0, 1.0],
            viscosity: [1e-3, 2e-5],
            surface_tension: 0.0,
        },
        gravity: [0.0, -9.81],
        tolerance: 1e-12,
        longest_step: 1e-2,
        ..mesh::params()
    }
}

/// A box of 4 x 4 roots with a fine layer, and the block around (0.4, 0.2) solid.
fn tank() -> FlowMesh<2> {
    let forest = mesh::forest([4, 4], [false; 2], 3, |c, h| (c[1] - 0.5).abs() < 0.09 + h);
    let mut solid = vec![0; forest.capacity()];
    let id = forest.find(0, [1, 0]).expect("a root block");
    // Two rows of cells: 0.25 to 0.5 by 0.125 to 0.25.
    solid[id as usize] = 0xff00;
    FlowMesh::new(&forest, [0.0; 2], 1.0 / 16.0, solid).expect("a mesh")
}

#[test]
fn walls_bear_the_weight_and_a_body_its_buoyancy() {
    let surface = LiquidShape::HalfSpace {
        normal: [0.0, 1.0],
        offset: 0.513,
    };
    let mut flow = TwoPhaseFlow::new(tank(), water(), &[surface]).expect("a flow");
    for _ in 0..5 {
        flow.step(1.0).expect("a step");
    }
    let loads = flow.loads([0.0; 2]);
    let body = 0.25 * 0.125;
    let mass = 1000.0 * (0.513 - body) + (1.0 - 0.513);
    let total = |k: usize| loads.iter().map(|of| of.pressure[k]).sum::<f64>();
    assert!((total(1) / (-9.81 * mass) - 1.0).abs() < 1e-9, "{loads:?}");
    assert!(total(0).abs() < 1e-7, "{loads:?}");
    let buoyancy = 9.81 * 1000.0 * body;
    assert!((loads[4].pressure[1] / buoyancy - 1.0).abs() < 1e-9);
    assert!((loads[4].moment[2] / (0.375 * buoyancy) - 1.0).abs() < 1e-9);
    assert!((loads[4].area - 0.75).abs() < 1e-12);
    // Against the pressure at the top: water of so much depth.
    let across = loads[1].pressure[0] + loads[3].pressure[1];
    let p = -loads[3].pressure[1];
    let depth = 0.487;
    let side = 9.81 * (0.5 * depth * depth + depth * 0.513 + 0.5 * 1000.0 * 0.513 * 0.513);
    assert!((across + 2.0 * p - side).abs() < 2.0, "{across} {side}");
    // Through the body, and beside it.
    let [length, top] = flow.along([0.4, 0.0], 1, 1.0);
    assert!((length - (0.513 - 0.125)).abs() < 1e-9, "{length}");
    assert!((top - 0.513).abs() < 0.01, "{top}");
    let [length, _] = flow.along([0.9, 7.0], 1, 1.0);
    assert!((length - 0.513).abs() < 1e-9, "{length}");
    let [length, top] = flow.along([0.0, 0.3], 0, 1.0);
    assert!((length - 1.0).abs() < 1e-9 && (top - 1.0).abs() < 1e-9);
    assert!(flow.along([0.5, 0.9], 0, -1.0)[1].is_nan());
}

#[test]
fn walls_of_a_channel_bear_what_drives_it() {
    let mesh = mesh::mesh([1, 2], [true, false], 1, |_, _| false);
    let params = FlowParams {
        phases: Phases {
            density: [2.0, 2.0],
            viscosity: [0.5, 0.5],
            surface_tension: 0.0,
        },
        gravity: [0.0; 2],
        faces: [[cutlink_vof::BoxFace::NoSlip; 2]; 2],
        longest_step: 0.5,
        ..mesh::params()
    };
    let some = LiquidShape::Ball {
        centre: [0.5, 1.0],
        radius: 0.3,
    };
    let mut flow = TwoPhaseFlow::new(mesh, params, &[some]).expect("a flow");
    let profile = |y: f64| 0.4 * y * (2.0 - y);
    flow.set_velocity(|x| [profile(x[1]), 0.0]).expect("a flow");
    let loads = flow.loads([0.0, 1.0]);
    // mu du/dy = 0.5 x 0.8 on both, by the difference over half a cell of 0.25.
    let expected = 0.5 * profile(0.125) / 0.125;
    let off = [2, 3].map(|side| (loads[side].friction[0] - expected).abs());
    assert!(worst(off) < 1e-12, "{loads:?}");
    assert!((loads[2].moment[2] - expected).abs() < 1e-12);
    assert!((loads[3].moment[2] + expected).abs() < 1e-12);
    assert!((expected / 0.4 - 1.0).abs() < 0.07);
}

/// What walls do not bear accelerates the fluid.
#[test]
fn loads_are_the_weight_less_the_change_of_momentum() {
    let params = FlowParams {
        longest_step: 1e-3,
        ..water()
    };
    let column = LiquidShape::Box([[-1.0, -1.0], [0.3, 0.6]]);
    let mesh = mesh::mesh([4, 4], [false; 2], 3, |_, _| true);
    let mut flow = TwoPhaseFlow::new(mesh, params, &[column]).expect("a flow");
    let momentum = |flow: &TwoPhaseFlow<2>| -> [f64; 2] {
        let volume = 1.0 / 4096.0;
        let cells = flow.mesh().blocks().cells();
        let fluid = (0..cells).filter(|i| flow.mesh().blocks().is_leaf(i / 16));
        fluid.fold([0.0; 2], |sum, i| {
            let rho = 1.0 + 999.0 * flow.alpha()[i];
            std::array::from_fn(|k| sum[k] + volume * rho * flow.velocity()[k][i])
        })
    };
    let (mut impulse, mut time) = ([0.0; 2], 0.0);
    let mass = 1000.0 * 0.18 + 0.82;
    for _ in 0..150 {
        let dt = flow.step(1.0).expect("a step").dt;
        time += dt;
        for load in flow.loads([0.0; 2]) {
            (0..2).for_each(|k| impulse[k] -= dt * (load.pressure[k] + load.friction[k]));
        }
    }
    impulse[1] -= 9.81 * mass * time;
    let found = momentum(&flow);
    // The dam falls: momentum along x and down.
    assert!(found[0] > 20.0 && found[1] < -10.0, "{found:?}");
    for k in 0..2 {
        assert!(
            (found[k] - impulse[k]).abs() < 0.02 * found[0],
            "{found:?}, {impulse:?}"
        );
    }
}
