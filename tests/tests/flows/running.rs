use cutlink_mesher::primitives::Shape3;
use cutlink_solver::{
    DeviceFields, FaceCondition, LatticeFlow, Motion, Params, PatchCondition, Plan, Precision,
    Snapshot, SolverError, Sponge, WallScheme,
    fields::{blocks_around, velocity_at},
    lattice::{D3Q19, Lattice},
};
use cutlink_tests::{
    bodies,
    flows::{self, AnyFlow},
    worst,
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh, Region, RegionShape};

cutlink_tests::backend_test!(
    on_one_thread:
    a_restart_is_no_change,
    forces_are_sampled_as_often_as_asked,
    divergence_is_found_and_located,
    fields_on_the_device_are_those_of_a_snapshot,
    some_blocks_are_those_of_a_snapshot,
    states_go_on_on_the_host,
    states_lie_by_velocity_and_cell
);

/// A sphere in a small tunnel on two levels.
fn sphere() -> Mesh<3> {
    let surface = Shape3::Sphere { radius: 2.0 }
        .surface(1e-2)
        .expect("a sphere");
    let frame = Frame::new([-8.0, -8.0, -8.0], 1.0, [24, 16, 16]).expect("a box");
    bodies::mesh_of(&surface, frame, &EmbedParams::new(2, 1.0, Fill::NonZero))
}

fn tunnel(mesh: &Mesh<3>) -> Params<3> {
    let mut params = flows::params(mesh, 0.02);
    let inflow = FaceCondition::Velocity([0.05, 0.0, 0.0]);
    params.faces = [
        [inflow, FaceCondition::Pressure(1.0)],
        [FaceCondition::FreeSlip; 2],
        [FaceCondition::Periodic; 2],
    ];
    (params.forces, params.precision) = (true, Precision::F32);
    params
}

/// Density and velocity as one array each.
fn copied(fields: &DeviceFields) -> [Vec<f32>; 2] {
    [&fields.density, &fields.velocity].map(|values| values.to_host().expect("a copy"))
}

/// Values at points, of the blocks that they take values from alone, against those of a whole snapshot: the same bits.
fn of_few_blocks<const D: usize>(flow: &dyn LatticeFlow<D>, mesh: &Mesh<D>) {
    let whole = flow.snapshot().expect("a snapshot");
    let mut state = 1u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let (mut held, mut most, mut some) = (0, 0, Snapshot::default());
    for n in 0..150 {
        // Half of them close to the body, in the middle.
        let near = if n % 2 == 0 { 1.0 } else { 0.35 };
        let point: [f64; D] = std::array::from_fn(|a| {
            f64::from(mesh.frame.root_cells[a]) * (0.5 + near * (random() - 0.5))
        });
        let blocks = blocks_around(mesh, &[point]);
        // By turns the one of before, and a new one.
        if n % 3 == 0 {
            some = Snapshot::default();
        }
        flow.update(Some(&blocks), &mut some).expect("some blocks");
        assert_eq!(some.step, whole.step);
        let [found, expected] = [&some, &whole].map(|s| velocity_at(mesh, s, point));
        assert_eq!(found, expected, "at {point:?}");
        held += usize::from(expected.is_some());
        most = most.max(blocks.len());
        let cells = cutlink_amr::dims::cells(D);
        for (id, values) in some.density.chunks(cells).enumerate() {
            let is_wanted = blocks.binary_search(&(id as u32)).is_ok();
            let expected = &whole.density[id * cells..][..cells];
            assert!(!is_wanted || values == expected, "block {id}");
        }
    }
    assert!(held > 100, "{held} points in the fluid");
    assert!(most < mesh.forest.blocks(), "{most} blocks are all");
    let mut none = Snapshot::default();
    flow.update(Some(&[]), &mut none).expect("nothing");
    assert!(none.density.iter().all(|&rho| rho == 0.0));
    for start in [none, some] {
        let mut all = start;
        flow.update(None, &mut all).expect("all");
        assert!(all.density == whole.density && all.velocity == whole.velocity);
    }
}

