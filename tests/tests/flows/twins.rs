//! A small flow with everything in it, after 1, 10 and 100 root steps (in 3D 8), against the same in f64 on one thread of the host.

use cutlink_mesher::primitives::{Shape2, Shape3};
use cutlink_solver::{
    Collision, FaceCondition, Interpolation, LatticeFlow, LatticeKind, Les, Motion, Params,
    PatchCondition, Plan, Precision, Snapshot, Sponge, WallScheme, kernels::FlowKernels,
};
use cutlink_tests::{
    bodies,
    flows::{self, AnyFlow},
    worst,
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh};

cutlink_tests::backend_test!(
    on_one_thread:
    the_plane_is_that_of_the_host,
    d3q19_is_that_of_the_host,
    d3q27_is_that_of_the_host,
    a_recorded_step_is_no_other
);

/// A circle on three levels, off the middle, so that nothing is symmetric.
pub(super) fn circle() -> Mesh<2> {
    let surface = Shape2::Circle { radius: 2.1 }
        .surface(1e-2)
        .expect("a circle");
    let frame = Frame::new([-8.3, -8.1], 1.0, [32, 16]).expect("a box");
    bodies::mesh_of(&surface, frame, &EmbedParams::new(3, 1.0, Fill::NonZero))
}

pub(super) fn sphere() -> Mesh<3> {
    let surface = Shape3::Sphere { radius: 1.3 }
        .surface(1e-2)
        .expect("a sphere");
    let frame = Frame::new([-4.3, -4.1, -3.8], 1.0, [12, 8, 8]).expect("a box");
    bodies::mesh_of(&surface, frame, &EmbedParams::new(3, 0.5, Fill::NonZero))
}

/// What is varied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Variant {
    pub(super) lattice: LatticeKind,
    pub(super) collision: Collision,
    pub(super) les: Les,
    pub(super) viscosity: f64,
    pub(super) scheme: WallScheme,
    pub(super) interpolation: Interpolation,
    pub(super) outflow: bool,
    pub(super) is_modeled: bool,
}

pub(super) fn params<const D: usize>(
    mesh: &Mesh<D>,
    variant: Variant,
    precision: Precision,
) -> Params<D> {
    let mut params = flows::params(mesh, variant.viscosity);
    let along = |x: f64, y: f64, z: f64| std::array::from_fn(|a| [x, y, z][a]);
    params.faces[0] = [
        FaceCondition::Velocity(along(0.04, 0.005, 0.01)),
        match variant.outflow {
            true => FaceCondition::Outflow,
            false => FaceCondition::Pressure(1.0),
        },
    ];
    params.faces[1] = [
        FaceCondition::FreeSlip,
        FaceCondition::Velocity(along(0.04, 0.0, 0.01)),
    ];
    if variant.outflow {
        // Across all levels, the body and a corner.
        let half = |axis: usize| 0.6 * f64::from(mesh.frame.root_cells[axis]);
        params.sponges = [(0, 1), (1, 1)]
            .map(|(axis, side)| Sponge {
                axis,
                side,
                length: half(axis),
                strength: 3.0,
                stream: [0, 0],
            })
            .to_vec();
    }
    let motion = Motion::Rotation {
        center: mesh.frame.root_cells.map(|n| 0.4 * f64::from(n)),
        omega: [0.002, -0.001, 0.004],
    };
    let scheme = variant.scheme;
    params.patches = vec![PatchCondition::Wall { scheme, motion }];
    if variant.is_modeled {
        params.modeled = vec![0];
    }
    params.acceleration = along(1e-6, -2e-6, 3e-6);
    params.lattice = variant.lattice;
    (params.collision, params.les) = (variant.collision, variant.les);
    params.interpolation = variant.interpolation;
    (params.precision, params.forces) = (precision, true);
    params
}

/// How far fields may be from those of f64 on the host, and forces relative to the largest.
///
/// Snapshots are f32: of f64 runs all but the last bit is the same. In 16 bits, populations are below 2^-5 here and rounded to 2^-16, by
/// chance as an acceleration is there: 3e-5 is the deviation of the sums over a cell, of which this is seven. The rate of KBC is a
/// quotient of small differences, which rounding changes most; between an inlet and an outflow it differs by 1.3e-5 on a GPU.
pub(super) fn bounds(collision: Collision, precision: Precision) -> [f64; 2] {
    let share = match collision {
        Collision::Kbc => 200.0,
        _ => 1.0,
    };
    match precision {
        Precision::F16 => [2.1e-4, 1.5e-2],
        Precision::F32 => [share * 2e-6, share * 2e-4],
        // What KBC amplifies is in the forces too.
        Precision::F64 if collision == Collision::Kbc => [share * 1.2e-7, 1e-4],
        Precision::F64 => [share * 1.2e-7, share * 1e-10],
    }
}

