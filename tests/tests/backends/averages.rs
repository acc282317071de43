//! Running means of a flow against the snapshots taken alongside.

use cutlink_device::Host;
use cutlink_mesher::primitives::{Shape2, Shape3};
use cutlink_solver::{
    FaceCondition, LatticeFlow, LatticeKind, Params, Plan, Precision, RunningMeans, Snapshot,
    SolverError,
    kernels::{FieldKernels, FlowKernels},
};
use cutlink_tests::{
    bodies,
    flows::{self, AnyFlow},
    worst,
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh};

cutlink_tests::backend_test!(
    a_sample_is_that_of_the_host,
    averages_in_the_plane_are_those_of_snapshots,
    averages_in_space_are_those_of_snapshots,
    averages_go_on_elsewhere,
    averages_of_another_mesh_are_refused
);

const PRECISIONS: [Precision; 3] = [Precision::F16, Precision::F32, Precision::F64];
const SAMPLES: u64 = 7;

/// The kernel alone, on any numbers and a number of cells that is no multiple of anything.
fn a_sample_is_that_of_the_host<K: AnyFlow>(kernels: &K) {
    fn compare<const D: usize, K: FlowKernels<D>>(kernels: &K) {
        const CELLS: usize = 10_007;
        let mut state = 7u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 / (1u64 << 53) as f64 - 0.5) as f32
        };
        let mut here = vec![[0.0; 2]; (1 + D) * CELLS];
        let mut there = kernels.upload(here.clone()).expect("a copy");
        for sample in 1..=5 {
            let density: Vec<f32> = (0..CELLS).map(|_| 1.0 + 0.1 * random()).collect();
            let velocity: Vec<f32> = (0..D * CELLS).map(|_| random()).collect();
            let share = 1.0 / f64::from(sample);
            FieldKernels::<D>::accumulate(&Host, &density, &velocity, share, &mut here)
                .expect("a sample");
            let fields = [density, velocity].map(|of| kernels.upload(of).expect("a copy"));
            let [density, velocity] = &fields;
            kernels
                .accumulate(density, velocity, share, &mut there)
                .expect("a sample");
        }
        let there = kernels.download(&there).expect("a copy");
        assert!(bits(&there) == bits(&here), "{D}D");
        // The comparison can fail: by the last bit.
        here[CELLS][1] = here[CELLS][1].next_up();
        assert!(bits(&there) != bits(&here), "{D}D");
    }
    compare::<2, K>(kernels);
    compare::<3, K>(kernels);
}

fn bits(values: &[[f64; 2]]) -> Vec<[u64; 2]> {
    values.iter().map(|v| v.map(f64::to_bits)).collect()
}

/// A circle on three levels.
fn circle() -> Mesh<2> {
    let surface = Shape2::Circle { radius: 2.1 }.surface(1e-2);
    let frame = Frame::new([-8.3, -8.1], 1.0, [32, 16]).expect("a box");
    let params = EmbedParams::new(3, 1.0, Fill::NonZero);
    bodies::mesh_of(&surface.expect("a circle"), frame, &params)
}

/// A sphere on three levels.
fn sphere() -> Mesh<3> {
    let surface = Shape3::Sphere { radius: 1.3 }.surface(1e-2);
    let frame = Frame::new([-4.3, -4.1, -3.8], 1.0, [12, 8, 8]).expect("a box");
    let params = EmbedParams::new(3, 0.5, Fill::NonZero);
    bodies::mesh_of(&surface.expect("a sphere"), frame, &params)
}

/// A stream that starts at once.
fn stream<const D: usize>(mesh: &Mesh<D>, lattice: LatticeKind, precision: Precision) -> Params<D> {
    let along = |x: f64, y: f64| std::array::from_fn(|a| [x, y, 0.0][a]);
    let mut params = flows::params(mesh, 0.05);
    params.faces[0] = [
        FaceCondition::Velocity(along(0.04, 0.005)),
        FaceCondition::Pressure(1.0),
    ];
    params.acceleration = along(1e-6, -2e-6);
    (params.lattice, params.precision) = (lattice, precision);
    params
}

fn cells_of<const D: usize>(mesh: &Mesh<D>) -> usize {
    mesh.forest.capacity() * cutlink_amr::dims::cells(D)
}

/// Density, then each velocity.
fn rows<const D: usize>(snapshot: &Snapshot<D>) -> impl Iterator<Item = f32> {
    let all = std::iter::once(&snapshot.density).chain(&snapshot.velocity);
    all.flatten().copied()
}

/// Samples of a flow, and the snapshots taken with them.
fn sampled<const D: usize>(
    flow: &mut dyn LatticeFlow<D>,
    means: &mut RunningMeans<D>,
    samples: u64,
) -> Vec<Snapshot<D>> {
    let sample = |_| {
        flow.advance(3).expect("steps");
        flow.sample(means).expect("a sample");
        flow.snapshot().expect("a snapshot")
    };
    (0..samples).map(sample).collect()
}

/// Welford's sums over snapshots, value by value.
fn on_the_host<const D: usize>(snapshots: &[Snapshot<D>]) -> Vec<[f64; 2]> {
    let mut values = vec![[0.0; 2]; rows(&snapshots[0]).count()];
    for (n, snapshot) in snapshots.iter().enumerate() {
        let share = 1.0 / (n + 1) as f64;
        for ([mean, squares], now) in values.iter_mut().zip(rows(snapshot)) {
            let off = f64::from(now) - *mean;
            *mean += off * share;
            *squares += off * (f64::from(now) - *mean);
        }
    }
    values
}

