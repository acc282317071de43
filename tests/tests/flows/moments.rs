//! Flows whose cells keep moments instead of populations (decision 059), against the same with populations: fields and forces to
//! rounding, states across both, integrals to the bit; on any number of ranks the same bits. On the host both are the same.

use super::ranks::{alone, devices};
use cutlink_device::Memory;
use cutlink_mesher::primitives::Shape3;
use cutlink_solver::{
    CellStorage, Collision, FaceCondition, LatticeFlow, LatticeKind, Les, Params, PatchCondition,
    Plan, Precision, Snapshot, WallScheme,
    fields::{blocks_at, integrals},
};
use cutlink_tests::{
    bodies,
    flows::{self, AnyFlow},
    worst,
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh};
use std::f64::consts::TAU;

cutlink_tests::backend_test!(
    on_one_thread:
    boxes_are_those_of_populations,
    walls_are_those_of_populations,
    levels_are_those_of_populations,
    states_go_from_one_to_the_other,
    any_number_of_ranks_gives_the_same_bits,
    every_other_flow_has_populations
);

/// Single precision, with the default storage.
fn regularized(mesh: &Mesh<3>, lattice: LatticeKind) -> Params<3> {
    Params {
        lattice,
        collision: Collision::Regularized,
        precision: Precision::F32,
        ..flows::params(mesh, 0.02)
    }
}

/// A vortex in a box with such edges.
fn vortex(mesh: &Mesh<3>) -> impl Fn([f64; 3]) -> (f64, [f64; 3]) + Sync + use<> {
    let k = mesh.frame.root_cells.map(|n| TAU / f64::from(n));
    move |x| {
        let at: [f64; 3] = std::array::from_fn(|a| k[a] * x[a]);
        let u = 0.05 * at[0].sin() * at[1].cos() * at[2].cos();
        let v = -0.05 * at[0].cos() * at[1].sin() * at[2].cos();
        (
            1.0 + 1e-3 * at[0].cos(),
            [u, v, 0.01 * (at[0] + at[1]).sin()],
        )
    }
}

/// The root of the mean square of the difference of two velocities, relative to that of the first.
fn apart(mesh: &Mesh<3>, one: &Snapshot<3>, other: &Snapshot<3>) -> f64 {
    let (mut wrong, mut all) = (0.0, 0.0);
    let cells = cutlink_amr::dims::cells(3);
    for id in mesh.forest.leaves() {
        for i in id as usize * cells..(id as usize + 1) * cells {
            let square = |of: &dyn Fn(usize) -> f64| (0..3).map(|a| of(a).powi(2)).sum::<f64>();
            let u = |of: &Snapshot<3>, a: usize| f64::from(of.velocity[a][i]);
            wrong += square(&|a| u(one, a) - u(other, a));
            all += square(&|a| u(one, a));
        }
    }
    (wrong / all).sqrt()
}

fn snapshot(flow: &dyn LatticeFlow<3>) -> Snapshot<3> {
    flow.snapshot().expect("a snapshot")
}

/// Starts the flow as it is and with populations; on a device the first one has to take less memory there.
fn both<'a, K: AnyFlow>(
    kernels: &K,
    mesh: &'a Mesh<3>,
    params: &Params<3>,
) -> [Box<dyn LatticeFlow<3> + 'a>; 2] {
    let plan = || Plan::new(mesh, params.clone()).unwrap_or_else(|e| panic!("{e}"));
    let of = |plan: Plan<'a, 3>| {
        let bytes: u64 = plan.level_bytes(K::MEMORY).iter().sum();
        (bytes, plan.start(kernels).unwrap_or_else(|e| panic!("{e}")))
    };
    let [moments, populations] = [plan(), plan().with_populations()].map(of);
    match K::MEMORY {
        Memory::Device => assert!(
            moments.0 < populations.0,
            "{} and {} bytes",
            moments.0,
            populations.0
        ),
        Memory::Host => assert_eq!(moments.0, populations.0),
    }
    [moments.1, populations.1]
}

