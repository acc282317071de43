//! Steps of flows with heat.

use crate::flows::{Steps, compare, steps};
use crate::mesh::{self, levels};
use cutlink_tests::backend_test;
use cutlink_vof::{
    BoxFace, FlowMesh, FlowParams, HeatParams, LiquidShape, Phases, TwoPhaseFlow, WallHeat,
};

backend_test!(
    on_gpu:
    a_warm_column_breaks,
    a_mesh_that_follows_carries_heat,
    a_cavity_convects,
    a_hot_body_and_openings,
    a_saved_state_with_heat,
);

fn params<const D: usize>() -> FlowParams<D> {
    let mut gravity = [0.0; D];
    gravity[D - 1] = -9.81;
    FlowParams {
        phases: Phases {
            density: [1000.0, 1.2],
            viscosity: [1e-3, 2e-5],
            surface_tension: 0.07,
        },
        gravity,
        faces: [[BoxFace::NoSlip; 2]; D],
        courant: 0.4,
        ..mesh::params()
    }
}

fn heat<const D: usize>() -> HeatParams<D> {
    let mut faces = [[WallHeat::Insulated; 2]; D];
    faces[0] = [WallHeat::Temperature(320.0), WallHeat::Flux(40.0)];
    HeatParams {
        capacity: [4180.0, 1005.0],
        conductivity: [0.6, 0.026],
        expansion: [2e-4, 3e-3],
        reference: 300.0,
        faces,
        bodies: Vec::new(),
    }
}

fn temperature<const D: usize>(x: [f64; D]) -> f64 {
    290.0 + 50.0 * x[0] + 10.0 * x[D - 1] * x[D - 1]
}

fn column<const D: usize>() -> LiquidShape<D> {
    let mut to = [2.0; D];
    (to[0], to[D - 1]) = (0.31, 0.52);
    LiquidShape::Box([[-1.0; D], to])
}

/// What is told of the heat, beside what steps report.
fn go<const D: usize>(flow: &mut TwoPhaseFlow<D>) -> Vec<f64> {
    let mut out = steps(flow);
    let account = flow.heat_account().expect("a flow with heat");
    out.extend([account.heat, account.capacity, account.defect]);
    out.extend(account.extremes);
    out.extend(&account.through);
    out.extend(flow.temperature().expect("a flow with heat"));
    out
}

fn warm<const D: usize>(flow: TwoPhaseFlow<D>, of: HeatParams<D>) -> TwoPhaseFlow<D> {
    flow.with_heat(of, temperature).expect("heat")
}

fn still<const D: usize>(root: [u32; D]) -> TwoPhaseFlow<D> {
    let mesh = mesh::mesh(root, [false; D], 1, |_, _| false);
    let flow = TwoPhaseFlow::new(mesh, params(), &[column()]).expect("a flow");
    warm(flow, heat())
}

fn a_warm_column_breaks<K: Steps>(kernels: &K) {
    compare(kernels, || still([6; 2]), go);
    compare(kernels, || still([4; 3]), go);
}

fn a_mesh_that_follows_carries_heat<K: Steps>(kernels: &K) {
    // Ten steps without a look: two cells at most.
    let slow = || FlowParams {
        courant: 0.2,
        ..params()
    };
    let make = || {
        warm(
            mesh::followed([3; 2], slow(), &[column()], levels(3)),
            heat(),
        )
    };
    compare(kernels, make, |flow| {
        let mut out = Vec::new();
        for _ in 0..20 {
            flow.adapt_if_due().expect("a look");
            flow.adapt().expect("a look");
            out.extend(go(flow));
        }
        out
    });
    let make = || {
        warm(
            mesh::followed([2; 3], params(), &[column()], levels(2)),
            heat(),
        )
    };
    compare(kernels, make, |flow| {
        flow.adapt().expect("a look");
        go(flow)
    });
}

fn a_cavity_convects<K: Steps>(kernels: &K) {
    let cavity = FlowParams {
        phases: Phases {
            density: [1.0; 2],
            viscosity: [0.71; 2],
            surface_tension: 0.0,
        },
        gravity: [0.0, -71.0],
        ..params()
    };
    let of = HeatParams {
        capacity: [1.0; 2],
        conductivity: [1.0; 2],
        expansion: [10.0; 2],
        ..heat()
    };
    let make = || {
        let mesh = mesh::mesh([4; 2], [false; 2], 2, |c, _| c[0] > 0.5);
        let flow = TwoPhaseFlow::new(mesh, cavity.clone(), &[]).expect("a flow");
        warm(flow, of.clone())
    };
    compare(kernels, make, go);
}

fn a_hot_body_and_openings<K: Steps>(kernels: &K) {
    let make = || {
        let forest = mesh::forest([4; 2], [false; 2], 1, |_, _| false);
        let mut solid = vec![0; forest.capacity()];
        // A block in the middle, and some cells of another.
        (solid[5], solid[6]) = (u64::from(u16::MAX), 0x0033);
        let mut numbers = vec![0; 16 * solid.len()];
        numbers[5 * 16..6 * 16].fill(1);
        numbers[6 * 16..7 * 16].fill(2);
        let mesh = FlowMesh::new(&forest, [0.0; 2], 1.0 / 16.0, solid).expect("a mesh");
        let mut of = params();
        of.faces[0] = [
            BoxFace::Inflow {
                velocity: [1.0, 0.1],
                liquid: 0.0,
            },
            BoxFace::Pressure {
                value: 0.0,
                liquid: 0.0,
            },
        ];
        let mut with = heat();
        with.faces[0] = [WallHeat::Temperature(350.0), WallHeat::Temperature(280.0)];
        with.bodies = vec![WallHeat::Temperature(400.0), WallHeat::Flux(300.0)];
        let flow = TwoPhaseFlow::new(mesh.with_bodies(numbers), of, &[]).expect("a flow");
        warm(flow, with)
    };
    compare(kernels, make, go);
}

fn a_saved_state_with_heat<K: Steps>(kernels: &K) {
    compare(
        kernels,
        || still([6; 2]),
        |flow| {
            let mut out = go(flow);
            let state = flow.save();
            out.extend(go(flow));
            flow.restore(&state).expect("the same flow");
            out.extend(go(flow));
            out
        },
    );
}
