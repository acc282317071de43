//! Integrals of a flow: against those of a snapshot, and of a flow that is known.

use super::adapting::torus;
use cutlink_amr::dims;
use cutlink_solver::{
    Adaptation, Criterion, FaceCondition, Indicator, LatticeFlow, LatticeKind, Params, Precision,
    Snapshot,
    fields::{blocks_at, integrals},
    kernels::FlowKernels,
};
use cutlink_tests::flows::{self, AnyFlow};
use cutlink_voxelizer::{Mesh, Region, RegionShape};
use std::f64::consts::TAU;

cutlink_tests::backend_test!(
    on_one_thread:
    integrals_are_those_of_a_snapshot,
    integrals_follow_a_mesh_that_changes,
    integrals_of_taylor_and_green
);

/// Integrals as the flow adds them up and as those of a snapshot are, to the bit; the share of the blocks that were copied.
fn of_flow<const D: usize>(flow: &dyn LatticeFlow<D>) -> f64 {
    let mesh = flow.mesh().expect("a mesh");
    let wanted = blocks_at(mesh, 0, true);
    let whole = flow.snapshot().expect("a snapshot");
    let mut some = Snapshot::default();
    let found = flow.integrals(&wanted, &mut some).expect("integrals");
    assert_eq!(found, integrals(mesh, &whole));
    assert_eq!(some.step, whole.step);
    let cells = dims::cells(D);
    for &id in &wanted {
        let of = |s: &Snapshot<D>| s.density[id as usize * cells..][..cells].to_vec();
        assert_eq!(of(&some), of(&whole), "block {id}");
    }
    // What is not copied is 0.
    let copied = some.density.chunks(cells).filter(|rho| rho[0] > 0.0);
    copied.count() as f64 / mesh.forest.ids().count() as f64
}

fn swirl<const D: usize>(x: [f64; D]) -> (f64, [f64; D]) {
    let u = std::array::from_fn(|a| 0.02 * (0.7 * x[(a + 1) % D] + 0.3 * x[a]).sin());
    (1.0 + 1e-3 * x[0].cos(), u)
}

fn integrals_are_those_of_a_snapshot<K: AnyFlow>(kernels: &K) {
    fn stepped<const D: usize, K: FlowKernels<D>>(
        kernels: &K,
        mesh: &Mesh<D>,
        change: impl Fn(&mut Params<D>),
    ) -> f64 {
        let mut params = flows::params(mesh, 0.02);
        change(&mut params);
        let mut flow = flows::start(kernels, mesh, params);
        flow.set(&swirl).expect("a start");
        let share = of_flow(&*flow);
        flow.advance(3).expect("steps");
        let mut none = Snapshot::default();
        let before = flow.integrals(&[], &mut none).expect("integrals");
        assert_eq!(of_flow(&*flow), share);
        flow.advance(1).expect("a step");
        let after = flow.integrals(&[], &mut none).expect("integrals");
        assert_ne!(before, after, "the comparison can fail");
        share
    }
    let (sphere, circle) = (super::twins::sphere(), super::twins::circle());
    fn open<const D: usize>(params: &mut Params<D>) {
        params.faces = [[FaceCondition::FreeSlip; 2]; D];
        let stream = std::array::from_fn(|a| if a == 0 { 0.05 } else { 0.0 });
        params.faces[0] = [
            FaceCondition::Velocity(stream),
            FaceCondition::Pressure(1.0),
        ];
        params.acceleration[D - 1] = 1e-5;
    }
    stepped(kernels, &circle, open);
    for precision in [Precision::F16, Precision::F32, Precision::F64] {
        let share = stepped(kernels, &sphere, |params| {
            open(params);
            params.precision = precision;
        });
        assert!(share < 1.0, "all blocks are copied");
    }
    // Periodic in the flow alone: blocks at the faces have neighbours in the flow, and none in the mesh.
    let region = Region {
        shape: RegionShape::Box {
            lower: [8.0; 3],
            upper: [24.0; 3],
        },
        levels: 2,
    };
    let refined = flows::empty_box([32, 32, 32], 2, vec![region]);
    let share = stepped(kernels, &refined, |params| {
        params.lattice = LatticeKind::D3Q27
    });
    assert!(share < 0.8, "{share} of the blocks are copied");
    // Between ends of the box nothing is copied but the blocks that are asked for.
    let plain = flows::empty_box([32, 32, 32], 1, Vec::new());
    assert_eq!(stepped(kernels, &plain, open), 0.125);
}