/// A stream of 0.05 past slip walls.
fn open<const D: usize>(mesh: &Mesh<D>) -> Params<D> {
    let mut params = flows::params(mesh, 0.02);
    params.faces = [[FaceCondition::FreeSlip; 2]; D];
    let stream = std::array::from_fn(|a| if a == 0 { 0.05 } else { 0.0 });
    params.faces[0] = [
        FaceCondition::Velocity(stream),
        FaceCondition::Pressure(1.0),
    ];
    params
}

fn some_blocks_are_those_of_a_snapshot<K: AnyFlow>(kernels: &K) {
    let (space, plane) = (super::twins::sphere(), super::twins::circle());
    let mut flow = flows::start(kernels, &space, open(&space));
    flow.set(&|x| (1.0 + 1e-3 * x[1], [0.05, 1e-3 * x[0], 2e-4 * x[1] * x[2]]))
        .expect("a start");
    flow.advance(3).expect("steps");
    of_few_blocks(&*flow, &space);
    let mut flow = flows::start(kernels, &plane, open(&plane));
    flow.set(&|x| (1.0 + 1e-3 * x[1], [0.05, 1e-4 * x[0] * x[1]]))
        .expect("a start");
    flow.advance(3).expect("steps");
    of_few_blocks(&*flow, &plane);
}

fn fields_on_the_device_are_those_of_a_snapshot<K: AnyFlow>(kernels: &K) {
    let (space, plane) = (sphere(), super::twins::circle());
    let mut flow = flows::start(kernels, &space, tunnel(&space));
    flow.set(&|x| (1.0 + 1e-3 * x[1], [0.05, 1e-3 * x[0], 0.0]))
        .expect("a start");
    flow.advance(7).expect("steps");
    let (snapshot, fields) = (
        flow.snapshot().expect("a snapshot"),
        flow.device_fields().expect("fields"),
    );
    let expected = [snapshot.density, snapshot.velocity.concat()];
    assert!(copied(&fields) == expected, "in space");
    assert_eq!(fields.step, 7);
    flow.advance(1).expect("a step");
    assert!(copied(&fields) == expected, "the flow leaves them alone");
    let later = flow.device_fields().expect("fields");
    assert!(copied(&later) != expected, "the comparison can fail");
    let mut params = flows::params(&plane, 0.1);
    params.faces = [[FaceCondition::Velocity([0.02, -0.01]); 2]; 2];
    let mut flow = flows::start(kernels, &plane, params);
    flow.set_uniform(1.01, [0.02, -0.01]).expect("a start");
    let fields = copied(&flow.device_fields().expect("fields"));
    let snapshot = flow.snapshot().expect("a snapshot");
    assert!(
        fields == [snapshot.density, snapshot.velocity.concat()],
        "in the plane"
    );
}

fn a_restart_is_no_change<K: AnyFlow>(kernels: &K) {
    let mesh = sphere();
    let start = || {
        let mut flow = flows::start(kernels, &mesh, tunnel(&mesh));
        flow.set(&|_| (1.0, [0.05, 0.0, 0.0])).expect("a start");
        flow
    };
    let state = |flow: &dyn LatticeFlow<3>| {
        let mut bytes = Vec::new();
        flow.save(&mut bytes).expect("a state");
        bytes
    };
    let mut straight = start();
    straight.advance(30).expect("steps");
    straight.check().expect("no divergence");
    let mut first = start();
    first.advance(13).expect("steps");
    let middle = state(&*first);
    let mut second = start();
    second.advance(3).expect("steps that do not count");
    second.restore(&mut &middle[..]).expect("a state");
    assert_eq!(second.steps(), 13, "the step comes with it");
    second.advance(17).expect("steps");
    assert!(state(&*straight) == state(&*second), "the same bits");
    assert!(state(&*straight) != middle, "and not those of before");
    let forces = [straight.take_forces(), second.take_forces()].map(|f| f.expect("forces"));
    assert_eq!(forces[0][13..], forces[1][..], "forces too");
    assert!(
        forces[0][29].patches[0][0] > 0.0,
        "drag: {:?}",
        forces[0][29]
    );
    let threads = rayon::ThreadPoolBuilder::new()
        .num_threads(3)
        .build()
        .expect("threads");
    let other = threads.install(|| {
        let mut flow = start();
        flow.advance(30).expect("steps");
        state(&*flow)
    });
    assert!(state(&*straight) == other, "for any number of threads");
    let short = second.restore(&mut &middle[..middle.len() - 1]);
    assert!(short.is_err(), "a state cut short is refused");
}