/// Steps both and compares: velocities as far apart as rounding takes them, forces likewise. One more step is seen.
fn compare<K: AnyFlow>(kernels: &K, mesh: &Mesh<3>, params: &Params<3>, steps: u64) {
    let [mut moments, mut populations] = both(kernels, mesh, params);
    let start = vortex(mesh);
    for flow in [&mut moments, &mut populations] {
        flow.set(&start).expect("a start");
    }
    let name = format!("{:?}, {:?}", params.lattice, params.acceleration);
    moments.validate().expect("the tables of the mesh");
    let begun = apart(mesh, &snapshot(&*populations), &snapshot(&*moments));
    assert!(begun < 1e-6, "{name}: at the start {begun:e}");
    for flow in [&mut moments, &mut populations] {
        flow.advance(steps).expect("steps");
        flow.check().expect("no divergence");
    }
    let [found, expected] = [&moments, &populations].map(|flow| snapshot(&**flow));
    let off = apart(mesh, &expected, &found);
    assert!(off < 3e-6, "{name}: {off:e}");
    match K::MEMORY {
        Memory::Device => assert!(off > 0.0, "{name}: not the same kernels"),
        Memory::Host => assert_eq!(off, 0.0, "{name}"),
    }
    let density = found.density.iter().zip(&expected.density);
    let density = worst(density.map(|(a, b)| f64::from((a - b).abs())));
    assert!(density < 2e-6, "{name}: density {density:e}");
    let [ours, theirs] = [&mut moments, &mut populations]
        .map(|flow| flow.take_forces().expect("forces"))
        .map(|all| all.last().map(|sample| sample.patches.concat()));
    if let (Some(ours), Some(theirs)) = (ours, theirs) {
        let most = worst(theirs.iter().map(|f| f.abs()));
        let off = worst(ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs())) / most;
        assert!(most > 0.0 && off < 2e-5, "{name}: forces {off:e}");
    }
    let wanted = blocks_at(mesh, 0, true);
    let sums = moments.integrals(&wanted, &mut Snapshot::default());
    assert_eq!(sums.expect("integrals"), integrals(mesh, &found));
    populations.advance(1).expect("a step");
    let later = apart(mesh, &snapshot(&*populations), &found);
    assert!(later > 1e-4, "{name}: one step more is {later:e}");
}

/// Edges of an odd number of blocks, so that tiles are not all whole.
fn boxes_are_those_of_populations<K: AnyFlow>(kernels: &K) {
    for (cells, lattice, pull) in [
        ([32, 16, 24], LatticeKind::D3Q19, 0.0),
        ([28, 20, 12], LatticeKind::D3Q19, 2e-5),
        ([28, 20, 12], LatticeKind::D3Q27, 0.0),
        ([32, 16, 24], LatticeKind::D3Q27, 2e-5),
        ([4, 12, 8], LatticeKind::D3Q19, 0.0),
    ] {
        let mesh = flows::empty_box(cells, 1, Vec::new());
        let mut params = regularized(&mesh, lattice);
        params.acceleration = [pull, 0.0, -0.5 * pull];
        compare(kernels, &mesh, &params, 100);
    }
}

/// Between a wall at rest and one that moves, whose density is held; and from an inlet to an outlet.
fn walls_are_those_of_populations<K: AnyFlow>(kernels: &K) {
    for lattice in [LatticeKind::D3Q19, LatticeKind::D3Q27] {
        let mesh = flows::empty_box([16, 48, 12], 1, Vec::new());
        let mut params = regularized(&mesh, lattice);
        let still = FaceCondition::Velocity([0.0; 3]);
        params.faces[1] = [still, FaceCondition::Velocity([0.03, 0.0, 0.01])];
        compare(kernels, &mesh, &params, 150);
        params.faces[1] = [
            FaceCondition::Velocity([0.0, 0.03, 0.0]),
            FaceCondition::Pressure(1.0),
        ];
        params.acceleration = [1e-5, 0.0, 0.0];
        compare(kernels, &mesh, &params, 150);
    }
}

fn sphere() -> Mesh<3> {
    let surface = Shape3::Sphere { radius: 2.2 }
        .surface(1e-2)
        .expect("a sphere");
    let frame = Frame::new([-20.0, -24.0, -24.0], 1.0, [80, 48, 48]).expect("a box");
    bodies::mesh_of(&surface, frame, &EmbedParams::new(2, 1.0, Fill::NonZero))
}

