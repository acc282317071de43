use cutlink_solver::{Collision, Interpolation, LatticeKind};
use cutlink_tests::{
    flows::{self, AnyFlow},
    worst,
};
use cutlink_voxelizer::{Mesh, Region, RegionShape};
use std::f64::consts::TAU;

cutlink_tests::backend_test!(
    on_one_thread:
    decay_in_the_plane,
    decay_in_space,
    refined_boxes_decay_and_conserve if slow_tests,
    refinement_keeps_the_order,
    noise_dies_where_levels_meet,
    accelerated_flow_gains_momentum
);

const COLLISIONS: [Collision; 3] = [
    Collision::Bgk,
    Collision::Trt { magic: 0.25 },
    Collision::Regularized,
];

/// Those that not all lattices have.
const MORE: [Collision; 2] = [Collision::CUMULANT, Collision::Kbc];

/// Taylor and Green's vortex in a plane of the box, after so many steps: velocity.
fn vortex<const D: usize>(
    n: f64,
    speed: f64,
    viscosity: f64,
    time: f64,
) -> impl Fn([f64; D]) -> [f64; D] {
    let k = TAU / n;
    let decay = (-2.0 * viscosity * k * k * time).exp();
    move |x| {
        let mut u = [0.0; D];
        u[0] = -speed * decay * (k * x[0]).cos() * (k * x[1]).sin();
        u[1] = speed * decay * (k * x[0]).sin() * (k * x[1]).cos();
        u
    }
}

/// The relative error after the vortex has lost most of its speed, mass and momentum lost, a cell.
fn decayed<const D: usize, K: cutlink_solver::kernels::FlowKernels<D>>(
    kernels: &K,
    mesh: &Mesh<D>,
    change: impl Fn(&mut cutlink_solver::Params<D>),
) -> (f64, f64, f64) {
    let n = f64::from(mesh.frame.root_cells[0]);
    // Diffusive scaling: the speed falls with the spacing, so that compressibility errors fall as the square.
    let (speed, viscosity) = (0.64 / n, 0.02);
    let steps = (n * n / 4.0).round();
    let mut params = flows::params(mesh, viscosity);
    change(&mut params);
    let mut flow = flows::start(kernels, mesh, params);
    let k = TAU / n;
    let start = vortex::<D>(n, speed, viscosity, 0.0);
    flow.set(&|x| {
        let density =
            1.0 - 0.75 * speed * speed * ((2.0 * k * x[0]).cos() + (2.0 * k * x[1]).cos());
        (density, start(x))
    })
    .expect("a start");
    let before = flows::errors(mesh, &flow.snapshot().expect("a snapshot"), &start);
    flow.advance(steps as u64).expect("steps");
    flow.check().expect("no divergence");
    let end = vortex::<D>(n, speed, viscosity, steps);
    let after = flows::errors(mesh, &flow.snapshot().expect("a snapshot"), end);
    let cells = n.powi(D as i32);
    let lost = worst((0..D).map(|a| (after.2[a] - before.2[a]).abs()));
    assert!(before.0 < 1e-6, "it starts as it should: {}", before.0);
    (
        after.0,
        (after.1 - before.1).abs() / cells,
        lost / cells / speed,
    )
}

fn cube<const D: usize>(n: u32) -> Mesh<D>
where
    cutlink_mesher::exact::Facet<D>: cutlink_mesher::exact::Exact<D>,
{
    let mut cells = [n; D];
    cells[2..].fill(4);
    flows::empty_box(cells, 1, Vec::new())
}

fn order<const D: usize, K: cutlink_solver::kernels::FlowKernels<D>>(
    kernels: &K,
    lattice: LatticeKind,
    grids: &[u32],
) where
    cutlink_mesher::exact::Facet<D>: cutlink_mesher::exact::Exact<D>,
{
    let all = COLLISIONS.into_iter().chain(MORE);
    for collision in all.filter(|collision| collision.fits(lattice)) {
        let error = |&n: &u32| {
            decayed::<D, K>(kernels, &cube(n), |params| {
                (params.lattice, params.collision) = (lattice, collision)
            })
            .0
        };
        let errors: Vec<f64> = grids.iter().map(error).collect();
        for pair in errors.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!(
                order > 1.8,
                "{lattice} {collision:?}: order {order}, errors {errors:?}"
            );
        }
        assert!(
            errors[errors.len() - 1] < 7e-3,
            "{lattice} {collision:?}: {errors:?}"
        );
    }
}

fn decay_in_the_plane<K: AnyFlow>(kernels: &K) {
    order::<2, K>(kernels, LatticeKind::D2Q9, &[16, 32, 64]);
}

fn decay_in_space<K: AnyFlow>(kernels: &K) {
    order::<3, K>(kernels, LatticeKind::D3Q19, &[16, 32]);
    order::<3, K>(kernels, LatticeKind::D3Q27, &[16, 32]);
}