fn forces_are_sampled_as_often_as_asked<K: AnyFlow>(kernels: &K) {
    let mesh = sphere();
    let samples = |every: u64| {
        let mut flow = flows::start(kernels, &mesh, tunnel(&mesh));
        flow.set(&|_| (1.0, [0.05, 0.0, 0.0])).expect("a start");
        flow.sample_forces_every(every);
        flow.advance(10).expect("steps");
        let mut samples = flow.take_forces().expect("forces");
        flow.advance(6).expect("steps");
        flow.advance(1).expect("steps");
        samples.extend(flow.take_forces().expect("forces"));
        assert!(flow.take_forces().expect("forces").is_empty());
        samples
    };
    let (all, some) = (samples(1), samples(4));
    let steps: Vec<u64> = all.iter().map(|sample| sample.step).collect();
    assert_eq!(steps, Vec::from_iter(1..=17));
    // Multiples of four, and where an advance ends.
    let steps: Vec<u64> = some.iter().map(|sample| sample.step).collect();
    assert_eq!(steps, [4, 8, 10, 12, 16, 17]);
    for sample in &some {
        assert_eq!(*sample, all[sample.step as usize - 1], "the same bits");
    }
}

/// Populations of a saved state, level 0: of each block's velocities the cells, whatever order a backend has
/// them in.
fn states_lie_by_velocity_and_cell<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([8, 8, 8], 1, Vec::new());
    let mut params = flows::params(&mesh, 0.02);
    params.precision = Precision::F64;
    let mut flow = flows::start(kernels, &mesh, params);
    // A shear, so that cells differ along y alone.
    let shear = |x: [f64; 3]| (1.0, [0.01 * x[1], 0.0, 0.0]);
    flow.set(&shear).expect("a start");
    let mut bytes = Vec::new();
    flow.save(&mut bytes).expect("a state");
    let numbers: Vec<f64> = bytes[16..]
        .chunks_exact(8)
        .map(|eight| f64::from_le_bytes(eight.try_into().expect("eight bytes")))
        .collect();
    for (block, f) in numbers[..8 * 19 * 64].chunks_exact(19 * 64).enumerate() {
        for (n, &f) in f.iter().enumerate() {
            let (q, cell) = (n / 64, n % 64);
            let y = 4 * mesh.forest.coord[mesh.forest.levels[0][block] as usize][1] as usize;
            let (_, [u, ..]) = shear([0.0, (y + cell / 4 % 4) as f64 + 0.5, 0.0]);
            let along = f64::from(D3Q19::C[q][0]) * u;
            let expected = D3Q19::W[q] * (3.0 * along + 4.5 * along * along - 1.5 * u * u);
            assert!((f - expected).abs() < 1e-15, "{q} of {cell}: {f}");
        }
    }
}