fn integrals_follow_a_mesh_that_changes<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([48, 32], 1, Vec::new());
    let mut params = flows::params(&mesh, 0.01);
    params.faces = [[FaceCondition::FreeSlip; 2]; 2];
    params.adaptation = Some(Adaptation {
        every: 4,
        levels: 2,
        max_cells: u64::MAX,
        buffer: 1,
        criteria: vec![Criterion {
            indicator: Indicator::Vorticity,
            refine: 2e-3,
            coarsen: 0.5,
            within: None,
            from_step: 0,
        }],
        limits: Vec::new(),
    });
    let mut flow = flows::start(kernels, &mesh, params);
    let vortex = |x: [f64; 2]| {
        let arm = [x[0] - 16.0, x[1] - 16.0];
        let spin = 0.01 * (-(arm[0] * arm[0] + arm[1] * arm[1]) / 16.0).exp();
        (1.0, [0.05 - spin * arm[1], spin * arm[0]])
    };
    flow.set(&vortex).expect("a start");
    let epoch = flow.epoch();
    for _ in 0..12 {
        of_flow(&*flow);
        flow.advance(8).expect("steps");
    }
    assert!(flow.epoch() > epoch + 1, "{} changes", flow.epoch() - epoch);
    of_flow(&*flow);
    // Back to the mesh of the plan.
    flow.set(&|_| (1.0, [0.05, 0.0])).expect("a start");
    of_flow(&*flow);
}

/// The initial state. The mean energy is U²/4 in 2D and U²/8 in 3D. The enstrophy is U² k²/2 and 3 U² k²/8; central differences
/// multiply it by (sin k / k)². The largest speed is that at the centre of a cell.
fn integrals_of_taylor_and_green<K: AnyFlow>(kernels: &K) {
    let (speed, n) = (0.04, 32);
    let k = TAU / f64::from(n);
    let differences = (k.sin() / k).powi(2);
    let near = |found: f64, expected: f64| {
        let off = (found / expected - 1.0).abs();
        assert!(off < 1e-6, "{found} is not {expected}");
    };
    let (sin, cos) = (0.5 * k).sin_cos();
    let fastest = speed * (cos.powi(4) + sin.powi(4)).sqrt();
    let plane = torus([n; 2]);
    let mut flow = flows::start(kernels, &plane, flows::params(&plane, 0.02));
    flow.set(&|x| {
        let [x, y] = x.map(|x| k * x);
        let u = [x.sin() * y.cos(), -x.cos() * y.sin()];
        (1.01, u.map(|u| speed * u))
    })
    .expect("a start");
    let mut none = Snapshot::default();
    let found = flow.integrals(&[], &mut none).expect("integrals");
    near(found.volume, f64::from(n * n));
    near(found.density, 1.01);
    near(found.kinetic_energy, 1.01 * speed * speed / 4.0);
    near(found.enstrophy, speed * speed * k * k / 2.0 * differences);
    near(found.fastest, fastest);
    near(found.densities[0], 1.01);
    near(found.densities[1], 1.01);
    assert!(
        none.density.iter().all(|&rho| rho == 0.0),
        "nothing is copied"
    );
    let space = torus([n; 3]);
    let mut flow = flows::start(kernels, &space, flows::params(&space, 0.02));
    flow.set(&|x| {
        let [x, y, z] = x.map(|x| k * x);
        let u = [
            x.sin() * y.cos() * z.cos(),
            -x.cos() * y.sin() * z.cos(),
            0.0,
        ];
        (1.0, u.map(|u| speed * u))
    })
    .expect("a start");
    let mut none = Snapshot::default();
    let found = flow.integrals(&[], &mut none).expect("integrals");
    near(found.volume, f64::from(n * n * n));
    near(found.kinetic_energy, speed * speed / 8.0);
    near(
        found.enstrophy,
        3.0 * speed * speed * k * k / 8.0 * differences,
    );
    near(found.fastest, fastest * cos);
}