/// A ball of finer cells in the middle.
fn ball<const D: usize>(n: u32, levels: usize) -> Mesh<D>
where
    cutlink_mesher::exact::Facet<D>: cutlink_mesher::exact::Exact<D>,
{
    let h = f64::from(n);
    let shape = RegionShape::Ball {
        center: [0.5 * h; 3],
        radius: 0.2 * h,
    };
    flows::empty_box([n; D], levels, vec![Region { shape, levels }])
}

fn refined_boxes_decay_and_conserve<K: AnyFlow>(kernels: &K) {
    for collision in COLLISIONS {
        let of = |mesh: &Mesh<2>, interpolation| {
            decayed::<2, K>(kernels, mesh, |params| {
                (params.collision, params.interpolation) = (collision, interpolation)
            })
        };
        let coarse = of(&cube::<2>(64), Interpolation::Cubic);
        let cubic = of(&ball::<2>(64, 3), Interpolation::Cubic);
        let linear = of(&ball::<2>(64, 3), Interpolation::Linear);
        assert!(
            cubic.0 < 1.5 * coarse.0,
            "{collision:?}: {} to {} without levels",
            cubic.0,
            coarse.0
        );
        assert!(
            cubic.0 < linear.0,
            "{collision:?}: cubic beats linear: {} {}",
            cubic.0,
            linear.0
        );
        for (name, run) in [("cubic", cubic), ("linear", linear)] {
            assert!(
                run.1 < 5e-6 && run.2 < 1e-12,
                "{collision:?} {name}: mass drift {} momentum drift {}",
                run.1,
                run.2
            );
        }
    }
    let space = decayed::<3, K>(kernels, &ball::<3>(32, 2), |_| {});
    assert!(
        space.0 < 2e-2 && space.1 < 5e-6 && space.2 < 1e-9,
        "in space: {space:?}"
    );
}

fn refinement_keeps_the_order<K: AnyFlow>(kernels: &K) {
    for collision in COLLISIONS {
        let [coarse, fine] = [32, 64].map(|n| {
            decayed::<2, K>(kernels, &ball::<2>(n, 2), |params| {
                params.collision = collision;
            })
            .0
        });
        let order = (coarse / fine).log2();
        assert!(order > 1.8, "{collision:?}: order {order}: {coarse} {fine}");
    }
}

/// A box refined in a slab across or along its first axis.
fn slab(n: u32, axis: usize) -> Mesh<2> {
    let h = f64::from(n);
    let (mut lower, mut upper) = ([0.0; 3], [h; 3]);
    (lower[axis], upper[axis]) = (0.3 * h, 0.7 * h);
    let shape = RegionShape::Box { lower, upper };
    flows::empty_box([n; 2], 2, vec![Region { shape, levels: 2 }])
}

fn noise_dies_where_levels_meet<K: AnyFlow>(kernels: &K) {
    // Noise on a uniform flow, with so little viscosity that two relaxation times keep odd parts for long.
    for (mesh, collision) in [0, 1]
        .map(|axis| slab(64, axis))
        .iter()
        .flat_map(|mesh| COLLISIONS.map(|collision| (mesh, collision)))
    {
        let mut params = flows::params(mesh, 0.005);
        params.collision = collision;
        let mut flow = flows::start(kernels, mesh, params);
        let noise = |x: [f64; 2], n: f64| {
            2e-6 * ((x[0] * 127.1 + x[1] * 311.7 + n).sin() * 43758.5453).fract()
        };
        flow.set(&|x| (1.0 + noise(x, 0.0), [0.05 + noise(x, 1.0), noise(x, 2.0)]))
            .expect("a start");
        flow.advance(1000).expect("steps");
        flow.check().expect("no divergence");
        let mut most = 0.0;
        flows::each_cell(mesh, &flow.snapshot().expect("a snapshot"), |_, _, _, u| {
            most = worst([most, (u[0] - 0.05).abs(), u[1].abs()]);
        });
        assert!(most < 5e-7, "{collision:?}: {most} is left of 2e-6");
    }
}

fn accelerated_flow_gains_momentum<K: AnyFlow>(kernels: &K) {
    // Uniform acceleration of a periodic box, refined in the middle: u = g t, everywhere, exactly.
    let mesh = ball::<2>(32, 2);
    for collision in COLLISIONS {
        let mut params = flows::params(&mesh, 0.01);
        (params.collision, params.acceleration) = (collision, [1e-5, -2e-5]);
        let mut flow = flows::start(kernels, &mesh, params);
        flow.advance(100).expect("steps");
        let (error, ..) = flows::errors(&mesh, &flow.snapshot().expect("a snapshot"), |_| {
            [1e-3, -2e-3]
        });
        assert!(error < 1e-5, "{collision:?}: {error}");
    }
}