/// What one backend saves another goes on with.
fn states_go_on_on_the_host<K: AnyFlow>(kernels: &K) {
    let mesh = sphere();
    let mut there = flows::start(kernels, &mesh, tunnel(&mesh));
    there.set(&|_| (1.0, [0.05, 0.0, 0.0])).expect("a start");
    there.advance(20).expect("steps");
    let mut bytes = Vec::new();
    there.save(&mut bytes).expect("a state");
    let mut here = flows::start(&cutlink_device::Host, &mesh, tunnel(&mesh));
    here.restore(&mut &bytes[..]).expect("a state");
    let difference = |a: &dyn LatticeFlow<3>, b: &dyn LatticeFlow<3>| {
        let [a, b] = [a, b].map(|flow| flow.snapshot().expect("a snapshot"));
        let pairs = a.velocity.iter().flatten().zip(b.velocity.iter().flatten());
        worst(pairs.map(|(a, b)| (a - b).abs()))
    };
    assert!(difference(&*there, &*here) < 1e-7, "the same flow");
    there.advance(10).expect("steps");
    assert!(difference(&*there, &*here) > 1e-4, "which goes on");
    here.advance(10).expect("steps");
    assert!(difference(&*there, &*here) < 1e-6, "on both");
}

fn divergence_is_found_and_located<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([16, 16], 1, Vec::new());
    let mut flow = flows::start(kernels, &mesh, flows::params(&mesh, 1e-3));
    flow.set(&|x| {
        if x == [5.5, 9.5] {
            (1.0, [0.9, 0.0])
        } else {
            (1.0, [0.0; 2])
        }
    })
    .expect("a start");
    match flow.check() {
        Err(SolverError::Diverged {
            level: 0,
            cell,
            step: 0,
            ..
        }) => assert_eq!(cell, [5, 9]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |change: &dyn Fn(&mut Params<3>)| {
        let mesh = sphere();
        let mut params = tunnel(&mesh);
        change(&mut params);
        Plan::new(&mesh, params)
            .err()
            .map(|e| e.to_string())
            .expect("an error")
    };
    assert!(refused(&|p| p.viscosity = -1.0).contains("viscosity"));
    assert!(refused(&|p| p.faces[2][0] = FaceCondition::FreeSlip).contains("both have to be"));
    assert!(
        refused(&|p| p.faces[0][0] = FaceCondition::Velocity([0.7, 0.0, 0.0])).contains("Mach")
    );
    assert!(refused(&|p| p.patches.clear()).contains("patches"));
    // The sphere reaches 2 root cells from its middle.
    let rotating = |omega: f64| PatchCondition::Wall {
        scheme: WallScheme::Linear,
        motion: Motion::Rotation {
            center: [8.0; 3],
            omega: [0.0, 0.0, omega],
        },
    };
    assert!(refused(&|p| p.patches[0] = rotating(0.4)).contains("the speed of a wall"));
    assert!(
        refused(&|p| p.moment_center[1] = f64::NAN).contains("moment centre"),
        "what the parameters alone tell is checked by the plan"
    );
    assert!(refused(&|p| p.lattice = cutlink_solver::LatticeKind::D2Q9).contains("dimensions"));
    let sponge = |change: &dyn Fn(&mut Sponge)| {
        let mut sponge = Sponge {
            axis: 0,
            side: 1,
            length: 4.0,
            strength: 5.0,
            stream: [0, 0],
        };
        change(&mut sponge);
        refused(&|p| p.sponges = vec![sponge])
    };
    assert!(sponge(&|s| s.length = 0.0).contains("the length of a sponge is 0"));
    assert!(sponge(&|s| s.length = 1e3).contains("fit into the box"));
    assert!(sponge(&|s| s.strength = f64::NAN).contains("the strength"));
    assert!(sponge(&|s| s.axis = 3).contains("a face of the box"));
    assert!(sponge(&|s| s.axis = 2).contains("periodic face"));
    assert!(sponge(&|s| s.stream = [0, 1]).contains("one velocity"));
    // Refinement at one of two periodic faces.
    let shape = RegionShape::Box {
        lower: [0.0; 3],
        upper: [8.0; 3],
    };
    let mesh = flows::empty_box([32, 32], 3, vec![Region { shape, levels: 3 }]);
    let error = Plan::new(&mesh, flows::params(&mesh, 0.1)).expect_err("an error");
    assert!(error.to_string().contains("periodic"), "{error}");
}