fn tunnel(mesh: &Mesh<3>, lattice: LatticeKind) -> Params<3> {
    let mut params = regularized(mesh, lattice);
    params.faces[0] = [
        FaceCondition::Velocity([0.04, 0.0, 0.0]),
        FaceCondition::Outflow,
    ];
    params.patches = vec![PatchCondition::wall(WallScheme::Quadratic)];
    params.forces = true;
    params
}

fn levels_are_those_of_populations<K: AnyFlow>(kernels: &K) {
    let mesh = sphere();
    let steps = if K::MEMORY == Memory::Device { 100 } else { 2 };
    for (lattice, les) in [
        (LatticeKind::D3Q19, Les::None),
        (LatticeKind::D3Q27, Les::None),
        (LatticeKind::D3Q19, Les::Smagorinsky { constant: 0.2 }),
        (LatticeKind::D3Q27, Les::Qr { constant: 1.5 }),
    ] {
        let mut params = tunnel(&mesh, lattice);
        params.les = les;
        // The host has no kernels of its own for them.
        if K::MEMORY == Memory::Device || les == Les::None {
            compare(kernels, &mesh, &params, steps);
        }
    }
}

fn state(flow: &dyn LatticeFlow<3>) -> Vec<u8> {
    let mut bytes = Vec::new();
    flow.save(&mut bytes).expect("a state");
    bytes
}

/// A flow goes on from its own state with the same bits, and from that of the other storage to rounding.
fn states_go_from_one_to_the_other<K: AnyFlow>(kernels: &K) {
    let mesh = sphere();
    let mut params = tunnel(&mesh, LatticeKind::D3Q19);
    params.acceleration = [0.0, 1e-5, 0.0];
    let [mut moments, mut populations] = both(kernels, &mesh, &params);
    moments.set(&vortex(&mesh)).expect("a start");
    moments.advance(5).expect("steps");
    let middle = state(&*moments);
    let before = snapshot(&*moments);
    moments.advance(4).expect("steps");
    let end = state(&*moments);
    moments.restore(&mut &middle[..]).expect("its own state");
    moments.advance(4).expect("steps");
    assert!(state(&*moments) == end, "the same bits");
    assert!(end != middle, "the comparison can fail");

    populations
        .restore(&mut &middle[..])
        .expect("a state of the other");
    assert_eq!(populations.steps(), 5);
    let read = apart(&mesh, &before, &snapshot(&*populations));
    assert!(read < 1e-6, "{read:e}");
    let between = state(&*populations);
    populations.advance(4).expect("steps");
    let after = snapshot(&*moments);
    let off = apart(&mesh, &after, &snapshot(&*populations));
    assert!(off < 3e-6, "{off:e}");
    moments
        .restore(&mut &between[..])
        .expect("a state of the other");
    let read = apart(&mesh, &before, &snapshot(&*moments));
    assert!(read < 1e-6, "{read:e}");
    moments.advance(4).expect("steps");
    let off = apart(&mesh, &after, &snapshot(&*moments));
    assert!(off < 3e-6, "{off:e}");
    assert!(
        apart(&mesh, &after, &before) > 1e-4,
        "the comparison can fail"
    );

    let short = moments.restore(&mut &middle[..middle.len() - 1]);
    assert!(short.is_err(), "a state cut short is refused");
    if K::MEMORY == Memory::Device {
        // The slots with populations of the root, behind the steps and the count.
        let mut wrong = middle;
        wrong[16] ^= 1;
        assert!(moments.restore(&mut &wrong[..]).is_err(), "a wrong count");
    }
}

/// Starts a flow on so many ranks, each on a device of its own if there are as many.
fn begin<'a, K: AnyFlow>(
    kernels: &K,
    plan: Plan<'a, 3>,
    ranks: usize,
) -> Box<dyn LatticeFlow<3> + 'a> {
    let devices = devices(kernels, ranks).unwrap_or_else(|| vec![kernels.clone(); ranks]);
    let start = vortex(plan.mesh);
    let mut flow = plan.start_ranks(&devices).expect("a start");
    flow.set(&start).expect("a state");
    flow
}