/// The largest differences of mean and variance from those of snapshots by the definition, in two passes.
fn apart<const D: usize>(values: &[[f64; 2]], snapshots: &[Snapshot<D>]) -> [f64; 2] {
    let count = snapshots.len() as f64;
    let mut means = vec![0.0; values.len()];
    for snapshot in snapshots {
        let all = means.iter_mut().zip(rows(snapshot));
        all.for_each(|(mean, now)| *mean += f64::from(now) / count);
    }
    let mut variances = vec![0.0; values.len()];
    for snapshot in snapshots {
        let all = variances.iter_mut().zip(&means).zip(rows(snapshot));
        all.for_each(|((sum, mean), now)| *sum += (f64::from(now) - mean).powi(2) / count);
    }
    let expected = means.iter().zip(&variances);
    let off = values
        .iter()
        .zip(expected)
        .map(|([mean, squares], (m, v))| {
            // Relative to the variance and what rounding of the mean makes of it.
            [(mean - m).abs(), (squares / count - v).abs() / (v + 1e-12)]
        });
    off.fold([0.0; 2], |most, off| {
        std::array::from_fn(|n| worst([most[n], off[n]]))
    })
}

fn compare<const D: usize, K: FlowKernels<D>>(
    kernels: &K,
    mesh: &Mesh<D>,
    lattice: LatticeKind,
    precision: Precision,
) {
    let refined = mesh.forest.ids().filter(|&id| !mesh.forest.is_leaf(id));
    assert!(refined.count() > 0, "levels");
    let params = stream(mesh, lattice, precision);
    let on = |ranks: usize| {
        let plan = Plan::new(mesh, params.clone()).expect("a plan");
        let mut flow = plan
            .start_ranks(&vec![kernels.clone(); ranks])
            .expect("a start");
        let mut means = RunningMeans::new(cells_of(mesh));
        let snapshots = sampled(&mut *flow, &mut means, SAMPLES);
        let last = means.samples();
        assert_eq!(last, SAMPLES);
        let shown = [means.mean(21), means.rms(21)].map(|all| all.expect("a snapshot"));
        let values = means.into_values().expect("a copy").expect("samples");
        (values, snapshots, shown)
    };
    let what = format!("{lattice} {precision}");
    let (values, snapshots, [mean, rms]) = on(1);
    let [off, spread] = apart(&values, &snapshots);
    assert!(off < 1e-15 && spread < 1e-3, "{what}: {off:e} {spread:e}");
    assert!(
        bits(&values) == bits(&on_the_host(&snapshots)),
        "{what}: refined and solid blocks too"
    );
    let moving = values.iter().filter(|[_, squares]| *squares > 1e-9).count();
    assert!(4 * moving > values.len(), "{what}: {moving} values move");
    for (found, of) in [(&mean, 0), (&rms, 1)] {
        let value = |v: &[f64; 2]| [v[0], (v[1] / SAMPLES as f64).sqrt()][of] as f32;
        assert!(rows(found).eq(values.iter().map(value)), "{what}: shown");
        assert_eq!(found.step, 21);
    }
    let (shared, ..) = on(3);
    assert!(bits(&shared) == bits(&values), "{what}: on three ranks");
    // The comparators can fail: without one of the snapshots.
    let [off, spread] = apart(&values, &snapshots[1..]);
    assert!(off > 1e-4 && spread > 0.1, "{what}: {off:e} {spread:e}");
    assert!(bits(&values) != bits(&on_the_host(&snapshots[1..])));
}

fn averages_in_the_plane_are_those_of_snapshots<K: AnyFlow>(kernels: &K) {
    let mesh = circle();
    for precision in PRECISIONS {
        compare(kernels, &mesh, LatticeKind::D2Q9, precision);
    }
}

fn averages_in_space_are_those_of_snapshots<K: AnyFlow>(kernels: &K) {
    let mesh = sphere();
    for precision in PRECISIONS {
        compare(kernels, &mesh, LatticeKind::D3Q19, precision);
    }
    compare(kernels, &mesh, LatticeKind::D3Q27, Precision::F32);
}

/// Samples on a backend, on the host and on the backend again, against samples in one place.
fn averages_go_on_elsewhere<K: AnyFlow>(kernels: &K) {
    let mesh = circle();
    let params = || stream(&mesh, LatticeKind::D2Q9, Precision::F32);
    let mut flow = flows::start(kernels, &mesh, params());
    let mut means = RunningMeans::new(cells_of(&mesh));
    let mut snapshots = sampled(&mut *flow, &mut means, 2);
    flow.advance(3).expect("steps");
    snapshots.push(flow.snapshot().expect("a snapshot"));
    means.add(&snapshots[2]).expect("a sample");
    let samples = means.samples();
    let values = means.into_values().expect("a copy").expect("samples");
    let mut means = RunningMeans::of_values(samples, values);
    snapshots.extend(sampled(&mut *flow, &mut means, 2));
    let mut pieces = Vec::new();
    let copied = means.each_piece(|values| {
        pieces.extend_from_slice(values);
        Ok::<_, SolverError>(())
    });
    copied.expect("a copy");
    assert!(bits(&pieces) == bits(&on_the_host(&snapshots)));
}

fn averages_of_another_mesh_are_refused<K: AnyFlow>(kernels: &K) {
    let mesh = circle();
    let params = stream(&mesh, LatticeKind::D2Q9, Precision::F32);
    let flow = flows::start(kernels, &mesh, params);
    let mut means = RunningMeans::new(cells_of(&mesh) + 16);
    let error = flow.sample(&mut means).expect_err("another mesh");
    assert!(matches!(error, SolverError::State { .. }), "{error}");
    assert_eq!(means.samples(), 0);
    let untouched = means.into_values().expect("nothing to copy");
    assert!(untouched.is_none(), "no sample, no memory");
}