/// The largest difference of density and velocity.
pub(super) fn difference<const D: usize>(a: &dyn LatticeFlow<D>, b: &dyn LatticeFlow<D>) -> f64 {
    let [a, b] = [a, b].map(|flow| flow.snapshot().expect("a snapshot"));
    apart(&a, &b)
}

fn apart<const D: usize>(a: &Snapshot<D>, b: &Snapshot<D>) -> f64 {
    let fields =
        std::iter::once((&a.density, &b.density)).chain(a.velocity.iter().zip(&b.velocity));
    let pairs = fields.flat_map(|(a, b)| a.iter().zip(b));
    worst(pairs.map(|(a, b)| (a - b).abs()))
}

/// Root steps between comparisons: in 3D there are many more cells.
fn steps(d: usize) -> [u64; 3] {
    if d == 3 { [1, 3, 4] } else { [1, 9, 90] }
}

fn compare<const D: usize, K: FlowKernels<D>>(kernels: &K, mesh: &Mesh<D>, variant: Variant) {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let one = one.expect("a thread");
    let uniform = |_: [f64; D]| (1.0, std::array::from_fn(|a| [0.04, 0.0, 0.0][a]));
    let mut reference = flows::start(
        &cutlink_device::Host,
        mesh,
        params(mesh, variant, Precision::F64),
    );
    let launches = kernels.launches();
    // The bounds of 16 bits hold where viscosity damps what rounding adds. On the host, that of f64 would be the reference.
    let all = [Precision::F16, Precision::F32, Precision::F64];
    let is_viscous = variant.viscosity >= 0.05 && variant.collision != Collision::Kbc;
    let end = if launches.is_some() { 3 } else { 2 };
    let runs = all[usize::from(!is_viscous)..end].iter().map(|&precision| {
        let flow = flows::start(kernels, mesh, params(mesh, variant, precision));
        (precision, flow)
    });
    let mut runs: Vec<_> = runs.collect();
    reference.set(&uniform).expect("a start");
    for (_, run) in &mut runs {
        run.set(&uniform).expect("a start");
    }
    for steps in steps(D) {
        one.install(|| reference.advance(steps)).expect("steps");
        reference.check().expect("no divergence");
        let expected = reference.take_forces().expect("forces");
        for (precision, run) in &mut runs {
            run.advance(steps).expect("steps");
            run.check().expect("no divergence");
            let wrong = difference(&**run, &*reference);
            let [of_fields, of_forces] = bounds(variant.collision, *precision);
            assert!(
                wrong <= of_fields,
                "{variant:?} {precision} after {}: {wrong}",
                run.steps()
            );
            let forces = run.take_forces().expect("forces");
            assert_eq!(forces.len(), expected.len());
            for (got, want) in forces.iter().zip(&expected) {
                let size = worst(want.patches[0].iter().map(|f| f.abs()));
                for n in 0..6 {
                    let wrong = (got.patches[0][n] - want.patches[0][n]).abs() / size;
                    assert!(
                        wrong <= of_forces,
                        "{variant:?} {precision} force {n} of step {}: {got:?} {want:?}",
                        got.step
                    );
                }
            }
        }
    }
    if launches.is_some() {
        assert!(kernels.launches() > launches, "nothing was launched");
    }
    // The comparator can fail: another viscosity is another flow.
    if !matches!(variant.les, Les::None) {
        return;
    }
    let mut other = params(mesh, variant, Precision::F64);
    other.viscosity *= 1.03;
    let mut other = flows::start(kernels, mesh, other);
    other.set(&uniform).expect("a start");
    other.advance(steps(D).iter().sum()).expect("steps");
    assert!(difference(&*other, &*reference) > 1e-5, "{variant:?}");
}

#[test]
fn one_value_that_is_off_or_none_is_seen() {
    let snapshot = Snapshot {
        step: 0,
        density: vec![1.0; 3],
        velocity: [vec![0.5; 3], vec![0.25; 3]],
    };
    assert_eq!(apart(&snapshot, &snapshot), 0.0);
    for at in 0..3 {
        for value in [0.5, f32::NAN] {
            let mut density = snapshot.clone();
            density.density[at] += value;
            let mut velocity = snapshot.clone();
            velocity.velocity[1][at] -= value;
            for other in [density, velocity] {
                let found = apart(&other, &snapshot);
                assert_eq!(found.is_nan(), value.is_nan(), "{other:?}");
                assert!(value.is_nan() || found == 0.5, "{other:?}");
            }
        }
    }
}

