//! Values of small flows as they were when they were recorded: a change of a thousandth in any lattice, collision or wall
//! scheme is seen, which tests against analytic answers with tolerances of a percent would let pass. A change that is meant
//! to change them says so, and records new ones.

use cutlink_mesher::primitives::Shape3;
use cutlink_solver::{Collision, FaceCondition, LatticeKind, Params, PatchCondition, WallScheme};
use cutlink_tests::{
    bodies,
    flows::{self, AnyFlow},
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Region, RegionShape};

cutlink_tests::backend_test!(
    on_one_thread:
    energies_of_vortices, drags_of_a_sphere
);

/// Snapshots are f32.
const TOLERANCE: f64 = 1e-6;

const COLLISIONS: [(&str, Collision); 5] = [
    ("bgk", Collision::Bgk),
    ("trt", Collision::Trt { magic: 0.25 }),
    ("regularized", Collision::Regularized),
    ("kbc", Collision::Kbc),
    ("cumulant", Collision::CUMULANT),
];

/// Compares all values, so that one run shows all that have changed.
fn compare(found: &[(String, f64)], recorded: &[f64]) {
    let mut changed = Vec::new();
    for (n, (what, value)) in found.iter().enumerate() {
        let recorded = recorded.get(n).copied().unwrap_or(f64::NAN);
        let is_same = (value / recorded - 1.0).abs() < TOLERANCE;
        if !is_same {
            changed.push(format!("{what}: {value:.9e}, recorded {recorded:.9e}"));
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
    assert_eq!(found.len(), recorded.len());
}

/// Kinetic energy of Taylor-Green vortices that are carried through a refined square (a column of them in 3D).
fn energies_of_vortices<K: AnyFlow>(kernels: &K) {
    let mut found = Vec::new();
    let swirl = |x: f64, y: f64| {
        let k = std::f64::consts::TAU / 32.0;
        let u = 0.02 + 0.04 * (k * x).cos() * (k * y).sin();
        [u, 0.01 - 0.04 * (k * x).sin() * (k * y).cos()]
    };
    let region = |d: usize| Region {
        shape: RegionShape::Box {
            lower: [10.0, 8.0, 0.0],
            upper: [22.0, 24.0, if d == 2 { 0.0 } else { 8.0 }],
        },
        levels: 2,
    };
    let plane = flows::empty_box::<2>([32, 32], 2, vec![region(2)]);
    let column = flows::empty_box::<3>([32, 32, 8], 2, vec![region(3)]);
    for (name, collision) in COLLISIONS {
        let params = Params {
            collision,
            ..flows::params(&plane, 2e-3)
        };
        if collision.fits(LatticeKind::D2Q9) {
            let mut flow = flows::start(kernels, &plane, params);
            flow.set(&|x| (1.0, swirl(x[0], x[1]))).expect("a start");
            flow.advance(60).expect("steps");
            let mut energy = 0.0;
            let snapshot = flow.snapshot().expect("fields");
            flows::each_cell(&plane, &snapshot, |_, volume, density, u| {
                energy += 0.5 * volume * density * (u[0] * u[0] + u[1] * u[1]);
            });
            found.push((format!("{} {name}", LatticeKind::D2Q9), energy));
        }
        let lattices = [LatticeKind::D3Q19, LatticeKind::D3Q27];
        for lattice in lattices
            .into_iter()
            .filter(|&lattice| collision.fits(lattice))
        {
            let params = Params {
                lattice,
                collision,
                ..flows::params(&column, 2e-3)
            };
            let mut flow = flows::start(kernels, &column, params);
            let at = |x: [f64; 3]| {
                let [u, v] = swirl(x[0], x[1]);
                (1.0, [u, v, 0.005])
            };
            flow.set(&at).expect("a start");
            flow.advance(24).expect("steps");
            let mut energy = 0.0;
            let snapshot = flow.snapshot().expect("fields");
            flows::each_cell(&column, &snapshot, |_, volume, density, u| {
                energy += 0.5 * volume * density * u.iter().map(|u| u * u).sum::<f64>();
            });
            found.push((format!("{lattice} {name}"), energy));
        }
    }
    compare(&found, &ENERGIES);
}

const ENERGIES: [f64; 12] = [
    6.543519713e-1,
    5.381241159,
    5.381510793,
    6.544902490e-1,
    5.383438281,
    5.383459909,
    6.542724168e-1,
    5.381748764,
    5.381495787,
    6.542724992e-1,
    5.380528712,
    5.382331873,
];

/// Drag of a sphere after some steps from rest, in lattice units, with two levels, an inlet and an outlet.
fn drags_of_a_sphere<K: AnyFlow>(kernels: &K) {
    let surface = Shape3::Sphere { radius: 2.3 }
        .surface(1e-2)
        .expect("a sphere");
    let frame = Frame::new([-8.2, -8.1, -8.3], 1.0, [24, 16, 16]).expect("a box");
    let mesh = bodies::mesh_of(&surface, frame, &EmbedParams::new(2, 0.5, Fill::NonZero));
    let stream = [0.05, 0.0, 0.0];
    let mut found = Vec::new();
    for (wall, scheme) in [
        ("bounce-back", WallScheme::BounceBack),
        ("linear", WallScheme::Linear),
        ("quadratic", WallScheme::Quadratic),
        ("local", WallScheme::Local),
    ] {
        for (name, collision) in &COLLISIONS[1..3] {
            let mut params = Params {
                collision: *collision,
                ..flows::params(&mesh, 0.02)
            };
            params.patches = vec![PatchCondition::wall(scheme); mesh.patches.len()];
            params.faces[0] = [FaceCondition::Velocity(stream), FaceCondition::Outflow];
            for a in 1..3 {
                params.faces[a] = [FaceCondition::FreeSlip; 2];
            }
            params.forces = true;
            let mut flow = flows::start(kernels, &mesh, params);
            flow.set_uniform(1.0, stream).expect("a start");
            flow.advance(80).expect("steps");
            let forces = flow.take_forces().expect("forces");
            let last = forces.last().expect("a sample");
            found.push((format!("{wall} {name}"), last.patches[0][0]));
        }
    }
    compare(&found, &DRAGS);
}

const DRAGS: [f64; 8] = [
    1.239833092e-1,
    1.267128325e-1,
    1.212032525e-1,
    1.217353204e-1,
    1.204696572e-1,
    1.204651857e-1,
    1.222332207e-1,
    1.227038106e-1,
];