/// Fields, forces and states, and those of flows that go on from a state of another number of ranks or another storage.
fn any_number_of_ranks_gives_the_same_bits<K: AnyFlow>(kernels: &K) {
    let _alone = alone();
    let mesh = sphere();
    let (steps, numbers): (u64, &[usize]) = match K::MEMORY {
        Memory::Device => (12, &[1, 2, 3, 4, 7]),
        Memory::Host => (1, &[1, 3]),
    };
    let fields = |flow: &dyn LatticeFlow<3>| {
        let now = snapshot(flow);
        (now.density, now.velocity)
    };
    for (lattice, les) in [
        (LatticeKind::D3Q19, Les::None),
        (LatticeKind::D3Q27, Les::Smagorinsky { constant: 0.2 }),
    ] {
        let mut params = tunnel(&mesh, lattice);
        params.les = les;
        let plan = || Plan::new(&mesh, params.clone()).expect("a plan");
        let mut other = begin(kernels, plan().with_populations(), 1);
        other.advance(steps).expect("steps");
        let with_populations = state(&*other);
        let outcome = |&ranks: &usize| {
            let mut flow = begin(kernels, plan(), ranks);
            flow.validate().expect("the tables of the mesh");
            let begun = fields(&*flow);
            flow.advance(steps).expect("steps");
            flow.check().expect("no divergence");
            let found = (state(&*flow), flow.take_forces().expect("forces"));
            let now = fields(&*flow);
            flow.restore(&mut &with_populations[..])
                .expect("a state of the other");
            flow.advance(steps).expect("steps");
            (begun, found, now, state(&*flow))
        };
        let all: Vec<_> = numbers.iter().map(outcome).collect();
        let (begun, one, now, after) = &all[0];
        for (of, ranks) in all.iter().zip(numbers) {
            assert!(of.0 == *begun, "{ranks} ranks: the start");
            assert!(of.1.0 == one.0, "{ranks} ranks: states with {les:?}");
            assert_eq!(of.1.1, one.1, "{ranks} ranks: forces with {les:?}");
            assert!(of.2 == *now, "{ranks} ranks: fields with {les:?}");
            assert!(of.3 == *after, "{ranks} ranks: from populations");
        }
        assert!(one.0 != *after, "the comparison can fail");
        let go_on = |&ranks: &usize| {
            let mut flow = begin(kernels, plan(), ranks);
            flow.restore(&mut &one.0[..]).expect("the state of one");
            flow.advance(1).expect("a step");
            (state(&*flow), flow.take_forces().expect("forces"))
        };
        let ends: Vec<_> = numbers.iter().map(go_on).collect();
        assert!(ends.iter().all(|end| *end == ends[0]), "{les:?}: goes on");
    }
}

fn every_other_flow_has_populations<K: AnyFlow>(_: &K) {
    let mesh = flows::empty_box([16, 16, 16], 1, Vec::new());
    let of = |change: &dyn Fn(&mut Params<3>)| {
        let mut params = regularized(&mesh, LatticeKind::D3Q19);
        change(&mut params);
        Plan::new(&mesh, params).expect("a plan")
    };
    let device = |plan: &Plan<'_, 3>| plan.cell_storage(Memory::Device);
    let plan = of(&|_| ());
    assert_eq!(device(&plan), CellStorage::Moments);
    assert_eq!(plan.cell_storage(Memory::Host), CellStorage::Populations);
    let smagorinsky = Les::Smagorinsky { constant: 0.1 };
    let pull = [1e-5, 0.0, 0.0];
    for change in [
        &(|p: &mut Params<3>| p.les = smagorinsky) as &dyn Fn(&mut Params<3>),
        &|p| p.acceleration = pull,
    ] {
        assert_eq!(device(&of(change)), CellStorage::Moments);
    }
    for change in [
        &(|p: &mut Params<3>| p.collision = Collision::Bgk) as &dyn Fn(&mut Params<3>),
        &|p| p.precision = Precision::F16,
        &|p| p.precision = Precision::F64,
        &|p| (p.les, p.acceleration) = (smagorinsky, pull),
    ] {
        assert_eq!(device(&of(change)), CellStorage::Populations);
    }
    assert_eq!(device(&plan.with_populations()), CellStorage::Populations);
}