const VARIANTS: [(Collision, WallScheme, Interpolation, bool); 4] = [
    (
        Collision::Regularized,
        WallScheme::Linear,
        Interpolation::Cubic,
        false,
    ),
    (
        Collision::Trt { magic: 0.25 },
        WallScheme::Quadratic,
        Interpolation::Linear,
        true,
    ),
    (
        Collision::Trt { magic: 3.0 / 16.0 },
        WallScheme::Local,
        Interpolation::Linear,
        false,
    ),
    (
        Collision::Bgk,
        WallScheme::BounceBack,
        Interpolation::Cubic,
        true,
    ),
];

/// With an eddy viscosity that is felt; with a viscosity below 1/42 on each level the optimized rates of cumulants.
const OPERATORS: [(Collision, Les, f64); 7] = [
    (Collision::CUMULANT, Les::None, 0.005),
    (Collision::CUMULANT, Les::Qr { constant: 2.0 }, 0.02),
    (Collision::Kbc, Les::None, 0.02),
    (Collision::Kbc, Les::Smagorinsky { constant: 0.4 }, 0.05),
    (Collision::Regularized, Les::Qr { constant: 2.0 }, 0.02),
    (Collision::Bgk, Les::Smagorinsky { constant: 0.4 }, 0.05),
    (
        Collision::Trt { magic: 0.25 },
        Les::Smagorinsky { constant: 0.4 },
        0.05,
    ),
];

fn all<const D: usize, K: FlowKernels<D>>(kernels: &K, mesh: &Mesh<D>, lattice: LatticeKind) {
    for (collision, scheme, interpolation, outflow) in VARIANTS {
        let variant = Variant {
            lattice,
            collision,
            les: Les::None,
            viscosity: 0.05,
            scheme,
            interpolation,
            outflow,
            is_modeled: false,
        };
        compare(kernels, mesh, variant);
    }
    for (collision, les, viscosity) in OPERATORS {
        let is_flat = matches!(les, Les::Qr { .. }) && D == 2;
        if is_flat || !collision.fits(lattice) {
            continue;
        }
        let variant = Variant {
            lattice,
            collision,
            les,
            viscosity,
            scheme: WallScheme::Linear,
            interpolation: Interpolation::Cubic,
            outflow: true,
            is_modeled: false,
        };
        compare(kernels, mesh, variant);
    }
    let modeled = Variant {
        lattice,
        collision: Collision::Regularized,
        les: Les::Smagorinsky { constant: 0.1 },
        viscosity: 0.01,
        scheme: WallScheme::Quadratic,
        interpolation: Interpolation::Cubic,
        outflow: false,
        is_modeled: true,
    };
    compare(kernels, mesh, modeled);
}

fn the_plane_is_that_of_the_host<K: AnyFlow>(kernels: &K) {
    all(kernels, &circle(), LatticeKind::D2Q9);
}

fn d3q19_is_that_of_the_host<K: AnyFlow>(kernels: &K) {
    all(kernels, &sphere(), LatticeKind::D3Q19);
}

fn d3q27_is_that_of_the_host<K: AnyFlow>(kernels: &K) {
    all(kernels, &sphere(), LatticeKind::D3Q27);
}

/// Steps that are recorded and replayed, side by side, against pieces of work one after the other.
fn a_recorded_step_is_no_other<K: AnyFlow>(kernels: &K) {
    let mesh = sphere();
    let variant = Variant {
        lattice: LatticeKind::D3Q19,
        collision: Collision::Regularized,
        les: Les::None,
        viscosity: 0.05,
        scheme: WallScheme::Linear,
        interpolation: Interpolation::Cubic,
        outflow: true,
        is_modeled: true,
    };
    let state = |laps: bool| {
        let plan = Plan::new(&mesh, params(&mesh, variant, Precision::F32)).expect("a plan");
        let mut flow = plan.start(kernels).expect("a start");
        flow.advance(1).expect("steps");
        match laps {
            true => {
                let laps = flow.laps(41).expect("steps");
                assert!(laps.iter().any(|lap| lap.level == 2 && lap.seconds > 0.0));
            }
            false => flow.advance(41).expect("steps"),
        }
        let mut bytes = Vec::new();
        flow.save(&mut bytes).expect("a state");
        bytes
    };
    let replayed = state(false);
    assert!(replayed == state(true), "the same bits");
    assert!(replayed == state(false), "every time");
}
